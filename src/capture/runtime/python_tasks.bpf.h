/* SPDX-License-Identifier: MIT */
/*
 * python_tasks.bpf.h: who awaits the task of asyncio that runs (3.14 and later, which note it): the
 * frames of that task's coroutines, then those of who awaits it in turn. They stand behind the
 * outermost frame of the task that runs, and have keys of their own, for they are on no stack.
 *
 * It is said only where one awaits: of several none is the caller. What does not look like a task,
 * or a coroutine that waits, ends it there, and the walk goes on.
 */
#ifndef SEAM_CAPTURE_RUNTIME_PYTHON_TASKS_BPF_H
#define SEAM_CAPTURE_RUNTIME_PYTHON_TASKS_BPF_H

#define PYTHON_AWAITERS 16u /* tasks, one awaiting the other */
/* Steps that all of them take at most: to each, to each of its coroutines, and a frame for each. */
#define PYTHON_AWAITER_STEPS (PYTHON_AWAITERS * (2 * PYTHON_AWAITED + 3))
#define PYTHON_OBJECT 144u     /* bytes of a task, or of a coroutine up to its frame */
#define PYTHON_IS_TASK 0x0001u /* of a task's flags: it is one, and one awaits it */
#define PYTHON_IS_SET 0x0101u  /* likewise, and what awaits it is a set */
#define PYTHON_SET_MASK 7u     /* of a set that has few */

/* What the next step does. */
enum python_phase {
	PYTHON_WALKS,    /* a frame of the thread */
	PYTHON_ENTERS,   /* goes to the task that awaits the last one */
	PYTHON_DESCENDS, /* from a coroutine to the one that it awaits */
	PYTHON_PUTS,     /* a frame of these, the innermost first */
};

/* Nothing more is said of who awaits. A page that may still come is waited for. */
INLINE long python_awaited_end(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;

	PY(p)->phase = PYTHON_WALKS;
	PY(p)->awaits = 0;
	if (kind == WALK_NOW && config.defers && ANEW(p->out.end) == KWALK_RUNTIME_FAULT)
		return 1;
	p->out.end = KWALK_RUNTIME_NONE;
	return 0;
}

INLINE long python_object(struct walk *c, __u64 address, const int kind)
{
	struct runtime_walk *p = c->runtime;

	if (walk_read(c, address + AT(object_more), PY(p)->object, PYTHON_OBJECT, kind))
		return runtime_end(p, KWALK_RUNTIME_FAULT);
	return 0;
}

/* A word or a byte of the object that was read. */
#define PYTHON_OBJECT_WORD(py, at) (*(volatile __u64 *)&(py)->object[(at)&248])
#define PYTHON_OBJECT_BYTE(py, at) (*(volatile __u8 *)&(py)->object[(at)&255])
#define PYTHON_OBJECT_FLAGS(py, at) (*(volatile __u16 *)&(py)->object[(at)&254])

/* The one of the set that awaits, if it has one only: whoever waits for a task twice is put into
 * one. What was taken out of it has -1 for its hash. */
INLINE long python_only(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct python *py = PY(p);
	__u64 only = 0, table;

	if (python_object(c, py->awaiter, kind))
		return 1;
	table = PYTHON_OBJECT_WORD(py, AT(set_table));
	py->awaiter = 0;
	if (PYTHON_OBJECT_WORD(py, AT(set_used)) != 1 ||
	    PYTHON_OBJECT_WORD(py, AT(set_mask)) != PYTHON_SET_MASK)
		return 0;
	if (walk_read(c, table, py->object, (PYTHON_SET_MASK + 1) * 16, kind))
		return runtime_end(p, KWALK_RUNTIME_FAULT);
	for (__u32 i = 0; i <= PYTHON_SET_MASK; i++) {
		__u64 is = PYTHON_OBJECT_WORD(py, i * 16 + 8) != ~0ull;

		only |= PYTHON_OBJECT_WORD(py, i * 16) & -is;
		FORGET(only);
	}
	py->awaiter = only;
	return 0;
}

/* Who awaits the task that was read into the object. */
INLINE long python_awaiter(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct python *py = PY(p);
	__u32 flags = PYTHON_OBJECT_FLAGS(py, AT(task_flags));

	py->awaiter = PYTHON_OBJECT_WORD(py, AT(task_awaited_by));
	if (ANEW(py->awaiter) && flags == PYTHON_IS_SET)
		return python_only(c, kind);
	if (flags != PYTHON_IS_TASK)
		py->awaiter = 0;
	return 0;
}

/* Whether the type is called _asyncio.Task: then a task of it has what the layout says. */
INLINE int python_is_task_type(struct walk *c, __u64 type, const int kind)
{
	struct runtime_walk *p = c->runtime;
	__u64 name = 0;

	*(volatile __u64 *)&p->head[8] = 0;
	return !runtime_u64(c, type + AT(type_name), &name, kind) &&
	       !walk_read(c, name, p->head, sizeof("_asyncio.Task"), kind) &&
	       *(volatile __u64 *)&p->head[0] == 0x6f69636e7973615full && /* "_asyncio" */
	       *(volatile __u64 *)&p->head[8] == 0x6b7361542eull;         /* ".Task" */
}

