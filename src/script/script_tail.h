/* SPDX-License-Identifier: MIT */
/*
 * script_tail.h: the lines of a thread's last user stack, from the outermost frame inwards.
 *
 * Stacks of one thread mostly differ in their inner frames. The lines of the outer ones are copied
 * at once from here; a frame whose address, address space or kind differs, and all inside of it,
 * are not.
 */
#ifndef SEAM_SCRIPT_SCRIPT_TAIL_H
#define SEAM_SCRIPT_SCRIPT_TAIL_H

#include <seam/record.h>

#include "base/buf.h"

#define TAIL_FRAMES 512u
#define TAIL_TEXT (64u << 10)

struct script_tail {
	uint32_t tid, space;
	unsigned found;                /* how its addresses were found */
	uint32_t n;                    /* frames */
	uint64_t address[TAIL_FRAMES]; /* outermost first */
	uint32_t from_end
	        [TAIL_FRAMES]; /* where a frame's line begins: bytes before the end of text */
	unsigned char text[TAIL_TEXT]; /* lines, innermost first, up to its end */
};

/* How many of a stack's outer frames have their lines here: fewer than all that are the same,
 * because what stands in front of the innermost of these may say that it was stopped. */
uint32_t script_tail_common(struct script_tail *t, uint32_t tid, uint32_t space, unsigned found,
                            const struct seam_u64s *stack);
/* Appends the lines of the n outermost frames. */
int script_tail_put(const struct script_tail *t, uint32_t n, struct buf *out);
/*
 * Keeps a stack whose n outermost frames are here: lines are those of the others, innermost first,
 * and begins[] says where in them each begins.
 */
void script_tail_keep(struct script_tail *t, uint32_t n, const struct seam_u64s *stack,
                      const unsigned char *lines, size_t n_lines, const uint32_t *begins);

#endif
