// SPDX-License-Identifier: MIT
// recorder_window_side.c: records of processes that are gone are let go, and no others.
#include "recorder_records.h"

#include <errno.h>
#include <stdlib.h>

#include "abi/record_at.h"
#include "abi/runtime_code.h"
#include "recorder/window_side.h"

#define SECOND 1000000000ull

/* The types and pids of what is there, "FORK 11, COMM 11". */
static char *shown(const struct seam_events *events, const struct buf *side)
{
	static struct kept kept;

	kept = (struct kept){ .text = "" };
	(void)events;
	assert_int_equal(keep(&kept, side->bytes, side->n), 0);
	return kept.text;
}

/* A COMM with the bit that says exec. */
static void put_exec(struct buf *out, uint32_t pid, uint64_t time_ns)
{
	struct seam_comm comm = { .pid = pid, .tid = pid, .comm = "x", .exec = true };
	struct seam_id id = test_id(pid, time_ns);

	assert_int_equal(encode_comm(out, &test_attr, SEAM_MISC_COMM_EXEC, &comm, &id), 0);
}

/* A FORK or EXIT of a thread. */
static void put_thread(struct buf *out, uint32_t type, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	struct seam_task task = {
		.pid = pid, .ppid = pid, .tid = tid, .ptid = pid, .time_ns = time_ns
	};
	struct seam_id id = test_id(pid, time_ns);

	assert_int_equal(encode_task(out, &test_attr, type, 0, &task, &id), 0);
}

static void who_is_gone_goes(void **state)
{
	struct seam_events *events = test_events();
	struct buf side = { 0 };

	put_comm(&side, 10, 0, "sh");
	put_task(&side, SEAM_RECORD_FORK, 11, 10, SECOND);
	put_exec(&side, 11, SECOND);
	put_mmap(&side, SEAM_MISC_USER, 11, SECOND, "/bin/a");
	put_task(&side, SEAM_RECORD_EXIT, 11, 10, 2 * SECOND);
	put_mmap(&side, SEAM_MISC_USER, 10, 2 * SECOND, "/bin/sh");
	/* Samples may still come of it. */
	assert_int_equal(window_side_prune(&side, events, 4 * SECOND), 0);
	assert_string_equal(shown(events, &side),
	                    "COMM 10, FORK 11, COMM 11, MMAP2 11, EXIT 11, MMAP2 10");
	assert_int_equal(window_side_prune(&side, events, 4 * SECOND + 1), 0);
	assert_string_equal(shown(events, &side), "COMM 10, MMAP2 10");
	buf_free(&side);
	seam_events_free(events);
}

/* A child that has done no exec runs in its parent's mappings, and in those of its parent. */
static void what_was_inherited_stays(void **state)
{
	struct seam_events *events = test_events();
	struct buf side = { 0 };

	put_comm(&side, 10, 0, "a");
	put_mmap(&side, SEAM_MISC_USER, 10, 0, "/bin/a");
	put_task(&side, SEAM_RECORD_FORK, 11, 10, SECOND);
	put_task(&side, SEAM_RECORD_FORK, 12, 11, SECOND);
	put_task(&side, SEAM_RECORD_EXIT, 10, 1, SECOND);
	put_task(&side, SEAM_RECORD_EXIT, 11, 10, SECOND);
	assert_int_equal(window_side_prune(&side, events, 9 * SECOND), 0);
	assert_string_equal(shown(events, &side),
	                    "COMM 10, MMAP2 10, FORK 11, FORK 12, EXIT 10, EXIT 11");
	put_exec(&side, 12, 2 * SECOND);
	assert_int_equal(window_side_prune(&side, events, 9 * SECOND), 0);
	assert_string_equal(shown(events, &side), "FORK 12, COMM 12");
	buf_free(&side);
	seam_events_free(events);
}

