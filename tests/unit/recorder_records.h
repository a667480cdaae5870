/* SPDX-License-Identifier: MIT */
/* recorder_records.h: made records for the recorder's sinks and filters, and a sink that keeps
 * them. */
#ifndef SEAM_TESTS_RECORDER_RECORDS_H
#define SEAM_TESTS_RECORDER_RECORDS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "abi/encode.h"
#include "abi/record_at.h"

#define TEST_ID 77u

static const struct seam_attr test_attr = {
	.type = SEAM_TYPE_SOFTWARE,
	.size = 112,
	.sample_period = 1000000,
	.sample_type = SEAM_SAMPLE_IDENTIFIER | SEAM_SAMPLE_IP | SEAM_SAMPLE_TID |
	               SEAM_SAMPLE_TIME | SEAM_SAMPLE_CALLCHAIN,
	.flags = SEAM_ATTR_SAMPLE_ID_ALL,
};

static inline struct seam_events *test_events(void)
{
	const uint64_t id = TEST_ID;
	struct seam_events *events;

	assert_int_equal(seam_events_new(&events), 0);
	assert_true(seam_events_add(events, &test_attr, "cpu-clock", &id, 1, NULL) >= 0);
	return events;
}

static inline struct seam_id test_id(uint32_t pid, uint64_t time_ns)
{
	return (struct seam_id){ .has = SEAM_SAMPLE_IDENTIFIER | SEAM_SAMPLE_TID | SEAM_SAMPLE_TIME,
		                 .pid = pid,
		                 .tid = pid,
		                 .time_ns = time_ns,
		                 .id = TEST_ID };
}

static inline void put_sample(struct buf *out, uint32_t pid, uint64_t time_ns)
{
	const uint64_t chain[] = { SEAM_CONTEXT_USER, 0x401000 };
	struct seam_sample sample = { .id = test_id(pid, time_ns),
		                      .ip = 0x401000,
		                      .callchain = encode_words(chain, 2) };

	assert_int_equal(encode_sample(out, &test_attr, SEAM_MISC_USER, &sample), 0);
}

static inline void put_comm(struct buf *out, uint32_t pid, uint64_t time_ns, const char *name)
{
	struct seam_comm comm = { .pid = pid, .tid = pid, .comm = name };
	struct seam_id id = test_id(pid, time_ns);

	assert_int_equal(encode_comm(out, &test_attr, 0, &comm, &id), 0);
}

static inline void put_task(struct buf *out, uint32_t type, uint32_t pid, uint32_t parent,
                            uint64_t time_ns)
{
	struct seam_task task = {
		.pid = pid, .ppid = parent, .tid = pid, .ptid = parent, .time_ns = time_ns
	};
	struct seam_id id = test_id(pid, time_ns);

	assert_int_equal(encode_task(out, &test_attr, type, 0, &task, &id), 0);
}

static inline void put_mmap(struct buf *out, uint16_t misc, uint32_t pid, uint64_t time_ns,
                            const char *path)
{
	struct seam_mmap mmap = {
		.pid = pid, .tid = pid, .addr = 0x400000, .len = 0x10000, .filename = path
	};
	struct seam_id id = test_id(pid, time_ns);

	assert_int_equal(encode_mmap2(out, &test_attr, misc, &mmap, &id), 0);
}

static inline void put_round(struct buf *out)
{
	size_t start = encode_begin(out, SEAM_RECORD_FINISHED_ROUND, 0);

	assert_int_equal(encode_end(out, start), 0);
}

/* Gives all of in to write, and empties it. */
static inline int give(int (*write)(void *ctx, const void *bytes, size_t n), void *ctx,
                       struct buf *in)
{
	int r = write(ctx, in->bytes, in->n);

	buf_clear(in);
	return r;
}

/* A sink: the records' types and processes as text, "COMM 10, SAMPLE 10". */
struct kept {
	char text[2048];
	size_t n;
	int fail; /* returned instead of keeping */
};

static inline int keep(void *ctx, const void *bytes, size_t n)
{
	struct kept *k = ctx;
	const unsigned char *at = bytes;
	struct seam_record r;

	if (k->fail)
		return k->fail;
	for (; record_at(at, n, &r); at += r.size, n -= r.size) {
		uint32_t pid = 0;

		if (r.type == SEAM_RECORD_SAMPLE)
			memcpy(&pid, r.bytes + 24, 4);
		else if (r.size > 8)
			memcpy(&pid, r.bytes + 8, 4);
		k->n += (size_t)snprintf(k->text + k->n, sizeof(k->text) - k->n, "%s%s %u",
		                         k->n ? ", " : "", seam_record_name(r.type), pid);
	}
	assert_int_equal(n, 0);
	return 0;
}

/* What was kept since the last time. */
static inline void assert_kept(struct kept *k, const char *expected)
{
	assert_string_equal(k->text, expected);
	k->text[0] = 0;
	k->n = 0;
}

#endif
