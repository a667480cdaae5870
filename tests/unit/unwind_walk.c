// SPDX-License-Identifier: MIT
// unwind_walk.c: walks over tables and stacks made by hand: which frames come out, and why they
// end.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "unwind/trap.h"
#include "unwind/walk.h"

#include "unwind_eh.h"

#define SP 0x7ffc00001000u
#define WORDS 64u

struct made {
	struct frametab table;
	uint64_t stack[WORDS];
	bool sure;
};

static int made_read(void *ctx, uint64_t address, uint64_t *ret)
{
	const struct made *m = ctx;

	if (address < SP || address % 8)
		return -EFAULT;
	if (address >= SP + WORDS * 8)
		return -ENODATA;
	*ret = m->stack[(address - SP) / 8];
	return 0;
}

static int made_find(void *ctx, uint64_t pc, struct walk_place *ret)
{
	const struct made *m = ctx;

	if (pc < TEXT_AT || pc >= TEXT_AT + 0x10000)
		return -ENOENT;
	*ret = (struct walk_place){ .table = &m->table, .rule = frametab_find(&m->table, pc) };
	return 0;
}

static size_t made_walk(struct made *m, const struct walk_registers *regs, uint64_t *frames,
                        struct walk *walk)
{
	const struct walk_options options = { .machine = FRAMETAB_X86_64,
		                              .max_frames = 16,
		                              .no_fallback = m->sure };
	const struct walk_memory memory = { .ctx = m, .read = made_read, .find = made_find };

	walk_stack(&options, &memory, regs, frames, walk);
	return walk->n;
}

/* .sframe says nothing of rbx: behind a frame that only it describes, the caller's is not known. */
static void sframe_tells_no_saved_registers(void **state)
{
	static const char caller[] = "\x0c\x03\x10"; /* CFA = rbx + 16 */
	struct compile_input in = input(FRAMETAB_X86_64);
	struct walk_registers regs = { .known = 1u << 3 | 1u << 7 | 1u << 16 };
	struct buf eh = { 0 }, sframe = { 0 };
	struct made m = { 0 };
	uint64_t frames[16];
	struct walk walk;

	put_fde(&eh, put_cie(&eh, "zR"), TEXT_AT + 0x100, 0x40, caller, sizeof(caller) - 1);
	buf_put(&sframe, "\xe2\xde\x02\x01\x03\x00\xf8\x00", 8);
	buf_put_u32(&sframe, 1);
	buf_put_u32(&sframe, 1);
	buf_put_u32(&sframe, 3);
	buf_put_u32(&sframe, 0);
	buf_put_u32(&sframe, 20);
	buf_put_u32(&sframe, (uint32_t)(TEXT_AT + 0x200 - EH_AT));
	buf_put_u32(&sframe, 0x40);
	buf_put_u32(&sframe, 0);
	buf_put_u32(&sframe, 1);
	buf_put(&sframe, "\x00\x00\x00\x00", 4);
	buf_put(&sframe, "\x00\x03\x10", 3); /* CFA = sp + 16: rbx was pushed, nobody says so */
	in.sframe = (struct compile_section){ sframe.bytes, sframe.n, EH_AT };
	m.table = compile(&in, &eh);

	/* What rbx holds in the callee would lead to words that look like a frame. */
	m.stack[1] = TEXT_AT + 0x120;
	m.stack[9] = TEXT_AT + 0x130;
	regs.value[3] = SP + 64;
	regs.value[7] = SP;
	regs.value[16] = TEXT_AT + 0x210;
	assert_int_equal(made_walk(&m, &regs, frames, &walk), 2);
	assert_int_equal(frames[1], TEXT_AT + 0x120);
	assert_int_equal(walk.end, WALK_BAD_RULE);
	buf_free(&eh);
	buf_free(&sframe);
}

/* Assembler has its CFA in rax around calls of functions that leave rax alone: so far, and no
 * further, the sample's value is that of the caller. */
