// SPDX-License-Identifier: MIT
// A live table made anew: who ended is forgotten, who runs is not, and a day of short processes
// takes no room.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "proc/proc.h"

#define GRACE 1000u

static struct proc_table *live_table(void)
{
	struct proc_opts opts = { .sz = sizeof(opts), .live = true };
	struct proc_table *t;

	assert_int_equal(proc_new(&t, &opts), 0);
	return t;
}

static void learn(struct proc_table *t, uint32_t type, uint64_t time, struct seam_decoded d)
{
	struct seam_record record = { .type = type, .misc = SEAM_MISC_USER };

	d.record = &record;
	d.id.has = SEAM_SAMPLE_TIME;
	d.id.time_ns = time;
	assert_true(proc_learn(t, &d) >= 0);
}

static void task(struct proc_table *t, uint32_t type, uint64_t time, uint32_t pid, uint32_t tid,
                 uint32_t parent)
{
	learn(t, type, time,
	      (struct seam_decoded){
	              .task = { .pid = pid, .tid = tid, .ppid = parent, .ptid = parent } });
}

static void born(struct proc_table *t, uint64_t time, uint32_t pid, uint32_t parent)
{
	task(t, SEAM_RECORD_FORK, time, pid, pid, parent);
}

static void dies(struct proc_table *t, uint64_t time, uint32_t pid, uint32_t tid)
{
	task(t, SEAM_RECORD_EXIT, time, pid, tid, 1);
}

static void named(struct proc_table *t, uint64_t time, uint32_t pid, const char *comm, bool exec)
{
	learn(t, SEAM_RECORD_COMM, time,
	      (struct seam_decoded){
	              .comm = { .pid = pid, .tid = pid, .comm = comm, .exec = exec } });
}

static void maps(struct proc_table *t, uint64_t time, uint32_t pid, uint64_t addr, const char *name)
{
	learn(t, SEAM_RECORD_MMAP2, time,
	      (struct seam_decoded){ .mmap = { .pid = pid,
	                                       .tid = pid,
	                                       .addr = addr,
	                                       .len = 4096,
	                                       .has_prot = true,
	                                       .prot = 5,
	                                       .filename = name } });
}

static struct proc_table *renew(struct proc_table *t)
{
	struct proc_table *to;

	assert_int_equal(proc_renew(&to, t, GRACE), 0);
	proc_free(t);
	return to;
}

static bool knows(const struct proc_table *t, uint32_t pid)
{
	const struct proc_mapping *m = proc_find(t, NULL, pid, PROC_NOW, 0x1000);

	return m && m->object->kind == PROC_KIND_FILE;
}

/* Samples of its last moments come after its EXIT, so it stays for a while. */
static void the_dead_go_after_the_grace(void **state)
{
	struct proc_table *t = live_table();

	born(t, 10, 5, 1);
	maps(t, 11, 5, 0x1000, "/five");
	named(t, 11, 5, "five", false);
	born(t, 12, 6, 5);
	dies(t, 20, 5, 5);
	t = renew(t);
	assert_true(knows(t, 5) && knows(t, 6));
	assert_string_equal(proc_comm(t, 5, 5, PROC_NOW), "five");
	born(t, 20 + GRACE + 1, 7, 6);
	t = renew(t);
	assert_false(knows(t, 5));
	assert_null(proc_comm(t, 5, 5, PROC_NOW));
	assert_true(knows(t, 6) && knows(t, 7));
	proc_free(t);
}

/* main() called pthread_exit: the process is there until its last thread is gone. */
static void a_leader_may_go_first(void **state)
{
	struct proc_table *t = live_table();

	born(t, 10, 5, 1);
	maps(t, 11, 5, 0x1000, "/five");
	task(t, SEAM_RECORD_FORK, 12, 5, 50, 5);
	dies(t, 13, 5, 5);
	born(t, 5 * GRACE, 9, 1);
	t = renew(t);
	assert_true(knows(t, 5));
	dies(t, 6 * GRACE, 5, 50);
	t = renew(t);
	assert_true(knows(t, 5)); /* its end is the last thread's */
	born(t, 8 * GRACE, 10, 1);
	t = renew(t);
	assert_false(knows(t, 5));
	proc_free(t);
}

