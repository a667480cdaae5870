// SPDX-License-Identifier: MIT
// capture_pending.c: who owes a deferred stack, from records as rings give them: late, early, in
// any order of rings, of tasks that exit; and whose answers are written when sleepers were read,
// once each.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "abi/record.h"
#include "abi/encode.h"
#include "abi/record_at.h"
#include "abi/stack_end.h"
#include "capture/session_parts.h"

#define FIELDS (SEAM_SAMPLE_IDENTIFIER | SEAM_SAMPLE_TID | SEAM_SAMPLE_TIME | SEAM_SAMPLE_CPU)
#define ANSWERS_ID 70u

static struct session s;
static struct session_stream stream;
static int fds[2] = { 10, 11 }, cpus[2] = { 0, 1 };
static uint64_t ids[2] = { ANSWERS_ID, ANSWERS_ID + 1 };
static struct seam_attr sampling;
static struct buf file;

/* What the reader is asked for, and what it finds: of cookies below 1000 a stack of two frames. */
static uint64_t asked[16];
static size_t n_asked;
static int answer_with;

static int read_asleep(const uint64_t *cookies, size_t n, session_give_asleep *give, void *ctx,
                       struct seam_error *err)
{
	n_asked = n;
	for (size_t i = 0; i < n && answer_with >= 0; i++) {
		const uint64_t ips[2] = { cookies[i] * 16, cookies[i] * 16 + 1 };

		asked[i] = cookies[i];
		if (cookies[i] < 1000)
			give(ctx, cookies[i], 1, STACK_END_COMPLETE, ips, 2);
	}
	return answer_with < 0 ? seam_error_set(err, -answer_with, NULL, SEAM_NO_OFFSET, NULL, "no")
	                       : 0;
}

static int take(void *ctx, const void *bytes, size_t n)
{
	(void)ctx;
	return buf_put(&file, bytes, n);
}

static int begin(void **state)
{
	struct seam_attr deferred = { .type = SEAM_TYPE_SOFTWARE,
		                      .config = 9,
		                      .sample_type = FIELDS,
		                      .flags = SEAM_ATTR_SAMPLE_ID_ALL | SEAM_ATTR_DEFER_OUTPUT };
	const uint64_t id = 1;

	(void)state;
	sampling =
	        (struct seam_attr){ .type = SEAM_TYPE_SOFTWARE,
		                    .sample_type = FIELDS | SEAM_SAMPLE_CALLCHAIN,
		                    .flags = SEAM_ATTR_SAMPLE_ID_ALL | SEAM_ATTR_DEFER_CALLCHAIN };
	stream = (struct session_stream){
		.attr = deferred, .n_cpus = 2, .fds = fds, .ids = ids, .cpus = cpus
	};
	s = (struct session){ .mode.stack = MODE_FP_DEFER,
		              .streams = &stream,
		              .n_streams = 1,
		              .opts.no_sample_time = true, /* no clock is asked for */
		              .opts.read_asleep = read_asleep };
	answer_with = 0;
	n_asked = 0;
	buf_clear(&file);
	if (seam_events_new(&s.events) < 0 ||
	    seam_events_add(s.events, &sampling, "clock", &id, 1, NULL) < 0)
		return -1;
	return seam_events_add(s.events, &deferred, "dummy", ids, 2, NULL) < 0 ? -1 : 0;
}

static int end(void **state)
{
	(void)state;
	session_pending_free(&s);
	seam_events_free(s.events);
	return 0;
}

/* ---- records ---- */

static void pass(struct buf *out)
{
	struct pending_tap tap = { .s = &s, .write = take };

	assert_false(out->failed);
	assert_int_equal(session_pending_write(&tap, out->bytes, out->n), 0);
	buf_free(out);
}

static struct seam_id who(uint32_t tid, uint64_t time_ns, uint64_t id)
{
	return (struct seam_id){ .pid = tid, .tid = tid, .time_ns = time_ns, .id = id };
}

