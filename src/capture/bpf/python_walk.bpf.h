/* SPDX-License-Identifier: MIT */
/*
 * python_walk.bpf.h: from a thread to its CPython frames, by the offsets of the process's version
 * (runtimes/python_layout.h), and what their code objects are called.
 *
 * A frame's key is made of all that is told of its code object, read anew at each sample: so a name
 * is always that of the code that ran, also where an address is used again. Memory that holds
 * anything else ends the walk, and every loop has a limit.
 */
#ifndef SEAM_CAPTURE_BPF_PYTHON_WALK_BPF_H
#define SEAM_CAPTURE_BPF_PYTHON_WALK_BPF_H

#include "capture/bpf/maps.bpf.h"

#define PYTHON_THREADS 512  /* thread states and interpreters that are looked at */
#define PYTHON_AT_ONCE 256u /* frames and calls that are walked in the sample itself */
#define PYTHON_WALKS 16u    /* that may sleep at the same time */
#define PYTHON_TEXT_MOST (1u << 24)
#define PYTHON_BYTES_SIZE 16 /* of a bytes object; its bytes are behind 32 */
#define PYTHON_BYTES 32
#define PYTHON_RED_ZONE 128 /* below the stack pointer a function may have data */
#define PYTHON_TAGS 3ull    /* bits of a reference that are no part of the address */

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 131072);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32); /* pid */
	__type(value, struct python_process);
} pythons SEC(".maps");

struct python_known {
	__u64 key;
	__u64 cpu;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, struct python_known);
	__type(value, __u32);
} codes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY); /* by CPU: too large for an array of that kind */
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct python);
} python_scratches SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, PYTHON_WALKS + 1);
	__type(key, __u32);
	__type(value, struct python);
} python_walks SEC(".maps");

/* Memory that the verifier knows nothing of, read anew each time. */
#define AT(field) ANEW(p->of.at.field)

INLINE long python_end(struct python *p, __u32 end)
{
	p->out.end = end;
	return 1;
}

INLINE long python_u64(struct walk *c, __u64 address, __u64 *ret, const int kind)
{
	if (walk_read(c, address, ret, 8, kind))
		return python_end(c->python, KWALK_PYTHON_FAULT);
	return 0;
}

/* ---- the thread ---- */

/* Looks at one thread state, or goes on to the next interpreter. */
INLINE long python_seek(struct walk *c, const int kind)
{
	struct python *p = c->python;
	__u64 thread;

	if (!p->state) {
		if (!p->interpreter)
			return 1;
		if (python_u64(c, p->interpreter + AT(interpreter_threads), &p->state, kind) ||
		    python_u64(c, p->interpreter + AT(interpreter_next), &p->interpreter, kind))
			return 1;
		return 0;
	}
	if (walk_read(c, p->state + AT(thread_id), &thread, 8, kind))
		return python_end(p, KWALK_PYTHON_FAULT);
	if (thread == ANEW(p->thread)) {
		p->found_other = p->found;
		p->found = p->state;
		p->n_found++;
		p->state = 0; /* the others of this interpreter are other threads' */
		return 0;
	}
	return python_u64(c, p->state + AT(thread_next), &p->state, kind);
}

/* ---- texts ---- */

INLINE __u64 python_mix(__u64 hash, __u64 word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
	return hash ^ hash >> 32;
}

static long python_mix_word(__u32 i, void *ctx)
{
	struct python *p = ((struct walk *)ctx)->python;
	__u32 at = ANEW(p->word) + i;

	if (at >= KWALK_CODE_WORDS)
		return 1;
	p->hash = python_mix(p->hash, p->told.text[at]);
	return 0;
}

