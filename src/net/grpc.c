// SPDX-License-Identifier: MIT
/*
 * grpc.c: see grpc.h. A message has five bytes in front of it: whether it is packed, and its
 * length. A call's status is a field of the trailer; of a call that the server did not begin, of
 * the head.
 */
#include "net/grpc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "net/gzip.h"
#include "net/remote.h"

#define FRAME_BYTES 5u
#define ANSWER_BYTES ((size_t)1 << 20)

enum grpc_status {
	GRPC_OK = 0,
	GRPC_CANCELLED = 1,
	GRPC_DEADLINE_EXCEEDED = 4,
	GRPC_PERMISSION_DENIED = 7,
	GRPC_RESOURCE_EXHAUSTED = 8,
	GRPC_ABORTED = 10,
	GRPC_OUT_OF_RANGE = 11,
	GRPC_UNAVAILABLE = 14,
	GRPC_DATA_LOSS = 15,
	GRPC_UNAUTHENTICATED = 16,
};

/* The value of a field, up to the end of its line. NULL: there is none. */
static const char *grpc_field(const struct http_answer *a, const char *name, size_t *n)
{
	const char *at = (const char *)a->fields.bytes, *end = at + a->fields.n, *found = NULL;
	size_t length = strlen(name);

	while (at < end) {
		const char *line = memchr(at, '\n', (size_t)(end - at));
		size_t here = (size_t)((line ? line : end) - at);

		if (here > length && at[length] == ':' && !strncasecmp(at, name, length)) {
			found = at + length + 1;
			*n = here - length - 1;
		}
		at += here + (line != NULL);
	}
	while (found && *n && (*found == ' ' || *found == '\t')) {
		found++;
		--*n;
	}
	while (found && *n && strchr(" \t\r", found[*n - 1]))
		--*n;
	return found;
}

/* The status of a call. -EBADMSG: it has none. */
static int grpc_status_of(const struct http_answer *a)
{
	size_t n = 0;
	const char *text = grpc_field(a, "grpc-status", &n);
	int status = 0;

	if (!text || !n || n > 3)
		return -EBADMSG;
	for (size_t i = 0; i < n; i++) {
		if (text[i] < '0' || text[i] > '9')
			return -EBADMSG;
		status = status * 10 + (text[i] - '0');
	}
	return status;
}

/* What the server says of it, whose bytes may be written as %41, without control characters. */
static void grpc_said(const struct http_answer *a, char to[HTTP_SAID])
{
	size_t n = 0, at = 0;
	const char *text = grpc_field(a, "grpc-message", &n);

	for (size_t i = 0; text && i < n && at + 1 < HTTP_SAID; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c == '%' && i + 2 < n) {
			int high = remote_digit(text[i + 1]), low = remote_digit(text[i + 2]);

			if (high >= 0 && low >= 0) {
				c = (unsigned char)(high * 16 + low);
				i += 2;
			}
		}
		if (c >= ' ' && c != 0x7f)
			to[at++] = (char)c;
	}
	to[at] = 0;
}

/*
 * What a status means to who called. Those that OpenTelemetry's protocol calls worth another try
 * are; a server whose resources are exhausted only if it says when it will have some.
 */
static int grpc_code(const struct http_answer *a, int status)
{
	size_t n;

	switch (status) {
	case GRPC_CANCELLED:
	case GRPC_DEADLINE_EXCEEDED:
	case GRPC_ABORTED:
	case GRPC_OUT_OF_RANGE:
	case GRPC_UNAVAILABLE:
	case GRPC_DATA_LOSS:
		return EAGAIN;
	case GRPC_RESOURCE_EXHAUSTED:
		return grpc_field(a, "grpc-status-details-bin", &n) ||
		                       grpc_field(a, "grpc-retry-pushback-ms", &n)
		               ? EAGAIN
		               : EBADMSG;
	case GRPC_PERMISSION_DENIED:
	case GRPC_UNAUTHENTICATED:
		return EACCES;
	default:
		return EBADMSG;
	}
}

/* Unpacks a message: a server may answer packed to who asks so. -EBADMSG, -ENOMEM. */
static int grpc_unpack(struct buf *body, const unsigned char *bytes, size_t n)
{
	struct buf message = { 0 };
	int r = gzip_unpack(&message, bytes, n, ANSWER_BYTES);

	if (r < 0) {
		buf_free(&message);
		return r;
	}
	buf_free(body);
	*body = message;
	return 0;
}

/* Takes the frame from around the message that came back. -EBADMSG: it is cut. -ENOMEM. */
static int grpc_unframe(struct buf *body)
{
	unsigned char *b = body->bytes;

	if (!body->n)
		return 0;
	if (body->n < FRAME_BYTES || b[0] > 1 ||
	    ((size_t)b[1] << 24 | (size_t)b[2] << 16 | (size_t)b[3] << 8 | b[4]) !=
	            body->n - FRAME_BYTES)
		return -EBADMSG;
	if (b[0])
		return grpc_unpack(body, b + FRAME_BYTES, body->n - FRAME_BYTES);
	body->n -= FRAME_BYTES;
	memmove(b, b + FRAME_BYTES, body->n);
	return 0;
}

/* What a call's end says, as grpc_call returns it. */
static int grpc_end(struct http *h, struct http_answer *a, struct seam_error *err)
{
	char said[HTTP_SAID];
	int status = grpc_status_of(a);

	if (status == GRPC_OK && grpc_unframe(&a->body) >= 0)
		return 0;
	if (status <= GRPC_OK) {
		a->status = 0;
		return seam_error_set(err, EBADMSG, NULL, SEAM_NO_OFFSET, NULL,
		                      "%s does not answer as a server of gRPC", http_origin(h));
	}
	grpc_said(a, said);
	return seam_error_set(err, grpc_code(a, status), NULL, SEAM_NO_OFFSET, NULL,
	                      "%s answers gRPC status %d%s%s", http_origin(h), status,
	                      *said ? ": " : "", said);
}

/* Frames the message, and posts it. */
int grpc_call(struct http *h, const struct grpc_request *q, struct http_answer *ret,
              struct seam_error *err)
{
	static const char *const ours[] = { "TE: trailers", "grpc-encoding: gzip" };
	const char *headers[8];
	struct buf frame = { 0 };
	size_t n = 0;
	int r;

	*ret = (struct http_answer){ 0 };
	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
		headers[n++] = ours[i];
	for (size_t i = 0; q->headers && q->headers[i] && n + 1 < 8; i++)
		headers[n++] = q->headers[i];
	headers[n] = NULL;
	buf_put_zeros(&frame, FRAME_BYTES);
	r = gzip_pack(&frame, q->message, q->n);
	if (r >= 0) {
		const size_t packed = frame.n - FRAME_BYTES;
		const struct http_request post = { .path = q->method,
			                           .content_type = "application/grpc+proto",
			                           .headers = headers,
			                           .body = frame.bytes,
			                           .n = frame.n,
			                           .http2 = true };

		frame.bytes[0] = 1;
		for (size_t i = 1; i < FRAME_BYTES; i++)
			frame.bytes[i] = (unsigned char)(packed >> (8 * (FRAME_BYTES - 1 - i)));
		r = http_post(h, &post, ret, err);
	}
	if (r >= 0)
		r = grpc_end(h, ret, err);
	buf_free(&frame);
	return r;
}
