// SPDX-License-Identifier: MIT
/*
 * abi_kinds.c: every type of records.def but samples, built from its field list, decoded, printed,
 * swapped and cut.
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

#include "../swap.h"
#include "abi/encode.h"
#include "abi/print.h"
#include "abi_fixture.h"

struct kind {
	uint32_t type;
	uint16_t misc;
	unsigned variant; /* of types whose body has several forms */
};

static void fill_fields(struct buf *out, const char *list, unsigned *seed)
{
	struct field f;
	unsigned char text[512]; /* the widest field */

	while (fields_next(&list, &f)) {
		unsigned width = f.width ? f.width : 8;

		for (unsigned i = 0; i < sizeof(text); i++)
			text[i] = (unsigned char)('a' + (*seed + i) % 26);
		(*seed)++;
		if (f.kind == 'n') {
			buf_put_u64(out, 2);
			fill_fields(out, f.group, seed);
			fill_fields(out, f.group, seed);
			continue;
		}
		if (f.kind == 's')
			text[width - 1] = 0;
		buf_put(out, text, f.repeated ? width * 3 : width);
	}
}

static void fill_cpus(struct buf *out, unsigned variant)
{
	switch (variant) {
	case 0:
		for (uint16_t v = 0; v < 7; v++) /* type 0, nr 5, CPUs: below */
			buf_put_u16(out, (uint16_t[]){ 0, 5, 0, 1, 2, 7, 9 }[v]);
		break;
	case 1:
		for (uint16_t v = 0; v < 3; v++)
			buf_put_u16(out, (uint16_t[]){ 1, 2, 8 }[v]);
		buf_put_u32(out, 0);
		buf_put_u64(out, 0x8000000000000287);
		buf_put_u64(out, 1);
		break;
	case 2:
		for (uint16_t v = 0; v < 3; v++)
			buf_put_u16(out, (uint16_t[]){ 1, 2, 4 }[v]);
		buf_put_u32(out, 0x80000287);
		buf_put_u32(out, 1);
		break;
	default:
		buf_put_u16(out, 2);
		buf_put_u16(out, 1); /* any CPU, padding */
		buf_put_u16(out, 3);
		buf_put_u16(out, 300);
	}
}

static void fill_update(struct buf *out, unsigned variant)
{
	double scale = 0.25;

	buf_put_u64(out, variant > 3 ? 3 : variant);
	buf_put_u64(out, 77);
	if (variant == 1)
		buf_put(out, &scale, 8);
	else if (variant >= 3)
		fill_cpus(out, variant - 3);
	else
		buf_put(out, "a name\0", 8);
}

static void fill_attr(struct buf *out)
{
	struct seam_attr attr;

	for (size_t i = 0; i < sizeof(attr); i++)
		((unsigned char *)&attr)[i] = (unsigned char)(i * 7 + 1);
	attr.size = 144;
	encode_attr(out, &attr);
	buf_put_u64(out, 61);
	buf_put_u64(out, 62);
}

static void fill_body(struct buf *out, const struct kind *k)
{
	unsigned seed = k->type;

	switch (k->type) {
	case SEAM_RECORD_SAMPLE: /* here with its ids only: IDENTIFIER TID TIME ID STREAM_ID CPU */
		for (uint64_t v = 1; v <= 6; v++)
			buf_put_u64(out, v);
		break;
	case SEAM_RECORD_MMAP2:
		if (k->misc & SEAM_MISC_MMAP_BUILD_ID) {
			fill_fields(out, "pid:i4 tid:i4 addr:x8 len:x8 pgoff:x8", &seed);
			buf_put_u32(out, 20);
			fill_fields(out, "build_id:h20 prot:x4 flags:x4 filename:s", &seed);
			break;
		}
		fill_fields(out, fields_of(k->type), &seed);
		break;
	case SEAM_RECORD_READ:
		fill_fields(out, "pid:i4 tid:i4 v:u8 e:u8 r:u8 i:u8 l:u8", &seed);
		break;
	case SEAM_RECORD_COMPRESSED2:
		buf_put_u64(out, 5);
		fill_fields(out, "data:h8", &seed);
		break;
	case SEAM_RECORD_TEXT_POKE:
		buf_put_u64(out, 0xffffffff81000000);
		buf_put_u16(out, 17);
		buf_put_u16(out, 5);
		fill_fields(out, "bytes:h22", &seed);
		break;
	case SEAM_RECORD_HEADER_ATTR:
		fill_attr(out);
		break;
	case SEAM_RECORD_CPU_MAP:
		fill_cpus(out, k->variant);
		break;
	case SEAM_RECORD_EVENT_UPDATE:
		fill_update(out, k->variant);
		break;
	case SEAM_RECORD_HEADER_FEATURE:
		buf_put_u64(out, 3);
		buf_put_u32(out, 8);
		buf_put(out, "a host\0", 8);
		break;
	case SEAM_RECORD_AUXTRACE_ERROR:
		fill_fields(out, "error_type:u4 code:u4 cpu:i4 pid:i4 tid:i4", &seed);
		buf_put_u32(out, 2);
		fill_fields(out, "ip:x8 error_time:u8 msg:s64 machine_pid:u4 vcpu:u4", &seed);
		break;
	default:
		fill_fields(out, fields_of(k->type), &seed);
	}
}

