// SPDX-License-Identifier: MIT
// disasm.c: known instructions, and any bytes: every walk ends, no line is longer than what is
// left.
#include <elf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "disasm/disasm.h"

static struct disasm *start(unsigned machine)
{
	struct disasm *d = NULL;
	int r = disasm_new(&d, machine, 0);

	if (disasm_missing()) {
		assert_int_equal(r, -ENOTSUP);
		skip();
	}
	assert_int_equal(r, 0);
	return d;
}

static void known_instructions(void **state)
{
	/* push %rbp; mov %rsp,%rbp; a byte that is none in 64-bit mode; ret */
	static const unsigned char code[] = { 0x55, 0x48, 0x89, 0xe5, 0x06, 0xc3 };
	static const struct {
		unsigned size;
		const char *text;
	} want[] = {
		{ 1, "pushq   %rbp" }, { 3, "movq    %rsp, %rbp" }, { 1, "(bad)" }, { 1, "retq" }
	};
	struct disasm *d = start(EM_X86_64);
	struct disasm_line line;
	size_t at = 0;

	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		disasm_next(d, code + at, sizeof(code) - at, 0x1000 + at, &line);
		assert_int_equal(line.size, want[i].size);
		assert_int_equal(line.address, 0x1000 + at);
		assert_string_equal(line.text, want[i].text);
		at += line.size;
	}
	assert_int_equal(at, sizeof(code));
	disasm_free(d);
}

static void any_bytes_end(void **state)
{
	static const unsigned machines[] = { EM_X86_64, EM_386,   EM_AARCH64,
		                             EM_ARM,    EM_PPC64, EM_S390 };
	unsigned char bytes[4099];
	uint32_t seed = 5;

	for (size_t i = 0; i < sizeof(bytes); i++) {
		seed = seed * 1664525 + 1013904223;
		bytes[i] = (unsigned char)(seed >> 24);
	}
	for (size_t m = 0; m < sizeof(machines) / sizeof(machines[0]); m++) {
		struct disasm *d = start(machines[m]);
		struct disasm_line line;

		for (size_t at = 0; at < sizeof(bytes); at += line.size) {
			disasm_next(d, bytes + at, sizeof(bytes) - at, UINT64_MAX - 2000 + at,
			            &line);
			assert_in_range(line.size, 1, sizeof(bytes) - at);
			assert_true(memchr(line.text, 0, sizeof(line.text)) != NULL);
			assert_true(line.text[0]);
		}
		disasm_free(d);
	}
}

static void a_machine_that_is_not_known(void **state)
{
	struct disasm *d = NULL;

	assert_int_equal(disasm_new(&d, 0xfffe, 0), -ENOTSUP);
	assert_null(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_instructions),
		cmocka_unit_test(any_bytes_end),
		cmocka_unit_test(a_machine_that_is_not_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
