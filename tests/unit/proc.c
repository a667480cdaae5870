// SPDX-License-Identifier: MIT
// proc.c: the rules of proc.h, one by one, and all of them at random against a model that replays
// every event for every question.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "abi/runtime_code.h"
#include "proc/proc.h"

/* ---- records ---- */

struct made {
	struct seam_record record;
	struct seam_decoded decoded;
};

static uint64_t next_index;

static struct made made_of(uint32_t type, uint16_t misc, uint64_t time)
{
	struct made m = { 0 };

	m.record = (struct seam_record){ .type = type, .misc = misc, .index = next_index++ };
	m.decoded.id.has = SEAM_SAMPLE_TIME | SEAM_SAMPLE_TID;
	m.decoded.id.time_ns = time;
	return m;
}

static int put(struct proc_table *table, struct made m)
{
	m.decoded.record = &m.record;
	return proc_learn(table, &m.decoded);
}

static struct made mmap_of(uint64_t time, uint32_t pid, uint64_t addr, uint64_t len, uint64_t pgoff,
                           const char *name)
{
	struct made m = made_of(SEAM_RECORD_MMAP2,
	                        pid == PROC_KERNEL ? SEAM_MISC_KERNEL : SEAM_MISC_USER, time);

	m.decoded.mmap = (struct seam_mmap){ .pid = pid,
		                             .tid = pid,
		                             .addr = addr,
		                             .len = len,
		                             .pgoff = pgoff,
		                             .has_prot = true,
		                             .prot = 5,
		                             .filename = name };
	return m;
}

static struct made comm_of(uint64_t time, uint32_t pid, uint32_t tid, const char *name, bool exec)
{
	struct made m = made_of(SEAM_RECORD_COMM, exec ? SEAM_MISC_COMM_EXEC : 0, time);

	m.decoded.comm = (struct seam_comm){ .pid = pid, .tid = tid, .comm = name, .exec = exec };
	return m;
}

static struct made fork_of(uint64_t time, uint32_t pid, uint32_t tid, uint32_t ppid, uint32_t ptid)
{
	struct made m = made_of(SEAM_RECORD_FORK, 0, time);

	m.decoded.task = (struct seam_task){ .pid = pid, .tid = tid, .ppid = ppid, .ptid = ptid };
	return m;
}

static struct made ksymbol_of(uint64_t time, uint64_t addr, uint32_t len, const char *name,
                              bool unregister)
{
	struct made m = made_of(SEAM_RECORD_KSYMBOL, 0, time);

	m.decoded.ksymbol = (struct seam_ksymbol){
		.addr = addr, .len = len, .ksym_type = 1, .unregister = unregister, .name = name
	};
	return m;
}

static const char *path_at(const struct proc_table *table, uint32_t pid, uint64_t time,
                           uint64_t addr)
{
	struct proc_hint hint = { 0 };
	const struct proc_mapping *m = proc_find(table, &hint, pid, time, addr);

	assert_ptr_equal(m, proc_find(table, NULL, pid, time, addr));
	assert_ptr_equal(m, proc_find(table, &hint, pid, time, addr));
	return m ? m->object->path : "-";
}

/* ---- the rules ---- */

static void test_mmap_over_mmap(void **state)
{
	struct proc_table *t;

	assert_int_equal(proc_new(&t, NULL), 0);
	/* the file is out of order */
	assert_int_equal(put(t, mmap_of(20, 7, 0x3000, 0x2000, 0, "/b")), 1);
	assert_int_equal(put(t, mmap_of(10, 7, 0x1000, 0x8000, 0x100000, "/a")), 1);
	assert_int_equal(proc_seal(t), 0);
	assert_string_equal(path_at(t, 7, 9, 0x3000), "-");
	assert_string_equal(path_at(t, 7, 10, 0x3000), "/a");
	assert_string_equal(path_at(t, 7, 19, 0x4fff), "/a");
	assert_string_equal(path_at(t, 7, 20, 0x2fff), "/a");
	assert_string_equal(path_at(t, 7, 20, 0x3000), "/b");
	assert_string_equal(path_at(t, 7, 20, 0x4fff), "/b");
	assert_string_equal(path_at(t, 7, 20, 0x5000), "/a");
	assert_string_equal(path_at(t, 7, 20, 0x8fff), "/a");
	assert_string_equal(path_at(t, 7, 20, 0x9000), "-");
	assert_string_equal(path_at(t, 8, 20, 0x3000), "-");
	/* behind the hole the file offset still counts from the mapping's own start */
	assert_int_equal(proc_find(t, NULL, 7, 20, 0x5000)->start, 0x1000);
	assert_int_equal(put(t, mmap_of(30, 7, 0x1000, 0x1000, 0, "/late")), -EBUSY);
	proc_free(t);
}

