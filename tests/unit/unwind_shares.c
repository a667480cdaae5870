// SPDX-License-Identifier: MIT
// Unit tests of unwind/cfi_shares.c and cfi_program.c's remembered steps: whatever the number of
// threads, and however much is forgotten, the same table and the same errors; over real objects,
// and over made-up sections that are hard to share.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/map.h"
#include "image/image.h"
#include "unwind/cfi_shares.h"
#include "unwind/compile.h"
#include "unwind/frametab.h"

#define SHARE (64u << 10) /* bytes that are worth a thread here */
#define EH_AT 0x10000u
#define DEBUG_AT 0x20000000u
#define TEXT_AT 0x40000000u
#define TEXT_SIZE 0x8000000u

static struct compile_input input(uint32_t machine)
{
	return (struct compile_input){
		.machine = machine,
		.ranges = { { TEXT_AT, TEXT_AT + TEXT_SIZE } },
		.n_ranges = 1,
		.share_bytes = SHARE,
	};
}

/* The same bytes, or the same error, by one thread and by each number of threads. Returns what one
 * thread gave. */
static int compare(struct compile_input *in, struct buf *one)
{
	static const unsigned counts[] = { 2, 3, 7, 1000 };
	struct seam_error err = { 0 }, other = { 0 };
	struct buf many = { 0 };
	int r, same;

	in->threads = 1;
	r = compile_table(in, one, &err);
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		in->threads = counts[i];
		same = compile_table(in, &many, &other);
		if (same != r || (r < 0 && strcmp(err.text, other.text) != 0))
			fail_msg("%u threads: %d %s, one: %d %s", counts[i], same, other.text, r,
			         err.text);
		if (r >= 0 && (one->n != many.n || memcmp(one->bytes, many.bytes, one->n) != 0))
			fail_msg("%u threads: another table of %zu bytes, one: %zu", counts[i],
			         many.n, one->n);
	}
	buf_free(&many);
	return r;
}

/* ---- made-up sections ---- */

struct made {
	struct buf bytes;
	uint64_t random;
	bool is_debug_frame;
	uint64_t address;
	size_t cies[64];
	size_t n_cies;
	uint64_t text; /* where the next function goes, mostly */
};

static uint64_t some(struct made *m, uint64_t below)
{
	m->random = map_mix(m->random + 0x9e3779b97f4a7c15ULL);
	return (m->random >> 11) % below;
}

static void put_entry(struct buf *b, const void *body, size_t n)
{
	size_t padded = (n + 7) & ~(size_t)7;

	buf_put_u32(b, (uint32_t)padded);
	buf_put(b, body, n);
	buf_put_zeros(b, padded - n);
}

static void put_leb(struct buf *b, uint64_t v)
{
	uint8_t byte;

	do {
		byte = (v & 0x7f) | (v > 0x7f ? 0x80 : 0);
		buf_put(b, &byte, 1);
		v >>= 7;
	} while (v);
}

static void put_op(struct buf *b, uint8_t op, uint64_t operand)
{
	buf_put(b, &op, 1);
	put_leb(b, operand);
}

/* CFA = rsp + 8, return address at CFA - 8; sometimes of a signal frame, or with more saved, or
 * unsound. */
static void make_cie(struct made *m)
{
	uint64_t what = some(m, 8);
	struct buf body = { 0 };

	m->cies[m->n_cies < 64 ? m->n_cies : some(m, 64)] = m->bytes.n;
	m->n_cies += m->n_cies < 64;
	buf_put_u32(&body, m->is_debug_frame ? UINT32_MAX : 0);
	buf_put(&body, what == 7 ? "\x02" : "\x01", 1); /* there is no version 2 */
	if (m->is_debug_frame)
		buf_put(&body, "\0\x01\x78\x10", 4);
	else
		buf_put(&body, what == 1 ? "zRS\0\x01\x78\x10\x01\x1b" : "zR\0\x01\x78\x10\x01\x1b",
		        what == 1 ? 9 : 8);
	buf_put(&body, "\x0c\x07\x08\x90\x01", 5);
	if (what == 2)
		buf_put(&body, "\x83\x04", 2);
	put_entry(&m->bytes, body.bytes, body.n);
	buf_free(&body);
}

