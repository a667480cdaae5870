/* SPDX-License-Identifier: MIT */
/*
 * python.bpf.h: what a walk over a thread's CPython frames keeps, and how it meets the native
 * stack. Each call of the interpreter's loop has something on the C stack that stands in the chain
 * of frames, too (runtimes/python_layout.h): where the walk of the native stack passes that
 * address, the frame it passes is the loop's.
 */
#ifndef SEAM_CAPTURE_BPF_PYTHON_BPF_H
#define SEAM_CAPTURE_BPF_PYTHON_BPF_H

#include "capture/bpf/kernel.bpf.h"
#include "capture/bpf/shared.h"

/* A code object that this walk has met. While its frames are there it is the same object. */
struct python_met {
	__u64 code, key, walk;
};
#define PYTHON_MET 64u /* a power of two */

struct python {
	__u32 busy, cpu;
	__u32 none; /* room for no frames, which several walks may have at a time */
	struct python_process of;
	__u64 thread; /* the thread pointer: what pthread_self() gives */
	__u64 interpreter, state, found, found_other, cframe, root, frame;
	__u64 low; /* below it are the native frames that were passed */
	__u64 code, hash, file, file_hash;
	/* 1 + the index of the next call of the loop that no native frame has passed;
	 * entries_other: of the other interpreter's */
	__u32 entries, entries_other, last;
	__u32 word, n_found;
	__u32 retried, begin; /* begin: where this interpreter's frames do */
	unsigned char frame_bytes[128];
	unsigned char code_bytes[256];
	unsigned char head[64];
	__u64 walk; /* number of this walk */
	struct python_met met[PYTHON_MET];
	struct kwalk_code told;
	struct kwalk_python out; /* with its frames behind it */
	struct runtime_frame frames[KWALK_PYTHON_ROOM];
};

/* A frame, or a call of the loop. */
INLINE void python_put(struct python *p, __u64 key, __u32 at, __u32 what)
{
	__u32 n = p->out.n;

	if (n >= KWALK_PYTHON_ROOM - 1)
		return;
	FORGET(n);
	n &= KWALK_PYTHON_ROOM - 1;
	p->frames[n].key = key;
	p->frames[n].at = at;
	p->frames[n].what = (__u16)what;
	p->frames[n].native = RUNTIME_FRAME_NOWHERE;
	p->out.n = n + 1;
}

/* The native frame number n is a call of the loop (PYTHON_ENTRY_CALL). Calls are as many as frames,
 * or one more, if the innermost has no frame yet. */
INLINE void python_pass_call(struct python *p, __u32 n, __u64 pc)
{
	__u32 i = *(volatile __u32 *)&p->entries - 1;

	if (pc - *(volatile __u64 *)&p->of.loop >= *(volatile __u64 *)&p->of.loop_bytes &&
	    pc - *(volatile __u64 *)&p->of.cold >= *(volatile __u64 *)&p->of.cold_bytes)
		return;
	if (i >= KWALK_PYTHON_ROOM) {
		p->out.shifted++;
		i = p->out.n;
		python_put(p, 0, 0, RUNTIME_FRAME_LOOP);
	}
	FORGET(i);
	i &= KWALK_PYTHON_ROOM - 1;
	p->frames[i].native = (__u16)n;
	p->entries = p->frames[i].at;
}

/* A mark stands in the frame between low and sp: one that stands lower was passed already, and is
 * no mark. */
INLINE void python_pass_mark(struct python *p, __u32 *entries, __u32 n, __u64 sp)
{
	__u32 i = *(volatile __u32 *)entries - 1;

	if (i >= KWALK_PYTHON_ROOM)
		return;
	FORGET(i);
	i &= KWALK_PYTHON_ROOM - 1;
	if (p->frames[i].key >= sp || p->frames[i].key < *(volatile __u64 *)&p->low)
		return;
	p->frames[i].native = (__u16)n;
	*(volatile __u32 *)entries = p->frames[i].at;
}

/* The native frame number n, which is at pc, ends below sp. If the next call of the loop has its
 * mark in it, it is that call. */
ONCE int python_pass(struct python *p, __u32 n, __u64 pc, __u64 sp)
{
	if (!p)
		return 0;
	if (*(volatile __u32 *)&p->of.at.entry == PYTHON_ENTRY_CALL) {
		if (*(volatile __u32 *)&p->out.n)
			python_pass_call(p, n, pc);
		return 0;
	}
	python_pass_mark(p, &p->entries, n, sp);
	python_pass_mark(p, &p->entries_other, n, sp);
	p->low = sp;
	return 0;
}

#endif
