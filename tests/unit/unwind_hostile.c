// SPDX-License-Identifier: MIT
// unwind_hostile.c: damaged tables, memory of random words, and a stack that changes under a trail.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "unwind/walk.h"

#include "unwind_eh.h"

static uint64_t seed = 88172645463325252ULL;

static uint64_t random_u64(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static void resign(struct buf *b)
{
	struct frametab_header h;

	memcpy(&h, b->bytes, sizeof(h));
	h.checksum = map_hash_bytes(b->bytes + sizeof(h), b->n - sizeof(h), h.text_start);
	memcpy(b->bytes, &h, sizeof(h));
}

/* Damaged blobs are refused, or, when the damage is signed again, stay searchable within their
 * bytes. */
static void damaged_tables(void **state)
{
	struct compile_input in = input(FRAMETAB_X86_64);
	struct seam_error err;
	struct buf eh = { 0 };
	unsigned char *copy;
	size_t cie = put_cie(&eh, "zR");
	unsigned opened = 0;
	struct frametab t = { 0 };

	for (unsigned i = 0; i < 40; i++)
		put_fde(&eh, cie, TEXT_AT + 0x400 * i, 0x380,
		        "\x41\x0e\x10\x86\x02\x43\x0d\x06\x41\x83\x03", 11);
	compile(&in, &eh);
	copy = malloc(blob.n);
	for (unsigned round = 0; round < 20000; round++) {
		size_t at = random_u64() % blob.n;
		struct buf b = { .bytes = copy, .n = blob.n, .capacity = blob.n };

		memcpy(copy, blob.bytes, blob.n);
		copy[at] ^= (unsigned char)(1u << random_u64() % 8);
		if (at >= sizeof(struct frametab_header))
			assert_int_equal(frametab_open(&t, copy, blob.n, &err), -EBADMSG);
		resign(&b);
		if (frametab_open(&t, copy, blob.n, &err) < 0)
			continue;
		opened++;
		for (uint64_t pc = TEXT_AT - 0x800; pc < TEXT_AT + 0xb000; pc += 0x93)
			assert_in_range(frametab_find(&t, pc)->cfa, FRAMETAB_CFA_NONE,
			                FRAMETAB_CFA_EXPR);
	}
	assert_true(opened > 1000);
	for (size_t n = 0; n < blob.n; n += 3)
		assert_int_equal(frametab_open(&t, blob.bytes, n, &err), -EBADMSG);
	free(copy);
	buf_free(&eh);
}

/* Memory of random words, half of which point into the text or the stack itself: the walk ends,
 * within its limit. */
static struct frametab hostile;

static int hostile_read(void *ctx, uint64_t address, uint64_t *ret)
{
	if (random_u64() % 16 == 0)
		return random_u64() % 2 ? -EFAULT : -ENODATA;
	*ret = random_u64() % 2 ? TEXT_AT + random_u64() % 0xb000
	                        : 0x7ffe0000 + random_u64() % 0x10000;
	return 0;
}

static int hostile_find(void *ctx, uint64_t pc, struct walk_place *ret)
{
	if (pc < TEXT_AT || pc >= TEXT_AT + 0x10000)
		return -ENOENT;
	*ret = (struct walk_place){ &hostile, frametab_find(&hostile, pc), pc % 2 };
	return 0;
}

static void hostile_memory(void **state)
{
	static const char other[] = "\x0f\x05\x77\x10\x06\x06\x06";
	struct walk_options options = { .machine = FRAMETAB_X86_64, .max_frames = 100 };
	struct walk_memory memory = { .read = hostile_read, .find = hostile_find };
	struct compile_input in = input(FRAMETAB_X86_64);
	unsigned ends[WALK_ENDS] = { 0 };
	uint64_t frames[101];
	struct buf eh = { 0 };
	size_t cie = put_cie(&eh, "zR");
	struct walk walk;

	for (unsigned i = 0; i < 40; i++)
		put_fde(&eh, cie, TEXT_AT + 0x400 * i, 0x380, "\x0d\x06\x86\x02\x41\x83\x03", 7);
	put_fde(&eh, cie, TEXT_AT + 0xa000, 0x400, other, sizeof(other) - 1);
	hostile = compile(&in, &eh);
	frames[100] = 0x5ea3;
	for (unsigned round = 0; round < 20000; round++) {
		struct walk_registers regs = { .known = (1u << 17) - 1 };

		for (unsigned i = 0; i < 17; i++)
			regs.value[i] = 0x7ffe0000 + random_u64() % 0x10000;
		regs.value[16] = TEXT_AT + random_u64() % 0xb000;
		walk_stack(&options, &memory, &regs, frames, &walk);
		assert_in_range(walk.n, 1, 100);
		assert_in_range(walk.n_sure, 0, walk.n);
		assert_int_equal(frames[100], 0x5ea3);
		ends[walk.end]++;
	}
	assert_true(ends[WALK_TRUNCATED] && ends[WALK_BAD_MEMORY] && ends[WALK_NO_PROGRESS] &&
	            ends[WALK_NO_INFO]);
	buf_free(&eh);
}

/* A stack that changes in a few words between walks: with a trail the answers are those without
 * one. */
#define WALK_CACHE_STACK 512u

struct walk_cache_memory {
	uint64_t words[WALK_CACHE_STACK];
	uint64_t finds;
};

static int walk_cache_read(void *ctx, uint64_t address, uint64_t *ret)
{
	const struct walk_cache_memory *m = ctx;
	uint64_t at = address - 0x7ffe0000;

	if (address < 0x7ffe0000 || at > sizeof(m->words) - 8)
		return at < 1 << 20 ? -ENODATA : -EFAULT;
	memcpy(ret, (const char *)m->words + at, 8);
	return 0;
}

static int walk_cache_find(void *ctx, uint64_t pc, struct walk_place *ret)
{
	struct walk_cache_memory *m = ctx;

	m->finds++;
	return hostile_find(NULL, pc, ret);
}

static uint64_t trail_random_word(void)
{
	switch (random_u64() % 8) {
	case 0:
		return random_u64() % 4 ? 0x7ffe0000 + random_u64() % (WALK_CACHE_STACK * 8) / 8 * 8
		                        : 0;
	case 1:
		return random_u64();
	default:
		return TEXT_AT + random_u64() % 0xb000;
	}
}

static void trail_changes_nothing(void **state)
{
	static const char saves[] =
	        "\x41\x0e\x20\x83\x02\x86\x03\x41\x0d\x03"; /* then CFA by rbx */
	static struct walk_cache_memory m;
	struct compile_input in = input(FRAMETAB_X86_64);
	struct walk_registers regs = { .known = (1u << 17) - 1 };
	uint64_t frames[2][64], finds[2] = { 0 }, sp = 0, n = 0;
	struct walk_cache *cache;
	struct buf eh = { 0 };
	size_t cie = put_cie(&eh, "zR"), equal = 0;

	for (unsigned i = 0; i < 40; i++)
		put_fde(&eh, cie, TEXT_AT + 0x400 * i, 0x380,
		        i % 5 == 4   ? saves
		        : i % 5 == 3 ? "\x0d\x06\x86\x02\x41\x83\x03"
		        : i % 5 == 2 ? "\x0e\x18\x86\x03\x41\x83\x02"
		                     : "\x0e\x10\x41\x0e\x30\x42\x0e",
		        i % 5 == 4                 ? sizeof(saves) - 1
		        : i % 5 == 2 || i % 5 == 3 ? 7
		                                   : 6);
	hostile = compile(&in, &eh);
	for (unsigned i = 0; i < WALK_CACHE_STACK; i++)
		m.words[i] = trail_random_word();
	assert_int_equal(walk_cache_new(&cache), 0);
	for (unsigned round = 0; round < 100000; round++) {
		struct walk_options options = { .machine = FRAMETAB_X86_64,
			                        .marks = true,
			                        .max_frames = random_u64() % 8 ? 64 : 5 };
		struct walk_memory memory = { .ctx = &m,
			                      .read = walk_cache_read,
			                      .find = walk_cache_find };
		struct walk walk[2];

		for (unsigned i = 0; i < random_u64() % 3; i++)
			m.words[random_u64() % WALK_CACHE_STACK] = trail_random_word();
		/* The same place again, or another in the same frame, or anything. */
		for (unsigned i = 0; i < 16 && round % 4 == 0; i++)
			regs.value[i] = 0x7ffe0000 + random_u64() % WALK_CACHE_STACK * 8;
		if (round % 4 == 0) {
			sp = random_u64() % 64 * 8;
			n = sizeof(m.words) - sp - random_u64() % 64 * 8;
			regs.value[7] = 0x7ffe0000 + sp;
		}
		if (round % 2 == 0)
			regs.value[16] = TEXT_AT + random_u64() % 0xb000;
		for (unsigned with = 0; with < 2; with++) {
			m.finds = 0;
			if (with) {
				memory.cache = cache;
				memory.window = (const unsigned char *)m.words + sp;
				memory.start = 0x7ffe0000 + sp;
				memory.n_window = n;
				walk_cache_ask(cache, &memory);
			}
			walk_stack(&options, &memory, &regs, frames[with], &walk[with]);
			finds[with] += m.finds;
		}
		assert_int_equal(walk[0].n, walk[1].n);
		assert_int_equal(walk[0].n_sure, walk[1].n_sure);
		assert_int_equal(walk[0].end, walk[1].end);
		assert_int_equal(walk[0].end_pc, walk[1].end_pc);
		assert_int_equal(walk[0].needed, walk[1].needed);
		assert_memory_equal(frames[0], frames[1], walk[0].n * sizeof(frames[0][0]));
		equal += walk[0].n > 3;
	}
	assert_true(equal > 10000);
	assert_true(finds[1] + 20000 < finds[0]); /* it was followed */
	walk_cache_free(cache);
	buf_free(&eh);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(damaged_tables),
		cmocka_unit_test(hostile_memory),
		cmocka_unit_test(trail_changes_nothing),
	};

	return cmocka_run_group_tests_name("unwind_hostile", tests, NULL, free_blob);
}
