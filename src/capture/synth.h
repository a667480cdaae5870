/* SPDX-License-Identifier: MIT */
/*
 * synth.h: records for what already runs when a recording begins: names, parents, threads and
 * mappings of processes, the kernel and its modules. In the order and form that perf gives them:
 * per process FORK, COMM, MMAP2 ..., then FORK and COMM of its other threads; time and sample_id 0.
 *
 * A process that goes away meanwhile is no error and leaves at most its name behind. One that may
 * not be read is counted. No stdio, one buffer for all reading; a build-id is read once per file.
 */
#ifndef SEAM_CAPTURE_SYNTH_H
#define SEAM_CAPTURE_SYNTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <seam/record.h>

#include "capture/ring.h"

struct peek;

struct synth_opts {
	size_t sz;                    /* sizeof(struct synth_opts) */
	const struct seam_attr *attr; /* says the trailer of the records; only borrowed */
	bool build_ids;               /* in MMAP2, as the kernel's own are; else device and inode */
	bool data;                    /* also mappings that are readable and not executable (-d) */
	const char *proc;             /* NULL: "/proc" */
	const char *sys;              /* NULL: "/sys" */
	struct peek *peek;            /* reads /proc/PID/maps, which may wait; NULL: done here */
	const char *modules;          /* NULL: "/lib/modules/RELEASE" */
};

#define SYNTH_DENIED 3

struct synth_counts {
	uint64_t processes, threads, mappings, modules, bpf, cgroups;
	uint64_t files;     /* whose build-id was looked for */
	uint64_t build_ids; /* of them found */
	uint64_t gone;      /* processes and threads that ended meanwhile */
	uint64_t denied;    /* processes whose mappings may not be read */
	struct synth_denied {
		pid_t pid;
		char comm[16];
	} denied_first[SYNTH_DENIED]; /* the first of them */
	bool kernel;                  /* the kernel's own mapping is there */
	uint64_t bytes;
};

struct synth;

/* -errno of opening /proc; -ENOMEM. */
int synth_new(struct synth **ret, const struct synth_opts *opts);
void synth_free(struct synth *s);
/*
 * Each gives whole records to write and returns 0, or what write returned, or -ENOMEM.
 * synth_kernel: the kernel, its modules, BPF programs; nothing of them is given, and counts.kernel
 * stays false, when addresses are hidden.
 * synth_all: every process of /proc. synth_process: one with all its threads, -ESRCH when it is not
 * there. synth_thread: one thread, with the mappings of its process.
 */
int synth_kernel(struct synth *s, capture_write write, void *ctx);
/* The control groups that exist (synth_cgroup.h). */
int synth_cgroups(struct synth *s, capture_write write, void *ctx);
int synth_all(struct synth *s, capture_write write, void *ctx);
int synth_process(struct synth *s, pid_t pid, capture_write write, void *ctx);
int synth_thread(struct synth *s, pid_t tid, capture_write write, void *ctx);
void synth_counts(const struct synth *s, struct synth_counts *ret);

#endif
