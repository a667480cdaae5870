/* SPDX-License-Identifier: MIT */
/*
 * maps.bpf.h: what the programs keep: the sets of targets and address spaces, a slot per thread
 * with a pending deferred record, rings, the arena, scratch memory and counts. No logic.
 */
#ifndef SEAM_CAPTURE_BPF_MAPS_BPF_H
#define SEAM_CAPTURE_BPF_MAPS_BPF_H

#include "capture/bpf/kernel.bpf.h"
#include "capture/bpf/shared.h"
#include "capture/walk/walk.bpf.h"

/* The pending deferred record of a thread. */
struct slot {
	__u64 task, mm; /* whose */
	__u64 cookie, asked_ns;
	struct pt_regs user; /* at the sample: pc and stack pointer name the kernel entry */
	__u32 owing;
	__u32 several; /* interpreters: the deferred walk is over frames of one of them */
	struct walker w;
	struct kwalk_user_chain user_chain;
	__u64 frames[WALK_ROOM];
};

struct scratch {
	__u64 cookies; /* handed out on this CPU */
	__u32 exiting; /* the task */
	/* Where a process maps several interpreters: those that are still to be walked (1 << enum
	 * runtime_kind), whether other programs have found frames of one, how their walks ended,
	 * whether these programs have sent what they found, and others are to go on */
	__u32 rest, several, ended, goes_on;
	__u32 unknown; /* it maps one that is not understood, too */
	struct walker w;
	struct walk_window window;
	struct kwalk_sample sample;
	__u64 frames[WALK_ROOM + KWALK_KERNEL_MAX + 1];
};

#define KWALK_RAW_HEAD __builtin_offsetof(struct kwalk_raw, stack)

struct remote {
	struct walker w;
	struct kwalk_user_chain user_chain;
	__u64 frames[WALK_ROOM];
};

/* The kernel finds it in the map's value by this name; older kernels see any struct. */
struct bpf_task_work {
	__u64 opaque;
} __attribute__((aligned(8)));

struct pending {
	struct bpf_task_work work;
	struct slot s;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32); /* tid */
	__type(value, struct pending);
} slots SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 131072);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32); /* pid */
	__type(value, struct kwalk_process);
} processes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 131072);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32); /* pid */
	__type(value, struct kwalk_changes);
} changes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 131072);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32); /* pid or tid, by config.filter */
	__type(value, __u32);
} targets SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 131072);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32); /* pid */
	__type(value, struct runtime_process);
} runtimes SEC(".maps");

/* Programs that walk frames of one interpreter: they are entered by tail calls. */
struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, RUNTIMES);
	__type(key, __u32); /* enum runtime_kind */
	__type(value, __u32);
} runtime_samples SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, struct kwalk_code_known);
	__type(value, __u32);
} codes SEC(".maps");

struct ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1); /* one per CPU: set by the loader */
	__type(key, __u32);
	__array(values, struct ring);
} rings SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF); /* a word when the follower is to read at once */
	__uint(max_entries, 4096);
} news SEC(".maps");

struct {
	__uint(type, ARENA_MAP);
	__uint(map_flags, 1 << 10); /* BPF_F_MMAPABLE */
	__uint(max_entries, 1);     /* pages: set by the loader */
} arena SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct scratch);
} scratches SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY); /* by CPU: too large for an array of that kind */
	__uint(max_entries, 1);           /* set by the loader */
	__type(key, __u32);
	__type(value, struct kwalk_raw);
} copies SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct remote);
} remotes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct kwalk_counts);
} counts SEC(".maps");

static char empty_slot[sizeof(
        struct pending)]; /* an initialiser with struct bpf_task_work would not load */

/* Makes the program use the arena, which the loads themselves do not name. */
#define USES_ARENA() asm volatile("" ::"r"(&arena))

INLINE struct kwalk_counts *count(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&counts, &zero);
}

#define COUNT(field)                                         \
	do {                                                 \
		struct kwalk_counts *c_ = count();           \
                                                             \
		if (c_)                                      \
			__sync_fetch_and_add(&c_->field, 1); \
	} while (0)

INLINE void count_end(__u32 end, __u32 guessed)
{
	struct kwalk_counts *c = count();

	if (!c)
		return;
	__sync_fetch_and_add(&c->end[end & 15], 1);
	__sync_fetch_and_add(&c->guessed, guessed);
}

