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
#include "capture/topology.h"

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

#define CPU(n, file) "topo/devices/system/cpu/cpu" #n "/topology/" file

/* Four CPUs of two cores, the last of them off; equal lists stand once; then the names of before
 * 5.3. */
static void cpus_share_cores(void **state)
{
	struct topology t;
	char sys[64];

	put(CPU(0, "package_cpus_list"), "0-2\n");
	put(CPU(1, "package_cpus_list"), "0-2\n");
	put(CPU(2, "package_cpus_list"), "0-2\n");
	put(CPU(0, "die_cpus_list"), "0-2\n");
	put(CPU(0, "core_cpus_list"), "0,2\n");
	put(CPU(1, "core_cpus_list"), "1\n");
	put(CPU(2, "core_cpus_list"), "0,2\n");
	put(CPU(0, "core_id"), "0\n");
	put(CPU(1, "core_id"), "7\n");
	put(CPU(1, "physical_package_id"), "1\n");
	snprintf(sys, sizeof(sys), "%s/topo", root);
	topology_read(&t, 4, sys);
	assert_int_equal(t.n_cpus, 4);
	assert_int_equal(t.packages.n, 1);
	assert_string_equal(t.packages.at[0], "0-2");
	assert_int_equal(t.dies.n, 1);
	assert_int_equal(t.cores.n, 2);
	assert_string_equal(t.cores.at[0], "0,2");
	assert_string_equal(t.cores.at[1], "1");
	assert_int_equal(t.cpus[1].core, 7);
	assert_int_equal(t.cpus[1].package, 1);
	assert_int_equal(t.cpus[3].core, -1);
	topology_free(&t);

	put("old/devices/system/cpu/cpu0/topology/core_siblings_list", "0\n");
	put("old/devices/system/cpu/cpu0/topology/thread_siblings_list", "0\n");
	snprintf(sys, sizeof(sys), "%s/old", root);
	topology_read(&t, UINT32_MAX, sys);
	assert_int_equal(t.n_cpus, TOPOLOGY_CPUS_MAX);
	assert_int_equal(t.packages.n, 1);
	assert_int_equal(t.cores.n, 1);
	assert_int_equal(t.dies.n, 0);
	topology_free(&t);

	snprintf(sys, sizeof(sys), "%s/nowhere", root);
	topology_read(&t, 4, sys);
	assert_int_equal(t.n_cpus, 0);
	topology_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pmus_are_listed),  cmocka_unit_test(pmus_are_bounded),
		cmocka_unit_test(cpu_and_memory),   cmocka_unit_test(nothing_is_known),
		cmocka_unit_test(cpus_share_cores),
	};

	return cmocka_run_group_tests(tests, make_root, remove_root);
}
