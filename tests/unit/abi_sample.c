// SPDX-License-Identifier: MIT
/*
 * abi_sample.c: samples of every field, from literal bytes; then random attrs and samples that are
 * encoded, decoded, swapped and cut. Records lie in heap blocks of exactly their size, so that a
 * read past the end is seen by the sanitizer.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../swap.h"
#include "abi/encode.h"
#include "abi/redecode.h"
#include "abi/print.h"
#include "abi_fixture.h"

static void fixture_events(struct fixture *f)
{
	seam_events_free(f->events);
	assert_int_equal(seam_events_new(&f->events), 0);
	assert_int_equal(seam_events_add(f->events, &f->attr, "e", NULL, 0, NULL), 0);
}

#define WORD(v) buf_put_u64(&f.bytes, v)
#define PAIR(a, b) (buf_put_u32(&f.bytes, a), buf_put_u32(&f.bytes, b))

/* Every field once, in the order of the facts page, written by hand. */
static void sample_every_field(void **state)
{
	struct fixture f = { .attr = { .sample_type = (1ULL << 25) - 1 - SEAM_SAMPLE_WEIGHT,
		                       .read_format = 31,
		                       .branch_sample_type = 1ULL << 17 | 1ULL << 19,
		                       .sample_regs_user = 0x105,
		                       .sample_regs_intr = 2 } };
	struct seam_sample *s = &f.d.sample;
	size_t start;

	fixture_events(&f);
	start = encode_begin(&f.bytes, SEAM_RECORD_SAMPLE, 2);
	WORD(101); /* IDENTIFIER */
	WORD(0x102);
	PAIR(103, 104);
	WORD(105);
	WORD(0x106);
	WORD(107); /* ID */
	WORD(108); /* STREAM_ID */
	PAIR(109, 0);
	WORD(110);                       /* PERIOD */
	WORD(2), WORD(111), WORD(112);   /* READ: nr, enabled, running */
	WORD(113), WORD(114), WORD(115); /* value, id, lost */
	WORD(116), WORD(117), WORD(118);
	WORD(3), WORD(SEAM_CONTEXT_USER), WORD(0x119), WORD(0x120); /* CALLCHAIN */
	buf_put_u32(&f.bytes, 4), buf_put(&f.bytes, "raw!", 4);
	WORD(1), WORD(121), WORD(0x122), WORD(0x123), WORD(0x124), WORD(125); /* BRANCH_STACK */
	WORD(2), WORD(126), WORD(127), WORD(128);                             /* REGS_USER */
	WORD(16), WORD(129), WORD(130), WORD(8);                              /* STACK_USER */
	WORD(131ULL | 132ULL << 32 | 133ULL << 48);                           /* WEIGHT_STRUCT */
	WORD(134), WORD(135); /* DATA_SRC, TRANSACTION */
	WORD(1), WORD(136);   /* REGS_INTR */
	WORD(137), WORD(138), WORD(139), WORD(140);
	WORD(8), buf_put(&f.bytes, "auxauxau", 8);
	assert_int_equal(encode_end(&f.bytes, start), 0);

	assert_int_equal(fixture_decode(&f, f.bytes.n, false), 0);
	assert_ptr_equal(s->event, seam_events_at(f.events, 0));
	assert_ptr_equal(f.d.event, s->event);
	assert_int_equal(s->id.id, 107);
	assert_int_equal(s->ip, 0x102);
	assert_int_equal(s->id.pid, 103);
	assert_int_equal(s->id.tid, 104);
	assert_int_equal(s->id.time_ns, 105);
	assert_int_equal(s->addr, 0x106);
	assert_int_equal(s->id.stream_id, 108);
	assert_int_equal(s->id.cpu, 109);
	assert_int_equal(s->id.has, SEAM_SAMPLE_TID | SEAM_SAMPLE_TIME | SEAM_SAMPLE_ID |
	                                    SEAM_SAMPLE_STREAM_ID | SEAM_SAMPLE_CPU |
	                                    SEAM_SAMPLE_IDENTIFIER);
	assert_memory_equal(&s->id, &f.d.id, sizeof(s->id));
	assert_int_equal(s->period, 110);
	assert_int_equal(s->read.n, 2);
	assert_int_equal(s->read.time_enabled, 111);
	assert_int_equal(s->read.time_running, 112);
	assert_int_equal(seam_read_at(&s->read, 0).value, 113);
	assert_int_equal(seam_read_at(&s->read, 0).id, 114);
	assert_int_equal(seam_read_at(&s->read, 0).lost, 115);
	assert_int_equal(seam_read_at(&s->read, 1).value, 116);
	assert_int_equal(seam_read_at(&s->read, 1).lost, 118);
	assert_int_equal(s->callchain.n, 3);
	assert_int_equal(seam_u64s_at(&s->callchain, 0), SEAM_CONTEXT_USER);
	assert_int_equal(seam_u64s_at(&s->callchain, 2), 0x120);
	assert_int_equal(s->raw.n, 4);
	assert_memory_equal(s->raw.bytes, "raw!", 4);
	assert_int_equal(s->branches.n, 1);
	assert_true(s->branches.has_hw_idx);
	assert_int_equal(s->branches.hw_idx, 121);
	assert_int_equal(seam_u64s_at(&s->branches.entries, 0), 0x122);
	assert_int_equal(seam_u64s_at(&s->branches.entries, 2), 0x124);
	assert_int_equal(s->branches.counters.n, 1);
	assert_int_equal(seam_u64s_at(&s->branches.counters, 0), 125);
	assert_int_equal(s->regs_user.abi, 2);
	assert_int_equal(s->regs_user.mask, 0x105);
	assert_int_equal(s->regs_user.values.n, 3);
	assert_int_equal(seam_u64s_at(&s->regs_user.values, 2), 128);
	assert_int_equal(s->stack_user_size, 16);
	assert_int_equal(s->stack_user.n, 8);
	assert_int_equal(s->stack_user.bytes[0], 129);
	assert_int_equal(s->weight, 131);
	assert_int_equal(s->weight2, 132);
	assert_int_equal(s->weight3, 133);
	assert_int_equal(s->data_src, 134);
	assert_int_equal(s->transaction, 135);
	assert_int_equal(s->regs_intr.abi, 1);
	assert_int_equal(seam_u64s_at(&s->regs_intr.values, 0), 136);
	assert_int_equal(s->phys_addr, 137);
	assert_int_equal(s->cgroup, 138);
	assert_int_equal(s->data_page_size, 139);
	assert_int_equal(s->code_page_size, 140);
	assert_int_equal(s->aux.n, 8);
	assert_memory_equal(s->aux.bytes, "auxauxau", 8);
	fixture_free(&f);
}

