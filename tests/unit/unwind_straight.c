// SPDX-License-Identifier: MIT
// unwind_straight.c: rules from code. The trampolines of CPython 3.12 to 3.14 at each of their
// instructions, ends of functions, and code from which nothing may be told.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "unwind/straight.h"

#define CODE(bytes) (const unsigned char *)(bytes), sizeof(bytes) - 1

static bool rule_at(const unsigned char *code, size_t n, size_t at, bool exact,
                    struct frametab_rule *ret)
{
	return straight_rule(FRAMETAB_X86_64, code + at, n - at, exact, ret);
}

/* The CFA is so far above sp; fp: so far below it the caller's frame pointer was saved, 0: it is
 * unchanged. */
static void assert_rule(const unsigned char *code, size_t n, size_t at, bool exact, int cfa, int fp)
{
	struct frametab_rule rule;

	assert_true(rule_at(code, n, at, exact, &rule));
	assert_int_equal(rule.cfa, FRAMETAB_CFA_SP);
	assert_int_equal(rule.cfa_off, cfa);
	assert_int_equal(rule.ra, FRAMETAB_AT_CFA);
	assert_int_equal(rule.ra_off, -8);
	assert_int_equal(rule.fp, fp ? FRAMETAB_AT_CFA : FRAMETAB_AT_SAME);
	assert_int_equal(rule.fp_off, -fp);
}

static void assert_none(const unsigned char *code, size_t n, bool exact)
{
	struct frametab_rule rule;

	assert_false(rule_at(code, n, 0, exact, &rule));
}

/* sub $8,%rsp; call *%rcx; add $8,%rsp; ret */
static void trampoline_without_frame_pointer(void **state)
{
	static const char code[] = "\x48\x83\xec\x08\xff\xd1\x48\x83\xc4\x08\xc3";

	assert_rule(CODE(code), 0, true, 8, 0);
	assert_rule(CODE(code), 4, true, 16, 0);
	assert_rule(CODE(code), 6, true, 16, 0);
	assert_rule(CODE(code), 6, false, 16, 0);
	assert_rule(CODE(code), 10, true, 8, 0);
}

/* endbr64; push %rbp; mov %rsp,%rbp; call *%rcx; pop %rbp; ret */
static void trampoline_with_frame_pointer(void **state)
{
	static const char code[] = "\xf3\x0f\x1e\xfa\x55\x48\x89\xe5\xff\xd1\x5d\xc3";

	assert_rule(CODE(code), 0, true, 8, 0);
	assert_rule(CODE(code), 4, true, 8, 0);
	assert_rule(CODE(code), 5, true, 16, 16);
	assert_rule(CODE(code), 8, true, 16, 16);
	assert_rule(CODE(code), 10, false, 16, 16);
	assert_rule(CODE(code), 11, true, 8, 0);
}

static void ends_of_functions(void **state)
{
	struct frametab_rule rule;

	assert_rule(CODE("\x48\x81\xc4\x80\x01\x00\x00\x5d\xc3"), 0, false, 0x190, 16);
	assert_rule(CODE("\x48\x8d\x64\x24\x18\xc3"), 0, false, 32, 0);
	assert_rule(CODE("\xc5\xf8\x77\x48\x83\xc4\x08\xf3\xc3"), 0, false, 16, 0);
	assert_true(rule_at(CODE("\xc9\xc3"), 0, false, &rule)); /* leave */
	assert_int_equal(rule.cfa, FRAMETAB_CFA_FP);
	assert_int_equal(rule.cfa_off, 16);
	assert_int_equal(rule.fp, FRAMETAB_AT_CFA);
	assert_int_equal(rule.fp_off, -16);
}

static void other_code_has_no_rule(void **state)
{
	assert_none(CODE(""), true);
	assert_none(CODE("\x48\x83"), false);
	assert_none(CODE("\x48\x83\xc4\x08"), false);             /* cut off */
	assert_none(CODE("\x48\x83\xc4\x08\xeb\x02\xc3"), false); /* jmp */
	assert_none(CODE("\x5b\xc3"), false);     /* pop %rbx: where ours was saved is not said */
	assert_none(CODE("\x5c\xc3"), false);     /* pop %rsp */
	assert_none(CODE("\xc2\x08\x00"), false); /* ret $8 */
	assert_none(CODE("\x48\x83\xec\x08\xc3"), true); /* returns to what it did not call */
	assert_none(CODE("\x55\xc3"), true);             /* to its frame pointer */
	assert_none(CODE("\x55\x48\x89\xe5\x48\x83\xc4\x08\xc3"), true);
	/* The next function, behind a call that does not return. */
	assert_none(CODE("\x48\x83\xec\x08\xff\xd1\x48\x83\xc4\x08\xc3"), false);
	assert_none(CODE("\x55\x48\x89\xe5\xff\xd1\x5d\xc3"), false);
}

