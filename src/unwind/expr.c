// SPDX-License-Identifier: MIT
/*
 * expr.c: see expr.h. DWARF expressions are programs for a stack machine (DWARF 5, 2.5). In unwind
 * information they are rare: procedure linkage tables, signal trampolines, functions that align
 * their stack. Most are of three shapes, which expr_recognize finds, so that a table can hold them
 * as a rule; the rest is evaluated at each step of a walk.
 *
 * Invariant: the bytes are somebody else's. Every evaluation is bounded in steps and stack; every
 * read goes through the caller; a fault ends it with an error and never with a value.
 */
#include "unwind/expr.h"

#include <errno.h>

#include "base/leb.h"

/* DWARF 5, 7.7.1 */
enum {
	OP_ADDR = 0x03,
	OP_DEREF = 0x06,
	OP_CONST1U = 0x08,
	OP_CONST1S,
	OP_CONST2U,
	OP_CONST2S,
	OP_CONST4U,
	OP_CONST4S,
	OP_CONST8U,
	OP_CONST8S,
	OP_CONSTU,
	OP_CONSTS,
	OP_DUP,
	OP_DROP,
	OP_OVER,
	OP_PICK,
	OP_SWAP,
	OP_ROT,
	OP_ABS = 0x19,
	OP_AND,
	OP_DIV,
	OP_MINUS,
	OP_MOD,
	OP_MUL,
	OP_NEG,
	OP_NOT,
	OP_OR,
	OP_PLUS,
	OP_PLUS_UCONST,
	OP_SHL,
	OP_SHR,
	OP_SHRA,
	OP_XOR,
	OP_BRA,
	OP_EQ,
	OP_GE,
	OP_GT,
	OP_LE,
	OP_LT,
	OP_NE,
	OP_SKIP,
	OP_LIT0 = 0x30,
	OP_REG0 = 0x50,
	OP_BREG0 = 0x70,
	OP_BREGX = 0x92,
	OP_DEREF_SIZE = 0x94,
	OP_NOP = 0x96,
};

/* Takes one operation. Whether or not it is the wanted one, it is consumed. */
static bool expr_is(struct cursor *c, uint8_t op)
{
	return cursor_left(c) && cursor_u8(c) == op;
}

/* sp + off, (pc & 15) >= k, << 3, +: what linkers write for .plt: the second half of an entry has
 * pushed one word. */
static bool expr_plt(struct cursor *c, unsigned pc_register, struct expr_shape *ret)
{
	/* Each byte is compared: an expression that differs in one operation is another one. */
	uint8_t op = cursor_u8(c);

	if (op != OP_BREG0 + pc_register || leb_signed(c) != 0 || !expr_is(c, OP_LIT0 + 15) ||
	    !expr_is(c, OP_AND))
		return false;
	op = cursor_u8(c);
	if (op < OP_LIT0 || op > OP_LIT0 + 31)
		return false;
	/* From which byte of the entry on the word is pushed: 11 for the usual PLT. */
	ret->add = op - OP_LIT0;
	if (!expr_is(c, OP_GE) || !expr_is(c, OP_LIT0 + 3) || !expr_is(c, OP_SHL) ||
	    !expr_is(c, OP_PLUS))
		return false;
	return !c->failed && !cursor_left(c);
}

/* Recognizes the few expressions that compilers and linkers really write, so that the table can say
 * them without an expression. EXPR_OTHER: anything else, or unsound. */
struct expr_shape expr_recognize(const unsigned char *bytes, size_t n, unsigned pc_register)
{
	struct cursor c = cursor_of(bytes, n, false);
	struct expr_shape other = { EXPR_OTHER }, ret = { EXPR_OTHER };
	uint8_t op = cursor_u8(&c);
	struct cursor rest;

	if (op < OP_BREG0 || op > OP_BREG0 + 31)
		return other;
	ret.reg = op - OP_BREG0;
	ret.off = leb_signed(&c);
	if (c.failed)
		return other;
	if (!cursor_left(&c)) {
		ret.form = EXPR_REG;
		return ret;
	}
	rest = c;
	if (expr_plt(&rest, pc_register, &ret)) {
		ret.form = EXPR_PLT;
		return ret;
	}
	if (!expr_is(&c, OP_DEREF))
		return other;
	ret.form = EXPR_DEREF;
	ret.add = 0;
	if (!cursor_left(&c))
		return ret;
	op = cursor_u8(&c);
	if (op == OP_PLUS_UCONST)
		ret.add = (int64_t)leb_unsigned(&c);
	else if (op >= OP_LIT0 && op <= OP_LIT0 + 31 && expr_is(&c, OP_PLUS))
		ret.add = op - OP_LIT0;
	else
		return other;
	return c.failed || cursor_left(&c) ? other : ret;
}