/* A big-endian machine's sample, byte for byte. */
static void sample_big_endian_literal(void **state)
{
	static const unsigned char bytes[] = {
		0,    0,    0,    9,    0,    2,    0,    48, /* SAMPLE, USER, 48 bytes */
		0,    0,    0x7f, 0,    0,    0,    0x12, 0x34,
		0,    0,    0,    7,    0,    0,    0,    8, /* pid, tid */
		0,    0,    0,    0,    0,    0,    0,    2, /* two ips */
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfd, 0x80,
		0,    0,    0,    3,    0,    0,    0,    2,
	};
	struct fixture f = { .attr = { .sample_type = SEAM_SAMPLE_IP | SEAM_SAMPLE_TID |
		                                      SEAM_SAMPLE_CALLCHAIN } };
	bool swap = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;

	fixture_events(&f);
	buf_put(&f.bytes, bytes, sizeof(bytes));
	assert_int_equal(fixture_decode(&f, sizeof(bytes), swap), 0);
	assert_int_equal(f.d.sample.ip, 0x7f0000001234);
	assert_int_equal(f.d.sample.id.pid, 7);
	assert_int_equal(f.d.sample.id.tid, 8);
	assert_int_equal(f.d.sample.callchain.n, 2);
	assert_int_equal(seam_u64s_at(&f.d.sample.callchain, 0), SEAM_CONTEXT_USER_DEFERRED);
	assert_int_equal(seam_u64s_at(&f.d.sample.callchain, 1), 0x300000002);
	fixture_free(&f);
}

