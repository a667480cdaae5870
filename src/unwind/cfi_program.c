// SPDX-License-Identifier: MIT
// cfi_program.c: interprets call frame instructions (DWARF 5, 6.4.2) for the registers that an unwinder needs.
// Invariant: a row is added for each run of addresses with one state; an instruction that is not known ends the function.
#include "unwind/cfi_program.h"

#include <string.h>

#include "unwind/expr.h"
#include "unwind/leb.h"

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
	CFA_ADVANCE = 0x40,
	CFA_OFFSET = 0x80,
	CFA_RESTORE = 0xc0,
};

#define REMEMBER_MAX 32u /* depth of remember_state; compilers use 1 to 3 */

struct run {
	const struct cfi_program *p;
	struct rows *rows; /* NULL: a CIE's own program */
	const struct cfi_cie *cie;
	struct cursor c;
	uint64_t loc, end;
	struct cfi_state state;
	struct cfi_state stack[REMEMBER_MAX];
	unsigned depth;
	unsigned changed; /* CHANGED_*: parts of row that no longer say what state says */
	int64_t deepest;  /* bytes below the CFA: the lowest slot of a saved register */
	bool any_popped;
	struct rows_rule row;
	bool failed;
};

#define CHANGED_CFA 1u
#define CHANGED_FP 2u
#define CHANGED_RA 4u
#define CHANGED_SAVES 8u
#define CHANGED_ALL 15u

void cfi_program_init(struct cfi_program *p, uint32_t machine)
{
	bool x86 = machine == FRAMETAB_X86_64;

	*p = (struct cfi_program){
		.machine = machine,
		.sp = x86 ? 7 : 31,
		.fp = x86 ? 6 : 29,
		.pc = x86 ? 16 : 32,
		.n_saved = (uint8_t)frametab_saved_count(machine),
	};
	memset(p->tracked, -1, sizeof(p->tracked));
	for (unsigned i = 0; i < p->n_saved; i++)
		p->tracked[frametab_saved_register(machine, i)] = (int8_t)i;
	p->tracked[p->fp] = CFI_FP;
	p->tracked[x86 ? 16 : 30] = CFI_RA;
}

/* The rule of a register, to be changed; NULL when nobody needs it. */
static struct cfi_rule *run_register(struct run *r, uint64_t number)
{
	int index = number < sizeof(r->p->tracked) ? r->p->tracked[number] : -1;

	if (index < 0)
		return NULL;
	r->changed |= index == CFI_FP ? CHANGED_FP : index == CFI_RA ? CHANGED_RA : CHANGED_SAVES;
	return &r->state.regs[index];
}

static void run_set(struct run *r, uint64_t number, enum cfi_how how, int64_t off)
{
	struct cfi_rule *rule = run_register(r, number);

	if (rule)
		*rule = (struct cfi_rule){ .how = (uint8_t)how, .off = off };
}

static int64_t run_factored(const struct run *r, uint64_t v)
{
	return (int64_t)(v * (uint64_t)r->cie->data_factor);
}

static void run_restore(struct run *r, uint64_t number)
{
	struct cfi_rule *rule = run_register(r, number);

	if (rule && r->rows)
		*rule = r->cie->initial.regs[rule - r->state.regs];
}

static void run_expression(struct run *r, enum cfi_how how)
{
	uint64_t number = leb_unsigned(&r->c), n = leb_unsigned(&r->c);
	const unsigned char *bytes = cursor_bytes(&r->c, n);
	struct cfi_rule *rule = run_register(r, number);

	if (!bytes || n > UINT16_MAX) {
		r->failed = true;
		return;
	}
	if (rule)
		*rule = (struct cfi_rule){ .how = (uint8_t)how, .n = (uint16_t)n, .expr = bytes };
}

static bool run_fits(int64_t v)
{
	return v >= INT32_MIN && v <= INT32_MAX;
}

