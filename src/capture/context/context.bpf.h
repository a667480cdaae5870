/* SPDX-License-Identifier: MIT */
/*
 * context.bpf.h: for whom the thread works that is sampled (runtimes/context_layout.h): the record
 * of OpenTelemetry's thread context, or the labels of Go's goroutine, as bytes for the recorder.
 * They go into the ring right before the sample.
 *
 * The thread is stopped, so that what it says of itself is not being written by it: OTEP 4947 wants
 * just this. All else that may be there is hostile: every length is bounded, every loop ends.
 */
#ifndef SEAM_CAPTURE_CONTEXT_CONTEXT_BPF_H
#define SEAM_CAPTURE_CONTEXT_CONTEXT_BPF_H

#include "capture/bpf/maps.bpf.h"

#define CONTEXT_LABELS 64u /* of a goroutine, that are looked at */
#define CONTEXT_CELLS 256u /* of its map */

/* Go's map of before 1.24: buckets of 8 cells, each with a byte that says whether it is used. */
#define GO_MAP_SHIFT 9 /* in the map: log2 of the number of buckets */
#define GO_MAP_BUCKETS 16
#define GO_MAP_OLD 24
#define GO_CELL_USED 5 /* and more */
#define GO_KEYS 8      /* in a bucket */
#define GO_VALUES (GO_KEYS + 8 * 16)
#define GO_OVERFLOW (GO_VALUES + 8 * 16)

struct context_string {
	__u64 at, n;
};

struct context_pair {
	struct context_string key, value;
};

struct context_scratch {
	struct context_process of;
	__u64 at, n, old;
	__u64 bucket, left; /* of a map: the bucket that is looked at, and how many come behind */
	__u8 used[8];
	struct context_pair pair;
	struct kwalk_context out;
	__u8 room[256]; /* behind out.bytes: a text may begin at its last byte */
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 131072);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32); /* pid */
	__type(value, struct context_process);
} contexts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct context_scratch);
} context_scratches SEC(".maps");

/* What a loop's body is given: on the stack, as the kernel wants it. */
struct context_loop {
	struct context_scratch *x;
};

INLINE long context_end(struct context_scratch *x, __u32 end)
{
	x->out.end = end;
	return 1;
}

INLINE long context_read(struct context_scratch *x, __u64 at, void *to, __u32 n)
{
	if (!bpf_probe_read_user(to, n, (void *)at))
		return 0;
	x->out.fault = at;
	x->out.fault_n = n;
	return context_end(x, KWALK_CONTEXT_FAULT);
}

/* ---- the thread's variable ---- */

/* The address of a variable of a module, by the thread's vector of modules. A module whose
 * variables the thread has not used yet has none. */
INLINE long context_module(struct context_scratch *x, __u64 thread, __u64 module, __u64 offset)
{
	__u64 vector, block = 0;

	if (!x->of.vector_step || !module || module > 65535)
		return context_end(x, KWALK_CONTEXT_NONE);
	if (context_read(x, thread + 8, &vector, 8) ||
	    context_read(x, vector + module * x->of.vector_step, &block, 8))
		return 1;
	if (!block || block == ~0ull)
		return context_end(x, KWALK_CONTEXT_NONE);
	x->at = block + offset;
	return 0;
}

/* Finds the variable: x->at. */
INLINE long context_variable(struct context_scratch *x, __u64 thread)
{
	__u64 words[2] = { 0, 0 };
	__u32 access = x->of.access;

	x->at = thread + x->of.offset;
	if (access == CONTEXT_STATIC)
		return 0;
	if (context_read(x, x->of.slot, words, access == CONTEXT_INITIAL ? 8 : 16))
		return 1;
	/* The dynamic linker has not been there yet. */
	if (!words[0])
		return context_end(x, KWALK_CONTEXT_NONE);
	if (access == CONTEXT_INITIAL) {
		x->at = thread + words[0];
		return 0;
	}
	if (access == CONTEXT_DESCRIPTOR) {
		if ((__s64)words[1] < 0) {
			x->at = thread + words[1];
			return 0;
		}
		if (context_read(x, words[1], words, 16))
			return 1;
	}
	return context_module(x, thread, words[0],
	                      access == CONTEXT_LOCAL ? (__u64)x->of.offset : words[1]);
}

