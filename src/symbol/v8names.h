/* SPDX-License-Identifier: MIT */
/*
 * v8names.h: names of files that V8 damaged while it wrote them into a jitdump.
 *
 * V8 11.3 (node 20) copies a script's name that is no flat string of its heap into memory that it
 * frees before it writes it. So the first 16 bytes are what glibc's allocator keeps in free memory;
 * the length and the rest are right. The name of the code itself ends with the whole path of its
 * script: "JS:*f /src/index.js:4:13". If exactly one path in a dump has the length and the rest of
 * a damaged name, that path is the name. Otherwise the name stays as it is.
 */
#ifndef SEAM_SYMBOL_V8NAMES_H
#define SEAM_SYMBOL_V8NAMES_H

#include <stddef.h>

#include "base/map.h"

/* Zero-initialise to start. What it learned from must outlive it. */
struct v8names {
	struct map by_rest;
};

/* Learns from the name of a piece of code. Names that are not V8's are ignored. -ENOMEM. */
int v8names_learn(struct v8names *v, const char *code);
/* The path that stood at `at`: *ret_n bytes, without a NUL behind them. n bytes are left there, and
 * the name's NUL must be among them. NULL: the name there is not damaged in this way, or it is not
 * known what it was. */
const char *v8names_find(const struct v8names *v, const unsigned char *at, size_t n, size_t *ret_n);
void v8names_free(struct v8names *v);

#endif
