// SPDX-License-Identifier: MIT
/*
 * hurry.c: see hurry.h. Knows that on Linux setpriority(2) changes one thread.
 *
 * When a recording must end, seam may share its CPU with a hundred busy processes. Then its last
 * work (the rings' end, the file's end) gets a better priority, and a time that is reckoned from
 * the share of the CPU that this thread had so far.
 *
 * hurry_begin may be called in a signal handler: no memory, no locks, errno kept.
 */
#include "recorder/hurry.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "capture/session.h"

#define HURRY_ALL_MS 1000u       /* draining and closing */
#define HURRY_CLOSE_MS 12u       /* of CPU time: 8 to 15 were seen */
#define HURRY_KNOWN_NS 20000000u /* a share of less says nothing */

/* A nice value below the present one takes CAP_SYS_NICE or RLIMIT_NICE: each call may fail, and
 * then things stay as they are. */
static void hurry_thread(int tid)
{
	const struct sched_param none = { 0 };
	int policy = sched_getscheduler(tid);

	if (policy != SCHED_OTHER && policy != SCHED_BATCH && policy != SCHED_IDLE)
		return; /* before others already */
	if (policy != SCHED_OTHER)
		sched_setscheduler(tid, SCHED_OTHER, &none);
	if (setpriority(PRIO_PROCESS, (id_t)tid, -20) < 0)
		setpriority(PRIO_PROCESS, (id_t)tid, 0); /* as RLIMIT_NICE permits; else as it is */
}

/* readdir(3) may take memory: the names are read as the kernel gives them. */
void hurry_begin(void)
{
	/* struct linux_dirent64 of getdents64(2). */
	struct hurry_entry {
		uint64_t inode, offset;
		uint16_t size;
		uint8_t type;
		char name[];
	};
	_Alignas(8) char bytes[2048];
	int fd, error = errno;
	long n = 0;

	hurry_thread((int)getpid());
	fd = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	while (fd >= 0 && (n = syscall(SYS_getdents64, fd, bytes, sizeof(bytes))) > 0) {
		for (long at = 0; at < n;) {
			const struct hurry_entry *e = (const void *)(bytes + at);
			int tid = 0;

			for (const char *c = e->name; *c >= '0' && *c <= '9'; c++)
				tid = tid * 10 + (*c - '0');
			if (tid)
				hurry_thread(tid);
			at += e->size;
		}
	}
	if (fd >= 0)
		close(fd);
	errno = error;
}

/* Read with no memory of its own: there may be none left. schedstat: ns that the thread ran, and ns
 * that it waited for a CPU. */
struct hurry_share hurry_share(void)
{
	struct hurry_share ret = { 0 };
	char text[64], *at;
	int fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return ret;
	text[n] = 0;
	ret.ran_ns = strtoull(text, &at, 10);
	ret.waited_ns = strtoull(at, NULL, 10);
	return ret;
}

/* How long draining may take so that all is done within HURRY_ALL_MS: closing takes HURRY_CLOSE_MS
 * of CPU time, which on a busy machine is as many times longer as this thread waits. A share of
 * little work is not known. */
uint64_t hurry_drain_ms(uint64_t ran_ns, uint64_t waited_ns)
{
	uint64_t all_ns = ran_ns + waited_ns, close_ms;

	if (all_ns < HURRY_KNOWN_NS)
		return HURRY_MS;
	close_ms = HURRY_CLOSE_MS * (all_ns / (ran_ns + 1));
	if (close_ms <= HURRY_ALL_MS - HURRY_MS)
		return HURRY_MS;
	return close_ms < HURRY_ALL_MS ? HURRY_ALL_MS - close_ms : 0;
}

/* The time so many ms from now, and what of the grace period is beyond its default. */
static uint64_t hurry_time_ns(uint32_t grace_ms, uint64_t ms)
{
	struct timespec t;

	if (grace_ms != UINT32_MAX && grace_ms > SESSION_GRACE_MS_DEFAULT)
		ms += grace_ms - SESSION_GRACE_MS_DEFAULT;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec + ms * 1000000u;
}

uint64_t hurry_latest_ns(uint32_t grace_ms, uint64_t ms)
{
	return hurry_time_ns(grace_ms, ms + HURRY_MS);
}

uint64_t hurry_until_ns(uint32_t grace_ms, const struct hurry_share *since)
{
	uint64_t ms = HURRY_MS;
	struct hurry_share now = hurry_share();

	/* Only a nice value above 0, which could not be undone, gives this thread less than
	 * others. */
	if (getpriority(PRIO_PROCESS, 0) > 0 && now.ran_ns >= since->ran_ns &&
	    now.waited_ns >= since->waited_ns)
		ms = hurry_drain_ms(now.ran_ns - since->ran_ns, now.waited_ns - since->waited_ns);
	return hurry_time_ns(grace_ms, ms);
}