/* The program is the lowest code of a file: not what lies below it, nor what another process
 * has. */
static void test_program(void **state)
{
	struct proc_table *t;

	assert_int_equal(proc_new(&t, NULL), 0);
	assert_int_equal(put(t, mmap_of(10, 7, 0x1000, 0x1000, 0, "//anon")), 1);
	assert_int_equal(put(t, mmap_of(10, 7, 0x7f0000, 0x1000, 0, "/lib/so")), 1);
	assert_int_equal(put(t, mmap_of(10, 7, 0x400000, 0x1000, 0, "/bin/a")), 1);
	assert_int_equal(put(t, comm_of(20, 7, 7, "b", true)), 1);
	assert_int_equal(put(t, mmap_of(21, 7, 0x500000, 0x1000, 0, "/bin/b")), 1);
	assert_int_equal(put(t, mmap_of(22, 7, 0x7f0000, 0x1000, 0, "/lib/so")), 1);
	assert_int_equal(put(t, mmap_of(10, 8, 0x1000, 0x1000, 0, "//anon")), 1);
	assert_int_equal(proc_seal(t), 0);
	assert_string_equal(proc_space_program(t, proc_space(t, 7, 10))->object->path, "/bin/a");
	assert_string_equal(proc_space_program(t, proc_space(t, 7, 22))->object->path, "/bin/b");
	assert_null(proc_space_program(t, proc_space(t, 7, 20)));
	assert_null(proc_space_program(t, proc_space(t, 8, 22)));
	assert_null(proc_space_program(t, PROC_NO_SPACE));
	proc_free(t);
}

static void test_exec_and_fork(void **state)
{
	struct proc_table *t;

	proc_new(&t, NULL);
	put(t, comm_of(1, 7, 7, "sh", false));
	put(t, mmap_of(1, 7, 0x1000, 0x1000, 0, "/sh"));
	put(t, fork_of(5, 8, 8, 7, 7));
	put(t, mmap_of(6, 7, 0x3000, 0x1000, 0, "/late"));
	put(t, comm_of(10, 8, 8, "ls", true));
	put(t, mmap_of(11, 8, 0x1000, 0x1000, 0, "/ls"));
	put(t, fork_of(12, 8, 9, 8, 8)); /* a thread of 8 */
	put(t, mmap_of(13, 8, 0x5000, 0x1000, 0, "/lib"));
	put(t, fork_of(20, 8, 8, 7, 7)); /* the pid is used again */
	assert_int_equal(proc_seal(t), 0);
	assert_string_equal(path_at(t, 8, 4, 0x1000), "-");
	assert_string_equal(path_at(t, 8, 5, 0x1000), "/sh");
	assert_string_equal(path_at(t, 8, 7, 0x3000),
	                    "-"); /* mapped by the parent after the fork */
	assert_string_equal(path_at(t, 7, 7, 0x3000), "/late");
	assert_string_equal(path_at(t, 8, 10, 0x1000), "-");
	assert_string_equal(path_at(t, 8, 11, 0x1000), "/ls");
	assert_string_equal(path_at(t, 8, 13, 0x5000), "/lib");
	assert_string_equal(path_at(t, 8, 20, 0x5000), "-");
	assert_string_equal(path_at(t, 8, 20, 0x3000), "/late");
	assert_string_equal(proc_comm(t, 8, 8, 5), "sh");
	assert_string_equal(proc_comm(t, 8, 8, 10), "ls");
	assert_string_equal(proc_comm(t, 8, 9, 12), "ls");
	assert_string_equal(proc_comm(t, 8, 8, 20), "sh");
	assert_string_equal(proc_comm(t, 0, 0, 3), "swapper");
	assert_string_equal(proc_comm(t, 7, 77, 3), "sh"); /* a thread that was never named */
	assert_null(proc_comm(t, 99, 99, 3));
	assert_int_equal(proc_space(t, 8, 5), proc_space(t, 7, 5));
	proc_free(t);
}

