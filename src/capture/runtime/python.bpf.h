/* SPDX-License-Identifier: MIT */
/*
 * python.bpf.h: from a thread to its CPython frames, by the offsets of the process's version
 * (runtimes/python_layout.h), and what their code objects are called.
 */
#ifndef SEAM_CAPTURE_RUNTIME_PYTHON_BPF_H
#define SEAM_CAPTURE_RUNTIME_PYTHON_BPF_H

#define RUNTIME_FRAMES python_frames
#define RUNTIME_OWN_WORDS 136u

#include "capture/runtime/runtime.bpf.h"
#include "runtimes/python_layout.h"

#define PYTHON_THREADS 512 /* thread states and interpreters that are looked at */
#define PYTHON_TEXT_MOST (1u << 24)
#define PYTHON_BYTES_SIZE 16 /* of a bytes object; its bytes are behind 32 */
#define PYTHON_BYTES 32
#define PYTHON_LOOP_BEGUN 256u   /* bytes of the loop's code; behind them its frame is in place */
#define PYTHON_COPIES (1u << 24) /* of a code object: more than threads that there may be */
#define PYTHON_COPIES_FIRST 8u   /* where in their table the first one's address is */
#define PYTHON_TAGS 3ull         /* bits of a reference that are no part of the address */
#define PYTHON_OF_GENERATOR 1u   /* the owner of its frame, or of a coroutine's */
#define PYTHON_NO_TASK 1ull      /* where the address of a task's frame would be */
#define PYTHON_AWAITED 16u       /* coroutines of a task, one awaiting the other: a power of two */

struct python {
	__u64 interpreter, state, found, found_other, cframe, root, frame, code;
	/* numbers of interpreters; id: of the one that is looked at */
	__u64 id, found_id, other_id;
	__u64 whose;           /* what else code objects are told apart by (python_known.bpf.h) */
	__u64 file, file_hash; /* whose text is in place */
	__u64 met_file, met_hash;
	__u32 n_found, retried, begin; /* begin: where this interpreter's frames do */
	/* Who awaits the task that runs (python_tasks.bpf.h). runs: the frame of that task; awaits:
	 * the code that is read is of a frame that does */
	__u32 awaits, phase, n_tasks, n_awaited, unused;
	__u64 thread, runs, task_type, met_task, awaiter, coroutine;
	__u64 awaited[PYTHON_AWAITED];
	__u32 awaited_at[PYTHON_AWAITED];
	unsigned char object[256]; /* PYTHON_OBJECT bytes of it are read */
	unsigned char frame_bytes[128];
	unsigned char code_bytes[256];
};

_Static_assert(sizeof(struct python) <= RUNTIME_OWN_WORDS * 8, "RUNTIME_OWN_WORDS");
_Static_assert(sizeof(struct python_layout) <= RUNTIME_LAYOUT_WORDS * 8, "RUNTIME_LAYOUT_WORDS");

#define PY(p) ((struct python *)(p)->own)
/* Memory that the verifier knows nothing of, read anew each time. */
#define AT(field) ANEW(((struct python_layout *)p->process.of.layout)->field)
#define ADDRESS(field) ANEW(p->process.of.address[field])

/* ---- the thread ---- */

/* Looks at one thread state, or goes on to the next interpreter. */
INLINE long python_seek(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct python *py = PY(p);
	__u64 thread;

	if (!py->state) {
		if (!py->interpreter)
			return 1;
		if (runtime_u64(c, py->interpreter + AT(interpreter_threads), &py->state, kind) ||
		    (AT(interpreter_id) &&
		     runtime_u64(c, py->interpreter + AT(interpreter_id), &py->id, kind)) ||
		    runtime_u64(c, py->interpreter + AT(interpreter_next), &py->interpreter, kind))
			return 1;
		return 0;
	}
	if (walk_read(c, py->state + AT(thread_id), &thread, 8, kind))
		return runtime_end(p, KWALK_RUNTIME_FAULT);
	if (thread == ANEW(p->thread)) {
		py->found_other = py->found;
		py->other_id = py->found_id;
		py->found = py->state;
		py->found_id = py->id;
		py->n_found++;
		py->state = 0; /* the others of this interpreter are other threads' */
		return 0;
	}
	return runtime_u64(c, py->state + AT(thread_next), &py->state, kind);
}