/* ---- OpenTelemetry ---- */

/* Reads what the variable points to: a record, whole, or its head where it has more than is
 * read. */
INLINE void context_otel(struct context_scratch *x)
{
	struct context_record *head = (void *)x->out.bytes;
	__u32 n;

	if (context_read(x, x->at, &x->at, 8))
		return;
	if (!x->at) {
		context_end(x, KWALK_CONTEXT_NONE);
		return;
	}
	if (context_read(x, x->at, head, sizeof(*head)))
		return;
	if (head->valid != 1) {
		context_end(x, KWALK_CONTEXT_WRITING);
		return;
	}
	x->out.n = sizeof(*head);
	n = *(volatile __u16 *)&head->size;
	if (n > KWALK_CONTEXT_BYTES - sizeof(*head)) {
		context_end(x, KWALK_CONTEXT_LIMIT);
		return;
	}
	FORGET(n);
	if (n && n <= KWALK_CONTEXT_BYTES - sizeof(*head) &&
	    context_read(x, x->at + sizeof(*head), x->out.bytes + sizeof(*head), n))
		return;
	x->out.n += n;
	context_end(x, KWALK_CONTEXT_WHOLE);
}

/* ---- Go ---- */

/* Adds a length and so many bytes; 255 of them may be the beginning of more. */
INLINE long context_text(struct context_scratch *x, const struct context_string *s)
{
	__u32 at = x->out.n, n = s->n > 255 ? 255 : (__u32)s->n;

	if (at + 1 + n > KWALK_CONTEXT_BYTES)
		return context_end(x, KWALK_CONTEXT_LIMIT);
	FORGET(at);
	at &= KWALK_CONTEXT_BYTES - 1;
	x->out.bytes[at] = (__u8)n;
	FORGET(n);
	n &= 255;
	if (n && context_read(x, s->at, x->out.bytes + at + 1, n))
		return 1;
	x->out.n = at + 1 + n;
	return 0;
}

/* Adds a label, or nothing of it. */
INLINE long context_label(struct context_scratch *x, __u64 key, __u64 value)
{
	__u32 before = x->out.n;

	if (context_read(x, key, &x->pair.key, sizeof(x->pair.key)) ||
	    context_read(x, value, &x->pair.value, sizeof(x->pair.value)))
		return 1;
	if (!context_text(x, &x->pair.key) && !context_text(x, &x->pair.value))
		return 0;
	x->out.n = before;
	return 1;
}

/* One pair of a slice. */
static long context_list_step(__u32 i, void *ctx)
{
	struct context_scratch *x = ((struct context_loop *)ctx)->x;

	if (i >= x->n)
		return context_end(x, KWALK_CONTEXT_WHOLE);
	return context_label(x, x->at + i * sizeof(struct context_pair),
	                     x->at + i * sizeof(struct context_pair) + 16);
}

INLINE void context_list(struct context_scratch *x, __u64 labels)
{
	struct context_loop c = { x };

	if (context_read(x, labels, &x->at, 8) || context_read(x, labels + 8, &x->n, 8))
		return;
	x->out.end = KWALK_CONTEXT_LIMIT;
	bpf_loop(CONTEXT_LABELS + 1, context_list_step, &c, 0);
}

/* The next bucket, or the first of those that were not moved yet when the map grew. */
INLINE long context_map_next(struct context_scratch *x)
{
	if (!x->left) {
		if (!x->old)
			return context_end(x, KWALK_CONTEXT_WHOLE);
		x->n = x->old;
		x->old = 0;
		x->left = x->at;
	}
	x->left--;
	x->bucket = x->n;
	x->n += GO_OVERFLOW + 8;
	return 0;
}

/* One cell of a map. Behind the last of a bucket come those that found no room in it. */
static long context_map_step(__u32 i, void *ctx)
{
	struct context_scratch *x = ((struct context_loop *)ctx)->x;
	__u32 cell = i & 7;

	if (!cell) {
		if (i && context_read(x, x->bucket + GO_OVERFLOW, &x->bucket, 8))
			return 1;
		if (!x->bucket && context_map_next(x))
			return 1;
		if (context_read(x, x->bucket, x->used, sizeof(x->used)))
			return 1;
	}
	if (x->used[cell] < GO_CELL_USED)
		return 0;
	return context_label(x, x->bucket + GO_KEYS + cell * 16ull,
	                     x->bucket + GO_VALUES + cell * 16ull);
}

