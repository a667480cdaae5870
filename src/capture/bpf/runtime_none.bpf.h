/* SPDX-License-Identifier: MIT */
/*
 * runtime_none.bpf.h: stands in for runtime/runtime.bpf.h in the programs that walk native stacks
 * only, and hands threads of interpreters to those that know more. Those are loaded when a process
 * of the kind is met for the first time: each kind's are entered by a tail call, which goes on here
 * while they are not there yet.
 */
#ifndef SEAM_CAPTURE_BPF_RUNTIME_NONE_BPF_H
#define SEAM_CAPTURE_BPF_RUNTIME_NONE_BPF_H

#include "capture/bpf/maps.bpf.h"

struct runtime_walk {
	__u32 none, several;
};

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, RUNTIMES);
	__type(key, __u32);
	__type(value, __u32);
} runtime_aways SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY); /* 1: this kind's programs are there */
	__uint(max_entries, RUNTIMES);
	__type(key, __u32);
	__type(value, __u32);
} runtime_loaded SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY); /* too large for the stack */
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct runtime_process);
} runtime_copies SEC(".maps");

/* Notes which interpreters' frames are to be walked in a sample of the process. */
INLINE void runtime_plan(struct scratch *x, __u32 pid)
{
	struct runtime_process *of = config.user && config.runtimes ? runtime_of(pid) : 0;

	x->rest = x->several = x->unknown = 0;
	x->ended = KWALK_RUNTIME_NONE;
	if (!of || !of->of.known)
		return;
	x->rest = 1u << (of->of.kind & (RUNTIMES - 1));
	x->unknown = of->unknown;
	if (config.when == KWALK_ALWAYS) /* a task walks one's */
		x->several = of->others != 0;
	else
		x->rest |= of->others;
}

/* The number of the kind that a process runs, for which there may be programs; 0: none. */
INLINE __u32 runtime_kind_of(__u32 pid)
{
	struct runtime_process *of = config.runtimes ? runtime_of(pid) : 0;

	return of && of->of.known ? of->of.kind & (RUNTIMES - 1) : 0;
}

/* Whether the tasks of a process are those programs'. */
INLINE int runtime_is_others(__u32 pid)
{
	__u32 kind = runtime_kind_of(pid), *loaded;

	if (!kind)
		return 0;
	loaded = bpf_map_lookup_elem(&runtime_loaded, &kind);
	return loaded && *loaded;
}

INLINE struct runtime_walk *runtime_get(void)
{
	return 0;
}

INLINE struct runtime_walk *runtime_take(void)
{
	return 0;
}

INLINE void runtime_let(struct runtime_walk *p)
{
}

INLINE void runtime_walk(struct walk *c, struct task_struct *task, const int kind)
{
}

INLINE int runtime_waits(struct runtime_walk *p)
{
	return 0;
}

INLINE int runtime_any(struct runtime_walk *p)
{
	return 0;
}

INLINE int runtime_needs_native(struct runtime_walk *p)
{
	return 1;
}

INLINE __u32 runtime_cpu(struct runtime_walk *p)
{
	return 0;
}

INLINE int runtime_send(struct runtime_walk *p, __u64 of, __u32 native_end, __u32 deferred)
{
	return KWALK_RUNTIME_NONE;
}

/* What became of the frames of a process's interpreter, which are not walked here. */
INLINE __u8 runtime_missed(__u32 pid)
{
	struct runtime_process *of = config.runtimes ? runtime_of(pid) : 0;

	if (!of)
		return KWALK_RUNTIME_NONE;
	if (of->of.known) {
		COUNT(runtime_ends[KWALK_RUNTIME_LATE]);
		return KWALK_RUNTIME_LATE;
	}
	COUNT(runtime_ends[KWALK_RUNTIME_UNKNOWN]);
	return KWALK_RUNTIME_UNKNOWN;
}

#endif
