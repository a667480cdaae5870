// SPDX-License-Identifier: MIT
/*
 * work.c: programs whose stacks are known, for tests/system/bpf_hard.sh. Built without frame
 * pointers. Seconds are of CPU time.
 *
 *	work pages SECONDS    the pages of the stack's upper frames are dropped while a leaf runs
 *	                      far below
 *	work signals SECONDS  a handler on a stack of its own interrupts a recursion
 *	work threads N        N threads with small stacks
 *	work churn N          processes that exec, are killed, crash or exit
 *	work asleep N         N threads fall asleep in the middle of a long system call, for ever
 *	work parked N         a child does that; ends when all of them sleep, and leaves them there
 *	work deep N           300 frames, for a second; or so many
 *	work watched SECONDS  functions that uretprobes wait for the return of, one within the other
 *	work returns SECONDS  one such function returns all the time to another that does not
 *	work registers SECONDS  callers whose frames are described by rbx, r12, r13, r14, r15
 *	work compat SECONDS   32-bit code
 *	work uring SECONDS    reads that io workers make
 *	work migrate SECONDS  a thread that goes from CPU to CPU
 *	work longsys SECONDS  system calls that take many samples each
 *	work deepsys SECONDS  the same below 300 frames
 *	work naps SECONDS     processes that read a little and sleep a little, until they are
 *	                      killed; of all together
 *	work nested SECONDS   a BPF program of somebody else's runs nearly all the time
 *
 * With SEAM_TEST_CLOCK=EVENT (cpu-clock or task-clock, with :u or :k behind it) it has an event of
 * its own of this kind at 997 Hz, whose samples no BPF program takes, and says in the end how many
 * there were. That is what a recorder of the same event was due, whatever a machine makes of time.
 */
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../work.h"

#define KEEP __attribute__((noinline, noclone))
#define NO_TAIL_CALL() __asm__ volatile("" ::: "memory")
#define STACK ((size_t)1 << 20)
#define ASLEEP_FDS_MOST (1u << 19)

static volatile unsigned long sum;
static double seconds;
static int count;
static int pipes[2];
static struct pollfd *asleep_fds;
static unsigned asleep_n = 1 << 12;

/* Of the CPU, by all threads. */
static double now(void)
{
	return (double)work_cpu_of(CLOCK_PROCESS_CPUTIME_ID) / 1e9;
}

KEEP static void spin(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		sum += i;
	NO_TAIL_CALL();
}

#include "work_stacks.h"
#include "work_calls.h"
#include "work_events.h"

/* -- threads -- */

static void *threads_one(void *unused)
{
	char text[256];

	for (uint64_t end = work_until(4); work_goes_on(end);) {
		int fd = open("/proc/self/stat", O_RDONLY);

		spin(work_loops(100000));
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
	for (uint64_t end = work_until(2); work_goes_on(end);) {
		char *memory = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE,
		                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		memset(memory, 1, 1 << 20);
		munmap(memory, 1 << 20);
	}
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
	/* Looking at so many takes long enough to be sampled; then it sleeps, in the same system
	 * call. */
	poll(asleep_fds, asleep_n, -1);
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
	struct rlimit files;
	unsigned most;

	if (getrlimit(RLIMIT_NOFILE, &files) < 0 || pipe(pipes) < 0)
		exit(2);
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
	most = files.rlim_cur < ASLEEP_FDS_MOST ? (unsigned)files.rlim_cur : ASLEEP_FDS_MOST;
	asleep_fds = calloc(most, sizeof(*asleep_fds));
	for (unsigned i = 0; i < most; i++)
		asleep_fds[i] = (struct pollfd){ pipes[0], POLLIN, 0 };
	/* So many that looking at them once takes this machine ten periods of a sample, where so
	 * many are allowed. */
	for (double before = 0; asleep_n < most && now() - before < 0.0005;) {
		asleep_n = asleep_n * 2 < most ? asleep_n * 2 : most;
		before = now();
		poll(asleep_fds, asleep_n, 0);
	}
	threads(asleep_thread);
}

/* -- parked -- */

/* How many threads of a process sleep. */
static int parked_asleep(pid_t pid)
{
	char path[64], text[512], *state;
	struct dirent *entry;
	int asleep = 0;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	d = opendir(path);
	while (d && (entry = readdir(d))) {
		ssize_t n;
		int fd;

		snprintf(path, sizeof(path), "/proc/%d/task/%.20s/stat", (int)pid, entry->d_name);
		fd = open(path, O_RDONLY);
		n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
		close(fd);
		text[n > 0 ? n : 0] = 0;
		state = strrchr(text, ')');
		asleep += state && state[2] == 'S';
	}
	if (d)
		closedir(d);
	return asleep;
}

static void parked(void)
{
	pid_t child = fork();

	if (!child)
		asleep();
	/* They and the first thread, which waits for them; twice, as a thread may wait for another
	 * for a moment. */
	for (int n = 0; n < 2 && waitpid(child, NULL, WNOHANG) == 0;) {
		usleep(200000);
		n = parked_asleep(child) > count ? n + 1 : 0;
	}
}

static const struct {
	const char *name;
	void (*run)(void);
} modes[] = { { "pages", pages },         { "signals", signals }, { "churn", churn },
	      { "asleep", asleep },       { "deep", deep },       { "watched", watched },
	      { "registers", registers }, { "compat", compat },   { "uring", uring },
	      { "migrate", migrate },     { "longsys", longsys }, { "deepsys", deepsys },
	      { "naps", naps },           { "nested", nested },   { "returns", returns },
	      { "parked", parked } };

int main(int argc, char **argv)
{
	const char *what = argc == 3 ? argv[1] : "", *event = getenv("SEAM_TEST_CLOCK");
	const struct perf_event_mmap_page *ring = event ? clock_open(event) : NULL;

	seconds = argc == 3 ? atof(argv[2]) : 0;
	count = (int)seconds;
	if (!strcmp(what, "threads")) {
		threads(threads_one);
		return 0;
	}
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		if (!strcmp(what, modes[i].name)) {
			modes[i].run();
			if (ring)
				clock_print(ring);
			return 0;
		}
	return 2;
}