static void test_kinds(void **state)
{
	static const struct {
		const char *name;
		enum proc_kind kind;
	} table[] = {
		{ "/usr/bin/x", PROC_KIND_FILE },
		{ "//anon", PROC_KIND_ANON },
		{ "", PROC_KIND_ANON },
		{ "/memfd:jit (deleted)", PROC_KIND_ANON },
		{ "[anon:v8]", PROC_KIND_ANON },
		{ "[vdso]", PROC_KIND_VDSO },
		{ "[stack]", PROC_KIND_STACK },
		{ "[heap]", PROC_KIND_STACK },
		{ "/SYSV00000", PROC_KIND_STACK },
		{ "[uprobes]", PROC_KIND_UPROBES },
		{ "[what]", PROC_KIND_OTHER },
		{ "[vsyscall]", PROC_KIND_VSYSCALL },
	};
	struct proc_table *t;

	proc_new(&t, NULL);
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		put(t, mmap_of(0, 7, 0x1000 * (i + 1), 0x1000, 0, table[i].name));
	proc_seal(t);
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		assert_int_equal(proc_find(t, NULL, 7, 0, 0x1000 * (i + 1))->object->kind,
		                 table[i].kind);
	assert_int_equal(proc_find(t, NULL, 7, 0, 0x2000)->object->pid, 7);
	/* two names of anonymous memory of one process are one object */
	assert_ptr_equal(proc_find(t, NULL, 7, 0, 0x2000)->object,
	                 proc_find(t, NULL, 7, 0, 0x3000)->object);
	assert_string_equal(path_at(t, 1234, 5, 0xffffffffff600123), "[vsyscall]");
	proc_free(t);
}

static void test_kernel(void **state)
{
	static const uint8_t id[20] = { 1, 2, 3 };
	const uint64_t text = 0xffffffff81000000, bpf = 0xffffffffc0001000;
	struct proc_table *t;
	const struct proc_mapping *m;

	proc_new(&t, NULL);
	put(t, mmap_of(0, PROC_KERNEL, bpf - 0x1000, 0x1000, 0, "/lib/modules/6/ext4.ko.xz"));
	put(t, mmap_of(0, PROC_KERNEL, text, 0, text, "[kernel.kallsyms]_text"));
	put(t, ksymbol_of(5, bpf, 0x100, "bpf_prog_1", false));
	put(t, ksymbol_of(9, bpf, 0x100, "bpf_prog_1", true));
	put(t, ksymbol_of(12, bpf, 0x80, "bpf_prog_2", false));
	assert_int_equal(proc_learn_build_id(t, "[kernel.kallsyms]", id, 20), 0);
	assert_int_equal(proc_learn_build_id(t, "/x", id, 21), -EINVAL);
	proc_seal(t);
	m = proc_find_kernel(t, 0, text + 5);
	assert_string_equal(m->object->path, "[kernel.kallsyms]");
	assert_int_equal(m->object->build_id_size, 20);
	assert_memory_equal(m->object->build_id, id, 20);
	assert_ptr_equal(m, proc_kernel(t));
	assert_int_equal(m->pgoff, text);
	/* the kernel's map says no end: modules and BPF programs have their own addresses */
	assert_int_equal(proc_find_kernel(t, 0, bpf - 1)->object->kind, PROC_KIND_MODULE);
	assert_int_equal(proc_find_kernel(t, 4, bpf)->object->kind, PROC_KIND_KERNEL);
	assert_string_equal(proc_find_kernel(t, 5, bpf)->object->path, "bpf_prog_1");
	assert_int_equal(proc_find_kernel(t, 9, bpf)->object->kind, PROC_KIND_KERNEL);
	assert_string_equal(proc_find_kernel(t, 12, bpf)->object->path, "bpf_prog_2");
	assert_null(proc_find_kernel(t, 12, text - 1));
	proc_free(t);
}

