/* SPDX-License-Identifier: MIT */
/*
 * python.h: CPython: which version an object is, and where that version keeps the frames of a
 * thread. Asks for symbols and bytes of the object; opens nothing.
 */
#ifndef SEAM_RUNTIMES_PYTHON_H
#define SEAM_RUNTIMES_PYTHON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtimes/python_layout.h"

/* The object as it is asked. All return 0, or -errno. Addresses are those it was linked for. */
struct python_source {
	void *ctx;
	/* size may be NULL */
	int (*symbol)(void *ctx, const char *name, uint64_t *ret, uint64_t *size);
	int (*read)(void *ctx, uint64_t address, void *to, size_t n);
	/* calls each for all functions, and parts of functions, that have unwind information */
	int (*functions)(void *ctx, int (*each)(void *arg, uint64_t start, uint64_t end),
	                 void *arg);
};

struct python_object {
	uint64_t runtime, code_type; /* addresses of _PyRuntime and PyCode_Type, as linked */
	uint64_t loop, loop_bytes, cold, cold_bytes; /* as in python_process */
	struct python_layout layout;
};

/*
 * 0: the object is CPython of a version that is known; -ENOENT: it is no CPython. -ENOTSUP: it is
 * another version, or a build that is not understood; ret->layout.version says which, or is 0.
 */
int python_find(struct python_object *ret, const struct python_source *source);

/*
 * The line of an instruction by a code object's location table of this form; 0: the table does not
 * say. offset is in bytes of instructions.
 */
uint32_t python_line(enum python_lines form, const unsigned char *table, size_t n,
                     uint32_t first_line, uint32_t offset);

/*
 * A string's characters, of 1, 2 or 4 bytes each, as UTF-8. Returns its bytes without the final 0;
 * what has no room is left out. What is no character becomes U+FFFD.
 */
size_t python_text(char *to, size_t room, const void *characters, size_t bytes, unsigned width);

#endif
