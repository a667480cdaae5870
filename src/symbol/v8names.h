/* SPDX-License-Identifier: MIT */
/*
 * v8names.h: names of files that V8 spoiled as it wrote them into a jitdump.
 *
 * V8 11.3 (node 20) copies a name of a script that is no flat string of its heap into memory that
 * it frees before it writes it: in place of its first 16 bytes stands what glibc's allocator keeps
 * in memory that is free; the length and what follows are right. The name of the code itself ends
 * with the whole path of its script, "JS:*f /src/index.js:4:13". Where exactly one path of a dump
 * has the length and all that is left of a name, that is the name; else it stays spoiled.
 */
#ifndef SEAM_SYMBOL_V8NAMES_H
#define SEAM_SYMBOL_V8NAMES_H

#include <stddef.h>

#include "base/map.h"

/* Zero-initialise to start. What it learned from must outlive it. */
struct v8names {
	struct map by_rest;
};

/* The name of a piece of code; others' than V8's are passed over. -ENOMEM. */
int v8names_learn(struct v8names *v, const char *code);
/* The path of *ret_n bytes (no NUL behind them) that stood at `at`, where n bytes are left, with
 * its NUL; NULL: what is there is not spoiled in that way, or it is not known what it was. */
const char *v8names_find(const struct v8names *v, const unsigned char *at, size_t n, size_t *ret_n);
void v8names_free(struct v8names *v);

#endif
