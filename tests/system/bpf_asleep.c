// SPDX-License-Identifier: MIT
/*
 * bpf_asleep.c: capture/bpf/asleep.h reads stacks that were made for it, of processes that sleep:
 * the frames, and why they end, by the rules of the kernel's own walk. Where the kernel defers
 * nothing, tasks are named by tid. Exits 77 with the reason where BPF programs may not be loaded.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "abi/stack_end.h"
#include "capture/bpf/asleep.h"

#define WORDS 8192
#define CHAIN 600
#define LOW ((unsigned char *)0x10000000)

/* A stack as a test makes it, where the process that sleeps on it has it too. */
struct scene {
	uint64_t sp, fp;
	uint64_t want[512]; /* behind the pc */
	unsigned n;
	enum stack_end end;
	bool narrow; /* 32-bit */
};

struct got {
	uint64_t key;
	unsigned calls, end, n;
	uint64_t ips[512];
};

extern const char asleep_here[];

static void give(void *ctx, uint64_t key, uint32_t cpu, unsigned end, const uint64_t *ips, size_t n)
{
	struct got *g = ctx;

	(void)cpu;
	g->calls++;
	g->key = key;
	g->end = end;
	g->n = (unsigned)n;
	assert_true(n <= 510);
	memcpy(g->ips, ips, n * sizeof(*ips));
}

/* For ever, on that stack. The label is one only where the code is. */
__attribute__((noinline)) static void sleep_on(const struct scene *s)
{
	__asm__ volatile("mov %[sp], %%rsp\n"
	                 "mov %[fp], %%rbp\n"
	                 "mov $34, %%eax\n" /* pause */
	                 "syscall\n"
	                 ".globl asleep_here\n"
	                 "asleep_here:\n"
	                 "ud2\n"
	                 :
	                 : [sp] "r"(s->sp), [fp] "a"(s->fp)
	                 : "memory");
	__builtin_unreachable();
}

/* mov $FP, %ebp; mov $29, %eax (pause); int $0x80; ud2 */
static void sleep_narrow(const struct scene *s)
{
	unsigned char code[] = { 0xbd, 0, 0, 0, 0, 0xb8, 29, 0, 0, 0, 0xcd, 0x80, 0x0f, 0x0b };
	uint32_t fp = (uint32_t)s->fp;
	struct {
		uint64_t ip, cs;
	} *far = (void *)(LOW + 2048);

	memcpy(code + 1, &fp, 4);
	memcpy(LOW, code, sizeof(code));
	far->ip = (uint64_t)LOW;
	far->cs = 0x23;
	__asm__ volatile("mov %[far], %%rsp\n"
	                 "lretq\n"
	                 :
	                 : [far] "r"(far)
	                 : "memory");
	__builtin_unreachable();
}

static bool is_asleep(pid_t pid)
{
	char path[64], text[256] = "", *name_end;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "r");
	if (f) {
		size_t n = fread(text, 1, sizeof(text) - 1, f);

		text[n] = 0;
		fclose(f);
	}
	name_end = strrchr(text, ')');
	return name_end && !strncmp(name_end, ") S", 3);
}

/* Reads the stack of a process that sleeps on it. False: it could not be made to. */
static bool read_scene(const struct scene *s, struct got *g)
{
	struct seam_error err = { 0 };
	uint64_t tid;
	int r, status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		if (s->narrow)
			sleep_narrow(s);
		sleep_on(s);
	}
	while (!is_asleep(pid))
		if (waitpid(pid, &status, WNOHANG))
			return false;
	tid = (uint64_t)pid;
	*g = (struct got){ 0 };
	r = asleep_read_threads(&tid, 1, give, g, &err);
	assert_true(is_asleep(pid)); /* undisturbed */
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	if (r < 0)
		fail_msg("%s", err.text);
	assert_int_equal(g->calls, 1);
	assert_int_equal(g->key, tid);
	return true;
}

static void expect(const struct scene *s)
{
	struct got g;

	assert_true(read_scene(s, &g));
	assert_int_equal(g.end, s->end);
	assert_int_equal(g.n, s->n + 1);
	if (!s->narrow)
		assert_int_equal(g.ips[0], (uint64_t)asleep_here);
	assert_memory_equal(g.ips + 1, s->want, s->n * sizeof(*s->want));
}

/* A chain of n frames, 4 words each, from `stack` on upwards. */
static void chain(struct scene *s, uint64_t *stack, unsigned n, enum stack_end end)
{
	*s = (struct scene){ .sp = (uint64_t)(stack - 2), .fp = (uint64_t)stack, .end = end };
	for (unsigned i = 0; i < n; i++) {
		stack[i * 4] = i + 1 < n ? (uint64_t)&stack[i * 4 + 4] : 0;
		stack[i * 4 + 1] = 0x400000 + i;
		if (s->n < 509)
			s->want[s->n++] = 0x400000 + i;
	}
}

static uint64_t *area;

static void test_chains(void **state)
{
	struct scene s;

	(void)state;
	chain(&s, area + 16, 5, STACK_END_COMPLETE);
	expect(&s);
	chain(&s, area + 16, CHAIN, STACK_END_LIMIT);
	expect(&s);
	/* The kernel does not ask whether a return address is one. */
	chain(&s, area + 16, 3, STACK_END_COMPLETE);
	area[16 + 9] = s.want[2] = 0;
	expect(&s);
}

