/* SPDX-License-Identifier: MIT */
/*
 * threads.h: a profile's samples by thread, for formats that show each thread's own line of time.
 *
 * A thread is (event, pid, tid): an exec changes its name, not what it is; it is called by its last
 * name. Sorted by event, pid, tid; a thread's samples stay in order of time.
 */
#ifndef SEAM_EXPORT_THREADS_H
#define SEAM_EXPORT_THREADS_H

#include "export/export.h"

struct threads_thread {
	uint32_t event, pid, tid;
	uint32_t comm;       /* string of the profile */
	size_t first, count; /* in samples */
};

struct threads {
	struct threads_thread *threads;
	size_t n;
	uint32_t *samples; /* indices of the profile's samples, thread by thread */
	size_t n_samples;
	bool several; /* events */
};

int threads_build(struct threads *ret, const struct profile *p, const struct export_opts *opts);
void threads_free(struct threads *t);
/* "deepmix 783/785", with " (page-faults)" when there are threads of several events. */
void threads_name(const struct profile *p, const struct threads *t,
                  const struct threads_thread *thread, struct buf *to);

#endif