static void on_aarch64(void **state)
{
	static const char code[] =
	        "\xfd\x7b\xc1\xa8\xc0\x03\x5f\xd6"; /* ldp x29, x30, [sp], #16; ret */
	struct frametab_rule rule;

	assert_true(straight_rule(FRAMETAB_AARCH64, CODE(code), false, &rule));
	assert_int_equal(rule.cfa, FRAMETAB_CFA_SP);
	assert_int_equal(rule.cfa_off, 16);
	assert_int_equal(rule.fp_off, -16);
	assert_int_equal(rule.ra_off, -8);
	assert_false(straight_rule(FRAMETAB_AARCH64, CODE(code), true, &rule));
	assert_false(straight_rule(FRAMETAB_AARCH64, (const unsigned char *)code, 7, false, &rule));
}

/* Whatever the bytes: nothing below sp is ever read, and no rule goes down. */
static void any_bytes(void **state)
{
	static const unsigned char often[] = { 0x48, 0x83, 0xc4, 0xec, 0x55, 0x5d, 0xc9, 0xc3,
		                               0x89, 0xe5, 0x08, 0xff, 0xd1, 0x8d, 0x64, 0x24 };
	uint64_t seed = 1;
	unsigned rules = 0;

	for (unsigned i = 0; i < 2000000; i++) {
		unsigned char code[12];
		struct frametab_rule r;

		for (size_t k = 0; k < sizeof(code); k++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			code[k] = often[seed >> 60];
		}
		if (!rule_at(code, sizeof(code), 0, i & 1, &r))
			continue;
		rules++;
		assert_true(r.cfa == FRAMETAB_CFA_FP || r.cfa_off >= 8);
		assert_true(r.fp != FRAMETAB_AT_CFA || r.cfa == FRAMETAB_CFA_FP ||
		            r.cfa_off + r.fp_off >= 0);
	}
	assert_true(rules > 1000);
}

/* Erlang's: leave; dec %r14; jl; ret. A jump that is not made changes nothing; %rsp and %rbp are no
 * counters. */
static void ends_that_count(void **state)
{
	static const char code[] = "\xc9\x49\xff\xce\x0f\x8c\x51\xff\xff\xff\xc3";
	static const char near_jump[] = "\x48\xff\xc8\x74\x05\xc3";

	assert_rule(CODE(code), 1, true, 8, 0);
	assert_rule(CODE(code), 4, true, 8, 0);
	assert_rule(CODE(code), 10, true, 8, 0);
	assert_rule(CODE(near_jump), 0, true, 8, 0);
	assert_none(CODE("\x48\xff\xcc\xc3"), true);  /* dec %rsp */
	assert_none(CODE("\x48\xff\xcd\xc3"), true);  /* dec %rbp */
	assert_none(CODE("\x48\xff\xd0\xc3"), false); /* call *%rax */
	assert_none(CODE("\x0f\x8c\x51\xff\xff"), true);
	assert_none(CODE("\xe9\x51\xff\xff\xff\xc3"), true);
}

/* Of a function with a frame pointer: the CFA is so far above sp, 0: no rule. */
static void assert_edge(const unsigned char *code, size_t n, size_t at, int cfa)
{
	struct frametab_rule rule;

	assert_int_equal(straight_edge(FRAMETAB_X86_64, code, n, at, &rule), cfa != 0);
	if (!cfa)
		return;
	assert_int_equal(rule.cfa, FRAMETAB_CFA_SP);
	assert_int_equal(rule.cfa_off, cfa);
	assert_int_equal(rule.ra_off, -8);
	assert_int_equal(rule.fp, cfa == 16 ? FRAMETAB_AT_CFA : FRAMETAB_AT_SAME);
}

static void edges_of_frames(void **state)
{
	static const char code[] =
	        "\xf3\x0f\x1e\xfa\x55\x48\x89\xe5\x48\x89\x3b\xc9\xe9\x1d\xff\xff\xff";
	static const char pops[] = "\x55\x48\x8b\xec\x90\x5d\xff\xe0";
	static const char clears[] = "\x55\x48\x89\xe5\x31\xc9\xeb\x10";
	static const char other[] = "\x55\x53\xc9\xeb\x10";

	assert_true(straight_keeps_fp(FRAMETAB_X86_64, CODE(code)));
	assert_true(straight_keeps_fp(FRAMETAB_X86_64, CODE(pops)));
	assert_false(straight_keeps_fp(FRAMETAB_X86_64, CODE(other)));
	assert_false(straight_keeps_fp(FRAMETAB_AARCH64, CODE(code)));
	assert_false(straight_keeps_fp(FRAMETAB_X86_64, CODE("\x55\x48\x89")));
	assert_edge(CODE(code), 0, 8);
	assert_edge(CODE(code), 4, 8);
	assert_edge(CODE(code), 5, 16); /* pushed */
	assert_edge(CODE(code), 8, 0);
	assert_edge(CODE(code), 11, 0);
	assert_edge(CODE(code), 12, 8); /* left */
	assert_edge(CODE(code), 17, 0);
	assert_edge(CODE(pops), 6, 8);
	assert_edge(CODE(clears), 6, 0);
	assert_edge(CODE(other), 3, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ends_that_count),
		cmocka_unit_test(edges_of_frames),
		cmocka_unit_test(trampoline_without_frame_pointer),
		cmocka_unit_test(trampoline_with_frame_pointer),
		cmocka_unit_test(ends_of_functions),
		cmocka_unit_test(other_code_has_no_rule),
		cmocka_unit_test(on_aarch64),
		cmocka_unit_test(any_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
