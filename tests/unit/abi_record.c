// SPDX-License-Identifier: MIT
/*
 * abi_record.c: records other than samples. Every type of records.def is built from its field list,
 * decoded, printed, swapped and cut; what each kernel record means is checked from literal values.
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

#include <seam/record.h>

#include "../swap.h"
#include "abi/encode.h"
#include "abi/print.h"

#define ALL_IDS                                                                        \
	(SEAM_SAMPLE_TID | SEAM_SAMPLE_TIME | SEAM_SAMPLE_ID | SEAM_SAMPLE_STREAM_ID | \
	 SEAM_SAMPLE_CPU | SEAM_SAMPLE_IDENTIFIER)

static const struct seam_attr with_trailer = { .sample_type = ALL_IDS,
	                                       .flags =
	                                               SEAM_ATTR_SAMPLE_ID_ALL | SEAM_ATTR_BUILD_ID,
	                                       .read_format = 31 - 8 };
static const struct seam_id an_id = {
	.pid = 51, .tid = 52, .time_ns = 53, .id = 54, .stream_id = 55, .cpu = 56
};

struct fixture {
	struct seam_events *events;
	struct buf bytes;
	unsigned char *copy;
	struct seam_record record;
	struct seam_decoded d;
	struct seam_error err;
};

static struct fixture fixture_new(const struct seam_attr *attr)
{
	struct fixture f = { 0 };
	uint64_t id = 54;

	assert_int_equal(seam_events_new(&f.events), 0);
	assert_int_equal(seam_events_add(f.events, attr, "e", &id, 1, NULL), 0);
	return f;
}

static void fixture_free(struct fixture *f)
{
	seam_events_free(f->events);
	buf_free(&f->bytes);
	free(f->copy);
}

static int decode(struct fixture *f, size_t n, bool swap)
{
	uint32_t type;
	uint16_t misc;

	free(f->copy);
	f->copy = malloc(n);
	memcpy(f->copy, f->bytes.bytes, n);
	memcpy(&type, f->bytes.bytes, 4);
	memcpy(&misc, f->bytes.bytes + 4, 2);
	f->record = (struct seam_record){ .type = swap ? __builtin_bswap32(type) : type,
		                          .misc = swap ? __builtin_bswap16(misc) : misc,
		                          .swap = swap,
		                          .size = (uint32_t)n,
		                          .offset = 0x1a38,
		                          .bytes = f->copy };
	f->err = (struct seam_error){ 0 };
	return seam_record_decode(f->events, &f->record, &f->d, &f->err);
}

/* ---- every type, from its field list ---- */

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
		int r = decode(f, n, swap);

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
	if (decode(&f, f.bytes.n, false) < 0)
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
	if (decode(&f, f.bytes.n, true) < 0)
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
	assert_int_equal(decode(&f, f.bytes.n, false), 0);
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
	assert_int_equal(decode(&never, never.bytes.n, false), 0);
	assert_false(never.d.mmap.has_build_id);
	assert_int_equal(never.d.mmap.maj, 8);
	assert_int_equal(never.d.mmap.ino, 10);
	fixture_free(&never);

	m.has_build_id = true;
	m.build_id_size = 20;
	memcpy(m.build_id, "0123456789abcdefghij", 20);
	buf_clear(&f.bytes);
	encode_mmap2(&f.bytes, &with_trailer, SEAM_MISC_USER, &m, &an_id);
	assert_int_equal(decode(&f, f.bytes.n, false), 0);
	assert_true(f.d.mmap.has_build_id);
	assert_int_equal(f.d.mmap.build_id_size, 20);
	assert_memory_equal(f.d.mmap.build_id, m.build_id, 20);
	assert_int_equal(f.d.mmap.ino, 0);
	assert_int_equal(f.d.mmap.prot, 6);
	assert_string_equal(f.d.mmap.filename, m.filename);
	f.bytes.bytes[40] = 21;
	assert_int_equal(decode(&f, f.bytes.n, false), -EBADMSG);
	assert_string_equal(f.err.text,
	                    "offset 0x1a38: MMAP2: build-id of 21 bytes, at most 20 fit");

	buf_clear(&f.bytes);
	encode_mmap(&f.bytes, &with_trailer, SEAM_MISC_USER, &m, NULL);
	assert_int_equal(decode(&f, f.bytes.n, false), 0);
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
		assert_int_equal(decode(&f, f.bytes.n, false), 0);
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
	assert_int_equal(decode(&f, f.bytes.n, false), 0);
	assert_int_equal(f.d.comm.pid, 7);
	assert_int_equal(f.d.comm.tid, 8);
	assert_true(f.d.comm.exec);
	assert_string_equal(f.d.comm.comm, "sh");
	for (uint32_t type = SEAM_RECORD_EXIT; type <= SEAM_RECORD_FORK; type += 3) {
		buf_clear(&f.bytes);
		assert_int_equal(encode_task(&f.bytes, &with_trailer, type, 0, &t, &an_id), 0);
		assert_int_equal(decode(&f, f.bytes.n, false), 0);
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
	assert_int_equal(decode(&f, f.bytes.n, false), 0);
	assert_int_equal(f.d.lost.id, 54);
	assert_int_equal(f.d.lost.lost, 99);
	buf_clear(&f.bytes);
	encode_lost(&f.bytes, &with_trailer, SEAM_RECORD_LOST_SAMPLES, 0,
	            &(struct seam_lost){ .lost = 98 }, &an_id);
	assert_int_equal(decode(&f, f.bytes.n, false), 0);
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
	assert_int_equal(decode(&f, f.bytes.n, false), 0);
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
	assert_int_equal(decode(&f, f.bytes.n, false), 0);
	assert_int_equal(f.d.deferred.cookie, 0x300000002);
	assert_int_equal(f.d.deferred.ips.n, 3);
	assert_int_equal(seam_u64s_at(&f.d.deferred.ips, 0), 0x11);
	assert_int_equal(seam_u64s_at(&f.d.deferred.ips, 2), 0x33);
	/* One too many, and the trailer would be taken for a frame. */
	f.bytes.bytes[16] = 4;
	assert_int_equal(decode(&f, f.bytes.n, false), -EBADMSG);
	assert_string_equal(f.err.text, "offset 0x1a38: CALLCHAIN_DEFERRED: nr is 4, room for 3");
	memset(f.bytes.bytes + 16, 0xff, 8);
	assert_int_equal(decode(&f, f.bytes.n, false), -EBADMSG);
	def.ips.n = 0;
	buf_clear(&f.bytes);
	encode_deferred(&f.bytes, &with_trailer, SEAM_MISC_USER, &def, &an_id);
	assert_int_equal(decode(&f, f.bytes.n, false), 0);
	assert_int_equal(f.d.deferred.ips.n, 0);
	def.ips = (struct seam_u64s){ .n = 9000 };
	assert_int_equal(encode_deferred(&f.bytes, NULL, 0, &def, NULL), -E2BIG);
	fixture_free(&f);
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
		assert_int_equal(decode(&f, f.bytes.n, false), -EBADMSG);
		assert_non_null(strstr(f.err.text, "does not end in the record"));
		fixture_free(&f);
	}
}

