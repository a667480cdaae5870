/* SPDX-License-Identifier: MIT */
/*
 * v8.h: V8: which version an object is, and where that version keeps what leads from a frame to its
 * function. Asks for symbols and bytes of the object; opens nothing.
 */
#ifndef SEAM_RUNTIMES_V8_H
#define SEAM_RUNTIMES_V8_H

#include "runtimes/kinds.h"
#include "runtimes/v8_layout.h"
#include "runtimes/v8_lines.h"

/* 0: the object is a V8 that is known; -ENOENT: it is none. -ENOTSUP: it is one of another version,
 * or of a build that is not understood (compressed pointers). */
int v8_find(struct runtime_object *ret, const struct runtime_source *source);

/* What the lines of a function are found by (V8_LINES_SOURCE), with its source position table
 * behind it if it was told. The lines must live on. */
struct v8_source {
	const struct v8_lines *lines; /* NULL: they are not known */
	uint32_t line;                /* what is to be added to each */
	uint32_t first_line;          /* 0: it is not known */
	uint32_t start, end;          /* of the function, in characters of the script */
	uint32_t rows;                /* enum v8_rows */
	uint32_t bytecodes;           /* places are offsets of bytecodes */
};

/* The line of a place in a function, by what was told of it; 0: it is not known. */
uint32_t v8_line(const struct runtime_lines *lines, uint32_t at);

/* The functions at a place in compiled code, the innermost first: those that are inlined there, and
 * the one whose code it is. Returns how many; 0: this is no compiled code. A key of 0 comes first
 * where what was told of the code does not reach so far. */
size_t v8_inlined(const struct runtime_lines *lines, uint32_t at, struct runtime_place *to,
                  size_t room);

#endif
