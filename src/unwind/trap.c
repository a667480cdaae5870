// SPDX-License-Identifier: MIT
/*
 * trap.c: see trap.h. Both moments are tried. A moment whose return address is no code was not; an
 * instruction that is not one byte long was not replaced there; and a push that was carried out
 * left its register's value on the stack. Only where the rules of both addresses differ does the
 * question matter.
 */
#include "unwind/trap.h"

#include <string.h>

#define TRAP_FRAMES 64u /* that are compared */
#define REG_SP 7u
#define REG_PC 16u
#define NOT_CODE 0xcc /* a breakpoint in the file is the program's own */
#define RET 0xc3
#define CALL 0xe8
#define JUMP 0xe9
#define LEAVE 0xc9
#define PUSH 0x50 /* + register */
#define POP 0x58
#define REX_B 0x41 /* in front of a push or pop of r8 to r15: two bytes */

/* A walk from one of the two pcs. */
struct trap_try {
	struct walk_place place;
	struct walk walk;
	uint64_t frames[TRAP_FRAMES];
	bool holds; /* it has a caller, or needs none */
};

/* Without guesses and without the cache: both walks must rest on unwind information alone. */
static void trap_walk(const struct walk_options *options, const struct walk_memory *memory,
                      const struct walk_registers *regs, uint64_t pc, struct trap_try *ret)
{
	struct walk_options o = { .machine = options->machine,
		                  .no_fallback = true,
		                  .max_frames = TRAP_FRAMES };
	struct walk_memory m = *memory;
	struct walk_registers r = *regs;

	m.cache = NULL;
	r.value[REG_PC] = pc;
	walk_stack(&o, &m, &r, ret->frames, &ret->walk);
	ret->holds = ret->walk.n > 1 || ret->walk.end == WALK_COMPLETE;
}

/* Whether both moments give the same callers; the innermost frame differs by its pc. */
static bool trap_same(const struct trap_try *a, const struct trap_try *b)
{
	return a->walk.n == b->walk.n && a->walk.end == b->walk.end &&
	       (a->walk.n < 2 ||
	        !memcmp(a->frames + 1, b->frames + 1, (a->walk.n - 1) * sizeof(a->frames[0])));
}

/* The rules at both pcs; false: they are one, or one of them is unknown. */
static bool trap_places(const struct walk_options *options, const struct walk_memory *memory,
                        const struct walk_registers *regs, struct trap_try *before,
                        struct trap_try *behind)
{
	uint64_t pc = regs->value[REG_PC];

	return options->machine == FRAMETAB_X86_64 &&
	       memory->find(memory->ctx, pc - 1, &before->place) >= 0 &&
	       memory->find(memory->ctx, pc, &behind->place) >= 0 && before->place.rule &&
	       behind->place.rule && before->place.rule != behind->place.rule &&
	       before->place.rule->cfa != FRAMETAB_CFA_NONE;
}

/* How far the stack pointer is from the CFA; 0: the rule says it otherwise. */
static int32_t trap_depth(const struct trap_try *t)
{
	return t->place.rule->cfa == FRAMETAB_CFA_SP ? t->place.rule->cfa_off : 0;
}

/* Whether the question must be asked at all, which costs two walks. */
bool trap_matters(const struct walk_options *options, const struct walk_memory *memory,
                  const struct walk_registers *regs)
{
	struct trap_try before = { .holds = false }, behind = { .holds = false };

	if (!trap_places(options, memory, regs, &before, &behind))
		return before.place.rule && trap_depth(&before) == 8;
	trap_walk(options, memory, regs, regs->value[REG_PC] - 1, &before);
	trap_walk(options, memory, regs, regs->value[REG_PC], &behind);
	return !trap_same(&before, &behind);
}

/* Whether the byte in front of the pc can be an instruction of its own that does what the rules say
 * happens there. */
