// SPDX-License-Identifier: MIT
// inspect.c: what a recording of tests/data says of itself; losses by time and by CPU.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/encode.h"
#include "abi/record_at.h"
#include "inspect/evlist.h"
#include "inspect/header.h"
#include "inspect/stat.h"

static struct seam_reader *open_data(const char *name)
{
	struct seam_reader *reader;
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s/perf.data", getenv("SEAM_TEST_DATA"), name);
	assert_int_equal(seam_reader_open(&reader, path, NULL, NULL), 0);
	return reader;
}

static void has(const struct buf *out, const char *text)
{
	if (!strstr(buf_text((struct buf *)out), text))
		fail_msg("no '%s' in: %s", text, buf_text((struct buf *)out));
}

static void stat_counts_all(void **state)
{
	struct stat_counts s = { .check = true, .stacks = true, .reader = open_data("gcc_d") };
	struct seam_record record;
	struct buf out = { 0 };

	while (seam_reader_next(s.reader, &record, NULL) > 0)
		assert_int_equal(stat_record(&s, &record), 0);
	assert_int_equal(stat_finish(&s), 0);
	assert_int_equal(s.types[SEAM_RECORD_SAMPLE], 7628);
	assert_int_equal(s.types[SEAM_RECORD_CALLCHAIN_DEFERRED], 6967);
	assert_int_equal(s.total, 14642);
	assert_int_equal(s.undecodable + s.no_event, 0);
	stat_text(&s, &out);
	has(&out, "SAMPLE events:       7628  (52.1%)\n");
	has(&out, "cpu-clock stats:\n              SAMPLE events:       7628\n");
	assert_null(strstr(buf_text(&out), "lost:"));
	buf_free(&out);
	stat_free(&s);
	seam_reader_close(s.reader);
}

/* Gives a record of loss, of one CPU and time. */
static void lose(struct stat_counts *s, uint32_t type, uint16_t misc, uint64_t lost, uint32_t cpu,
                 uint64_t time_ns)
{
	const struct seam_event *event = seam_events_at(seam_reader_events(s->reader), 0);
	struct seam_id id = { .has = SEAM_SAMPLE_CPU | SEAM_SAMPLE_TIME,
		              .cpu = cpu,
		              .time_ns = time_ns,
		              .id = event->n_ids ? event->ids[0] : 0 };
	struct seam_lost l = { .lost = lost };
	struct seam_record record;
	struct buf b = { 0 };

	assert_int_equal(encode_lost(&b, &event->attr, type, misc, &l, &id), 0);
	assert_true(record_at(b.bytes, b.n, &record));
	assert_int_equal(stat_record(s, &record), 0);
	buf_free(&b);
}

/* Slots become wider when time goes on, and nothing of what is in them goes. */
static void losses_have_times(void **state)
{
	struct stat_counts s = { .reader = open_data("hackbench_d") };
	struct buf out = { 0 };
	uint64_t sum = 0;

	for (unsigned i = 0; i < 64; i++)
		lose(&s, SEAM_RECORD_LOST, 0, 1 + i, i % 2, 1000000000 + i * 1000000ull);
	assert_int_equal(s.losses.width_ns, 2000000);
	for (unsigned i = 0; i < STAT_SLOTS; i++) {
		assert_int_equal(s.losses.slots[i], 2 * (2 * i + 1) + 1);
		sum += s.losses.slots[i];
	}
	assert_int_equal(sum, 64 * 65 / 2);
	lose(&s, SEAM_RECORD_LOST_SAMPLES, SEAM_MISC_LOST_BESIDE | SEAM_MISC_LOST_SKIPPED, 5, 1,
	     1000000000 + 64000000ull);
	lose(&s, SEAM_RECORD_LOST_SAMPLES, 0, 2080, 0, 0); /* as perf counts them at the end */
	assert_int_equal(s.losses.width_ns, 4000000);
	lose(&s, SEAM_RECORD_LOST, 0, 7, 1, 0); /* of before the first: in the first slot */
	assert_int_equal(s.losses.slots[0], 1 + 2 + 3 + 4 + 7);
	lose(&s, SEAM_RECORD_LOST_SAMPLES, SEAM_MISC_LOST_TASKS, 3, 0, 1000000000);
	stat_text(&s, &out);
	has(&out, "lost: 2092 in 66 records\n  of them, 5 samples were skipped by the kernel");
	has(&out, "lost: 2080 samples, by the kernel's counts (LOST_SAMPLES): the same losses");
	has(&out, "not followed: 3 tasks or more");
	has(&out, "  cpu 0: 1024\n  cpu 1: 1068\n");
	buf_free(&out);
	stat_free(&s);
	seam_reader_close(s.reader);
}

static void say(void *ctx, const char *text)
{
	snprintf(ctx, 600, "%s", text);
}

static void header_tells_what_is_there(void **state)
{
	char said[600] = "";
	struct header_opts o = {
		.reader = open_data("gcc_d"), .path = "x", .say = say, .ctx = said
	};
	struct buf out = { 0 };

	assert_int_equal(header_text(&o, &out), 0);
	has(&out, "# captured on    : unknown\n");
	has(&out, "# header version : 1\n");
	has(&out, "# missing features: ");
	assert_string_equal(said, "");
	buf_free(&out);
	seam_reader_close(o.reader);
}

static void events_are_listed(void **state)
{
	struct evlist_opts o = { .reader = open_data("multi_group"), .group = true };
	struct buf out = { 0 };
	size_t n;

	assert_true(evlist_is_known(o.reader));
	evlist_text(&o, &out);
	has(&out, "{");
	n = out.n;
	o.freq = true;
	evlist_text(&o, &out);
	assert_true(out.n > 2 * n);
	has(&out, ": sample_");
	buf_free(&out);
	seam_reader_close(o.reader);
	o.reader = open_data("pipe_z");
	assert_false(evlist_is_known(o.reader));
	seam_reader_close(o.reader);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stat_counts_all),
		cmocka_unit_test(losses_have_times),
		cmocka_unit_test(header_tells_what_is_there),
		cmocka_unit_test(events_are_listed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
