/* SPDX-License-Identifier: MIT */
/* grpc.h: a call of gRPC: one message there, one back, by HTTP/2. */
#ifndef SEAM_NET_GRPC_H
#define SEAM_NET_GRPC_H

#include "net/http.h"

/* A server takes no longer message, if nobody told it to. */
#define GRPC_MESSAGE_BYTES ((size_t)4 << 20)

struct grpc_request {
	const char *method;         /* "/package.Service/Method" */
	const char *const *headers; /* as http_request's */
	const void *message;        /* is sent packed */
	size_t n;
};

/*
 * Calls. As http_post, by the call's status; -EAGAIN also where it says that the server may take it
 * later, -EACCES where it is about who we are. ret->body is the message that came back; ret->status
 * is 0 where the call has no status.
 */
int grpc_call(struct http *h, const struct grpc_request *q, struct http_answer *ret,
              struct seam_error *err);

#endif
