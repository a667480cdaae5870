// SPDX-License-Identifier: MIT
/*
 * work.c: programs whose stacks are known, for tests/system/bpf_hard.sh. Built without frame pointers.
 *
 *	work pages SECONDS    the pages of the stack's upper frames are dropped while a leaf runs far below
 *	work signals SECONDS  a handler on a stack of its own interrupts a recursion
 *	work threads N        N threads with small stacks
 *	work churn N          processes that exec, are killed, crash or exit
 *	work asleep N         N threads fall asleep in the middle of a long system call, for ever
 *	work deep SECONDS     300 frames
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define KEEP __attribute__((noinline, noclone))
#define NO_TAIL_CALL() __asm__ volatile("" ::: "memory")
#define STACK ((size_t)1 << 20)
#define ASLEEP_FDS 12000

static volatile unsigned long sum;
static double seconds;
static int count;
static char *stack;
static int pipes[2];

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

KEEP static void spin(int n)
{
	for (int i = 0; i < n; i++)
		sum += (unsigned long)i;
	NO_TAIL_CALL();
}

/* -- pages -- */

KEEP static void pages_leaf(void)
{
	char here, *from = (char *)(((unsigned long)&here + 8192) & ~4095ul);

	madvise(from, (size_t)(stack + STACK - from), MADV_DONTNEED);
	spin(400000);
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

KEEP static void signals_work(void)
{
	spin(300000);
	NO_TAIL_CALL();
}

static void signals_handler(int number)
{
	(void)number;
	signals_work();
	NO_TAIL_CALL();
}

KEEP static int signals_descend(int n)
{
	int r = n;

	if (n)
		r += signals_descend(n - 1);
	else
		spin(3000);
	NO_TAIL_CALL();
	return r;
}

static void signals(void)
{
	stack_t other = { .ss_sp = malloc(65536), .ss_size = 65536 };
	struct sigaction action = { .sa_handler = signals_handler, .sa_flags = SA_ONSTACK };
	struct itimerspec every = { { 0, 2000000 }, { 0, 2000000 } };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM };
	double end = now() + seconds;
	timer_t timer;

	sigaltstack(&other, NULL);
	sigaction(SIGALRM, &action, NULL);
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) < 0)
		exit(2);
	timer_settime(timer, 0, &every, NULL);
	while (now() < end)
		signals_descend(15);
}

/* -- threads -- */

static void *threads_one(void *unused)
{
	char text[256];

	for (int i = 0; i < 20; i++) {
		int fd = open("/proc/self/stat", O_RDONLY);

		spin(100000);
		if (read(fd, text, sizeof(text)) < 0)
			sum++;
		close(fd);
	}
	return unused;
}

static void threads(void *(*run)(void *))
{
	pthread_t *t = calloc((size_t)count, sizeof(*t));
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	for (int i = 0; i < count; i++)
		if (pthread_create(&t[i], &attr, run, NULL))
			exit(2);
	for (int i = 0; i < count; i++)
		pthread_join(t[i], NULL);
}

/* -- churn -- */

KEEP static void churn_child(int i)
{
	char *memory =
	        mmap(NULL, 4 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memset(memory, 1, 4 << 20);
	if (i % 4 == 0)
		execl("/bin/true", "true", (char *)NULL);
	if (i % 4 == 1)
		raise(SIGKILL);
	if (i % 4 == 2)
		abort();
	_exit(0);
}

static void churn(void)
{
	const struct rlimit none = { 0, 0 };

	setrlimit(RLIMIT_CORE, &none);
	for (int i = 0; i < count; i++) {
		pid_t pid = fork();

		if (!pid)
			churn_child(i);
		waitpid(pid, NULL, 0);
	}
}

/* -- asleep -- */

KEEP static void asleep_poll(void)
{
	struct pollfd *fds = calloc(ASLEEP_FDS, sizeof(*fds));

	/* Looking at so many takes long enough to be sampled; then it sleeps, in the same system call. */
	for (int i = 0; i < ASLEEP_FDS; i++)
		fds[i] = (struct pollfd){ pipes[0], POLLIN, 0 };
	poll(fds, ASLEEP_FDS, -1);
	NO_TAIL_CALL();
}

KEEP static void asleep_descend(int n)
{
	if (n)
		asleep_descend(n - 1);
	else
		asleep_poll();
	NO_TAIL_CALL();
}

static void *asleep_thread(void *unused)
{
	asleep_descend(10);
	return unused;
}

static void asleep(void)
{
	const struct rlimit files = { ASLEEP_FDS + 100, ASLEEP_FDS + 100 };

	if (setrlimit(RLIMIT_NOFILE, &files) < 0 || pipe(pipes) < 0)
		exit(2);
	threads(asleep_thread);
}

/* -- deep -- */

KEEP static int deep_descend(int n)
{
	int r = n;

	if (n)
		r += deep_descend(n - 1);
	else
		spin(100000);
	NO_TAIL_CALL();
	return r;
}

static void deep(void)
{
	double end = now() + seconds;

	while (now() < end)
		deep_descend(300);
}

int main(int argc, char **argv)
{
	const char *what = argc == 3 ? argv[1] : "";

	seconds = argc == 3 ? atof(argv[2]) : 0;
	count = (int)seconds;
	if (!strcmp(what, "pages"))
		pages();
	else if (!strcmp(what, "signals"))
		signals();
	else if (!strcmp(what, "threads"))
		threads(threads_one);
	else if (!strcmp(what, "churn"))
		churn();
	else if (!strcmp(what, "asleep"))
		asleep();
	else if (!strcmp(what, "deep"))
		deep();
	else
		return 2;
	return 0;
}
