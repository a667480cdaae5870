// SPDX-License-Identifier: MIT
/*
 * kernel.c: the running kernel behind struct kernel: the raw system call, small files,
 * capabilities.
 *
 * Callers never call perf_event_open, open or capget themselves but through the pointers of struct
 * kernel, so that unit tests can play kernels of any age and machines without a PMU.
 *
 * Invariant: struct seam_attr is the kernel's perf_event_attr byte for byte (asserted below), so no
 * header of the machine that builds needs to know the newest bits.
 */
#include "capture/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "abi/record_at.h"
#include "capture/ioctl.h"
#include "capture/ring.h"

#define ATTR_AT(field, offset) \
	_Static_assert(offsetof(struct seam_attr, field) == (offset), "perf_event_attr: " #field)
ATTR_AT(type, 0);
ATTR_AT(size, 4);
ATTR_AT(config, 8);
ATTR_AT(sample_period, 16);
ATTR_AT(sample_type, 24);
ATTR_AT(read_format, 32);
ATTR_AT(flags, 40);
ATTR_AT(wakeup, 48);
ATTR_AT(bp_type, 52);
ATTR_AT(config1, 56);
ATTR_AT(config2, 64);
ATTR_AT(branch_sample_type, 72);
ATTR_AT(sample_regs_user, 80);
ATTR_AT(sample_stack_user, 88);
ATTR_AT(clockid, 92);
ATTR_AT(sample_regs_intr, 96);
ATTR_AT(aux_watermark, 104);
ATTR_AT(sample_max_stack, 108);
ATTR_AT(aux_sample_size, 112);
ATTR_AT(aux_action, 116);
ATTR_AT(sig_data, 120);
ATTR_AT(config3, 128);
ATTR_AT(config4, 136);
_Static_assert(offsetof(struct seam_attr, reserved) == SEAM_ATTR_SIZE,
               "perf_event_attr of Linux 7.3");

// C bit-fields begin at the other end on big-endian machines; SEAM_ATTR_* count from the first
// field.
static uint64_t kernel_flags(uint64_t flags)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	uint64_t turned = 0;

	// precise_ip is two bits wide and keeps its own order inside its place.
	for (int bit = 0; bit < 64; bit++) {
		int from = bit == 15 ? 16 : bit == 16 ? 15 : bit;

		if (flags >> from & 1)
			turned |= 1ULL << (63 - bit);
	}
	return turned;
#else
	return flags;
#endif
}

/* -errno instead of -1 and errno, so that a played kernel answers the same way. */
static int kernel_open(void *ctx, const struct seam_attr *attr, pid_t pid, int cpu, int group_fd,
                       unsigned long flags)
{
	struct seam_attr native = *attr;
	long fd;

	native.flags = kernel_flags(attr->flags);
	fd = syscall(SYS_perf_event_open, &native, pid, cpu, group_fd, flags);
	return fd < 0 ? -errno : (int)fd;
}

static int kernel_close(void *ctx, int fd)
{
	return close(fd) < 0 ? -errno : 0;
}

/* Reads a small file as text, without the end of its last line: its length or -errno. Longer files
 * are cut at n - 1 bytes. */
static int kernel_text(void *ctx, const char *path, char *text, size_t n)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got;
	int error;

	if (fd < 0)
		return -errno;
	/* A signal may interrupt a read of /proc. errno is kept across close. */
	do
		got = read(fd, text, n - 1);
	while (got < 0 && errno == EINTR);
	error = errno;
	close(fd);
	if (got < 0)
		return -error;
	while (got > 0 && (text[got - 1] == '\n' || text[got - 1] == ' '))
		got--;
	text[got] = '\0';
	return (int)got;
}

/* Effective capabilities of this thread in two words of 32 bits (_LINUX_CAPABILITY_VERSION_3); 0 if
 * they cannot be asked for. */
static int kernel_capable(void *ctx, int number)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { 0 };

	if (number < 0 || number > 63 || syscall(SYS_capget, &head, data) < 0)
		return 0;
	return data[number / 32].effective >> (number % 32) & 1;
}

/* What the trial of kernel_defers has seen. */
struct kernel_chain {
	bool sampled, deferred;
};

/* Looks in the trial's records for a sample, and for the marker of a deferred callchain in it. */
static int kernel_chain_look(void *ctx, const void *bytes, size_t n)
{
	struct kernel_chain *chain = ctx;
	const unsigned char *at = bytes;
	struct seam_record r;

	for (; record_at(at, n, &r); at += r.size, n -= r.size) {
		/* sample_type is CALLCHAIN alone: behind the header (8 bytes) comes nr (8), then
		 * addresses and markers. */
		for (size_t i = 16; r.type == SEAM_RECORD_SAMPLE && i + 8 <= r.size; i += 8) {
			uint64_t word;

			chain->sampled = true;
			memcpy(&word, at + i, 8);
			if (word == SEAM_CONTEXT_USER_DEFERRED)
				chain->deferred = true;
		}
	}
	return 0;
}

