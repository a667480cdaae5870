/* SPDX-License-Identifier: MIT */
/*
 * work_stacks.h: stacks that are hard to walk. A part of work.c, which has what all use.
 */
#ifndef SEAM_TESTS_BPF_WORK_STACKS_H
#define SEAM_TESTS_BPF_WORK_STACKS_H

#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* -- pages -- */

static char *stack;

KEEP static void pages_leaf(void)
{
	char here, *from = (char *)(((unsigned long)&here + 8192) & ~4095ul);

	madvise(from, (size_t)(stack + STACK - from), MADV_DONTNEED);
	spin(work_loops(400000));
}

KEEP static int pages_descend(int n)
{
	char pad[8192];
	int r = 0;

	memset(pad, n, sizeof(pad));
	__asm__ volatile("" ::"r"(pad) : "memory");
	if (n)
		r = pages_descend(n - 1);
	else
		pages_leaf();
	__asm__ volatile("" ::"r"(pad) : "memory");
	return r + 1;
}

static void *pages_thread(void *unused)
{
	double end = now() + seconds;

	while (now() < end)
		pages_descend(10);
	return unused;
}

static void pages(void)
{
	int fd = memfd_create("stack", 0);
	pthread_attr_t attr;
	pthread_t t;

	/* A shared mapping: dropped pages keep their contents, and must be brought in again. */
	if (fd < 0 || ftruncate(fd, (off_t)STACK) < 0)
		exit(2);
	stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, stack, STACK);
	if (stack == MAP_FAILED || pthread_create(&t, &attr, pages_thread, NULL))
		exit(2);
	pthread_join(t, NULL);
}

/* -- signals -- */

static volatile sig_atomic_t signals_handled;

KEEP static void signals_work(void)
{
	spin(work_loops(300000));
	NO_TAIL_CALL();
}

static void signals_handler(int number)
{
	(void)number;
	for (uint64_t end = work_until(0.3); work_goes_on(end);)
		signals_work();
	signals_handled = 1;
	NO_TAIL_CALL();
}

KEEP static int signals_descend(int n)
{
	int r = n;

	if (n)
		r += signals_descend(n - 1);
	else
		spin(work_loops(3000));
	NO_TAIL_CALL();
	return r;
}

static void signals(void)
{
	stack_t other = { .ss_sp = malloc(65536), .ss_size = 65536 };
	struct sigaction action = { .sa_handler = signals_handler, .sa_flags = SA_ONSTACK };
	struct itimerspec once = { { 0, 0 }, { 0, 2000000 } };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM };
	double end = now() + seconds;
	timer_t timer;

	sigaltstack(&other, NULL);
	sigaction(SIGALRM, &action, NULL);
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) < 0)
		exit(2);
	/* The next one is asked for when this one has come: a timer that repeats itself would leave
	 * the recursion no turn where a handler takes as long. */
	signals_handled = 1;
	while (now() < end) {
		if (signals_handled) {
			signals_handled = 0;
			timer_settime(timer, 0, &once, NULL);
		}
		signals_descend(15);
	}
}

/* -- deep -- */

KEEP static int deep_descend(int n)
{
	int r = n;

	if (n)
		r += deep_descend(n - 1);
	else
		spin(work_loops(100000));
	NO_TAIL_CALL();
	return r;
}

static void deep(void)
{
	double end = now() + 1;

	while (now() < end)
		deep_descend(count > 1 ? count : 300);
}

/* -- watched -- */

extern const char __executable_start[];

KEEP int watched_leaf(void)
{
	spin(work_loops(200000));
	NO_TAIL_CALL();
	return 1;
}

KEEP int watched_descend(int n)
{
	int r = n ? watched_descend(n - 1) : watched_leaf();

	NO_TAIL_CALL();
	return r + 1;
}

/* A uretprobe on a function of this program; the C library's functions are entered through the PLT
 * and watched by nobody. */
static void watch(const void *function)
{
	struct perf_event_attr attr = { .size = sizeof(attr), .config = 1 };
	FILE *type = fopen("/sys/bus/event_source/devices/uprobe/type", "r");

	if (!type || fscanf(type, "%u", &attr.type) != 1)
		exit(77);
	fclose(type);
	attr.uprobe_path = (unsigned long)"/proc/self/exe";
	attr.probe_offset = (unsigned long)function - (unsigned long)__executable_start;
	if (syscall(SYS_perf_event_open, &attr, getpid(), -1, -1, 0) < 0)
		exit(77);
}

