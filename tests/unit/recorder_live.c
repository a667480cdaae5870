// SPDX-License-Identifier: MIT
// recorder_live.c: unwinding while recording, of the process that live_target.h makes records of;
// what comes out is compared with backtrace(3).
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recorder/live.h"
#include "samples/walk_result.h"

#if defined(__x86_64__)

#include "live_target.h"

static void walks_to_the_start(void **state)
{
	struct run r = begin(1, 0, 0);
	struct seam_decoded d;

	put_maps(&r.in, PID, 0);
	round_of(&r);
	put_sample(&r.in, PID, 100, SEAM_MISC_USER, false);
	put_sample(&r.in, PID, 101, SEAM_MISC_KERNEL, false);
	put_sample(&r.in, PID, 102, SEAM_MISC_KERNEL, true);
	round_of(&r);
	finish(&r);
	assert_true(sample_at(&r, 0, &d));
	assert_false(d.event->attr.sample_type & (SEAM_SAMPLE_REGS_USER | SEAM_SAMPLE_STACK_USER));
	assert_false(d.event->attr.flags & SEAM_ATTR_EXCLUDE_CALLCHAIN_USER);
	assert_whole(&d, 0);
	assert_true(sample_at(&r, 1, &d));
	assert_whole(&d, 2);
	assert_walk_result(&d, WALK_RESULT_WALKED, WALK_COMPLETE);
	assert_true(sample_at(&r, 2, &d));
	assert_int_equal(d.sample.callchain.n, 2);
	assert_walk_result(&d, WALK_RESULT_NO_STACK, 0);
	assert_false(sample_at(&r, 3, &d));
	assert_true(r.c.walks.end[WALK_COMPLETE] == 2 && r.c.kernel_only == 1);
	assert_sum(&r.c);
	end(&r);
}

/* A mapping that is older than the sample comes from a ring that is read one round later. */
static void waits_for_the_other_ring(void **state)
{
	struct run r = begin(1, 0, 0);
	struct seam_decoded d;

	put_sample(&r.in, PID, 100, SEAM_MISC_USER, false);
	round_of(&r);
	put_maps(&r.in, PID, 50);
	round_of(&r);
	finish(&r);
	assert_true(sample_at(&r, 0, &d));
	assert_whole(&d, 0);
	end(&r);
}

/* What is mapped later than the sample does not count, even where it stands before it in the
 * bytes. */
static void is_in_its_own_time(void **state)
{
	struct run r = begin(1, 0, 0);
	struct seam_decoded d;

	put_maps(&r.in, PID, 0);
	put_cover(&r.in, PID, 200);
	put_sample(&r.in, PID, 300, SEAM_MISC_USER, false);
	put_sample(&r.in, PID, 100, SEAM_MISC_USER, false);
	round_of(&r);
	finish(&r);
	assert_true(sample_at(&r, 0, &d));
	assert_true(d.id.time_ns == 100);
	assert_whole(&d, 0);
	assert_true(sample_at(&r, 1, &d));
	assert_int_equal(d.sample.callchain.n, 2); /* marker and ip: the rest would be a guess */
	assert_walk_result(&d, WALK_RESULT_WALKED, WALK_NO_INFO);
	assert_true(r.c.walks.end[WALK_NO_INFO] == 1);
	end(&r);
}

/* Inside execve the registers are the old program's: no user part, rather than a wrong one. */
static void exec_shows_no_old_frames(void **state)
{
	struct run r = begin(1, 0, 0);
	struct seam_decoded d;

	put_maps(&r.in, PID, 0);
	put_sample(&r.in, PID, 140, SEAM_MISC_KERNEL, false);
	put_exec(&r.in, PID, 150);
	put_sample(&r.in, PID, 160, SEAM_MISC_KERNEL, false);
	put_maps(&r.in, PID, 170);
	put_sample(&r.in, PID, 180, SEAM_MISC_USER, false);
	round_of(&r);
	finish(&r);
	assert_true(sample_at(&r, 0, &d));
	assert_whole(&d, 2);
	assert_true(sample_at(&r, 1, &d));
	assert_int_equal(d.sample.callchain.n, 2);
	assert_walk_result(&d, WALK_RESULT_IN_EXEC, 0);
	assert_true(sample_at(&r, 2, &d));
	assert_whole(&d, 0);
	assert_true(r.c.in_exec == 1 && r.c.walks.end[WALK_COMPLETE] == 2);
	assert_sum(&r.c);
	end(&r);
}

static void a_child_has_its_parents_mappings(void **state)
{
	struct run r = begin(1, 0, 0);
	struct seam_decoded d;

	put_maps(&r.in, PID, 0);
	put_fork(&r.in, PID, PID + 1, 100);
	put_exec(&r.in, PID, 110); /* the parent's: nothing to the child */
	put_sample(&r.in, PID + 1, 120, SEAM_MISC_USER, false);
	round_of(&r);
	finish(&r);
	assert_true(sample_at(&r, 0, &d));
	assert_whole(&d, 0);
	end(&r);
}

