// SPDX-License-Identifier: MIT
/*
 * cfi_row.c: makes a rule of the table from a state of the registers. See cfi_row.h.
 *
 * A rule says three things: what the CFA is, where the caller's frame pointer and return address
 * are, and where callee-saved registers were saved. docs/unwind-table.md has its form.
 *
 * Invariant: what a rule cannot say exactly becomes an expression, or "cannot be told", or is
 * refused. It never becomes something nearly the same.
 */
#include "unwind/cfi_row.h"

#include <string.h>

#include "unwind/expr.h"

struct row {
	const struct cfi_machine *m;
	struct cfi_state *state;
	struct rows *rows; /* where expressions are kept */
	struct rows_rule *ret;
};

/* Offsets of a rule have 32 bits. */
static bool row_fits(int64_t v)
{
	return v >= INT32_MIN && v <= INT32_MAX;
}

/* The CFA part of a rule. False: it cannot be said, not even as an expression. */
static bool row_cfa(const struct row *r, struct frametab_rule *rule)
{
	const struct cfi_state *s = r->state;
	struct expr_shape shape;

	/* A register and an offset. */
	if (!s->cfa_expr) {
		if (s->cfa_reg > 31 || !row_fits(s->cfa_off))
			return false;
		rule->cfa = s->cfa_reg == r->m->sp   ? FRAMETAB_CFA_SP
		            : s->cfa_reg == r->m->fp ? FRAMETAB_CFA_FP
		                                     : FRAMETAB_CFA_REG;
		rule->cfa_reg = rule->cfa == FRAMETAB_CFA_REG ? (uint8_t)s->cfa_reg : 0;
		rule->cfa_off = (int32_t)s->cfa_off;
		rule->cfa_add = 0;
		return true;
	}
	/* Expressions as compilers and linkers write them become rules that need no evaluation. */
	shape = expr_recognize(s->cfa_expr, s->n_cfa_expr, r->m->pc);
	if (shape.form != EXPR_OTHER && row_fits(shape.off) && row_fits(shape.add)) {
		bool sp = shape.reg == r->m->sp, fp = shape.reg == r->m->fp;

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
	/* Any other expression is stored, and evaluated while walking. */
	rule->cfa = FRAMETAB_CFA_EXPR;
	rule->cfa_reg = 0;
	rule->cfa_add = 0;
	rule->cfa_off = rows_expression(r->rows, s->cfa_expr, s->n_cfa_expr);
	return rule->cfa_off >= 0;
}

/* Frame pointer or return address. False: it cannot be said. */
static bool row_at(const struct row *r, const struct cfi_rule *from, uint8_t *at, int32_t *off)
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
		return row_fits(from->off);
	case CFI_REGISTER:
		*at = FRAMETAB_AT_REG;
		*off = (int32_t)from->off;
		return from->off >= 0 && from->off < 32;
	default:
		break;
	}
	shape = expr_recognize(from->expr, from->n, r->m->pc);
	if (from->how == CFI_EXPR && shape.form == EXPR_REG && row_fits(shape.off) &&
	    (shape.reg == r->m->sp || shape.reg == r->m->fp)) {
		*at = shape.reg == r->m->sp ? FRAMETAB_AT_SP : FRAMETAB_AT_FP;
		*off = (int32_t)shape.off;
		return true;
	}
	*at = from->how == CFI_EXPR ? FRAMETAB_AT_EXPR : FRAMETAB_AT_VAL_EXPR;
	*off = rows_expression(r->rows, from->expr, from->n);
	return *off >= 0;
}

/* Where a callee-saved register is, in words from the base; FRAMETAB_SAVE_UNKNOWN when that cannot
 * be said so. */