/* The CFA part of a rule. False: it cannot be said, not even as an expression. */
static bool emit_cfa(struct run *r, struct frametab_rule *rule)
{
	const struct cfi_state *s = &r->state;
	struct expr_shape shape;

	if (!s->cfa_is_expr) {
		if (s->cfa_reg > 31 || !run_fits(s->cfa_off))
			return false;
		rule->cfa = s->cfa_reg == r->p->sp   ? FRAMETAB_CFA_SP
		            : s->cfa_reg == r->p->fp ? FRAMETAB_CFA_FP
		                                     : FRAMETAB_CFA_REG;
		rule->cfa_reg = rule->cfa == FRAMETAB_CFA_REG ? (uint8_t)s->cfa_reg : 0;
		rule->cfa_off = (int32_t)s->cfa_off;
		rule->cfa_add = 0;
		return true;
	}
	shape = expr_recognize(s->cfa_expr, s->n_cfa_expr, r->p->pc);
	if (shape.form != EXPR_OTHER && run_fits(shape.off) && run_fits(shape.add)) {
		bool sp = shape.reg == r->p->sp, fp = shape.reg == r->p->fp;

		rule->cfa_off = (int32_t)shape.off;
		rule->cfa_add = (int32_t)shape.add;
		rule->cfa_reg = sp || fp ? 0 : (uint8_t)shape.reg;
		if (shape.form == EXPR_DEREF) {
			rule->cfa = sp   ? FRAMETAB_CFA_DEREF_SP
			            : fp ? FRAMETAB_CFA_DEREF_FP
			                 : FRAMETAB_CFA_DEREF_REG;
			return true;
		}
		if (shape.form == EXPR_REG) {
			rule->cfa = sp ? FRAMETAB_CFA_SP : fp ? FRAMETAB_CFA_FP : FRAMETAB_CFA_REG;
			return true;
		}
		if (shape.form == EXPR_PLT && sp) {
			rule->cfa = FRAMETAB_CFA_PLT;
			return true;
		}
	}
	rule->cfa = FRAMETAB_CFA_EXPR;
	rule->cfa_reg = 0;
	rule->cfa_add = 0;
	rule->cfa_off = rows_expression(r->rows, s->cfa_expr, s->n_cfa_expr);
	return rule->cfa_off >= 0;
}

/* Frame pointer or return address. False: it cannot be said. */
static bool emit_at(struct run *r, const struct cfi_rule *from, uint8_t *at, int32_t *off)
{
	struct expr_shape shape;

	*off = 0;
	switch (from->popped ? CFI_SAME : from->how) {
	case CFI_UNSPECIFIED:
	case CFI_SAME:
		*at = FRAMETAB_AT_SAME;
		return true;
	case CFI_UNDEFINED:
		*at = FRAMETAB_AT_UNDEFINED;
		return true;
	case CFI_OFFSET:
	case CFI_VAL_OFFSET:
		*at = from->how == CFI_OFFSET ? FRAMETAB_AT_CFA : FRAMETAB_AT_VAL_CFA;
		*off = (int32_t)from->off;
		return run_fits(from->off);
	case CFI_REGISTER:
		*at = FRAMETAB_AT_REG;
		*off = (int32_t)from->off;
		return from->off >= 0 && from->off < 32;
	default:
		break;
	}
	shape = expr_recognize(from->expr, from->n, r->p->pc);
	if (from->how == CFI_EXPR && shape.form == EXPR_REG && run_fits(shape.off) &&
	    (shape.reg == r->p->sp || shape.reg == r->p->fp)) {
		*at = shape.reg == r->p->sp ? FRAMETAB_AT_SP : FRAMETAB_AT_FP;
		*off = (int32_t)shape.off;
		return true;
	}
	*at = from->how == CFI_EXPR ? FRAMETAB_AT_EXPR : FRAMETAB_AT_VAL_EXPR;
	*off = rows_expression(r->rows, from->expr, from->n);
	return *off >= 0;
}

/* Where a callee-saved register is, in words from the base; FRAMETAB_SAVE_UNKNOWN when that cannot be said so. */
static int16_t emit_save(struct run *r, const struct cfi_rule *from, bool at_sp)
{
	int64_t off = from->off;

	if (from->how == CFI_EXPR) {
		struct expr_shape shape = expr_recognize(from->expr, from->n, r->p->pc);

		if (!at_sp || shape.form != EXPR_REG || shape.reg != r->p->sp)
			return FRAMETAB_SAVE_UNKNOWN;
		off = shape.off;
	} else if (from->how != CFI_OFFSET || at_sp) {
		return FRAMETAB_SAVE_UNKNOWN;
	}
	return off % 8 || off / 8 <= INT16_MIN || off / 8 > INT16_MAX ? FRAMETAB_SAVE_UNKNOWN
	                                                              : (int16_t)(off / 8);
}

