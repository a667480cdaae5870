// SPDX-License-Identifier: MIT
/*
 * cfi_program.c: see cfi_program.h. Knows where instructions hold (advance) and what is put aside
 * (remember); what they say is cfi_op.c's, what that is as a rule cfi_row.c's.
 *
 * Compilers write the same few prologues and epilogues in every function. So states are numbered,
 * and a step (from this state, by these bytes, to that state, whose rule has that number) is worked
 * out once and remembered in a table by its hash. Most functions are then a few look-ups.
 *
 * Invariant: a row is added for each run of addresses with one state; an instruction that is not
 * known ends the function. Numbers of states hold until program_forget; `age` counts how often that
 * was.
 */
#include "unwind/cfi_program.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/leb.h"
#include "base/map.h"
#include "unwind/cfi_row.h"

#define REMEMBER_MAX 32u  /* depth of remember_state; compilers use 1 to 3 */
#define STATES_MAX 16384u /* numbered at once; the largest objects have a few thousand */
#define RECENT (STATES_MAX * 2)
#define STEPS 8192u
#define KINDS_RECENT 16u /* .debug_frame has a CIE per source file; nearly all are alike */

/* A step: from one state, by some instructions, to the next. A step that ends at an advance has a
 * row. */
struct cfi_step {
	uint64_t key;               /* cfi_step_key; 0: none */
	uint64_t word;              /* the instructions, or the first 8 bytes of them */
	const unsigned char *bytes; /* those of the step that was worked out, in the section */
	uint32_t to;
	uint32_t rule; /* of the row */
};

_Static_assert(sizeof(struct cfi_step) == 32, "two in a line of the processor's cache");

#define STEP_BYTES_MAX 255u /* longer ones are worked out each time */

/* The key of a step: all that defines it except its instructions. */
static inline uint64_t cfi_step_key(uint32_t from, size_t n, bool emits)
{
	return (uint64_t)from << 16 | n << 8 | emits << 1 | 1;
}

/* What this file does with an instruction: the number of its LEB operands to pass, or how it ends a
 * step, or what else. */
enum {
	OP_LEB_MAX = 2,
	OP_NOP,
	OP_BLOCK,
	OP_LEB_BLOCK,
	OP_REMEMBER,
	OP_RESTORE,
	OP_ADVANCE,
	OP_UNKNOWN,
};

/* Says how many operands an instruction has, or what else it does to the flow. OP_UNKNOWN ends the
 * function that it stands in. */
static uint8_t cfi_op_shape(uint8_t op)
{
	static const uint8_t low[] = {
		[CFA_NOP] = OP_NOP,
		[CFA_SET_LOC] = OP_UNKNOWN,
		[CFA_ADVANCE1] = OP_ADVANCE,
		[CFA_ADVANCE2] = OP_ADVANCE,
		[CFA_ADVANCE4] = OP_ADVANCE,
		[CFA_OFFSET_EXTENDED] = 2,
		[CFA_RESTORE_EXTENDED] = 1,
		[CFA_UNDEFINED] = 1,
		[CFA_SAME_VALUE] = 1,
		[CFA_REGISTER] = 2,
		[CFA_REMEMBER] = OP_REMEMBER,
		[CFA_RESTORE_STATE] = OP_RESTORE,
		[CFA_DEF_CFA] = 2,
		[CFA_DEF_CFA_REGISTER] = 1,
		[CFA_DEF_CFA_OFFSET] = 1,
		[CFA_DEF_CFA_EXPRESSION] = OP_BLOCK,
		[CFA_EXPRESSION] = OP_LEB_BLOCK,
		[CFA_OFFSET_EXTENDED_SF] = 2,
		[CFA_DEF_CFA_SF] = 2,
		[CFA_DEF_CFA_OFFSET_SF] = 1,
		[CFA_VAL_OFFSET] = 2,
		[CFA_VAL_OFFSET_SF] = 2,
		[CFA_VAL_EXPRESSION] = OP_LEB_BLOCK,
	};

	switch (op & 0xc0) {
	case CFA_ADVANCE:
		return OP_ADVANCE;
	case CFA_OFFSET:
		return 1;
	case CFA_RESTORE:
		return 0;
	default:
		break;
	}
	switch (op) {
	case CFA_AARCH64_NEGATE_RA_STATE_WITH_PC:
	case CFA_AARCH64_NEGATE_RA_STATE:
		return 0;
	case CFA_GNU_ARGS_SIZE:
		return 1;
	case CFA_GNU_NEGATIVE_OFFSET_EXTENDED:
		return 2;
	default:
		return op < sizeof(low) ? low[op] : OP_UNKNOWN;
	}
}