/* Reads a string into the text of what is told, and mixes it into p->hash. */
INLINE long python_text(struct walk *c, __u64 string, const __u32 first, const __u32 most,
                        __u8 *width, __u8 *cut, __u16 *bytes, const int kind)
{
	struct python *p = c->python;
	__u64 length, all;
	__u32 state, n, wide;

	if (walk_read(c, string, p->head, 40, kind))
		return python_end(p, KWALK_PYTHON_FAULT);
	length = *(volatile __u64 *)&p->head[16];
	state = *(volatile __u32 *)&p->head[32] >> (AT(text_kind) & 31);
	wide = state & 7;
	/* kind, compact, ascii */
	if ((wide != 1 && wide != 2 && wide != 4) || !(state & 8) || length > PYTHON_TEXT_MOST)
		return python_end(p, KWALK_PYTHON_BUILDING);
	all = length * wide;
	n = all > most ? most : (__u32)all;
	*width = wide;
	*cut = all > most;
	*bytes = n;
	p->hash = python_mix(p->hash, length << 8 | wide);
	p->told.text[first / 8 + ((n >> 3) & (most / 8 - 1))] = 0;
	string += state & 16 ? AT(text_ascii) : AT(text_other);
	FORGET(n);
	if (n > most)
		return python_end(p, KWALK_PYTHON_BUILDING);
	if (n && walk_read(c, string, (void *)&p->told.text[first / 8], n, kind))
		return python_end(p, KWALK_PYTHON_FAULT);
	p->word = first / 8;
	bpf_loop((n + 7) >> 3, python_mix_word, c, 0);
	return 0;
}

/* ---- code objects ---- */

/* Sends what is to be told of the code object in p->code_bytes, with its location table. */
INLINE long python_tell(struct walk *c, const int kind)
{
	struct python *p = c->python;
	__u64 lines = *(volatile __u64 *)&p->code_bytes[AT(code_lines) & 248], size = 0;
	struct python_known known = { .key = p->told.key };
	__u32 n, one = 1;
	void *ring;

	known.cpu = p->cpu;
	if (bpf_map_lookup_elem(&codes, &known))
		return 0;
	if (python_u64(c, lines + PYTHON_BYTES_SIZE, &size, kind))
		return 1;
	n = size > KWALK_CODE_LINES ? 0 : (__u32)size;
	FORGET(n);
	if (n > KWALK_CODE_LINES)
		return 0;
	if (n && walk_read(c, lines + PYTHON_BYTES, p->told.lines, n, kind))
		return python_end(p, KWALK_PYTHON_FAULT);
	p->told.kind = KWALK_CODE;
	p->told.pid = p->out.pid;
	p->told.time_ns = bpf_ktime_get_ns();
	p->told.n_lines = (__u16)n;
	p->told.lines_form = (__u8)AT(lines);
	ring = bpf_map_lookup_elem(&rings, &p->cpu);
	if (!ring || bpf_ringbuf_output(ring, &p->told,
	                                __builtin_offsetof(struct kwalk_code, lines) + (__u64)n,
	                                ring_flags(ring, sizeof(p->told))))
		COUNT(code_full);
	else
		bpf_map_update_elem(&codes, &known, &one, BPF_ANY);
	return 0;
}

/* The key of the code object at p->code. */
INLINE long python_code(struct walk *c, const int kind)
{
	struct python *p = c->python;
	__u64 file, name, lines;
	__u32 size = AT(code_instructions);

	if (size > sizeof(p->code_bytes))
		return python_end(p, KWALK_PYTHON_BUILDING);
	FORGET(size);
	if (size > sizeof(p->code_bytes) || walk_read(c, p->code, p->code_bytes, size, kind))
		return python_end(p, KWALK_PYTHON_FAULT);
	if (*(volatile __u64 *)&p->code_bytes[8] != ANEW(p->of.code_type))
		return python_end(p, KWALK_PYTHON_BUILDING);
	file = *(volatile __u64 *)&p->code_bytes[AT(code_file) & 248];
	name = *(volatile __u64 *)&p->code_bytes[AT(code_name) & 248];
	lines = *(volatile __u64 *)&p->code_bytes[AT(code_lines) & 248];
	p->told.first_line = *(volatile __u32 *)&p->code_bytes[AT(code_line) & 252];
	/* The same text is still in place, as both code objects keep it alive. */
	if (file != ANEW(p->file)) {
		p->hash = python_mix(config.seed, p->out.pid);
		p->file = 0;
		if (python_text(c, file, 0, KWALK_CODE_FILE, &p->told.file_width, &p->told.file_cut,
		                &p->told.file_bytes, kind))
			return 1;
		p->file = file;
		p->file_hash = p->hash;
	}
	p->hash = python_mix(p->file_hash, p->told.first_line);
	p->hash = python_mix(p->hash, *(volatile __u64 *)&p->code_bytes[16]);
	p->hash = python_mix(p->hash, lines);
	p->hash = python_mix(p->hash, p->code);
	if (python_text(c, name, KWALK_CODE_FILE, KWALK_CODE_NAME, &p->told.name_width,
	                &p->told.name_cut, &p->told.name_bytes, kind))
		return 1;
	p->told.key = p->hash;
	return python_tell(c, kind);
}

