/* SPDX-License-Identifier: MIT */
/*
 * table.h: the one table form that every kind of unwind information is compiled into.
 *
 * A table is one blob of bytes for one object: little-endian, position-independent, without pointers, the same for
 * the offline walker, the live one and the one in the kernel. docs/unwind-table.md describes it byte by byte. Layout:
 *
 *	header (64 bytes)
 *	rules  32 bytes each      rule 0 is "no unwind information here"
 *	index  u32[n_pages + 1]   row number at which each KiB of text begins
 *	rows   u32[n_rows]        (pc & 1023) << 22 | rule number, ascending within a page
 *	saves  i16[n_saves]       where callee-saved registers are, in units of 8 bytes from the rule's base
 *	exprs  bytes              DWARF expressions that no rule kind describes, each a u16 length and its bytes
 *
 * A row holds from its pc to the next row's. Addresses are the object's own (ELF virtual addresses).
 * This file knows the form and how to search it. It does not know where the rows come from (compile.h).
 */
#ifndef SEAM_UNWIND_TABLE_H
#define SEAM_UNWIND_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include <seam/error.h>

#define TABLE_MAGIC 0x776e7573u /* "sunw" */
#define TABLE_VERSION 1u
#define TABLE_PAGE 1024u /* bytes of text that one index entry stands for */
#define TABLE_RULE_BITS 22u
#define TABLE_RULES_MAX (1u << TABLE_RULE_BITS)

enum table_machine {
	TABLE_X86_64 = 62,
	TABLE_AARCH64 = 183
}; /* ELF's e_machine */

struct table_header {
	uint32_t magic, version;
	uint32_t machine;
	uint32_t flags;      /* TABLE_FROM_* */
	uint64_t text_start; /* address of page 0, a multiple of TABLE_PAGE */
	uint32_t n_pages;
	uint32_t n_rows;
	uint32_t n_rules;
	uint32_t n_saves;
	uint32_t n_exprs;  /* bytes */
	uint32_t size;     /* bytes of the whole blob */
	uint64_t checksum; /* of all bytes behind the header */
	uint32_t skipped;  /* FDEs that could not be understood: their text has no rows */
	uint32_t reserved;
};

#define TABLE_FROM_EH_FRAME 1u
#define TABLE_FROM_DEBUG_FRAME 2u
#define TABLE_FROM_SFRAME 4u

/* How the canonical frame address is found. */
enum table_cfa {
	TABLE_CFA_NONE,      /* no unwind information */
	TABLE_CFA_SP,        /* sp + cfa_off */
	TABLE_CFA_FP,        /* fp + cfa_off */
	TABLE_CFA_REG,       /* register cfa_reg + cfa_off */
	TABLE_CFA_DEREF_SP,  /* *(sp + cfa_off) + cfa_add */
	TABLE_CFA_DEREF_FP,  /* *(fp + cfa_off) + cfa_add */
	TABLE_CFA_DEREF_REG, /* *(cfa_reg + cfa_off) + cfa_add */
	TABLE_CFA_PLT,       /* sp + cfa_off + ((pc & 15) >= cfa_add ? 8 : 0) */
	TABLE_CFA_EXPR,      /* expression at cfa_off of exprs */
};

/* Where the caller's value of a register is: the frame pointer, or the return address. */
enum table_at {
	TABLE_AT_SAME, /* not changed (frame pointer); in the link register (return address, aarch64) */
	TABLE_AT_UNDEFINED, /* gone (frame pointer); there is no caller: outermost frame (return address) */
	TABLE_AT_CFA,      /* *(cfa + off) */
	TABLE_AT_SP,       /* *(sp + off) */
	TABLE_AT_FP,       /* *(fp + off) */
	TABLE_AT_REG,      /* in register number off */
	TABLE_AT_EXPR,     /* *(expression at off of exprs) */
	TABLE_AT_VAL_EXPR, /* the expression's value */
	TABLE_AT_VAL_CFA,  /* cfa + off itself */
};

#define TABLE_SIGNAL_FRAME \
	1u /* the caller was interrupted: its pc is exact, all its registers matter */
#define TABLE_MANGLED_RA 2u  /* return address is signed (aarch64) */
#define TABLE_SAVES_AT_SP 4u /* saves count from sp, not from the CFA (signal frames) */

/* Callee-saved registers beside the frame pointer, as bits of `saved`: x86_64 rbx r12 r13 r14 r15; aarch64 x19 ... x28. */
#define TABLE_SAVED_MAX 10u
#define TABLE_SAVE_UNKNOWN INT16_MIN /* the caller's value cannot be told */

struct table_rule {
	uint8_t cfa; /* enum table_cfa */
	uint8_t cfa_reg;
	uint8_t fp, ra; /* enum table_at */
	uint16_t flags;
	uint16_t saved; /* bits; one entry in saves for each, lowest first */
	int32_t cfa_off, cfa_add;
	int32_t fp_off;
	int32_t ra_off;
	uint32_t saves; /* first entry */
	uint32_t reserved;
};

/* A blob that was checked: views into it. */
struct table {
	const struct table_header *header;
	const uint32_t *index, *rows;
	const struct table_rule *rules;
	const int16_t *saves;
	const unsigned char *exprs;
	size_t n_exprs;
};

/*
 * Checks a blob (8-byte aligned; it may come from a cache that somebody else wrote): sizes, checksum, every index,
 * row, rule and reference. After this no search in it can leave it. -EBADMSG with a reason.
 */
int table_open(struct table *ret, const void *blob, size_t n, struct seam_error *err);

/* The rule for an address of the object; rule 0 (TABLE_CFA_NONE) where there is none. Never NULL. */
const struct table_rule *table_find(const struct table *t, uint64_t address);

/* DWARF number of the bit-th callee-saved register of a machine. */
unsigned table_saved_register(uint32_t machine, unsigned bit);
unsigned table_saved_count(uint32_t machine);

#endif
