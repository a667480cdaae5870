// SPDX-License-Identifier: MIT
/* sqlite-none.c: sqlite.c's twin for builds without SQLite. URLs that name SQLite are known, so
 * that the message says what is wrong. */
#include "store/backend.h"

#include <errno.h>

static int sqlite_none_open(void **ret, const char *rest, enum store_mode mode,
                            struct seam_error *err)
{
	(void)ret;
	(void)rest;
	(void)mode;
	return seam_error_set(err, ENOSYS, NULL, SEAM_NO_OFFSET, NULL,
	                      "this build of seam has no SQLite");
}

const struct store_backend sqlite_backend = {
	.scheme = "sqlite",
	.help = "sqlite:FILE (an SQLite database; not in this build)",
	.open = sqlite_none_open,
};