static void make_instruction(struct made *m, struct buf *b)
{
	static const uint8_t saved[] = { 3, 6, 12, 13, 14, 15, 6, 0 };
	uint64_t what = some(m, 600), n;

	if (what < 200) {
		buf_put(b, (uint8_t[]){ (uint8_t)(0x40 + some(m, 12)) }, 1);
	} else if (what < 400) {
		put_op(b, 0x0e, 8 * (1 + some(m, what < 380 ? 12 : 3000)));
	} else if (what < 480) {
		put_op(b, (uint8_t)(0x80 | saved[some(m, 8)]), 2 + some(m, 7));
	} else if (what < 500) {
		buf_put(b, (uint8_t[]){ (uint8_t)(0xc0 | saved[some(m, 8)]) }, 1);
	} else if (what < 530) {
		buf_put(b, "\x0a", 1);
	} else if (what < 555) {
		buf_put(b, "\x0b", 1); /* often with nothing remembered: unsound */
	} else if (what < 565) {
		put_op(b, 0x0d, 6);
	} else if (what < 580) {
		put_op(b, 0x0c, 7);
		put_leb(b, 8 * some(m, 20));
	} else if (what <
	           585) { /* an expression that no rule says: a register and some additions */
		n = some(m, 4);
		put_op(b, some(m, 2) ? 0x0f : 0x16, 3 + n);
		if (b->bytes[b->n - 2] == 0x16)
			b->bytes[b->n - 1] = 6, put_leb(b, 3 + n);
		buf_put(b, "\x77\x08\x19", 3); /* breg7 8, abs */
		for (uint64_t i = 0; i < n; i++)
			buf_put(b, "\x1f", 1); /* neg */
	} else if (what < 590) {
		buf_put(b, "\x03\x20\x01", 3);
	} else if (what < 595) {
		buf_put(b, "\x02\x80", 2);
	} else if (what == 595) {
		buf_put(b, "\x3f", 1); /* there is none */
	} else if (what == 596) {
		put_op(b, 0x86, 1ULL << 40); /* no rule can say that */
	} else {
		buf_put_zeros(b, some(m, 5));
	}
}

static void make_fde(struct made *m)
{
	uint64_t cie = m->cies[some(m, m->n_cies)], what = some(m, 200), start = m->text;
	uint32_t size = (uint32_t)(8 + some(m, 200));
	size_t at = m->bytes.n, n = some(m, what == 1 ? 400 : 24);
	struct buf body = { 0 };

	if (what == 0)
		size = 0;
	else if (what < 20) /* over one that was, or will be; sometimes with its start */
		start = TEXT_AT + some(m, TEXT_SIZE / 64) * (some(m, 2) ? 16 : 1);
	else if (what == 20)
		start = TEXT_AT - 0x1000; /* not executable */
	else if (what == 21)
		cie = m->bytes.n / 2; /* most likely none begins there */
	else
		m->text += size + some(m, 40);
	if (m->text > TEXT_AT + TEXT_SIZE / 2)
		m->text = TEXT_AT;
	buf_put_u32(&body, (uint32_t)(m->is_debug_frame ? cie : at + 4 - cie));
	if (m->is_debug_frame) {
		buf_put_u64(&body, start);
		buf_put_u64(&body, size);
	} else {
		buf_put_u32(&body, (uint32_t)(start - (m->address + at + 8)));
		buf_put_u32(&body, size);
		buf_put(&body, "", 1);
	}
	for (size_t i = 0; i < n; i++)
		make_instruction(m, &body);
	put_entry(&m->bytes, body.bytes, body.n);
	buf_free(&body);
}

static void make(struct made *m, size_t n)
{
	while (m->bytes.n < n) {
		uint64_t what = some(m, 1000);

		if (!m->n_cies || what < 3)
			make_cie(m);
		else if (what < 6)
			buf_put_u32(&m->bytes, 0); /* a terminator */
		else
			make_fde(m);
	}
}

/* Bytes that end where they are said to: a sanitizer sees what is read behind them. */
static struct compile_section exactly(const struct made *m, size_t n, void **bytes)
{
	*bytes = malloc(n);
	assert_non_null(*bytes);
	memcpy(*bytes, m->bytes.bytes, n);
	return (struct compile_section){ *bytes, n, m->address };
}