/* The text without the raw bytes, which do differ. */
static char *text_of(struct fixture *f, bool json)
{
	struct buf out = { 0 };
	char *text, *at, *to;
	int r = json ? print_record_json(&out, f->events, &f->record, NULL, NULL)
	             : print_record(&out, f->events, &f->record, NULL, NULL);

	assert_int_equal(r, 0);
	text = strdup(buf_text(&out));
	buf_free(&out);
	for (at = to = text; !json && *at;) {
		char *next = strchr(at, '\n') + 1;
		size_t n = (size_t)(next - at);

		if (strncmp(at, ".  ", 3)) {
			memmove(to, at, n);
			to += n;
		}
		at = next;
	}
	if (!json)
		*to = 0;
	return text;
}

/* Every name of the field list is a key of the JSON. */
static void has_fields(const struct kind *k, const char *json)
{
	const char *list = fields_of(k->type);
	struct field f;
	char key[40];

	if (k->misc & SEAM_MISC_MMAP_BUILD_ID)
		return;
	while (fields_next(&list, &f)) {
		snprintf(key, sizeof(key), "\"%.*s\":", (int)f.name_n, f.name);
		if (!strstr(json, key))
			fail_msg("%s is not in %s", key, json);
	}
}

static void cut_all(struct fixture *f, bool swap, size_t least)
{
	size_t whole = f->bytes.n;

	for (size_t n = 8; n < whole; n++) {
		struct buf out = { 0 };
		char need[64];
		int r = fixture_decode(f, n, swap);

		assert_true(r == 0 || r == -EBADMSG);
		if (n < least) {
			assert_int_equal(r, -EBADMSG);
			snprintf(need, sizeof(need), ": %zu bytes, need ", n);
			assert_non_null(strstr(f->err.text, need));
		}
		assert_int_equal(print_record(&out, f->events, &f->record, NULL, NULL), r);
		assert_int_equal(print_record_json(&out, f->events, &f->record, NULL, NULL), r);
		buf_free(&out);
	}
}

static void one_kind(const struct kind *k, unsigned least)
{
	struct fixture f = fixture_new(&with_trailer);
	bool kernel = k->type < SEAM_RECORD_USER_FIRST && k->type != SEAM_RECORD_SAMPLE;
	char *text, *json, *swapped;
	size_t start;

	start = encode_begin(&f.bytes, k->type, k->misc);
	fill_body(&f.bytes, k);
	assert_int_equal(kernel ? encode_end_id(&f.bytes, start, &with_trailer, &an_id)
	                        : encode_end(&f.bytes, start),
	                 0);
	assert_true(f.bytes.n >= least);
	if (fixture_decode(&f, f.bytes.n, false) < 0)
		fail_msg("%s", f.err.text);
	assert_int_equal(f.d.id.has, k->type < SEAM_RECORD_USER_FIRST ? ALL_IDS : 0);
	if (kernel) {
		assert_int_equal(f.d.id.pid, 51);
		assert_int_equal(f.d.id.tid, 52);
		assert_int_equal(f.d.id.time_ns, 53);
		assert_int_equal(f.d.id.id, 54);
		assert_int_equal(f.d.id.stream_id, 55);
		assert_int_equal(f.d.id.cpu, 56);
		assert_ptr_equal(f.d.event, seam_events_at(f.events, 0));
		least += 48;
	}
	text = text_of(&f, false);
	json = text_of(&f, true);
	assert_non_null(strstr(text, seam_record_name(k->type)));
	assert_null(strstr(text, "ends before"));
	has_fields(k, json);
	cut_all(&f, false, least);

	swap_record(f.bytes.bytes, f.bytes.n, &with_trailer);
	if (fixture_decode(&f, f.bytes.n, true) < 0)
		fail_msg("swapped: %s", f.err.text);
	swapped = text_of(&f, false);
	assert_string_equal(text, swapped);
	free(swapped);
	if (k->type != SEAM_RECORD_CPU_MAP && k->type != SEAM_RECORD_EVENT_UPDATE &&
	    k->type != SEAM_RECORD_HEADER_FEATURE) { /* these hold raw bytes in JSON */
		swapped = text_of(&f, true);
		assert_string_equal(json, swapped);
		free(swapped);
	}
	cut_all(&f, true, least);
	free(text);
	free(json);
	fixture_free(&f);
}