/* A process lives as long as one of its threads; a number is used again. */
static void threads_and_numbers(void **state)
{
	struct seam_events *events = test_events();
	struct buf side = { 0 };

	put_comm(&side, 10, 0, "a");
	put_thread(&side, SEAM_RECORD_FORK, 10, 13, SECOND);
	put_thread(&side, SEAM_RECORD_EXIT, 10, 10, SECOND);
	assert_int_equal(window_side_prune(&side, events, 9 * SECOND), 0);
	assert_string_equal(shown(events, &side), "COMM 10, FORK 10, EXIT 10");
	/* An EXIT that is told twice ends nobody else. */
	put_thread(&side, SEAM_RECORD_EXIT, 10, 10, SECOND);
	assert_int_equal(window_side_prune(&side, events, 9 * SECOND), 0);
	assert_string_equal(shown(events, &side), "COMM 10, FORK 10, EXIT 10, EXIT 10");
	/* A thread that is over leaves nothing behind while the process lives. */
	put_thread(&side, SEAM_RECORD_FORK, 10, 15, SECOND);
	put_thread(&side, SEAM_RECORD_EXIT, 10, 15, SECOND);
	assert_int_equal(window_side_prune(&side, events, 9 * SECOND), 0);
	assert_string_equal(shown(events, &side), "COMM 10, FORK 10, EXIT 10, EXIT 10");
	put_thread(&side, SEAM_RECORD_EXIT, 10, 13, SECOND);
	put_task(&side, SEAM_RECORD_FORK, 10, 1, 2 * SECOND);
	put_comm(&side, 10, 2 * SECOND, "b");
	assert_int_equal(window_side_prune(&side, events, 9 * SECOND), 0);
	assert_string_equal(shown(events, &side), "FORK 10, COMM 10");
	/* Its EXIT was lost, and its number came again. */
	put_task(&side, SEAM_RECORD_FORK, 10, 1, 3 * SECOND);
	assert_int_equal(window_side_prune(&side, events, 9 * SECOND), 0);
	assert_string_equal(shown(events, &side), "FORK 10");
	/* An exec of another thread than the first ends the others without a word. */
	put_thread(&side, SEAM_RECORD_FORK, 10, 14, 4 * SECOND);
	put_exec(&side, 10, 4 * SECOND);
	put_thread(&side, SEAM_RECORD_EXIT, 10, 10, 5 * SECOND);
	assert_int_equal(window_side_prune(&side, events, 9 * SECOND), 0);
	assert_string_equal(shown(events, &side), "");
	buf_free(&side);
	seam_events_free(events);
}

static int add_run(void *ctx, const void *bytes, size_t n)
{
	return buf_put(ctx, bytes, n);
}

/* What samples of one thread need, of samples from a time on. */
static const char *needed(const struct seam_events *events, const struct buf *side, uint32_t tid,
                          uint64_t from_ns)
{
	struct map threads = { 0 };
	struct buf given = { 0 };
	const char *text;

	assert_int_equal(map_put(&threads, tid, 1), 0);
	assert_int_equal(window_side_sampled(side, events, &threads, from_ns, add_run, &given), 0);
	text = shown(events, &given);
	map_free(&threads);
	buf_free(&given);
	return text;
}

/* Of all that runs, a window's recording has what was sampled, and what that needs: its process's
 * first thread, whom it inherited from at that time, and the kernel. */