static void sample_defaults(void **state)
{
	struct fixture f = { .attr = { .sample_type = SEAM_SAMPLE_IP, .sample_period = 4000 } };

	fixture_events(&f);
	encode_sample(&f.bytes, &f.attr, 2, &(struct seam_sample){ .ip = 5 });
	assert_int_equal(fixture_decode(&f, f.bytes.n, false), 0);
	assert_int_equal(f.d.sample.period, 4000);
	assert_int_equal(f.d.sample.id.has, 0);
	assert_int_equal(f.d.sample.id.pid, UINT32_MAX);
	assert_int_equal(f.d.sample.id.cpu, UINT32_MAX);
	f.attr.flags = SEAM_ATTR_FREQ; /* 4000 are Hz now: no period is known */
	fixture_events(&f);
	assert_int_equal(fixture_decode(&f, f.bytes.n, false), 0);
	assert_int_equal(f.d.sample.period, 1);
	fixture_free(&f);
}

/* A kernel without branches to give writes nr = 0 and no hw_idx; with some, hw_idx is there. */
static void sample_empty_branches(void **state)
{
	struct fixture f = { .attr = { .sample_type =
		                               SEAM_SAMPLE_BRANCH_STACK | SEAM_SAMPLE_PHYS_ADDR,
		                       .branch_sample_type = 1ULL << 17 } };
	struct seam_sample s = { .phys_addr = 77 };

	fixture_events(&f);
	assert_int_equal(encode_sample(&f.bytes, &f.attr, 2, &s), 0);
	assert_int_equal(f.bytes.n, 24);
	assert_int_equal(fixture_decode(&f, 24, false), 0);
	assert_false(f.d.sample.branches.has_hw_idx);
	assert_int_equal(f.d.sample.phys_addr, 77);
	s.branches.has_hw_idx = true;
	s.branches.hw_idx = 9;
	buf_clear(&f.bytes);
	assert_int_equal(encode_sample(&f.bytes, &f.attr, 2, &s), 0);
	assert_int_equal(f.bytes.n, 32);
	assert_int_equal(fixture_decode(&f, 32, false), 0);
	assert_true(f.d.sample.branches.has_hw_idx);
	assert_int_equal(f.d.sample.branches.hw_idx, 9);
	assert_int_equal(f.d.sample.phys_addr, 77);
	assert_int_equal(f.err.code, 0);
	fixture_free(&f);
}

/* One sample type, one body, the sentence that must come. */
static void lie(uint64_t type, const uint64_t *words, size_t n, const char *text)
{
	struct fixture f = { .attr = { .sample_type = type, .sample_regs_user = 7 } };
	size_t start;

	fixture_events(&f);
	start = encode_begin(&f.bytes, SEAM_RECORD_SAMPLE, 2);
	buf_put(&f.bytes, words, n * 8);
	encode_end(&f.bytes, start);
	assert_int_equal(fixture_decode(&f, f.bytes.n, false), -EBADMSG);
	assert_int_equal(f.err.code, EBADMSG);
	assert_int_equal(f.err.offset, 0x1a38);
	assert_string_equal(f.err.what, "SAMPLE");
	assert_string_equal(f.err.text, text);
	assert_ptr_equal(f.d.record, &f.record);
	assert_null(f.d.event);
	fixture_free(&f);
}

#define LIE(type, text, ...)                         \
	lie(type, (const uint64_t[]){ __VA_ARGS__ }, \
	    sizeof((const uint64_t[]){ __VA_ARGS__ }) / 8, "offset 0x1a38: SAMPLE: " text)

