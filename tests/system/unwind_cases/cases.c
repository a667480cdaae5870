// SPDX-License-Identifier: MIT
// cases.c: a busy program for each thing that is hard to unwind: cases CASE SECONDS, which are of
// CPU time.
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#ifdef HAVE_UCONTEXT
#include <ucontext.h>
#endif

#include "../work.h"

#define FAR __attribute__((noinline, noclone))

static volatile uint64_t sink;
static uint64_t end; /* of the process's CPU time */

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static bool goes_on(void)
{
	return work_cpu_of(CLOCK_PROCESS_CPUTIME_ID) < end;
}

FAR static void burn(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		sink = sink * 6364136223846793005ULL + i;
}

FAR static void deep(unsigned n, void (*leaf)(void))
{
	char room[64];

	memset(room, (int)n, sizeof(room));
	if (n)
		deep(n - 1, leaf);
	else
		leaf();
	sink += (uint64_t)room[n % 64]; /* not a tail call */
}

/* A frame whose size only its frame pointer knows. */
FAR static void growing(unsigned n)
{
	char *room = __builtin_alloca(n % 500 + 16);

	memset(room, 1, 16);
	burn(work_loops(500));
	sink += (uint64_t)room[3];
}

FAR static void leaf_plain(void)
{
	for (unsigned i = 0; i < 50; i++)
		growing(i);
}

/* ---- signal handlers ---- */

static volatile sig_atomic_t handled;

FAR static void handler(int signal)
{
	(void)signal;
	deep(3, leaf_plain);
	handled = 1;
}

static void set_handler(int flags, int signal)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };

	sigaction(signal, &action, NULL);
}

FAR static void leaf_raise(void)
{
	raise(SIGUSR1);
	burn(work_loops(2000));
}

/* One signal, in a while. The next one is asked for where this one has come and the program had
 * its turn: a timer that repeats itself would leave it none where a handler takes as long. */
static void start_timer(void)
{
	struct itimerval once = { { 0, 0 }, { 0, 700 } };

	handled = 0;
	setitimer(ITIMER_REAL, &once, NULL);
}

/* ---- the rest of the cases' leaves ---- */

FAR static void leaf_vdso(void)
{
	for (unsigned i = 0; i < 2000; i++)
		sink += (uint64_t)now();
}

static int compare(const void *a, const void *b)
{
	return (int)(*(const uint32_t *)a % 1009) - (int)(*(const uint32_t *)b % 1009);
}

FAR static void leaf_plt(void)
{
	uint32_t words[64];

	for (unsigned i = 0; i < 64; i++)
		words[i] = i * 2654435761u;
	qsort(words, 64, sizeof(words[0]), compare);
	for (unsigned i = 0; i < 3000; i++)
		sink += (uint64_t)abs((int)i) + strlen((const char *)&sink) +
		        (uint64_t)labs((long)sink);
	sink += words[5];
}

static jmp_buf back;

FAR static void leaf_jump(void)
{
	burn(work_loops(3000));
	longjmp(back, 1);
}

#ifdef HAVE_UCONTEXT
static ucontext_t outside, inside;

static void coroutine(void)
{
	for (;;) {
		deep(5, leaf_plain);
		swapcontext(&inside, &outside);
	}
}

FAR static void leaf_coroutine(void)
{
	swapcontext(&outside, &inside);
	burn(work_loops(1000));
}
#endif

/* Code made at run time, without unwind information, that keeps a frame pointer: it calls what it
 * is given. */
static void (*made)(void (*)(void));

static void make_code(int bent)
{
	/* push %rbp; mov %rsp,%rbp; call *%rdi; pop %rbp; ret: behind the call it leads straight to
	 * its return. Bent: test %eax,%eax; jz over nothing; comes first. */
	static const unsigned char straight[] = { 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3 },
	                           jumps[] = { 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7,
		                               0x85, 0xc0, 0x74, 0x00, 0x5d, 0xc3 };
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
	                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		exit(3);
	memcpy(page, bent ? jumps : straight, bent ? sizeof(jumps) : sizeof(straight));
	memcpy(&made, &page, sizeof(made));
}

FAR static void leaf_made(void)
{
	made(leaf_plain);
	burn(10);
}

static void *thread(void *arg)
{
	void (*leaf)(void) = *(void (**)(void))arg;

	while (goes_on())
		deep(12, leaf);
	return NULL;
}

int main(int argc, char **argv)
{
	static char stack[65536], other[65536];
	const char *name = argc > 1 ? argv[1] : "plain";
	void (*leaf)(void) = leaf_plain;
	stack_t alternate = { .ss_sp = stack, .ss_size = sizeof(stack) };
	pthread_t threads[3];

	(void)other;
	end = (uint64_t)((argc > 2 ? atof(argv[2]) : 1) * 1e9);
	if (!strcmp(name, "signal")) {
		set_handler(0, SIGALRM);
		handled = 1;
	} else if (!strcmp(name, "raise")) {
		set_handler(SA_SIGINFO, SIGUSR1);
		leaf = leaf_raise;
	} else if (!strcmp(name, "altstack")) {
		sigaltstack(&alternate, NULL);
		set_handler(SA_ONSTACK, SIGUSR1);
		leaf = leaf_raise;
	} else if (!strcmp(name, "vdso")) {
		leaf = leaf_vdso;
	} else if (!strcmp(name, "plt")) {
		leaf = leaf_plt;
	} else if (!strcmp(name, "threads")) {
		for (int i = 0; i < 3; i++)
			pthread_create(&threads[i], NULL, thread, &leaf);
		for (int i = 0; i < 3; i++)
			pthread_join(threads[i], NULL);
		return 0;
	} else if (!strcmp(name, "jit") || !strcmp(name, "bent")) {
		make_code(!strcmp(name, "bent"));
		leaf = leaf_made;
	} else if (!strcmp(name, "longjmp")) {
		leaf = leaf_jump;
#ifdef HAVE_UCONTEXT
	} else if (!strcmp(name, "coroutine")) {
		getcontext(&inside);
		inside.uc_stack.ss_sp = other;
		inside.uc_stack.ss_size = sizeof(other);
		makecontext(&inside, coroutine, 0);
		leaf = leaf_coroutine;
#endif
	} else if (strcmp(name, "plain")) {
		fprintf(stderr, "no such case: %s\n", name);
		return 2;
	}
	while (goes_on()) {
		if (leaf == leaf_jump && setjmp(back))
			continue;
		if (handled && !strcmp(name, "signal"))
			start_timer();
		deep(12, leaf);
	}
	return 0;
}
