// SPDX-License-Identifier: MIT
/*
 * perfdata_swapped.c: one file, as this machine would have written it and as one of the other byte
 * order: header, attrs, ids, records, and a feature of every kind. What is read of both is the
 * same: events with names and ids, every record as JSON, every feature as text. Both are spelled
 * here value by value, with nothing of the reader's or the writer's code.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <seam/reader.h>

#include "../swap.h"
#include "abi/encode.h"
#include "abi/print.h"
#include "base/buf.h"
#include "perfdata/feature.h"

/* Features by their fields: 4, 8: that many bytes, with a value of its own; s: a string with its
 * length; a: the attr; digits in parentheses: a literal u32, in brackets a literal u64. A name that
 * is told of its text. */
static const struct {
	unsigned feature;
	const char *fields, *text;
} features[] = {
	{ SEAM_FEATURE_HOSTNAME, "s", "word" },
	{ SEAM_FEATURE_OSRELEASE, "s", "word" },
	{ SEAM_FEATURE_VERSION, "s", "word" },
	{ SEAM_FEATURE_ARCH, "s", "word" },
	{ SEAM_FEATURE_NRCPUS, "(4)(4)", "4" },
	{ SEAM_FEATURE_CPUDESC, "s", "word" },
	{ SEAM_FEATURE_CPUID, "s", "word" },
	{ SEAM_FEATURE_TOTAL_MEM, "8", "kB" },
	{ SEAM_FEATURE_CMDLINE, "(3)sss", "word" },
	{ SEAM_FEATURE_EVENT_DESC, "(1)(144)a(2)s88", "word" },
	{ SEAM_FEATURE_CPU_TOPOLOGY, "(1)s(2)ss44444444(1)s4444", "word" },
	{ SEAM_FEATURE_NUMA_TOPOLOGY, "(2)488s488s", "word" },
	{ SEAM_FEATURE_PMU_MAPPINGS, "(3)4s4s4s", "word" },
	{ SEAM_FEATURE_GROUP_DESC, "(2)s(0)(2)s(2)(1)", "word" },
	{ SEAM_FEATURE_AUXTRACE, "[1]88", "AUX" },
	{ SEAM_FEATURE_CACHE, "(1)(2)4444sss4444sss", "word" },
	{ SEAM_FEATURE_SAMPLE_TIME, "88", "time" },
	{ SEAM_FEATURE_MEM_TOPOLOGY, "[1]8[1][3][64][64]8", "memory" },
	{ SEAM_FEATURE_CLOCKID, "8", "clock" },
	{ SEAM_FEATURE_BPF_PROG_INFO, "(2)(8)(8)8448(8)(0)844", "of id" },
	{ SEAM_FEATURE_BPF_BTF, "(2)4(8)84(4)4", "btf info of id" },
	{ SEAM_FEATURE_CPU_PMU_CAPS, "(2)ssss", "word" },
	{ SEAM_FEATURE_CLOCK_DATA, "(1)488", "clock" },
	{ SEAM_FEATURE_HYBRID_TOPOLOGY, "(2)ssss", "word" },
	{ SEAM_FEATURE_PMU_CAPS, "(1)(2)sssss", "word" },
	{ SEAM_FEATURE_CPU_DOMAIN_INFO, "(17)(2)4(1)4sss4(2)4sss4sss", "word" },
	{ SEAM_FEATURE_E_MACHINE, "44", "machine" },
};
#define N_FEATURES (sizeof(features) / sizeof(features[0]))

static void put(struct buf *out, uint64_t v, size_t width, bool other)
{
	unsigned char bytes[8];

	memcpy(bytes, &v, 8); /* little-endian, as this test's machines are */
	if (other)
		swap_bytes(bytes, width);
	buf_put(out, bytes, width);
}