static void test_odd_records(void **state)
{
	struct proc_table *t;
	struct proc_counts counts;
	struct made m;

	proc_new(&t, NULL);
	assert_int_equal(put(t, mmap_of(1, 7, 0x1000, 0, 0, "/a")), 0);
	assert_int_equal(put(t, mmap_of(1, 7, UINT64_MAX - 5, 100, 0, "/a")), 0);
	m = mmap_of(1, 7, 0x1000, 0x1000, 0, "/guest");
	m.record.misc = SEAM_MISC_GUEST_USER;
	assert_int_equal(put(t, m), 0);
	assert_int_equal(put(t, made_of(SEAM_RECORD_LOST, 0, 1)), 0);
	/* perf's mark: what it synthesizes as a fork inherits nothing */
	put(t, mmap_of(1, 7, 0x1000, 0x1000, 0, "/a"));
	m = fork_of(2, 8, 8, 7, 7);
	m.record.misc = SEAM_MISC_FORK_EXEC;
	put(t, m);
	proc_seal(t);
	assert_string_equal(path_at(t, 8, 3, 0x1000), "-");
	assert_string_equal(path_at(t, 7, 3, 0x1000), "/a");
	proc_count(t, &counts);
	assert_int_equal(counts.unsound, 2);
	proc_free(t);
	proc_free(NULL);
}

static const struct proc_mapping *code_at(const struct proc_table *t, uint64_t time, uint64_t addr)
{
	const struct proc_mapping *m = proc_find(t, NULL, 7, time, addr);

	assert_non_null(m);
	return m;
}

/* Code of one name, made in one place again, is told apart; what it does not cover stays. */
static void test_made_code(void **state)
{
	struct proc_code code = { .time_ns = 10, .start = 0x1100, .size = 0x100, .name = "f" };
	struct proc_table *t;
	struct proc_counts counts;

	proc_new(&t, NULL);
	put(t, mmap_of(1, 7, 0x1000, 0x1000, 0, "//anon"));
	code.number = 3;
	assert_int_equal(proc_learn_code(t, 7, &code), 0);
	code.time_ns = 20;
	code.number = 5;
	assert_int_equal(proc_learn_code(t, 7, &code), 0);
	code.size = 0;
	assert_int_equal(proc_learn_code(t, 7, &code), 0);
	proc_seal(t);
	assert_int_equal(proc_learn_code(t, 7, &code), -EBUSY);
	assert_int_equal(code_at(t, 9, 0x1150)->object->kind, PROC_KIND_ANON);
	assert_int_equal(code_at(t, 10, 0x1150)->object->kind, PROC_KIND_JIT);
	assert_string_equal(code_at(t, 10, 0x1150)->object->path, "f");
	assert_int_equal(code_at(t, 10, 0x1150)->pgoff, 3);
	assert_int_equal(code_at(t, 20, 0x1150)->pgoff, 5);
	assert_ptr_equal(code_at(t, 20, 0x1150)->object, code_at(t, 10, 0x1150)->object);
	assert_int_not_equal(proc_space(t, 7, 10), proc_space(t, 7, 20));
	assert_int_equal(code_at(t, 20, 0x1200)->object->kind, PROC_KIND_ANON);
	proc_count(t, &counts);
	assert_int_equal(counts.unsound, 1);
	proc_free(t);
}

static void test_without_times(void **state)
{
	struct proc_table *t;
	struct made a = mmap_of(0, 7, 0x1000, 0x1000, 0, "/a"),
	            b = mmap_of(0, 7, 0x1000, 0x1000, 0, "/b");

	proc_new(&t, NULL);
	a.decoded.id.has = b.decoded.id.has = 0;
	a.record.index = 3;
	b.record.index = 8;
	put(t, a);
	put(t, b);
	proc_seal(t);
	assert_string_equal(path_at(t, 7, 5, 0x1000), "/a");
	assert_string_equal(path_at(t, 7, 9, 0x1000), "/b");
	proc_free(t);
}

/* ---- at random, against a model ---- */

enum {
	N_EVENTS = 400,
	N_PIDS = 6,
	N_PAGES = 24,
	N_TIMES = 60
};

