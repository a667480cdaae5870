// SPDX-License-Identifier: MIT
// perfdata_feature.c: features there and back: what feature_put_* writes, feature_* reads; cut
// anywhere it is refused.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "perfdata/feature.h"

static struct buf b;

static int clear(void **state)
{
	(void)state;
	buf_free(&b);
	return 0;
}

static struct seam_bytes written(void)
{
	assert_false(b.failed);
	return (struct seam_bytes){ b.bytes, b.n };
}

static void build_ids(void **state)
{
	const uint8_t id[20] = { 1, 2, 3, 4 };
	struct feature_build_id build;
	struct cursor c;

	(void)state;
	assert_int_equal(feature_put_build_id(&b, 1, -1, id, 16, "/lib/a.so"), 0);
	assert_int_equal(feature_put_build_id(&b, 2, 9, id, 20, ""), 0);
	c = cursor_of(b.bytes, b.n, false);
	assert_int_equal(feature_next_build_id(&c, &build), 1);
	assert_int_equal(build.size, 16);
	assert_int_equal(build.pid, -1);
	assert_string_equal(build.filename, "/lib/a.so");
	assert_int_equal(feature_next_build_id(&c, &build), 1);
	assert_int_equal(build.size, 20);
	assert_memory_equal(build.build_id, id, 20);
	assert_int_equal(feature_next_build_id(&c, &build), 0);
}

/* Two events of all 144 bytes, one with two ids. */
static struct seam_events *two_events(void)
{
	const uint64_t first[] = { 11, 12 }, second[] = { 21 };
	const struct seam_attr clock = { .type = SEAM_TYPE_SOFTWARE, .size = 144 };
	const struct seam_attr side_band = {
		.type = SEAM_TYPE_SOFTWARE, .size = 144, .config = 9, .config3 = 5
	};
	struct seam_events *events;

	assert_int_equal(seam_events_new(&events), 0);
	assert_int_equal(seam_events_add(events, &clock, "cpu-clock", first, 2, NULL), 0);
	assert_int_equal(seam_events_add(events, &side_band, "side-band", second, 1, NULL), 1);
	return events;
}

static void event_descs(void **state)
{
	struct seam_events *events = two_events();
	struct feature_event_descs walk;
	struct feature_event_desc desc;
	struct seam_bytes bytes;

	(void)state;
	assert_int_equal(feature_put_event_desc(&b, events), 0);
	bytes = written();
	assert_int_equal(feature_event_descs(&bytes, false, &walk), 0);
	assert_int_equal(feature_next_event_desc(&walk, &desc), 1);
	assert_string_equal(desc.name, "cpu-clock");
	assert_int_equal(desc.ids.n, 2);
	assert_int_equal(seam_u64s_at(&desc.ids, 1), 12);
	assert_int_equal(feature_next_event_desc(&walk, &desc), 1);
	assert_int_equal(desc.attr.config3, 5);
	assert_int_equal(feature_next_event_desc(&walk, &desc), 0);
	/* Cut anywhere, it is refused and nothing is read behind its end. */
	for (size_t n = 0; n < b.n; n++) {
		unsigned char *exact = malloc(n ? n : 1);
		int rc;

		assert_non_null(exact);
		memcpy(exact, b.bytes, n);
		bytes = (struct seam_bytes){ exact, n };
		rc = feature_event_descs(&bytes, false, &walk);
		while (rc >= 0 && (rc = feature_next_event_desc(&walk, &desc)) > 0)
			;
		assert_int_equal(rc, -EBADMSG);
		free(exact);
	}
	seam_events_free(events);
}

static void numbers(void **state)
{
	struct feature_clock_data clock;
	struct seam_bytes bytes;
	uint64_t first, last;
	uint32_t x, y;

	(void)state;
	feature_put_nrcpus(&b, 3, 4);
	bytes = written();
	assert_int_equal(feature_nrcpus(&bytes, false, &x, &y), 0);
	assert_int_equal(x * 10 + y, 34);
	buf_clear(&b);
	feature_put_sample_time(&b, 5, 1ULL << 40);
	bytes = written();
	assert_int_equal(feature_sample_time(&bytes, false, &first, &last), 0);
	assert_int_equal(first, 5);
	assert_int_equal(last, 1ULL << 40);
	buf_clear(&b);
	feature_put_clock_data(&b, 1, 77, 88);
	bytes = written();
	assert_int_equal(feature_clock_data(&bytes, false, &clock), 0);
	assert_int_equal(clock.clockid_time_ns, 88);
}

static void command_line(void **state)
{
	static const char *const argv[] = { "seam", "record", "it's" };
	struct buf text = { 0 };
	struct seam_bytes bytes;

	(void)state;
	feature_put_cmdline(&b, 3, argv);
	bytes = written();
	assert_int_equal(feature_cmdline(&bytes, false, &text), 0);
	assert_string_equal(buf_text(&text), "seam record it\\'s ");
	buf_free(&text);
}

/* Groups that overlap: a few bytes each would name every event once more. */
/* A number that two users had is nobody's; what is cut off is not read; the result stands
 * untouched. */
