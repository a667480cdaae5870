// SPDX-License-Identifier: MIT
/*
 * abi_record.c: records other than samples: what each kernel record means, from literal values, and
 * which event it belongs to. abi_kinds.c is every type by its field list.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "abi/record.h"
#include "../swap.h"
#include "abi/encode.h"
#include "abi/print.h"
#include "abi_fixture.h"

/* ---- what they mean ---- */

static void record_mmap(void **state)
{
	const struct seam_attr unasked = { .sample_type = ALL_IDS,
		                           .flags = SEAM_ATTR_SAMPLE_ID_ALL };
	struct fixture f = fixture_new(&with_trailer), never;
	struct seam_mmap m = { .pid = 1,
		               .tid = 2,
		               .addr = 3,
		               .len = 4,
		               .pgoff = 5,
		               .prot = 6,
		               .flags = 7,
		               .maj = 8,
		               .min = 9,
		               .ino = 10,
		               .ino_generation = 11,
		               .filename = "/usr/lib/libc.so.6" };

	encode_mmap2(&f.bytes, &with_trailer, SEAM_MISC_USER, &m, &an_id);
	assert_int_equal(f.bytes.n, 72 + 24 + 48);
	assert_int_equal(fixture_decode(&f, f.bytes.n, false), 0);
	assert_int_equal(f.d.mmap.pid, 1);
	assert_int_equal(f.d.mmap.tid, 2);
	assert_int_equal(f.d.mmap.addr, 3);
	assert_int_equal(f.d.mmap.len, 4);
	assert_int_equal(f.d.mmap.pgoff, 5);
	assert_true(f.d.mmap.has_prot);
	assert_int_equal(f.d.mmap.prot, 6);
	assert_int_equal(f.d.mmap.flags, 7);
	assert_false(f.d.mmap.has_build_id);
	assert_int_equal(f.d.mmap.maj, 8);
	assert_int_equal(f.d.mmap.min, 9);
	assert_int_equal(f.d.mmap.ino, 10);
	assert_int_equal(f.d.mmap.ino_generation, 11);
	assert_string_equal(f.d.mmap.filename, m.filename);

	/* The kernel left the flag set, from another event: this one never asked for build-ids. */
	f.bytes.bytes[5] |= SEAM_MISC_MMAP_BUILD_ID >> 8;
	never = fixture_new(&unasked);
	buf_put(&never.bytes, f.bytes.bytes, f.bytes.n);
	assert_int_equal(fixture_decode(&never, never.bytes.n, false), 0);
	assert_false(never.d.mmap.has_build_id);
	assert_int_equal(never.d.mmap.maj, 8);
	assert_int_equal(never.d.mmap.ino, 10);
	fixture_free(&never);

	m.has_build_id = true;
	m.build_id_size = 20;
	memcpy(m.build_id, "0123456789abcdefghij", 20);
	buf_clear(&f.bytes);
	encode_mmap2(&f.bytes, &with_trailer, SEAM_MISC_USER, &m, &an_id);
	assert_int_equal(fixture_decode(&f, f.bytes.n, false), 0);
	assert_true(f.d.mmap.has_build_id);
	assert_int_equal(f.d.mmap.build_id_size, 20);
	assert_memory_equal(f.d.mmap.build_id, m.build_id, 20);
	assert_int_equal(f.d.mmap.ino, 0);
	assert_int_equal(f.d.mmap.prot, 6);
	assert_string_equal(f.d.mmap.filename, m.filename);
	f.bytes.bytes[40] = 21;
	assert_int_equal(fixture_decode(&f, f.bytes.n, false), -EBADMSG);
	assert_string_equal(f.err.text,
	                    "offset 0x1a38: MMAP2: build-id of 21 bytes, at most 20 fit");

	buf_clear(&f.bytes);
	encode_mmap(&f.bytes, &with_trailer, SEAM_MISC_USER, &m, NULL);
	assert_int_equal(fixture_decode(&f, f.bytes.n, false), 0);
	assert_false(f.d.mmap.has_prot);
	assert_false(f.d.mmap.has_build_id);
	assert_int_equal(f.d.mmap.pgoff, 5);
	assert_string_equal(f.d.mmap.filename, m.filename);
	fixture_free(&f);
}