static void watched(void)
{
	double end = now() + seconds;

	watch((const void *)watched_descend);
	watch((const void *)watched_leaf);
	while (now() < end)
		watched_descend(5);
}

/* -- returns -- */

KEEP static unsigned returns_inner(unsigned n)
{
	NO_TAIL_CALL();
	return n + 1;
}

/* Where a return of returns_inner is sampled this function is the caller, whatever the kernel has
 * done of it already. What it keeps on its stack is no address, or that of other code. It is
 * watched, too, so that the list has more than one, and it never returns: in the midst of its own
 * return its caller would be `returns`, and rightly so. */
KEEP static _Noreturn void returns_outer(double end)
{
	volatile unsigned long data[8] = { 1, (unsigned long)watched_leaf, 2, 3, 4, 5, 6, 7 };
	unsigned n = 0;

	while (now() < end)
		for (unsigned i = work_loops(200); i; i--)
			n = returns_inner(n + (unsigned)data[i & 7]);
	exit(0);
}

static void returns(void)
{
	watch((const void *)returns_outer);
	watch((const void *)returns_inner);
	returns_outer(now() + seconds);
}

/* -- registers -- */

/* void registers_REG(void): keeps its CFA in REG, and the stack pointer is anywhere when it calls
 * registers_next. */
#define BY_REGISTER(name, number, reg, next)                                     \
	__asm__(".text\n.type registers_" name ", @function\n"                   \
	        "registers_" name ":\n.cfi_startproc\n"                          \
	        "push %" reg "\n.cfi_def_cfa_offset 16\n"                        \
	        ".cfi_offset " number ", -16\n"                                  \
	        "mov %rsp, %" reg "\n.cfi_def_cfa " number ", 16\n"              \
	        "sub $8, %rsp\nand $-64, %rsp\nsub $192, %rsp\n"                 \
	        "call " next "\n"                                                \
	        "mov %" reg ", %rsp\n.cfi_def_cfa rsp, 16\n"                     \
	        "pop %" reg "\n.cfi_def_cfa_offset 8\n.cfi_restore " number "\n" \
	        "ret\n.cfi_endproc\n.size registers_" name ", .-registers_" name "\n")

BY_REGISTER("rbx", "3", "rbx", "registers_r12");
BY_REGISTER("r12", "12", "r12", "registers_r13");
BY_REGISTER("r13", "13", "r13", "registers_r14");
BY_REGISTER("r14", "14", "r14", "registers_r15");
BY_REGISTER("r15", "15", "r15", "registers_leaf");
void registers_rbx(void);

KEEP __attribute__((used)) void registers_leaf(void)
{
	spin(work_loops(100000));
	NO_TAIL_CALL();
}

static void registers(void)
{
	double end = now() + seconds;

	while (now() < end)
		registers_rbx();
}

/* -- compat -- */

/* mov $N, %ecx; 1: dec %ecx; jnz 1b; ljmp $0x33, $BACK; BACK (64-bit): jmp *%r14 */
static const unsigned char compat_code[] = { 0xb9, 0x40, 0x42, 0x0f, 0x00, 0x49, 0x75, 0xfd, 0xea,
	                                     0,    0,    0,    0,    0x33, 0x00, 0x41, 0xff, 0xe6 };

static void compat(void)
{
	unsigned char *low = mmap(NULL, 8192, PROT_READ | PROT_WRITE | PROT_EXEC,
	                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	double end = now() + seconds;
	unsigned back;

	if (low == MAP_FAILED)
		exit(2);
	memcpy(low, compat_code, sizeof(compat_code));
	back = (unsigned)(unsigned long)(low + 15);
	memcpy(low + 9, &back, 4);
	while (now() < end)
		__asm__ volatile("lea 1f(%%rip), %%r14\n\t"
		                 "mov %%rsp, %%r15\n\t"
		                 "mov %[stack], %%rsp\n\t"
		                 "pushq $0x23\n\t"
		                 "pushq %[code]\n\t"
		                 "lretq\n"
		                 "1: mov %%r15, %%rsp"
		                 :
		                 : [stack] "r"(low + 8192), [code] "r"(low)
		                 : "rcx", "r14", "r15", "memory", "cc");
}

#endif