static void sample_lies(void **state)
{
	LIE(SEAM_SAMPLE_CALLCHAIN, "callchain: nr is 60000, room for 2", 60000, 1, 2);
	LIE(SEAM_SAMPLE_CALLCHAIN, "callchain: nr is 3, room for 2", 3, 1, 2);
	LIE(SEAM_SAMPLE_CALLCHAIN, "callchain: nr is 2305843009213693953, room for 1",
	    0x2000000000000001, 1); /* times 8 it would be 8 */
	LIE(SEAM_SAMPLE_RAW, "raw: 13 bytes, room for 12", 13, 0);
	LIE(SEAM_SAMPLE_RAW, "raw: 11 bytes, which leaves the next field unaligned", 11, 0);
	LIE(SEAM_SAMPLE_BRANCH_STACK, "branch stack: nr is 2, room for 1", 2, 1, 2, 3);
	LIE(SEAM_SAMPLE_BRANCH_STACK, "branch stack: nr is 768614336404564651, room for 1",
	    0xaaaaaaaaaaaaaab, 1, 2, 3); /* times 24 it would be 8 */
	LIE(SEAM_SAMPLE_REGS_USER, "user regs: 3 registers, room for 2", 2, 1, 2);
	LIE(SEAM_SAMPLE_STACK_USER, "user stack: 16 bytes, room for 8", 16, 1, 2);
	LIE(SEAM_SAMPLE_STACK_USER, "user stack: 9 bytes copied of 8", 8, 1, 9);
	LIE(SEAM_SAMPLE_STACK_USER, "user stack: 18446744073709551615 bytes, room for 0", ~0ULL);
	LIE(SEAM_SAMPLE_AUX, "aux: 9 bytes, room for 8", 9, 1);
	LIE(SEAM_SAMPLE_TIME | SEAM_SAMPLE_TID, "16 bytes, need 24", 1);
}

static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static uint64_t pool[4096]; /* random words that samples point into */

static struct seam_u64s random_words(uint64_t n)
{
	return encode_words(pool, n);
}

static struct seam_attr random_attr(uint64_t *rng)
{
	struct seam_attr a = {
		.sample_type = next_random(rng) & ((1ULL << 25) - 1),
		.read_format = next_random(rng) & 31,
		.sample_period = next_random(rng),
		.branch_sample_type = next_random(rng) & (1ULL << 17 | 1ULL << 19),
		.sample_regs_user = next_random(rng) & next_random(rng),
		.sample_regs_intr = next_random(rng) & next_random(rng),
		.flags = next_random(rng) & SEAM_ATTR_SAMPLE_ID_ALL,
	};

	if (next_random(rng) & 1) /* few fields, as real recordings have */
		a.sample_type &= next_random(rng) & next_random(rng);
	if (a.sample_type & SEAM_SAMPLE_WEIGHT)
		a.sample_type &= ~SEAM_SAMPLE_WEIGHT_STRUCT;
	return a;
}

static struct seam_regs random_regs(uint64_t *rng, uint64_t mask)
{
	struct seam_regs r = { .abi = next_random(rng) % 3, .mask = mask };

	if (r.abi)
		r.values = random_words((uint64_t)__builtin_popcountll(mask));
	return r;
}

