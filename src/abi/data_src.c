// SPDX-License-Identifier: MIT
/* data_src.c: see data_src.h. The layout is that of union perf_mem_data_src (linux/perf_event.h);
 * the words are those that perf 7.3.4 prints of the recordings of tests/data/public, and the kernel
 * header's own where none of those has the bit. Invariant: every word is looked at once, in fields
 * of a few bits. Hostile values can name only what the tables hold, or "N/A". */
#include "abi/data_src.h"

#include <stdbool.h>

/* A field of the word: its lowest bit, and how many bits it has. */
struct src_field {
	unsigned shift, bits;
};

static const struct src_field src_op = { 0, 5 }, src_level = { 5, 14 }, src_snoop = { 19, 5 },
                              src_lock = { 24, 2 }, src_tlb = { 26, 7 }, src_number = { 33, 4 },
                              src_remote = { 37, 1 }, src_snoopx = { 38, 2 },
                              src_blocked = { 40, 3 }, src_hops = { 43, 3 };

#define NOT_AVAILABLE 1u /* bit 0 of each field of bits */
#define HIT 2u           /* of levels and TLBs */
#define MISS 4u
/* The level number that means "not available". */
#define NUMBER_NA 0xfu

static uint32_t src_get(uint64_t v, const struct src_field *f)
{
	return (uint32_t)(v >> f->shift & ((1u << f->bits) - 1));
}

/* The names of the bits that are set, joined; the number of names. */
static unsigned src_names(uint32_t bits, const char *const *names, size_t n, unsigned already,
                          struct buf *out)
{
	for (size_t i = 0; i < n; i++) {
		if (!(bits >> i & 1) || !names[i])
			continue;
		if (already++)
			buf_put_text(out, " or ");
		buf_put_text(out, names[i]);
	}
	return already;
}

/* An empty field of operations reads as "N/A", as does its own bit 0. */
static void src_put_op(uint64_t v, struct buf *out)
{
	static const char *const names[] = { "N/A", "LOAD", "STORE", "PFETCH", "EXEC" };

	if (!src_names(src_get(v, &src_op), names, 5, 0, out))
		buf_put_text(out, "N/A");
}

/* Which level of the memory hierarchy served the access, and whether it hit. Newer kernels give a
 * level number with hops; the older bit set of levels is used only where no number is given. */
static void src_put_level(uint64_t v, struct buf *out)
{
	/* The first three bits say whether there was a level, a hit or a miss: they are no
	 * places. */
	static const char *const levels[] = { NULL,
		                              NULL,
		                              NULL,
		                              "L1",
		                              "LFB/MAB",
		                              "L2",
		                              "L3",
		                              "Local RAM",
		                              "Remote RAM (1 hop)",
		                              "Remote RAM (2 hops)",
		                              "Remote Cache (1 hop)",
		                              "Remote Cache (2 hops)",
		                              "I/O",
		                              "Uncached" };
	static const char *const numbers[NUMBER_NA] = {
		[1] = "L1",         [2] = "L2",       [3] = "L3",
		[4] = "L4",         [5] = "L2 MHB",   [6] = "Memory-side Cache",
		[8] = "Uncached",   [9] = "CXL",      [10] = "I/O",
		[11] = "Any cache", [12] = "LFB/MAB", [13] = "RAM",
		[14] = "PMEM"
	};
	/* By hops - 1. The texts end in a blank because the level's name follows. */
	static const char *const hops[] = { "core, same node ", "node, same socket ",
		                            "socket, same board ", "board " };
	uint32_t level = src_get(v, &src_level), number = src_get(v, &src_number),
	         hop = src_get(v, &src_hops);
	const char *how = level & HIT ? " hit" : level & MISS ? " miss" : " ";

	if (number && number != NUMBER_NA) {
		buf_put_text(out, src_get(v, &src_remote) ? "Remote " : "");
		buf_put_text(out, hop && hop <= 4 ? hops[hop - 1] : "");
		if (numbers[number])
			buf_put_text(out, numbers[number]);
		else
			buf_printf(out, "Unknown level %u", number);
		buf_put_text(out, how);
	} else if (src_names(level, levels, 14, 0, out)) {
		buf_put_text(out, how);
	} else {
		buf_put_text(out, "N/A");
	}
}

/* Snoop results have two fields: the second one came with a later kernel and continues the first
 * one's list. */
static void src_put_snoop(uint64_t v, struct buf *out)
{
	static const char *const names[] = { "N/A", "None", "Hit", "Miss", "HitM" };
	static const char *const more[] = { "Fwd", "Peer" };
	unsigned n = src_names(src_get(v, &src_snoop), names, 5, 0, out);

	if (!src_names(src_get(v, &src_snoopx), more, 2, n, out))
		buf_put_text(out, "N/A");
}

/* Bits 1 and 2 are hit and miss here too, so the names of the places begin at bit 3. */
static void src_put_tlb(uint64_t v, struct buf *out)
{
	static const char *const names[] = { "N/A", NULL, NULL, "L1", "L2", "Walker", "Fault" };
	uint32_t bits = src_get(v, &src_tlb);

	if (!src_names(bits, names, 7, 0, out))
		buf_put_text(out, "N/A");
	buf_put_text(out, bits & HIT ? " hit" : "");
	buf_put_text(out, bits & MISS ? " miss" : "");
}

/* Appends the text of a sample's data_src word: operation, level, snoop, TLB, lock and blocked,
 * always in this order, each with "N/A" when the PMU did not say. */
int data_src_text(uint64_t v, struct buf *out)
{
	uint32_t lock = src_get(v, &src_lock), blocked = src_get(v, &src_blocked);

	buf_put_text(out, "|OP ");
	src_put_op(v, out);
	buf_put_text(out, "|LVL ");
	src_put_level(v, out);
	buf_put_text(out, "|SNP ");
	src_put_snoop(v, out);
	buf_put_text(out, "|TLB ");
	src_put_tlb(v, out);
	buf_put_text(out, lock & NOT_AVAILABLE ? "|LCK N/A" : lock ? "|LCK Yes" : "|LCK No");
	buf_put_text(out, "|BLK ");
	if (!blocked || blocked & NOT_AVAILABLE)
		return buf_put_text(out, " N/A");
	buf_put_text(out, blocked & 2 ? " Data" : "");
	return buf_put_text(out, blocked & 4 ? " Addr" : "");
}
