// SPDX-License-Identifier: MIT
// http-none.c: see http.h: a build without libcurl.
#include "net/http.h"

int http_open(struct http **ret, const struct remote *t, struct seam_error *err)
{
	(void)ret;
	(void)t;
	return seam_error_set(err, ENOSYS, NULL, SEAM_NO_OFFSET, NULL,
	                      "this build has no libcurl: it knows no stores by HTTP");
}

void http_close(struct http *h)
{
	(void)h;
}

int http_post(struct http *h, const struct http_request *q, struct http_answer *ret,
              struct seam_error *err)
{
	(void)h;
	(void)q;
	(void)ret;
	return seam_error_set(err, ENOSYS, NULL, SEAM_NO_OFFSET, NULL, "no libcurl");
}

void http_answer_free(struct http_answer *a)
{
	(void)a;
}

void http_escape(struct buf *to, const char *text)
{
	(void)to;
	(void)text;
}

unsigned http_wait_s(const struct http *h)
{
	(void)h;
	return 0;
}

void http_hurry(struct http *h, unsigned seconds)
{
	(void)h;
	(void)seconds;
}

int http_secret(char **ret, const char *path, struct seam_error *err)
{
	(void)ret;
	return seam_error_set(err, ENOSYS, path, SEAM_NO_OFFSET, NULL, "no libcurl");
}

const char *http_origin(const struct http *h)
{
	(void)h;
	return "";
}

void http_said(const void *bytes, size_t n, char to[HTTP_SAID])
{
	(void)bytes;
	(void)n;
	*to = 0;
}