/* The kernel leaves the build-id bit in records of events that asked for none: their attrs tell. */
static void record_stray_build_id_bit(void **state)
{
	static const struct seam_attr plain = { .sample_type = ALL_IDS,
		                                .flags = SEAM_ATTR_SAMPLE_ID_ALL };
	const uint32_t majors[] = { 0, 8, 253, 254, 259 };
	struct seam_mmap m = { .min = 1, .ino = 10, .filename = "/bin/true" };

	for (size_t i = 0; i < sizeof(majors) / sizeof(majors[0]); i++) {
		struct fixture f = fixture_new(&plain);

		m.maj = majors[i];
		encode_mmap2(&f.bytes, &plain, SEAM_MISC_USER, &m, &an_id);
		f.bytes.bytes[5] |= SEAM_MISC_MMAP_BUILD_ID >> 8;
		assert_int_equal(fixture_decode(&f, f.bytes.n, false), 0);
		assert_false(f.d.mmap.has_build_id);
		assert_int_equal(f.d.mmap.maj, majors[i]);
		assert_string_equal(f.d.mmap.filename, m.filename);
		fixture_free(&f);
	}
}

static void record_tasks(void **state)
{
	struct fixture f = fixture_new(&with_trailer);
	struct seam_task t = { .pid = 1, .ppid = 2, .tid = 3, .ptid = 4, .time_ns = 5 };

	encode_comm(&f.bytes, &with_trailer, 0,
	            &(struct seam_comm){ .pid = 7, .tid = 8, .exec = true, .comm = "sh" }, &an_id);
	assert_int_equal(fixture_decode(&f, f.bytes.n, false), 0);
	assert_int_equal(f.d.comm.pid, 7);
	assert_int_equal(f.d.comm.tid, 8);
	assert_true(f.d.comm.exec);
	assert_string_equal(f.d.comm.comm, "sh");
	for (uint32_t type = SEAM_RECORD_EXIT; type <= SEAM_RECORD_FORK; type += 3) {
		buf_clear(&f.bytes);
		assert_int_equal(encode_task(&f.bytes, &with_trailer, type, 0, &t, &an_id), 0);
		assert_int_equal(fixture_decode(&f, f.bytes.n, false), 0);
		assert_memory_equal(&f.d.task, &t, sizeof(t));
	}
	assert_int_equal(encode_task(&f.bytes, NULL, SEAM_RECORD_COMM, 0, &t, NULL), -EINVAL);
	fixture_free(&f);
}

static void record_lost(void **state)
{
	struct fixture f = fixture_new(&with_trailer);

	encode_lost(&f.bytes, &with_trailer, SEAM_RECORD_LOST, 0,
	            &(struct seam_lost){ .id = 54, .lost = 99 }, &an_id);
	assert_int_equal(fixture_decode(&f, f.bytes.n, false), 0);
	assert_int_equal(f.d.lost.id, 54);
	assert_int_equal(f.d.lost.lost, 99);
	buf_clear(&f.bytes);
	encode_lost(&f.bytes, &with_trailer, SEAM_RECORD_LOST_SAMPLES, 0,
	            &(struct seam_lost){ .lost = 98 }, &an_id);
	assert_int_equal(fixture_decode(&f, f.bytes.n, false), 0);
	assert_int_equal(f.d.lost.id, 0);
	assert_int_equal(f.d.lost.lost, 98);
	fixture_free(&f);
}

static void record_ksymbol(void **state)
{
	struct fixture f = fixture_new(&with_trailer);
	struct seam_ksymbol k = { .addr = 0xffffffffc0000000,
		                  .len = 54,
		                  .ksym_type = 1,
		                  .unregister = true,
		                  .name = "bpf_prog_1" };

	encode_ksymbol(&f.bytes, &with_trailer, 0, &k, &an_id);
	assert_int_equal(fixture_decode(&f, f.bytes.n, false), 0);
	assert_int_equal(f.d.ksymbol.addr, k.addr);
	assert_int_equal(f.d.ksymbol.len, 54);
	assert_int_equal(f.d.ksymbol.ksym_type, 1);
	assert_true(f.d.ksymbol.unregister);
	assert_string_equal(f.d.ksymbol.name, "bpf_prog_1");
	fixture_free(&f);
}

