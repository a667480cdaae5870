/* SPDX-License-Identifier: MIT */
/*
 * late.h: libraries that are loaded when they are first needed. What few commands need, with all
 * that it needs itself, would else cost each start of seam more than the rest of it.
 */
#ifndef SEAM_BASE_LATE_H
#define SEAM_BASE_LATE_H

#include <stdbool.h>
#include <stddef.h>

struct late_symbol {
	const char *name;
	void *to; /* a pointer to a function, of any type */
};

/* Loads a library, by its soname, and fills all pointers. False: there is none, or not all of its
 * functions; then the pointers mean nothing. It stays loaded. */
bool late_load(const char *soname, const struct late_symbol *symbols, size_t n);

#endif