/* ---- code objects ---- */

/* Reads a string into the text of what is told, and mixes it into p->hash. */
INLINE long python_text(struct walk *c, __u64 string, struct kwalk_code_text *text,
                        const __u32 first, const __u32 most, const int kind)
{
	struct runtime_walk *p = c->runtime;
	__u64 length;
	__u32 state, wide;

	string += AT(object_more);
	if (walk_read(c, string, p->head, 40, kind))
		return runtime_end(p, KWALK_RUNTIME_FAULT);
	length = *(volatile __u64 *)&p->head[16];
	state = *(volatile __u32 *)&p->head[32] >> (AT(text_kind) & 31);
	wide = state & 7;
	/* kind, compact, ascii */
	if ((wide != 1 && wide != 2 && wide != 4) || !(state & 8) || length > PYTHON_TEXT_MOST)
		return runtime_end(p, KWALK_RUNTIME_BUILDING);
	string += state & 16 ? AT(text_ascii) : AT(text_other);
	return runtime_text(c, string, length * wide, wide, text, first, most, kind);
}

/* Sends what is to be told of the code object in code_bytes, with its location table. */
INLINE long python_tell(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct python *py = PY(p);
	__u64 lines = *(volatile __u64 *)&py->code_bytes[AT(code_lines) & 248], size = 0;

	if (runtime_told(p))
		return 0;
	lines += AT(object_more);
	if (runtime_u64(c, lines + PYTHON_BYTES_SIZE, &size, kind))
		return 1;
	return runtime_tell(c, lines + PYTHON_BYTES, size > KWALK_CODE_LINES ? 0 : (__u32)size,
	                    AT(lines), kind);
}

/* What python_text() mixes into p->hash, of a text that need not be told, by one read. Non-0: it
 * cannot be made so. */
INLINE long python_piece(struct walk *c, __u64 string, const __u32 most)
{
	struct runtime_walk *p = c->runtime;
	__u32 state;

	if (runtime_piece(p, string + AT(object_more), AT(text_ascii)))
		return 1;
	state = *(volatile __u32 *)&p->piece[4] >> (AT(text_kind) & 31);
	/* one byte wide, compact, ascii; such a text begins at a word, where the piece does */
	if ((state & 31) != (1 | 8 | 16) || ANEW(p->piece_bytes) != AT(text_ascii))
		return 1;
	return runtime_piece_text(c, *(volatile __u64 *)&p->piece[2], 1, most);
}

/* What else makes the key of the code object in code_bytes, behind its file's text. */
INLINE void python_mix(struct runtime_walk *p, __u64 file_hash, __u64 lines)
{
	struct python *py = PY(p);

	p->hash = runtime_mix(file_hash, p->told.first_line);
	p->hash = runtime_mix(p->hash, *(volatile __u64 *)&py->code_bytes[16]);
	p->hash = runtime_mix(p->hash, lines);
	p->hash = runtime_mix(p->hash, py->code + py->awaits);
}

/* The key of code that was told, by fewer reads: most was. False: it is not known to be. */
INLINE int python_was_told(struct walk *c, __u64 file, __u64 name, __u64 lines)
{
	struct runtime_walk *p = c->runtime;
	struct python *py = PY(p);

	if (file != ANEW(py->met_file)) {
		p->hash = runtime_mix(config.seed, p->out.pid);
		py->met_file = 0;
		if (python_piece(c, file, KWALK_CODE_FILE))
			return 0;
		py->met_file = file;
		py->met_hash = p->hash;
	}
	python_mix(p, py->met_hash, lines);
	if (python_piece(c, name, KWALK_CODE_NAME))
		return 0;
	p->told.key = p->hash;
	return runtime_told(p);
}

