// SPDX-License-Identifier: MIT
/*
 * fuzz_walk.c: bytes as a stack copy, walked with a table that holds a rule of every kind, one
 * every 16 bytes of text, in both machines. The first 8 bytes choose where the walk starts.
 */
#include "unwind_check.h"

#define RULES 96u

/* All kinds of CFA with all kinds of places for the return address and the frame pointer. */
static struct frametab_rule some_rule(uint32_t i)
{
	uint64_t m = map_mix(i);
	struct frametab_rule r = {
		.cfa = (uint8_t)(1 + i % FRAMETAB_CFA_EXPR),
		.cfa_reg = m & 31,
		.fp = (uint8_t)((m >> 8) % (FRAMETAB_AT_VAL_CFA + 1)),
		.ra = i % 3 ? FRAMETAB_AT_CFA : (uint8_t)((m >> 16) % (FRAMETAB_AT_VAL_CFA + 1)),
		.flags = i % 7 ? 0 : (uint16_t)((m >> 24) & 7),
		.saved = (uint16_t)((m >> 32) & 31),
		.cfa_off = (int32_t)(8 + ((m >> 40) & 0x78)),
		.cfa_add = (int32_t)((m >> 48) & 15),
		.fp_off = -16,
		.ra_off = -8,
	};

	if (r.cfa == FRAMETAB_CFA_EXPR)
		r.cfa_off = 0;
	if (r.fp == FRAMETAB_AT_REG || r.fp == FRAMETAB_AT_EXPR || r.fp == FRAMETAB_AT_VAL_EXPR)
		r.fp_off = r.fp == FRAMETAB_AT_REG ? 3 : 0;
	if (r.ra == FRAMETAB_AT_REG || r.ra == FRAMETAB_AT_EXPR || r.ra == FRAMETAB_AT_VAL_EXPR)
		r.ra_off = r.ra == FRAMETAB_AT_REG ? 12 : 0;
	return r;
}

static void make_table(uint32_t machine, struct buf *blob)
{
	/* DW_OP_breg7 (rsp) 8, DW_OP_dup, DW_OP_deref, DW_OP_bra +3, DW_OP_plus_uconst 16,
	 * DW_OP_nop */
	static const uint8_t expr[] = { 9, 0, 0x77, 8, 0x12, 0x06, 0x28, 2, 0, 0x23, 16 };
	static const int16_t saves[5] = { -3, -4, FRAMETAB_SAVE_UNKNOWN, 2, -6 };
	struct frametab_header h = { .magic = FRAMETAB_MAGIC,
		                     .version = FRAMETAB_VERSION,
		                     .machine = machine,
		                     .n_pages = RULES * 16 / FRAMETAB_PAGE + 1,
		                     .n_rows = RULES,
		                     .n_rules = RULES,
		                     .n_saves = 5,
		                     .n_exprs = sizeof(expr) };

	buf_put(blob, &h, sizeof(h));
	for (uint32_t i = 0; i < RULES; i++) {
		struct frametab_rule r = i ? some_rule(i) : (struct frametab_rule){ 0 };

		buf_put(blob, &r, sizeof(r));
	}
	for (uint32_t p = 0; p <= h.n_pages; p++)
		buf_put_u32(blob, p * 64 < RULES ? p * 64 : RULES);
	for (uint32_t i = 0; i < RULES; i++)
		buf_put_u32(blob, (i * 16 & (FRAMETAB_PAGE - 1)) << FRAMETAB_RULE_BITS | i);
	buf_put(blob, saves, sizeof(saves));
	buf_put(blob, expr, sizeof(expr));
	buf_put_zeros(blob, -blob->n & 7);
	h.size = (uint32_t)blob->n;
	h.checksum = map_hash_bytes(blob->bytes + sizeof(h), blob->n - sizeof(h), h.text_start);
	memcpy(blob->bytes, &h, sizeof(h));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint32_t machines[] = { FRAMETAB_X86_64, FRAMETAB_AARCH64 };
	uint64_t seed;

	if (size < 8)
		return 0;
	memcpy(&seed, data, 8);
	for (unsigned i = 0; i < 2; i++) {
		struct buf blob = { 0 };
		struct frametab t;

		make_table(machines[i], &blob);
		check_demand(frametab_open(&t, blob.bytes, blob.n, NULL) >= 0);
		check_walk(&t, machines[i], seed % (RULES * 16), data + 8, size - 8, seed);
		check_walk(NULL, machines[i], seed % 4096, data + 8, size - 8, seed);
		buf_free(&blob);
	}
	return 0;
}
