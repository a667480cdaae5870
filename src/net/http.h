/* SPDX-License-Identifier: MIT */
/*
 * http.h: requests to one server, one at a time. A struct http keeps its connection open between
 * them; one thread uses it.
 */
#ifndef SEAM_NET_HTTP_H
#define SEAM_NET_HTTP_H

#include <stdbool.h>

#include <seam/error.h>

#include "base/buf.h"
#include "net/remote.h"

struct http;

struct http_request {
	const char *path;           /* behind the origin: "/?query=x" */
	const char *content_type;   /* NULL: none */
	const char *const *headers; /* "X-Name: value", NULL behind the last; NULL: none */
	const void *body;
	size_t n;
	bool gzip;   /* the body is sent packed */
	bool http2;  /* HTTP/2 from the first byte on; the answer's fields are kept */
	size_t most; /* bytes that an answer may have; 0: 1 MB */
};

struct http_answer {
	long status;            /* 0: there was none */
	unsigned retry_after_s; /* what the server asks for; 0: nothing */
	bool sent;              /* all of the body may have reached the server */
	struct buf body;
	struct buf fields; /* of HTTP/2: its head's and its trailer's, a line each, 64 kB at most */
};

/* Reads the secrets that the remote names. -EINVAL, -ENOSYS (a build without libcurl), -errno of a
 * file. */
int http_open(struct http **ret, const struct remote *t, struct seam_error *err);
void http_close(struct http *h);
/* The first line of a file, for free(). -errno, which err tells. */
int http_secret(char **ret, const char *path, struct seam_error *err);
/*
 * POSTs. 0: the status is 2xx. -EAGAIN: it may go better later (no connection, no answer in time,
 * 408, 429, 5xx). -EACCES: refused for who we are or who the server is (401, 403, a certificate).
 * -EBADMSG: the server does not take this request. -ENOMEM, -EINVAL. ret is filled in any case, and
 * http_answer_free's.
 */
int http_post(struct http *h, const struct http_request *q, struct http_answer *ret,
              struct seam_error *err);
/* "https://host:8443" */
const char *http_origin(const struct http *h);
/* What the last answer asked for: seconds until another request; 0: nothing. */
unsigned http_wait_s(const struct http *h);
/* The request that is under way, and those after it, end within so many seconds. From any
 * thread. */
void http_hurry(struct http *h, unsigned seconds);
void http_answer_free(struct http_answer *a);
/* What a server says, for an error: the first line of its text that says something, without control
 * characters, cut where it is long. */
#define HTTP_SAID 300u
void http_said(const void *bytes, size_t n, char to[HTTP_SAID]);
/* Appends text so that it can stand in a URL's query. */
void http_escape(struct buf *to, const char *text);

#endif
