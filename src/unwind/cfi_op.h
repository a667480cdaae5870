/* SPDX-License-Identifier: MIT */
/*
 * cfi_op.h: applies call frame instructions to a state, which holds where the registers are that an
 * unwinder needs. At which addresses a state holds (advance), and which states are put aside
 * (remember), is cfi_program.c's part.
 */
#ifndef SEAM_UNWIND_CFI_OP_H
#define SEAM_UNWIND_CFI_OP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/frametab.h"

enum {
	CFA_NOP = 0x00,
	CFA_SET_LOC,
	CFA_ADVANCE1,
	CFA_ADVANCE2,
	CFA_ADVANCE4,
	CFA_OFFSET_EXTENDED,
	CFA_RESTORE_EXTENDED,
	CFA_UNDEFINED,
	CFA_SAME_VALUE,
	CFA_REGISTER,
	CFA_REMEMBER,
	CFA_RESTORE_STATE,
	CFA_DEF_CFA,
	CFA_DEF_CFA_REGISTER,
	CFA_DEF_CFA_OFFSET,
	CFA_DEF_CFA_EXPRESSION,
	CFA_EXPRESSION,
	CFA_OFFSET_EXTENDED_SF,
	CFA_DEF_CFA_SF,
	CFA_DEF_CFA_OFFSET_SF,
	CFA_VAL_OFFSET,
	CFA_VAL_OFFSET_SF,
	CFA_VAL_EXPRESSION,
	CFA_AARCH64_NEGATE_RA_STATE_WITH_PC = 0x2c,
	CFA_AARCH64_NEGATE_RA_STATE = 0x2d,
	CFA_GNU_ARGS_SIZE = 0x2e,
	CFA_GNU_NEGATIVE_OFFSET_EXTENDED = 0x2f,
	/* with an operand in their low six bits: */
	CFA_ADVANCE = 0x40,
	CFA_OFFSET = 0x80,
	CFA_RESTORE = 0xc0,
};

/* The registers whose rules are followed: the saved ones, then frame pointer and return address. */
#define CFI_TRACKED (FRAMETAB_SAVED_MAX + 2)
#define CFI_FP FRAMETAB_SAVED_MAX
#define CFI_RA (FRAMETAB_SAVED_MAX + 1)

struct cfi_machine {
	uint32_t machine;
	uint8_t sp, fp, pc; /* DWARF numbers */
	uint8_t n_saved;
	int8_t tracked[128]; /* DWARF number -> index in regs, or -1 */
};

enum cfi_how {
	CFI_UNSPECIFIED,
	CFI_SAME,
	CFI_UNDEFINED,
	CFI_OFFSET,
	CFI_VAL_OFFSET,
	CFI_REGISTER,
	CFI_EXPR,
	CFI_VAL_EXPR
};

/* This and the next are compared as bytes: they have no padding. */
struct cfi_rule {
	uint8_t how; /* enum cfi_how */
	bool pushed; /* its slot was seen at or above sp */
	/* the frame pointer's: it is below sp now, the register has its old value again */
	bool popped;
	uint8_t zero;
	uint32_t n; /* bytes of the expression */
	union {
		int64_t off;
		const unsigned char *expr;
	};
};

struct cfi_state {
	uint32_t kind; /* whose instructions these are: which struct cfi_kind */
	uint32_t cfa_reg;
	int64_t cfa_off;
	const unsigned char *cfa_expr; /* NULL: cfa_reg + cfa_off */
	uint32_t n_cfa_expr;
	uint32_t mangled; /* aarch64: the return address is signed */
	struct cfi_rule regs[CFI_TRACKED];
};

/* What of a CIE the instructions of its FDEs depend on. */
struct cfi_kind {
	int64_t data_factor;
	bool is_signal_frame;
	struct cfi_state initial; /* after its own instructions */
	bool has_number;          /* of initial, of cfi_program.c, at that age of its states: */
	uint32_t number, age;
};

void cfi_machine_init(struct cfi_machine *m, uint32_t machine);

/*
 * Applies instructions to a state. Advance, remember_state and restore_state must not be among
 * them: they are unsound here. own: they are a CIE's own, which have no initial state to restore
 * registers to. False: unsound.
 */
bool cfi_op_apply(const struct cfi_machine *m, const struct cfi_kind *kind, bool own,
                  struct cfi_state *state, const unsigned char *bytes, size_t n);

#endif
