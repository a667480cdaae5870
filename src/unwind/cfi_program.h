/* SPDX-License-Identifier: MIT */
/* cfi_program.h: the call frame instructions of one CIE or FDE -> rows. */
#ifndef SEAM_UNWIND_CFI_PROGRAM_H
#define SEAM_UNWIND_CFI_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cursor.h"
#include "unwind/rows.h"

/* The registers whose rules are followed: the saved ones, then frame pointer and return address. */
#define CFI_TRACKED (FRAMETAB_SAVED_MAX + 2)
#define CFI_FP FRAMETAB_SAVED_MAX
#define CFI_RA (FRAMETAB_SAVED_MAX + 1)

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

struct cfi_rule {
	uint8_t how; /* enum cfi_how */
	bool pushed; /* its slot was seen at or above sp */
	bool popped; /* the frame pointer's: it is below sp now, the register has its old value again */
	uint16_t n; /* bytes of the expression */
	union {
		int64_t off;
		const unsigned char *expr;
	};
};

struct cfi_state {
	bool cfa_is_expr;
	uint32_t cfa_reg;
	int64_t cfa_off;
	const unsigned char *cfa_expr;
	size_t n_cfa_expr;
	bool mangled; /* aarch64: the return address is signed */
	struct cfi_rule regs[CFI_TRACKED];
};

struct cfi_cie {
	uint8_t encoding;
	bool has_augmentation, is_signal_frame;
	uint64_t code_factor;
	int64_t data_factor;
	uint64_t ra_register;
	const unsigned char *instructions;
	size_t n_instructions;
	struct cfi_state initial; /* after its instructions */
};

struct cfi_program {
	uint32_t machine;
	uint8_t sp, fp, pc; /* DWARF numbers */
	uint8_t n_saved;
	int8_t tracked[128]; /* DWARF number -> index in regs, or -1 */
};

void cfi_program_init(struct cfi_program *p, uint32_t machine);
/* Runs a CIE's own instructions: cie->initial. False: unsound. */
bool cfi_program_start(const struct cfi_program *p, struct cfi_cie *cie);
/* Runs an FDE's instructions (what is left of entry) and adds its rows. False: unsound; what was added must be taken back. */
bool cfi_program_run(const struct cfi_program *p, struct rows *rows, const struct cfi_cie *cie,
                     struct cursor *entry, uint64_t start, uint64_t end);

#endif