static const struct seam_attr attr = { .type = SEAM_TYPE_SOFTWARE,
	                               .size = SEAM_ATTR_SIZE_MIN + 80,
	                               .sample_period = 12345,
	                               .sample_type = SEAM_SAMPLE_IDENTIFIER | SEAM_SAMPLE_IP |
	                                              SEAM_SAMPLE_TID | SEAM_SAMPLE_TIME |
	                                              SEAM_SAMPLE_CALLCHAIN,
	                               .read_format = SEAM_FORMAT_ID,
	                               .flags = SEAM_ATTR_SAMPLE_ID_ALL | SEAM_ATTR_FREQ |
	                                        SEAM_ATTR_MMAP | SEAM_ATTR_DEFER_CALLCHAIN };

static void put_attr(struct buf *out, bool other)
{
	struct buf raw = { 0 };

	encode_attr(&raw, &attr);
	if (other)
		swap_attr(raw.bytes, raw.n);
	buf_put(out, raw.bytes, raw.n);
	buf_free(&raw);
}

static void put_feature(struct buf *out, const char *at, bool other)
{
	uint64_t value = 3;

	for (; *at; at++, value++) {
		if (*at == '(' || *at == '[') {
			put(out, strtoull(at + 1, NULL, 10), *at == '(' ? 4 : 8, other);
			at += strcspn(at, ")]");
		} else if (*at == 'a') {
			put_attr(out, other);
		} else if (*at == 's') {
			put(out, 64, 4, other);
			buf_printf(out, "word%02u", (unsigned)value);
			buf_put_zeros(out, 64 - 6);
		} else {
			put(out, value, *at == '4' ? 4 : 8, other);
		}
	}
}

static void put_record(struct buf *out, struct buf *record, bool other)
{
	if (other)
		swap_record(record->bytes, record->n, &attr);
	buf_put(out, record->bytes, record->n);
	buf_clear(record);
}

static void put_data(struct buf *out, bool other)
{
	const uint64_t chain[] = { SEAM_CONTEXT_USER, 0x400123, 0x400456 };
	const struct seam_id id = {
		.has = attr.sample_type, .pid = 7, .tid = 8, .time_ns = 9, .id = 11
	};
	struct seam_sample s = { .id = id, .ip = 0x400123 };
	struct buf record = { 0 };

	s.callchain = (struct seam_u64s){ .bytes = (const unsigned char *)chain, .n = 3 };
	encode_comm(&record, &attr, 0, &(struct seam_comm){ .pid = 7, .tid = 8, .comm = "name" },
	            &id);
	put_record(out, &record, other);
	encode_mmap2(&record, &attr, SEAM_MISC_USER,
	             &(struct seam_mmap){ .pid = 7,
	                                  .tid = 7,
	                                  .addr = 0x400000,
	                                  .len = 0x1000,
	                                  .filename = "/bin/program" },
	             &id);
	put_record(out, &record, other);
	assert_int_equal(encode_sample(&record, &attr, SEAM_MISC_USER, &s), 0);
	put_record(out, &record, other);
	buf_free(&record);
}

/* A whole file: header, ids, attr, data, feature table, features. */
static void make_file(struct buf *out, bool other)
{
	const size_t attrs = 104 + 16, data = attrs + 144 + 16;
	struct buf records = { 0 }, body = { 0 };
	uint64_t bits[4] = { 0 }, at;

	put_data(&records, other);
	for (size_t i = 0; i < N_FEATURES; i++)
		bits[features[i].feature / 64] |= 1ULL << features[i].feature % 64;
	put(out, 0x32454c4946524550, 8, other);
	for (size_t i = 0; i < 8; i++)
		put(out, (uint64_t[]){ 104, 160, attrs, 160, data, records.n, 0, 0 }[i], 8, other);
	for (size_t i = 0; i < 4; i++)
		put(out, bits[i], 8, other);
	put(out, 11, 8, other); /* ids */
	put(out, 12, 8, other);
	put_attr(out, other);
	put(out, 104, 8, other);
	put(out, 16, 8, other);
	buf_put(out, records.bytes, records.n);
	at = out->n + N_FEATURES * 16;
	for (size_t i = 0; i < N_FEATURES; i++) {
		size_t before = body.n;

		put_feature(&body, features[i].fields, other);
		put(out, at + before, 8, other);
		put(out, body.n - before, 8, other);
	}
	buf_put(out, body.bytes, body.n);
	buf_free(&records);
	buf_free(&body);
}