static void record_deferred(void **state)
{
	struct fixture f = fixture_new(&with_trailer);
	uint64_t ips[3] = { 0x11, 0x22, 0x33 };
	struct seam_callchain_deferred def = { .cookie = 0x300000002, .ips = encode_words(ips, 3) };

	encode_deferred(&f.bytes, &with_trailer, SEAM_MISC_USER, &def, &an_id);
	assert_int_equal(fixture_decode(&f, f.bytes.n, false), 0);
	assert_int_equal(f.d.deferred.cookie, 0x300000002);
	assert_int_equal(f.d.deferred.ips.n, 3);
	assert_int_equal(seam_u64s_at(&f.d.deferred.ips, 0), 0x11);
	assert_int_equal(seam_u64s_at(&f.d.deferred.ips, 2), 0x33);
	/* One too many, and the trailer would be taken for a frame. */
	f.bytes.bytes[16] = 4;
	assert_int_equal(fixture_decode(&f, f.bytes.n, false), -EBADMSG);
	assert_string_equal(f.err.text, "offset 0x1a38: CALLCHAIN_DEFERRED: nr is 4, room for 3");
	memset(f.bytes.bytes + 16, 0xff, 8);
	assert_int_equal(fixture_decode(&f, f.bytes.n, false), -EBADMSG);
	def.ips.n = 0;
	buf_clear(&f.bytes);
	encode_deferred(&f.bytes, &with_trailer, SEAM_MISC_USER, &def, &an_id);
	assert_int_equal(fixture_decode(&f, f.bytes.n, false), 0);
	assert_int_equal(f.d.deferred.ips.n, 0);
	def.ips = (struct seam_u64s){ .n = 9000 };
	assert_int_equal(encode_deferred(&f.bytes, NULL, 0, &def, NULL), -E2BIG);
	fixture_free(&f);
}

static void record_errors(void **state)
{
	struct fixture f = fixture_new(&(struct seam_attr){ 0 });
	size_t start = encode_begin(&f.bytes, SEAM_RECORD_MMAP2, 0);

	buf_put_zeros(&f.bytes, 32);
	encode_end(&f.bytes, start);
	assert_int_equal(fixture_decode(&f, f.bytes.n, false), -EBADMSG);
	assert_string_equal(f.err.text, "offset 0x1a38: MMAP2: 40 bytes, need 72");
	seam_error_add_path(&f.err, "perf.data");
	assert_string_equal(f.err.text, "perf.data: offset 0x1a38: MMAP2: 40 bytes, need 72");
	assert_string_equal(f.err.path, "perf.data");
	seam_error_add_path(&f.err, "other");
	assert_string_equal(f.err.path, "perf.data");
	assert_int_equal(record_decode(f.events, &f.record, &f.d, NULL), -EBADMSG);

	buf_clear(&f.bytes);
	encode_end(&f.bytes, encode_begin(&f.bytes, 23, 0));
	assert_int_equal(fixture_decode(&f, 8, false), -EOPNOTSUPP);
	assert_string_equal(f.err.text, "offset 0x1a38: record type 23 is not known (8 bytes)");
	f.record.type = UINT32_MAX;
	assert_int_equal(record_decode(f.events, &f.record, &f.d, NULL), -EOPNOTSUPP);
	fixture_free(&f);
}

/* ---- which event ---- */

static void add_event(struct seam_events *e, uint64_t type, uint64_t flags, uint64_t id)
{
	struct seam_attr a = { .sample_type = type, .flags = flags };

	assert_true(seam_events_add(e, &a, NULL, &id, 1, NULL) >= 0);
}

/* Two events whose trailers differ, but IDENTIFIER is at the end of both. */
static void record_identifier(void **state)
{
	struct fixture f = { 0 };
	struct seam_attr second = { .sample_type = SEAM_SAMPLE_IDENTIFIER | SEAM_SAMPLE_TIME,
		                    .flags = SEAM_ATTR_SAMPLE_ID_ALL };
	struct seam_sample s = { .id.id = 2, .id.time_ns = 70 };

	seam_events_new(&f.events);
	add_event(f.events, SEAM_SAMPLE_IDENTIFIER | SEAM_SAMPLE_TID, SEAM_ATTR_SAMPLE_ID_ALL, 1);
	add_event(f.events, second.sample_type, second.flags, 2);
	encode_comm(&f.bytes, &second, 0, &(struct seam_comm){ .comm = "c" }, &s.id);
	assert_int_equal(fixture_decode(&f, f.bytes.n, false), 0);
	assert_ptr_equal(f.d.event, seam_events_at(f.events, 1));
	assert_int_equal(f.d.id.time_ns, 70);
	assert_int_equal(f.d.id.has, SEAM_SAMPLE_TIME | SEAM_SAMPLE_IDENTIFIER | SEAM_SAMPLE_ID);
	buf_clear(&f.bytes);
	encode_sample(&f.bytes, &second, 0, &s);
	assert_int_equal(fixture_decode(&f, f.bytes.n, false), 0);
	assert_ptr_equal(f.d.sample.event, seam_events_at(f.events, 1));
	assert_int_equal(f.d.sample.id.time_ns, 70);
	s.id.id = 3;
	buf_clear(&f.bytes);
	encode_sample(&f.bytes, &second, 0, &s);
	assert_int_equal(fixture_decode(&f, f.bytes.n, false), -ENOENT);
	assert_string_equal(f.err.text, "offset 0x1a38: SAMPLE: its id matches no event");
	assert_int_equal(fixture_decode(&f, 8, false), -EBADMSG);
	fixture_free(&f);
}

