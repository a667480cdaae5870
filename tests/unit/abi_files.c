// SPDX-License-Identifier: MIT
/*
 * abi_files.c: decodes every record of the real recordings in tests/data (file mode, not
 * compressed) and compares the counts per type with those that perf 7.3.4 gave. It reads the file
 * header by itself: the reader is another room's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <seam/record.h>

#include "abi/record.h"
#include "base/buf.h"
#include "base/cursor.h"

static void load(struct buf *b, const char *folder, const char *name)
{
	const char *data = getenv("SEAM_TEST_DATA");
	char command[512];
	size_t n;
	FILE *f;

	/* Those of other projects are packed. */
	snprintf(command, sizeof(command), "gzip -dcf '%s/%s/%s'", data ? data : "tests/data",
	         folder, name);
	f = popen(command, "r");
	assert_non_null(f);
	while ((n = fread(buf_reserve(b, 65536), 1, 65536, f)) > 0)
		b->n += n;
	if (pclose(f))
		fail_msg("%s failed", command);
}

/* The records of the data section, and the events of the header, of a native file. */
static struct seam_events *open_file(const struct buf *file, struct cursor *data)
{
	struct cursor c = cursor_of(file->bytes, file->n, false);
	uint64_t attr_size, attrs_at, attrs_size, data_at, data_size;
	struct seam_events *events;

	cursor_u64(&c); /* magic */
	cursor_u64(&c); /* size */
	attr_size = cursor_u64(&c);
	attrs_at = cursor_u64(&c);
	attrs_size = cursor_u64(&c);
	data_at = cursor_u64(&c);
	data_size = cursor_u64(&c);
	assert_false(c.failed);
	assert_int_equal(seam_events_new(&events), 0);
	for (uint64_t i = 0; i < attrs_size / attr_size; i++) {
		struct seam_attr attr;
		uint64_t ids_at, ids_size;
		uint64_t *ids;

		assert_true(cursor_seek(&c, attrs_at + i * attr_size));
		assert_int_equal(seam_attr_decode(c.at, attr_size - 16, false, &attr, NULL), 0);
		assert_int_equal(attr.size, attr_size - 16);
		cursor_bytes(&c, attr_size - 16);
		ids_at = cursor_u64(&c);
		ids_size = cursor_u64(&c);
		assert_true(cursor_seek(&c, ids_at));
		ids = malloc(ids_size + 1);
		memcpy(ids, cursor_bytes(&c, ids_size), ids_size);
		assert_int_equal(seam_events_add(events, &attr, NULL, ids, ids_size / 8, NULL), i);
		free(ids);
	}
	assert_true(cursor_seek(&c, data_at));
	*data = cursor_of(cursor_bytes(&c, data_size), data_size, false);
	assert_false(c.failed);
	return events;
}

static void decode_all(const struct buf *file, uint64_t counts[256])
{
	struct cursor data;
	struct seam_events *events = open_file(file, &data);
	struct seam_error err = { 0 };

	while (cursor_left(&data)) {
		struct seam_record r = { .bytes = data.at,
			                 .offset = (uint64_t)(data.at - file->bytes) };
		struct seam_decoded d;

		r.type = cursor_u32(&data);
		r.misc = cursor_u16(&data);
		r.size = cursor_u16(&data);
		assert_true(r.size >= 8);
		assert_non_null(cursor_bytes(&data, r.size - 8));
		if (record_decode(events, &r, &d, &err) < 0)
			fail_msg("%s", err.text);
		assert_true(r.type < 256);
		counts[r.type]++;
		if (r.type == SEAM_RECORD_SAMPLE) {
			assert_non_null(d.sample.event);
			assert_true(d.sample.id.time_ns > 0);
		}
	}
	seam_events_free(events);
}

/* "SAMPLE events:  7628  (61.2%)" of perf's answer; its counts of the whole file come first. */
static uint64_t perf_count(struct buf *stats, const char *name)
{
	const char *text = buf_text(stats), *at;
	char line[64];

	snprintf(line, sizeof(line), " %s events:", name);
	at = strstr(text, line);
	return at ? strtoull(at + strlen(line), NULL, 10) : 0;
}

static void one_file(const char *folder)
{
	struct buf file = { 0 }, stats = { 0 };
	uint64_t counts[256] = { 0 };

	load(&file, folder, "perf.data");
	load(&stats, folder, "perf-report-stats.txt");
	decode_all(&file, counts);
	for (uint32_t type = 1; type < SEAM_RECORD_USER_FIRST; type++) {
		const char *name = seam_record_name(type);

		if (!name)
			continue;
		if (perf_count(&stats, name) != counts[type])
			fail_msg("%s: %llu %s records, perf counts %llu", folder,
			         (unsigned long long)counts[type], name,
			         (unsigned long long)perf_count(&stats, name));
	}
	assert_true(counts[SEAM_RECORD_SAMPLE] > 0);
	buf_free(&file);
	buf_free(&stats);
}

#define FILE_TEST(name)                       \
	static void file_##name(void **state) \
	{                                     \
		one_file(#name);              \
	}
FILE_TEST(attach_p)
FILE_TEST(exec_chain)
FILE_TEST(gcc_d)
FILE_TEST(hackbench_d)
FILE_TEST(multi_group)
FILE_TEST(park_switch)
FILE_TEST(regs)
FILE_TEST(sysshort_d)
FILE_TEST(uonly)

static void public_file(const char *name, uint64_t samples)
{
	struct buf file = { 0 };
	char packed[128];
	uint64_t counts[256] = { 0 };

	snprintf(packed, sizeof(packed), "%s.gz", name);
	load(&file, "public", packed);
	decode_all(&file, counts);
	assert_int_equal(counts[SEAM_RECORD_SAMPLE], samples);
	buf_free(&file);
}

/* The counts are those of tests/data/public/README.md, found by a walk independent of this. */
static void file_public(void **state)
{
	public_file("ms-user_events.perf.data", 539);
	public_file("perf.data.branch_stack_hw_index", 5);
	public_file("perf.data.callgraph-3.4", 1548);
	public_file("perf.data.ctx_switch_namespaces-4.14", 2);
	public_file("perf.data.i686-3.4", 703);
	public_file("perf.data.weight_struct", 14);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(file_attach_p),    cmocka_unit_test(file_exec_chain),
		cmocka_unit_test(file_gcc_d),       cmocka_unit_test(file_hackbench_d),
		cmocka_unit_test(file_multi_group), cmocka_unit_test(file_park_switch),
		cmocka_unit_test(file_regs),        cmocka_unit_test(file_sysshort_d),
		cmocka_unit_test(file_uonly),       cmocka_unit_test(file_public),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