struct expr_state {
	const struct expr_machine *m;
	struct cursor c;
	uint64_t stack[EXPR_STACK_MAX];
	unsigned n;
	int failed;
};

/* The first fault counts. What is computed after it is not used. */
static uint64_t expr_fail(struct expr_state *s, int status)
{
	if (!s->failed)
		s->failed = status;
	return 0;
}

static void expr_push(struct expr_state *s, uint64_t v)
{
	if (s->n == EXPR_STACK_MAX)
		expr_fail(s, -EINVAL);
	else
		s->stack[s->n++] = v;
}

/* An empty stack is a fault, whose value 0 nobody uses. */
static uint64_t expr_pop(struct expr_state *s)
{
	return s->n ? s->stack[--s->n] : expr_fail(s, -EINVAL);
}

static uint64_t expr_peek(struct expr_state *s, uint64_t depth)
{
	return depth < s->n ? s->stack[s->n - 1 - depth] : expr_fail(s, -EINVAL);
}

/* The value of a register, if the walk knows it at this frame: it knows few of them. */
static void expr_register(struct expr_state *s, uint64_t number)
{
	int64_t off = leb_signed(&s->c);

	if (number >= 64 || !(s->m->known >> number & 1))
		expr_fail(s, -EINVAL);
	else
		expr_push(s, s->m->registers[number] + (uint64_t)off);
}

/* Reads memory where the top of the stack points. The caller of the evaluation says what can be
 * read; that it cannot is a fault like any other. */
static void expr_deref(struct expr_state *s, unsigned size)
{
	uint64_t v = 0;
	int status = size >= 1 && size <= 8 ? s->m->read(s->m->ctx, expr_pop(s), &v) : -EINVAL;

	if (status < 0)
		expr_fail(s, status);
	expr_push(s, size >= 8 ? v : v & ((1ULL << size * 8) - 1));
}

/* A jump leads to another place of the expression, or just behind its end. It may lead back: the
 * limit of steps ends such loops. */
static void expr_jump(struct expr_state *s, bool taken)
{
	int16_t by = (int16_t)cursor_u16(&s->c);
	int64_t to = (int64_t)cursor_offset(&s->c) + by;

	if (taken && (to < 0 || !cursor_seek(&s->c, (uint64_t)to)))
		expr_fail(s, -EINVAL);
}

static void expr_unary(struct expr_state *s, uint8_t op)
{
	uint64_t a = expr_pop(s);

	switch (op) {
	case OP_ABS:
		expr_push(s, (int64_t)a < 0 ? -a : a);
		break;
	case OP_NEG:
		expr_push(s, -a);
		break;
	default: /* OP_NOT */
		expr_push(s, ~a);
	}
}

/* Pops two values, applies the operation and pushes the result. Comparisons and division are
 * signed, as DWARF demands; nothing here can trap. */
static void expr_binary(struct expr_state *s, uint8_t op)
{
	uint64_t b = expr_pop(s), a = expr_pop(s), v = 0;
	int64_t x = (int64_t)a, y = (int64_t)b;

	switch (op) {
	case OP_AND:
		v = a & b;
		break;
	case OP_DIV: /* signed; the one overflow wraps */
		v = !b ? expr_fail(s, -EINVAL) : y == -1 ? -a : (uint64_t)(x / y);
		break;
	case OP_MINUS:
		v = a - b;
		break;
	case OP_MOD:
		v = b ? a % b : expr_fail(s, -EINVAL);
		break;
	case OP_MUL:
		v = a * b;
		break;
	case OP_OR:
		v = a | b;
		break;
	case OP_PLUS:
		v = a + b;
		break;
	/* Shifts by the width or more are not C's to do. */
	case OP_SHL:
		v = b < 64 ? a << b : 0;
		break;
	case OP_SHR:
		v = b < 64 ? a >> b : 0;
		break;
	case OP_SHRA:
		v = (uint64_t)(x >> (b < 63 ? b : 63));
		break;
	case OP_XOR:
		v = a ^ b;
		break;
	case OP_EQ:
		v = a == b;
		break;
	case OP_GE:
		v = x >= y;
		break;
	case OP_GT:
		v = x > y;
		break;
	case OP_LE:
		v = x <= y;
		break;
	case OP_LT:
		v = x < y;
		break;
	case OP_NE:
		v = a != b;
		break;
	default:
		expr_fail(s, -EINVAL);
	}
	expr_push(s, v);
}

