// SPDX-License-Identifier: MIT
/*
 * cfi_op.c: interprets call frame instructions (DWARF 5, 6.4.2). See cfi_op.h.
 *
 * A CIE's instructions are run once and give the state with which each of its FDEs begins
 * (kind->initial); an FDE's instructions are run from one advance of the location to the next, and
 * the state between is a row of the table. Only registers that a walk needs are kept: those that
 * the table saves, the frame pointer and the return address. Instructions about others are read,
 * because what follows them counts, and change nothing.
 *
 * Invariant: an instruction that is not known, or an operand that does not end, is unsound; nothing
 * is guessed. After a failure the state is not used.
 */
#include "unwind/cfi_op.h"

#include <string.h>

#include "base/leb.h"

/* States are compared and hashed as bytes. */
_Static_assert(sizeof(struct cfi_rule) == 16, "padding");
_Static_assert(sizeof(struct cfi_state) == 32 + CFI_TRACKED * 16, "padding");

struct cfi_op_run {
	const struct cfi_machine *m;
	const struct cfi_kind *kind;
	bool own; /* a CIE's own instructions */
	struct cursor c;
	struct cfi_state *state;
	bool failed;
};

/* The numbers are DWARF's for the machine: x86_64 counts rsp 7, rbp 6, the return address 16;
 * aarch64 sp 31, x29, and x30, where the return address is until it is saved. */
void cfi_machine_init(struct cfi_machine *m, uint32_t machine)
{
	bool x86 = machine == FRAMETAB_X86_64;

	*m = (struct cfi_machine){
		.machine = machine,
		.sp = x86 ? 7 : 31,
		.fp = x86 ? 6 : 29,
		.pc = x86 ? 16 : 32,
		.n_saved = (uint8_t)frametab_saved_count(machine),
	};
	memset(m->tracked, -1, sizeof(m->tracked));
	for (unsigned i = 0; i < m->n_saved; i++)
		m->tracked[frametab_saved_register(machine, i)] = (int8_t)i;
	m->tracked[m->fp] = CFI_FP;
	m->tracked[x86 ? 16 : 30] = CFI_RA;
}

/* The rule of a register, to be changed; NULL when nobody needs it. */
static struct cfi_rule *cfi_run_register(struct cfi_op_run *r, uint64_t number)
{
	int index = number < sizeof(r->m->tracked) ? r->m->tracked[number] : -1;

	return index < 0 ? NULL : &r->state->regs[index];
}

/* Of registers that nobody needs nothing is noted. */
static void cfi_run_set(struct cfi_op_run *r, uint64_t number, enum cfi_how how, int64_t off)
{
	struct cfi_rule *rule = cfi_run_register(r, number);

	if (rule)
		*rule = (struct cfi_rule){ .how = (uint8_t)how, .off = off };
}

/* Offsets are written in units of the CIE's data alignment factor, which is usually -8. The product
 * may wrap: the walk checks every address that comes of it. */
static int64_t cfi_run_factored(const struct cfi_op_run *r, uint64_t v)
{
	return (int64_t)(v * (uint64_t)r->kind->data_factor);
}

/* Back to the rule that the CIE gave. In a CIE's own instructions there is none to go back to. */
static void cfi_run_restore(struct cfi_op_run *r, uint64_t number)
{
	struct cfi_rule *rule = cfi_run_register(r, number);

	if (rule && !r->own)
		*rule = r->kind->initial.regs[rule - r->state->regs];
}

/* The expression is not copied: the rule points to its bytes, which live as long as the section. */
static void cfi_run_expression(struct cfi_op_run *r, enum cfi_how how)
{
	uint64_t number = leb_unsigned(&r->c), n = leb_unsigned(&r->c);
	const unsigned char *bytes = cursor_bytes(&r->c, n);
	struct cfi_rule *rule = cfi_run_register(r, number);

	if (!bytes || n > UINT16_MAX) {
		r->failed = true;
		return;
	}
	if (rule)
		*rule = (struct cfi_rule){ .how = (uint8_t)how, .n = (uint32_t)n, .expr = bytes };
}

/* A number that does not fit becomes 255, which is no register of any machine here. */
static void cfi_run_def_cfa(struct cfi_op_run *r, uint64_t reg, int64_t off)
{
	r->state->cfa_expr = NULL;
	r->state->n_cfa_expr = 0;
	r->state->cfa_reg = reg > 255 ? 255 : (uint32_t)reg;
	r->state->cfa_off = off;
}

/* The CFA by an expression; its bytes stay where they are, like a register's. */
static void cfi_run_cfa_expression(struct cfi_op_run *r)
{
	uint64_t n = leb_unsigned(&r->c);

	r->state->cfa_expr = cursor_bytes(&r->c, n);
	r->state->n_cfa_expr = (uint32_t)n;
	r->failed |= !r->state->cfa_expr || n > UINT16_MAX;
}