static void assembler_counts_on_what_a_leaf_leaves_alone(void **state)
{
	static const char caller[] = "\x0c\x00\x08"; /* CFA = rax + 8 */
	struct compile_input in = input(FRAMETAB_X86_64);
	struct walk_registers regs = { .known = 1u << 0 | 1u << 7 | 1u << 16 };
	struct buf eh = { 0 };
	struct made m = { 0 };
	uint64_t frames[16], cie = put_cie(&eh, "zR");
	struct walk walk;

	put_fde(&eh, cie, TEXT_AT + 0x100, 0x40, caller, sizeof(caller) - 1);
	put_fde(&eh, cie, TEXT_AT + 0x200, 0x40, "", 0);
	m.table = compile(&in, &eh);
	m.stack[0] = TEXT_AT + 0x120;
	m.stack[8] = TEXT_AT + 0x220;
	regs.value[0] = SP + 64;
	regs.value[7] = SP;
	regs.value[16] = TEXT_AT + 0x210;
	assert_int_equal(made_walk(&m, &regs, frames, &walk), 3);
	assert_int_equal(frames[1], TEXT_AT + 0x120);
	assert_int_equal(frames[2], TEXT_AT + 0x220);
	assert_int_equal(walk.end, WALK_COMPLETE); /* above it the stack holds zeros */

	/* One call further out nobody knows what became of rax. */
	m.stack[0] = TEXT_AT + 0x220;
	m.stack[1] = TEXT_AT + 0x120;
	assert_int_equal(made_walk(&m, &regs, frames, &walk), 3);
	assert_int_equal(frames[2], TEXT_AT + 0x120);
	assert_int_equal(walk.end, WALK_BAD_RULE);
	buf_free(&eh);
}

/* The ten bytes behind the function at TEXT_AT + 0x200 are code, others are not. */
static bool made_is_padding(void *ctx, uint64_t start, uint64_t end)
{
	(*(unsigned *)ctx)++;
	assert_true(start < end);
	return start != TEXT_AT + 0x220;
}

/*
 * glibc ends the unwind information of clone in front of its system call: the child comes back from
 * it on an empty stack, of which the first word is the function that it will call, and no return
 * address.
 */
static void code_without_information_is_no_padding(void **state)
{
	struct compile_input in = input(FRAMETAB_X86_64);
	struct walk_registers regs = { .known = 1u | 1u << 7 | 1u << 16 };
	struct buf eh = { 0 };
	struct made m = { 0 };
	uint64_t frames[16];
	struct walk walk;
	unsigned asked = 0;
	size_t cie = put_cie(&eh, "zR");

	in.is_padding = made_is_padding;
	in.code_ctx = &asked;
	put_fde(&eh, cie, TEXT_AT + 0x100, 0x20, "", 0);
	put_fde(&eh, cie, TEXT_AT + 0x128, 0x20, "", 0);
	put_fde(&eh, cie, TEXT_AT + 0x200, 0x20, "", 0); /* clone */
	put_fde(&eh, cie, TEXT_AT + 0x22a, 0x20, "", 0);
	put_fde(&eh, cie, TEXT_AT + 0x24a, 0x20, "", 0); /* follows at once: not asked */
	m.table = compile(&in, &eh);
	assert_int_equal(asked, 2);
	assert_int_equal(frametab_find(&m.table, TEXT_AT + 0x120)->cfa, FRAMETAB_CFA_SP);
	assert_int_equal(frametab_find(&m.table, TEXT_AT + 0x21f)->cfa, FRAMETAB_CFA_SP);
	assert_int_equal(frametab_find(&m.table, TEXT_AT + 0x220)->cfa, FRAMETAB_CFA_NONE);
	assert_int_equal(frametab_find(&m.table, TEXT_AT + 0x229)->flags, FRAMETAB_LIKE);
	assert_int_equal(frametab_find(&m.table, TEXT_AT + 0x22a)->cfa, FRAMETAB_CFA_SP);
	m.stack[0] = TEXT_AT + 0x100;
	regs.value[7] = SP;
	regs.value[16] = TEXT_AT + 0x222;
	regs.value[0] = (uint64_t)-ENOSYS; /* until there is a result, and then a pid: the parent */
	assert_int_equal(made_walk(&m, &regs, frames, &walk), 2);
	assert_int_equal(walk.n_sure, 1);
	m.sure = true;
	assert_int_equal(made_walk(&m, &regs, frames, &walk), 1);
	assert_int_equal(walk.end, WALK_NO_INFO);
	m.sure = false;
	regs.value[0] = 0; /* the child */
	assert_int_equal(made_walk(&m, &regs, frames, &walk), 1);
	assert_int_equal(walk.end, WALK_NO_INFO);
	regs.value[0] = 1;
	regs.known &= ~1u; /* it cannot be told */
	assert_int_equal(made_walk(&m, &regs, frames, &walk), 1);
	buf_free(&eh);
}

/* At 0x100: push %rbp; nop; pop %rbp; ret. At 0x104, without a gap: sub $8,%rsp; add $8,%rsp; ret.
 * At 0x120: call 0x100. */
static const unsigned char trapped[] = { 0x55, 0x90, 0x5d, 0xc3, 0x48, 0x83, 0xec,
	                                 0x08, 0x48, 0x83, 0xc4, 0x08, 0xc3 };
