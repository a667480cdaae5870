/* SPDX-License-Identifier: MIT */
/*
 * python_known.bpf.h: keys of code objects that were told on this CPU, kept from one sample to the
 * next, so that what they are called need not be read again: their texts are in memory that the
 * program itself never touches, which is in no cache.
 *
 * A code object is one that was met if its number is the same. Since 3.12 an interpreter numbers
 * its code objects and never gives a number twice. 3.11 numbers functions so, once they are called
 * often, and takes the number from one that is given other code: the frame has the function.
 *
 * Walks that may sleep leave it alone: they have no CPU of their own.
 */
#ifndef SEAM_CAPTURE_RUNTIME_PYTHON_KNOWN_BPF_H
#define SEAM_CAPTURE_RUNTIME_PYTHON_KNOWN_BPF_H

#define PYTHON_PLACES 1024u /* a power of two */
#define PYTHON_WAYS 4u      /* likewise: a line of the CPU's cache */

struct python_known {
	__u64 is, key; /* is: a hash of all that is compared; 0: none */
};

/* Objects whose identities lead to the same place. */
struct python_place {
	struct python_known of[PYTHON_WAYS];
};

struct python_knowns {
	struct python_place places[PYTHON_PLACES];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY); /* by CPU */
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct python_knowns);
} python_knowns SEC(".maps");

/* Whose code objects the thread's frames have: numbers are an interpreter's, addresses those of an
 * address space. */
INLINE void python_whose(struct runtime_walk *p)
{
	__u64 whose = runtime_mix(config.seed, (__u64)p->out.pid << 32 | p->process.execs);

	whose = runtime_mix(whose, task_mm((void *)bpf_get_current_task_btf()));
	PY(p)->whose = runtime_mix(whose, PY(p)->id);
}

/* Reads the number of the function that py->frame_bytes is of, if its code is what the frame runs.
 * 0: it has none. */
INLINE __u32 python_function_number(struct runtime_walk *p)
{
	struct python *py = PY(p);
	__u64 function = PYTHON_FRAME_WORD(py, AT(frame_function));
	__u32 from = AT(function_code) & 120, size = AT(function_version) + 4 - from;

	FORGET(size);
	if (size > sizeof(py->object) - 128 ||
	    bpf_probe_read_user(&py->object[from], size, (void *)(function + from)) ||
	    *(volatile __u64 *)&py->object[from] != py->code)
		return 0;
	return *(volatile __u32 *)&py->object[AT(function_version) & 252];
}

/* What the code object at py->code is told apart by; 0: it has no number. */
INLINE __u64 python_identity(struct runtime_walk *p)
{
	struct python *py = PY(p);
	__u32 number = 0;
	__u64 is;

	if (AT(function_version))
		number = python_function_number(p);
	else if (AT(code_version) &&
	         bpf_probe_read_user(&number, 4, (void *)(py->code + AT(code_version))))
		return 0;
	if (!number)
		return 0;
	is = runtime_mix(ANEW(py->whose), py->code + py->awaits);
	return runtime_mix(is, number) | 1;
}

INLINE struct python_place *python_place(struct runtime_walk *p, __u64 is)
{
	__u32 at = (__u32)(is >> 8) & (PYTHON_PLACES - 1), cpu = ANEW(p->cpu);
	struct python_knowns *k = is ? bpf_map_lookup_elem(&python_knowns, &cpu) : 0;

	FORGET(at);
	return k ? &k->places[at & (PYTHON_PLACES - 1)] : 0;
}

/* Whether the code with that identity was told: p->told.key is its key then. */
INLINE int python_is_known(struct runtime_walk *p, __u64 is)
{
	struct python_place *at = python_place(p, is);

	if (!at)
		return 0;
#pragma unroll
	for (unsigned i = 0; i < PYTHON_WAYS; i++)
		if (ANEW(at->of[i].is) == is) {
			p->told.key = ANEW(at->of[i].key);
			/* A sample that came in between may have put another one there. */
			return ANEW(at->of[i].is) == is;
		}
	return 0;
}

/* Keeps p->told.key in the place of one that was met before. */
INLINE void python_know(struct runtime_walk *p, __u64 is)
{
	struct python_place *at = python_place(p, is);
	__u32 way = (__u32)ANEW(p->walk);
	struct python_known *k;

	if (!at)
		return;
	FORGET(way);
	k = &at->of[way & (PYTHON_WAYS - 1)];
	*(volatile __u64 *)&k->is = 0;
	*(volatile __u64 *)&k->key = p->told.key;
	*(volatile __u64 *)&k->is = is;
}

#endif
