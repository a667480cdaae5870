/* SPDX-License-Identifier: MIT */
/*
 * frametab_form.h: what the bytes of an unwind table mean, for all who read one: the walker
 * (frametab.h), and the programs in the kernel and their loader (capture/bpf). No C library is
 * needed to include it.
 *
 * A table is one blob of bytes for one object: little-endian, position-independent, without
 * pointers, the same for the offline walker, the live one and the one in the kernel.
 * docs/unwind-table.md describes it byte by byte. Layout:
 *
 *	header (64 bytes)
 *	rules  32 bytes each      rule 0 is "no unwind information here"
 *	index  u32[n_pages + 1]   row number at which each KiB of text begins
 *	rows   u32[n_rows]        (pc & 1023) << 22 | rule number, ascending within a page
 *	saves  i16[n_saves]       where callee-saved registers are, in units of 8 bytes from the
 *	                          rule's base
 *	exprs  bytes              DWARF expressions that no rule kind describes, each a u16 length
 *	                          and its bytes
 *
 * A row holds from its pc to the next row's. Addresses are the object's own (ELF virtual
 * addresses).
 */
#ifndef SEAM_UNWIND_FRAMETAB_FORM_H
#define SEAM_UNWIND_FRAMETAB_FORM_H

#include "base/fixed_width.h"

#define FRAMETAB_MAGIC 0x776e7573u /* "sunw" */
#define FRAMETAB_VERSION 6u
#define FRAMETAB_PAGE 1024u /* bytes of text that one index entry stands for */
#define FRAMETAB_RULE_BITS 22u
#define FRAMETAB_RULES_MAX (1u << FRAMETAB_RULE_BITS)

enum frametab_machine {
	FRAMETAB_X86_64 = 62,
	FRAMETAB_AARCH64 = 183
}; /* ELF's e_machine */

struct frametab_header {
	uint32_t magic, version;
	uint32_t machine;
	uint32_t flags;      /* FRAMETAB_FROM_* */
	uint64_t text_start; /* address of page 0, a multiple of FRAMETAB_PAGE */
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

#define FRAMETAB_FROM_EH_FRAME 1u
#define FRAMETAB_FROM_DEBUG_FRAME 2u
#define FRAMETAB_FROM_SFRAME 4u

/* How the canonical frame address is found. */
enum frametab_cfa {
	FRAMETAB_CFA_NONE,      /* no unwind information */
	FRAMETAB_CFA_SP,        /* sp + cfa_off */
	FRAMETAB_CFA_FP,        /* fp + cfa_off */
	FRAMETAB_CFA_REG,       /* register cfa_reg + cfa_off */
	FRAMETAB_CFA_DEREF_SP,  /* *(sp + cfa_off) + cfa_add */
	FRAMETAB_CFA_DEREF_FP,  /* *(fp + cfa_off) + cfa_add */
	FRAMETAB_CFA_DEREF_REG, /* *(cfa_reg + cfa_off) + cfa_add */
	FRAMETAB_CFA_PLT,       /* sp + cfa_off + ((pc & 15) >= cfa_add ? 8 : 0) */
	FRAMETAB_CFA_EXPR,      /* expression at cfa_off of exprs */
};

/* Where the caller's value of a register is: the frame pointer, or the return address. */
enum frametab_at {
	/* not changed (frame pointer); in the link register (return address, aarch64) */
	FRAMETAB_AT_SAME,
	/* gone (frame pointer); there is no caller: outermost frame (return address) */
	FRAMETAB_AT_UNDEFINED,
	FRAMETAB_AT_CFA,      /* *(cfa + off) */
	FRAMETAB_AT_SP,       /* *(sp + off) */
	FRAMETAB_AT_FP,       /* *(fp + off) */
	FRAMETAB_AT_REG,      /* in register number off */
	FRAMETAB_AT_EXPR,     /* *(expression at off of exprs) */
	FRAMETAB_AT_VAL_EXPR, /* the expression's value */
	FRAMETAB_AT_VAL_CFA,  /* cfa + off itself */
};

/* The caller was interrupted: its pc is exact, all its registers matter. */
#define FRAMETAB_SIGNAL_FRAME 1u
/* The return address is signed (aarch64). */
#define FRAMETAB_MANGLED_RA 2u
/* Saves count from sp, not from the CFA (signal frames). */
#define FRAMETAB_SAVES_AT_SP 4u
/* With FRAMETAB_CFA_NONE: the code here keeps frame pointers, which may be followed as a guess. */
#define FRAMETAB_KEEPS_FP 8u
/* With FRAMETAB_CFA_NONE: code that was left out; the rule before it may hold, as a guess. */
#define FRAMETAB_LIKE 16u
/* The caller is on another stack, which may lie below this one. */
#define FRAMETAB_OTHER_STACK 32u

/* Callee-saved registers beside the frame pointer, as bits of `saved`: x86_64 rbx r12 r13 r14 r15;
 * aarch64 x19 ... x28. */
#define FRAMETAB_SAVED_X86_64 5u
#define FRAMETAB_SAVED_MAX 10u
#define FRAMETAB_SAVE_UNKNOWN (-32768) /* the caller's value cannot be told */

struct frametab_rule {
	uint8_t cfa; /* enum frametab_cfa */
	uint8_t cfa_reg;
	uint8_t fp, ra; /* enum frametab_at */
	uint16_t flags;
	uint16_t saved; /* bits; one entry in saves for each, lowest first */
	int32_t cfa_off, cfa_add;
	int32_t fp_off;
	int32_t ra_off;
	uint32_t saves; /* first entry */
	uint32_t like;  /* with FRAMETAB_LIKE: number of the rule that may hold */
};

#endif