static void made_up(void **state)
{
	for (uint64_t seed = 1; seed <= 6; seed++) {
		struct made eh = { .random = seed, .address = EH_AT, .text = TEXT_AT };
		struct made debug = { .random = seed + 100,
			              .address = DEBUG_AT,
			              .text = TEXT_AT + TEXT_SIZE / 4,
			              .is_debug_frame = true };
		struct compile_input in = input(seed == 5 ? FRAMETAB_AARCH64 : FRAMETAB_X86_64);
		void *bytes = NULL, *debug_bytes = NULL;
		struct frametab t = { 0 };
		struct buf one = { 0 };

		make(&eh, SHARE * 3 + seed * 1000);
		make(&debug, SHARE * 2 + seed * 1000);
		in.eh_frame = exactly(&eh, eh.bytes.n - seed % 3, &bytes); /* or cut */
		in.debug_frame = exactly(&debug, debug.bytes.n, &debug_bytes);
		assert_int_equal(compare(&in, &one), seed == 5 ? -ENODATA : 0);
		if (seed != 5) {
			assert_int_equal(frametab_open(&t, one.bytes, one.n, NULL), 0);
			assert_true(t.header->n_rows > 10000 && t.header->n_exprs > 0);
			assert_true(t.header->skipped > 50);
		}
		in.debug_frame.bytes = NULL;
		compare(&in, &one);
		buf_free(&one);
		free(bytes);
		free(debug_bytes);
		buf_free(&eh.bytes);
		buf_free(&debug.bytes);
	}
}

/* Borders of shares fall into one long entry, or onto one whose length is wrong: all behind it is
 * lost, as with one. */
static void long_entries(void **state)
{
	struct made m = { .random = 9, .address = EH_AT, .text = TEXT_AT };
	struct compile_input in = input(FRAMETAB_X86_64);
	struct frametab t = { 0 };
	struct buf one = { 0 };
	uint32_t rows;
	void *bytes;
	size_t at;

	make(&m, SHARE);
	buf_put_u32(&m.bytes, SHARE * 2); /* of all NOPs, of no CIE */
	buf_put_zeros(&m.bytes, SHARE * 2);
	m.bytes.bytes[m.bytes.n - SHARE * 2] = 1;
	at = m.bytes.n;
	make(&m, SHARE * 4);
	in.eh_frame = exactly(&m, m.bytes.n, &bytes);
	assert_int_equal(compare(&in, &one), 0);
	assert_int_equal(frametab_open(&t, one.bytes, one.n, NULL), 0);
	rows = t.header->n_rows;
	free(bytes);

	memset(m.bytes.bytes + at, 0xf0, 4);
	in.eh_frame = exactly(&m, m.bytes.n, &bytes);
	assert_int_equal(compare(&in, &one), 0);
	assert_int_equal(frametab_open(&t, one.bytes, one.n, NULL), 0);
	assert_true(t.header->n_rows < rows * 2 / 3);
	free(bytes);
	buf_free(&one);
	buf_free(&m.bytes);
}

static unsigned asked;

static bool is_over(const void *ctx)
{
	return __atomic_add_fetch(&asked, 1, __ATOMIC_RELAXED) > *(const unsigned *)ctx;
}

/* Whoever does not want a table any more is not kept waiting: there is none, nor a part of one. */
static void given_up(void **state)
{
	struct made m = { .random = 11, .address = EH_AT, .text = TEXT_AT };
	struct compile_input in = input(FRAMETAB_X86_64);
	unsigned most = 2;
	struct buf one = { 0 };
	void *bytes;

	make(&m, SHARE * 4);
	in.eh_frame = exactly(&m, m.bytes.n, &bytes);
	in.stopped = is_over;
	in.stopped_ctx = &most;
	for (in.threads = 1; in.threads < 4; in.threads++) {
		asked = 0;
		assert_int_equal(compile_table(&in, &one, NULL), -ECANCELED);
		assert_int_equal(one.n, 0);
		assert_true(asked <= most + in.threads);
	}
	most = UINT32_MAX;
	asked = 0;
	assert_int_equal(compile_table(&in, &one, NULL), 0);

	assert_true(asked > 4);
	free(bytes);
	buf_free(&one);
	buf_free(&m.bytes);
}