/* Where the frame of the task is that the thread runs, if one other awaits it. */
INLINE long python_task(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct python *py = PY(p);
	__u64 task = 0, frame;

	py->runs = PYTHON_NO_TASK;
	if (runtime_u64(c, py->thread + AT(thread_task), &task, kind))
		return 1;
	if (!task)
		return 0;
	if (python_object(c, task, kind))
		return 1;
	py->task_type = PYTHON_OBJECT_WORD(py, 8);
	frame = PYTHON_OBJECT_WORD(py, AT(task_coroutine)) + AT(object_more) + AT(coroutine_frame);
	if (python_awaiter(c, kind))
		return 1;
	if (!ANEW(py->awaiter) || !python_is_task_type(c, py->task_type, kind))
		return 0;
	py->met_task = task;
	py->n_tasks = 0;
	py->runs = frame;
	return 0;
}

/* A frame of a generator or a coroutine was taken. */
INLINE long python_awaited(struct walk *c, __u64 frame, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct python *py = PY(p);

	if (!ANEW(py->runs) && python_task(c, kind))
		return python_awaited_end(c, kind);
	if (ANEW(py->runs) == frame)
		py->phase = PYTHON_ENTERS;
	return 0;
}

/* Goes to the task that awaits. One that was met before awaits itself, by way of others. */
INLINE long python_enter(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct python *py = PY(p);
	__u64 task = py->awaiter;
	__u32 n = py->n_tasks++;

	if (!task || task == ANEW(py->met_task) || n >= PYTHON_AWAITERS ||
	    python_object(c, task, kind))
		return python_awaited_end(c, kind);
	if (!(n & (n + 1)))
		py->met_task = task;
	if (PYTHON_OBJECT_WORD(py, 8) != ANEW(py->task_type) ||
	    PYTHON_OBJECT_BYTE(py, AT(task_flags)) != (PYTHON_IS_TASK & 0xff))
		return python_awaited_end(c, kind);
	py->coroutine = PYTHON_OBJECT_WORD(py, AT(task_coroutine));
	if (python_awaiter(c, kind))
		return python_awaited_end(c, kind);
	py->n_awaited = 0;
	py->awaits = 1;
	py->phase = PYTHON_DESCENDS;
	return 0;
}

/* Notes a coroutine that waits, and goes to what it awaits. That is a future in the end. */
INLINE long python_descend(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct python *py = PY(p);
	__u64 at = py->coroutine, type, first;
	__u32 n = py->n_awaited;
	__u8 awaits;

	if (python_object(c, at, kind))
		return python_awaited_end(c, kind);
	type = PYTHON_OBJECT_WORD(py, 8);
	if (type != ADDRESS(PYTHON_COROUTINE_TYPE) && type != ADDRESS(PYTHON_GENERATOR_TYPE) &&
	    type != ADDRESS(PYTHON_ASYNC_GENERATOR_TYPE) && type != ADDRESS(PYTHON_ASEND_TYPE)) {
		if (!n)
			return python_awaited_end(c, kind);
		py->phase = PYTHON_PUTS;
		return 0;
	}
	if (n >= PYTHON_AWAITED)
		return python_awaited_end(c, kind);
	FORGET(n);
	n &= PYTHON_AWAITED - 1;
	if (type == ADDRESS(PYTHON_ASEND_TYPE)) { /* leads to an asynchronous generator */
		py->coroutine = PYTHON_OBJECT_WORD(py, 16);
		py->awaited[n] = 0;
		py->n_awaited = n + 1;
		return 0;
	}
	/* 0: it waits; 1: for another one; else it does not wait, as it does on no stack */
	awaits = PYTHON_OBJECT_BYTE(py, AT(coroutine_state)) - (__u8)AT(state_awaits) + 1;
	if (awaits > 1 || python_frame(c, at + AT(object_more) + AT(coroutine_frame), kind) ||
	    python_code_met(c, kind) || python_instructions(c, &first, kind))
		return python_awaited_end(c, kind);
	py->awaited[n] = p->told.key;
	py->awaited_at[n] = (__u32)(PYTHON_FRAME_WORD(py, AT(frame_instruction)) - first);
	py->n_awaited = n + 1;
	if (!awaits) {
		py->phase = PYTHON_PUTS;
		return 0;
	}
	if (runtime_u64(c, PYTHON_FRAME_WORD(py, AT(frame_stack)) - AT(awaited_below),
	                &py->coroutine, kind))
		return python_awaited_end(c, kind);
	py->coroutine &= ~PYTHON_TAGS;
	return 0;
}

/* Puts the innermost frame that was noted. */
INLINE long python_awaited_put(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct python *py = PY(p);
	__u32 n = py->n_awaited - 1;

	if (n >= PYTHON_AWAITED) {
		py->awaits = 0;
		py->phase = ANEW(py->awaiter) ? PYTHON_ENTERS : PYTHON_WALKS;
		return 0;
	}
	if (runtime_full(p, kind))
		return 1;
	py->n_awaited = n;
	FORGET(n);
	n &= PYTHON_AWAITED - 1;
	if (ANEW(py->awaited[n]))
		runtime_put(p, py->awaited[n], py->awaited_at[n], RUNTIME_FRAME_CODE);
	return 0;
}

/* One step of these. */
INLINE long python_awaiting(struct walk *c, const int kind)
{
	__u32 phase = ANEW(PY(c->runtime)->phase);

	if (phase == PYTHON_ENTERS)
		return python_enter(c, kind);
	if (phase == PYTHON_DESCENDS)
		return python_descend(c, kind);
	return python_awaited_put(c, kind);
}

#endif
