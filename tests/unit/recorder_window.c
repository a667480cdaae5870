// SPDX-License-Identifier: MIT
// recorder_window.c: records of a recording in progress, as profiles of intervals: each sample in
// exactly one, whatever comes when.
#include "recorder_records.h"

#include <errno.h>

#include "recorder/window.h"

#define SECOND 1000000000ull

struct shown {
	uint64_t samples, first_ns, last_ns;
	int fail;
};

static int show(void *ctx, struct recording *rec, struct load *load)
{
	struct profile_account a;
	struct shown *s = ctx;

	profile_account(load->profile, 0, &a);
	s->samples = a.samples;
	return s->fail;
}

static const struct datafile_opts head = { .program = "seam test" };

static struct window *begin(struct seam_events *events)
{
	struct window *w;

	assert_int_equal(window_new(&w, &head, events), 0);
	return w;
}

/* Ends an interval: how many samples it has. */
static uint64_t cut(struct window *w, bool last, struct window_interval *interval)
{
	struct load_opts opts = { .sz = sizeof(opts), .threads = 1 };
	struct shown s = { .fail = 0 };

	assert_int_equal(window_cut(w, last, interval, NULL), 0);
	assert_int_equal(window_profile(interval, &opts, show, &s, NULL), 0);
	return s.samples;
}

static void each_sample_is_in_one_interval(void **state)
{
	struct seam_events *events = test_events();
	struct window *w = begin(events);
	struct window_interval i;
	struct buf in = { 0 };

	put_comm(&in, 10, 1, "a");
	for (unsigned n = 1; n <= 10; n++)
		put_sample(&in, 10, n * SECOND / 10);
	assert_int_equal(give(window_write, w, &in), 0);
	/* Up to 0.7 s: the youngest wait for their user part. */
	assert_int_equal(cut(w, false, &i), 6);
	assert_true(i.from_ns == 0 && i.to_ns == SECOND - WINDOW_GRACE_NS);
	/* Nothing came: nothing is waited for. */
	assert_int_equal(cut(w, false, &i), 4);
	assert_int_equal(cut(w, false, &i), 0);
	put_sample(&in, 10, SECOND + 1);
	put_sample(&in, 10, SECOND + 2);
	assert_int_equal(give(window_write, w, &in), 0);
	assert_int_equal(cut(w, true, &i), 2);
	assert_int_equal(cut(w, true, &i), 0);
	window_free(w);
	seam_events_free(events);
	buf_free(&in);
}

/* One that comes when its interval is over is in the next one, though intervals do not overlap: who
 * reads the rings may be kept waiting between two of them. */
static void what_comes_late_is_in_the_next_interval(void **state)
{
	struct seam_events *events = test_events();
	struct window *w = begin(events);
	struct window_interval a, b, c;
	struct buf in = { 0 };

	put_sample(&in, 10, 2 * SECOND);
	assert_int_equal(give(window_write, w, &in), 0);
	assert_int_equal(cut(w, false, &a), 0);
	put_sample(&in, 10, SECOND);
	assert_int_equal(give(window_write, w, &in), 0);
	/* Nothing newer came: this one has no length, and a sample. */
	assert_int_equal(cut(w, false, &b), 1);
	assert_true(a.to_ns == b.from_ns && b.to_ns == b.from_ns);
	put_sample(&in, 10, 1);
	put_sample(&in, 10, 3 * SECOND);
	assert_int_equal(give(window_write, w, &in), 0);
	assert_int_equal(cut(w, true, &c), 3);
	assert_true(b.to_ns == c.from_ns && c.to_ns == 3 * SECOND + 1);
	assert_int_equal(cut(w, true, &c), 0);
	window_free(w);
	seam_events_free(events);
	buf_free(&in);
}

/* A clock that began just now: nothing is due yet. */
static void the_first_moments_wait(void **state)
{
	struct seam_events *events = test_events();
	struct window *w = begin(events);
	struct window_interval i;
	struct buf in = { 0 };

	put_sample(&in, 10, WINDOW_GRACE_NS / 2);
	assert_int_equal(give(window_write, w, &in), 0);
	assert_int_equal(cut(w, false, &i), 0);
	assert_int_equal(cut(w, true, &i), 1);
	window_free(w);
	seam_events_free(events);
	buf_free(&in);
}

