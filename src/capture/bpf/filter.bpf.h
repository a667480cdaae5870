/* SPDX-License-Identifier: MIT */
/*
 * filter.bpf.h: whose samples are wanted. A task is one when it is among the targets (a process, a
 * thread, or what they started) and has one of the user ids, one of the names, and is below one of
 * the cgroups that were asked for. What a task is may change, so it is asked at each sample; what
 * is not asked for costs nothing, as the configuration is read-only.
 *
 * Processes that were taken by what they are, and not by their number, are noted in `matched`: the
 * recorder keeps records about these.
 */
#ifndef SEAM_CAPTURE_BPF_FILTER_BPF_H
#define SEAM_CAPTURE_BPF_FILTER_BPF_H

#include "capture/bpf/maps.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32); /* a real user id */
	__type(value, __u32);
} uids SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, char[KWALK_COMM]); /* padded with zeros */
	__type(value, __u32);
} comms SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH); /* it outlives the process: the recorder asks later */
	__uint(max_entries, 16384);
	__type(key, __u32); /* pid */
	__type(value, __u32);
} matched SEC(".maps");

INLINE int filter_uid(struct task_struct *task)
{
	__u32 uid = BPF_CORE_READ(task, real_cred, uid.val);

	return !!bpf_map_lookup_elem(&uids, &uid);
}

INLINE int filter_comm(struct task_struct *task)
{
	char name[KWALK_COMM] = { 0 };

	bpf_probe_read_kernel_str(name, sizeof(name), &task->comm);
	return !!bpf_map_lookup_elem(&comms, name);
}

/* Whether the task is in one of the wanted cgroups, or below one: its ancestor at the level of each
 * is compared. */
INLINE int filter_cgroup(struct task_struct *task)
{
	struct cgroup *at = BPF_CORE_READ(task, cgroups, dfl_cgrp), *above;
	/* Not by an index, because only a constant one can be relocated. */
	__u64 ancestors = __builtin_preserve_field_info(at->ancestors, BPF_FIELD_BYTE_OFFSET);
	__u32 level = BPF_CORE_READ(at, level);
	int found = 0;

#pragma unroll
	for (__u32 i = 0; i < KWALK_CGROUPS; i++) {
		if (i >= config.cgroups || config.cgroup[i].level > level)
			continue;
		above = 0;
		bpf_probe_read_kernel(&above, sizeof(above),
		                      (void *)at + ancestors + config.cgroup[i].level * 8ull);
		found |= BPF_CORE_READ(above, kn, id) == config.cgroup[i].id;
	}
	return found;
}

INLINE int filter_by_number(struct task_struct *task)
{
	__u32 key = config.filter == KWALK_THREADS ? task->pid : task->tgid;

	return config.filter == KWALK_EVERYTHING || bpf_map_lookup_elem(&targets, &key);
}

/* Whether the task is the command that is held back: what it does before its exec is the recorder's
 * doing. It has no other threads by then. */
INLINE int filter_held(struct task_struct *task)
{
	return config.held && (__u32)task->pid == config.held && task->flags & TASK_NOT_EXECED;
}

INLINE int filter_takes(struct task_struct *task)
{
	__u32 pid = task->tgid, one = 1;

	if (!filter_by_number(task))
		return 0;
	if (!config.uids && !config.comms && !config.cgroups)
		return 1;
	if ((config.uids && !filter_uid(task)) || (config.comms && !filter_comm(task)) ||
	    (config.cgroups && !filter_cgroup(task)))
		return 0;
	if (!bpf_map_lookup_elem(&matched, &pid))
		bpf_map_update_elem(&matched, &pid, &one, BPF_ANY);
	return 1;
}

#endif
