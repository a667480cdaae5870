// SPDX-License-Identifier: MIT
/* perfdata_meta.c: records that describe the recording, made up: told again, told by the hundred
 * thousand. What was quadratic runs into the test's time limit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "perfdata/meta.h"

#define MANY 65536u

static void put_head(struct buf *b, uint32_t type, size_t payload)
{
	buf_clear(b);
	buf_put_u32(b, type);
	buf_put_u16(b, 0);
	buf_put_u16(b, (uint16_t)(8 + payload));
}

static void take(struct meta *m, const struct buf *b)
{
	struct seam_record r = { .bytes = b->bytes, .size = (uint32_t)b->n };

	memcpy(&r.type, b->bytes, 4);
	assert_false(b->failed);
	assert_int_equal(meta_take(m, &r, NULL), 0);
}

/* 64 bytes of attr and ids first, first + 1 ... */
static void take_attr(struct meta *m, uint32_t type, uint64_t config, uint64_t first, size_t n)
{
	struct buf b = { 0 };

	put_head(&b, SEAM_RECORD_HEADER_ATTR, 64 + 8 * n);
	buf_put_u32(&b, type);
	buf_put_u32(&b, 64);
	buf_put_u64(&b, config);
	buf_put_u64(&b, 1);
	buf_put_u64(&b, SEAM_SAMPLE_IDENTIFIER | SEAM_SAMPLE_IP);
	buf_put_zeros(&b, 32);
	for (size_t i = 0; i < n; i++)
		buf_put_u64(&b, first + i);
	take(m, &b);
	buf_free(&b);
}

static void take_event_type(struct meta *m, struct buf *b, uint64_t config, const char *name)
{
	put_head(b, SEAM_RECORD_HEADER_EVENT_TYPE, 8 + 64);
	buf_put_u64(b, config);
	buf_put_text(b, name);
	buf_put_zeros(b, 64 - strlen(name));
	take(m, b);
}

static void take_pmus(struct meta *m, const char *name, uint32_t first, uint32_t n)
{
	struct buf b = { 0 };

	put_head(&b, SEAM_RECORD_HEADER_FEATURE, 8 + 4 + (size_t)n * 16);
	buf_put_u64(&b, SEAM_FEATURE_PMU_MAPPINGS);
	buf_put_u32(&b, n);
	for (uint32_t i = 0; i < n; i++) {
		buf_put_u32(&b, first + i);
		buf_put_u32(&b, 8);
		buf_put_text(&b, name);
		buf_put_zeros(&b, 8 - strlen(name));
	}
	take(m, &b);
	buf_free(&b);
}

static struct damage damage;

static struct meta open_meta(void)
{
	struct meta m;

	damage = (struct damage){ .path = "made up" };
	assert_int_equal(meta_init(&m, false, &damage), 0);
	return m;
}

static void attrs_told_again(void **state)
{
	struct meta m = open_meta();

	(void)state;
	take_attr(&m, SEAM_TYPE_SOFTWARE, 0, 100, 2);
	take_attr(&m, SEAM_TYPE_SOFTWARE, 0, 100, 2);
	assert_int_equal(seam_events_count(m.events), 1);
	assert_int_equal(seam_events_at(m.events, 0)->n_ids, 2);
	/* One more id of it. */
	take_attr(&m, SEAM_TYPE_SOFTWARE, 0, 100, 3);
	assert_int_equal(seam_events_count(m.events), 1);
	assert_int_equal(seam_events_at(m.events, 0)->n_ids, 3);
	assert_ptr_equal(seam_events_by_id(m.events, 102), seam_events_at(m.events, 0));
	/* The same attr under ids of its own is another event, and so is another attr. */
	take_attr(&m, SEAM_TYPE_SOFTWARE, 0, 200, 2);
	take_attr(&m, SEAM_TYPE_SOFTWARE, 1, 300, 2);
	assert_int_equal(seam_events_count(m.events), 3);
	take_attr(&m, SEAM_TYPE_SOFTWARE, 1, 300, 2);
	assert_int_equal(seam_events_count(m.events), 3);
	meta_free(&m);
	/* The only event needs no ids. */
	m = open_meta();
	take_attr(&m, SEAM_TYPE_SOFTWARE, 0, 0, 0);
	take_attr(&m, SEAM_TYPE_SOFTWARE, 0, 0, 0);
	assert_int_equal(seam_events_count(m.events), 1);
	meta_free(&m);
}

static void event_types(void **state)
{
	struct meta m = open_meta();
	struct buf b = { 0 };
	char name[32];

	(void)state;
	/* Two events of each tracepoint; a hardware event of the same config is none. */
	for (uint32_t i = 0; i < MANY - 1; i++)
		take_attr(&m, SEAM_TYPE_TRACEPOINT, i / 2, 1000 + i, 1);
	take_attr(&m, SEAM_TYPE_HARDWARE, 5, 1, 1);
	for (uint32_t again = 0; again < 8; again++)
		for (uint32_t i = 0; i < MANY; i++) {
			snprintf(name, sizeof(name), "said:%u:%u", again, i);
			take_event_type(&m, &b, i, name);
		}
	/* The first name stays. */
	for (uint32_t i = 0; i < MANY - 1; i++) {
		snprintf(name, sizeof(name), "said:0:%u", i / 2);
		assert_string_equal(seam_events_at(m.events, i)->name, name);
	}
	assert_string_equal(seam_events_at(m.events, MANY - 1)->name, "branch-misses");
	buf_free(&b);
	meta_free(&m);
}

static void pmus(void **state)
{
	struct meta m = open_meta();

	(void)state;
	for (uint32_t i = 0; i < MANY - 1; i++)
		take_attr(&m, 100 + i % 4000, 1, 1000 + i, 1);
	take_pmus(&m, "first", 100, 4000);
	for (uint32_t i = 0; i < 3000; i++)
		take_pmus(&m, "later", 100 + i, 500);
	take_attr(&m, 4000, 1, 1, 1);
	for (uint32_t i = 0; i < MANY; i++)
		assert_non_null(strstr(seam_events_at(m.events, i)->name, "first"));
	meta_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(attrs_told_again),
		cmocka_unit_test(event_types),
		cmocka_unit_test(pmus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
