/* SPDX-License-Identifier: MIT */
/*
 * kinds.h: interpreters, each in a file of its own: which one an object is, and which line a place
 * in its code has. Asks for symbols and bytes of the object; opens nothing.
 */
#ifndef SEAM_RUNTIMES_KINDS_H
#define SEAM_RUNTIMES_KINDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/runtime_kind.h"
#include "runtimes/runtime_frame.h"
#include "runtimes/runtime_process.h"

/* The object as it is asked. All return 0, or -errno. Addresses are those it was linked for. */
struct runtime_source {
	void *ctx;
	/* of what the object exports; size may be NULL */
	int (*symbol)(void *ctx, const char *name, uint64_t *ret, uint64_t *size);
	/* any symbol, if the object was not stripped of them: goes through all, so to be asked of
	 * an object that is the runtime's for sure */
	int (*local)(void *ctx, const char *name, uint64_t *ret, uint64_t *size);
	int (*read)(void *ctx, uint64_t address, void *to, size_t n);
	/* calls each for all functions, and parts of functions, that have unwind information */
	int (*functions)(void *ctx, int (*each)(void *arg, uint64_t start, uint64_t end),
	                 void *arg);
};

/* What lines of a piece of code are found by, as its walk told it. */
struct runtime_lines {
	unsigned form; /* the runtime's own numbers, or RUNTIME_LINES_GIVEN */
	const unsigned char *bytes;
	size_t n;
	uint32_t first_line;
};

/*
 * Whether the object is an interpreter: 0, and *ret says which; -ENOENT: it is none. -ENOTSUP: it
 * is, of a version or a build that is not understood; *ret says its kind.
 */
int kinds_find(struct runtime_object *ret, const struct runtime_source *source);

/* Whether a native frame at that address, as linked, may be a call by which functions run. */
bool kinds_runs(const struct runtime_object *o, uint64_t address);

/* A native stack, the innermost frame first. sps[i + 1] is the stack pointer behind frame i. */
struct runtime_natives {
	const uint64_t *ips, *sps;
	size_t n;
};

/*
 * What the programs in the kernel have left to who walks the native stack: calls of the loop are
 * met in it and put in the place of the RUNTIME_FRAME_JUMP at the end of the frames, of which there
 * are KINDS_MET at least. o has the addresses of the process.
 */
#define KINDS_MET 256u
void kinds_meet(const struct runtime_object *o, struct runtime_frame *frames, size_t *n,
                const struct runtime_natives *natives);

/* The line of a place in a piece of code; 0: it is not known. */
uint32_t kinds_line(enum runtime_kind kind, const struct runtime_lines *lines, uint32_t at);

/* Gives calls of the loop that do not say where they are their native frames, by those that were
 * met there. False: they do not fit. */
bool kinds_match(enum runtime_kind kind, struct runtime_frame *frames, size_t *n);

/* A function, and a place in it. */
struct runtime_place {
	uint64_t key;
	uint32_t at;
};

/* The functions that are at a place in a piece of code, the innermost first, where that is code
 * into which others were inlined. Returns how many; 0: it is the code of one. A key of 0 stands for
 * functions that are not known. */
size_t kinds_inlined(enum runtime_kind kind, const struct runtime_lines *lines, uint32_t at,
                     struct runtime_place *to, size_t room);

#endif