/* Goes through the cells of a map, also of one that grows just now. */
INLINE void context_map(struct context_scratch *x, __u64 labels)
{
	struct context_loop c = { x };
	__u8 shift = 0;
	__u64 map = 0;

	if (context_read(x, labels, &map, 8))
		return;
	if (!map) {
		context_end(x, KWALK_CONTEXT_WHOLE);
		return;
	}
	if (context_read(x, map + GO_MAP_SHIFT, &shift, 1) ||
	    context_read(x, map + GO_MAP_BUCKETS, &x->n, 8) ||
	    context_read(x, map + GO_MAP_OLD, &x->old, 8))
		return;
	shift &= 31;
	x->left = 1ull << shift;
	x->at = x->left >> 1; /* half as many old ones */
	x->bucket = 0;
	x->out.end = KWALK_CONTEXT_LIMIT;
	bpf_loop(CONTEXT_CELLS, context_map_step, &c, 0);
}

/* The thread runs a goroutine, or serves it on another stack. A thread that Go does not know has
 * no g; one without work no goroutine. */
INLINE void context_go(struct context_scratch *x)
{
	__u64 at = 0;

	x->out.end = KWALK_CONTEXT_NONE;
	if (context_read(x, x->at, &at, 8) || !at || context_read(x, at + x->of.g_m, &at, 8) ||
	    !at || context_read(x, at + x->of.m_curg, &at, 8) || !at ||
	    context_read(x, at + x->of.g_labels, &at, 8) || !at)
		return;
	if (x->of.source == CONTEXT_GO_LIST)
		context_list(x, at);
	else
		context_map(x, at);
}

/* A child has its parent's mappings, from its first instruction on. */
INLINE void context_fork(__u32 from, __u32 to)
{
	struct context_process *of = bpf_map_lookup_elem(&contexts, &from), copy;

	if (!of)
		return;
	copy = *of;
	copy.execs = copy.losses = 0;
	bpf_map_update_elem(&contexts, &to, &copy, BPF_ANY);
}

/* Sends for whom the current thread works, for its sample of that time. A process that says nothing
 * of it costs a look-up. */
ONCE int context_send(__u64 time_ns)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	__u32 pid = task->tgid, zero = 0, n;
	struct context_process *of = bpf_map_lookup_elem(&contexts, &pid);
	struct kwalk_changes *changed;
	struct context_scratch *x;
	struct kwalk_counts *c;
	void *ring;

	if (!of)
		return 0;
	x = bpf_map_lookup_elem(&context_scratches, &zero);
	ring = ring_of_cpu();
	changed = bpf_map_lookup_elem(&changes, &pid);
	if (!x || !ring || of->execs != (changed ? changed->execs : 0))
		return 0;
	__builtin_memcpy(&x->of, of, sizeof(x->of));
	x->out.n = 0;
	x->out.end = KWALK_CONTEXT_UNKNOWN;
	x->out.source = x->of.source;
	if (x->of.source != CONTEXT_GO_OTHER && !context_variable(x, task->thread.fsbase)) {
		if (x->of.source == CONTEXT_OTEL)
			context_otel(x);
		else
			context_go(x);
	}
	c = count();
	if (c)
		__sync_fetch_and_add(&c->context_ends[x->out.end & 7], 1);
	if (x->out.end == KWALK_CONTEXT_NONE || x->out.end == KWALK_CONTEXT_WRITING)
		return 0;
	x->out.kind = KWALK_CONTEXT;
	x->out.pid = pid;
	x->out.tid = task->pid;
	x->out.cpu = bpf_get_smp_processor_id();
	x->out.of = time_ns;
	n = x->out.n;
	FORGET(n);
	if (n > KWALK_CONTEXT_BYTES)
		return 0;
	if (bpf_ringbuf_output(ring, &x->out, KWALK_CONTEXT_HEAD + (__u64)n, BPF_RB_NO_WAKEUP))
		COUNT(context_full);
	return 0;
}

#endif
