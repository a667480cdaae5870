/* SPDX-License-Identifier: MIT */
/*
 * expr.h: DWARF expressions in unwind information: recognized where a rule kind says the same, else
 * evaluated, within bounds.
 */
#ifndef SEAM_UNWIND_EXPR_H
#define SEAM_UNWIND_EXPR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What an expression computes, when it is one of the usual forms. */
enum expr_form {
	EXPR_OTHER,
	EXPR_REG,   /* reg + off */
	EXPR_DEREF, /* *(reg + off) + add */
	EXPR_PLT,   /* reg + off + ((pc & 15) >= add ? 8 : 0) */
};

struct expr_shape {
	enum expr_form form;
	unsigned reg; /* DWARF number */
	int64_t off, add;
};

struct expr_shape expr_recognize(const unsigned char *bytes, size_t n, unsigned pc_register);

struct expr_machine {
	void *ctx;
	int (*read)(void *ctx, uint64_t address, uint64_t *ret);
	const uint64_t *registers; /* by DWARF number */
	uint64_t known;            /* bit per register */
};

#define EXPR_STEPS_MAX 256u /* operations in one evaluation */
#define EXPR_STACK_MAX 32u

/*
 * Evaluates; initial is on the stack at the start (the CFA, for register rules) if has_initial.
 * -EINVAL: not sound, or an operation that unwind information does not use; else what read
 * answered.
 */
int expr_evaluate(const struct expr_machine *m, const unsigned char *bytes, size_t n,
                  bool has_initial, uint64_t initial, uint64_t *ret);

#endif