/* The same, once in a walk: the functions of deep stacks are few. */
INLINE long python_code_met(struct walk *c, const int kind)
{
	struct python *p = c->python;
	__u32 at = (__u32)(p->code >> 4 ^ p->code >> 10) & (PYTHON_MET - 1);
	struct python_met *m;

	FORGET(at);
	m = &p->met[at & (PYTHON_MET - 1)];
	if (m->code == ANEW(p->code) && m->walk == ANEW(p->walk)) {
		p->told.key = m->key;
		return 0;
	}
	if (python_code(c, kind))
		return 1;
	m->code = p->code;
	m->key = p->told.key;
	m->walk = p->walk;
	return 0;
}

/* ---- frames ---- */

/* A call of the loop, with its mark on the C stack. Marks of callers lie higher. */
INLINE void python_loop(struct python *p, __u64 mark)
{
	__u32 n = p->out.n, last = p->last;

	python_put(p, mark, 0, RUNTIME_FRAME_LOOP);
	if (!last) {
		p->entries = n + 1;
	} else {
		last = (last - 1) & (KWALK_PYTHON_ROOM - 1);
		p->frames[last].at = n + 1;
	}
	p->last = n + 1;
}

/* The loop was entered with this frame (3.11): the struct _PyCFrame of that call is the mark. Its
 * caller's knows the same frame as this one does. */
INLINE long python_entered(struct walk *c, __u64 previous, const int kind)
{
	struct python *p = c->python;
	__u64 frame;

	python_loop(p, p->cframe);
	if (python_u64(c, p->cframe + AT(cframe_previous), &p->cframe, kind) ||
	    python_u64(c, p->cframe + AT(cframe_frame), &frame, kind))
		return 1;
	return frame == previous ? 0 : python_end(p, KWALK_PYTHON_BUILDING);
}

/* Whether the struct _PyCFrame is the one in the thread state, which is no call's. What it says is
 * before it was never written (3.10). */
INLINE int python_is_root(struct python *p)
{
	return ANEW(p->cframe) == ANEW(p->root);
}

/* 3.10: each call of the loop runs one frame. Its caller's struct _PyCFrame is the next. */
INLINE long python_called(struct walk *c, const int kind)
{
	struct python *p = c->python;

	if (!p->cframe || python_is_root(p))
		return python_end(p, KWALK_PYTHON_BUILDING);
	python_loop(p, p->cframe);
	return python_u64(c, p->cframe + AT(cframe_previous), &p->cframe, kind);
}

/* The newest frame of a thread state. */
INLINE long python_begin(struct walk *c, __u64 state, const int kind)
{
	struct python *p = c->python;
	__u64 at;

	p->entries = p->last = p->retried = 0;
	p->begin = p->out.n;
	p->root = state + AT(thread_root);
	if (python_u64(c, state + AT(thread_frame), &at, kind))
		return 1;
	p->frame = p->cframe = at;
	if (AT(entry) == PYTHON_ENTRY_CALL_CFRAME)
		return python_u64(c, state + AT(thread_cframe), &p->cframe, kind);
	if (AT(entry) == PYTHON_ENTRY_CFRAME || AT(entry) == PYTHON_ENTRY_FRAME_BY_CFRAME)
		return python_u64(c, at + AT(cframe_frame), &p->frame, kind);
	return 0;
}

/* Behind the outermost frame of an interpreter: the thread may run another one. */
INLINE long python_other(struct walk *c, const int kind)
{
	struct python *p = c->python;
	__u64 other = p->found_other;

	if (p->retried && p->out.n == p->begin)
		return python_end(p, KWALK_PYTHON_BUILDING);
	if (!other)
		return python_end(p, KWALK_PYTHON_COMPLETE);
	p->found_other = 0;
	p->entries_other = p->entries;
	p->out.other = (__u16)p->out.n;
	return python_begin(c, other, kind);
}