/* Whether a process's mappings are still what the follower knew of them. c may be NULL: nothing has
 * changed. */
INLINE int process_is_valid(const struct kwalk_process *p, const struct kwalk_changes *c)
{
	if (!c)
		return !p->execs && !p->losses;
	return p->execs == c->execs && p->losses == c->losses;
}

/* The interpreter that a process runs; NULL: none that is known of. */
INLINE struct runtime_process *runtime_of(__u32 pid)
{
	struct runtime_process *of = bpf_map_lookup_elem(&runtimes, &pid);
	struct kwalk_changes *changed = of ? bpf_map_lookup_elem(&changes, &pid) : 0;

	return of && of->execs == (changed ? changed->execs : 0) ? of : 0;
}

/* Another interpreter that the process of `of` maps. */
INLINE struct runtime_process *runtime_other_of(const struct runtime_process *of, __u32 pid,
                                                __u32 kind)
{
	__u32 key = pid | kind << KWALK_RUNTIME_OTHER;
	struct runtime_process *other = bpf_map_lookup_elem(&runtimes, &key);

	return other && other->execs == of->execs ? other : 0;
}

/* Whether a process maps several interpreters, of which one's frames are walked only. */
INLINE int runtime_several(__u32 pid)
{
	struct runtime_process *of = runtime_of(pid);

	return of && of->others;
}

/* How the walks over two interpreters' frames ended: what says that some are missing stays. */
INLINE __u32 runtime_both(__u32 one, __u32 other)
{
	return one == KWALK_RUNTIME_NONE || (one == KWALK_RUNTIME_COMPLETE && other) ? other : one;
}

/* Takes one of x->rest; 0: there is none. Those whose code the native walk meets come last: only
 * their programs find the way through it. */
INLINE __u32 runtime_next(struct scratch *x)
{
	static const __u32 order[] = { RUNTIME_PERL, RUNTIME_PYTHON, RUNTIME_RUBY,
		                       RUNTIME_PHP,  RUNTIME_V8,     RUNTIME_HOTSPOT };
	__u32 rest = ANEW(x->rest);

#pragma unroll
	for (unsigned i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		if (rest >> order[i] & 1) {
			x->rest = rest & ~(1u << order[i]);
			return order[i];
		}
	return 0;
}

INLINE void *ring_of_cpu(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&rings, &cpu);
}

/* Tells the follower about a process. If earlier news are not read yet, it has been woken already,
 * and nothing is added. */
INLINE void news_tell(__u32 pid)
{
	if (!bpf_ringbuf_query(&news, BPF_RB_AVAIL_DATA))
		bpf_ringbuf_output(&news, &pid, sizeof(pid), BPF_RB_FORCE_WAKEUP);
}

/* A wake-up is an interrupt: one each time that config.wake bytes more are unread, which is a power
 * of two; at each record only where the ring is nearly full. */
INLINE __u64 ring_flags_between(__u64 before, __u64 after)
{
	return (before ^ after) >= config.wake || after >= config.wake * 3ull ? BPF_RB_FORCE_WAKEUP
	                                                                      : BPF_RB_NO_WAKEUP;
}

/* What a record of n bytes takes of a ring. */
INLINE __u64 ring_room(__u64 n)
{
	return (n + BPF_RINGBUF_HDR_SZ + 7) & ~7ull;
}

/* For a record of n bytes that is to be written. */
INLINE __u64 ring_flags(void *ring, __u64 n)
{
	__u64 unread = bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA);

	return ring_flags_between(unread, unread + ring_room(n));
}

/* For a record that has its room already. */
INLINE __u64 ring_flags_reserved(void *ring, __u64 n)
{
	__u64 unread = bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA);

	return ring_flags_between(unread - ring_room(n), unread);
}

/*
 * Copies of stacks leave the last quarter of a ring to samples and answers, which are far smaller:
 * a program that begins sends nothing but copies until its tables are there, and they would fill
 * the ring in some tens of milliseconds. A sample without its stack says more than none.
 */
INLINE int ring_has_room_for_copy(void *ring)
{
	return bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA) < config.wake * 3ull;
}

#endif
