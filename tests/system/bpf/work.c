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
#include <linux/bpf.h>
#include <linux/io_uring.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../work.h"

#define KEEP __attribute__((noinline, noclone))
#define NO_TAIL_CALL() __asm__ volatile("" ::: "memory")
#define STACK ((size_t)1 << 20)
#define ASLEEP_FDS_MOST (1u << 19)
#define ZEROS ((size_t)64 << 20)
#define ZEROS_PARTS 16

static volatile unsigned long sum;
static double seconds;
static int count;
static char *stack;
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

/* -- pages -- */

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

/* -- uring -- */

static void uring_read(int fd, char *ring, struct io_uring_params *p, struct io_uring_sqe *entries,
                       int zero, char *to)
{
	unsigned *tail = (unsigned *)(ring + p->sq_off.tail);
	unsigned at = *tail & *(unsigned *)(ring + p->sq_off.ring_mask);

	entries[at] = (struct io_uring_sqe){ .opcode = IORING_OP_READ,
		                             .fd = zero,
		                             .addr = (unsigned long)to,
		                             .len = 16 << 20,
		                             .flags = IOSQE_ASYNC };
	((unsigned *)(ring + p->sq_off.array))[at] = at;
	__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
	syscall(SYS_io_uring_enter, fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0);
	*(unsigned *)(ring + p->cq_off.head) += 1;
}

static void uring(void)
{
	struct io_uring_params p = { .flags = 0 };
	int fd = (int)syscall(SYS_io_uring_setup, 8, &p), zero = open("/dev/zero", O_RDONLY);
	size_t size = p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe) + 4096;
	double end = now() + seconds;
	char *ring, *to = malloc(16 << 20);
	struct io_uring_sqe *entries;

	if (fd < 0 || !(p.features & IORING_FEAT_SINGLE_MMAP))
		exit(77);
	ring = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, IORING_OFF_SQ_RING);
	entries = mmap(NULL, p.sq_entries * sizeof(*entries), PROT_READ | PROT_WRITE, MAP_SHARED,
	               fd, IORING_OFF_SQES);
	if (ring == MAP_FAILED || (void *)entries == MAP_FAILED)
		exit(77);
	while (now() < end)
		uring_read(fd, ring, &p, entries, zero, to);
}

/* -- migrate, longsys, naps -- */

/* Up to ZEROS_PARTS times 64 MB, in one system call. */
KEEP static void read_zeros(int fd, size_t n)
{
	struct iovec parts[ZEROS_PARTS];
	static char *to;
	int k = 0;

	/* Not of malloc, which may write to all of it (MALLOC_PERTURB_): that is user code. */
	if (!to)
		to = mmap(NULL, ZEROS, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (to == MAP_FAILED)
		exit(2);
	for (; n && k < ZEROS_PARTS; k++) {
		parts[k] = (struct iovec){ to, n < ZEROS ? n : ZEROS };
		n -= parts[k].iov_len;
	}
	if (preadv(fd, parts, k, 0) < 0)
		exit(2);
	NO_TAIL_CALL();
}

KEEP static void migrate_here(int fd, int i)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)i % (size_t)sysconf(_SC_NPROCESSORS_ONLN), &set);
	read_zeros(fd, 1 << 20);
	sched_setaffinity(0, sizeof(set), &set);
	read_zeros(fd, 1 << 20);
	NO_TAIL_CALL();
}

static void migrate(void)
{
	int fd = open("/dev/zero", O_RDONLY);
	double end = now() + seconds;

	for (int i = 0; now() < end; i++)
		migrate_here(fd, i);
}

static void longsys(void)
{
	int fd = open("/dev/zero", O_RDONLY);
	double end = now() + seconds, fastest;
	size_t n = ZEROS;

	read_zeros(fd, n); /* the pages are there */
	/* So much that this machine needs a dozen periods of a sample for it, also when nothing
	 * holds it up. */
	do {
		fastest = seconds;
		for (int k = 0; k < 3; k++) {
			double took = -now();

			read_zeros(fd, n);
			took += now();
			if (took < fastest)
				fastest = took;
		}
	} while (fastest < 0.003 && (n *= 2) < ZEROS * ZEROS_PARTS);
	while (now() < end)
		read_zeros(fd, n);
}

KEEP static int deepsys_descend(int n)
{
	int r = n;

	if (n)
		r += deepsys_descend(n - 1);
	else
		longsys();
	NO_TAIL_CALL();
	return r;
}

