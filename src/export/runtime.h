/* SPDX-License-Identifier: MIT */
/*
 * runtime.h: frames that an interpreter or another runtime runs, told by their object, for formats
 * that show them in a colour of their own. A runtime is a row of a table.
 */
#ifndef SEAM_EXPORT_RUNTIME_H
#define SEAM_EXPORT_RUNTIME_H

#include "profile/profile.h"

struct runtime {
	const char *object; /* as profiles spell it, or the last part of its path */
	const char *name;
	unsigned hue, saturation; /* in flame graphs */
	const char *color;        /* in the Firefox Profiler, one of those it knows */
};

/* The row, from 0 on; NULL behind the last. */
const struct runtime *runtime_at(uint32_t row);
/* Which runs a frame's code: 1 + the row; 0: none, it is native or the kernel's. */
uint32_t runtime_of(const struct profile *p, const struct profile_frame *frame);
/* Whether the profile has code of any. */
bool runtime_any(const struct profile *p);

#endif