static struct seam_sample random_sample(uint64_t *rng, const struct seam_attr *a)
{
	uint64_t format = a->read_format;
	uint64_t each = 1 + !!(format & SEAM_FORMAT_ID) + !!(format & SEAM_FORMAT_LOST);
	bool group = format & SEAM_FORMAT_GROUP;
	struct seam_sample s = {
		.id = { .pid = (uint32_t)next_random(rng),
		        .tid = (uint32_t)next_random(rng),
		        .time_ns = next_random(rng),
		        .id = next_random(rng),
		        .stream_id = next_random(rng),
		        .cpu = (uint32_t)next_random(rng) },
		.ip = next_random(rng),
		.addr = next_random(rng),
		.period = next_random(rng),
		.callchain = random_words(next_random(rng) % 40),
		.raw = { .bytes = (unsigned char *)pool, .n = 4 + next_random(rng) % 5 * 8 },
		.regs_user = random_regs(rng, a->sample_regs_user),
		.regs_intr = random_regs(rng, a->sample_regs_intr),
		.weight = next_random(rng),
		.data_src = next_random(rng),
		.weight2 = (uint16_t)next_random(rng),
		.weight3 = (uint16_t)next_random(rng),
		.transaction = next_random(rng),
		.phys_addr = next_random(rng),
		.cgroup = next_random(rng),
		.data_page_size = next_random(rng),
		.code_page_size = next_random(rng),
		.aux = { .bytes = (unsigned char *)pool, .n = next_random(rng) % 5 * 8 },
	};

	s.read = (struct seam_read){ .n = group ? next_random(rng) % 4 : 1,
		                     .time_enabled = next_random(rng),
		                     .time_running = next_random(rng) };
	s.read.values =
	        random_words(group ? s.read.n * each : each + (format & 1) + (format >> 1 & 1));
	s.branches.n = next_random(rng) % 4;
	s.branches.hw_idx = next_random(rng);
	s.branches.has_hw_idx = true;
	s.branches.entries = random_words(s.branches.n * 3);
	if (a->branch_sample_type & 1ULL << 19)
		s.branches.counters = random_words(s.branches.n);
	s.stack_user_size = next_random(rng) % 4 * 8;
	s.stack_user =
	        (struct seam_bytes){ .bytes = (unsigned char *)pool, .n = s.stack_user_size / 2 };
	return s;
}

static void same_words(const struct seam_u64s *a, const struct seam_u64s *b)
{
	assert_int_equal(a->n, b->n);
	for (uint64_t i = 0; i < a->n; i++)
		assert_int_equal(seam_u64s_at(a, i), seam_u64s_at(b, i));
}

#define SAME(bits, field)                                     \
	do {                                                  \
		if (type & (bits))                            \
			assert_int_equal(a->field, b->field); \
	} while (0)

/* Whatever the type says is there is the same in both. */
static void same_sample(uint64_t type, const struct seam_sample *a, const struct seam_sample *b)
{
	SAME(SEAM_SAMPLE_IP, ip);
	SAME(SEAM_SAMPLE_TID, id.pid);
	SAME(SEAM_SAMPLE_TID, id.tid);
	SAME(SEAM_SAMPLE_TIME, id.time_ns);
	SAME(SEAM_SAMPLE_ID | SEAM_SAMPLE_IDENTIFIER, id.id);
	SAME(SEAM_SAMPLE_STREAM_ID, id.stream_id);
	SAME(SEAM_SAMPLE_CPU, id.cpu);
	SAME(SEAM_SAMPLE_ADDR, addr);
	SAME(SEAM_SAMPLE_PERIOD, period);
	SAME(SEAM_SAMPLE_READ, read.n);
	SAME(SEAM_SAMPLE_RAW, raw.n);
	SAME(SEAM_SAMPLE_BRANCH_STACK, branches.n);
	SAME(SEAM_SAMPLE_REGS_USER, regs_user.abi);
	SAME(SEAM_SAMPLE_REGS_INTR, regs_intr.abi);
	SAME(SEAM_SAMPLE_STACK_USER, stack_user_size);
	SAME(SEAM_SAMPLE_STACK_USER, stack_user.n);
	SAME(SEAM_SAMPLE_WEIGHT, weight);
	SAME(SEAM_SAMPLE_WEIGHT_STRUCT, weight2);
	SAME(SEAM_SAMPLE_WEIGHT_STRUCT, weight3);
	SAME(SEAM_SAMPLE_DATA_SRC, data_src);
	SAME(SEAM_SAMPLE_TRANSACTION, transaction);
	SAME(SEAM_SAMPLE_PHYS_ADDR, phys_addr);
	SAME(SEAM_SAMPLE_CGROUP, cgroup);
	SAME(SEAM_SAMPLE_DATA_PAGE_SIZE, data_page_size);
	SAME(SEAM_SAMPLE_CODE_PAGE_SIZE, code_page_size);
	SAME(SEAM_SAMPLE_AUX, aux.n);
	if (type & SEAM_SAMPLE_WEIGHT_STRUCT)
		assert_int_equal((uint32_t)a->weight, b->weight);
	if (type & SEAM_SAMPLE_CALLCHAIN)
		same_words(&a->callchain, &b->callchain);
	if (type & SEAM_SAMPLE_READ)
		same_words(&a->read.values, &b->read.values);
	if (type & SEAM_SAMPLE_REGS_USER)
		same_words(&a->regs_user.values, &b->regs_user.values);
	if (type & SEAM_SAMPLE_REGS_INTR)
		same_words(&a->regs_intr.values, &b->regs_intr.values);
	if (type & SEAM_SAMPLE_BRANCH_STACK)
		same_words(&a->branches.counters, &b->branches.counters);
	if (type & SEAM_SAMPLE_AUX && a->aux.n)
		assert_memory_equal(a->aux.bytes, b->aux.bytes, a->aux.n);
	if (type & SEAM_SAMPLE_STACK_USER && a->stack_user.n)
		assert_memory_equal(a->stack_user.bytes, b->stack_user.bytes, a->stack_user.n);
}