struct step {
	int what; /* 0 mmap, 1 fork, 2 exec, 3 thread and comm */
	uint64_t time;
	uint32_t pid, other;
	uint64_t from, n;
	char name[16];
};

static int step_order(const void *a, const void *b)
{
	const struct step *const *x = a, *const *y = b;

	if ((*x)->time != (*y)->time)
		return (*x)->time < (*y)->time ? -1 : 1;
	return *x < *y ? -1 : 1; /* order of the file */
}

struct model {
	const char *page[N_PIDS][N_PAGES];
	const char *comm[N_PIDS];
};

static void model_step(struct model *m, const struct step *s)
{
	switch (s->what) {
	case 0:
		for (uint64_t i = s->from; i < s->from + s->n; i++)
			m->page[s->pid][i] = s->name;
		break;
	case 1:
		memcpy(m->page[s->pid], m->page[s->other], sizeof(m->page[0]));
		m->comm[s->pid] = m->comm[s->other];
		break;
	case 2:
		memset(m->page[s->pid], 0, sizeof(m->page[0]));
		m->comm[s->pid] = s->name;
		break;
	default:
		m->comm[s->pid] = s->name;
	}
}

static struct made step_record(const struct step *s)
{
	uint32_t pid = s->pid + 100, other = s->other + 100;

	switch (s->what) {
	case 0:
		return mmap_of(s->time, pid, s->from << 12, s->n << 12, 0, s->name);
	case 1:
		return fork_of(s->time, pid, pid, other, other);
	default:
		return comm_of(s->time, pid, pid, s->name, s->what == 2);
	}
}

/* What one reader remembers of a table. */
struct reader {
	struct proc_hint hint;
	struct proc_recall recall;
};

static void check_recall(const struct proc_table *t, struct proc_recall *recall, uint32_t pid,
                         uint64_t time)
{
	assert_ptr_equal(proc_recall_comm(recall, t, pid, pid, time), proc_comm(t, pid, pid, time));
	assert_ptr_equal(proc_recall_comm(recall, t, pid, pid + PROC_RECALL, time),
	                 proc_comm(t, pid, pid + PROC_RECALL, time));
}

static void check_model(const struct proc_table *t, const struct model *m, uint64_t time,
                        struct reader *reader)
{
	for (uint32_t pid = 0; pid < N_PIDS; pid++) {
		const char *comm = proc_comm(t, pid + 100, pid + 100, time);

		check_recall(t, &reader->recall, pid + 100, time);

		if (m->comm[pid])
			assert_string_equal(comm, m->comm[pid]);
		else
			assert_null(comm);
		for (uint64_t page = 0; page < N_PAGES; page++) {
			const struct proc_mapping *got =
			        proc_find(t, &reader->hint, pid + 100, time, (page << 12) + 5);
			const char *want = m->page[pid][page];

			assert_string_equal(got ? got->object->path : "-", want ? want : "-");
		}
	}
}

static const char *name_at(const struct proc_table *t, uint32_t pid, uint64_t time)
{
	const char *comm = proc_comm(t, pid, pid, time);

	return comm ? comm : "-";
}

/* What a stream's table says of the past is what the sealed one says. */
static void check_past(const struct proc_table *t, const struct proc_table *stream)
{
	struct proc_hint hint = { 0 }, stream_hint = { 0 };
	struct proc_recall recall = { 0 };

	for (uint64_t time = 0; time < N_TIMES; time++) {
		for (uint32_t pid = 100; pid <= 100 + N_PIDS; pid++) { /* there and back */
			check_recall(t, &recall, pid, time);
			check_recall(t, &recall, pid, N_TIMES - 1 - time);
		}
		for (uint32_t i = 0; i < N_PIDS * N_PAGES; i++) {
			uint32_t pid = 100 + i / N_PAGES;
			uint64_t addr = (uint64_t)(i % N_PAGES) << 12;
			const struct proc_mapping *want = proc_find(t, &hint, pid, time, addr);
			const struct proc_mapping *got =
			        proc_find(stream, &stream_hint, pid, time, addr);

			assert_string_equal(got ? got->object->path : "-",
			                    want ? want->object->path : "-");
			assert_true(!want || (got->start == want->start && got->end == want->end));
			assert_string_equal(name_at(t, pid, time), name_at(stream, pid, time));
		}
	}
}