/* Behind the outermost frame. Each frame has one call, or the newest call has no frame yet. */
INLINE long python_outermost(struct walk *c, const int kind)
{
	struct python *p = c->python;

	if (AT(entry) != PYTHON_ENTRY_CALL_CFRAME)
		return python_other(c, kind);
	if (python_is_root(p))
		return python_end(p, KWALK_PYTHON_COMPLETE);
	p->out.shifted = 1;
	if (python_called(c, kind))
		return 1;
	return python_end(p, python_is_root(p) ? KWALK_PYTHON_COMPLETE : KWALK_PYTHON_BUILDING);
}

/* Where in its code a frame object is, in bytes of instructions. */
INLINE __u32 python_last(struct python *p)
{
	__s32 last = *(volatile __s32 *)&p->frame_bytes[AT(frame_instruction) & 120];

	return last < 0 ? 0 : (__u32)last << (AT(instruction_shift) & 1);
}

/* Takes one frame and goes to the one that called it. */
INLINE long python_one(struct walk *c, const int kind)
{
	struct python *p = c->python;
	__u64 previous, instruction;
	__u32 size = AT(frame_size), owner;

	if (!p->frame)
		return python_outermost(c, kind);
	if (p->out.n >= KWALK_PYTHON_ROOM - 2)
		return python_end(p, KWALK_PYTHON_LIMIT);
	if (kind == WALK_NOW && config.defers && config.when != KWALK_NEVER &&
	    p->out.n >= PYTHON_AT_ONCE)
		return python_end(p, KWALK_PYTHON_FAULT);
	if (size > sizeof(p->frame_bytes))
		return python_end(p, KWALK_PYTHON_BUILDING);
	FORGET(size);
	if (size > sizeof(p->frame_bytes) || walk_read(c, p->frame, p->frame_bytes, size, kind))
		return python_end(p, KWALK_PYTHON_FAULT);
	previous = *(volatile __u64 *)&p->frame_bytes[AT(frame_previous) & 120];
	owner = *(volatile __u8 *)&p->frame_bytes[AT(frame_owner) & 127];
	if (owner == AT(owner_entry)) {
		python_loop(p, p->frame);
		p->frame = previous;
		return 0;
	}
	p->code = *(volatile __u64 *)&p->frame_bytes[AT(frame_code) & 120] & ~PYTHON_TAGS;
	if (python_code_met(c, kind))
		return 1;
	if (AT(entry) < PYTHON_ENTRY_CFRAME) {
		python_put(p, p->told.key, python_last(p), RUNTIME_FRAME_CODE);
		p->frame = previous;
		if (AT(entry) == PYTHON_ENTRY_CALL_CFRAME)
			return python_called(c, kind);
		python_loop(p, 0);
		return 0;
	}
	instruction = *(volatile __u64 *)&p->frame_bytes[AT(frame_instruction) & 120];
	python_put(p, p->told.key, (__u32)(instruction - p->code - AT(code_instructions)),
	           RUNTIME_FRAME_CODE);
	if (AT(entry) == PYTHON_ENTRY_CFRAME &&
	    *(volatile __u8 *)&p->frame_bytes[AT(frame_entry) & 127] &&
	    python_entered(c, previous, kind))
		return 1;
	p->frame = previous;
	return 0;
}

/* The newest struct _PyCFrame is in place before it knows a frame, and has what was on the stack
 * before: a call of the loop that has not begun. Its caller's is right. A page that may still come
 * is waited for. */
INLINE long python_not_begun(struct walk *c, const int kind)
{
	struct python *p = c->python;
	__u64 previous;

	if (p->out.n != p->begin || p->retried ||
	    (AT(entry) != PYTHON_ENTRY_CFRAME && AT(entry) != PYTHON_ENTRY_FRAME_BY_CFRAME) ||
	    (kind == WALK_NOW && config.defers && ANEW(p->out.end) == KWALK_PYTHON_FAULT) ||
	    walk_read(c, p->cframe + AT(cframe_previous), &previous, 8, kind) || !previous)
		return 1;
	p->retried = 1;
	p->cframe = previous;
	return python_u64(c, previous + AT(cframe_frame), &p->frame, kind);
}

