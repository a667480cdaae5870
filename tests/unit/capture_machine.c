// SPDX-License-Identifier: MIT
// capture_machine.c: what is read of a machine, from made-up /proc and /sys.
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "capture/machine.h"

#define PMUS "bus/event_source/devices"

static char root[] = "/tmp/seam-machine-XXXXXX";

/* A file below root, with the directories above it. */
static void put(const char *path, const char *text)
{
	char full[512];
	FILE *f;

	snprintf(full, sizeof(full), "%s/%s", root, path);
	for (char *p = full + strlen(root) + 1; (p = strchr(p, '/')); p++) {
		*p = 0;
		mkdir(full, 0700);
		*p = '/';
	}
	f = fopen(full, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void read_made_up(struct machine *ret)
{
	char proc[64], sys[64];

	snprintf(proc, sizeof(proc), "%s/proc", root);
	snprintf(sys, sizeof(sys), "%s/sys", root);
	machine_read(ret, proc, sys);
}

static uint32_t pmu_type(const struct machine *m, const char *name)
{
	for (size_t i = 0; i < m->n_pmus; i++)
		if (!strcmp(m->pmus[i].name, name))
			return m->pmus[i].type;
	return UINT32_MAX;
}

/* PMUs with a type are listed, each once; hidden entries and those without a type are not. */
static void pmus_are_listed(void **state)
{
	struct machine m;

	put("proc/cpuinfo", "");
	put("sys/" PMUS "/cpu/type", "4\n");
	put("sys/" PMUS "/software/type", "1\n");
	put("sys/" PMUS "/uncore_imc_0/type", "17\n");
	put("sys/" PMUS "/broken/other", "");
	put("sys/" PMUS "/.hidden/type", "9\n");
	read_made_up(&m);
	assert_int_equal(m.n_pmus, 3);
	assert_int_equal(pmu_type(&m, "cpu"), 4);
	assert_int_equal(pmu_type(&m, "software"), 1);
	assert_int_equal(pmu_type(&m, "uncore_imc_0"), 17);
	machine_free(&m);
	assert_int_equal(m.n_pmus, 0);
}

/* More than 256 are cut to so many. */
static void pmus_are_bounded(void **state)
{
	struct machine m;

	for (int i = 0; i < 300; i++) {
		char path[64];

		snprintf(path, sizeof(path), "sys/" PMUS "/many_%d/type", i);
		put(path, "33\n");
	}
	read_made_up(&m);
	assert_int_equal(m.n_pmus, 256);
	machine_free(&m);
}

static void cpu_and_memory(void **state)
{
	struct machine m;

	put("proc/cpuinfo", "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\n"
	                    "model\t\t: 143\nmodel name\t: A CPU @ 2 GHz\nstepping\t: 8\n");
	put("proc/meminfo", "MemTotal:       24685284 kB\nMemFree: 1 kB\n");
	read_made_up(&m);
	assert_string_equal(m.cpu_id, "GenuineIntel,6,143,8");
	assert_string_equal(m.cpu_text, "A CPU @ 2 GHz");
	assert_int_equal(m.memory_kb, 24685284);
	machine_free(&m);
}

/* Nothing is there: all is empty, and nothing fails. */
static void nothing_is_known(void **state)
{
	struct machine m;

	machine_read(&m, "/nonexistent", "/nonexistent");
	assert_int_equal(m.n_pmus, 0);
	assert_int_equal(m.memory_kb, 0);
	assert_string_equal(m.cpu_id, "");
	machine_free(&m);
}

static int make_root(void **state)
{
	return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", root);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pmus_are_listed),
		cmocka_unit_test(pmus_are_bounded),
		cmocka_unit_test(cpu_and_memory),
		cmocka_unit_test(nothing_is_known),
	};

	return cmocka_run_group_tests(tests, make_root, remove_root);
}