static bool trap_is_replaced(const struct trap_try *before, const struct trap_try *behind,
                             const unsigned char *code)
{
	int32_t from = trap_depth(before), to = trap_depth(behind);

	if ((code[1] & 0xf8) == PUSH)
		return from && to == from + 8;
	if ((code[1] & 0xf8) == POP)
		return from && to == from - 8;
	return code[1] == LEAVE ? !from && to == 8 : code[1] == RET && from == 8;
}

/* Whether the word on top of the stack may be the one that a push in front of the pc put there: the
 * pushed register still has it. */
static bool trap_pushed(const struct walk_registers *regs, const unsigned char *code, uint64_t top)
{
	static const uint8_t dwarf[8] = { 0, 2, 1, 3, 7, 6, 4, 5 }; /* rax rcx rdx rbx rsp ... */
	unsigned low = code[1] & 7, number = dwarf[low];
	uint64_t value = regs->value[number] + (number == REG_SP ? 8 : 0);

	if (!(regs->known >> number & 1) || top == value)
		return true;
	return code[0] == REX_B && (!(regs->known >> (8 + low) & 1) || top == regs->value[8 + low]);
}

/*
 * Whether the pc is behind the `ret` of the function that was called, rather than at the entry of
 * the next one, which has the same callers: by the target of the call in front of the return
 * address. Not where that is a stub that leads elsewhere.
 */
static bool trap_is_return(const struct walk_memory *memory, const struct walk_registers *regs,
                           trap_code *code)
{
	uint64_t pc = regs->value[REG_PC], back, target;
	unsigned char bytes[TRAP_CODE];
	struct walk_place place;
	int32_t by;

	if (!code(memory->ctx, pc, bytes, 1) || bytes[0] != RET ||
	    memory->read(memory->ctx, regs->value[REG_SP], &back) < 0 ||
	    !code(memory->ctx, back, bytes, 5) || bytes[0] != CALL)
		return false;
	memcpy(&by, bytes + 1, 4);
	target = back + (uint64_t)(int64_t)by;
	if (target >= pc || memory->find(memory->ctx, target, &place) < 0 || !place.rule ||
	    place.rule->cfa != FRAMETAB_CFA_SP || place.rule->cfa_off != 8 ||
	    !code(memory->ctx, target + TRAP_CODE, bytes, TRAP_CODE) || bytes[0] == JUMP)
		return false;
	for (size_t i = 0; i + 1 < TRAP_CODE; i++)
		if (bytes[i] == 0xff && bytes[i + 1] == 0x25) /* jmp *(%rip) */
			return false;
	return true;
}

/* Tells of which moment the registers are, by what the stack and the code leave possible. */
enum trap_moment trap_moment(const struct walk_options *options, const struct walk_memory *memory,
                             const struct walk_registers *regs, trap_code *code)
{
	struct trap_try before = { .holds = false }, behind = { .holds = false };
	uint64_t pc = regs->value[REG_PC], top;
	unsigned char bytes[2];
	bool known;

	if (!trap_places(options, memory, regs, &before, &behind))
		return trap_is_return(memory, regs, code) ? TRAP_BEFORE : TRAP_BEHIND;
	trap_walk(options, memory, regs, pc - 1, &before);
	trap_walk(options, memory, regs, pc, &behind);
	/* The code may be unreadable: then only the walks decide. */
	known = code(memory->ctx, pc, bytes, sizeof(bytes));
	if (trap_same(&before, &behind))
		return trap_is_return(memory, regs, code) ? TRAP_BEFORE : TRAP_BEHIND;
	if (known && (bytes[1] == NOT_CODE || !trap_is_replaced(&before, &behind, bytes)))
		return TRAP_BEHIND;
	if (known && (bytes[1] & 0xf8) == PUSH &&
	    memory->read(memory->ctx, regs->value[REG_SP], &top) >= 0 &&
	    !trap_pushed(regs, bytes, top))
		return before.holds ? TRAP_BEFORE : TRAP_EITHER;
	if (before.holds == behind.holds)
		return TRAP_EITHER;
	return before.holds ? TRAP_BEFORE : TRAP_BEHIND;
}