static int16_t row_save(const struct row *r, const struct cfi_rule *from, bool at_sp)
{
	int64_t off = from->off;

	if (from->how == CFI_EXPR) {
		struct expr_shape shape = expr_recognize(from->expr, from->n, r->m->pc);

		if (!at_sp || shape.form != EXPR_REG || shape.reg != r->m->sp)
			return FRAMETAB_SAVE_UNKNOWN;
		off = shape.off;
	} else if (from->how != CFI_OFFSET || at_sp) {
		return FRAMETAB_SAVE_UNKNOWN;
	}
	return off % 8 || off / 8 <= INT16_MIN || off / 8 > INT16_MAX ? FRAMETAB_SAVE_UNKNOWN
	                                                              : (int16_t)(off / 8);
}

/* Saves of which one is told by an expression: a signal frame's, which lie above sp. */
static void row_saves_at_sp(const struct row *r)
{
	struct rows_rule *row = r->ret;
	unsigned n = 0;

	row->rule.saved = 0;
	memset(row->saves, 0, sizeof(row->saves));
	for (unsigned i = 0; i < r->m->n_saved; i++) {
		const struct cfi_rule *from = &r->state->regs[i];

		if (from->how == CFI_UNSPECIFIED || from->how == CFI_SAME)
			continue;
		row->rule.saved |= (uint16_t)(1u << i);
		row->saves[n++] = row_save(r, from, true);
	}
	row->rule.flags |= FRAMETAB_SAVES_AT_SP;
}

/*
 * Compilers do not state that an epilogue restored a register: they only make the CFA's distance
 * from sp smaller. A slot that was on the stack and now lies below sp was popped: the register has
 * the caller's value again, whatever is in the slot. A slot that never was above sp is in the red
 * zone, and what is said of it stays true.
 */
static bool row_popped(struct cfi_rule *rule, int64_t stack)
{
	/* INT64_MIN has no negative. */
	bool below = rule->off == INT64_MIN || stack < -rule->off;

	rule->pushed |= !below;
	return below && rule->pushed;
}

/* The saved registers of the row, and whether the frame pointer's slot was popped. */
static void row_slots(const struct row *r)
{
	struct cfi_state *s = r->state;
	/* bytes between sp and the CFA; unbounded where that is not known */
	int64_t stack = !s->cfa_expr && s->cfa_reg == r->m->sp ? s->cfa_off : INT64_MAX;
	struct cfi_rule *fp = &s->regs[CFI_FP];
	unsigned n = 0, saved = 0;
	/* Set by one save that an expression tells: then all of this row are told from sp. */
	bool at_sp = false;

	for (unsigned i = 0; i < r->m->n_saved; i++) {
		struct cfi_rule *rule = &s->regs[i];

		if (rule->how <= CFI_SAME || (rule->how == CFI_OFFSET && row_popped(rule, stack)))
			continue;
		at_sp |= rule->how == CFI_EXPR;
		saved |= 1u << i;
		r->ret->saves[n++] = row_save(r, rule, false);
	}
	r->ret->rule.saved = (uint16_t)saved;
	if (at_sp)
		row_saves_at_sp(r);
	fp->popped = fp->how == CFI_OFFSET && row_popped(fp, stack);
}

bool cfi_row_of(const struct cfi_machine *m, const struct cfi_kind *kind, struct cfi_state *state,
                struct rows *rows, struct rows_rule *ret)
{
	const struct row r = { .m = m, .state = state, .rows = rows, .ret = ret };
	struct frametab_rule *rule = &ret->rule;

	memset(ret, 0, sizeof(*ret)); /* rules are compared as bytes */
	rule->flags = (kind->is_signal_frame ? FRAMETAB_SIGNAL_FRAME : 0) |
	              (state->mangled ? FRAMETAB_MANGLED_RA : 0);
	row_slots(&r);
	return row_cfa(&r, rule) && row_at(&r, &state->regs[CFI_FP], &rule->fp, &rule->fp_off) &&
	       row_at(&r, &state->regs[CFI_RA], &rule->ra, &rule->ra_off);
}
