/* SPDX-License-Identifier: MIT */
/*
 * beginning.h: knows, by their names, functions with which programs, threads and processes of a
 * runtime begin. All take names with or without FRAME_GUESS.
 */
#ifndef SEAM_RESOLVE_BEGINNING_H
#define SEAM_RESOLVE_BEGINNING_H

#include <stdbool.h>

/* Whether a stack that ends in this function may well be whole. */
bool beginning_is(const char *name);
/* Whether nothing calls it: a stack that ends there is whole, however its walk ended. leaf: it is
 * the stack's only function, where one that is called may have this name, too (clone). */
bool beginning_is_first(const char *name, bool leaf);

#endif
