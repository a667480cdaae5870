// SPDX-License-Identifier: MIT
// resolve_frame_walk.c: which of a sample's frames are calls and which are where something was, by
// how its user part was taken.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "abi/encode.h"
#include "resolve/frame_walk.h"
#include "samples/called.h"
#include "unwind/walk.h"

#define LBR (SEAM_SAMPLE_IP | SEAM_SAMPLE_CALLCHAIN | SEAM_SAMPLE_BRANCH_STACK)

struct made {
	struct seam_event event;
	uint64_t chain[4], entries[12], words[CALLED_MAX];
	struct seam_stitched s;
};

/* A sample of a user at 0x100 whose callchain goes on at 0x999, with three branches. */
static void make(struct made *m, uint64_t sample_type, uint64_t branch_type)
{
	static const uint64_t chain[] = { 0x100, 0x999 };
	static const uint64_t entries[] = { 0x210, 0x100, 0, 0x310, 0x200, 0, 0x410, 0x300, 0 };

	memset(m, 0, sizeof(*m));
	m->event.attr.sample_type = sample_type;
	m->event.attr.branch_sample_type = branch_type;
	memcpy(m->chain, chain, sizeof(chain));
	memcpy(m->entries, entries, sizeof(entries));
	m->s = (struct seam_stitched){ .state = SEAM_STITCH_IMMEDIATE,
		                       .misc = SEAM_MISC_USER,
		                       .user = encode_words(m->chain, 2) };
	m->s.sample.event = &m->event;
	m->s.sample.ip = 0x100;
	m->s.sample.branches.n = 3;
	m->s.sample.branches.entries = encode_words(m->entries, 9);
}

static void expect(const struct seam_stitched *sample, const uint64_t *addrs, const bool *callers,
                   size_t n)
{
	const struct callchain chain = callchain_of(sample), *s = &chain;
	struct frame_walk walk = { 0 };
	struct frame_at at;

	for (size_t i = 0; i < n; i++) {
		assert_true(frame_walk_next(&walk, s, &at));
		assert_int_equal(at.addr, addrs[i]);
		assert_int_equal(at.caller, callers[i]);
	}
	assert_false(frame_walk_next(&walk, s, &at));
}

/* The calls that the CPU kept are the callers, each where it is. */
static void test_calls(void **state)
{
	static const uint64_t addrs[] = { 0x100, 0x210, 0x310, 0x410 };
	static const bool callers[] = { false, false, false, false };
	struct made m;

	(void)state;
	make(&m, LBR, CALLED_CALL_STACK | 1);
	assert_true(called_sample(&m.s, m.words));
	expect(&m.s, addrs, callers, 4);
	/* Without any the callchain's are not believed. */
	make(&m, LBR, CALLED_CALL_STACK | 1);
	m.s.sample.branches.entries.n = 0;
	assert_true(called_sample(&m.s, m.words));
	expect(&m.s, addrs, callers, 1);
	/* Nor is anything behind what is no user's. */
	make(&m, LBR, CALLED_CALL_STACK | 1);
	m.entries[3] = 0xffffffff81000000;
	assert_true(called_sample(&m.s, m.words));
	expect(&m.s, addrs, callers, 2);
}

/* Branches of another kind, or none, change nothing: behind the first address stand returns. */
static void test_no_calls(void **state)
{
	static const uint64_t addrs[] = { 0x100, 0x999 };
	static const bool callers[] = { false, true };
	struct made m;

	(void)state;
	make(&m, LBR, 1);
	assert_false(called_sample(&m.s, m.words));
	expect(&m.s, addrs, callers, 2);
	make(&m, SEAM_SAMPLE_CALLCHAIN, CALLED_CALL_STACK);
	assert_false(called_sample(&m.s, m.words));
	expect(&m.s, addrs, callers, 2);
	/* A thread of the kernel has no user part. */
	make(&m, LBR, CALLED_CALL_STACK);
	m.s.state = SEAM_STITCH_KERNEL_ONLY;
	m.s.kernel = m.s.user;
	m.s.user.n = 0;
	assert_false(called_sample(&m.s, m.words));
}