static void record_errors(void **state)
{
	struct fixture f = fixture_new(&(struct seam_attr){ 0 });
	size_t start = encode_begin(&f.bytes, SEAM_RECORD_MMAP2, 0);

	buf_put_zeros(&f.bytes, 32);
	encode_end(&f.bytes, start);
	assert_int_equal(decode(&f, f.bytes.n, false), -EBADMSG);
	assert_string_equal(f.err.text, "offset 0x1a38: MMAP2: 40 bytes, need 72");
	seam_error_add_path(&f.err, "perf.data");
	assert_string_equal(f.err.text, "perf.data: offset 0x1a38: MMAP2: 40 bytes, need 72");
	assert_string_equal(f.err.path, "perf.data");
	seam_error_add_path(&f.err, "other");
	assert_string_equal(f.err.path, "perf.data");
	assert_int_equal(seam_record_decode(f.events, &f.record, &f.d, NULL), -EBADMSG);

	buf_clear(&f.bytes);
	encode_end(&f.bytes, encode_begin(&f.bytes, 23, 0));
	assert_int_equal(decode(&f, 8, false), -EOPNOTSUPP);
	assert_string_equal(f.err.text, "offset 0x1a38: record type 23 is not known (8 bytes)");
	f.record.type = UINT32_MAX;
	assert_int_equal(seam_record_decode(f.events, &f.record, &f.d, NULL), -EOPNOTSUPP);
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
	assert_int_equal(decode(&f, f.bytes.n, false), 0);
	assert_ptr_equal(f.d.event, seam_events_at(f.events, 1));
	assert_int_equal(f.d.id.time_ns, 70);
	assert_int_equal(f.d.id.has, SEAM_SAMPLE_TIME | SEAM_SAMPLE_IDENTIFIER | SEAM_SAMPLE_ID);
	buf_clear(&f.bytes);
	encode_sample(&f.bytes, &second, 0, &s);
	assert_int_equal(decode(&f, f.bytes.n, false), 0);
	assert_ptr_equal(f.d.sample.event, seam_events_at(f.events, 1));
	assert_int_equal(f.d.sample.id.time_ns, 70);
	s.id.id = 3;
	buf_clear(&f.bytes);
	encode_sample(&f.bytes, &second, 0, &s);
	assert_int_equal(decode(&f, f.bytes.n, false), -ENOENT);
	assert_string_equal(f.err.text, "offset 0x1a38: SAMPLE: its id matches no event");
	assert_int_equal(decode(&f, 8, false), -EBADMSG);
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
	assert_int_equal(decode(&f, f.bytes.n, false), 0);
	assert_ptr_equal(f.d.sample.event, seam_events_at(f.events, 1));
	buf_clear(&f.bytes);
	encode_comm(&f.bytes, &a, 0, &(struct seam_comm){ .comm = "c" }, &s.id);
	assert_int_equal(decode(&f, f.bytes.n, false), 0);
	assert_ptr_equal(f.d.event, seam_events_at(f.events, 1));
	assert_int_equal(f.d.id.cpu, 5);
	/* perf's own records carry zeros: no event, but the trailer's shape is common to all. */
	buf_clear(&f.bytes);
	encode_comm(&f.bytes, &a, 0, &(struct seam_comm){ .comm = "c" }, NULL);
	assert_int_equal(decode(&f, f.bytes.n, false), 0);
	assert_null(f.d.event);
	assert_int_equal(f.d.id.has, SEAM_SAMPLE_TID | SEAM_SAMPLE_ID | SEAM_SAMPLE_CPU);
	/* A third event without the common place: samples cannot be told apart any more. */
	add_event(f.events, SEAM_SAMPLE_IP | SEAM_SAMPLE_ID, SEAM_ATTR_SAMPLE_ID_ALL, 3);
	buf_clear(&f.bytes);
	encode_sample(&f.bytes, &a, 0, &s);
	assert_int_equal(decode(&f, f.bytes.n, false), -ENOENT);
	fixture_free(&f);
}

