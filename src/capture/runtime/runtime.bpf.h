/* SPDX-License-Identifier: MIT */
/*
 * runtime.bpf.h: what the walks over interpreters' frames have in common: room for frames and for
 * what is told of their code, how both go into the ring, and how the native stack is met. Each call
 * of the interpreter's loop has something on the C stack that stands in the chain of frames, too:
 * where the walk of the native stack passes that address, the frame it passes is the loop's. Or
 * calls are told by where their code is.
 *
 * A frame's key is made of all that is told of its code, read anew at each sample: so a name is
 * always that of the code that ran, also where an address is used again. Memory that holds anything
 * else ends the walk, and every loop has a limit.
 */
#ifndef SEAM_CAPTURE_RUNTIME_RUNTIME_BPF_H
#define SEAM_CAPTURE_RUNTIME_RUNTIME_BPF_H

#include "capture/bpf/maps.bpf.h"

#define RUNTIME_AT_ONCE 256u /* frames and calls that are walked in the sample itself */
#define RUNTIME_WALKS 16u    /* that may sleep at the same time */
#define RUNTIME_RED_ZONE 128 /* below the stack pointer a function may have data */
#ifndef RUNTIME_OWN_WORDS
#define RUNTIME_OWN_WORDS 128u
#endif

/* A piece of code that this walk has met. While its frames are there it is the same. */
struct runtime_met {
	__u64 code, key, walk;
	__u64 what; /* the runtime's own */
};
#define RUNTIME_MET 64u     /* a power of two */
#define RUNTIME_TELLS 2048u /* likewise */

/* Bytes of an object and of its text that are read at once, behind up to 7 bytes. */
#define RUNTIME_PIECE 160u

/* How calls of the loop are found in the native stack. */
enum runtime_pass {
	RUNTIME_PASS_MARKS, /* a call's mark is an address on the stack */
	RUNTIME_PASS_CALLS, /* a call is a frame in the loop's code */
	/* likewise, and a register has the newest frame of the interpreter that it runs, which is
	 * its mark */
	RUNTIME_PASS_FRAMES,
	/* the runtime notes them itself (RUNTIME_PASSES): runtimes/kinds.h matches them */
	RUNTIME_PASS_OWN,
};

struct runtime_walk {
	__u32 busy, cpu;
	__u32 none;    /* room for no frames, which several walks may have at a time */
	__u32 several; /* the process maps other interpreters, whose frames nobody walks here */
	struct runtime_process process;
	__u64 thread; /* the thread pointer: what pthread_self() gives */
	__u64 low;    /* below it are the native frames that were passed */
	__u64 hash;
	/* RUNTIME_PASS_CALLS: where the loop's code is, and the part of it that rarely runs */
	__u64 loop, loop_bytes, cold, cold_bytes;
	/* RUNTIME_PASS_FRAMES: the register in the native frame that is passed next, or where it
	 * was saved */
	__u64 kept;
	__u32 kept_known, kept_saved;
	__u32 kept_apart; /* code without an object was passed, which may be a call of the loop */
	__u32 kept_own;   /* the frame that is passed next is the loop's: it jumped to made code */
	__u32 pass;       /* enum runtime_pass */
	__u32 whole;      /* frames are of use only if the walk found all */
	__u32 sleeps;     /* this walk may sleep */
	__u32 kept_n, kept_end, kept_native_end; /* before the step that is being made */
	/* 1 + the index of the next call of the loop that no native frame has passed;
	 * entries_other: of the other interpreter's */
	__u32 entries, entries_other, last;
	__u32 word, known; /* known: runtime_known.bpf.h */
	unsigned char head[64];
	__u64 walk; /* number of this walk */
	struct runtime_met met[RUNTIME_MET];
	__u64 piece_bytes, piece[RUNTIME_PIECE / 8 + 1];
	__u64 own[RUNTIME_OWN_WORDS]; /* the runtime's own struct */
	struct kwalk_code told;
	struct kwalk_runtime out; /* with its frames behind it */
	struct runtime_frame frames[KWALK_RUNTIME_ROOM];
	__u64 tells[RUNTIME_TELLS]; /* keys, with their CPU, that are in `codes` */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY); /* by CPU: too large for an array of that kind */
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct runtime_walk);
} runtime_scratches SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, RUNTIME_WALKS + 1);
	__type(key, __u32);
	__type(value, struct runtime_walk);
} runtime_walks SEC(".maps");