/* Saves of which one is told by an expression: a signal frame's, which lie above sp. */
static void emit_saves_at_sp(struct run *r)
{
	struct rows_rule *row = &r->row;
	unsigned n = 0;

	row->rule.saved = 0;
	for (unsigned i = 0; i < r->p->n_saved; i++) {
		const struct cfi_rule *from = &r->state.regs[i];

		if (from->how == CFI_UNSPECIFIED || from->how == CFI_SAME)
			continue;
		row->rule.saved |= (uint16_t)(1u << i);
		row->saves[n++] = emit_save(r, from, true);
	}
	row->rule.flags |= FRAMETAB_SAVES_AT_SP;
}

/*
 * Compilers do not say that an epilogue restored a register: they only raise the CFA's distance from sp less. A slot
 * that was on the stack and now lies below sp was popped: the register has the caller's value, the slot need not.
 * A slot that never was above sp is in the red zone, and stays what is said of it.
 */
static bool run_popped(struct run *r, struct cfi_rule *rule, int64_t stack)
{
	bool below = stack < -rule->off;

	rule->pushed |= !below;
	below &= rule->pushed;
	r->any_popped |= below;
	if (-rule->off > r->deepest)
		r->deepest = -rule->off;
	return below;
}

/* The saved registers of the row, and whether the frame pointer's slot was popped. */
static void run_slots(struct run *r)
{
	struct cfi_state *s = &r->state;
	/* bytes between sp and the CFA; unbounded where that is not known */
	int64_t stack = !s->cfa_is_expr && s->cfa_reg == r->p->sp ? s->cfa_off : INT64_MAX;
	struct cfi_rule *fp = &s->regs[CFI_FP];
	struct rows_rule *row = &r->row;
	unsigned n = 0, saved = 0;
	bool at_sp = false, popped;

	r->deepest = 0;
	r->any_popped = false;
	memset(row->saves, 0, sizeof(row->saves)); /* rows are compared as bytes */
	for (unsigned i = 0; i < r->p->n_saved; i++) {
		struct cfi_rule *rule = &s->regs[i];

		if (rule->how <= CFI_SAME ||
		    (rule->how == CFI_OFFSET && run_popped(r, rule, stack)))
			continue;
		at_sp |= rule->how == CFI_EXPR;
		saved |= 1u << i;
		row->saves[n++] = emit_save(r, rule, false);
	}
	row->rule.saved = (uint16_t)saved;
	row->rule.flags &= (uint16_t)~FRAMETAB_SAVES_AT_SP;
	if (at_sp)
		emit_saves_at_sp(r);
	popped = fp->how == CFI_OFFSET && run_popped(r, fp, stack);
	if (popped != fp->popped)
		r->changed |= CHANGED_FP;
	fp->popped = popped;
}

/* The usual change, of the CFA's offset alone, with all slots above sp before and after, pops nothing. */
static bool run_may_pop(const struct run *r)
{
	return r->changed & (CHANGED_FP | CHANGED_SAVES) || r->any_popped ||
	       r->state.cfa_off < r->deepest;
}

/* Adds the row that holds from loc on. Most rows differ from the one before in the CFA alone. */
static void run_emit(struct run *r)
{
	struct rows_rule *row = &r->row;
	const struct cfi_rule *regs = r->state.regs;

	if (r->changed && run_may_pop(r))
		run_slots(r);
	if (r->changed & CHANGED_CFA)
		r->failed |= !emit_cfa(r, &row->rule);
	if (r->changed & CHANGED_FP)
		r->failed |= !emit_at(r, &regs[CFI_FP], &row->rule.fp, &row->rule.fp_off);
	if (r->changed & CHANGED_RA)
		r->failed |= !emit_at(r, &regs[CFI_RA], &row->rule.ra, &row->rule.ra_off);
	r->changed = 0;
	if (!r->failed)
		rows_add(r->rows, r->loc, row);
}