INLINE long python_step(struct walk *c, const int kind)
{
	return python_one(c, kind) ? python_not_begun(c, kind) : 0;
}

#define PYTHON_LOOPS(name, kind)                         \
	static long python_seek_##name(__u32 i, void *c) \
	{                                                \
		return python_seek(c, kind);             \
	}                                                \
	static long python_step_##name(__u32 i, void *c) \
	{                                                \
		return python_step(c, kind);             \
	}
PYTHON_LOOPS(now, WALK_NOW)
PYTHON_LOOPS(sleep, WALK_SLEEP)
PYTHON_LOOPS(task, WALK_TASK)

INLINE void python_seek_all(struct walk *c, const int kind)
{
	if (kind == WALK_NOW)
		bpf_loop(PYTHON_THREADS, python_seek_now, c, 0);
	else if (kind == WALK_SLEEP)
		bpf_loop(PYTHON_THREADS, python_seek_sleep, c, 0);
	else
		bpf_loop(PYTHON_THREADS, python_seek_task, c, 0);
}

INLINE void python_step_all(struct walk *c, const int kind)
{
	if (kind == WALK_NOW)
		bpf_loop(KWALK_PYTHON_ROOM, python_step_now, c, 0);
	else if (kind == WALK_SLEEP)
		bpf_loop(KWALK_PYTHON_ROOM, python_step_sleep, c, 0);
	else
		bpf_loop(KWALK_PYTHON_ROOM, python_step_task, c, 0);
}

/* Finds the thread's state. False: the walk has ended, and p->out.end says why. */
INLINE int python_find(struct walk *c, const int kind)
{
	struct python *p = c->python;

	p->state = p->found = p->found_other = 0;
	p->n_found = 0;
	if (python_u64(c, p->of.runtime + AT(runtime_interpreters), &p->interpreter, kind))
		return 0;
	p->out.end = KWALK_PYTHON_NONE;
	python_seek_all(c, kind);
	if (ANEW(p->out.end))
		return 0;
	/* Calls without marks would not say which interpreter they are of. */
	if (ANEW(p->n_found) > 1 + (AT(entry) >= PYTHON_ENTRY_CFRAME))
		return !python_end(p, KWALK_PYTHON_SEVERAL);
	if (!ANEW(p->found))
		return ANEW(p->state) || ANEW(p->interpreter) ? !python_end(p, KWALK_PYTHON_LIMIT)
		                                              : 0;
	return 1;
}

/* Walks a task's frames of CPython into c->python: its native stack comes afterwards. */
INLINE void python_walk(struct walk *c, struct task_struct *task, const int kind)
{
	struct python *p = c->python;
	__u32 pid = task->tgid;
	struct python_process *of = bpf_map_lookup_elem(&pythons, &pid);
	struct kwalk_changes *changed = bpf_map_lookup_elem(&changes, &pid);

	p->out.end = KWALK_PYTHON_NONE;
	p->out.n = p->out.shifted = p->out.other = p->entries = p->entries_other = 0;
	p->walk++;
	p->low = c->w->regs[REG_SP] - PYTHON_RED_ZONE;
	p->file = 0;
	if (!of || of->execs != (changed ? changed->execs : 0))
		return;
	bpf_probe_read_kernel(&p->of, sizeof(p->of), of);
	if (!AT(version)) {
		p->out.end = KWALK_PYTHON_UNKNOWN;
		return;
	}
	p->out.pid = pid;
	p->out.tid = task->pid;
	p->thread = task->thread.fsbase;
	if (!python_find(c, kind) || python_begin(c, p->found, kind))
		return;
	python_step_all(c, kind);
}

/* Calls of the loop that do not say which frame they run are matched from the outermost on. What
 * does not end there on both sides, or is not as many, has no place. */