/* ---- what is remembered ---- */

static void put_fde(struct made *m, uint64_t start, uint32_t size, const struct buf *program)
{
	struct buf body = { 0 };

	buf_put_u32(&body, (uint32_t)(m->bytes.n + 4 - m->cies[0]));
	buf_put_u32(&body, (uint32_t)(start - (EH_AT + m->bytes.n + 8)));
	buf_put_u32(&body, size);
	buf_put(&body, "", 1);
	buf_put(&body, program->bytes, program->n);
	put_entry(&m->bytes, body.bytes, body.n);
	buf_free(&body);
}

static void usual_cie(struct made *m)
{
	struct buf body = { 0 };

	m->cies[m->n_cies++] = m->bytes.n;
	buf_put(&body, "\0\0\0\0\x01zR\0\x01\x78\x10\x01\x1b\x0c\x07\x08\x90\x01", 18);
	put_entry(&m->bytes, body.bytes, body.n);
	buf_free(&body);
}

#define MANY 40000u /* states: more than are remembered at once */

/* In a function of more states than are numbered at once, what it put aside and where it is are
 * kept. */
static void more_states_than_numbers(void **state)
{
	struct made m = { .address = EH_AT };
	struct compile_input in = input(FRAMETAB_X86_64);
	struct buf program = { 0 }, one = { 0 };
	struct frametab t = { 0 };
	uint64_t next = TEXT_AT + 2 * (MANY + 2);

	usual_cie(&m);
	buf_put(&program, "\x86\x03\x0e\x18\x42\x0a",
	        6); /* rbp at CFA - 24; CFA = rsp + 24; put aside */
	for (unsigned i = 0; i < MANY; i++) {
		put_op(&program, 0x0e, 32 + 8 * i);
		buf_put(&program, "\x42", 1);
	}
	buf_put(&program, "\x0b", 1);
	put_fde(&m, TEXT_AT, 2 * (MANY + 2), &program);
	buf_clear(&program);
	buf_put(&program, "\x42\x0e\x10", 3);
	put_fde(&m, next, 16, &program);
	in.eh_frame = (struct compile_section){ m.bytes.bytes, m.bytes.n, EH_AT };
	assert_int_equal(compare(&in, &one), 0);
	assert_int_equal(frametab_open(&t, one.bytes, one.n, NULL), 0);
	assert_int_equal(t.header->skipped, 0);
	for (unsigned i = 0; i < MANY; i++) {
		const struct frametab_rule *r = frametab_find(&t, TEXT_AT + 2 + 2 * i);

		assert_int_equal(r->cfa_off, 32 + 8 * i);
		assert_int_equal(r->fp_off, -24);
	}
	assert_int_equal(frametab_find(&t, TEXT_AT)->cfa_off, 24);
	assert_int_equal(frametab_find(&t, TEXT_AT + 2 + 2 * MANY)->cfa_off, 24);
	assert_int_equal(frametab_find(&t, TEXT_AT + 2 + 2 * MANY)->fp_off, -24);
	assert_int_equal(frametab_find(&t, next)->cfa_off, 8);
	assert_int_equal(frametab_find(&t, next)->fp, FRAMETAB_AT_SAME);
	assert_int_equal(frametab_find(&t, next + 2)->cfa_off, 16);
	buf_free(&program);
	buf_free(&m.bytes);
	buf_free(&one);
}

/* Steps of every length, that differ in one byte in their middle, twice over: the second time they
 * are remembered. */