/* ID without IDENTIFIER: at one offset in all samples, at another from the end of the others. */
static void record_common_id(void **state)
{
	uint64_t type = SEAM_SAMPLE_IP | SEAM_SAMPLE_TID | SEAM_SAMPLE_ID | SEAM_SAMPLE_CPU;
	struct seam_attr a = { .sample_type = type, .flags = SEAM_ATTR_SAMPLE_ID_ALL };
	struct fixture f = { 0 };
	struct seam_sample s = { .id = { .id = 2, .cpu = 5, .pid = 9 }, .ip = 1 };

	seam_events_new(&f.events);
	add_event(f.events, type, SEAM_ATTR_SAMPLE_ID_ALL, 1);
	add_event(f.events, type | SEAM_SAMPLE_PERIOD, SEAM_ATTR_SAMPLE_ID_ALL, 2);
	a.sample_type |= SEAM_SAMPLE_PERIOD;
	encode_sample(&f.bytes, &a, 0, &s);
	assert_int_equal(fixture_decode(&f, f.bytes.n, false), 0);
	assert_ptr_equal(f.d.sample.event, seam_events_at(f.events, 1));
	buf_clear(&f.bytes);
	encode_comm(&f.bytes, &a, 0, &(struct seam_comm){ .comm = "c" }, &s.id);
	assert_int_equal(fixture_decode(&f, f.bytes.n, false), 0);
	assert_ptr_equal(f.d.event, seam_events_at(f.events, 1));
	assert_int_equal(f.d.id.cpu, 5);
	/* perf's own records carry zeros: no event, but the trailer's shape is common to all. */
	buf_clear(&f.bytes);
	encode_comm(&f.bytes, &a, 0, &(struct seam_comm){ .comm = "c" }, NULL);
	assert_int_equal(fixture_decode(&f, f.bytes.n, false), 0);
	assert_null(f.d.event);
	assert_int_equal(f.d.id.has, SEAM_SAMPLE_TID | SEAM_SAMPLE_ID | SEAM_SAMPLE_CPU);
	/* A third event without the common place: samples cannot be told apart any more. */
	add_event(f.events, SEAM_SAMPLE_IP | SEAM_SAMPLE_ID, SEAM_ATTR_SAMPLE_ID_ALL, 3);
	buf_clear(&f.bytes);
	encode_sample(&f.bytes, &a, 0, &s);
	assert_int_equal(fixture_decode(&f, f.bytes.n, false), -ENOENT);
	fixture_free(&f);
}

static void record_no_events(void **state)
{
	struct fixture f = { 0 };

	seam_events_new(&f.events);
	encode_sample(&f.bytes, &(struct seam_attr){ .sample_type = SEAM_SAMPLE_IP }, 0,
	              &(struct seam_sample){ 0 });
	assert_int_equal(fixture_decode(&f, f.bytes.n, false), -ENOENT);
	assert_string_equal(f.err.text, "offset 0x1a38: SAMPLE: there are no events");
	buf_clear(&f.bytes);
	encode_comm(&f.bytes, NULL, 0, &(struct seam_comm){ .comm = "c" }, NULL);
	assert_int_equal(fixture_decode(&f, f.bytes.n, false), 0);
	assert_int_equal(f.d.id.has, 0);
	fixture_free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(record_mmap),      cmocka_unit_test(record_stray_build_id_bit),
		cmocka_unit_test(record_tasks),     cmocka_unit_test(record_lost),
		cmocka_unit_test(record_ksymbol),   cmocka_unit_test(record_deferred),
		cmocka_unit_test(record_errors),    cmocka_unit_test(record_identifier),
		cmocka_unit_test(record_common_id), cmocka_unit_test(record_no_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
