/* SPDX-License-Identifier: MIT */
/*
 * unwind_check.h: what must hold of any table and any walk, whatever bytes they came from: for the
 * fuzz targets fuzz_{ehframe,debugframe,sframe,frametab,walk}.c.
 *
 *	scripts/fuzz SECONDS ehframe debugframe sframe frametab walk
 *
 * tests/unit/unwind_corpus.c runs their corpora as an ordinary test.
 */
#ifndef SEAM_FUZZ_UNWIND_CHECK_H
#define SEAM_FUZZ_UNWIND_CHECK_H

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/map.h"
#include "unwind/compile.h"
#include "unwind/frametab.h"
#include "unwind/walk.h"

#define CHECK_SECTION_AT 0x10000u
#define CHECK_TEXT_END 0x4000000u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void check_demand(bool condition)
{
	if (!condition)
		abort();
}

/* Memory: the input's bytes as the stack, from sp on; behind them it was not copied; elsewhere
 * there is nothing. */
struct check_memory {
	const struct frametab *table;
	const uint8_t *stack;
	size_t n;
	uint64_t sp;
	uint64_t reads;
};

static inline int check_read(void *ctx, uint64_t address, uint64_t *ret)
{
	struct check_memory *m = ctx;
	uint64_t at = address - m->sp;

	m->reads++;
	if (address < m->sp || at > 1 << 20)
		return -EFAULT;
	if (at > m->n || m->n - at < 8)
		return -ENODATA;
	memcpy(ret, m->stack + at, 8);
	return 0;
}

static inline int check_find(void *ctx, uint64_t pc, struct walk_place *ret)
{
	const struct check_memory *m = ctx;

	if (pc >= CHECK_TEXT_END)
		return -ENOENT;
	*ret = (struct walk_place){ .table = m->table, .may_guess = pc & 1 };
	if (m->table)
		ret->rule = frametab_find(m->table, pc);
	return 0;
}

/* A walk ends, within its bounds, says why, and shows no frame where nothing is mapped. */
static inline void check_walk(const struct frametab *t, uint32_t machine, uint64_t pc,
                              const uint8_t *stack, size_t n, uint64_t seed)
{
	struct check_memory m = {
		.table = t, .stack = stack, .n = n, .sp = 0x7fff0000 + (seed & 0xff8)
	};
	struct walk_options options = {
		.machine = machine, .marks = seed & 1, .no_fallback = seed & 2, .max_frames = 64
	};
	struct walk_memory memory = { .ctx = &m, .read = check_read, .find = check_find };
	struct walk_registers regs = { .known = map_mix(seed) };
	uint64_t frames[64], again[64];
	struct walk walk, same;

	for (unsigned i = 0; i < WALK_REGISTERS; i++)
		regs.value[i] = m.sp + (map_mix(seed + i) & 0xff8);
	regs.value[machine == FRAMETAB_X86_64 ? 7 : 31] = m.sp;
	regs.value[machine == FRAMETAB_X86_64 ? 16 : 32] = pc;
	regs.known |= machine == FRAMETAB_X86_64 ? 1ULL << 7 | 1ULL << 16 : 1ULL << 31 | 1ULL << 32;
	walk_stack(&options, &memory, &regs, frames, &walk);
	check_demand(walk.n >= 1 && walk.n <= 64 && walk.n_sure <= walk.n && walk.n_sure >= 1);
	check_demand((unsigned)walk.end < WALK_ENDS && *walk_end_name(walk.end));
	check_demand(!options.no_fallback || walk.n_sure == walk.n);
	check_demand(m.reads <= 64u * 40 * 256u);
	for (size_t i = 1; i < walk.n; i++) {
		check_demand((frames[i] & WALK_ADDRESS) <= CHECK_TEXT_END);
		check_demand(options.marks || !(frames[i] & ~WALK_ADDRESS));
		check_demand(!options.marks || !(frames[i] & WALK_GUESSED) == (i < walk.n_sure));
	}
	/* The trail of one walk changes nothing for the next. */
	memory.window = stack;
	memory.start = m.sp;
	memory.n_window = n;
	check_demand(walk_cache_new(&memory.cache) >= 0);
	for (unsigned i = 0; i < 2; i++) {
		walk_stack(&options, &memory, &regs, again, &same);
		check_demand(same.n == walk.n && same.n_sure == walk.n_sure &&
		             same.end == walk.end && same.end_pc == walk.end_pc &&
		             same.needed == walk.needed);
		check_demand(!memcmp(frames, again, walk.n * sizeof(frames[0])));
	}
	walk_cache_free(memory.cache);
}

/* Every row can be found and applied. */
static inline void check_table(const struct frametab *t, const uint8_t *data, size_t size)
{
	const struct frametab_header *h = t->header;
	uint64_t span = (uint64_t)h->n_pages * FRAMETAB_PAGE;

	frametab_find(t, h->text_start - 1);
	frametab_find(t, h->text_start + span);
	for (uint64_t i = 0; i < 200; i++) {
		uint64_t pc = h->text_start + (span ? map_mix(i) % span : 0);

		check_demand(frametab_find(t, pc) >= t->rules &&
		             frametab_find(t, pc) < t->rules + h->n_rules);
		check_walk(t, h->machine, pc, data, size, i);
	}
}

/* Several threads give what one gave; threads cost more than all else, so of one input in eight. */
static inline void check_shares(struct compile_input *in, int r, const struct buf *one)
{
	struct buf blob = { 0 };

	in->threads = 3;
	in->share_bytes = 32;
	check_demand(compile_table(in, &blob, NULL) == r);
	check_demand(r < 0 || (blob.n == one->n && !memcmp(blob.bytes, one->bytes, one->n)));
	buf_free(&blob);
}

/* Compiles what the input says; its first byte chooses the machine and the byte order. */
static inline void check_compile(const uint8_t *data, size_t size, size_t section)
{
	struct compile_input in = { .ranges = { { 0x1000, CHECK_TEXT_END } },
		                    .n_ranges = 1,
		                    .entry = 0x2000 };
	struct compile_section *to = (struct compile_section *)((char *)&in + section);
	struct seam_error err = { 0 };
	struct buf blob = { 0 };
	struct frametab t;
	int r;

	if (!size)
		return;
	in.machine = data[0] & 1 ? FRAMETAB_AARCH64 : FRAMETAB_X86_64;
	in.swap = data[0] & 2;
	*to = (struct compile_section){ data + 1, size - 1, CHECK_SECTION_AT };
	r = compile_table(&in, &blob, &err);
	check_demand(r >= 0 || (err.text[0] && r != -EINVAL));
	if (!(data[size - 1] & 7))
		check_shares(&in, r, &blob);
	if (r >= 0) {
		check_demand(!((uintptr_t)blob.bytes & 7));
		check_demand(frametab_open(&t, blob.bytes, blob.n, &err) >= 0);
		check_table(&t, data, size);
	}
	buf_free(&blob);
}

#endif