static void steps_of_every_length(void **state)
{
	struct made m = { .address = EH_AT };
	struct compile_input in = input(FRAMETAB_X86_64);
	struct buf program = { 0 }, one = { 0 };
	struct frametab t = { 0 };
	uint64_t at = TEXT_AT;

	usual_cie(&m);
	for (unsigned i = 0; i < 2 * 2 * 150; i++) {
		buf_clear(&program);
		for (unsigned k = 0, n = i / 2 % 150; k < n || !k; k++) {
			if (k == n / 2)
				put_op(&program, 0x0e, i % 2 ? 64 : 32);
			if (k < n)
				put_op(&program, 0x83, 2);
		}
		buf_put(&program, "\x44", 1);
		put_op(&program, 0x0e, 8);
		put_fde(&m, at, 8, &program);
		at += 8;
	}
	in.eh_frame = (struct compile_section){ m.bytes.bytes, m.bytes.n, EH_AT };
	assert_int_equal(compare(&in, &one), 0);
	assert_int_equal(frametab_open(&t, one.bytes, one.n, NULL), 0);
	for (unsigned i = 0; i < 2 * 2 * 150; i++) {
		const struct frametab_rule *r = frametab_find(&t, TEXT_AT + 8 * i);

		assert_int_equal(r->cfa_off, i % 2 ? 64 : 32);
		assert_int_equal(r->saved, i / 2 % 150 ? 1 : 0);
		r = frametab_find(&t, TEXT_AT + 8 * i + 4);
		assert_int_equal(r->cfa_off, 8);
		assert_int_equal(r->saved, 0); /* popped */
	}
	buf_free(&program);
	buf_free(&m.bytes);
	buf_free(&one);
}

/* Each share has fewer rules than a table may have, all together more. */
static void too_many_rules(void **state)
{
	struct made m = { .address = EH_AT };
	struct compile_input in = input(FRAMETAB_X86_64);
	struct buf program = { 0 }, one = { 0 };
	uint32_t n = FRAMETAB_RULES_MAX / 64;

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
	skip(); /* four million rules: minutes, and a GB, of which the other cases say the same */
#endif
	usual_cie(&m);
	for (unsigned i = 0; i < 66; i++) {
		buf_clear(&program);
		for (uint32_t k = 0; k < n; k++) {
			put_op(&program, 0x0e, 8ULL * (i * n + k + 1));
			buf_put(&program, "\x41", 1);
		}
		put_fde(&m, TEXT_AT + (uint64_t)i * n, n, &program);
	}
	in.eh_frame = (struct compile_section){ m.bytes.bytes, m.bytes.n, EH_AT };
	in.threads = 3;
	assert_int_equal(compile_table(&in, &one, NULL), -EFBIG);
	buf_free(&program);
	buf_free(&m.bytes);
	buf_free(&one);
}

/* ---- real objects ---- */

static bool compare_object(const char *path)
{
	static const char *const names[] = { ".eh_frame", ".debug_frame", ".sframe" };
	struct compile_input in = { 0 };
	struct image_section section;
	struct buf one = { 0 };
	struct image *image;

	if (image_open(&image, path, NULL) < 0)
		return false;
	in.machine = image_machine(image);
	in.entry = image_entry(image);
	for (size_t i = 0; i < image_segments(image) && in.n_ranges < COMPILE_RANGES_MAX; i++) {
		const struct image_segment *s = image_segment_at(image, i);

		if (s->executable)
			in.ranges[in.n_ranges++] =
			        (struct compile_range){ s->vaddr, s->vaddr + s->memory_size };
	}
	for (size_t i = 0; i < 3; i++) {
		if (image_section(image, names[i], &section) >= 0 && section.bytes)
			*(i == 0   ? &in.eh_frame
			  : i == 1 ? &in.debug_frame
			           : &in.sframe) =
			        (struct compile_section){ section.bytes, section.n, section.vaddr };
	}
	assert_int_equal(compare(&in, &one), 0);
	buf_free(&one);
	image_close(image);
	return in.eh_frame.n >= 2 * CFI_SHARE_BYTES;
}

/* Those that are there. */
static void real_objects(void **state)
{
	static const char *const paths[] = {
		"/lib/x86_64-linux-gnu/libc.so.6",      "/usr/lib/gcc/x86_64-linux-gnu/12/cc1",
		"/usr/lib/gcc/x86_64-linux-gnu/14/cc1", "/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1",
		"/usr/lib/chromium/chromium",
	};
	unsigned shared = 0;

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		if (!access(paths[i], R_OK))
			shared += compare_object(paths[i]);
	}
	if (!shared)
		skip();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(made_up),
		cmocka_unit_test(long_entries),
		cmocka_unit_test(given_up),
		cmocka_unit_test(more_states_than_numbers),
		cmocka_unit_test(steps_of_every_length),
		cmocka_unit_test(too_many_rules),
		cmocka_unit_test(real_objects),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