/* ---- states ---- */

int cfi_program_init(struct cfi_program *p, struct rows *rows,
                     const struct compile_section *section)
{
	*p = (struct cfi_program){ .rows = rows, .readable = section->bytes + section->n };
	cfi_machine_init(&p->machine, rows->in->machine);
	p->states = malloc(STATES_MAX * sizeof(*p->states));
	p->recent = calloc(RECENT, sizeof(*p->recent));
	p->steps = calloc(STEPS, sizeof(*p->steps));
	for (unsigned op = 0; op < sizeof(p->shapes); op++)
		p->shapes[op] = cfi_op_shape((uint8_t)op);
	return p->states && p->recent && p->steps ? 0 : -ENOMEM;
}

void cfi_program_free(struct cfi_program *p)
{
	buf_free(&p->kinds);
	free(p->states);
	free(p->recent);
	free(p->steps);
}

/* Kinds are never forgotten: there are a few per section. */
static struct cfi_kind *program_kind(const struct cfi_program *p, uint32_t number)
{
	return (struct cfi_kind *)(void *)p->kinds.bytes + number;
}

/* All numbers are void after it; rows keep theirs, which are numbers of rules. */
static void program_forget(struct cfi_program *p)
{
	p->n_states = 0;
	p->age++;
	memset(p->recent, 0, RECENT * sizeof(*p->recent));
	memset(p->steps, 0, STEPS * sizeof(*p->steps));
}

/* The number of a state, added when it is new; there is room. A state may get a second number,
 * which costs only time. */
static uint32_t program_number(struct cfi_program *p, const struct cfi_state *s)
{
	uint32_t *recent = &p->recent[map_hash_bytes(s, sizeof(*s), 0) % RECENT];

	if (*recent && !memcmp(&p->states[*recent - 1], s, sizeof(*s)))
		return *recent - 1;
	p->states[p->n_states] = *s;
	*recent = ++p->n_states;
	return *recent - 1;
}

/* The number of the state that functions of a kind begin with. */
static uint32_t program_initial(struct cfi_program *p, struct cfi_kind *kind)
{
	if (!kind->has_number || kind->age != p->age) {
		if (p->n_states == STATES_MAX)
			program_forget(p);
		kind->number = program_number(p, &kind->initial);
		kind->has_number = true;
		kind->age = p->age;
	}
	return kind->number;
}

/* CIEs that do the same get the same kind: of the last KINDS_RECENT kinds the equal one is taken,
 * so that steps remembered for one serve the other. */
bool cfi_program_start(struct cfi_program *p, struct cfi_cie *cie)
{
	struct cfi_kind kind = { .data_factor = cie->of.data_factor,
		                 .is_signal_frame = cie->of.is_signal_frame };
	uint32_t n = (uint32_t)(p->kinds.n / sizeof(kind));

	/* The return address must be where this machine has it; in another register it would be no
	 * table of ours. */
	if (cie->of.ra_register >= sizeof(p->machine.tracked) ||
	    p->machine.tracked[cie->of.ra_register] != CFI_RA)
		return false;
	/* 255: no CFA has been defined yet. A row of such a state cannot be said. */
	kind.initial.cfa_reg = 255;
	if (!cfi_op_apply(&p->machine, &kind, true, &kind.initial, cie->of.instructions,
	                  cie->of.n_instructions))
		return false;
	for (cie->kind = n > KINDS_RECENT ? n - KINDS_RECENT : 0; cie->kind < n; cie->kind++) {
		const struct cfi_kind *had = program_kind(p, cie->kind);

		kind.initial.kind = cie->kind;
		if (had->data_factor == kind.data_factor &&
		    had->is_signal_frame == kind.is_signal_frame &&
		    !memcmp(&had->initial, &kind.initial, sizeof(kind.initial)))
			return true;
	}
	kind.initial.kind = n;
	if (buf_put(&p->kinds, &kind, sizeof(kind)) < 0)
		p->rows->failed = -ENOMEM;
	return !p->kinds.failed;
}