static void test_broken(void **state)
{
	struct scene s;

	(void)state;
	chain(&s, area + 16, 5, STACK_END_NO_PROGRESS); /* downwards */
	area[16 + 8] = (uint64_t)&area[16 + 4];
	s.n = 3;
	expect(&s);
	chain(&s, area + 16, 5, STACK_END_NO_PROGRESS); /* not a word's address */
	area[16 + 8] += 4;
	s.n = 3;
	expect(&s);
	chain(&s, area + 16, 5, STACK_END_FAULT); /* no page */
	area[16 + 8] = (uint64_t)&area[WORDS];
	s.n = 3;
	expect(&s);
	chain(&s, area + 16, 5, STACK_END_FAULT); /* half of it on no page */
	area[16 + 8] = (uint64_t)&area[WORDS - 1];
	s.n = 3;
	expect(&s);
	chain(&s, area + 16, 5, STACK_END_NO_PROGRESS); /* none at all */
	s.fp = 16;
	s.n = 0;
	expect(&s);
	chain(&s, area + 16, 5, STACK_END_NO_PROGRESS); /* beyond all addresses */
	s.fp = (uint64_t)-16;
	s.n = 0;
	expect(&s);
}

/* Its pages may be anywhere: here the chain's are not in memory until they are asked for. */
static void test_dropped(void **state)
{
	FILE *f = tmpfile();
	struct scene s;
	uint64_t *stack;

	(void)state;
	assert_non_null(f);
	assert_int_equal(ftruncate(fileno(f), 65536), 0);
	stack = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(f), 0);
	assert_ptr_not_equal(stack, MAP_FAILED);
	chain(&s, stack + 16, 100, STACK_END_COMPLETE);
	assert_int_equal(madvise(stack, 65536, MADV_DONTNEED), 0);
	expect(&s);
	munmap(stack, 65536);
	fclose(f);
}

static void test_narrow(void **state)
{
	struct scene s = { .narrow = true, .end = STACK_END_COMPLETE };
	unsigned char *low = mmap(LOW, 8192, PROT_READ | PROT_WRITE | PROT_EXEC,
	                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	struct got g;
	uint32_t *stack = (uint32_t *)(LOW + 4096);

	(void)state;
	if (low != LOW)
		skip();
	for (unsigned i = 0; i < 7; i++) {
		stack[i * 3] = i < 6 ? (uint32_t)(uint64_t)&stack[i * 3 + 3] : 0;
		stack[i * 3 + 1] = 0xf0000000u + i;
		s.want[s.n++] = 0xf0000000u + i;
	}
	s.fp = (uint64_t)stack;
	if (!read_scene(&s, &g)) {
		munmap(low, 8192);
		print_message("skipped: no 32-bit programs here\n");
		skip();
	}
	assert_int_equal(g.ips[0], (uint64_t)LOW + 12);
	expect(&s);
	munmap(low, 8192);
}

static void test_nobody(void **state)
{
	struct seam_error err = { 0 };
	struct got g = { 0 };
	uint64_t none[] = { 1u << 30, 0 };
	uint64_t self = (uint64_t)getpid();

	(void)state;
	assert_int_equal(asleep_read_threads(none, 2, give, &g, &err), 0);
	assert_int_equal(g.calls, 0);
	/* Cookies are not tids, and nobody here has this one. */
	assert_int_equal(asleep_read(&self, 1, give, &g, &err), 0);
	assert_int_equal(g.calls, 0);
	assert_int_equal(asleep_read(&self, 0, give, &g, &err), 0);
}

/* More than the iterator's buffer holds: none is missing, none is cut. */
static struct got *all;
static unsigned n_all;
static void give_all(void *ctx, uint64_t key, uint32_t cpu, unsigned end, const uint64_t *ips,
                     size_t n)
{
	assert_true(n_all < 40);
	give(&all[n_all++], key, cpu, end, ips, n);
	(void)ctx;
}

static void test_many(void **state)
{
	struct seam_error err = { 0 };
	struct scene s;
	uint64_t tids[40];

	(void)state;
	chain(&s, area + 16, CHAIN, STACK_END_LIMIT);
	all = calloc(40, sizeof(*all));
	assert_non_null(all);
	for (unsigned i = 0; i < 40; i++) {
		pid_t pid = fork();

		assert_true(pid >= 0);
		if (!pid)
			sleep_on(&s);
		while (!is_asleep(pid))
			usleep(1000);
		tids[i] = (uint64_t)pid;
	}
	assert_int_equal(asleep_read_threads(tids, 40, give_all, NULL, &err), 0);
	for (unsigned i = 0; i < 40; i++) {
		kill((pid_t)tids[i], SIGKILL);
		waitpid((pid_t)tids[i], NULL, 0);
	}
	assert_int_equal(n_all, 40);
	for (unsigned i = 0; i < 40; i++) {
		unsigned at = 0;

		while (at < 40 && all[at].key != tids[i])
			at++;
		assert_true(at < 40);
		assert_int_equal(all[at].n, 510);
		assert_memory_equal(all[at].ips + 1, s.want, 509 * sizeof(*s.want));
	}
	free(all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chains),  cmocka_unit_test(test_broken),
		cmocka_unit_test(test_dropped), cmocka_unit_test(test_narrow),
		cmocka_unit_test(test_nobody),  cmocka_unit_test(test_many),
	};
	struct seam_error err = { 0 };
	struct got g = { 0 };
	uint64_t none = 1u << 30;

	if (asleep_read(&none, 1, give, &g, &err) < 0) {
		printf("skipped: %s\n", err.text);
		return 77;
	}
	/* A page behind it that is none. */
	area = mmap(NULL, WORDS * 8 + 4096, PROT_NONE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (area == MAP_FAILED || mprotect(area, WORDS * 8, PROT_READ | PROT_WRITE))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