/* What is lost is counted, but for tasks that BPF programs did not follow: they are no records. */
static void losses_are_counted(void **state)
{
	struct seam_events *events = test_events();
	struct window *w = begin(events);
	struct seam_id id = test_id(0, 5);
	struct seam_lost lost = { .lost = 7 };
	struct window_interval i;
	struct buf in = { 0 };

	assert_int_equal(encode_lost(&in, &test_attr, SEAM_RECORD_LOST_SAMPLES, 0, &lost, &id), 0);
	assert_int_equal(encode_lost(&in, &test_attr, SEAM_RECORD_LOST, 0, &lost, &id), 0);
	assert_int_equal(encode_lost(&in, &test_attr, SEAM_RECORD_LOST_SAMPLES,
	                             SEAM_MISC_LOST_BESIDE | SEAM_MISC_LOST_SKIPPED, &lost, &id),
	                 0);
	assert_int_equal(encode_lost(&in, &test_attr, SEAM_RECORD_LOST_SAMPLES,
	                             SEAM_MISC_LOST_TASKS, &lost, &id),
	                 0);
	assert_int_equal(give(window_write, w, &in), 0);
	assert_int_equal(window_cut(w, false, &i, NULL), 0);
	assert_true(i.lost == 21 && i.skipped == 7 && i.dropped == 0);
	window_free(w);
	seam_events_free(events);
	buf_free(&in);
}

/* Samples beyond the bound are dropped and counted once; the next interval has room again. */
static void memory_is_bounded(void **state)
{
	struct seam_events *events = test_events();
	struct window *w = begin(events);
	struct window_interval i;
	struct buf in = { 0 };
	uint64_t given = 0, bytes;

	put_sample(&in, 10, 1);
	bytes = in.n;
	for (unsigned n = 1; n < 10000; n++)
		put_sample(&in, 10, n);
	for (; given * bytes <= WINDOW_SAMPLES_MAX; given += 10000)
		assert_int_equal(window_write(w, in.bytes, in.n), 0);
	assert_int_equal(window_cut(w, true, &i, NULL), 0);
	assert_int_equal(i.dropped, given - WINDOW_SAMPLES_MAX / bytes);
	buf_clear(&in);
	put_sample(&in, 10, SECOND);
	assert_int_equal(give(window_write, w, &in), 0);
	assert_int_equal(cut(w, true, &i), 1);
	assert_int_equal(i.dropped, 0);
	/* Of two samples one has room. */
	window_limit(w, bytes);
	buf_clear(&in);
	put_sample(&in, 10, 2 * SECOND);
	put_sample(&in, 10, 2 * SECOND + 1);
	assert_int_equal(give(window_write, w, &in), 0);
	assert_int_equal(window_cut(w, true, &i, NULL), 0);
	assert_int_equal(i.dropped, 1);
	window_free(w);
	seam_events_free(events);
	buf_free(&in);
}

static void errors_are_returned(void **state)
{
	struct load_opts opts = { .sz = sizeof(opts), .threads = 1 };
	struct seam_events *events = test_events();
	struct window *w = begin(events);
	struct shown s = { .fail = -ENOTSUP };
	struct window_interval i;
	struct buf in = { 0 };

	put_sample(&in, 10, 1);
	assert_int_equal(window_write(w, in.bytes, in.n - 8), -EBADMSG);
	assert_int_equal(give(window_write, w, &in), 0);
	assert_int_equal(window_cut(w, true, &i, NULL), 0);
	assert_int_equal(window_profile(&i, &opts, show, &s, NULL), -ENOTSUP);
	window_free(w);
	window_free(NULL);
	seam_events_free(events);
	buf_free(&in);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_sample_is_in_one_interval),
		cmocka_unit_test(what_comes_late_is_in_the_next_interval),
		cmocka_unit_test(the_first_moments_wait),
		cmocka_unit_test(losses_are_counted),
		cmocka_unit_test(memory_is_bounded),
		cmocka_unit_test(errors_are_returned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
