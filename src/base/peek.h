/* SPDX-License-Identifier: MIT */
/*
 * peek.h: another process's memory, and the files of /proc that are read out of it, for who must
 * not be kept waiting. A page may be served by its own process (FUSE, userfaultfd) or lie on a
 * server that is gone: who reads it then waits for as long as that takes, often beyond SIGKILL. So
 * a process of our own reads, and is left behind if it waits for too long.
 *
 * A process that kept it waiting is not looked at for PEEK_AGAIN_S, and counted. Time in which the
 * reader waits for a CPU does not count: a busy machine holds nobody up.
 *
 * It is best made while little memory is taken, which the reader shares. Any thread; four
 * at once, then they take turns.
 */
#ifndef SEAM_BASE_PEEK_H
#define SEAM_BASE_PEEK_H

#include <stdint.h>

#include "base/buf.h"
#include "base/procfs.h"

#define PEEK_AGAIN_S 600u

struct peek;

struct peek_opts {
	/* For so long a process may keep the reader waiting. */
	unsigned limit_ms;
	/* After that nothing is looked at for so many times as long: who reads the rings so has the
	 * rest of the time, whatever processes do. */
	unsigned rests;
};

/* -EAGAIN, -EMFILE ...: no process can be had. */
int peek_new(struct peek **ret, const struct peek_opts *opts);
void peek_free(struct peek *p);

/*
 * In what follows p may be NULL: then it is read here and now, and may wait: for who looks at
 * processes of his own.
 */
/* Reads n bytes of a process's memory. -EFAULT: not all of them are there; -ESRCH, -EPERM;
 * -ETIME: the process kept the reader waiting, now or before; -EBUSY: it rests, or there is
 * none. */
int peek_memory(struct peek *p, uint32_t pid, uint64_t at, void *to, size_t n);
/* Appends up to `most` bytes of a file of /proc/PID, whose whole path is given. 0, or -errno as
 * above. */
int peek_file(struct peek *p, uint32_t pid, const char *path, size_t most, struct buf *ret);

/* One executable mapping: its path follows. */
struct peek_map {
	struct procfs_map map;
	size_t path_size;
};

/* Appends the executable mappings of a process, by its file of /proc, at most so many bytes of
 * them. 0, or -errno as above; -E2BIG: there are more; -ENOTTY: this kernel says them by peek_file
 * only. */
int peek_maps(struct peek *p, uint32_t pid, const char *path, size_t most, struct buf *ret);
/* The next one of these, from *at on, which begins as 0. Its path is in the buffer. */
bool peek_maps_next(const struct buf *maps, size_t *at, struct procfs_map *ret);

struct peek_counts {
	uint64_t held;   /* times that a process kept the reader waiting */
	uint64_t cpu_ns; /* that readers have used */
};
/* Waits for nobody. */
struct peek_counts peek_counts(struct peek *p);

#endif