/* ---- one function ---- */

struct run {
	struct cfi_program *p;
	const struct cfi_cie *cie;
	struct cursor c;
	const unsigned char *step,
	        *step_end;              /* the instructions since the last row, or remembering */
	struct rows_row *row, *row_end; /* where the next goes, and no further */
	uint64_t loc, size;             /* from the function's start */
	uint32_t rule;                  /* of the row before; 0: there is none */
	uint32_t state;
	uint32_t depth;
	uint32_t stack[REMEMBER_MAX];
};

/* Makes room for states: forgets all but those of the function that is being run. */
static void cfi_run_forget(struct run *r)
{
	struct cfi_program *p = r->p;
	/* The states in use are copied out first, as their places are given to others. */
	struct cfi_state stack[REMEMBER_MAX], state = p->states[r->state];

	for (uint32_t i = 0; i < r->depth; i++)
		stack[i] = p->states[r->stack[i]];
	program_forget(p);
	r->state = program_number(p, &state);
	for (uint32_t i = 0; i < r->depth; i++)
		r->stack[i] = program_number(p, &stack[i]);
}

/* Computes a step by applying its instructions. False: unsound. */
static bool cfi_run_work_out(struct run *r, size_t n, bool emits, struct cfi_step *ret)
{
	struct cfi_program *p = r->p;
	const struct cfi_kind *kind = program_kind(p, r->cie->kind);
	struct cfi_state state;
	struct rows_rule rule;

	if (p->n_states == STATES_MAX)
		cfi_run_forget(r);
	state = p->states[r->state];
	if (!cfi_op_apply(&p->machine, kind, false, &state, r->step, n))
		return false;
	ret->rule = 0;
	/* A step in front of remember_state or at the end has no row of its own. */
	if (emits) {
		if (!cfi_row_of(&p->machine, kind, &state, p->rows, &rule))
			return false;
		ret->rule = rows_number(p->rows, &rule);
	}
	ret->to = program_number(p, &state);
	return !p->rows->failed;
}

/* Up to 8 bytes as a word, zeros behind them. */
static inline uint64_t cfi_run_word(const struct run *r, const unsigned char *bytes, size_t n)
{
	uint64_t word = 0;

	/* A word may be read at once where the section goes on for 8 bytes. */
	if ((size_t)(r->p->readable - bytes) >= 8)
		memcpy(&word, bytes, 8);
	else
		memcpy(&word, bytes, n < 8 ? n : 8);
	return n >= 8 ? word : word & ((1ULL << n * 8) - 1);
}

/* The slot in which a step is, if it is remembered. */
static inline struct cfi_step *cfi_run_slot(const struct run *r, uint64_t key, uint64_t word)
{
	uint64_t hash = (key ^ word) * 0x9e3779b97f4a7c15ULL;

	return &r->p->steps[(hash ^ hash >> 32) >> 20 & (STEPS - 1)];
}

/* Adds a row, unless the row before says the same. Each row took at least two bytes of
 * instructions, so there is room. */
static inline bool cfi_run_put(struct run *r, uint32_t rule)
{
	if (rule == r->rule || r->loc >= r->size)
		return true;
	if (r->rule && r->row[-1].off == r->loc) { /* the state before no instruction could see */
		r->row[-1].rule = r->rule = rule;
		return true;
	}
	if (r->row == r->row_end)
		return false;
	*r->row++ = (struct rows_row){ .off = (uint32_t)r->loc, .rule = rule };
	r->rule = rule;
	return true;
}