/* Pushes the constant that stands behind the operation. False: op is no such operation, and nothing
 * was read. */
static bool expr_constant(struct expr_state *s, uint8_t op)
{
	struct cursor *c = &s->c;

	switch (op) {
	case OP_ADDR:
	case OP_CONST8U:
	case OP_CONST8S:
		expr_push(s, cursor_u64(c));
		return true;
	case OP_CONST1U:
		expr_push(s, cursor_u8(c));
		return true;
	case OP_CONST1S:
		expr_push(s, (uint64_t)(int8_t)cursor_u8(c));
		return true;
	case OP_CONST2U:
		expr_push(s, cursor_u16(c));
		return true;
	case OP_CONST2S:
		expr_push(s, (uint64_t)(int16_t)cursor_u16(c));
		return true;
	case OP_CONST4U:
		expr_push(s, cursor_u32(c));
		return true;
	case OP_CONST4S:
		expr_push(s, (uint64_t)(int32_t)cursor_u32(c));
		return true;
	case OP_CONSTU:
		expr_push(s, leb_unsigned(c));
		return true;
	case OP_CONSTS:
		expr_push(s, (uint64_t)leb_signed(c));
		return true;
	default:
		return false;
	}
}

/* Operations that only move values on the stack. False: op is none of them. */
static bool expr_stack_op(struct expr_state *s, uint8_t op)
{
	uint64_t a, b, c;

	switch (op) {
	case OP_DUP:
		expr_push(s, expr_peek(s, 0));
		return true;
	case OP_DROP:
		expr_pop(s);
		return true;
	case OP_OVER:
		expr_push(s, expr_peek(s, 1));
		return true;
	case OP_PICK:
		expr_push(s, expr_peek(s, cursor_u8(&s->c)));
		return true;
	case OP_SWAP:
		a = expr_pop(s);
		b = expr_pop(s);
		expr_push(s, a);
		expr_push(s, b);
		return true;
	case OP_ROT:
		a = expr_pop(s);
		b = expr_pop(s);
		c = expr_pop(s);
		expr_push(s, a);
		expr_push(s, c);
		expr_push(s, b);
		return true;
	default:
		return false;
	}
}

/* Executes one operation. Faults are left in s->failed, or in the cursor when operands are
 * missing. */
static void expr_step(struct expr_state *s)
{
	uint8_t op = cursor_u8(&s->c);

	if (expr_constant(s, op) || expr_stack_op(s, op) || op == OP_NOP)
		return;
	if (op >= OP_LIT0 && op < OP_LIT0 + 32)
		expr_push(s, op - OP_LIT0);
	else if (op >= OP_BREG0 && op < OP_BREG0 + 32)
		expr_register(s, op - OP_BREG0);
	else if (op == OP_BREGX)
		expr_register(s, leb_unsigned(&s->c));
	else if (op == OP_DEREF)
		expr_deref(s, 8);
	else if (op == OP_DEREF_SIZE)
		expr_deref(s, cursor_u8(&s->c));
	else if (op == OP_PLUS_UCONST)
		expr_push(s, expr_pop(s) + leb_unsigned(&s->c));
	else if (op == OP_ABS || op == OP_NEG || op == OP_NOT)
		expr_unary(s, op);
	else if (op == OP_SKIP)
		expr_jump(s, true);
	else if (op == OP_BRA)
		expr_jump(s, expr_pop(s) != 0);
	else
		expr_binary(s, op);
}

/* The result is the value on top of the stack. Steps and depth are limited, so that a loop in the
 * expression ends with -EINVAL. */
int expr_evaluate(const struct expr_machine *m, const unsigned char *bytes, size_t n,
                  bool has_initial, uint64_t initial, uint64_t *ret)
{
	struct expr_state s = { .m = m, .c = cursor_of(bytes, n, false) };

	if (has_initial)
		expr_push(&s, initial);
	/* The bound on steps also ends jumps backwards. */
	for (unsigned steps = 0; cursor_left(&s.c); steps++) {
		if (steps == EXPR_STEPS_MAX)
			return -EINVAL;
		expr_step(&s);
		if (s.c.failed)
			return -EINVAL;
		if (s.failed)
			return s.failed;
	}
	if (!s.n)
		return -EINVAL;
	*ret = s.stack[s.n - 1];
	return 0;
}