static void run_random(unsigned seed)
{
	static struct step steps[N_EVENTS];
	const struct step *order[N_EVENTS];
	struct proc_table *t, *live, *renewed, *stream;
	struct reader reader = { 0 }, live_reader = { 0 }, stream_reader = { 0 };
	struct model model = { 0 };
	struct proc_opts opts = { .sz = sizeof(opts), .live = true };
	struct proc_opts in_order = { .sz = sizeof(in_order), .in_order = true };
	size_t next = 0;

	srandom(seed);
	assert_int_equal(proc_new(&t, NULL), 0);
	assert_int_equal(proc_new(&live, &opts), 0);
	assert_int_equal(proc_new(&stream, &in_order), 0);
	for (size_t i = 0; i < N_EVENTS; i++) {
		struct step *s = &steps[i];

		s->what = (int)(random() % 10);
		s->what = s->what < 6 ? 0 : s->what - 6 > 3 ? 3 : s->what - 6;
		s->time = (uint64_t)random() % N_TIMES;
		s->pid = (uint32_t)random() % N_PIDS;
		s->other = (s->pid + 1 + (uint32_t)random() % (N_PIDS - 1)) % N_PIDS;
		s->from = (uint64_t)random() % N_PAGES;
		s->n = 1 + (uint64_t)random() % (N_PAGES - s->from);
		snprintf(s->name, sizeof(s->name), "/%ld", random() % 20);
		order[i] = s;
		assert_int_equal(put(t, step_record(s)), 1);
	}
	assert_int_equal(proc_seal(t), 0);
	qsort(order, N_EVENTS, sizeof(order[0]), step_order);
	for (uint64_t time = 0; time < N_TIMES; time++) {
		while (next < N_EVENTS && order[next]->time <= time) {
			model_step(&model, order[next]);
			assert_int_equal(put(live, step_record(order[next])), 1);
			assert_int_equal(put(stream, step_record(order[next++])), 1);
		}
		if (time % 16 == 5) { /* nobody exits: nothing may get lost */
			assert_int_equal(proc_renew(&renewed, live, 0), 0);
			proc_free(live);
			live = renewed;
		}
		check_model(t, &model, time, &reader);
		check_model(live, &model, PROC_NOW, &live_reader);
		check_model(stream, &model, time, &stream_reader);
	}
	check_past(t, stream);
	proc_free(stream);
	proc_free(t);
	proc_free(live);
}

static void test_random(void **state)
{
	for (unsigned seed = 1; seed <= 40; seed++)
		run_random(seed);
}

/* Nested mappings, each inside the one before: nothing may grow with their square or go deep. */
static void test_hostile_nesting(void **state)
{
	enum {
		N = 50000
	};
	struct proc_table *t;
	struct proc_counts counts;

	proc_new(&t, NULL);
	for (uint64_t i = 0; i < N; i++)
		put(t, mmap_of(i, 7, 0x1000 + i, 4 * N - 2 * i, i << 32, "/a"));
	assert_int_equal(proc_seal(t), 0);
	for (uint64_t i = 0; i < N; i += 997) {
		assert_int_equal(proc_find(t, NULL, 7, N, 0x1000 + i)->pgoff, i << 32);
		assert_int_equal(proc_find(t, NULL, 7, i, 0x1000 + 2 * N)->pgoff, i << 32);
	}
	proc_count(t, &counts);
	assert_true(counts.bytes < 400u << 20);
	proc_free(t);
}

/* Functions of an interpreter are there at all times and in every space, whenever they were told
 * of; only a record of user mode tells of one. */