/* Causes one page fault while the event counts, and reads the sample of it. */
static int kernel_defers_on(int fd, struct kernel_chain *chain)
{
	long page = sysconf(_SC_PAGESIZE);
	struct ring ring;
	volatile char *fresh;
	int64_t got;
	/* One page of data: the trial writes a sample or two. */
	int r = ring_map(&ring, fd, -1, 1);

	if (r < 0)
		return r;
	fresh = mmap(NULL, (size_t)page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
	             0);
	if (fresh == MAP_FAILED) {
		r = -errno;
		ring_unmap(&ring);
		return r;
	}
	/* Sampling is on for one write only. A page fault in user mode is sure to come, and is
	 * counted in software, so that the trial works without a PMU. */
	if (ioctl(fd, IOCTL_ENABLE, 0) == 0) {
		*fresh = 1; // the page fault that is sampled
		ioctl(fd, IOCTL_DISABLE, 0);
	}
	got = ring_drain(&ring, kernel_chain_look, chain);
	munmap((void *)fresh, (size_t)page);
	ring_unmap(&ring);
	return got < 0 ? (int)got : 0;
}

/* Whether this kernel really defers: 1, 0, or -errno; -ENODATA: no sample came. Some architectures
 * accept the bits and take stacks at once, so only a sample can tell. */
static int kernel_defers(void *ctx)
{
	struct kernel_chain chain = { 0 };
	struct seam_attr attr = {
		.type = SEAM_TYPE_SOFTWARE,
		.size = 112,
		.config = 2, // page-faults
		.sample_period = 1,
		.sample_type = SEAM_SAMPLE_CALLCHAIN,
		.flags = SEAM_ATTR_DISABLED | SEAM_ATTR_EXCLUDE_KERNEL | SEAM_ATTR_EXCLUDE_HV |
		         SEAM_ATTR_EXCLUDE_CALLCHAIN_KERNEL | SEAM_ATTR_DEFER_CALLCHAIN,
	};
	int fd = kernel_open(ctx, &attr, 0, -1, -1, KERNEL_FLAG_FD_CLOEXEC);
	int r;

	if (fd < 0)
		return fd;
	r = kernel_defers_on(fd, &chain);
	close(fd);
	if (r < 0)
		return r;
	return chain.sampled ? chain.deferred : -ENODATA;
}

const struct kernel kernel_running = {
	.open = kernel_open,
	.close = kernel_close,
	.text = kernel_text,
	.capable = kernel_capable,
	.defers = kernel_defers,
};

int kernel_number(const struct kernel *k, const char *path, long long *ret)
{
	char text[64];
	char *end;
	long long v;
	int r = k->text(k->ctx, path, text, sizeof(text));

	if (r < 0)
		return r;
	errno = 0;
	v = strtoll(text, &end, 10);
	if (end == text || errno)
		return -EINVAL;
	*ret = v;
	return 0;
}

/* The most CPUs of any list; a kernel for x86 has 8,192 at most (NR_CPUS). */
#define CPUS_MOST 65536

// "3" or "0-7" at *at; moves behind it.
static int kernel_cpu_span(const char **at, long *first, long *last)
{
	char *end;

	if (**at < '0' || **at > '9')
		return -EINVAL;
	*first = *last = strtol(*at, &end, 10);
	if (*end == '-') {
		if (end[1] < '0' || end[1] > '9')
			return -EINVAL;
		*last = strtol(end + 1, &end, 10);
	}
	*at = end;
	return *first <= *last && *last < CPUS_MOST ? 0 : -EINVAL;
}

/* The text comes from a user or from /sys: anything but numbers, ranges and commas is -EINVAL. */
int kernel_cpu_list(const char *text, int **ret)
{
	/* A list may name a CPU twice, and in any order; the result is ascending and has each
	 * once. */
	unsigned char *seen = calloc(CPUS_MOST, 1);
	int n = 0;
	int *cpus;
	long first, last;
	int r = 0;

	if (!seen)
		return -ENOMEM;
	do {
		r = kernel_cpu_span(&text, &first, &last);
		for (long cpu = first; r == 0 && cpu <= last; cpu++) {
			n += !seen[cpu];
			seen[cpu] = 1;
		}
	} while (r == 0 && *text == ',' && text++);
	if (r == 0 && *text)
		r = -EINVAL;
	cpus = r == 0 ? malloc((size_t)n * sizeof(*cpus)) : NULL;
	if (cpus) {
		n = 0;
		for (int cpu = 0; cpu < CPUS_MOST; cpu++)
			if (seen[cpu])
				cpus[n++] = cpu;
		*ret = cpus;
	}
	free(seen);
	return r < 0 ? r : cpus ? n : -ENOMEM;
}

/* Where /sys is not mounted, CPUs 0 to n - 1 are taken, with n from the C library. */
int kernel_cpus_online(const struct kernel *k, int **ret)
{
	/* /sys/devices/system/cpu/online is ranges: 4,096 bytes hold some hundred of them. */
	char text[4096];
	int r = k->text(k->ctx, "/sys/devices/system/cpu/online", text, sizeof(text));
	long n;
	int *cpus;

	if (r >= 0)
		return kernel_cpu_list(text, ret);
	// If there is no /sys: as many as the C library knows of.
	n = sysconf(_SC_NPROCESSORS_ONLN);
	if (n < 1 || n > CPUS_MOST)
		return r;
	cpus = malloc((size_t)n * sizeof(*cpus));
	if (!cpus)
		return -ENOMEM;
	for (int i = 0; i < n; i++)
		cpus[i] = i;
	*ret = cpus;
	return (int)n;
}