/* Instructions that define the CFA. False: op is none of them. */
static bool cfi_run_cfa_op(struct cfi_op_run *r, uint8_t op)
{
	struct cursor *c = &r->c;
	uint64_t reg;

	switch (op) {
	case CFA_DEF_CFA:
		reg = leb_unsigned(c);
		cfi_run_def_cfa(r, reg, (int64_t)leb_unsigned(c));
		return true;
	case CFA_DEF_CFA_SF:
		reg = leb_unsigned(c);
		cfi_run_def_cfa(r, reg, cfi_run_factored(r, (uint64_t)leb_signed(c)));
		return true;
	case CFA_DEF_CFA_REGISTER:
		/* DWARF allows this only where the CFA is a register and an offset. */
		r->failed |= r->state->cfa_expr != NULL;
		cfi_run_def_cfa(r, leb_unsigned(c), r->state->cfa_off);
		return true;
	case CFA_DEF_CFA_OFFSET:
		r->failed |= r->state->cfa_expr != NULL;
		cfi_run_def_cfa(r, r->state->cfa_reg, (int64_t)leb_unsigned(c));
		return true;
	case CFA_DEF_CFA_OFFSET_SF:
		r->failed |= r->state->cfa_expr != NULL;
		cfi_run_def_cfa(r, r->state->cfa_reg, cfi_run_factored(r, (uint64_t)leb_signed(c)));
		return true;
	case CFA_DEF_CFA_EXPRESSION:
		cfi_run_cfa_expression(r);
		return true;
	default:
		return false;
	}
}

/* Instructions that say where a register is. False: op is none of them. */
static bool cfi_run_register_op(struct cfi_op_run *r, uint8_t op)
{
	struct cursor *c = &r->c;
	uint64_t reg;

	switch (op) {
	case CFA_OFFSET_EXTENDED:
		reg = leb_unsigned(c);
		cfi_run_set(r, reg, CFI_OFFSET, cfi_run_factored(r, leb_unsigned(c)));
		return true;
	case CFA_OFFSET_EXTENDED_SF:
		reg = leb_unsigned(c);
		cfi_run_set(r, reg, CFI_OFFSET, cfi_run_factored(r, (uint64_t)leb_signed(c)));
		return true;
	case CFA_GNU_NEGATIVE_OFFSET_EXTENDED:
		reg = leb_unsigned(c);
		cfi_run_set(r, reg, CFI_OFFSET, cfi_run_factored(r, -leb_unsigned(c)));
		return true;
	case CFA_VAL_OFFSET:
		reg = leb_unsigned(c);
		cfi_run_set(r, reg, CFI_VAL_OFFSET, cfi_run_factored(r, leb_unsigned(c)));
		return true;
	case CFA_VAL_OFFSET_SF:
		reg = leb_unsigned(c);
		cfi_run_set(r, reg, CFI_VAL_OFFSET, cfi_run_factored(r, (uint64_t)leb_signed(c)));
		return true;
	case CFA_RESTORE_EXTENDED:
		cfi_run_restore(r, leb_unsigned(c));
		return true;
	case CFA_UNDEFINED:
		cfi_run_set(r, leb_unsigned(c), CFI_UNDEFINED, 0);
		return true;
	case CFA_SAME_VALUE:
		cfi_run_set(r, leb_unsigned(c), CFI_SAME, 0);
		return true;
	case CFA_REGISTER:
		reg = leb_unsigned(c);
		cfi_run_set(r, reg, CFI_REGISTER, (int64_t)leb_unsigned(c));
		return true;
	case CFA_EXPRESSION:
		cfi_run_expression(r, CFI_EXPR);
		return true;
	case CFA_VAL_EXPRESSION:
		cfi_run_expression(r, CFI_VAL_EXPR);
		return true;
	default:
		return false;
	}
}

/* Applies one instruction to the state. Sets r->failed for advances, which are the caller's, and
 * for instructions that are not known. */
static void cfi_run_op(struct cfi_op_run *r, uint8_t op)
{
	switch (op & 0xc0) {
	case CFA_ADVANCE:
		r->failed = true;
		return;
	case CFA_OFFSET:
		/* The register's number is in the low six bits of the instruction itself. */
		cfi_run_set(r, op & 0x3f, CFI_OFFSET, cfi_run_factored(r, leb_unsigned(&r->c)));
		return;
	case CFA_RESTORE:
		cfi_run_restore(r, op & 0x3f);
		return;
	default:
		break;
	}
	if (cfi_run_cfa_op(r, op) || cfi_run_register_op(r, op))
		return;
	switch (op) {
	case CFA_NOP:
		break;
	/* on SPARC this number saves register windows; it is not a machine of ours */
	case CFA_AARCH64_NEGATE_RA_STATE:
	case CFA_AARCH64_NEGATE_RA_STATE_WITH_PC:
		r->failed |= r->m->machine != FRAMETAB_AARCH64;
		r->state->mangled = !r->state->mangled;
		break;
	/* The size of pushed arguments, which a walk does not need. */
	case CFA_GNU_ARGS_SIZE:
		leb_unsigned(&r->c);
		break;
	default: /* CFA_SET_LOC too: nobody writes it */
		r->failed = true;
	}
}

/* For a CIE's own instructions and for a step of a function; false: the state must not be used. */
bool cfi_op_apply(const struct cfi_machine *m, const struct cfi_kind *kind, bool own,
                  struct cfi_state *state, const unsigned char *bytes, size_t n)
{
	struct cfi_op_run r = {
		.m = m, .kind = kind, .own = own, .c = cursor_of(bytes, n, false), .state = state
	};

	while (cursor_left(&r.c) && !r.failed)
		cfi_run_op(&r, cursor_u8(&r.c));
	return !r.failed && !r.c.failed;
}