static void run_advance(struct run *r, uint64_t delta)
{
	if (!r->rows || delta > UINT64_MAX / (r->cie->code_factor | 1)) {
		r->failed = true;
		return;
	}
	if (!delta)
		return;
	run_emit(r);
	delta *= r->cie->code_factor;
	if (delta > r->end - r->loc) /* beyond the function: what is said of there is of no use */
		delta = r->end - r->loc;
	r->loc += delta;
}

static void run_def_cfa(struct run *r, uint64_t reg, int64_t off)
{
	r->state.cfa_is_expr = false;
	r->state.cfa_reg = reg > 255 ? 255 : (uint32_t)reg;
	r->state.cfa_off = off;
	r->changed |= CHANGED_CFA;
}

static void run_stack(struct run *r, bool remember)
{
	if (remember ? r->depth == REMEMBER_MAX : !r->depth) {
		r->failed = true;
		return;
	}
	if (remember)
		r->stack[r->depth++] = r->state;
	else
		r->state = r->stack[--r->depth];
	if (remember)
		return;
	r->changed = CHANGED_ALL;
	r->row.rule.flags &= (uint16_t)~FRAMETAB_MANGLED_RA;
	if (r->state.mangled)
		r->row.rule.flags |= FRAMETAB_MANGLED_RA;
}

static void run_cfa_expression(struct run *r)
{
	uint64_t n = leb_unsigned(&r->c);

	r->state.cfa_expr = cursor_bytes(&r->c, n);
	r->state.n_cfa_expr = (size_t)n;
	r->state.cfa_is_expr = true;
	r->changed |= CHANGED_CFA;
	r->failed |= !r->state.cfa_expr;
}

/* Instructions that define the CFA. False: op is none of them. */
static bool run_cfa_op(struct run *r, uint8_t op)
{
	struct cursor *c = &r->c;
	uint64_t reg;

	switch (op) {
	case CFA_DEF_CFA:
		reg = leb_unsigned(c);
		run_def_cfa(r, reg, (int64_t)leb_unsigned(c));
		return true;
	case CFA_DEF_CFA_SF:
		reg = leb_unsigned(c);
		run_def_cfa(r, reg, run_factored(r, (uint64_t)leb_signed(c)));
		return true;
	case CFA_DEF_CFA_REGISTER:
		r->failed |= r->state.cfa_is_expr;
		run_def_cfa(r, leb_unsigned(c), r->state.cfa_off);
		return true;
	case CFA_DEF_CFA_OFFSET:
		r->failed |= r->state.cfa_is_expr;
		run_def_cfa(r, r->state.cfa_reg, (int64_t)leb_unsigned(c));
		return true;
	case CFA_DEF_CFA_OFFSET_SF:
		r->failed |= r->state.cfa_is_expr;
		run_def_cfa(r, r->state.cfa_reg, run_factored(r, (uint64_t)leb_signed(c)));
		return true;
	case CFA_DEF_CFA_EXPRESSION:
		run_cfa_expression(r);
		return true;
	default:
		return false;
	}
}

/* Instructions that say where a register is. False: op is none of them. */
static bool run_register_op(struct run *r, uint8_t op)
{
	struct cursor *c = &r->c;
	uint64_t reg;

	switch (op) {
	case CFA_OFFSET_EXTENDED:
		reg = leb_unsigned(c);
		run_set(r, reg, CFI_OFFSET, run_factored(r, leb_unsigned(c)));
		return true;
	case CFA_OFFSET_EXTENDED_SF:
		reg = leb_unsigned(c);
		run_set(r, reg, CFI_OFFSET, run_factored(r, (uint64_t)leb_signed(c)));
		return true;
	case CFA_GNU_NEGATIVE_OFFSET_EXTENDED:
		reg = leb_unsigned(c);
		run_set(r, reg, CFI_OFFSET, run_factored(r, -leb_unsigned(c)));
		return true;
	case CFA_VAL_OFFSET:
		reg = leb_unsigned(c);
		run_set(r, reg, CFI_VAL_OFFSET, run_factored(r, leb_unsigned(c)));
		return true;
	case CFA_VAL_OFFSET_SF:
		reg = leb_unsigned(c);
		run_set(r, reg, CFI_VAL_OFFSET, run_factored(r, (uint64_t)leb_signed(c)));
		return true;
	case CFA_RESTORE_EXTENDED:
		run_restore(r, leb_unsigned(c));
		return true;
	case CFA_UNDEFINED:
		run_set(r, leb_unsigned(c), CFI_UNDEFINED, 0);
		return true;
	case CFA_SAME_VALUE:
		run_set(r, leb_unsigned(c), CFI_SAME, 0);
		return true;
	case CFA_REGISTER:
		reg = leb_unsigned(c);
		run_set(r, reg, CFI_REGISTER, (int64_t)leb_unsigned(c));
		return true;
	case CFA_EXPRESSION:
		run_expression(r, CFI_EXPR);
		return true;
	case CFA_VAL_EXPRESSION:
		run_expression(r, CFI_VAL_EXPR);
		return true;
	default:
		return false;
	}
}