/* Applies the instructions since the last step. emits: the new state holds from loc on, so it gets
 * a row. */
static __attribute__((noinline)) bool run_step(struct run *r, bool emits)
{
	size_t n = (size_t)(r->step_end - r->step);
	uint64_t word = cfi_run_word(r, r->step, n), key = cfi_step_key(r->state, n, emits),
	         last = 0;
	struct cfi_step *slot, step;

	/* Of long steps the first and the last 8 bytes find the slot; memcmp decides. */
	if (n > 8)
		memcpy(&last, r->step_end - 8, 8);
	slot = cfi_run_slot(r, key, word ^ last * 3);
	if (n <= STEP_BYTES_MAX && slot->key == key && slot->word == word &&
	    (n <= 8 || !memcmp(slot->bytes, r->step, n))) {
		step = *slot;
	} else {
		if (!cfi_run_work_out(r, n, emits, &step))
			return false;
		step.key = cfi_step_key(r->state, n, emits); /* it may have got another number */
		step.word = word;
		step.bytes = r->step;
		if (n <= STEP_BYTES_MAX)
			*slot = step;
	}
	r->state = step.to;
	return !emits || cfi_run_put(r, step.rule);
}

/* Up to some code further on. */
static inline void cfi_run_move(struct run *r, uint64_t delta)
{
	delta *= r->cie->of.code_factor;
	if (delta > r->size - r->loc) /* beyond the function: what is said of there is of no use */
		delta = r->size - r->loc;
	r->loc += delta;
	r->step = r->step_end = r->c.at;
}

static bool cfi_run_advance(struct run *r, uint64_t delta)
{
	if (r->c.failed || delta > UINT64_MAX / (r->cie->of.code_factor | 1))
		return false;
	/* An advance by 0 puts no row in between, but ends a step. */
	if (delta ? !run_step(r, true) : r->step != r->step_end && !run_step(r, false))
		return false;
	cfi_run_move(r, delta);
	return true;
}

/* remember_state and restore_state work on whole states, so that they end a step. A depth that is
 * not allowed is unsound. */
static bool cfi_run_stack(struct run *r, bool remember)
{
	if (r->step != r->step_end && !run_step(r, false))
		return false;
	r->step = r->step_end = r->c.at;
	if (remember ? r->depth == REMEMBER_MAX : !r->depth)
		return false;
	if (remember)
		r->stack[r->depth++] = r->state;
	else
		r->state = r->stack[--r->depth];
	return true;
}

/* Any instruction. */
static bool cfi_run_op(struct run *r, uint8_t op)
{
	struct cursor *c = &r->c;

	switch (r->p->shapes[op]) {
	case OP_NOP: /* padding, mostly: no part of the step that it ends */
		if (r->step == r->step_end)
			r->step = r->step_end = c->at;
		return true;
	case OP_ADVANCE:
		return cfi_run_advance(r, op == CFA_ADVANCE1   ? cursor_u8(c)
		                          : op == CFA_ADVANCE2 ? cursor_u16(c)
		                          : op == CFA_ADVANCE4 ? cursor_u32(c)
		                                               : op & 0x3f);
	case OP_REMEMBER:
		return cfi_run_stack(r, true);
	case OP_RESTORE:
		return cfi_run_stack(r, false);
	case 2:
		leb_unsigned(c);
		leb_unsigned(c);
		break;
	case 1:
		leb_unsigned(c);
		break;
	case 0:
		break;
	case OP_LEB_BLOCK:
		leb_unsigned(c);
		cursor_bytes(c, leb_unsigned(c));
		break;
	case OP_BLOCK:
		cursor_bytes(c, leb_unsigned(c));
		break;
	default:
		return false;
	}
	r->step_end = c->at;
	return !c->failed;
}

/* How far an advance goes; 0: nowhere, or it is an instruction that cfi_run_op must handle. */
static inline uint64_t cfi_run_delta(const unsigned char *at, const unsigned char *end, bool swap)
{
	if ((*at & 0xc0) == CFA_ADVANCE)
		return *at & 0x3f;
	if (*at == CFA_ADVANCE1 && end - at >= 2)
		return at[1];
	if (*at == CFA_ADVANCE2 && end - at >= 3 && !swap) {
		uint16_t delta;

		memcpy(&delta, at + 1, 2);
		return delta;
	}
	return 0;
}