#define PYTHON_FRAME_WORD(py, at) (*(volatile __u64 *)&(py)->frame_bytes[(at)&120])

#include "capture/runtime/python_known.bpf.h"

/* The key of the code object at py->code. */
INLINE long python_code(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct python *py = PY(p);
	__u64 file, name, lines, is = kind == WALK_NOW ? python_identity(p) : 0;
	__u32 size = AT(code_instructions);

	if (runtime_is_known(p, is))
		return 0;
	if (size > sizeof(py->code_bytes))
		return runtime_end(p, KWALK_RUNTIME_BUILDING);
	FORGET(size);
	if (size > sizeof(py->code_bytes) || walk_read(c, py->code, py->code_bytes, size, kind))
		return runtime_end(p, KWALK_RUNTIME_FAULT);
	if (*(volatile __u64 *)&py->code_bytes[8] != ADDRESS(PYTHON_CODE_TYPE))
		return runtime_end(p, KWALK_RUNTIME_BUILDING);
	file = *(volatile __u64 *)&py->code_bytes[AT(code_file) & 248];
	name = *(volatile __u64 *)&py->code_bytes[AT(code_name) & 248];
	lines = *(volatile __u64 *)&py->code_bytes[AT(code_lines) & 248];
	p->told.first_line = *(volatile __u32 *)&py->code_bytes[AT(code_line) & 252];
	p->told.awaits = py->awaits;
	/* The code that the interpreter puts between a class that is called and its __init__ (3.12
	 * and later) has one text for both, and no line: it is nobody's function. */
	if (file == name && !ANEW(p->told.first_line)) {
		p->told.key = 0;
		return 0;
	}
	if (kind == WALK_NOW && python_was_told(c, file, name, lines)) {
		runtime_know(p, is, 0);
		return 0;
	}
	/* The same text is still in place, as both code objects keep it alive. */
	if (file != ANEW(py->file)) {
		p->hash = runtime_mix(config.seed, p->out.pid);
		py->file = 0;
		if (python_text(c, file, &p->told.file, 0, KWALK_CODE_FILE, kind))
			return 1;
		py->file = file;
		py->file_hash = p->hash;
	}
	python_mix(p, py->file_hash, lines);
	if (python_text(c, name, &p->told.name, KWALK_CODE_FILE, KWALK_CODE_NAME, kind))
		return 1;
	p->told.key = p->hash;
	return python_tell(c, kind);
}

/* The same, once in a walk. */
INLINE long python_code_met(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct python *py = PY(p);
	__u64 code = py->code + py->awaits;
	struct runtime_met *m = runtime_met(p, code);

	if (m->code == code) {
		p->told.key = m->key;
		return 0;
	}
	if (python_code(c, kind))
		return 1;
	runtime_meet(p, m, code);
	return 0;
}

/* ---- frames ---- */

/* The newest call of the loop has a frame in place that does not know its caller yet: what stands
 * there passes for one, and frames between would be missing. None of them is shown. */
INLINE long python_unsure(struct runtime_walk *p)
{
	p->out.n = PY(p)->begin;
	p->entries = p->last = 0;
	PY(p)->retried = 1;
	return runtime_end(p, KWALK_RUNTIME_BUILDING);
}

/* The loop was entered with this frame (3.11): the struct _PyCFrame of that call is the mark. Its
 * caller's knows the same frame as this one does. */
INLINE long python_entered(struct walk *c, __u64 previous, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct python *py = PY(p);
	__u64 frame;
	int newest = !p->entries;

	runtime_loop(p, py->cframe);
	if (runtime_u64(c, py->cframe + AT(cframe_previous), &py->cframe, kind) ||
	    runtime_u64(c, py->cframe + AT(cframe_frame), &frame, kind))
		return 1;
	if (frame == previous)
		return 0;
	return newest ? python_unsure(p) : runtime_end(p, KWALK_RUNTIME_BUILDING);
}