static void deepsys(void)
{
	deepsys_descend(300);
}

KEEP static void naps_one(int i)
{
	int fd = open("/dev/zero", O_RDONLY);

	for (;;) {
		read_zeros(fd, 1 << 20);
		usleep((unsigned)(500 + i * 700));
	}
}

static void naps(void)
{
	pid_t children[16];

	for (int i = 0; i < 16; i++) {
		children[i] = fork();
		if (!children[i])
			naps_one(i);
	}
	for (double had = 0; had < seconds;) {
		usleep(10000);
		had = 0;
		for (int i = 0; i < 16; i++) {
			clockid_t clock;

			if (clock_getcpuclockid(children[i], &clock) == 0)
				had += (double)work_cpu_of(clock) / 1e9;
		}
	}
	for (int i = 0; i < 16; i++)
		kill(children[i], SIGKILL);
	for (int i = 0; i < 16; i++)
		waitpid(children[i], NULL, 0);
}

/* A program on getppid's tracepoint that asks for the time 3,000 times. */
static int nested_program(void)
{
	static const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_6 },
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_ktime_get_ns },
		{ .code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = BPF_REG_6, .imm = 1 },
		{ .code = BPF_JMP | BPF_JLT | BPF_K, .dst_reg = BPF_REG_6, .off = -3, .imm = 3000 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr = { .prog_type = BPF_PROG_TYPE_TRACEPOINT,
		                .insns = (unsigned long)insns,
		                .insn_cnt = sizeof(insns) / sizeof(insns[0]),
		                .license = (unsigned long)"GPL" };

	return (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
}

/* The number of the tracepoint, in the tracefs that is mounted; -1. */
static int nested_tracepoint_in(const char *dir)
{
	char path[128], text[16] = "";
	int fd, n;

	snprintf(path, sizeof(path), "%s/events/syscalls/sys_enter_getppid/id", dir);
	fd = open(path, O_RDONLY);
	n = fd >= 0 ? (int)read(fd, text, sizeof(text) - 1) : -1;
	if (fd >= 0)
		close(fd);
	return n > 0 ? atoi(text) : -1;
}

/* Where none is mounted, one is for a moment. */
static int nested_tracepoint(void)
{
	char dir[] = "/tmp/seam-tracefs-XXXXXX";
	int id = nested_tracepoint_in("/sys/kernel/tracing");

	if (id >= 0 || !mkdtemp(dir))
		return id;
	if (mount("none", dir, "tracefs", 0, NULL) == 0) {
		id = nested_tracepoint_in(dir);
		umount(dir);
	}
	rmdir(dir);
	return id;
}

static void nested(void)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_TRACEPOINT, .size = sizeof(attr) };
	int program = nested_program(), id = nested_tracepoint(), fd;
	double end = now() + seconds;

	attr.config = (unsigned)id;
	fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
	if (program < 0 || id < 0 || fd < 0 || ioctl(fd, PERF_EVENT_IOC_SET_BPF, program)) {
		perror("work: no program on a tracepoint");
		exit(3);
	}
	while (now() < end)
		for (int i = 0; i < 100; i++)
			syscall(SYS_getppid);
}

/* -- the event of its own -- */

#define CLOCK_PAGES 64

static struct perf_event_mmap_page *clock_open(const char *event)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
		                        .size = sizeof(attr),
		                        .config = PERF_COUNT_SW_CPU_CLOCK,
		                        .freq = 1,
		                        .sample_freq = 997,
		                        .exclude_kernel = strstr(event, ":u") != NULL,
		                        .exclude_user = strstr(event, ":k") != NULL };
	void *ring;
	int fd;

	if (!strncmp(event, "task", 4))
		attr.config = PERF_COUNT_SW_TASK_CLOCK;
	fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	ring = mmap(NULL, (size_t)(CLOCK_PAGES + 1) * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
	            0);
	if (fd < 0 || ring == MAP_FAILED) {
		perror("work: SEAM_TEST_CLOCK");
		exit(2);
	}
	return ring;
}

static void clock_print(const struct perf_event_mmap_page *ring)
{
	const char *data = (const char *)ring + 4096;
	uint64_t at = 0, samples = 0;

	while (at < ring->data_head) {
		const struct perf_event_header *h = (const void *)(data + at);

		samples += h->type == PERF_RECORD_SAMPLE;
		at += h->size;
	}
	printf("%lu\n", (unsigned long)samples);
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
