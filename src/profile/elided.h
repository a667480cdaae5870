/* SPDX-License-Identifier: MIT */
/*
 * elided.h: a name of C++ or Rust without what makes it long: the arguments of templates and of
 * functions.
 */
#ifndef SEAM_PROFILE_ELIDED_H
#define SEAM_PROFILE_ELIDED_H

#include "base/buf.h"

/* Appends "std::vector<...>::push_back(...)" for the whole name; a name that has no such part, or
 * whose brackets do not match, as it is. */
void elided_put(struct buf *to, const char *name);
/* Appends a text that shown_put wrote so that it takes at most `room` columns: whole, else without
 * its arguments, else cut as by shown_cut. */
void elided_fit(struct buf *to, const char *text, size_t room, size_t end);
/* The same of "NAME (IN)", two such texts: IN is cut before a name that fits is, and left out where
 * a longer name has little room. in: NULL: there is none. */
void elided_fit_in(struct buf *to, const char *name, const char *in, size_t room, size_t end);

#endif