static char *as_json(struct fixture *f, struct buf *out)
{
	buf_clear(out);
	assert_int_equal(print_record_json(out, f->events, &f->record, NULL, NULL), 0);
	return strdup(buf_text(out));
}

/* encode, decode: the same. Decode and encode again: the same bytes. Swapped: the same JSON. */
static void sample_round_trip(void **state)
{
	uint64_t rng = 20261121;
	struct buf again = { 0 }, text = { 0 };

	for (size_t i = 0; i < 4096; i++)
		pool[i] = next_random(&rng);
	for (int round = 0; round < 4000; round++) {
		struct fixture f = { .attr = random_attr(&rng) };
		struct seam_sample s = random_sample(&rng, &f.attr);
		char *native, *swapped;

		fixture_events(&f);
		assert_int_equal(encode_sample(&f.bytes, &f.attr, 1, &s), 0);
		assert_int_equal(fixture_decode(&f, f.bytes.n, false), 0);
		same_sample(f.attr.sample_type, &s, &f.d.sample);
		buf_clear(&again);
		assert_int_equal(encode_sample(&again, &f.attr, 1, &f.d.sample), 0);
		assert_int_equal(again.n, f.bytes.n);
		assert_memory_equal(again.bytes, f.bytes.bytes, again.n);
		native = as_json(&f, &text);
		swap_record(f.bytes.bytes, f.bytes.n, &f.attr);
		assert_int_equal(fixture_decode(&f, f.bytes.n, true), 0);
		same_sample(f.attr.sample_type, &s, &f.d.sample);
		swapped = as_json(&f, &text);
		assert_string_equal(native, swapped);
		free(native);
		free(swapped);
		fixture_free(&f);
	}
	buf_free(&again);
	buf_free(&text);
}

/* Every cut of random samples: an error, or less; the sanitizer sees any byte read outside. */
static void sample_cut(void **state)
{
	uint64_t rng = 6;
	unsigned refused = 0, cuts = 0;

	for (int round = 0; round < 60; round++) {
		struct fixture f = { .attr = random_attr(&rng) };
		struct seam_sample s = random_sample(&rng, &f.attr);

		fixture_events(&f);
		assert_int_equal(encode_sample(&f.bytes, &f.attr, 1, &s), 0);
		for (size_t n = 8; n < f.bytes.n; n++) {
			struct buf out = { 0 };
			int r = fixture_decode(&f, n, false);

			assert_true(r == 0 || r == -EBADMSG);
			refused += r < 0;
			cuts++;
			assert_true(print_record(&out, f.events, &f.record, NULL, NULL) == r);
			buf_free(&out);
		}
		fixture_free(&f);
	}
	/* A cut is decoded only where what is left makes a whole sample: an empty branch stack. */
	assert_true(refused > cuts * 9 / 10);
}