static void sample(uint32_t tid, uint64_t time_ns, uint64_t cookie)
{
	const uint64_t chain[] = { SEAM_CONTEXT_KERNEL, 0xffffffff81000000ull,
		                   SEAM_CONTEXT_USER_DEFERRED, cookie };
	struct seam_sample value = { .id = who(tid, time_ns, 1),
		                     .callchain = encode_words(chain, 4) };
	struct buf out = { 0 };

	assert_int_equal(encode_sample(&out, &sampling, SEAM_MISC_KERNEL, &value), 0);
	pass(&out);
}

static void answer(uint32_t tid, uint64_t time_ns, uint64_t cookie)
{
	const uint64_t ip = 4711;
	struct seam_callchain_deferred value = { .cookie = cookie, .ips = encode_words(&ip, 1) };
	struct seam_id id = who(tid, time_ns, ANSWERS_ID);
	struct buf out = { 0 };

	assert_int_equal(encode_deferred(&out, &stream.attr, SEAM_MISC_USER, &value, &id), 0);
	pass(&out);
}

static void leave(uint32_t tid, uint64_t time_ns)
{
	struct seam_task value = { .pid = tid, .ppid = 1, .tid = tid, .ptid = 1 };
	struct seam_id id = who(tid, time_ns, ANSWERS_ID);
	struct buf out = { 0 };

	assert_int_equal(encode_task(&out, &stream.attr, SEAM_RECORD_EXIT, 0, &value, &id), 0);
	pass(&out);
}

/* The one after the one that passes has begun. */
static void rounds(unsigned n)
{
	while (n--) {
		s.rounds++;
		session_pending_round(&s);
	}
}

/* ---- what was written at the end ---- */

static size_t given(struct seam_decoded *all, size_t most)
{
	static struct seam_record records[16];
	size_t at, n = 0;

	buf_clear(&file);
	assert_true(session_pending_give(&s, take, NULL) >= 0);
	for (at = 0; at < file.n; n++) {
		assert_true(n < most && n < 16);
		assert_true(record_at(file.bytes + at, file.n - at, &records[n]));
		assert_int_equal(record_decode(s.events, &records[n], &all[n], NULL), 0);
		assert_int_equal(records[n].type, SEAM_RECORD_CALLCHAIN_DEFERRED);
		at += records[n].size;
	}
	return n;
}

static void test_sleeper(void **state)
{
	struct seam_decoded d[4];

	(void)state;
	sample(5, 100, 31);
	sample(5, 110, 31);
	assert_int_equal(s.pending.owing, 1);
	assert_false(session_pending_all_held(&s));
	session_pending_read(&s);
	assert_int_equal(n_asked, 1);
	assert_int_equal(asked[0], 31);
	assert_true(session_pending_all_held(&s));
	session_pending_read(&s); /* it is not asked for again */
	assert_int_equal(n_asked, 0);
	assert_int_equal(given(d, 4), 1);
	assert_int_equal(d[0].deferred.cookie, 31);
	assert_int_equal(d[0].deferred.ips.n, 2);
	assert_int_equal(seam_u64s_at(&d[0].deferred.ips, 0), 31 * 16);
	assert_int_equal(d[0].id.pid, 5);
	assert_int_equal(d[0].id.tid, 5);
	assert_int_equal(d[0].id.cpu, 1);
	assert_int_equal(d[0].id.id, ANSWERS_ID + 1); /* of the event on that CPU */
	assert_int_equal(stack_end_of(d[0].record->misc), STACK_END_COMPLETE);
	assert_int_equal(s.pending.owing, 0);
	assert_int_equal(s.pending.read, 1);
	assert_int_equal(given(d, 4), 0);
}

static void test_answered(void **state)
{
	struct seam_decoded d[4];

	(void)state;
	sample(5, 100, 31);
	answer(5, 120, 31);
	assert_int_equal(s.pending.owing, 0);
	sample(5, 110, 31); /* read late, from another ring */
	assert_int_equal(s.pending.owing, 0);
	answer(6, 90, 33); /* before its sample */
	sample(6, 100, 33);
	assert_int_equal(s.pending.owing, 0);
	sample(7, 100, 35);
	session_pending_read(&s);
	answer(7, 200, 35); /* himself after all */
	assert_int_equal(s.pending.late, 1);
	assert_true(session_pending_all_held(&s));
	assert_int_equal(given(d, 4), 0);
}

