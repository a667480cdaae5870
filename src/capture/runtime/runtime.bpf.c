// SPDX-License-Identifier: MIT
/*
 * runtime.bpf.c: the programs that walk stacks of one interpreter's processes, native and its own:
 * made once for each row of abi/runtimes.def, of the walk in RUNTIME_FILE. They are loaded when a
 * process of the kind is met, work on the maps of unwind.bpf.c, and go on where its programs hand a
 * sample over: its head is filled.
 */
#include "capture/bpf/kernel.bpf.h"
#include "capture/bpf/shared.h"
#include RUNTIME_FILE
#include "capture/bpf/maps.bpf.h"
#include "capture/bpf/pending.bpf.h"
#include "capture/bpf/sample.bpf.h"
#include "capture/bpf/offcpu.bpf.h"
#include "capture/bpf/owing.bpf.h"

char license_text[] SEC("license") = "Dual MIT/GPL";

/* Behind on_sample. */
SEC("perf_event")
int runtime_sample(struct bpf_perf_event_data *ctx)
{
	__u32 zero = 0;
	struct scratch *x = bpf_map_lookup_elem(&scratches, &zero);

	USES_ARENA();
	if (x)
		sample_stack(ctx, x, (void *)bpf_get_current_task_btf());
	return 0;
}

/* Behind away_switch. */
SEC("seam_tp_btf/sched_switch")
int BPF_PROG(runtime_away, _Bool preempted, struct task_struct *prev, struct task_struct *next,
             unsigned int state)
{
	struct away *a = away_get(next);

	USES_ARENA();
	if (a)
		away_tell_all(next, a, a->in_ns);
	return 0;
}
