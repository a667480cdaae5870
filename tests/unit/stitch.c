// SPDX-License-Identifier: MIT
/*
 * stitch.c: the truth table of src/stitch/README.md, line by line: each case is a list of records
 * with the state that each sample must end in, run as a stream, as a file, and as a file learned
 * and resolved backwards. What the table cannot say is in stitch_bounds.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stitch_tape.h"

static const struct row rows[] = {
	{ "answered later",
	  .steps = { { KERNEL, 10, C1, 7, 7, STITCHED, 0xa }, { ANSWER, 20, C1, 7, 7, 0, 0xa } } },
	{ "a sample in user mode is deferred too",
	  .steps = { { USER, 10, C1, 7, 7, STITCHED, 0xa }, { ANSWER, 20, C1, 7, 7, 0, 0xa } } },
	{ "one answer serves two samples", .steps = { { KERNEL, 10, C1, 7, 7, STITCHED, 0xa },
	                                              { KERNEL, 11, C1, 7, 7, STITCHED, 0xa },
	                                              { ANSWER, 20, C1, 7, 7, 0, 0xa } } },
	{ "the same moment is not earlier",
	  .steps = { { KERNEL, 10, C1, 7, 7, STITCHED, 0xa }, { ANSWER, 10, C1, 7, 7, 0, 0xa } } },
	{ "answered earlier", .steps = { { KERNEL, 10, C1, 7, 7, STITCHED, 0xa },
	                                 { ANSWER, 20, C1, 7, 7, 0, 0xa },
	                                 { KERNEL, 30, C1, 7, 7, EARLIER, 0xa },
	                                 { KERNEL, 3000000000, C1, 7, 7, EARLIER, 0xa } } },
	{ "answered earlier, no sample before",
	  .steps = { { ANSWER, 20, C1, 7, 7, 0, 0xa }, { KERNEL, 30, C1, 7, 7, EARLIER, 0xa } } },
	{ "an empty answer is an answer",
	  .steps = { { KERNEL, 10, C1, 7, 7, STITCHED }, { ANSWER, 20, C1, 7, 7 } } },
	{ "two entries of one task, answered behind the second",
	  .steps = { { KERNEL, 10, C1, 7, 7, STITCHED, 0xa },
	             { KERNEL, 20, C2, 7, 7, STITCHED, 0xb },
	             { ANSWER, 30, C1, 7, 7, 0, 0xa },
	             { ANSWER, 40, C2, 7, 7, 0, 0xb } } },
	{ "the same, the other way round", .steps = { { KERNEL, 10, C1, 7, 7, STITCHED, 0xa },
	                                              { KERNEL, 20, C2, 7, 7, STITCHED, 0xb },
	                                              { ANSWER, 30, C2, 7, 7, 0, 0xb },
	                                              { ANSWER, 40, C1, 7, 7, 0, 0xa } } },
	{ "another recording's answers",
	  .steps = { { ANSWER, 5, C3, 7, 7, 0, 0xc },
	             { KERNEL, 10, C1, 7, 7, STITCHED, 0xa },
	             { ANSWER, 20, C1, 7, 7, 0, 0xa },
	             { ANSWER, 25, C2, 9, 9, 0, 0xc } },
	  .unclaimed = 2 },
	{ "the tid guards",
	  .steps = { { KERNEL, 10, C1, 7, 7, STILL }, { ANSWER, 20, C1, 9, 9, 0, 0xa } },
	  .mismatches = 1 },
	{ "the tid guards, answer first",
	  .steps = { { ANSWER, 5, C1, 9, 9, 0, 0xa }, { KERNEL, 10, C1, 7, 7, STILL } },
	  .mismatches = 1 },
	{ "the wrong task's answer, then the right one",
	  .steps = { { KERNEL, 10, C1, 7, 7, STITCHED, 0xa },
	             { ANSWER, 20, C1, 9, 9, 0, 0xb },
	             { ANSWER, 30, C1, 7, 7, 0, 0xa } } },
	{ "one cookie, two tasks (a counter wrapped)",
	  .steps = { { KERNEL, 10, C1, 7, 7, STITCHED, 0xa },
	             { KERNEL, 11, C1, 9, 9, STITCHED, 0xb },
	             { ANSWER, 20, C1, 9, 9, 0, 0xb },
	             { ANSWER, 30, C1, 7, 7, 0, 0xa } } },
	{ "one cookie and task, hours apart: the nearest answer",
	  .steps = { { KERNEL, 10, C1, 7, 7, STITCHED, 0xa },
	             { ANSWER, 20, C1, 7, 7, 0, 0xa },
	             { KERNEL, 60 * HOUR, C1, 7, 7, STITCHED, 0xb, EARLIER },
	             { ANSWER, 60 * HOUR + 9, C1, 7, 7, 0, 0xb } } },
	{ "no tid in the answers: the cookie alone",
	  .steps = { { KERNEL, 10, C1, 7, 7, STITCHED, 0xa },
	             { ANSWER, 20, C1, UINT32_MAX, UINT32_MAX, 0, 0xa } } },
	{ "a reused tid: the dead task's sample is not the new one's",
	  .steps = { { KERNEL, 10, C1, 7, 7, EXITED },
	             { EXIT, 15, 0, 7, 7 },
	             { FORK, 16, 0, 7, 7 },
	             { ANSWER, 20, C1, 7, 7, 0, 0xa } },
	  .mismatches = 1 },
	{ "a reused tid: the new one's sample is not answered by the dead one",
	  .steps = { { ANSWER, 10, C1, 7, 7, 0, 0xa },
	             { EXIT, 15, 0, 7, 7 },
	             { FORK, 16, 0, 7, 7 },
	             { KERNEL, 20, C1, 7, 7, STILL } },
	  .mismatches = 1 },

	{ "crossed exec", .steps = { { KERNEL, 10, C1, 7, 7, CROSSED },
	                             { EXEC, 15, 0, 7, 7 },
	                             { KERNEL, 17, C1, 7, 7, STITCHED, 0xa },
	                             { ANSWER, 20, C1, 7, 7, 0, 0xa } } },
	{ "crossed exec, answered before it", .steps = { { KERNEL, 10, C1, 7, 7, STITCHED, 0xa },
	                                                 { ANSWER, 12, C1, 7, 7, 0, 0xa },
	                                                 { EXEC, 15, 0, 7, 7 },
	                                                 { KERNEL, 20, C1, 7, 7, CROSSED } } },
	{ "exec at the very moment of the sample: not merged",
	  .steps = { { KERNEL, 15, C1, 7, 7, CROSSED },
	             { EXEC, 15, 0, 7, 7 },
	             { ANSWER, 20, C1, 7, 7, 0, 0xa } } },
	{ "another process's exec", .steps = { { KERNEL, 10, C1, 7, 7, STITCHED, 0xa },
	                                       { EXEC, 15, 0, 8, 8 },
	                                       { ANSWER, 20, C1, 7, 7, 0, 0xa } } },
	{ "exec before and behind, not between", .steps = { { EXEC, 5, 0, 7, 7 },
	                                                    { KERNEL, 10, C1, 7, 7, STITCHED, 0xa },
	                                                    { ANSWER, 20, C1, 7, 7, 0, 0xa },
	                                                    { EXEC, 25, 0, 7, 7 } } },
	{ "a thread's exec: it answers under the leader's tid",
	  .steps = { { KERNEL, 10, C1, 7, 8, CROSSED },
	             { KERNEL, 11, C2, 7, 7, EXITED },
	             { EXIT, 12, 0, 7, 7 },
	             { EXEC, 15, 0, 7, 7 },
	             { KERNEL, 17, C1, 7, 7, STITCHED, 0xa },
	             { ANSWER, 20, C1, 7, 7, 0, 0xa } } },
	{ "a thread's exec, answered before it", .steps = { { ANSWER, 10, C1, 7, 8, 0, 0xa },
	                                                    { EXEC, 15, 0, 7, 7 },
	                                                    { KERNEL, 17, C1, 7, 7, CROSSED } } },

	{ "exited", .steps = { { KERNEL, 10, C1, 7, 7, EXITED }, { EXIT, 20, 0, 7, 7 } } },
	{ "a dying task answers behind its EXIT record",
	  .steps = { { KERNEL, 10, C1, 7, 7, STITCHED, 0xa },
	             { EXIT, 20, 0, 7, 7 },
	             { ANSWER, 30, C1, 7, 7, 0, 0xa },
	             { KERNEL, 40, C1, 7, 7, EARLIER, 0xa } } },
	{ "the same, with a sample in between", .steps = { { KERNEL, 10, C1, 7, 7, STITCHED, 0xa },
	                                                   { EXIT, 20, 0, 7, 7 },
	                                                   { KERNEL, 25, C1, 7, 7, STITCHED, 0xa },
	                                                   { ANSWER, 30, C1, 7, 7, 0, 0xa } } },
	{ "exited, its tid used again without a FORK record",
	  .steps = { { KERNEL, 10, C1, 7, 7, EXITED },
	             { EXIT, 20, 0, 7, 7 },
	             { AT_ONCE, 25, 0, 7, 7, IMMEDIATE, 0x401000 },
	             { KERNEL, 30, C2, 7, 7, STITCHED, 0xb },
	             { ANSWER, 35, C2, 7, 7, 0, 0xb } } },
	{ "exited, long ago for a stream", .steps = { { KERNEL, 10, C1, 7, 7, EXITED },
	                                              { EXIT, 20, 0, 7, 7 },
	                                              { KERNEL, 900000000, C2, 8, 8, STILL } } },
	{ "exited, and a loss was counted: the exit is proven",
	  .steps = { { KERNEL, 10, C1, 7, 7, EXITED },
	             { LOST, 15, 0, 0, 0 },
	             { EXIT, 20, 0, 7, 7 } } },
	{ "exited, though unseen: its tid has a new owner",
	  .steps = { { KERNEL, 10, C1, 7, 7, EXITED }, { FORK, 20, 0, 7, 7 } } },
	{ "seen past the entry, then exited", .steps = { { KERNEL, 10, C1, 7, 7, RECORD_LOST },
	                                                 { KERNEL, 15, C2, 7, 7, EXITED },
	                                                 { EXIT, 20, 0, 7, 7 } } },
	{ "exited, then the tid's next owner is seen",
	  .steps = { { KERNEL, 10, C1, 7, 7, EXITED },
	             { EXIT, 20, 0, 7, 7 },
	             { FORK, 25, 0, 7, 7 },
	             { KERNEL, 30, C2, 7, 7, STILL } } },
	{ "an exit before the sample is not its own",
	  .steps = { { EXIT, 5, 0, 7, 7 },
	             { FORK, 6, 0, 7, 7 },
	             { KERNEL, 10, C1, 7, 7, STILL } } },
	{ "another thread's exit",
	  .steps = { { KERNEL, 10, C1, 7, 7, STILL }, { EXIT, 20, 0, 7, 8 } } },

	{ "seen past the entry: another cookie", .steps = { { KERNEL, 10, C1, 7, 7, RECORD_LOST },
	                                                    { KERNEL, 20, C2, 7, 7, STITCHED, 0xb },
	                                                    { ANSWER, 30, C2, 7, 7, 0, 0xb } } },
	{ "seen past the entry: in user mode",
	  .steps = { { KERNEL, 10, C1, 7, 7, RECORD_LOST },
	             { AT_ONCE, 20, 0, 7, 7, IMMEDIATE, 0x401000 } } },
	{ "seen past the entry: in user mode, by an event without callchains",
	  .steps = { { KERNEL, 10, C1, 7, 7, RECORD_LOST },
	             { PLAIN, 20, 0, 7, 7, NO_CALLCHAIN } } },
	{ "two in user mode may be one interrupt: no sign",
	  .steps = { { USER, 10, C1, 7, 7, STILL }, { PLAIN, 11, 0, 7, 7, NO_CALLCHAIN } } },
	{ "in user mode, later in the kernel, then in user mode: a sign",
	  .steps = { { USER, 10, C1, 7, 7, RECORD_LOST },
	             { KERNEL, 11, C1, 7, 7, RECORD_LOST },
	             { PLAIN, 12, 0, 7, 7, NO_CALLCHAIN } } },
	{ "in user mode twice, then the same entry in the kernel: no sign",
	  .steps = { { USER, 10, C1, 7, 7, STILL },
	             { PLAIN, 11, 0, 7, 7, NO_CALLCHAIN },
	             { KERNEL, 12, C1, 7, 7, STILL } } },
	{ "in user mode between two of one entry: a sign for the first",
	  .steps = { { KERNEL, 10, C1, 7, 7, RECORD_LOST },
	             { PLAIN, 11, 0, 7, 7, NO_CALLCHAIN },
	             { KERNEL, 12, C1, 7, 7, STILL } } },
	{ "the kernel alone is no sign",
	  .steps = { { KERNEL, 10, C1, 7, 7, STILL }, { NO_USER, 20, 0, 7, 7, KERNEL_ONLY } } },
	{ "another task is no sign", .steps = { { KERNEL, 10, C1, 7, 7, STILL },
	                                        { AT_ONCE, 20, 0, 8, 8, IMMEDIATE, 0x401000 } } },
	{ "a loss was counted later",
	  .steps = { { KERNEL, 10, C1, 7, 7, RECORD_LOST }, { LOST, 20, 0, 0, 0 } } },
	{ "a loss was counted before the sample",
	  .steps = { { LOST, 5, 0, 0, 0 }, { KERNEL, 10, C1, 7, 7, STILL } } },
	{ "the output event lost some, nobody knows when",
	  .steps = { { LOST_OUTPUT, 5, 0, 0, 0 }, { KERNEL, 10, C1, 7, 7, RECORD_LOST } } },
	{ "what a filter dropped is no loss",
	  .steps = { { KERNEL, 10, C1, 7, 7, STILL }, { LOST_BPF, 20, 0, 0, 0 } } },
	{ "still in the kernel", .steps = { { KERNEL, 10, C1, 7, 7, STILL } } },

	{ "no output event", NO_OUTPUT,
	  .steps = { { KERNEL, 10, C1, 7, 7, NOBODY }, { EXIT, 20, 0, 7, 7 } } },
	{ "an output event that hears nothing", DEAF_OUTPUT,
	  .steps = { { KERNEL, 10, C1, 7, 7, NOBODY } } },
	{ "an output event that hears all the same (of one task)", DEAF_OUTPUT,
	  .steps = { { KERNEL, 10, C1, 7, 7, STITCHED, 0xa },
	             { ANSWER, 20, C1, 7, 7, 0, 0xa },
	             { KERNEL, 30, C2, 7, 7, STILL } } },
	{ "nobody said which events there are", UNTOLD,
	  .steps = { { KERNEL, 10, C1, 7, 7, STILL } } },

	{ "taken at once", .steps = { { AT_ONCE, 10, 0, 7, 7, IMMEDIATE, 0x401000 } } },
	{ "addresses without a marker, in user mode",
	  .steps = { { BARE, 10, 0, 7, 7, IMMEDIATE, 0x401000 } } },
	{ "no user part", .steps = { { NO_USER, 10, 0, 7, 7, KERNEL_ONLY } } },
	{ "no callchain", .steps = { { PLAIN, 10, 0, 7, 7, NO_CALLCHAIN } } },
	{ "a marker whose cookie was cut off",
	  .steps = { { CUT, 10, 0, 7, 7, NO_COOKIE }, { ANSWER, 20, C1, 7, 7, 0, 0xa } },
	  .unclaimed = 1 },
	{ "a cookie is never 0",
	  .steps = { { NULL_COOKIE, 10, 0, 7, 7, NO_COOKIE }, { ANSWER, 20, 0, 7, 7, 0, 0xa } },
	  .unclaimed = 1 },
};

static void check_row_counts(const struct row *row, const struct seam_stitch_counts *c)
{
	uint64_t samples = 0, states = 0;

	for (size_t i = 0; i < 12; i++)
		samples += is_sample(&row->steps[i]);
	for (int i = 0; i < SEAM_STITCH_STATES; i++)
		states += c->state[i];
	assert_int_equal(c->samples, samples);
	assert_int_equal(states, samples);
	if (c->tid_mismatches != row->mismatches || c->unclaimed_records != row->unclaimed)
		fail_msg("%s: %llu tid mismatches, %llu unclaimed", row->name,
		         (unsigned long long)c->tid_mismatches,
		         (unsigned long long)c->unclaimed_records);
}

static void run_stream(const struct row *row)
{
	struct seam_stitch_counts c = { .sz = sizeof(c) };
	struct seam_stitched out = { .sz = sizeof(out) };
	struct seam_stitch *st;
	struct tape t;
	size_t at = 0;
	bool differs = false;

	make_tape(&t, row->steps, row->output);
	st = new_stitch(&t, row->output);
	for (size_t i = 0; i < t.n; i++) {
		t.records[i].index = i;
		differs |= row->steps[i].stream_state != 0;
		assert_int_equal(seam_stitch_feed(st, &t.decoded[i], NULL), 0);
	}
	assert_int_equal(seam_stitch_finish(st), 0);
	while (seam_stitch_next(st, &out) > 0) {
		while (at < t.n && !is_sample(&row->steps[at]))
			at++;
		assert_true(at < t.n);
		assert_int_equal(out.sample.id.time_ns, row->steps[at].time);
		check(row, "stream", at++, &out, true);
	}
	assert_int_equal(seam_stitch_counts(st, &c), 0);
	/* A stream decides at the exit; that the tid's next owner answers comes too late. */
	if (row->mismatches && c.tid_mismatches != row->mismatches) {
		assert_string_equal(row->name,
		                    "a reused tid: the dead task's sample is not the new one's");
		c.tid_mismatches = row->mismatches;
		c.unclaimed_records = row->unclaimed;
	}
	if (!differs)
		check_row_counts(row, &c);
	seam_stitch_free(st);
	free_tape(&t);
}