static void a_pid_that_lives_again_stays(void **state)
{
	struct proc_table *t = live_table();

	born(t, 10, 5, 1);
	maps(t, 11, 5, 0x1000, "/first");
	dies(t, 12, 5, 5);
	born(t, 13, 5, 1); /* again */
	maps(t, 14, 5, 0x1000, "/second");
	born(t, 9 * GRACE, 9, 1);
	t = renew(t);
	assert_true(knows(t, 5));
	dies(t, 9 * GRACE, 5, 5);
	maps(t, 9 * GRACE + 1, 5, 0x1000, "/third"); /* its FORK was lost */
	born(t, 20 * GRACE, 10, 1);
	t = renew(t);
	assert_true(knows(t, 5));
	proc_free(t);
}

/* The kernel's mappings are nobody's, and stay; so do build-ids that were told before. */
static void the_rest_stays(void **state)
{
	const uint8_t id[3] = { 1, 2, 3 };
	struct proc_table *t = live_table();

	assert_int_equal(proc_learn_build_id(t, "/lib", id, 3), 0);
	learn(t, SEAM_RECORD_KSYMBOL, 0,
	      (struct seam_decoded){ .ksymbol = { .addr = 0xffff000000001000,
	                                          .len = 64,
	                                          .ksym_type = 1,
	                                          .name = "prog" } });
	t = renew(renew(t));
	maps(t, 1, 5, 0x1000, "/lib");
	assert_int_equal(proc_find(t, NULL, 5, PROC_NOW, 0x1000)->object->build_id_size, 3);
	assert_string_equal(proc_find_kernel(t, PROC_NOW, 0xffff000000001001)->object->path,
	                    "prog");
	assert_int_equal(proc_find(t, NULL, 5, PROC_NOW, 0xffffffffff600000)->object->kind,
	                 PROC_KIND_VSYSCALL);
	proc_free(t);
}

/* 40,000 processes, each with an exec, mappings and a thread; ten at a time. */
static void a_day_of_short_processes(void **state)
{
	struct proc_table *t = live_table();
	struct proc_counts c;
	uint64_t most = 0;

	born(t, 0, 1, 0);
	maps(t, 0, 1, 0x1000, "/init");
	for (uint32_t i = 0; i < 40000; i++) {
		uint32_t pid = 100 + i % 30000;
		uint64_t time = 100 * (i + 1);
		char name[32];

		born(t, time, pid, 1);
		named(t, time, pid, "short", true);
		for (uint32_t k = 0; k < 8; k++) {
			snprintf(name, sizeof(name), "/tmp/%u", (k ? 0 : i) + k);
			maps(t, time, pid, 0x1000 + k * 0x2000, name);
		}
		task(t, SEAM_RECORD_FORK, time, pid, pid + 1000000, pid);
		assert_true(knows(t, pid) && knows(t, 1));
		dies(t, time + 900, pid, pid + 1000000);
		dies(t, time + 900, pid, pid);
		proc_count(t, &c);
		if (c.bytes > most)
			most = c.bytes;
		if (c.bytes > 400000)
			t = renew(t);
	}
	proc_count(t, &c);
	assert_int_equal(c.execs, 40000);
	assert_true(most < 600000);
	proc_free(t);
}

static void a_file_is_not_renewed(void **state)
{
	struct proc_table *t, *to;

	assert_int_equal(proc_new(&t, NULL), 0);
	assert_int_equal(proc_renew(&to, t, 0), -EINVAL);
	proc_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_dead_go_after_the_grace),
		cmocka_unit_test(a_leader_may_go_first),
		cmocka_unit_test(a_pid_that_lives_again_stays),
		cmocka_unit_test(the_rest_stays),
		cmocka_unit_test(a_day_of_short_processes),
		cmocka_unit_test(a_file_is_not_renewed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