/*
 * The fast way for the usual instructions: a few that say where registers are, each with an operand
 * of one or two bytes, and then an advance. They make a step that is remembered. It stops in front
 * of anything else, and does what cfi_run_op does, in registers.
 */
static void cfi_run_usual(struct run *r)
{
	const uint8_t *shapes = r->p->shapes;
	const unsigned char *at = r->c.at, *end = r->c.end, *step = r->step,
	                    *step_end = r->step_end;
	const uint64_t factor = r->cie->of.code_factor, size = r->size;
	struct rows_row *row = r->row;
	uint64_t loc = r->loc;
	uint32_t rule = r->rule, state = r->state;

	while (at < end && factor <= UINT32_MAX) {
		const unsigned char op = *at, shape = shapes[op];
		const struct cfi_step *slot;
		uint64_t word, key, delta;

		if (shape == 1 && end - at >= 3) {
			const unsigned char *next = at + 2 + (at[1] >> 7);

			if (next[-1] & 0x80)
				break;
			at = step_end = next;
			continue;
		}
		if (shape == OP_NOP) {
			at++;
			if (step == step_end)
				step = step_end = at;
			continue;
		}
		if (shape != OP_ADVANCE || step_end - step > 8 || r->p->readable - step < 8)
			break;
		delta = cfi_run_delta(at, end, r->c.swap);
		if (!delta)
			break;
		word = cfi_run_word(r, step, (size_t)(step_end - step));
		key = cfi_step_key(state, (size_t)(step_end - step), true);
		slot = cfi_run_slot(r, key, word);
		if (slot->key != key || slot->word != word)
			break;
		/* The step is remembered: nothing is decoded, nothing is computed. */
		if (slot->rule != rule) {
			if (loc >= size || row == r->row_end || (rule && row[-1].off == loc))
				break;
			rule = slot->rule;
			*row++ = (struct rows_row){ .off = (uint32_t)loc, .rule = rule };
		}
		delta *= factor;
		loc += delta > size - loc ? size - loc : delta;
		state = slot->to;
		at += op < CFA_ADVANCE ? op : 1; /* CFA_ADVANCE1 is 2, CFA_ADVANCE2 is 3 */
		step = step_end = at;
	}
	r->c.at = at;
	r->step = step;
	r->step_end = step_end;
	r->row = row;
	r->loc = loc;
	r->rule = rule;
	r->state = state;
}

/* The fast way as far as it goes, then one instruction the slow way. */
static bool cfi_run_all(struct run *r)
{
	while (cursor_left(&r->c)) {
		cfi_run_usual(r);
		if (cursor_left(&r->c) && !cfi_run_op(r, cursor_u8(&r->c)))
			return false;
	}
	return true;
}

/* Addresses are those of the object, [start, end). Room for the most rows that the instructions can
 * make is reserved first, so that none of them needs a check for memory. */
bool cfi_program_run(struct cfi_program *p, const struct cfi_cie *cie, const struct cursor *entry,
                     uint64_t start, uint64_t end)
{
	size_t most = cursor_left(entry) / 2 + 2;
	struct run r;
	bool ok;

	r.p = p;
	r.cie = cie;
	r.c = *entry;
	r.step = r.step_end = r.c.at;
	r.row = rows_room(p->rows, most);
	if (!r.row)
		return false;
	r.row_end = r.row + most;
	r.loc = 0;
	r.size = end - start;
	r.rule = 0;
	r.depth = 0;
	r.state = program_initial(p, program_kind(p, cie->kind));
	ok = cfi_run_all(&r);
	/* The last state holds up to the function's end. */
	if (ok && r.loc < r.size)
		ok = run_step(&r, true);
	else if (ok && r.step != r.step_end)
		ok = run_step(&r, false);
	rows_took(p->rows, most - (size_t)(r.row_end - r.row));
	return ok;
}