INLINE void python_match(struct python *p, __u32 native_end)
{
	if (!p->out.n || AT(entry) >= PYTHON_ENTRY_CFRAME)
		return;
	if (AT(entry) == PYTHON_ENTRY_CALL && p->out.end == KWALK_PYTHON_COMPLETE &&
	    (native_end != KWALK_COMPLETE || ANEW(p->out.shifted) > 1))
		p->out.end = KWALK_PYTHON_APART;
	if (p->out.end != KWALK_PYTHON_COMPLETE)
		p->out.n = 0;
}

/* The frames come before the record `of` in that ring. The native walk has passed the loop's calls,
 * if its stack was whole. Returns how the walk ended, for that record. */
ONCE int python_send(struct python *p, __u64 of, __u32 native_end, __u32 deferred)
{
	__u64 size;
	void *ring;
	struct kwalk_counts *n = count();

	if (!p)
		return KWALK_PYTHON_NONE;
	ring = bpf_map_lookup_elem(&rings, &p->cpu);
	/* What the recorder walks on it matches itself. */
	if (p->out.end == KWALK_PYTHON_COMPLETE && native_end != KWALK_LIMIT &&
	    native_end != KWALK_NO_MAPPING && native_end != KWALK_BAD_RULE &&
	    (ANEW(p->entries) || ANEW(p->entries_other)))
		p->out.end = KWALK_PYTHON_APART;
	python_match(p, native_end);
	size = sizeof(p->out) + (__u64)(p->out.n & (KWALK_PYTHON_ROOM - 1)) * sizeof(p->frames[0]);
	if (n) {
		__sync_fetch_and_add(&n->python_ends[p->out.end & 15], 1);
		__sync_fetch_and_add(&n->python_frames, p->out.n);
	}
	if (!p->out.n || !ring)
		return (__u8)p->out.end;
	p->out.kind = KWALK_PYTHON;
	p->out.of = of;
	p->out.deferred = deferred;
	if (bpf_ringbuf_output(ring, &p->out, size, BPF_RB_NO_WAKEUP))
		return KWALK_PYTHON_NO_ROOM;
	return (__u8)p->out.end;
}

/* The end of a walk that was not made, because all that may sleep are taken. */
INLINE __u8 python_missed(__u32 pid)
{
	if (!config.python || !bpf_map_lookup_elem(&pythons, &pid))
		return KWALK_PYTHON_NONE;
	COUNT(python_ends[KWALK_PYTHON_NO_ROOM]);
	return KWALK_PYTHON_NO_ROOM;
}

/* A child has its parent's memory, until it replaces its program. */
INLINE void python_fork(__u32 from, __u32 to)
{
	struct python_process *of = bpf_map_lookup_elem(&pythons, &from), copy;

	if (!of)
		return;
	copy = *of;
	copy.execs = copy.losses = 0;
	bpf_map_update_elem(&pythons, &to, &copy, BPF_ANY);
}

INLINE struct python *python_get(void)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct python *p = config.python ? bpf_map_lookup_elem(&python_scratches, &cpu) : 0;

	if (p)
		p->cpu = cpu;
	return p;
}

static long python_take_one(__u32 i, void *ctx)
{
	__u32 *number = ctx, key = (bpf_get_smp_processor_id() + i) & (PYTHON_WALKS - 1);
	struct python *p = bpf_map_lookup_elem(&python_walks, &key);

	if (!p || __sync_lock_test_and_set(&p->busy, 1))
		return 0;
	*number = key;
	return 1;
}

/* For a walk that may sleep: python_let must follow. If all are taken it is the one behind them,
 * which never has frames: so that with and without is the same walk for the verifier. */
INLINE struct python *python_take(void)
{
	__u32 key = PYTHON_WALKS;
	struct python *p;

	if (!config.python)
		return 0;
	bpf_loop(PYTHON_WALKS, python_take_one, &key, 0);
	p = bpf_map_lookup_elem(&python_walks, &key);
	if (p) {
		p->none = key == PYTHON_WALKS;
		p->cpu = bpf_get_smp_processor_id();
		p->out.end = KWALK_PYTHON_NONE;
		p->out.n = 0;
	}
	return p;
}

INLINE void python_let(struct python *p)
{
	__sync_lock_test_and_set(&p->busy, 0);
}

#endif