/* The bytes of a field that every record of its type has. */
static unsigned fixed_bytes(const struct field *f)
{
	if (f->kind == 'n')
		return 8; /* the count */
	if (f->kind == 'a')
		return SEAM_ATTR_SIZE_MIN;
	return f->repeated ? 0 : f->width;
}

/* What is told of a type's least size by hand (records.def) is what its list of fields says, but
 * for the types whose older forms are shorter, and for what is a union. */
static void least_is_of_fields(uint32_t type, unsigned least)
{
	const char *list = fields_of(type);
	unsigned sum = 8;
	struct field f;

	while (fields_next(&list, &f))
		sum += fixed_bytes(&f);
	switch (type) {
	case SEAM_RECORD_AUXTRACE_ERROR: /* with nothing of time and message */
		assert_int_equal(least, sum - 8 - 64 - 8);
		break;
	case SEAM_RECORD_CPU_MAP: /* a type, and the u16 with which each of its forms begins */
		assert_int_equal(least, sum + 2);
		break;
	case SEAM_RECORD_TIME_CONV: /* the first form, without what came later */
		assert_int_equal(least, sum - 8 - 8 - 2);
		break;
	case SEAM_RECORD_SCHEDSTAT_CPU: /* what follows depends on the version */
		assert_int_equal(least, sum - 6 * 4 - 3 * 8);
		break;
	default:
		if (least != sum)
			fail_msg("%s: least is %u, its fields have %u bytes",
			         seam_record_name(type), least, sum);
	}
}

static void record_least_sizes(void **state)
{
	(void)state;
#define RECORD(id, symbol, name, least, decoder, printer, fields) least_is_of_fields(id, least);
#include "abi/records.def"
}

static void record_every_type(void **state)
{
#define RECORD(id, symbol, name, least, decoder, printer, fields) \
	one_kind(&(struct kind){ .type = id }, least);
#include "abi/records.def"
	one_kind(&(struct kind){ SEAM_RECORD_MMAP2, SEAM_MISC_MMAP_BUILD_ID, 0 }, 72);
	for (unsigned v = 1; v < 4; v++)
		one_kind(&(struct kind){ SEAM_RECORD_CPU_MAP, 0, v }, 12);
	for (unsigned v = 1; v < 7; v++)
		one_kind(&(struct kind){ SEAM_RECORD_EVENT_UPDATE, 0, v }, 24);
}

static void record_strings_must_end(void **state)
{
	static const uint32_t types[] = { SEAM_RECORD_MMAP, SEAM_RECORD_MMAP2, SEAM_RECORD_COMM,
		                          SEAM_RECORD_KSYMBOL, SEAM_RECORD_CGROUP };

	for (size_t i = 0; i < 5; i++) {
		struct fixture f = fixture_new(&with_trailer);
		unsigned seed = 1;
		size_t start = encode_begin(&f.bytes, types[i], 0);

		fill_fields(&f.bytes, fields_of(types[i]), &seed);
		f.bytes.bytes[f.bytes.n - 1] = 'x'; /* was the NUL; the trailer has many */
		encode_end_id(&f.bytes, start, &with_trailer, &an_id);
		assert_int_equal(fixture_decode(&f, f.bytes.n, false), -EBADMSG);
		assert_non_null(strstr(f.err.text, "does not end in the record"));
		fixture_free(&f);
	}
}

static void record_names(void **state)
{
	assert_string_equal(seam_record_name(10), "MMAP2");
	assert_string_equal(seam_record_name(22), "CALLCHAIN_DEFERRED");
	assert_string_equal(seam_record_name(86), "SCHEDSTAT_DOMAIN");
	assert_null(seam_record_name(0));
	assert_null(seam_record_name(23));
	assert_null(seam_record_name(87));
	assert_null(seam_record_name(UINT32_MAX));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(record_least_sizes),
		cmocka_unit_test(record_every_type),
		cmocka_unit_test(record_strings_must_end),
		cmocka_unit_test(record_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