/* Whether the newest call of the loop, by its struct _PyCFrame, has another frame without code than
 * this one (3.12): both are on the C stack in the room that the call made. */
INLINE int python_is_other_call(struct runtime_walk *p)
{
	__u64 room = AT(loop_frame);

	return !p->entries && room && AT(entry) == PYTHON_ENTRY_FRAME_BY_CFRAME &&
	       ANEW(PY(p)->frame) - ANEW(PY(p)->cframe) + room >= 2 * room;
}

/* Whether the struct _PyCFrame is the one in the thread state, which is no call's. What it says is
 * before it was never written (3.10). */
INLINE int python_is_root(struct runtime_walk *p)
{
	return ANEW(PY(p)->cframe) == ANEW(PY(p)->root);
}

/* 3.10: each call of the loop runs one frame. Its caller's struct _PyCFrame is the next. */
INLINE long python_called(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct python *py = PY(p);

	if (!py->cframe || python_is_root(p))
		return runtime_end(p, KWALK_RUNTIME_BUILDING);
	runtime_loop(p, py->cframe);
	return runtime_u64(c, py->cframe + AT(cframe_previous), &py->cframe, kind);
}

/* Whether the thread is in the first instructions of the loop, and the newest struct _PyCFrame is
 * of that very call: between its sp and what the loop made room for. */
INLINE int python_begins(struct walk *c)
{
	struct runtime_walk *p = c->runtime;
	__u64 at = c->w->regs[REG_IP] - ADDRESS(PYTHON_LOOP);

	return AT(loop_frame) && at >= AT(loop_begins) && at < PYTHON_LOOP_BEGUN &&
	       ANEW(PY(p)->cframe) - c->w->regs[REG_SP] < AT(loop_frame);
}

/* The newest frame of a thread state. */
INLINE long python_begin(struct walk *c, __u64 state, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct python *py = PY(p);
	__u64 at;

	p->entries = p->last = py->retried = 0;
	py->begin = p->out.n;
	py->root = state + AT(thread_root);
	py->thread = state;
	py->runs = AT(thread_task) ? 0 : PYTHON_NO_TASK;
	if (runtime_u64(c, state + AT(thread_frame), &at, kind))
		return 1;
	py->frame = py->cframe = at;
	if (AT(entry) == PYTHON_ENTRY_CALL_CFRAME)
		return runtime_u64(c, state + AT(thread_cframe), &py->cframe, kind);
	if (AT(entry) != PYTHON_ENTRY_CFRAME && AT(entry) != PYTHON_ENTRY_FRAME_BY_CFRAME)
		return 0;
	if (python_begins(c) &&
	    (runtime_u64(c, at + AT(cframe_previous), &py->cframe, kind) || !ANEW(py->cframe)))
		return 1;
	return runtime_u64(c, py->cframe + AT(cframe_frame), &py->frame, kind);
}

/* Behind the outermost frame of an interpreter: the thread may run another one. */
INLINE long python_other(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct python *py = PY(p);
	__u64 other = py->found_other;

	if (py->retried && p->out.n == py->begin)
		return runtime_end(p, KWALK_RUNTIME_BUILDING);
	if (!other)
		return runtime_end(p, KWALK_RUNTIME_COMPLETE);
	py->found_other = 0;
	py->id = py->other_id;
	python_whose(p);
	p->entries_other = p->entries;
	p->out.other = (__u16)p->out.n;
	return python_begin(c, other, kind);
}

/* Behind the outermost frame. Each frame has one call, or the newest call has no frame yet. */
INLINE long python_outermost(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;

	if (AT(entry) != PYTHON_ENTRY_CALL_CFRAME)
		return python_other(c, kind);
	if (python_is_root(p))
		return runtime_end(p, KWALK_RUNTIME_COMPLETE);
	p->out.shifted = 1;
	if (python_called(c, kind))
		return 1;
	return runtime_end(p, python_is_root(p) ? KWALK_RUNTIME_COMPLETE : KWALK_RUNTIME_BUILDING);
}