/* Below a signal's handler the frame is where the signal came: said by the walk's mark, or by the
 * name in between. */
static void test_stopped(void **state)
{
	static const uint64_t addrs[] = { 0x100, 0x200, 0x300, 0x400 };
	static const bool marked[] = { false, true, false, true },
	                  named[] = { false, true, false, true };
	struct frame_walk walk = { 0 };
	struct callchain chain;
	struct frame_at at;
	struct made m;

	(void)state;
	make(&m, SEAM_SAMPLE_CALLCHAIN, 0);
	memcpy(m.chain, addrs, sizeof(addrs));
	m.chain[2] |= WALK_EXACT;
	m.s.user.n = 4;
	m.s.state = SEAM_STITCH_STACK_COPY;
	expect(&m.s, addrs, marked, 4);
	m.chain[2] = addrs[2];
	m.s.state = SEAM_STITCH_IMMEDIATE;
	chain = callchain_of(&m.s);
	for (size_t i = 0; i < 4; i++) {
		assert_true(frame_walk_next(&walk, &chain, &at));
		assert_int_equal(at.caller, named[i]);
		if (i == 1) /* its name is __restore_rt */
			frame_walk_stopped(&walk);
	}
}

#define K1 0xffffffff81000010
#define K2 0xffffffff81000020
#define U1 0x1010
#define U2 0x1020
#define U3 0x1030

/* A sample by its words, and its frames. */
struct chain_case {
	uint64_t sample_type, ip;
	uint16_t misc;
	enum seam_stitch_state state;
	uint64_t kernel[6], user[3];
	size_t n_kernel, n_user;
	bool mixed;
	struct frame_at frames[6];
	size_t n;
};

static void check_case(const struct chain_case *c)
{
	const struct seam_event event = { .attr.sample_type = c->sample_type };
	const struct callchain chain = { .event = &event,
		                         .ip = c->ip,
		                         .misc = c->misc,
		                         .state = c->state,
		                         .kernel = encode_words(c->kernel, c->n_kernel),
		                         .user = encode_words(c->user, c->n_user) };
	struct frame_walk walk = { 0 };
	struct frame_at at;

	for (size_t i = 0; i < c->n; i++) {
		assert_true(frame_walk_next(&walk, &chain, &at));
		assert_int_equal(at.addr, c->frames[i].addr);
		assert_int_equal(at.user, c->frames[i].user);
		assert_int_equal(at.caller, c->frames[i].caller);
		assert_int_equal(at.first, c->frames[i].first);
		assert_int_equal(at.guest, c->frames[i].guest);
		assert_int_equal(at.guessed, c->frames[i].guessed);
	}
	assert_false(frame_walk_next(&walk, &chain, &at));
	assert_int_equal(frame_walk_mixed(&chain), c->mixed);
}

