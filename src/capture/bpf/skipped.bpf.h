/* SPDX-License-Identifier: MIT */
/*
 * skipped.bpf.h: counts the samples that the kernel keeps from on_sample. While a BPF program of a
 * kprobe, a tracepoint or another event runs, or a map is changed by a system call, an event that
 * overflows on that CPU runs no program and writes no sample, and the kernel has no count of it
 * (bpf_prog_active; seen on 6.12 and 6.18, 7.3 takes samples inside of a tracepoint's program). So
 * it is seen from outside, when the overflow is over: where functions can be traced for any event
 * (on_overflow), else for the software clocks (on_timer).
 *
 * A sample in an NMI in the middle of another one may hide that the latter was skipped.
 */
#ifndef SEAM_CAPTURE_BPF_SKIPPED_BPF_H
#define SEAM_CAPTURE_BPF_SKIPPED_BPF_H

#include "capture/bpf/filter.bpf.h"

struct bpf_prog_aux {
	__u32 id;
} RELOCATED;

struct bpf_prog {
	struct bpf_prog_aux *aux;
} RELOCATED;

struct hrtimer {
	void *function;
} RELOCATED;

struct perf_event_attr {
	__u64 exclude_user : 1;
	__u64 exclude_kernel : 1;
	__u64 exclude_idle : 1;
} RELOCATED;

struct hw_perf_event {
	struct hrtimer hrtimer;
} RELOCATED;

struct perf_event {
	struct hw_perf_event hw;
	struct perf_event_attr attr;
	struct bpf_prog *prog;
} RELOCATED;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32); /* the id of on_sample, once it has one */
} own_id SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64); /* on_sample ran since an overflow ended */
} ran SEC(".maps");

INLINE void skipped_not(void)
{
	__u32 zero = 0;
	__u64 *r = bpf_map_lookup_elem(&ran, &zero);

	if (r)
		*r = 1;
}

/* Whether on_sample did not run in an overflow that is over. An overflow of another program's event
 * changes nothing here. */
INLINE int skipped_is(struct perf_event *event)
{
	__u32 zero = 0, *own = bpf_map_lookup_elem(&own_id, &zero);
	__u64 *r = bpf_map_lookup_elem(&ran, &zero), was;

	if (!own || !*own || !r || BPF_CORE_READ(event, prog, aux, id) != *own)
		return 0;
	was = *r;
	*r = 0;
	return !was;
}

INLINE void skipped_count(void)
{
	if (filter_takes((void *)bpf_get_current_task_btf()))
		COUNT(skipped);
}

SEC("seam_fexit/__perf_event_overflow")
int BPF_PROG(on_overflow, struct perf_event *event)
{
	if (skipped_is(event))
		skipped_count();
	return 0;
}

/*
 * A timer may end without an overflow, by what the event leaves out. What leaves out the kernel is
 * never skipped, as programs run there; of what leaves out the user it is not known here in which
 * of them the timer hit: not counted.
 */
SEC("seam_tp_btf/hrtimer_expire_exit")
int BPF_PROG(on_timer, struct hrtimer *timer)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	struct perf_event *event;

	if (!config.timer || (__u64)BPF_CORE_READ(timer, function) != config.timer)
		return 0;
	event = (void *)timer - __builtin_preserve_field_info(((struct perf_event *)0)->hw.hrtimer,
	                                                      BPF_FIELD_BYTE_OFFSET);
	if (!skipped_is(event) || BPF_CORE_READ_BITFIELD_PROBED(event, attr.exclude_kernel) ||
	    BPF_CORE_READ_BITFIELD_PROBED(event, attr.exclude_user) ||
	    (!task->pid && BPF_CORE_READ_BITFIELD_PROBED(event, attr.exclude_idle)))
		return 0;
	skipped_count();
	return 0;
}

#endif