static void run_file(const struct row *row, bool backwards)
{
	struct seam_stitch_counts c = { .sz = sizeof(c) }, all = { .sz = sizeof(all) };
	struct seam_stitched out = { .sz = sizeof(out) };
	struct seam_stitch *st;
	struct tape t;

	make_tape(&t, row->steps, row->output);
	st = new_stitch(&t, row->output);
	for (size_t k = 0; k < t.n; k++) {
		size_t i = backwards ? t.n - 1 - k : k;

		t.records[i].index = k;
		assert_int_equal(seam_stitch_learn(st, &t.decoded[i], NULL), 0);
	}
	assert_int_equal(seam_stitch_seal(st), 0);
	for (size_t i = 0; i < t.n; i++) {
		if (!is_sample(&row->steps[i]))
			continue;
		assert_int_equal(seam_stitch_resolve(st, &t.decoded[i], &c, &out), 1);
		check(row, backwards ? "file, backwards" : "file", i, &out, false);
	}
	assert_int_equal(seam_stitch_counts(st, &all), 0);
	seam_stitch_counts_add(&all, &c);
	check_row_counts(row, &all);
	seam_stitch_free(st);
	free_tape(&t);
}

static void test_truth_table_stream(void **state)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		run_stream(&rows[i]);
}

static void test_truth_table_file(void **state)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		run_file(&rows[i], false);
		run_file(&rows[i], true);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_truth_table_stream),
		cmocka_unit_test(test_truth_table_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
