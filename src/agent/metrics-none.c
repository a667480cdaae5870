// SPDX-License-Identifier: MIT
// metrics-none.c: metrics.c's twin for builds without libmicrohttpd.
#include <errno.h>

#include "agent/metrics.h"

int metrics_open(struct metrics **ret, const char *address, struct seam_error *err)
{
	(void)ret;
	(void)address;
	return seam_error_set(err, ENOSYS, NULL, SEAM_NO_OFFSET, NULL,
	                      "metrics: this build of seam has no libmicrohttpd");
}

void metrics_close(struct metrics *m)
{
	(void)m;
}

void metrics_set(struct metrics *m, const struct metrics_values *v)
{
	(void)m;
	(void)v;
}