/* No room at all, as if nobody unwound: each sample keeps kernel part and user ip, and is
 * counted. */
static void what_does_not_fit_is_counted(void **state)
{
	struct run r = begin(1, 1, 0);
	struct seam_decoded d;

	put_maps(&r.in, PID, 0);
	for (unsigned i = 0; i < 100; i++)
		put_sample(&r.in, PID, 100 + i, i % 2 ? SEAM_MISC_KERNEL : SEAM_MISC_USER, false);
	put_sample(&r.in, PID, 300, SEAM_MISC_KERNEL, true);
	round_of(&r);
	finish(&r);
	assert_true(sample_at(&r, 0, &d));
	assert_true(d.sample.callchain.n == 2 && seam_u64s_at(&d.sample.callchain, 1) == regs[8]);
	assert_true(sample_at(&r, 99, &d));
	assert_true(d.sample.callchain.n == 4 && seam_u64s_at(&d.sample.callchain, 1) == KERNEL_IP);
	assert_true(seam_u64s_at(&d.sample.callchain, 3) == regs[8]);
	assert_walk_result(&d, WALK_RESULT_LATE, 0);
	assert_true(sample_at(&r, 100, &d));
	assert_int_equal(d.sample.callchain.n, 2);
	assert_false(sample_at(&r, 101, &d));
	assert_true(r.c.samples == 101 && r.c.not_unwound == 100 && r.c.kernel_only == 1);
	assert_sum(&r.c);
	end(&r);
}

/*
 * The end is due, and nothing that waits has been walked: every sample comes out with kernel part
 * and user ip, as late, and one after an exec that was not seen in user mode without the old
 * program's ip. What was walked before stays walked.
 */
static void what_is_late_at_the_end_is_counted(void **state)
{
	struct run r = begin(2, 0, 0);
	struct seam_decoded d;

	put_maps(&r.in, PID, 0);
	put_sample(&r.in, PID, 50, SEAM_MISC_USER, false);
	for (int i = 0; i < 3; i++)
		round_of(&r);
	while (r.out.n == 0)
		assert_int_equal(live_collect(r.l, gather, &r.out), 0);
	while (!sample_at(&r, 0, &d))
		assert_int_equal(live_collect(r.l, gather, &r.out), 0);
	for (unsigned i = 0; i < 1000; i++)
		put_sample(&r.in, PID, 100 + i, i % 2 ? SEAM_MISC_KERNEL : SEAM_MISC_USER, false);
	put_sample(&r.in, PID, 2000, SEAM_MISC_KERNEL, true);
	put_exec(&r.in, PID, 2001);
	put_sample(&r.in, PID, 2002, SEAM_MISC_KERNEL, false);
	assert_int_equal(live_write(r.l, r.in.bytes, r.in.n), 0);
	finish_in(&r, 0);
	assert_true(sample_at(&r, 0, &d));
	assert_whole(&d, 0);
	for (size_t i = 1; i <= 1000; i++) {
		assert_true(sample_at(&r, i, &d));
		assert_walk_result(&d, WALK_RESULT_LATE, 0);
		assert_int_equal(d.sample.callchain.n, i % 2 ? 2 : 4);
		assert_int_equal(regs[8], seam_u64s_at(&d.sample.callchain, i % 2 ? 1 : 3));
	}
	assert_true(sample_at(&r, 1001, &d));
	assert_walk_result(&d, WALK_RESULT_NO_STACK, 0);
	assert_true(sample_at(&r, 1002, &d));
	assert_walk_result(&d, WALK_RESULT_IN_EXEC, 0);
	assert_int_equal(d.sample.callchain.n, 2);
	assert_false(sample_at(&r, 1003, &d));
	assert_true(r.c.not_unwound == 1000 && r.c.kernel_only == 1 && r.c.in_exec == 1);
	assert_sum(&r.c);
	end(&r);
}

/* The same bytes, whatever the number of threads. */
static void threads_change_nothing(void **state)
{
	struct run runs[2];

	for (unsigned k = 0; k < 2; k++) {
		struct run *r = &runs[k];

		*r = begin(k ? 5 : 1, 1u << 30, 0);
		put_maps(&r->in, PID, 0);
		for (unsigned i = 0; i < 1500; i++) {
			put_sample(&r->in, PID, 1000 + i, i % 3 ? SEAM_MISC_KERNEL : SEAM_MISC_USER,
			           false);
			if (i % 400 == 399)
				round_of(r);
		}
		round_of(r);
		finish(r);
		assert_true(r->c.walks.end[WALK_COMPLETE] == 1500);
	}
	assert_int_equal(runs[0].out.n, runs[1].out.n);
	assert_memory_equal(runs[0].out.bytes, runs[1].out.bytes, runs[0].out.n);
	end(&runs[0]);
	end(&runs[1]);
}

