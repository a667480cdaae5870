/* SPDX-License-Identifier: MIT */
/* error.h: a reason in words, where a function may have said one itself. */
#ifndef SEAM_BASE_ERROR_H
#define SEAM_BASE_ERROR_H

#include <seam/error.h>

/* Why a function failed with the negative r: what it said in err, "out of memory", or the error's
 * own words. */
const char *error_reason(const struct seam_error *err, int r);

#endif
