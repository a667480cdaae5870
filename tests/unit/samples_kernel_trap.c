// SPDX-License-Identifier: MIT
// Unit tests of samples/kernel_trap.c: the stage of a breakpoint's trap, by a list of the kernel's
// symbols that the user gave.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "samples/kernel_trap.h"

/* Nowhere near a kernel that runs. */
#define HERE 0xffffffff10000000ull
#define ENTRY (HERE + 0x1010)

static char list[] = "/tmp/seam-kallsyms-XXXXXX";

static int write_list(void **state)
{
	static const char *const names[] = { "_text",         "asm_exc_int3",       "do_int3",
		                             "handler_chain", "emulate_push_stack", "_etext" };
	int fd = mkstemp(list);
	FILE *to = fd < 0 ? NULL : fdopen(fd, "w");

	(void)state;
	if (!to)
		return -1;
	for (unsigned i = 0; i < 6; i++)
		fprintf(to, "%llx T %s\n", HERE + i * 0x1000, names[i]);
	return fclose(to);
}

static int remove_list(void **state)
{
	(void)state;
	return unlink(list);
}

static enum kernel_trap_stage stage(struct kernel_trap *t, uint64_t inner, uint64_t outer)
{
	const uint64_t ips[] = { SEAM_CONTEXT_KERNEL, inner, outer, SEAM_CONTEXT_USER, 0x401000 };
	const struct seam_u64s chain = { .bytes = (const unsigned char *)ips, .n = 5 };

	return kernel_trap_stage(t, &chain);
}

static void a_list_that_was_given_is_used(void **state)
{
	struct kernel_trap *t;

	assert_int_equal(kernel_trap_new(&t, NULL, true, NULL, list), 0);
	assert_int_equal(stage(t, HERE + 0x2020, ENTRY), KERNEL_TRAP_EARLY);
	assert_int_equal(stage(t, HERE + 0x3020, ENTRY), KERNEL_TRAP_LATE);
	assert_int_equal(stage(t, HERE + 0x4020, ENTRY), KERNEL_TRAP_MOVES);
	assert_int_equal(stage(t, HERE + 0x0020, ENTRY), KERNEL_TRAP_EITHER);
	assert_int_equal(stage(t, HERE + 0x2020, HERE + 0x3020), KERNEL_TRAP_NONE);
	kernel_trap_free(t);
	/* Without it these addresses are nobody's. */
	assert_int_equal(kernel_trap_new(&t, NULL, true, NULL, NULL), 0);
	assert_int_equal(stage(t, HERE + 0x2020, ENTRY), KERNEL_TRAP_NONE);
	kernel_trap_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_list_that_was_given_is_used),
	};

	return cmocka_run_group_tests(tests, write_list, remove_list);
}
