// SPDX-License-Identifier: MIT
// recorder_strangers.c: which records reach the file when the events are every CPU's and the target
// is a few processes.
#include "recorder_records.h"

#include <errno.h>

#include "recorder/strangers.h"

struct followed {
	uint32_t pids[4];
};

static bool follows(void *ctx, uint32_t pid)
{
	const struct followed *f = ctx;

	for (size_t i = 0; i < 4; i++)
		if (pid && f->pids[i] == pid)
			return true;
	return false;
}

static struct strangers begin(struct followed *f, struct kept *kept)
{
	return (struct strangers){ .is_followed = follows,
		                   .follow_ctx = f,
		                   .inherit = true,
		                   .write = keep,
		                   .write_ctx = kept };
}

static void targets_pass_at_once(void **state)
{
	struct followed f = { { 10 } };
	struct kept kept = { .fail = 0 };
	struct strangers s = begin(&f, &kept);
	struct buf in = { 0 };

	put_comm(&in, 10, 1, "a");
	put_sample(&in, 10, 2);
	put_comm(&in, 20, 3, "b");
	put_sample(&in, 20, 4);
	assert_int_equal(give(strangers_write, &s, &in), 0);
	assert_kept(&kept, "COMM 10, SAMPLE 10");
	put_round(&in);
	assert_int_equal(give(strangers_write, &s, &in), 0);
	assert_kept(&kept, "FINISHED_ROUND 0");
	put_comm(&in, 20, 5, "b");
	put_round(&in);
	put_sample(&in, 10, 6);
	assert_int_equal(give(strangers_write, &s, &in), 0);
	assert_kept(&kept, "FINISHED_ROUND 0, SAMPLE 10");
	strangers_free(&s);
	buf_free(&in);
}

/* Its FORK is in another ring, and read after what the child did; the order of its own records
 * stays. */
static void a_child_is_known_at_the_end_of_the_round(void **state)
{
	struct followed f = { { 10 } };
	struct kept kept = { .fail = 0 };
	struct strangers s = begin(&f, &kept);
	struct buf in = { 0 };

	put_sample(&in, 10, 1);
	put_comm(&in, 11, 3, "child");
	put_mmap(&in, SEAM_MISC_USER, 11, 4, "/bin/true");
	put_task(&in, SEAM_RECORD_FORK, 11, 10, 2);
	put_round(&in);
	assert_int_equal(give(strangers_write, &s, &in), 0);
	assert_kept(&kept, "SAMPLE 10, FORK 11, COMM 11, MMAP2 11, FINISHED_ROUND 0");
	strangers_free(&s);
	buf_free(&in);
}

static void children_are_strangers_without_inherit(void **state)
{
	struct followed f = { { 10 } };
	struct kept kept = { .fail = 0 };
	struct strangers s = begin(&f, &kept);
	struct buf in = { 0 };

	s.inherit = false;
	put_sample(&in, 10, 1);
	put_task(&in, SEAM_RECORD_FORK, 11, 10, 2);
	put_sample(&in, 11, 3);
	put_round(&in);
	assert_int_equal(give(strangers_write, &s, &in), 0);
	assert_kept(&kept, "SAMPLE 10, FINISHED_ROUND 0");
	strangers_free(&s);
	buf_free(&in);
}

/* By --uid and the like a process may be chosen long after it began: then what was said of it
 * comes, and of the parent whose mappings it has; samples of the time before do not. */
static void the_chosen_bring_their_past(void **state)
{
	struct followed f = { { 0 } };
	struct kept kept = { .fail = 0 };
	struct strangers s = begin(&f, &kept);
	struct buf in = { 0 };

	s.chosen = true;
	put_mmap(&in, SEAM_MISC_USER, 30, 1, "/bin/sh");
	put_task(&in, SEAM_RECORD_FORK, 31, 30, 2);
	put_sample(&in, 31, 3);
	put_comm(&in, 31, 4, "su");
	put_comm(&in, 40, 4, "other");
	put_round(&in);
	assert_int_equal(give(strangers_write, &s, &in), 0);
	assert_kept(&kept, "FINISHED_ROUND 0");
	f.pids[0] = 31;
	put_sample(&in, 31, 5);
	assert_int_equal(give(strangers_write, &s, &in), 0);
	assert_kept(&kept, "MMAP2 30, FORK 31, COMM 31, SAMPLE 31");
	strangers_free(&s);
	buf_free(&in);
}

static void who_ended_is_forgotten(void **state)
{
	struct followed f = { { 0 } };
	struct kept kept = { .fail = 0 };
	struct strangers s = begin(&f, &kept);
	struct buf in = { 0 };

	s.chosen = true;
	put_comm(&in, 30, 1, "old");
	put_task(&in, SEAM_RECORD_EXIT, 30, 1, 2);
	put_round(&in);
	assert_int_equal(give(strangers_write, &s, &in), 0);
	assert_int_equal(s.held.n, 0);
	kept.n = kept.text[0] = 0;
	f.pids[0] = 30; /* the number is used again */
	put_comm(&in, 30, 3, "new");
	assert_int_equal(give(strangers_write, &s, &in), 0);
	assert_kept(&kept, "COMM 30");
	strangers_free(&s);
	buf_free(&in);
}

/* The kernel's own mappings are about no process. */
static void the_kernel_is_no_stranger(void **state)
{
	struct followed f = { { 0 } };
	struct kept kept = { .fail = 0 };
	struct strangers s = begin(&f, &kept);
	struct buf in = { 0 };

	put_mmap(&in, SEAM_MISC_KERNEL, UINT32_MAX, 1, "[kernel.kallsyms]_text");
	assert_int_equal(give(strangers_write, &s, &in), 0);
	assert_kept(&kept, "MMAP2 4294967295");
	strangers_free(&s);
	buf_free(&in);
}

static void broken_bytes_and_sinks_are_errors(void **state)
{
	struct followed f = { { 10 } };
	struct kept kept = { .fail = 0 };
	struct strangers s = begin(&f, &kept);
	struct buf in = { 0 };

	put_sample(&in, 10, 1);
	assert_int_equal(strangers_write(&s, in.bytes, in.n - 8), -EBADMSG);
	kept.fail = -ENOSPC;
	assert_int_equal(give(strangers_write, &s, &in), -ENOSPC);
	strangers_free(&s);
	buf_free(&in);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(targets_pass_at_once),
		cmocka_unit_test(a_child_is_known_at_the_end_of_the_round),
		cmocka_unit_test(children_are_strangers_without_inherit),
		cmocka_unit_test(the_chosen_bring_their_past),
		cmocka_unit_test(who_ended_is_forgotten),
		cmocka_unit_test(the_kernel_is_no_stranger),
		cmocka_unit_test(broken_bytes_and_sinks_are_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