static void test_runtime_code(void **state)
{
	struct proc_table *table;
	const struct proc_mapping *m;
	struct made f = made_of(SEAM_RECORD_KSYMBOL, SEAM_MISC_USER, 500), kernel = f, outside = f;
	uint64_t start = runtime_code_start(7);

	f.decoded.ksymbol =
	        (struct seam_ksymbol){ .addr = start, .len = 1u << 21, .name = "py::f:/x.py" };
	kernel.record.misc = SEAM_MISC_KERNEL;
	kernel.decoded.ksymbol =
	        (struct seam_ksymbol){ .addr = runtime_code_start(9), .len = 64, .name = "k" };
	outside.decoded.ksymbol =
	        (struct seam_ksymbol){ .addr = 0x7000, .len = 64, .name = "nowhere" };
	assert_int_equal(proc_new(&table, &(struct proc_opts){ .sz = sizeof(struct proc_opts) }),
	                 0);
	put(table, mmap_of(100, 10, 0x1000, 0x1000, 0, "/bin/a"));
	put(table, f);
	put(table, kernel);
	put(table, outside);
	assert_int_equal(proc_seal(table), 0);
	m = proc_find(table, NULL, 10, 200, start + 43);
	assert_non_null(m);
	assert_int_equal(m->object->kind, PROC_KIND_RUNTIME);
	assert_string_equal(m->object->path, "py::f:/x.py");
	assert_int_equal(m->start, start);
	assert_ptr_equal(proc_space_find(table, PROC_NO_SPACE, start), m);
	assert_ptr_equal(proc_find(table, NULL, 99, 1, start), m);
	assert_null(proc_find(table, NULL, 10, 200, start - 1));
	assert_null(proc_find(table, NULL, 10, 200, runtime_code_start(9)));
	assert_null(proc_find(table, NULL, 10, 600, 0x7000));
	assert_null(proc_find_kernel(table, 600, start));
	assert_string_equal(proc_find(table, NULL, 10, 200, 0x1800)->object->path, "/bin/a");
	proc_free(table);
}

/* The range around an address ends where something else was mapped over its mapping. */
static void test_space_range(void **state)
{
	struct proc_table *table;
	const struct proc_mapping *m;
	uint64_t start = 1, end = 1;
	uint32_t space;

	(void)state;
	assert_int_equal(proc_new(&table, &(struct proc_opts){ .sz = sizeof(struct proc_opts) }),
	                 0);
	put(table, mmap_of(100, 10, 0x1000, 0x5000, 0, "/bin/a"));
	put(table, mmap_of(200, 10, 0x3000, 0x1000, 0, "/lib/b"));
	assert_int_equal(proc_seal(table), 0);
	space = proc_space(table, 10, 300);
	m = proc_space_range(table, space, 0x2fff, &start, &end);
	assert_string_equal(m->object->path, "/bin/a");
	assert_int_equal(m->start, 0x1000);
	assert_int_equal(start, 0x1000);
	assert_int_equal(end, 0x3000);
	m = proc_space_range(table, space, 0x3000, &start, &end);
	assert_string_equal(m->object->path, "/lib/b");
	assert_int_equal(end, 0x4000);
	m = proc_space_range(table, space, 0x4001, &start, &end);
	assert_string_equal(m->object->path, "/bin/a");
	assert_int_equal(start, 0x4000);
	assert_int_equal(end, 0x6000);
	assert_null(proc_space_range(table, space, 0x6000, &start, &end));
	proc_free(table);
}

/* One exec of a program with two libraries, mapped one after the other or the last one first. */
static void put_exec(struct proc_table *t, uint64_t time, uint32_t pid, bool backwards)
{
	static const char *const files[] = { "/bin/a", "/lib/b", "/lib/c" };

	put(t, fork_of(time, pid, pid, 7, 7));
	put(t, comm_of(time + 1, pid, pid, "a", true));
	for (uint64_t i = 0; i < 3; i++) {
		uint64_t k = backwards ? 2 - i : i;

		put(t, mmap_of(time + 2 + i, pid, 0x10000 * (k + 1), 0x8000, 0, files[k]));
	}
	/* over the end of one library */
	put(t, mmap_of(time + 5, pid, 0x24000, 0x4000, 0x4000, "/lib/d"));
}

/* Processes with equal mappings have one space, of whatever time and by whatever steps; one
 * mapping more, or another one, and it is another. */