static struct seam_reader *open_file(struct buf *bytes, bool other)
{
	struct seam_reader_info info = { .sz = sizeof(info) };
	struct seam_error err = { 0 };
	struct seam_reader *reader;

	make_file(bytes, other);
	if (seam_reader_open_memory(&reader, bytes->bytes, bytes->n, "m", NULL, &err) < 0)
		fail_msg("%s", err.text);
	seam_reader_info(reader, &info);
	assert_int_equal(info.swapped, other);
	return reader;
}

static void same_records(struct seam_reader *a, struct seam_reader *b)
{
	struct buf one = { 0 }, two = { 0 };
	struct seam_record x, y;
	size_t n = 0;

	while (seam_reader_next(a, &x, NULL) > 0) {
		assert_int_equal(seam_reader_next(b, &y, NULL), 1);
		buf_clear(&one);
		buf_clear(&two);
		assert_int_equal(print_record_json(&one, seam_reader_events(a), &x, NULL, NULL), 0);
		assert_int_equal(print_record_json(&two, seam_reader_events(b), &y, NULL, NULL), 0);
		assert_string_equal(buf_text(&one), buf_text(&two));
		n++;
	}
	assert_int_equal(seam_reader_next(b, &y, NULL), 0);
	assert_int_equal(n, 3);
	buf_free(&one);
	buf_free(&two);
}

static void same_events(struct seam_reader *a, struct seam_reader *b)
{
	const struct seam_event *x = seam_events_at(seam_reader_events(a), 0);
	const struct seam_event *y = seam_events_at(seam_reader_events(b), 0);

	assert_memory_equal(&x->attr, &attr, sizeof(attr));
	assert_memory_equal(&y->attr, &attr, sizeof(attr));
	assert_string_equal(x->name, y->name);
	assert_int_equal(x->n_ids, 2);
	assert_int_equal(y->n_ids, 2);
	assert_memory_equal(x->ids, y->ids, 16);
	assert_ptr_equal(seam_events_by_id(seam_reader_events(b), 12), y);
}

static void same_features(struct seam_reader *a, struct seam_reader *b)
{
	for (size_t i = 0; i < N_FEATURES; i++) {
		struct feature_context context = { .full = true, .cpus = 4 };
		struct buf one = { 0 }, two = { 0 };
		struct seam_bytes bytes;

		context.events = seam_reader_events(a);
		assert_int_equal(seam_reader_feature(a, features[i].feature, &bytes), 1);
		if (feature_text(features[i].feature, &bytes, &context, &one) < 0)
			fail_msg("feature %u cannot be read", features[i].feature);
		context.swap = true;
		context.events = seam_reader_events(b);
		assert_int_equal(seam_reader_feature(b, features[i].feature, &bytes), 1);
		if (feature_text(features[i].feature, &bytes, &context, &two) < 0)
			fail_msg("feature %u cannot be read swapped", features[i].feature);
		if (!strstr(buf_text(&one), features[i].text))
			fail_msg("feature %u: no '%s' in: %s", features[i].feature,
			         features[i].text, buf_text(&one));
		assert_string_equal(buf_text(&one), buf_text(&two));
		buf_free(&one);
		buf_free(&two);
	}
}

static void both_byte_orders(void **state)
{
	struct buf native = { 0 }, swapped = { 0 };
	struct seam_reader *a = open_file(&native, false), *b = open_file(&swapped, true);

	same_events(a, b);
	same_records(a, b);
	same_features(a, b);
	assert_false(seam_reader_damaged(a) || seam_reader_damaged(b));
	seam_reader_close(a);
	seam_reader_close(b);
	buf_free(&native);
	buf_free(&swapped);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(both_byte_orders) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
