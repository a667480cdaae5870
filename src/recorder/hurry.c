// SPDX-License-Identifier: MIT
// hurry.c: see hurry.h. Knows that on Linux setpriority(2) changes one thread.
#include "recorder/hurry.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "capture/session.h"

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

uint64_t hurry_until_ns(uint32_t grace_ms)
{
	struct timespec t;
	uint64_t ms = HURRY_MS;

	if (grace_ms != UINT32_MAX && grace_ms > SESSION_GRACE_MS_DEFAULT)
		ms += grace_ms - SESSION_GRACE_MS_DEFAULT;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec + ms * 1000000u;
}
