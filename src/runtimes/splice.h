/* SPDX-License-Identifier: MIT */
/*
 * splice.h: an interpreter's frames in a native stack: in front of each call of the interpreter's
 * loop come the frames that it runs.
 */
#ifndef SEAM_RUNTIMES_SPLICE_H
#define SEAM_RUNTIMES_SPLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtimes/codes.h"
#include "runtimes/runtime_frame.h"

#define SPLICE_INLINED 1024u /* functions of a stack that are inlined in others' code */

/* Frames of a thread and calls of the loop, the innermost first. */
struct splice {
	struct runtime_frame *frames;
	size_t n;
	/* where the frames of another interpreter begin that the thread runs, too; 0: nowhere */
	size_t other;
	bool whole; /* they reach the outermost */
};

/* The innermost call of the loop has not begun with its frame, or is done with it: each runs the
 * frames before the call before it. */
void splice_shift(struct splice *s);

/*
 * Finds the native frames of calls of the loop, whose keys are addresses on the stack: sps has the
 * stack pointer in each of n native frames, and sps[n] that behind the outermost.
 */
void splice_place(struct splice *s, const uint64_t *sps, size_t n);

/* Whether a call of the loop has none of the n native frames. */
bool splice_is_apart(const struct splice *s, size_t n);

/* Frames of so many interpreters may be in a stack, of each as a struct splice. */
#define SPLICES_MOST 8u

/*
 * Writes the n addresses of a native stack with the frames of n_splices interpreters into `to`,
 * which has room for all and SPLICE_INLINED more, and returns how many there are. A call that the
 * native stack does not have ends its interpreter's frames: what is outwards of it stays native.
 * But where the native stack is cut off (cut) all frames that are known come behind it, if they are
 * of one interpreter. *unnamed counts frames of code that was never told, which are left out.
 */
size_t splice_stack(const struct splice *splices, size_t n_splices, struct codes *codes,
                    const uint64_t *ips, size_t n, bool cut, uint64_t *to, uint64_t *unnamed);

#endif