static void run_op(struct run *r, uint8_t op)
{
	struct cursor *c = &r->c;

	if ((op & 0xc0) == CFA_ADVANCE) {
		run_advance(r, op & 0x3f);
		return;
	}
	if ((op & 0xc0) == CFA_OFFSET) {
		run_set(r, op & 0x3f, CFI_OFFSET, run_factored(r, leb_unsigned(c)));
		return;
	}
	if ((op & 0xc0) == CFA_RESTORE) {
		run_restore(r, op & 0x3f);
		return;
	}
	if (run_cfa_op(r, op) || run_register_op(r, op))
		return;
	switch (op) {
	case CFA_NOP:
		break;
	case CFA_ADVANCE1:
		run_advance(r, cursor_u8(c));
		break;
	case CFA_ADVANCE2:
		run_advance(r, cursor_u16(c));
		break;
	case CFA_ADVANCE4:
		run_advance(r, cursor_u32(c));
		break;
	case CFA_REMEMBER:
		run_stack(r, true);
		break;
	case CFA_RESTORE_STATE:
		run_stack(r, false);
		break;
	case CFA_AARCH64_NEGATE_RA_STATE: /* on SPARC this number saves register windows; it is not a machine of ours */
	case CFA_AARCH64_NEGATE_RA_STATE_WITH_PC:
		r->failed |= r->p->machine != FRAMETAB_AARCH64;
		r->state.mangled = !r->state.mangled;
		r->row.rule.flags ^= FRAMETAB_MANGLED_RA;
		break;
	case CFA_GNU_ARGS_SIZE:
		leb_unsigned(c);
		break;
	default: /* CFA_SET_LOC too: nobody writes it */
		r->failed = true;
	}
}

static bool run_all(struct run *r)
{
	while (cursor_left(&r->c) && !r->failed) {
		run_op(r, cursor_u8(&r->c));
		if (r->c.failed)
			return false;
	}
	return !r->failed;
}

/* Puts r at the start of a program. The remembered states stay uninitialised: depth says how many there are. */
static void run_start(struct run *r, const struct cfi_program *p, struct rows *rows,
                      const struct cfi_cie *cie)
{
	r->p = p;
	r->rows = rows;
	r->cie = cie;
	r->loc = r->end = 0;
	r->depth = 0;
	r->changed = CHANGED_ALL;
	r->failed = false;
	memset(&r->row, 0, sizeof(r->row));
	if (cie->is_signal_frame)
		r->row.rule.flags |= FRAMETAB_SIGNAL_FRAME;
}

bool cfi_program_start(const struct cfi_program *p, struct cfi_cie *cie)
{
	static const struct cfi_state nothing = { .cfa_reg = 255 };
	struct run r;

	if (cie->ra_register >= sizeof(p->tracked) || p->tracked[cie->ra_register] != CFI_RA)
		return false;
	run_start(&r, p, NULL, cie);
	r.c = cursor_of(cie->instructions, cie->n_instructions, false);
	r.state = nothing;
	if (!run_all(&r))
		return false;
	cie->initial = r.state;
	return true;
}

bool cfi_program_run(const struct cfi_program *p, struct rows *rows, const struct cfi_cie *cie,
                     struct cursor *entry, uint64_t start, uint64_t end)
{
	struct run r;

	run_start(&r, p, rows, cie);
	r.c = *entry;
	r.loc = start;
	r.end = end;
	r.state = cie->initial;
	if (r.state.mangled)
		r.row.rule.flags |= FRAMETAB_MANGLED_RA;
	if (!run_all(&r))
		return false;
	if (r.loc < end)
		run_emit(&r);
	return !r.failed;
}