/* Where in its code a frame object is, in bytes of instructions. */
INLINE __u32 python_last(struct runtime_walk *p)
{
	__s32 last = *(volatile __s32 *)&PY(p)->frame_bytes[AT(frame_instruction) & 120];

	return last < 0 ? 0 : (__u32)last << (AT(instruction_shift) & 1);
}

/* Whether the newest frame may not know its caller yet (3.11, 3.12: what is in its memory from
 * before names another one): none of its instructions has run, and neither it nor the caller that
 * it names is in a register of the loop, which keeps its frame in one that calls preserve. */
INLINE int python_is_unplaced(struct walk *c, __u64 previous, __u64 instruction)
{
	struct runtime_walk *p = c->runtime;
	struct python *py = PY(p);
	static const unsigned kept[] = { 3, 6, 12, 13, 14, 15 };
	__u64 frame = py->frame;

	if (p->out.n != py->begin || !AT(loop_frame) ||
	    instruction >= py->code + AT(code_instructions))
		return 0;
	for (unsigned i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
		__u64 v = c->w->regs[kept[i]];

		if (v == frame || v == previous)
			return 0;
	}
	return 1;
}

/* Where the instructions of the newest frame's code begin. Free-threaded builds since 3.14 have a
 * copy of them for each thread; the first is the code object's own. */
INLINE long python_instructions(struct walk *c, __u64 *ret, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct python *py = PY(p);
	__u32 copy;

	*ret = py->code + AT(code_instructions);
	if (!AT(code_copies))
		return 0;
	copy = *(volatile __u32 *)&py->frame_bytes[AT(frame_copy) & 124];
	if (!copy)
		return 0;
	if (copy >= PYTHON_COPIES)
		return runtime_end(p, KWALK_RUNTIME_BUILDING);
	return runtime_u64(c, py->code + AT(code_copies), ret, kind) ||
	       runtime_u64(c, *ret + PYTHON_COPIES_FIRST + copy * 8ull, ret, kind);
}

/* Reads a frame, and whose code it runs. */
INLINE long python_frame(struct walk *c, __u64 frame, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct python *py = PY(p);
	__u32 size = AT(frame_size);

	if (size > sizeof(py->frame_bytes))
		return runtime_end(p, KWALK_RUNTIME_BUILDING);
	FORGET(size);
	if (size > sizeof(py->frame_bytes) || walk_read(c, frame, py->frame_bytes, size, kind))
		return runtime_end(p, KWALK_RUNTIME_FAULT);
	py->code = (PYTHON_FRAME_WORD(py, AT(frame_code)) & ~PYTHON_TAGS) + AT(object_more);
	return 0;
}

#include "capture/runtime/python_tasks.bpf.h"

/* Takes one frame and goes to the one that called it. */
INLINE long python_one(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct python *py = PY(p);
	__u64 previous, instruction, first, frame = py->frame;
	__u32 owner;

	if (!frame)
		return python_outermost(c, kind);
	if (runtime_full(p, kind))
		return 1;
	if (python_frame(c, frame, kind))
		return 1;
	previous = PYTHON_FRAME_WORD(py, AT(frame_previous));
	owner = *(volatile __u8 *)&py->frame_bytes[AT(frame_owner) & 127];
	if (owner == AT(owner_entry)) {
		if (python_is_other_call(p))
			return python_unsure(p);
		if (previous || !AT(has_base))
			runtime_loop(p, py->frame);
		py->frame = previous;
		return 0;
	}
	if (python_code_met(c, kind))
		return 1;
	if (AT(entry) < PYTHON_ENTRY_CFRAME) {
		runtime_put(p, p->told.key, python_last(p), RUNTIME_FRAME_CODE);
		py->frame = previous;
		if (AT(entry) == PYTHON_ENTRY_CALL_CFRAME)
			return python_called(c, kind);
		runtime_loop(p, 0);
		return 0;
	}
	instruction = PYTHON_FRAME_WORD(py, AT(frame_instruction));
	if (python_is_unplaced(c, previous, instruction))
		return python_unsure(p);
	if (python_instructions(c, &first, kind))
		return 1;
	if (p->told.key)
		runtime_put(p, p->told.key, (__u32)(instruction - first), RUNTIME_FRAME_CODE);
	if (AT(entry) == PYTHON_ENTRY_CFRAME &&
	    *(volatile __u8 *)&py->frame_bytes[AT(frame_entry) & 127] &&
	    python_entered(c, previous, kind))
		return 1;
	py->frame = previous;
	if (owner == PYTHON_OF_GENERATOR && ANEW(py->runs) != PYTHON_NO_TASK)
		return python_awaited(c, frame, kind);
	return 0;
}