/* Rings are read one after the other: what is older may come later. */
static void test_order(void **state)
{
	struct seam_decoded d[4];

	(void)state;
	answer(5, 120, 31);
	sample(5, 130, 33);
	sample(5, 100, 31);
	sample(5, 90, 29); /* lost: the task has been in two entries since */
	assert_int_equal(s.pending.owing, 1);
	sample(6, 100, 35);
	sample(6, 110, 37); /* the deferred record to the first did not come */
	answer(7, 100, 39);
	sample(7, 99, 41);
	sample(8, 100, 43);
	answer(8, 200, 45); /* it is past the entry of 43 */
	assert_int_equal(s.pending.owing, 2);
	session_pending_read(&s);
	assert_int_equal(given(d, 4), 2);
	assert_int_equal(d[0].deferred.cookie + d[1].deferred.cookie, 33 + 37);
}

static void test_exits(void **state)
{
	struct seam_decoded d[4];

	(void)state;
	sample(5, 100, 31);
	leave(5, 150);
	sample(5, 90, 31); /* from a ring that is read later */
	assert_int_equal(s.pending.owing, 0);
	rounds(1);
	assert_int_equal(s.pending.n, 1);
	rounds(1);
	assert_int_equal(s.pending.n, 0);
	sample(5, 200, 33); /* another task by that number */
	leave(6, 150);
	sample(6, 151, 35); /* likewise, at once */
	assert_int_equal(s.pending.owing, 2);
	session_pending_read(&s);
	leave(5, 300); /* killed; what was read is as good as ever */
	assert_int_equal(given(d, 4), 2);
	for (uint32_t tid = 10; tid < 1000; tid++) { /* none is kept, none is mixed up */
		sample(tid, 400, 100000 + tid);
		if (tid % 3)
			leave(tid, 401);
	}
	rounds(2);
	assert_int_equal(s.pending.n, 330 + 2);
	assert_int_equal(s.pending.owing, 330);
	for (uint32_t tid = 12; tid < 1000; tid += 3)
		answer(tid, 500, 100000 + tid);
	assert_int_equal(s.pending.owing, 0);
}

static void test_not_read(void **state)
{
	struct seam_decoded d[4];

	(void)state;
	sample(5, 100, 1001);
	sample(6, 100, 31);
	session_pending_read(&s);
	assert_false(session_pending_all_held(&s));
	assert_int_equal(given(d, 4), 1);
	assert_int_equal(s.pending.owing, 1);
	assert_string_equal(s.pending.why, "");
	answer_with = -EPERM;
	session_pending_read(&s);
	assert_string_equal(s.pending.why, "no");
	s.opts.read_asleep = NULL;
	session_pending_read(&s);
	assert_string_not_equal(s.pending.why, "");
	assert_int_equal(given(d, 4), 0);
}

static void test_unsound(void **state)
{
	struct pending_tap tap = { .s = &s, .write = take };
	unsigned char record[16] = { 9, 0, 0, 0, 0, 0, 200, 0 };

	(void)state;
	assert_int_equal(session_pending_write(&tap, record, sizeof(record)), 0);
	record[6] = 16;
	assert_int_equal(session_pending_write(&tap, record, sizeof(record)), 0);
	record[6] = 4;
	assert_int_equal(session_pending_write(&tap, record, sizeof(record)), 0);
	assert_int_equal(s.pending.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_sleeper, begin, end),
		cmocka_unit_test_setup_teardown(test_answered, begin, end),
		cmocka_unit_test_setup_teardown(test_order, begin, end),
		cmocka_unit_test_setup_teardown(test_exits, begin, end),
		cmocka_unit_test_setup_teardown(test_not_read, begin, end),
		cmocka_unit_test_setup_teardown(test_unsound, begin, end),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	buf_free(&file);
	return failed;
}