static void test_equal_spaces(void **state)
{
	struct proc_table *t;
	uint32_t first, space, pid;
	size_t n = 0;

	(void)state;
	assert_int_equal(proc_new(&t, NULL), 0);
	put(t, mmap_of(1, 7, 0x1000, 0x1000, 0, "/bin/sh"));
	for (uint32_t i = 0; i < 20; i++)
		put_exec(t, 100 + 10 * i, 100 + i % 7, i % 2); /* pids are used again */
	put_exec(t, 400, 200, false);
	put(t, mmap_of(406, 200, 0x50000, 0x1000, 0, "/lib/e"));
	put_exec(t, 500, 201, false);
	put(t, mmap_of(506, 201, 0x50000, 0x1000, 0, "")); /* anonymous: the process's own */
	put_exec(t, 600, 202, false);
	put(t, mmap_of(606, 202, 0x50000, 0x1000, 0, ""));
	put_exec(t, 700, 203, false);
	put(t, mmap_of(706, 203, 0x10000, 0x8000, 0x1000, "/bin/a"));
	put_exec(t, 800, 204, false);
	put(t, mmap_of(806, 204, 0x10000, 0x8000, 0x1000, "/bin/a"));
	put(t, mmap_of(807, 204, 0x10000, 0x8000, 0, "/bin/a")); /* and back */
	assert_int_equal(proc_seal(t), 0);
	first = proc_space(t, 100, 109);
	for (uint32_t i = 0; i < 20; i++) {
		assert_int_equal(proc_space(t, 100 + i % 7, 109 + 10 * i), first);
		assert_int_equal(proc_space(t, 100 + i % 7, 100 + 10 * i), proc_space(t, 7, 2));
		assert_int_equal(proc_space(t, 100 + i % 7, 101 + 10 * i), PROC_NO_SPACE);
	}
	assert_int_equal(proc_space(t, 200, 405), first);
	space = proc_space(t, 200, 406);
	assert_int_not_equal(space, first);
	assert_string_equal(path_at(t, 200, 406, 0x50000), "/lib/e");
	assert_string_equal(path_at(t, 200, 405, 0x50000), "-");
	assert_int_not_equal(proc_space(t, 201, 506), proc_space(t, 202, 606));
	assert_int_not_equal(proc_space(t, 201, 506), space);
	assert_int_not_equal(proc_space(t, 203, 706), first);
	assert_int_equal(proc_space(t, 203, 706), proc_space(t, 204, 806));
	assert_int_equal(proc_space(t, 204, 807), first);
	assert_string_equal(path_at(t, 106, 169, 0x24000), "/lib/d");
	/* [vsyscall], /bin/sh, the four of an exec, /lib/e, two anonymous, the other /bin/a */
	assert_int_equal(proc_mappings(t), 10);
	for (size_t i = 0; proc_made_at(t, i, &pid); i++)
		n += pid == 100;
	assert_int_equal(n, 3 * 4); /* the first of seven pids had three lives */
	proc_free(t);
}

/* A thousand execs of one program hold no more than their histories. */
static void test_execs_are_small(void **state)
{
	struct proc_counts few, many;

	(void)state;
	for (uint32_t n = 1000; n <= 20000; n *= 20) {
		struct proc_table *t;

		assert_int_equal(proc_new(&t, NULL), 0);
		for (uint32_t i = 0; i < n; i++)
			put_exec(t, 100 + 10 * (uint64_t)i, 100, i % 2);
		assert_int_equal(proc_seal(t), 0);
		proc_count(t, n == 1000 ? &few : &many);
		proc_free(t);
	}
	/* Of an exec: six versions of a space and three names, of 16 bytes each, four mappings made
	 * of 8, and room to grow as much again. */
	assert_true(many.bytes - few.bytes < 19000 * 2 * (9 * 16 + 4 * 8));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_runtime_code),    cmocka_unit_test(test_mmap_over_mmap),
		cmocka_unit_test(test_exec_and_fork),   cmocka_unit_test(test_program),
		cmocka_unit_test(test_kinds),           cmocka_unit_test(test_kernel),
		cmocka_unit_test(test_odd_records),     cmocka_unit_test(test_made_code),
		cmocka_unit_test(test_without_times),   cmocka_unit_test(test_random),
		cmocka_unit_test(test_hostile_nesting), cmocka_unit_test(test_space_range),
		cmocka_unit_test(test_equal_spaces),    cmocka_unit_test(test_execs_are_small),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