/* Whose an address is, and whether it is a call, by the markers around it. */
static void test_parts(void **state)
{
	static const struct chain_case cases[] = {
		/* The usual one. */
		{ .misc = SEAM_MISC_KERNEL,
		  .kernel = { SEAM_CONTEXT_KERNEL, K1, K2 },
		  .n_kernel = 3,
		  .user = { U1, U2 },
		  .n_user = 2,
		  .frames = { { .addr = K1, .first = true },
		              { .addr = K2, .caller = true },
		              { .addr = U1, .user = true, .first = true },
		              { .addr = U2, .user = true, .caller = true } },
		  .n = 4 },
		/* A guest's, behind each of its markers. */
		{ .misc = SEAM_MISC_KERNEL,
		  .kernel = { SEAM_CONTEXT_GUEST, K1, SEAM_CONTEXT_GUEST_KERNEL, K2,
		              SEAM_CONTEXT_GUEST_USER, U1 },
		  .n_kernel = 6,
		  .user = { U2 },
		  .n_user = 1,
		  .frames = { { .addr = K1, .first = true, .guest = true },
		              { .addr = K2, .first = true, .guest = true },
		              { .addr = U1, .first = true, .guest = true },
		              { .addr = U2, .user = true, .first = true } },
		  .n = 4 },
		/* User frames among the kernel's go on in the user part; a second user marker is
		 * padding. */
		{ .misc = SEAM_MISC_KERNEL,
		  .kernel = { SEAM_CONTEXT_KERNEL, K1, SEAM_CONTEXT_USER, U1, SEAM_CONTEXT_USER,
		              U2 },
		  .n_kernel = 6,
		  .user = { U3 },
		  .n_user = 1,
		  .mixed = true,
		  .frames = { { .addr = K1, .first = true },
		              { .addr = U1, .user = true, .first = true },
		              { .addr = U2, .user = true, .caller = true },
		              { .addr = U3, .user = true, .caller = true } },
		  .n = 4 },
		{ .misc = SEAM_MISC_KERNEL,
		  .kernel = { SEAM_CONTEXT_USER, U1 },
		  .n_kernel = 2,
		  .mixed = true,
		  .frames = { { .addr = U1, .user = true, .first = true } },
		  .n = 1 },
		/* Above a second kernel marker stands what an exception stopped. */
		{ .misc = SEAM_MISC_KERNEL,
		  .kernel = { SEAM_CONTEXT_KERNEL, K1, SEAM_CONTEXT_KERNEL, K2 },
		  .n_kernel = 4,
		  .frames = { { .addr = K1, .first = true }, { .addr = K2, .first = true } },
		  .n = 2 },
		/* In front of the first marker addresses have the mode of the header. */
		{ .misc = SEAM_MISC_USER,
		  .kernel = { U1, U2, SEAM_CONTEXT_KERNEL, K1 },
		  .n_kernel = 4,
		  .mixed = true,
		  .frames = { { .addr = U1, .user = true, .first = true },
		              { .addr = U2, .user = true, .caller = true },
		              { .addr = K1, .first = true } },
		  .n = 3 },
		/* A walk's guesses are marked. */
		{ .misc = SEAM_MISC_USER,
		  .state = SEAM_STITCH_STACK_COPY,
		  .user = { U1, U2 | WALK_GUESSED, U3 | WALK_GUESSED | WALK_EXACT },
		  .n_user = 3,
		  .frames = { { .addr = U1, .user = true, .first = true },
		              { .addr = U2, .user = true, .caller = true, .guessed = true },
		              { .addr = U3, .user = true, .guessed = true } },
		  .n = 3 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check_case(&cases[i]);
}

/* Where the sample hit stands in front, if its callchain begins elsewhere: of the mode that its
 * header names. */
static void test_hit(void **state)
{
	struct chain_case c = { .sample_type = SEAM_SAMPLE_IP,
		                .ip = K2,
		                .misc = SEAM_MISC_KERNEL,
		                .kernel = { SEAM_CONTEXT_KERNEL, K1 },
		                .n_kernel = 2,
		                .frames = { { .addr = K2, .first = true },
		                            { .addr = K1, .first = true } },
		                .n = 2 };

	(void)state;
	check_case(&c);
	c.misc = SEAM_MISC_GUEST_KERNEL;
	c.frames[0].guest = true;
	check_case(&c);
	c.misc = SEAM_MISC_USER;
	c.ip = c.frames[0].addr = U1;
	c.frames[0].guest = false;
	c.frames[0].user = true;
	check_case(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls),   cmocka_unit_test(test_no_calls),
		cmocka_unit_test(test_stopped), cmocka_unit_test(test_parts),
		cmocka_unit_test(test_hit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
