// SPDX-License-Identifier: MIT
// serve-none.c: serve.c's twin for builds without libmicrohttpd.
#include <errno.h>

#include "serve/serve.h"

int serve_open(struct serve **ret, const struct serve_opts *opts, struct seam_error *err)
{
	(void)ret;
	(void)opts;
	return seam_error_set(err, ENOSYS, NULL, SEAM_NO_OFFSET, NULL,
	                      "this build of seam has no libmicrohttpd, and serves nothing; 'seam "
	                      "flame --source' makes a file of the same page");
}

void serve_close(struct serve *s)
{
	(void)s;
}

unsigned serve_port(const struct serve *s)
{
	(void)s;
	return 0;
}

const char *serve_token(const struct serve *s)
{
	(void)s;
	return "";
}