static void who_was_sampled_is_told(void **state)
{
	struct seam_events *events = test_events();
	struct buf side = { 0 };

	put_mmap(&side, SEAM_MISC_KERNEL, UINT32_MAX, 0, "[kernel.kallsyms]_text");
	put_comm(&side, 10, 0, "a");
	put_mmap(&side, SEAM_MISC_USER, 10, 0, "/bin/a");
	put_comm(&side, 20, 0, "b");
	put_mmap(&side, SEAM_MISC_USER, 20, 0, "/bin/b");
	put_task(&side, SEAM_RECORD_FORK, 11, 10, SECOND);
	put_thread(&side, SEAM_RECORD_FORK, 20, 21, SECOND);
	put_task(&side, SEAM_RECORD_FORK, 12, 11, 2 * SECOND);
	put_exec(&side, 11, 3 * SECOND);
	put_mmap(&side, SEAM_MISC_USER, 11, 3 * SECOND, "/bin/c");
	assert_string_equal(needed(events, &side, 30, 9 * SECOND), "MMAP2 4294967295");
	assert_string_equal(needed(events, &side, 20, 9 * SECOND),
	                    "MMAP2 4294967295, COMM 20, MMAP2 20");
	assert_string_equal(needed(events, &side, 21, 9 * SECOND),
	                    "MMAP2 4294967295, COMM 20, MMAP2 20, FORK 20");
	/* It left its parent behind, but not before the samples; its child was there before. */
	assert_string_equal(needed(events, &side, 11, 9 * SECOND),
	                    "MMAP2 4294967295, FORK 11, COMM 11, MMAP2 11");
	assert_string_equal(needed(events, &side, 11, 2 * SECOND),
	                    "MMAP2 4294967295, COMM 10, MMAP2 10, FORK 11, COMM 11, MMAP2 11");
	assert_string_equal(
	        needed(events, &side, 12, 9 * SECOND),
	        "MMAP2 4294967295, COMM 10, MMAP2 10, FORK 11, FORK 12, COMM 11, MMAP2 11");
	put_task(&side, SEAM_RECORD_EXIT, 11, 10, 4 * SECOND);
	assert_string_equal(needed(events, &side, 11, 9 * SECOND), "MMAP2 4294967295");
	assert_string_equal(needed(events, &side, 11, 6 * SECOND),
	                    "MMAP2 4294967295, FORK 11, COMM 11, MMAP2 11, EXIT 11");
	buf_free(&side);
	seam_events_free(events);
}

/* A storm of processes leaves nothing behind. */
static void a_storm_leaves_nothing(void **state)
{
	struct seam_events *events = test_events();
	struct buf side = { 0 };

	put_comm(&side, 10, 0, "make");
	put_mmap(&side, SEAM_MISC_KERNEL, UINT32_MAX, 0, "[kernel.kallsyms]_text");
	for (uint32_t i = 0; i < 20000; i++) {
		uint64_t at_ns = SECOND + i * 1000000ull;

		put_task(&side, SEAM_RECORD_FORK, 100 + i % 300, 10, at_ns);
		put_exec(&side, 100 + i % 300, at_ns);
		put_mmap(&side, SEAM_MISC_USER, 100 + i % 300, at_ns, "/bin/cc");
		put_task(&side, SEAM_RECORD_EXIT, 100 + i % 300, 10, at_ns + 1000);
	}
	assert_int_equal(window_side_prune(&side, events, 1000 * SECOND), 0);
	assert_string_equal(shown(events, &side), "COMM 10, MMAP2 4294967295");
	/* Bytes that are no records end the walk. */
	buf_put(&side, "\1\2\3", 3);
	assert_int_equal(window_side_prune(&side, events, 1000 * SECOND), 0);
	buf_free(&side);
	seam_events_free(events);
}

/* The name of a function at an address. */
static void put_name(struct buf *out, uint64_t address)
{
	struct seam_ksymbol symbol = { .addr = address, .len = RUNTIME_CODE_SIZE, .name = "py::f" };
	struct seam_id id = test_id(10, SECOND);

	assert_int_equal(encode_ksymbol(out, &test_attr, SEAM_MISC_USER, &symbol, &id), 0);
}

/* What runs is asked for again; the names of an interpreter's functions would not come again. */
static void names_stay(void **state)
{
	struct seam_events *events = test_events();
	struct buf side = { 0 };

	put_comm(&side, 10, 0, "sh");
	put_name(&side, RUNTIME_CODE_BASE);
	put_mmap(&side, SEAM_MISC_USER, 10, SECOND, "/bin/a");
	put_name(&side, 0xffffffffc0000000);
	put_name(&side, RUNTIME_CODE_BASE + RUNTIME_CODE_SIZE);
	/* Shown by the lower half of their addresses. */
	window_side_names(&side, events);
	assert_string_equal(shown(events, &side), "KSYMBOL 0, KSYMBOL 2097152");
	window_side_names(&side, events);
	assert_string_equal(shown(events, &side), "KSYMBOL 0, KSYMBOL 2097152");
	buf_free(&side);
	seam_events_free(events);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_is_gone_goes),    cmocka_unit_test(what_was_inherited_stays),
		cmocka_unit_test(threads_and_numbers), cmocka_unit_test(a_storm_leaves_nothing),
		cmocka_unit_test(names_stay),          cmocka_unit_test(who_was_sampled_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