static void record_no_events(void **state)
{
	struct fixture f = { 0 };

	seam_events_new(&f.events);
	encode_sample(&f.bytes, &(struct seam_attr){ .sample_type = SEAM_SAMPLE_IP }, 0,
	              &(struct seam_sample){ 0 });
	assert_int_equal(decode(&f, f.bytes.n, false), -ENOENT);
	assert_string_equal(f.err.text, "offset 0x1a38: SAMPLE: there are no events");
	buf_clear(&f.bytes);
	encode_comm(&f.bytes, NULL, 0, &(struct seam_comm){ .comm = "c" }, NULL);
	assert_int_equal(decode(&f, f.bytes.n, false), 0);
	assert_int_equal(f.d.id.has, 0);
	fixture_free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(record_every_type),
		cmocka_unit_test(record_names),
		cmocka_unit_test(record_mmap),
		cmocka_unit_test(record_stray_build_id_bit),
		cmocka_unit_test(record_tasks),
		cmocka_unit_test(record_lost),
		cmocka_unit_test(record_ksymbol),
		cmocka_unit_test(record_deferred),
		cmocka_unit_test(record_strings_must_end),
		cmocka_unit_test(record_errors),
		cmocka_unit_test(record_identifier),
		cmocka_unit_test(record_common_id),
		cmocka_unit_test(record_no_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
