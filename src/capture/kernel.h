/* SPDX-License-Identifier: MIT */
/*
 * kernel.h: the few calls by which this room asks the running kernel, as function pointers, so that
 * tests can stand in for an old kernel.
 *
 * Nothing here interprets a deferred record, but for `defers`, which is a question that only a real
 * sample answers.
 */
#ifndef SEAM_CAPTURE_KERNEL_H
#define SEAM_CAPTURE_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <seam/record.h>

#define KERNEL_FLAG_FD_CLOEXEC 8ul /* perf_event_open(2): PERF_FLAG_FD_CLOEXEC */

struct kernel {
	/* perf_event_open(2): a file descriptor, or -errno. */
	int (*open)(void *ctx, const struct seam_attr *attr, pid_t pid, int cpu, int group_fd,
	            unsigned long flags);
	int (*close)(void *ctx, int fd);
	/* A small file of /proc or /sys, at most n - 1 bytes and a NUL, trailing newline taken off:
	 * its length, or -errno. */
	int (*text)(void *ctx, const char *path, char *text, size_t n);
	/* Takes one real sample of the calling thread with defer_callchain (a page fault that it
	 * makes itself) and looks: 1 the user part was deferred, 0 it was taken at once, or
	 * -errno. */
	int (*defers)(void *ctx);
	/* Effective capability `number` (CAP_*, linux/capability.h): 1 or 0. */
	int (*capable)(void *ctx, int number);
	void *ctx;
};

/* The running kernel. */
extern const struct kernel kernel_running;

/* An unsigned number from a small file: 0 and *ret, or -errno (-EINVAL: not a number). */
int kernel_number(const struct kernel *k, const char *path, long long *ret);
/* CPU numbers from a list as /sys/devices/system/cpu/online and -C have it ("0-3,8"): *ret is
 * malloc'd, ascending, without duplicates; at most 65,536 CPUs. Returns the count, or -EINVAL,
 * -ENOMEM. */
int kernel_cpu_list(const char *text, int **ret);
/* The CPUs that are online now, as above. */
int kernel_cpus_online(const struct kernel *k, int **ret);

#endif
