/* SPDX-License-Identifier: MIT */
/*
 * cfi_program.h: the call frame instructions of FDEs -> rows.
 *
 * Functions push, allocate, release and pop in few ways. So what some instructions make of a state
 * of the registers, and which rule this is, is computed once and remembered as a step; states are
 * numbered for that. Remembering only saves time: the rows are the same however little of it is
 * kept.
 */
#ifndef SEAM_UNWIND_CFI_PROGRAM_H
#define SEAM_UNWIND_CFI_PROGRAM_H

#include "base/buf.h"
#include "base/cursor.h"
#include "image/callframe.h"
#include "unwind/cfi_op.h"
#include "unwind/rows.h"

struct cfi_cie {
	struct callframe_cie of;
	uint32_t kind;
};

struct cfi_program {
	struct cfi_machine machine;
	struct rows *rows;
	struct buf kinds; /* struct cfi_kind */
	struct cfi_state *states;
	uint32_t n_states;
	uint32_t age;     /* how often all were forgotten */
	uint32_t *recent; /* a hash of a state's bytes -> its number + 1 */
	struct cfi_step *steps;
	const unsigned char *readable; /* up to there: the end of the section */
	uint8_t shapes[256];           /* of instructions */
};

/* For the functions of one section, which stays. -ENOMEM. To be freed in any case. */
int cfi_program_init(struct cfi_program *p, struct rows *rows,
                     const struct compile_section *section);
void cfi_program_free(struct cfi_program *p);
/* Runs a CIE's own instructions: cie->kind. False: unsound. */
bool cfi_program_start(struct cfi_program *p, struct cfi_cie *cie);
/* Runs an FDE's instructions (what is left of entry) and adds its rows. False: unsound; what was
 * added must be taken back. */
bool cfi_program_run(struct cfi_program *p, const struct cfi_cie *cie, const struct cursor *entry,
                     uint64_t start, uint64_t end);

#endif
