/* SPDX-License-Identifier: MIT */
/*
 * v8.bpf.h: JavaScript functions in a native stack, by the offsets of the process's V8
 * (runtimes/v8_layout.h).
 *
 * Code that V8 makes, and its builtins, keep frame pointers. A function's frame has its context and
 * the function below its frame pointer, whichever compiler made its code; all other frames have a
 * small even number there. So the native walk asks here at each frame that has no unwind
 * information. Objects may be moved at any time but while their thread stands still: nothing of
 * another walk is believed, and each object is asked for its type.
 */
#ifndef SEAM_CAPTURE_RUNTIME_V8_BPF_H
#define SEAM_CAPTURE_RUNTIME_V8_BPF_H

#define RUNTIME_FRAMES v8_frames
#define RUNTIME_UNDESCRIBED v8_native
#define RUNTIME_OWN_WORDS 4096u
#define RUNTIME_AGAIN

#include "capture/runtime/runtime.bpf.h"
#include "capture/runtime/v8_bytecode.bpf.h"
#include "capture/runtime/v8_compiled.bpf.h"
#include "capture/runtime/v8_frame.bpf.h"

/* The key of a function by a closure, as v8_function, once in a walk. */
INLINE long v8_function_met(struct walk *c, __u64 function, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct runtime_met *m = runtime_met(p, function);
	long r;

	if (m->code == function) {
		p->told.key = m->key;
		return m->key ? 0 : 2;
	}
	r = v8_function(c, function, kind);
	if (r == 1)
		return 1;
	if (r)
		p->told.key = 0;
	else
		v8_tell(c, kind);
	runtime_meet(p, m, function);
	return r;
}

/* An object's own code may have anything where a frame has its function. Where that leads to memory
 * which cannot be read, even by who may sleep, it is none, and the walk goes on. */
INLINE void v8_no_function(struct walk *c, __u32 end)
{
	struct runtime_walk *p = c->runtime;

	if (ANEW(p->out.end) == KWALK_RUNTIME_FAULT && end != KWALK_RUNTIME_FAULT &&
	    !ANEW(V8(p)->is_function) && !(c->w->at.flags & KWALK_MAY_GUESS)) {
		p->out.end = end;
		V8(p)->walk = p->walk;
	}
}

/* The native frame that is being walked runs this function. 1: nothing more is to be asked. */
INLINE long v8_put(struct walk *c, __u64 function, __u64 mark, const int kind)
{
	struct runtime_walk *p = c->runtime;
	__u32 n, at = 0, end = p->out.end;
	long r;

	if (runtime_full(p, kind))
		return 1;
	V8(p)->is_function = 0;
	r = v8_function_met(c, function, kind);
	if (r == 1 && kind == WALK_TASK)
		v8_no_function(c, end);
	/* What waits for a page is walked again. What is no function is left out, and nothing is
	 * amiss where an object's own code has anything else there. */
	if (r == 1 && ANEW(p->out.end) == KWALK_RUNTIME_FAULT)
		return 1;
	if (r == 1 && !(c->w->at.flags & KWALK_MAY_GUESS))
		p->out.end = end;
	if (r == 1)
		return 0;
	if (r)
		return 0;
	if (ANEW(V8(p)->stage) == V8_STANDS && c->w->at.flags & KWALK_MAY_GUESS) {
		at = v8_compiled_at(c, &r, kind);
		if (r)
			return 1;
	}
	/* Before its first call the interpreter does not note where it is. */
	if (ANEW(V8(p)->stage) == V8_STANDS && !(c->w->at.flags & KWALK_MAY_GUESS) &&
	    kind == WALK_NOW && (c->w->n > 2 || ANEW(p->out.n)))
		at = v8_bytecode_at(c, function);
	if (ANEW(p->out.end) == KWALK_RUNTIME_NONE)
		p->out.end = KWALK_RUNTIME_COMPLETE;
	runtime_put(p, p->told.key, at, RUNTIME_FRAME_CODE);
	n = ANEW(p->out.n);
	FORGET(n);
	n &= KWALK_RUNTIME_ROOM - 1;
	runtime_put(p, mark, 0, RUNTIME_FRAME_LOOP);
	p->frames[n].native = (__u16)(c->w->n - 1);
	return 0;
}

/* A frame of code without unwind information is to be left: which function it runs. Returns as
 * walk_by_code does. */
INLINE long v8_look(struct walk *c, const int kind)
{
	struct walker *w = c->w;
	struct v8 *v = V8(c->runtime);

	if (!(w->known & 1u << REG_FP) || w->regs[REG_FP] & 7)
		return 0;
	v->stage = V8_STANDS;
	if (ANEW(w->exact) && ANEW(w->first)) {
		if (kind == WALK_NOW)
			v8_first_now(w, c->runtime);
		else
			v8_first(c, kind);
	}
	if (v8_closure(c, kind) ||
	    (ANEW(v->closure) && v8_put(c, ANEW(v->closure), ANEW(v->mark), kind)))
		v->walk = 0;
	if (ANEW(v->stage) == V8_STANDS || ANEW(v->stage) == V8_LINKED)
		return 0;
	return v8_leave(c, ANEW(v->leave[0]), ANEW(v->leave[1]), ANEW(v->leave[2]));
}

ONCE int v8_look_now(struct walker *w, struct runtime_walk *p)
{
	struct walk c = { .w = w, .runtime = p };

	return w && p ? (int)v8_look(&c, WALK_NOW) : 0;
}

ONCE int v8_look_task(struct walker *w, struct runtime_walk *p, struct task_struct *task TRUSTED)
{
	struct walk c = { .w = w, .runtime = p, .task = task };

	return w && p ? (int)v8_look(&c, WALK_TASK) : 0;
}

INLINE long v8_look_sleep(struct walk *c)
{
	struct runtime_walk *p = c->runtime;
	long r;

	runtime_keep_step(c);
	r = v8_look_now(c->w, p);
	if (!runtime_brought(c)) {
		v8_no_function(c, p->kept_end);
		return r;
	}
	V8(p)->walk = p->walk;
	return 1;
}

INLINE long v8_native(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;

	if (!p || ANEW(V8(p)->walk) != ANEW(p->walk) || !ANEW(p->walk))
		return 0;
	if (kind == WALK_NOW)
		return v8_look_now(c->w, p);
	return kind == WALK_SLEEP ? v8_look_sleep(c) : v8_look_task(c->w, p, c->task);
}

/* The native walk meets the frames. */
INLINE void v8_frames(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct v8 *v = V8(p);

	v->walk = p->walk;
	v->script_of = v->no_table = 0;
#pragma unroll
	for (__u32 i = 0; i < V8_MAPS; i++)
		v->maps[i] = v->known[i].size = 0;
}

#endif