INLINE long runtime_end(struct runtime_walk *p, __u32 end)
{
	p->out.end = end;
	return 1;
}

INLINE long runtime_u64(struct walk *c, __u64 address, __u64 *ret, const int kind)
{
	if (walk_read(c, address, ret, 8, kind))
		return runtime_end(c->runtime, KWALK_RUNTIME_FAULT);
	return 0;
}

/* A step of a walk, as bpf_loop calls it: of each kind of reading memory its own. */
#define RUNTIME_LOOP(step, most)                               \
	static long step##_now(__u32 i, void *c)               \
	{                                                      \
		return step(c, WALK_NOW);                      \
	}                                                      \
	static long step##_sleep(__u32 i, void *c)             \
	{                                                      \
		return step(c, WALK_SLEEP);                    \
	}                                                      \
	static long step##_task(__u32 i, void *c)              \
	{                                                      \
		return step(c, WALK_TASK);                     \
	}                                                      \
	INLINE void step##_all(struct walk *c, const int kind) \
	{                                                      \
		if (kind == WALK_NOW)                          \
			bpf_loop(most, step##_now, c, 0);      \
		else if (kind == WALK_SLEEP)                   \
			bpf_loop(most, step##_sleep, c, 0);    \
		else                                           \
			bpf_loop(most, step##_task, c, 0);     \
	}

/* ---- frames ---- */

/* A frame, or a call of the loop. */
INLINE void runtime_put(struct runtime_walk *p, __u64 key, __u32 at, __u32 what)
{
	__u32 n = p->out.n;

	if (n >= KWALK_RUNTIME_ROOM - 1)
		return;
	FORGET(n);
	n &= KWALK_RUNTIME_ROOM - 1;
	p->frames[n].key = key;
	p->frames[n].at = at;
	p->frames[n].what = (__u16)what;
	p->frames[n].native = RUNTIME_FRAME_NOWHERE;
	p->out.n = n + 1;
}

/* A call of the loop, which runs the frames since the last one, with its mark on the C stack. Marks
 * of callers lie higher. */
INLINE void runtime_loop(struct runtime_walk *p, __u64 mark)
{
	__u32 n = p->out.n, last = p->last;

	runtime_put(p, mark, 0, RUNTIME_FRAME_LOOP);
	if (!last) {
		p->entries = n + 1;
	} else {
		last = (last - 1) & (KWALK_RUNTIME_ROOM - 1);
		p->frames[last].at = n + 1;
	}
	p->last = n + 1;
}

/* Whether no more frames are to be taken here. */
INLINE long runtime_full(struct runtime_walk *p, const int kind)
{
	if (p->out.n >= KWALK_RUNTIME_ROOM - 2)
		return runtime_end(p, KWALK_RUNTIME_LIMIT);
	if (kind == WALK_NOW && !ANEW(p->sleeps) && config.defers && config.when != KWALK_NEVER &&
	    p->out.n >= RUNTIME_AT_ONCE)
		return runtime_end(p, KWALK_RUNTIME_FAULT);
	return 0;
}

/* ---- code ---- */

INLINE __u64 runtime_mix(__u64 hash, __u64 word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
	return hash ^ hash >> 32;
}

static long runtime_mix_word(__u32 i, void *ctx)
{
	struct runtime_walk *p = ((struct walk *)ctx)->runtime;
	__u32 at = ANEW(p->word) + i;

	if (at >= KWALK_CODE_WORDS)
		return 1;
	p->hash = runtime_mix(p->hash, p->told.text[at]);
	return 0;
}

/* Reads a text of so many bytes into what is told, behind `first` bytes of it and no more than
 * `most`, and mixes it into p->hash. */
INLINE long runtime_text(struct walk *c, __u64 address, __u64 bytes, __u32 width,
                         struct kwalk_code_text *text, const __u32 first, const __u32 most,
                         const int kind)
{
	struct runtime_walk *p = c->runtime;
	__u32 n = bytes > most ? most : (__u32)bytes;

	text->width = width;
	text->cut = bytes > most;
	text->bytes = n;
	p->hash = runtime_mix(p->hash, bytes << 8 | width);
	p->told.text[first / 8 + ((n >> 3) & (most / 8 - 1))] = 0;
	FORGET(n);
	if (n > most)
		return runtime_end(p, KWALK_RUNTIME_BUILDING);
	if (n && walk_read(c, address, (void *)&p->told.text[first / 8], n, kind))
		return runtime_end(p, KWALK_RUNTIME_FAULT);
	p->word = first / 8;
	bpf_loop((n + 7) >> 3, runtime_mix_word, c, 0);
	return 0;
}

/*
 * The same hash of a text by one read of it and of the object around it: most code was told, so
 * that its text is of no use but for the key. Whoever cannot make the key so, or has one that was
 * not told, reads all as it is told. Reads an object whose text begins behind `first` bytes: these
 * are where runtime_piece_at() says. Non-0: it does not lie so, or may not be all in memory.
 */
INLINE long runtime_piece(struct runtime_walk *p, __u64 address, __u32 first)
{
	__u32 before = -first & 7;

	FORGET(before);
	before &= 7;
	p->piece_bytes = (before + (__u64)first) & 127;
	return first > 64 ||
	       bpf_probe_read_user((char *)p->piece + before, RUNTIME_PIECE, (void *)address);
}

static long runtime_piece_word(__u32 i, void *ctx)
{
	struct runtime_walk *p = ((struct walk *)ctx)->runtime;
	__u32 at = ANEW(p->word) + i;

	if (at >= RUNTIME_PIECE / 8)
		return 1;
	p->hash = runtime_mix(p->hash, p->piece[at]);
	return 0;
}

/* Mixes n bytes of the text of what was read so into p->hash, as runtime_text() does. `most`: as
 * there. */
INLINE long runtime_piece_text(struct walk *c, __u64 n, __u32 width, const __u32 most)
{
	struct runtime_walk *p = c->runtime;
	__u64 first = ANEW(p->piece_bytes), end = (first + n) >> 3;

	if (n > most || first + n > RUNTIME_PIECE)
		return 1;
	p->hash = runtime_mix(p->hash, n << 8 | width);
	FORGET(end);
	if (end > RUNTIME_PIECE / 8)
		return 1;
	p->piece[end] &= (1ull << (n & 7) * 8) - 1;
	p->word = (__u32)first >> 3;
	bpf_loop((__u32)(n + 7) >> 3, runtime_piece_word, c, 0);
	return 0;
}

/* Whether the code with the key p->told.key was told on this CPU. A key means the same for ever: so
 * those that were found last need not be looked up again. */
INLINE int runtime_told(struct runtime_walk *p)
{
	struct kwalk_code_known known = { .key = p->told.key };
	__u64 told = runtime_mix(p->told.key, ANEW(p->cpu));
	__u32 at = (__u32)told & (RUNTIME_TELLS - 1);

	FORGET(at);
	at &= RUNTIME_TELLS - 1;
	if (p->tells[at] == told)
		return 1;
	known.cpu = p->cpu;
	if (!bpf_map_lookup_elem(&codes, &known))
		return 0;
	p->tells[at] = told;
	return 1;
}

/* Sends what is told of a piece of code, with n bytes in place that its lines are found by. */
INLINE long runtime_tell_filled(struct runtime_walk *p, __u32 n, __u32 form)
{
	struct kwalk_code_known known = { .key = p->told.key };
	__u64 size;
	__u32 one = 1;
	void *ring;

	known.cpu = p->cpu;
	FORGET(n);
	if (n > KWALK_CODE_LINES)
		return 0;
	size = __builtin_offsetof(struct kwalk_code, lines) + (__u64)n;
	p->told.kind = KWALK_CODE;
	p->told.runtime = RUNTIME_KIND;
	p->told.pid = p->out.pid;
	p->told.time_ns = bpf_ktime_get_ns();
	p->told.n_lines = (__u16)n;
	p->told.lines_form = (__u8)form;
	ring = bpf_map_lookup_elem(&rings, &p->cpu);
	if (!ring || bpf_ringbuf_output(ring, &p->told, size, ring_flags(ring, size)))
		COUNT(code_full);
	else
		bpf_map_update_elem(&codes, &known, &one, BPF_ANY);
	return 0;
}

/* The same, and reads those bytes first. */
INLINE long runtime_tell(struct walk *c, __u64 lines, __u32 n, __u32 form, const int kind)
{
	struct runtime_walk *p = c->runtime;

	FORGET(n);
	if (n > KWALK_CODE_LINES)
		return 0;
	if (n && walk_read(c, lines, p->told.lines, n, kind))
		return runtime_end(p, KWALK_RUNTIME_FAULT);
	return runtime_tell_filled(p, n, form);
}

/* What this walk found before at that address: the functions of deep stacks are few. met->code is
 * code if it did; else the caller sets all three. */
INLINE struct runtime_met *runtime_met(struct runtime_walk *p, __u64 code)
{
	__u32 at = (__u32)(code >> 4 ^ code >> 10) & (RUNTIME_MET - 1);
	struct runtime_met *m;

	FORGET(at);
	m = &p->met[at & (RUNTIME_MET - 1)];
	if (m->code != code || m->walk != ANEW(p->walk))
		m->code = 0;
	return m;
}

INLINE void runtime_meet(struct runtime_walk *p, struct runtime_met *m, __u64 code)
{
	m->code = code;
	m->key = p->told.key;
	m->walk = p->walk;
}

/* ---- the native stack ---- */

INLINE int runtime_in_loop(struct runtime_walk *p, __u64 pc)
{
	return pc - ANEW(p->loop) < ANEW(p->loop_bytes) || pc - ANEW(p->cold) < ANEW(p->cold_bytes);
}

/* The native frame number n is a call of the loop. Calls are as many as in the chain of frames, or
 * one more, if the innermost has no frame yet. */
INLINE void runtime_pass_call(struct runtime_walk *p, __u32 n, __u64 pc)
{
	__u32 i = *(volatile __u32 *)&p->entries - 1;

	if (!runtime_in_loop(p, pc))
		return;
	if (i >= KWALK_RUNTIME_ROOM) {
		p->out.shifted++;
		i = p->out.n;
		runtime_put(p, 0, 0, RUNTIME_FRAME_LOOP);
	}
	FORGET(i);
	i &= KWALK_RUNTIME_ROOM - 1;
	p->frames[i].native = (__u16)n;
	p->entries = p->frames[i].at;
}

/* A mark stands in the frame between low and sp: one that stands lower was passed already, and is
 * no mark. */
INLINE void runtime_pass_mark(struct runtime_walk *p, __u32 *entries, __u32 n, __u64 sp)
{
	__u32 i = *(volatile __u32 *)entries - 1;

	if (i >= KWALK_RUNTIME_ROOM)
		return;
	FORGET(i);
	i &= KWALK_RUNTIME_ROOM - 1;
	if (p->frames[i].key >= sp || p->frames[i].key < *(volatile __u64 *)&p->low)
		return;
	p->frames[i].native = (__u16)n;
	*(volatile __u32 *)entries = p->frames[i].at;
}

#ifdef RUNTIME_REGISTER
/* Whether the call of the loop that has this frame is one without frames, as the next one of the
 * chain has the one that is expected: the runtime's own file has it. */
INLINE int runtime_is_left(struct runtime_walk *p, __u64 frame, __u64 expected);

/* Whether the call of the loop outwards of the one at i has this frame. */
INLINE int runtime_is_next(struct runtime_walk *p, __u32 i, __u64 frame)
{
	__u32 next = p->frames[i].at - 1;

	if (next >= KWALK_RUNTIME_ROOM)
		return 0;
	FORGET(next);
	next &= KWALK_RUNTIME_ROOM - 1;
	return p->frames[next].key == frame;
}

/* The native frame number n is a call of the loop, or none. */
INLINE void runtime_pass_frame(struct runtime_walk *p, __u32 n, __u64 pc)
{
	__u32 i = ANEW(p->entries) - 1;
	__u64 frame = ANEW(p->kept);

	if ((!runtime_in_loop(p, pc) && !ANEW(p->kept_own)) || i >= KWALK_RUNTIME_ROOM)
		return;
	FORGET(i);
	i &= KWALK_RUNTIME_ROOM - 1;
	if (ANEW(p->kept_saved) && bpf_probe_read_user(&frame, sizeof(frame), (void *)frame))
		p->kept_known = 0;
	if (ANEW(p->kept_known) && frame != p->frames[i].key) {
		if (runtime_is_left(p, frame, p->frames[i].key))
			return;
		/* Made, but not run yet: this call is that of the frames outwards of them. */
		if (n && runtime_is_next(p, i, frame)) {
			p->whole = 1;
			return;
		}
	}
	/* Then only this one's own frame says that it is not one further outwards. */
	if (ANEW(p->kept_apart) && (!ANEW(p->kept_known) || frame != p->frames[i].key))
		return;
	p->frames[i].native = (__u16)n;
	p->entries = p->frames[i].at;
}

/* What the register is in the next frame outwards. */
INLINE void runtime_keep(struct runtime_walk *p, const struct walker *w)
{
	p->kept = w->regs[RUNTIME_REGISTER];
	p->kept_known = w->known >> RUNTIME_REGISTER & 1;
	p->kept_saved = w->saved >> RUNTIME_REGISTER & 1;
}
#endif

#ifdef RUNTIME_PASSES
/* The native frame number n, which has that pc and ends at sp, was walked: the runtime's own file
 * has it. */
INLINE void RUNTIME_PASSES(struct runtime_walk *p, __u32 n, __u64 pc, __u64 sp);
/* The recorder walks the native stack: it is given what it needs to do the same. */
INLINE void RUNTIME_LEFT(struct runtime_walk *p);
#endif

/* The native frame number n was walked: w is at its caller, and its pc is still that frame's. If
 * the next call of the loop has its mark in it, it is that call. */
ONCE int runtime_pass(struct runtime_walk *p, __u32 n, struct walker *w)
{
	__u64 pc, sp;

	if (!p || !w)
		return 0;
	pc = ANEW(w->pc);
	sp = ANEW(w->regs[REG_SP]);
#ifdef RUNTIME_PASSES
	if (ANEW(p->pass) == RUNTIME_PASS_OWN) {
		RUNTIME_PASSES(p, n, pc, sp);
		return 0;
	}
#endif
#ifdef RUNTIME_REGISTER
	if (ANEW(p->pass) == RUNTIME_PASS_FRAMES) {
		runtime_pass_frame(p, n, pc);
		runtime_keep(p, w);
		if (ANEW(w->found) && w->at.flags & KWALK_MAY_GUESS)
			p->kept_apart = 1;
		p->kept_own = 0;
		return 0;
	}
#endif
	if (*(volatile __u32 *)&p->pass == RUNTIME_PASS_CALLS) {
		if (*(volatile __u32 *)&p->out.n)
			runtime_pass_call(p, n, pc);
		return 0;
	}
	runtime_pass_mark(p, &p->entries, n, sp);
	runtime_pass_mark(p, &p->entries_other, n, sp);
	p->low = sp;
	return 0;
}

/* Calls of the loop that do not say which frame they run are matched from the outermost on. What
 * does not end there on both sides, or is not as many, has no place. */
INLINE void runtime_match(struct runtime_walk *p, __u32 native_end)
{
	if (!p->out.n || !ANEW(p->whole))
		return;
	if (ANEW(p->pass) == RUNTIME_PASS_CALLS && p->out.end == KWALK_RUNTIME_COMPLETE &&
	    (native_end != KWALK_COMPLETE || ANEW(p->out.shifted) > 1))
		p->out.end = KWALK_RUNTIME_APART;
#ifdef RUNTIME_PASSES
	if (ANEW(p->pass) == RUNTIME_PASS_OWN && p->out.end == KWALK_RUNTIME_COMPLETE &&
	    (native_end == KWALK_NO_MAPPING || native_end == KWALK_BAD_RULE))
		RUNTIME_LEFT(p);
	else if (ANEW(p->pass) == RUNTIME_PASS_OWN && p->out.end == KWALK_RUNTIME_COMPLETE &&
	         native_end != KWALK_COMPLETE)
		p->out.end = KWALK_RUNTIME_APART;
#endif
	if (p->out.end != KWALK_RUNTIME_COMPLETE)
		p->out.n = 0;
}

/* The frames come before the record `of` in that ring. The native walk has passed the loop's calls,
 * if its stack was whole. Returns how the walk ended, for that record. */
ONCE int runtime_send(struct runtime_walk *p, __u64 of, __u32 native_end, __u32 deferred)
{
	__u64 size;
	void *ring;
	struct kwalk_counts *n = count();

	if (!p)
		return KWALK_RUNTIME_NONE;
	ring = bpf_map_lookup_elem(&rings, &p->cpu);
	/* What the recorder walks on it matches itself, and of PHP and Ruby what ends at code that
	 * nothing describes. */
	if (p->out.end == KWALK_RUNTIME_COMPLETE && native_end != KWALK_LIMIT &&
	    ((RUNTIME_KIND != RUNTIME_PHP && RUNTIME_KIND != RUNTIME_RUBY) ||
	     (native_end != KWALK_NO_TABLE && native_end != KWALK_NO_RULE)) &&
	    native_end != KWALK_NO_MAPPING && native_end != KWALK_BAD_RULE &&
	    ((ANEW(p->entries) &&
	      (!ANEW(p->out.behind) || ANEW(p->entries) <= ANEW(p->out.behind))) ||
	     ANEW(p->entries_other)))
		p->out.end = KWALK_RUNTIME_APART;
	runtime_match(p, native_end);
	if (ANEW(p->several) && p->out.end <= KWALK_RUNTIME_COMPLETE)
		p->out.end = KWALK_RUNTIME_SEVERAL;
	size = sizeof(p->out) + (__u64)(p->out.n & (KWALK_RUNTIME_ROOM - 1)) * sizeof(p->frames[0]);
	if (n) {
		__sync_fetch_and_add(&n->runtime_ends[p->out.end & 15], 1);
		__sync_fetch_and_add(&n->runtime_frames, p->out.n);
	}
	if (!p->out.n || !ring)
		return (__u8)p->out.end;
	p->out.kind = KWALK_RUNTIME;
	p->out.of = of;
	p->out.deferred = deferred;
	p->out.runtime = RUNTIME_KIND;
	if (bpf_ringbuf_output(ring, &p->out, size, BPF_RB_NO_WAKEUP))
		return KWALK_RUNTIME_NO_ROOM;
	return (__u8)p->out.end;
}

/* ---- a walk ---- */

/* Fills c->runtime with a task's frames, the innermost first: the runtime's own file has it. */
INLINE void RUNTIME_FRAMES(struct walk *c, const int kind);

/* Walks a task's frames into c->runtime: its native stack comes afterwards. */
INLINE void runtime_walk(struct walk *c, struct task_struct *task, const int kind)
{
	struct runtime_walk *p = c->runtime;
	__u32 pid = task->tgid;
	struct runtime_process *of;

	p->out.end = KWALK_RUNTIME_NONE;
	p->out.n = p->out.shifted = p->out.other = p->out.behind = 0;
	p->entries = p->entries_other = p->last = 0;
	p->pass = RUNTIME_PASS_MARKS;
	p->whole = 0;
	p->sleeps = kind != WALK_NOW;
	p->walk++;
	p->several = 0;
	p->low = c->w->regs[REG_SP] - RUNTIME_RED_ZONE;
	of = runtime_of(pid);
	if (of && of->of.kind != RUNTIME_KIND)
		of = runtime_other_of(of, pid, RUNTIME_KIND);
	if (!of)
		return;
	bpf_probe_read_kernel(&p->process, sizeof(p->process), of);
	if (ANEW(p->process.of.kind) != RUNTIME_KIND)
		return;
	if (!ANEW(p->process.of.known)) {
		p->out.end = KWALK_RUNTIME_UNKNOWN;
		return;
	}
	p->out.pid = pid;
	p->out.tid = task->pid;
	p->thread = task->thread.fsbase;
	/* Before libc has given it one, the program's loader runs, and no interpreter. */
	if (!ANEW(p->thread))
		return;
	RUNTIME_FRAMES(c, kind);
#ifdef RUNTIME_REGISTER
	p->kept_apart = p->kept_own = 0;
	runtime_keep(p, c->w);
#endif
}

/*
 * Where a walk may sleep, a step of these runtimes is the one that may not, which the verifier goes
 * through once and by itself (RUNTIME_AGAIN). What it could not read is brought in, and the step
 * made again: what it changed before it failed is put back here, or it makes it anew.
 */
INLINE void runtime_keep_step(struct walk *c)
{
	struct runtime_walk *p = c->runtime;

	p->kept_n = p->out.n;
	p->kept_end = p->out.end;
	p->kept_native_end = c->w->end;
	c->w->missing_bytes = 0;
}

/* Brings in what the step missed, which is in two pages at most. 1: it is there, and the same step
 * comes next. */
INLINE int runtime_brought(struct walk *c)
{
	struct runtime_walk *p = c->runtime;
	struct walker *w = c->w;
	__u8 byte;

	if (!ANEW(w->missing_bytes) || bpf_copy_from_user(&byte, 1, (void *)ANEW(w->missing)) ||
	    bpf_copy_from_user(&byte, 1, (void *)(ANEW(w->missing) + ANEW(w->missing_bytes) - 1)))
		return 0;
	p->out.n = p->kept_n;
	p->out.end = p->kept_end;
	w->end = p->kept_native_end;
	w->n--;
	return 1;
}

/* ---- where walks are kept ---- */

/* Whether the process's tasks are another kind's, or nobody's. */
INLINE int runtime_is_others(__u32 pid)
{
	struct runtime_process *of = runtime_of(pid);

	return !of || !of->of.known || of->of.kind != RUNTIME_KIND;
}

/* Whether the walk is to be made again where it may sleep. */
INLINE int runtime_waits(struct runtime_walk *p)
{
	return p->out.end == KWALK_RUNTIME_FAULT;
}

/* Whether the walk has found frames, or something is where it could not read. */
INLINE int runtime_any(struct runtime_walk *p)
{
	return p->out.n || runtime_waits(p);
}

/* Whether the native stack may have a place for frames that were found, or has some itself. */
INLINE int runtime_needs_native(struct runtime_walk *p)
{
#ifdef RUNTIME_AGAIN
	return 1;
#else
	return runtime_any(p);
#endif
}

INLINE __u32 runtime_cpu(struct runtime_walk *p)
{
	return p->cpu;
}

/* The end of a walk that was not made, because all that may sleep are taken. */
INLINE __u8 runtime_missed(__u32 pid)
{
	if (!runtime_of(pid))
		return KWALK_RUNTIME_NONE;
	COUNT(runtime_ends[KWALK_RUNTIME_NO_ROOM]);
	return KWALK_RUNTIME_NO_ROOM;
}

INLINE struct runtime_walk *runtime_get(void)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct runtime_walk *p = bpf_map_lookup_elem(&runtime_scratches, &cpu);

	if (p)
		p->cpu = cpu;
	return p;
}

static long runtime_take_one(__u32 i, void *ctx)
{
	__u32 *number = ctx, key = (bpf_get_smp_processor_id() + i) & (RUNTIME_WALKS - 1);
	struct runtime_walk *p = bpf_map_lookup_elem(&runtime_walks, &key);

	if (!p || __sync_lock_test_and_set(&p->busy, 1))
		return 0;
	*number = key;
	return 1;
}

/* For a walk that may sleep: runtime_let must follow. If all are taken it is the one behind them,
 * which never has frames: so that with and without is the same walk for the verifier. */
INLINE struct runtime_walk *runtime_take(void)
{
	__u32 key = RUNTIME_WALKS;
	struct runtime_walk *p;

	bpf_loop(RUNTIME_WALKS, runtime_take_one, &key, 0);
	p = bpf_map_lookup_elem(&runtime_walks, &key);
	if (p) {
		p->none = key == RUNTIME_WALKS;
		p->cpu = bpf_get_smp_processor_id();
		p->out.end = KWALK_RUNTIME_NONE;
		p->out.n = 0;
	}
	return p;
}

INLINE void runtime_let(struct runtime_walk *p)
{
	__sync_lock_test_and_set(&p->busy, 0);
}

#endif