/* The newest struct _PyCFrame is in place before it knows a frame, and has what was on the stack
 * before: a call of the loop that has not begun. Its caller's is right. A page that may still come
 * is waited for. What was there may pass for a frame: where the thread is known to begin a call,
 * python_begins() has asked before. */
INLINE long python_not_begun(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct python *py = PY(p);
	__u64 previous;

	if (p->out.n != py->begin || py->retried ||
	    (AT(entry) != PYTHON_ENTRY_CFRAME && AT(entry) != PYTHON_ENTRY_FRAME_BY_CFRAME) ||
	    (kind == WALK_NOW && config.defers && ANEW(p->out.end) == KWALK_RUNTIME_FAULT) ||
	    walk_read(c, py->cframe + AT(cframe_previous), &previous, 8, kind) || !previous)
		return 1;
	py->retried = 1;
	py->cframe = previous;
	return runtime_u64(c, previous + AT(cframe_frame), &py->frame, kind);
}

INLINE long python_step(struct walk *c, const int kind)
{
	if (ANEW(PY(c->runtime)->phase))
		return python_awaiting(c, kind);
	return python_one(c, kind) ? python_not_begun(c, kind) : 0;
}

RUNTIME_LOOP(python_seek, PYTHON_THREADS)
RUNTIME_LOOP(python_step, KWALK_RUNTIME_ROOM + PYTHON_AWAITER_STEPS)

/* Finds the thread's state. False: the walk has ended, and p->out.end says why. */
INLINE int python_find(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct python *py = PY(p);

	py->state = py->found = py->found_other = 0;
	py->id = py->found_id = py->other_id = 0;
	py->n_found = 0;
	if (runtime_u64(c, ADDRESS(PYTHON_RUNTIME) + AT(runtime_interpreters), &py->interpreter,
	                kind))
		return 0;
	p->out.end = KWALK_RUNTIME_NONE;
	python_seek_all(c, kind);
	if (ANEW(p->out.end))
		return 0;
	py->id = py->found_id;
	python_whose(p);
	/* Calls without marks would not say which interpreter they are of. */
	if (ANEW(py->n_found) > 1 + (AT(entry) >= PYTHON_ENTRY_CFRAME))
		return !runtime_end(p, KWALK_RUNTIME_SEVERAL);
	if (!ANEW(py->found))
		return ANEW(py->state) || ANEW(py->interpreter)
		               ? !runtime_end(p, KWALK_RUNTIME_LIMIT)
		               : 0;
	return 1;
}

/* The thread's frames, by what stands for its version. */
INLINE void python_frames(struct walk *c, const int kind)
{
	struct runtime_walk *p = c->runtime;
	struct python *py = PY(p);

	py->file = py->met_file = 0;
	py->phase = py->awaits = 0;
	if (AT(entry) == PYTHON_ENTRY_CALL) {
		p->pass = RUNTIME_PASS_CALLS;
		p->loop = ADDRESS(PYTHON_LOOP);
		p->loop_bytes = AT(loop_bytes);
		p->cold = ADDRESS(PYTHON_COLD);
		p->cold_bytes = AT(cold_bytes);
	}
	p->whole = AT(entry) < PYTHON_ENTRY_CFRAME;
	if (python_find(c, kind) && !python_begin(c, py->found, kind))
		python_step_all(c, kind);
}

#endif