/* A copy that ends early says so, and how long it should have been at least. */
static void a_short_copy_says_what_it_lacks(void **state)
{
	struct run r = begin(1, 0, 0);
	struct seam_decoded d;
	struct walk_result o;
	size_t whole = n_stack;

	n_stack = 64;
	put_maps(&r.in, PID, 0);
	put_sample(&r.in, PID, 100, SEAM_MISC_USER, false);
	n_stack = whole;
	round_of(&r);
	finish(&r);
	assert_true(sample_at(&r, 0, &d));
	assert_true(walk_result_get(&d.event->attr, d.record->misc, &o));
	assert_int_equal(o.end, WALK_TRUNCATED);
	assert_true(o.unreadable); /* the kernel was asked for more */
	assert_int_equal(r.c.unreadable, 1);
	assert_true(d.event->attr.sample_stack_user == STACK);
	end(&r);
}

/*
 * Short processes, twenty a second, each sampled; one runs all the time, and one covers its code,
 * so that its walks lack information. The table stays small, and nothing that was counted gets lost
 * when it is made anew.
 */
static void short_processes_are_forgotten(void **state)
{
	const uint64_t step = 50000000;
	const unsigned lives = 4000;
	struct run r = begin(2, 1u << 30, 200000);
	const struct unwound_missing *missing;
	struct seam_decoded d;
	size_t n;

	put_maps(&r.in, 1, 0);
	put_maps(&r.in, 2, 0);
	put_cover(&r.in, 2, 1);
	for (unsigned i = 0; i < lives; i++) {
		uint64_t time = (i + 1) * step;
		uint32_t pid = 1000 + i;

		put_fork(&r.in, 1, pid, time);
		put_exec(&r.in, pid, time + 1);
		put_maps(&r.in, pid, time + 2);
		put_sample(&r.in, pid, time + 3, SEAM_MISC_USER, false);
		put_sample(&r.in, 1, time + 4, SEAM_MISC_USER, false);
		if (i % 10 == 0)
			put_sample(&r.in, 2, time + 5, SEAM_MISC_USER, false);
		put_exit(&r.in, pid, time + 6);
		if (i % 50 == 49) {
			round_of(&r);
			assert_int_equal(live_collect(r.l, gather, &r.out), 0);
		}
	}
	finish(&r);
	assert_true(r.c.renewals > 5);
	assert_true(r.c.process_bytes < 1000000);
	assert_true(r.c.walks.end[WALK_COMPLETE] == 2 * lives);
	assert_true(r.c.walks.end[WALK_NO_INFO] == lives / 10);
	missing = live_missing(r.l, &n);
	assert_int_equal(n, 1);
	assert_true(missing[0].samples == lives / 10);
	assert_string_equal(missing[0].object->path, "/no/such/file");
	for (size_t i = 0; i < 50; i++) {
		assert_true(sample_at(&r, i, &d));
		if (d.id.pid != 2)
			assert_whole(&d, 0);
	}
	end(&r);
}

static int refuse(void *ctx, const void *bytes, size_t n)
{
	return -ENOSPC;
}

static void prepares_and_passes_errors_on(void **state)
{
	struct run r = begin(1, 0, 0);

	put_maps(&r.in, PID, 0);
	assert_int_equal(live_write(r.l, r.in.bytes, r.in.n), 0);
	assert_int_equal(live_prepare(r.l, 60000), 1);
	assert_int_equal(live_collect(r.l, refuse, NULL), -ENOSPC);
	assert_int_equal(live_finish(r.l, LIVE_NO_LIMIT), 0);
	live_count(r.l, &r.c);
	assert_true(r.c.tables.built > 0);
	end(&r);
	live_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(walks_to_the_start),
		cmocka_unit_test(waits_for_the_other_ring),
		cmocka_unit_test(is_in_its_own_time),
		cmocka_unit_test(exec_shows_no_old_frames),
		cmocka_unit_test(a_child_has_its_parents_mappings),
		cmocka_unit_test(what_does_not_fit_is_counted),
		cmocka_unit_test(what_is_late_at_the_end_is_counted),
		cmocka_unit_test(threads_change_nothing),
		cmocka_unit_test(a_short_copy_says_what_it_lacks),
		cmocka_unit_test(short_processes_are_forgotten),
		cmocka_unit_test(prepares_and_passes_errors_on),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

#else

int main(void)
{
	puts("this test knows the registers of x86_64 only");
	return 77;
}

#endif