static const unsigned char called[] = { 0xe8, 0xdb, 0xff, 0xff, 0xff };

static bool trapped_code(void *ctx, uint64_t end, unsigned char *ret, size_t n)
{
	memset(ret, 0x90, n);
	for (size_t i = 0; i < n; i++) {
		uint64_t at = end - n + i - TEXT_AT;

		if (at - 0x100 < sizeof(trapped))
			ret[i] = trapped[at - 0x100];
		if (at - 0x120 < sizeof(called))
			ret[i] = called[at - 0x120];
	}
	return true;
}

static bool no_code(void *ctx, uint64_t end, unsigned char *ret, size_t n)
{
	return false;
}

static enum trap_moment trapped_at(struct made *m, uint64_t pc, uint64_t rbp, trap_code *code)
{
	const struct walk_options options = { .machine = FRAMETAB_X86_64, .max_frames = 16 };
	const struct walk_memory memory = { .ctx = m, .read = made_read, .find = made_find };
	struct walk_registers regs = { .known = 0x1ffff };

	regs.value[6] = rbp;
	regs.value[7] = SP;
	regs.value[16] = TEXT_AT + pc;
	return trap_moment(&options, &memory, &regs, code);
}

/* The pc behind a breakpoint, or that of the next instruction: by the stack and the code. */
static void traps_have_two_moments(void **state)
{
	static const char push[] =
	        "\x41\x0e\x10\x86\x02\x42\x0e\x08"; /* 1: CFA + 8; 3: as before */
	static const char sub[] = "\x44\x0e\x10\x44\x0e\x08";
	struct compile_input in = input(FRAMETAB_X86_64);
	struct buf eh = { 0 };
	struct made m = { 0 };
	size_t cie = put_cie(&eh, "zR");
	const uint64_t caller = TEXT_AT + 0x125, data = 5;

	put_fde(&eh, cie, TEXT_AT + 0x100, 4, push, sizeof(push) - 1);
	put_fde(&eh, cie, TEXT_AT + 0x104, 9, sub, sizeof(sub) - 1);
	put_fde(&eh, cie, TEXT_AT + 0x111, 0x40, "", 0);
	m.table = compile(&in, &eh);
	m.stack[0] = caller; /* rbp was not pushed; what is above would be taken for a caller */
	m.stack[1] = caller + 8;
	assert_int_equal(trapped_at(&m, 0x101, data, trapped_code), TRAP_BEFORE);
	assert_int_equal(trapped_at(&m, 0x101, data, no_code), TRAP_EITHER);
	assert_int_equal(trapped_at(&m, 0x101, caller, trapped_code), TRAP_EITHER);
	m.stack[1] = data;
	assert_int_equal(trapped_at(&m, 0x101, data, no_code), TRAP_BEFORE);
	m.stack[0] = data; /* rbp was pushed */
	m.stack[1] = caller;
	assert_int_equal(trapped_at(&m, 0x101, data, trapped_code), TRAP_BEHIND);
	assert_int_equal(trapped_at(&m, 0x101, data, no_code), TRAP_BEHIND);
	/* Behind `pop`: the word on top may be the return address, or the saved register. */
	m.stack[0] = data;
	assert_int_equal(trapped_at(&m, 0x103, data, trapped_code), TRAP_BEFORE);
	m.stack[0] = caller;
	assert_int_equal(trapped_at(&m, 0x103, data, trapped_code), TRAP_EITHER);
	m.stack[1] = data;
	assert_int_equal(trapped_at(&m, 0x103, data, trapped_code), TRAP_BEHIND);
	/* Behind `ret`, or at the entry of the next function: who was called says it. */
	assert_int_equal(trapped_at(&m, 0x104, data, trapped_code), TRAP_BEFORE);
	m.stack[0] = caller + 8;
	assert_int_equal(trapped_at(&m, 0x104, data, trapped_code), TRAP_BEHIND);
	/* Behind an instruction of four bytes, which no breakpoint stands in front of. */
	m.stack[0] = caller;
	m.stack[1] = caller + 8;
	assert_int_equal(trapped_at(&m, 0x108, data, trapped_code), TRAP_BEHIND);
	buf_free(&eh);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(traps_have_two_moments),
		cmocka_unit_test(sframe_tells_no_saved_registers),
		cmocka_unit_test(assembler_counts_on_what_a_leaf_leaves_alone),
		cmocka_unit_test(code_without_information_is_no_padding),
	};

	return cmocka_run_group_tests(tests, NULL, free_blob);
}