static void owners(void **state)
{
	struct buf out = { 0 };
	uint32_t user = 7;
	struct seam_bytes bytes;

	(void)state;
	feature_put_owner(&out, 10, 1000);
	feature_put_owner(&out, 11, 0);
	feature_put_owner(&out, 12, 5);
	feature_put_owner(&out, 10, 1000);
	feature_put_owner(&out, 12, 6);
	feature_put_owner(&out, 13, 8);
	bytes = (struct seam_bytes){ out.bytes, out.n };
	assert_int_equal(feature_owner(&bytes, false, 12, &user), 0);
	assert_int_equal(feature_owner(&bytes, false, 14, &user), 0);
	assert_int_equal(user, 7);
	assert_int_equal(feature_owner(&bytes, false, 10, &user), 1);
	assert_int_equal(user, 1000);
	assert_int_equal(feature_owner(&bytes, false, 11, &user), 1);
	assert_int_equal(user, 0);
	bytes.n -= 4;
	assert_int_equal(feature_owner(&bytes, false, 13, &user), 0);
	buf_free(&out);
}

/* An entry is found by its path; two of one path tell nothing; what is cut off is not read. */
static void files(void **state)
{
	struct feature_file a = { .kind = 1,
		                  .inode = 7,
		                  .changed_ns = 8,
		                  .size = 9,
		                  .digest = { 1, 2 },
		                  .path = "/a" },
	                    longer = { .kind = 2, .path = "/longer/than/a" }, got = { .inode = 77 };
	struct buf out = { 0 };
	struct seam_bytes bytes;

	(void)state;
	assert_int_equal(feature_put_file(&out, &a), 0);
	assert_int_equal(feature_put_file(&out, &longer), 0);
	bytes = (struct seam_bytes){ out.bytes, out.n };
	assert_int_equal(out.n % 8, 0);
	assert_int_equal(feature_file(&bytes, false, "/", &got), 0);
	assert_int_equal(got.inode, 77);
	assert_int_equal(feature_file(&bytes, false, "/longer/than/a", &got), 1);
	assert_int_equal(got.kind, 2);
	assert_int_equal(feature_file(&bytes, false, "/a", &got), 1);
	assert_int_equal(got.kind, 1);
	assert_int_equal(got.inode, 7);
	assert_int_equal(got.changed_ns, 8);
	assert_int_equal(got.size, 9);
	assert_memory_equal(got.digest, a.digest, sizeof(a.digest));
	for (bytes.n = 0; bytes.n < out.n; bytes.n++) {
		assert_int_equal(feature_file(&bytes, false, "/longer/than/a", &got), 0);
		assert_int_equal(feature_file(&bytes, true, "/a", &got), 0);
	}
	feature_put_file(&out, &a);
	bytes = (struct seam_bytes){ out.bytes, out.n };
	assert_int_equal(feature_file(&bytes, false, "/a", &got), 0);
	buf_free(&out);
}

static void groups_are_disjoint(void **state)
{
	static const struct {
		uint32_t n, leader, members;
		const char *text;
	} cases[] = {
		{ 1, 0, 2, "# group: g{one,two}\n" },
		{ 1, 1, UINT32_MAX, "# group: g{two}\n" }, /* as far as there are events */
		{ 100000, 0, UINT32_MAX, NULL },
	};
	struct seam_events *events = two_events();

	seam_events_set_name(events, 0, "one");
	seam_events_set_name(events, 1, "two");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct feature_context context = { .events = events };
		struct buf bytes = { 0 }, text = { 0 };

		buf_put_u32(&bytes, cases[i].n);
		for (uint32_t k = 0; k < cases[i].n; k++) {
			buf_put_u32(&bytes, 4);
			buf_put(&bytes, "g\0\0", 4);
			buf_put_u32(&bytes, cases[i].leader);
			buf_put_u32(&bytes, cases[i].members);
		}
		assert_int_equal(feature_text(SEAM_FEATURE_GROUP_DESC,
		                              &(struct seam_bytes){ bytes.bytes, bytes.n },
		                              &context, &text),
		                 cases[i].text ? 0 : -EBADMSG);
		if (cases[i].text)
			assert_string_equal(buf_text(&text), cases[i].text);
		buf_free(&bytes);
		buf_free(&text);
	}
	seam_events_free(events);
}

/* Of two nodes: one with blocks 0, 2 to 4 and 64 of 65, one with none. */
static void memory_nodes(void **state)
{
	const uint64_t words[] = { 1, 0x8000000, 2, 0, 5, 65, 0x1d, 1, 7, 0, 64, 0 };
	struct feature_context context = { .full = true };
	struct seam_bytes bytes = { (const unsigned char *)words, sizeof(words) };
	struct buf text = { 0 };

	(void)state;
	assert_int_equal(feature_text(SEAM_FEATURE_MEM_TOPOLOGY, &bytes, &context, &text), 0);
	assert_string_equal(buf_text(&text), "# memory nodes (nr 2, block size 0x8000000):\n"
	                                     "#    0 [640M]: 0,2-4,64\n"
	                                     "#    7 [0B]: \n");
	buf_clear(&text);
	context.full = false;
	assert_int_equal(feature_text(SEAM_FEATURE_MEM_TOPOLOGY, &bytes, &context, &text), 0);
	assert_string_equal(buf_text(&text), "# MEM_TOPOLOGY info available, use -I to display\n");
	buf_free(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(build_ids, clear),
		cmocka_unit_test_teardown(event_descs, clear),
		cmocka_unit_test_teardown(numbers, clear),
		cmocka_unit_test_teardown(command_line, clear),
		cmocka_unit_test_teardown(groups_are_disjoint, clear),
		cmocka_unit_test(owners),
		cmocka_unit_test(files),
		cmocka_unit_test(memory_nodes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
