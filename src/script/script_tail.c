// SPDX-License-Identifier: MIT
/*
 * script_tail.c: see script_tail.h. Text grows from the end of its room downwards, so that the
 * lines of the outer frames stay where they are.
 *
 * Frames of a stack are compared from the outermost inwards, because a thread's outer frames change
 * least.
 */
#include "script/script_tail.h"

#include <string.h>

/* How many outer frames the thread's last stack had in common with this one, whose lines can be
 * copied. Makes the tail this thread's. */
uint32_t script_tail_common(struct script_tail *t, uint32_t tid, uint32_t space, unsigned found,
                            const struct seam_u64s *stack)
{
	uint32_t n = 0;

	if (t->tid != tid || t->space != space || t->found != found)
		t->n = 0;
	t->tid = tid;
	t->space = space;
	t->found = found;
	/* The innermost frame of either stack is not a caller, so its line is different even at the
	 * same address. */
	while (n + 1 < t->n && n + 1 < stack->n &&
	       t->address[n] == seam_u64s_at(stack, stack->n - 1 - n))
		n++;
	/* One less: the frame below a new one may be stopped, and then its line is another. */
	return n - (n > 0);
}

/* Copies the lines of the n outermost frames. */
int script_tail_put(const struct script_tail *t, uint32_t n, struct buf *out)
{
	uint32_t bytes = n ? t->from_end[n - 1] : 0;

	return buf_put(out, t->text + TAIL_TEXT - bytes, bytes);
}

/* Keeps a stack's lines: n frames are there already, lines has those of the others, and begins
 * where each of these begins. A stack that is too deep keeps what is common only. */
void script_tail_keep(struct script_tail *t, uint32_t n, const struct seam_u64s *stack,
                      const unsigned char *lines, size_t n_lines, const uint32_t *begins)
{
	uint32_t have = n ? t->from_end[n - 1] : 0, fresh;

	if (stack->n > TAIL_FRAMES || n_lines > TAIL_TEXT - have) {
		t->n = n;
		return;
	}
	memcpy(t->text + TAIL_TEXT - have - n_lines, lines, n_lines);
	t->n = (uint32_t)stack->n;
	fresh = t->n - n;
	for (uint32_t i = 0; i < fresh; i++) { /* from the outermost of them inwards */
		uint32_t inner = fresh - 1 - i;

		t->address[n + i] = seam_u64s_at(stack, inner);
		t->from_end[n + i] = have + (uint32_t)n_lines - begins[inner];
	}
}