#define NO_FIELD(s)                                                                         \
	(!(s)->raw.n && !(s)->branches.n && !(s)->regs_user.abi && !(s)->stack_user_size && \
	 !(s)->regs_intr.abi && !(s)->weight && !(s)->aux.n && !(s)->read.n)

/* A sample into the place of another of its event, whole, swapped or cut: what decoding afresh
 * says, or nothing. */
static void sample_again(void **state)
{
	const uint64_t plain = SEAM_SAMPLE_IDENTIFIER | SEAM_SAMPLE_IP | SEAM_SAMPLE_TID |
	                       SEAM_SAMPLE_TIME | SEAM_SAMPLE_ADDR | SEAM_SAMPLE_ID |
	                       SEAM_SAMPLE_STREAM_ID | SEAM_SAMPLE_CPU | SEAM_SAMPLE_PERIOD |
	                       SEAM_SAMPLE_CALLCHAIN;
	unsigned taken = 0, left = 0;
	uint64_t rng = 77;

	for (int round = 0; round < 600; round++) {
		struct fixture f = { .attr = random_attr(&rng) };
		bool swap = next_random(&rng) & 1;
		struct seam_decoded into, before;
		struct seam_sample s;
		size_t whole;

		if (round % 3)
			f.attr.sample_type &= plain;
		s = random_sample(&rng, &f.attr);
		fixture_events(&f);
		assert_int_equal(encode_sample(&f.bytes, &f.attr, 1, &s), 0);
		assert_int_equal(fixture_decode(&f, f.bytes.n, false), 0);
		into = f.d;
		buf_clear(&f.bytes);
		s = random_sample(&rng, &f.attr);
		assert_int_equal(encode_sample(&f.bytes, &f.attr, 2, &s), 0);
		whole = f.bytes.n;
		if (swap)
			swap_record(f.bytes.bytes, f.bytes.n, &f.attr);
		for (size_t n = whole;; n = next_random(&rng) % (whole - 7) + 8) {
			int r = fixture_decode(&f, n, swap);
			bool done;

			memcpy(&before, &into, sizeof(into));
			done = redecode_sample(f.events, &f.record, seam_events_at(f.events, 0),
			                       &into);
			assert_int_equal(done, r == 0 && !(f.attr.sample_type & ~plain));
			taken += done;
			left += !done;
			if (!done) {
				assert_memory_equal(&into, &before, sizeof(into));
			} else {
				assert_ptr_equal(into.record, &f.record);
				assert_ptr_equal(into.event, f.d.event);
				assert_int_equal(into.id.has, f.d.id.has);
				assert_int_equal(into.id.pid, f.d.id.pid);
				assert_int_equal(into.id.cpu, f.d.id.cpu);
				assert_int_equal(into.id.time_ns, f.d.id.time_ns);
				assert_int_equal(into.sample.period, f.d.sample.period);
				assert_true(NO_FIELD(&into.sample));
				same_sample(f.attr.sample_type, &f.d.sample, &into.sample);
			}
			if (n < whole || whole == 8)
				break;
		}
		fixture_free(&f);
	}
	assert_true(taken > 300 && left > 300);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sample_every_field), cmocka_unit_test(sample_big_endian_literal),
		cmocka_unit_test(sample_defaults),    cmocka_unit_test(sample_empty_branches),
		cmocka_unit_test(sample_lies),        cmocka_unit_test(sample_round_trip),
		cmocka_unit_test(sample_cut),         cmocka_unit_test(sample_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
