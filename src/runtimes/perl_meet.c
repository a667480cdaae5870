// SPDX-License-Identifier: MIT
/*
 * perl_meet.c: calls of the loop in a native stack that the recorder has walked, because the
 * programs in the kernel did not know a library yet that is in it. It does what
 * capture/runtime/perl.bpf.h does while it walks (perl_pass).
 */
#include <string.h>

#include "runtimes/perl.h"

#define PERL_MEET_JUMPS 2048u /* more than there may be */

struct perl_meet {
	const struct runtime_object *o;
	const struct perl_layout *layout;
	uint64_t jumps[PERL_MEET_JUMPS];
	size_t n_jumps, at_jump;
};

static bool perl_meet_in(const struct perl_meet *m, enum perl_address of, uint32_t bytes,
                         uint64_t pc)
{
	return pc - m->o->address[of] < bytes;
}

/* Who called the loop: the function at pc, which has a place for exceptions to jump to or not. */
static enum perl_call perl_meet_by(const struct perl_meet *m, uint64_t pc, bool jump)
{
	const struct perl_layout *l = m->layout;

	if (perl_meet_in(m, PERL_CALL, l->call_bytes, pc) ||
	    perl_meet_in(m, PERL_EVAL, l->eval_bytes, pc) ||
	    perl_meet_in(m, PERL_OVERLOAD, l->overload_bytes, pc))
		return PERL_BY_CALL;
	if (perl_meet_in(m, PERL_RUN, l->run_bytes, pc))
		return PERL_BY_MAIN;
	if (jump)
		return PERL_BY_DOUBT;
	return pc - m->o->address[PERL_LOOP] - l->text < l->text_bytes ? PERL_BY_INSIDE
	                                                               : PERL_BY_OUTSIDE;
}

/* Whether a place for exceptions to jump to is in the frame below sp. */
static bool perl_meet_jump(struct perl_meet *m, uint64_t sp)
{
	size_t before = m->at_jump;

	while (m->at_jump < m->n_jumps && m->jumps[m->at_jump] < sp && m->at_jump - before < 4)
		m->at_jump++;
	return m->at_jump > before;
}

/* A call of the loop is known when its caller is: the next frame outwards. */
void perl_meet(const struct runtime_object *o, struct runtime_frame *frames, size_t *n,
               const struct runtime_natives *natives)
{
	struct perl_meet m = { .o = o, .layout = (const void *)o->layout };
	size_t first = *n, called = 0, met;

	while (first && frames[first - 1].what == RUNTIME_FRAME_JUMP)
		first--;
	if (first == *n || *n - first > PERL_MEET_JUMPS)
		return;
	for (size_t i = first; i < *n; i++)
		m.jumps[m.n_jumps++] = frames[i].key;
	met = first;
	for (size_t i = 0; i < natives->n; i++) {
		uint64_t pc = natives->ips[i] - (i != 0);
		bool jump = perl_meet_jump(&m, natives->sps[i + 1]);
		enum perl_call by = called ? perl_meet_by(&m, pc, jump) : PERL_BY_DOUBT;

		if (by != PERL_BY_DOUBT) {
			if (met == *n) { /* there is one left, so that nothing fits */
				frames[first].what = RUNTIME_FRAME_JUMP;
				*n = first + 1;
				return;
			}
			frames[met++] = (struct runtime_frame){ .key = by,
				                                .native = (uint16_t)(called - 1),
				                                .what = RUNTIME_FRAME_MET };
		}
		called = perl_meet_in(&m, PERL_LOOP, m.layout->loop_bytes, pc) ? i + 1 : 0;
	}
	*n = met;
}
