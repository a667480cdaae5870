/* SPDX-License-Identifier: MIT */
/*
 * v8.h: V8: which version an object is, and where that version keeps what leads from a frame to its
 * function. Asks for symbols and bytes of the object; opens nothing.
 */
#ifndef SEAM_RUNTIMES_V8_H
#define SEAM_RUNTIMES_V8_H

#include "runtimes/kinds.h"
#include "runtimes/v8_layout.h"

/* 0: the object is a V8 that is known; -ENOENT: it is none. -ENOTSUP: it is one of another version,
 * or of a build that is not understood (compressed pointers). */
int v8_find(struct runtime_object *ret, const struct runtime_source *source);

/* The line of a place in a function, by what was told of it; 0: it is not known. */
uint32_t v8_line(const struct runtime_lines *lines, uint32_t at);

/* The keys of the functions at a place in compiled code, the innermost first: those that are
 * inlined there, and the one whose code it is. Returns how many; 0: this is no compiled code. */
size_t v8_inlined(const struct runtime_lines *lines, uint32_t at, uint64_t *keys, size_t room);

#endif
