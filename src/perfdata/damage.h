/* SPDX-License-Identifier: MIT */
/*
 * damage.h: what was found wrong with an input, in words. All faults are counted, and the first
 * DAMAGE_KEPT are kept. With strict, the first fault becomes the caller's error.
 */
#ifndef SEAM_PERFDATA_DAMAGE_H
#define SEAM_PERFDATA_DAMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seam/error.h>

#define DAMAGE_KEPT 64

struct damage {
	struct seam_error *kept; /* DAMAGE_KEPT of them, allocated with the first */
	size_t n;
	uint64_t total;
	bool strict;
	bool quiet;       /* all of it was told before */
	const char *path; /* for the messages; the owner's */
};

void damage_free(struct damage *d);
/* 0, or with strict -EBADMSG and *err filled (err may be NULL). */
int damage_add(struct damage *d, struct seam_error *err, uint64_t offset, const char *what,
               const char *fmt, ...) __attribute__((format(printf, 5, 6)));

#endif
