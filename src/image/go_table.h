/* SPDX-License-Identifier: MIT */
/*
 * go_table.h: the table of functions that Go's linker writes for Go's runtime (.gopclntab). It is
 * in every program of Go, also in one without symbols and debugging information: where each
 * function begins, its name, how far the stack pointer is from where it was at the function's
 * begin, files and lines, and what was inlined.
 *
 * Read from the Go project's runtime (symtab.go, funcdata.go, linker's pcln.go) of Go 1.2 to 1.26.
 * The table has one of four forms: of Go 1.2, 1.16, 1.18 and 1.20.
 *
 * Invariant: nothing of the table is trusted. What does not lie within it, or within .text, is
 * not there; so a damaged table gives fewer answers, and work is bounded by its size.
 */
#ifndef SEAM_IMAGE_GO_TABLE_H
#define SEAM_IMAGE_GO_TABLE_H

#include "image/image.h"

struct go_table;

/*
 * Opens the table of an image, which must stay open. -ENOENT: it has none. -EBADMSG: it is damaged,
 * of a form that is not known, or it cannot be told which addresses it speaks of. -ENOMEM.
 */
int go_table_open(struct go_table **ret, struct image *image);
void go_table_close(struct go_table *table);

/* Whether an image has one, sound or not. */
bool go_table_is_there(struct image *image);

struct go_function {
	uint64_t start, end; /* addresses of the image; padding behind it is not in it */
	const char *name;    /* of the table; never empty */
	bool outermost;      /* nobody called it: a thread's or a goroutine's first */
	size_t at;           /* of what more is known of it, in the table */
};
size_t go_table_functions(const struct go_table *table);
/* 1, and the function; 0: that entry is damaged. They ascend. */
int go_table_function(const struct go_table *table, size_t i, struct go_function *ret);
/* The function at an address. 1; 0: there is none. */
int go_table_find(const struct go_table *table, uint64_t addr, struct go_function *ret);

/*
 * Calls each for every span of a function's code: there the stack pointer is `depth` bytes below
 * where it was at the function's begin, when it pointed to the return address. Spans adjoin, from
 * the function's start on; where the table is damaged they end early. Stops when it returns
 * non-zero, and returns that.
 */
int go_table_each_depth(const struct go_table *table, const struct go_function *f,
                        int (*each)(void *ctx, uint64_t start, uint64_t end, uint32_t depth),
                        void *ctx);

struct go_line {
	const char *function, *file; /* file: NULL: not known */
	uint32_t line;               /* 0: not known */
};
#define GO_LINES_MAX 64u
/* What stands at an address: [0] has the code, each after that was inlined into the one before it.
 * How many; 0: nothing is known. ret has room for GO_LINES_MAX; of more, only the first
 * is told. */
size_t go_table_lines(const struct go_table *table, uint64_t addr, struct go_line *ret);

#endif
