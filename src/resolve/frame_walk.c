// SPDX-License-Identifier: MIT
/*
 * frame_walk.c: see frame_walk.h. A callchain is a list of addresses with markers between them. The
 * kernel writes it innermost first: [KERNEL, addresses,] [USER, addresses]. Older kernels and other
 * tools leave markers out or repeat them, so what an address is follows from the last marker, or
 * from the record's header in front of the first one.
 *
 * The first address of each part is where execution stopped; all others are return addresses, whose
 * call lies before them. Marks of the walker in an address say where that is otherwise.
 *
 * Invariant: every address of the chain is given once, in order, and no marker is.
 */
#include "resolve/frame_walk.h"

#include "samples/called.h"

/* A marker says to whom the addresses behind it belong. A second user marker is padding; a second
 * kernel marker stands above what an exception stopped (powerpc). Called once per marker, between
 * two addresses. */
static void frame_walk_marker(struct frame_walk *walk, uint64_t marker)
{
	bool was = walk->user;

	walk->user = marker == SEAM_CONTEXT_USER;
	walk->guest = marker == SEAM_CONTEXT_GUEST || marker == SEAM_CONTEXT_GUEST_KERNEL ||
	              marker == SEAM_CONTEXT_GUEST_USER;
	if (!was || !walk->user)
		walk->not_first = walk->exact = false;
}

bool frame_walk_has_user(const struct seam_u64s *kernel)
{
	for (uint64_t i = 0; i < kernel->n; i++)
		if (seam_u64s_at(kernel, i) == SEAM_CONTEXT_USER)
			return true;
	return false;
}

/* Whether the kernel part holds user addresses, too (a stack that the kernel walked itself). */
bool frame_walk_mixed(const struct callchain *s)
{
	return frame_walk_has_user(&s->kernel) || hit_user_first(&s->kernel, s->misc);
}

/* The frame at which the sample hit, in the mode that its header names. */
static struct frame_at frame_walk_hit(const struct callchain *s)
{
	unsigned mode = s->misc & SEAM_MISC_CPUMODE_MASK;

	return (struct frame_at){ .addr = s->ip,
		                  .user = mode == SEAM_MISC_USER,
		                  .first = true,
		                  .guest = mode != SEAM_MISC_USER && mode != SEAM_MISC_KERNEL };
}

/* Takes the frame that is next in its part. caller: the address lies behind a call. first:
 * execution stopped here. */
static void frame_walk_take(struct frame_walk *walk, struct frame_at *at)
{
	at->caller = walk->not_first && !walk->exact;
	at->first = !walk->not_first;
	walk->not_first = true;
	walk->exact = false;
}

/* Gives the frames of a stitched sample one by one, innermost first: the place where it hit if its
 * callchain does not hold that, then the kernel part, then the user part. False: there are no more.
 * Markers are not frames. */
bool frame_walk_next(struct frame_walk *walk, const struct callchain *s, struct frame_at *ret)
{
	uint64_t addr;

	if (!walk->in_chain) {
		walk->in_chain = true;
		if (hit_apart(s)) {
			*ret = frame_walk_hit(s);
			return true;
		}
	}
	/* Decides whose the addresses in front of the first marker are. */
	/* Some tools write no marker at all in front of user addresses. */
	if (!walk->in_user && !walk->i)
		walk->user = hit_user_first(&s->kernel, s->misc);
	while (!walk->in_user && walk->i < s->kernel.n) {
		addr = seam_u64s_at(&s->kernel, walk->i++);
		if (addr >= SEAM_CONTEXT_MAX) {
			frame_walk_marker(walk, addr);
			continue;
		}
		*ret = (struct frame_at){ .addr = addr, .user = walk->user, .guest = walk->guest };
		frame_walk_take(walk, ret);
		return true;
	}
	/* Where the kernel part ends with user addresses, the user part goes on behind them. */
	if (!walk->in_user)
		*walk = (struct frame_walk){ .in_chain = true,
			                     .in_user = true,
			                     .not_first = walk->user && walk->not_first,
			                     .exact = walk->user && walk->exact };
	if (walk->i >= s->user.n)
		return false;
	addr = seam_u64s_at(&s->user, walk->i++);
	*ret = (struct frame_at){ .addr = addr, .user = true };
	frame_walk_take(walk, ret);
	/* Only stacks that seam walked have marks; addresses of others are whole. */
	if (called_marks(s))
		frame_walk_marks(ret);
	return true;
}
