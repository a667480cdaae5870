/* SPDX-License-Identifier: MIT */
/*
 * runtime_known.bpf.h: keys of code that was told on this CPU, kept from one sample to the next, so
 * that what it is called need not be read again: names are in memory that the program itself seldom
 * touches, which is in no cache.
 *
 * Code is one that was met if it has the same identity: a hash of all that tells it from any other
 * code that was ever there. Each runtime's file says what that is. An address alone never is: it is
 * used again.
 *
 * Walks that may sleep leave it alone: they have no CPU of their own.
 */
#ifndef SEAM_CAPTURE_RUNTIME_RUNTIME_KNOWN_BPF_H
#define SEAM_CAPTURE_RUNTIME_RUNTIME_KNOWN_BPF_H

#include "capture/runtime/runtime.bpf.h"

/* INLINE: where the walk's calls have no stack left for one more. */
#ifndef RUNTIME_KNOWN
#define RUNTIME_KNOWN ONCE
#endif

#define RUNTIME_PLACES 1024u /* a power of two */
#define RUNTIME_WAYS 3u

/* Code whose identities lead to the same place: a line of the CPU's cache. is: 0: none. what: the
 * runtime's own. */
struct runtime_place {
	__u64 is[RUNTIME_WAYS], key[RUNTIME_WAYS];
	__u32 what[RUNTIME_WAYS], unused;
};

_Static_assert(sizeof(struct runtime_place) == 64, "a line of the CPU's cache");

struct runtime_knowns {
	struct runtime_place places[RUNTIME_PLACES];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY); /* by CPU */
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct runtime_knowns);
} runtime_knowns SEC(".maps");

/* Whose code the current thread runs: a program that a process runs, in an address space. */
INLINE __u64 runtime_whose(struct runtime_walk *p)
{
	__u64 whose = runtime_mix(config.seed, (__u64)p->out.pid << 32 | p->process.execs);

	return runtime_mix(whose, task_mm((void *)bpf_get_current_task_btf()));
}

INLINE struct runtime_place *runtime_place(struct runtime_walk *p, __u64 is)
{
	__u32 at = (__u32)(is >> 8) & (RUNTIME_PLACES - 1), cpu = ANEW(p->cpu);
	struct runtime_knowns *k = is ? bpf_map_lookup_elem(&runtime_knowns, &cpu) : 0;

	FORGET(at);
	return k ? &k->places[at & (RUNTIME_PLACES - 1)] : 0;
}

/* Whether the code with that identity was told: p->told.key is its key then, and p->known what was
 * kept with it. is 0: it has none. */
RUNTIME_KNOWN int runtime_is_known(struct runtime_walk *p, __u64 is)
{
	struct runtime_place *at = p ? runtime_place(p, is) : 0;

	if (!at)
		return 0;
#pragma unroll
	for (unsigned i = 0; i < RUNTIME_WAYS; i++)
		if (ANEW(at->is[i]) == is) {
			p->told.key = ANEW(at->key[i]);
			p->known = ANEW(at->what[i]);
			/* A sample that came in between may have put another one there. */
			return ANEW(at->is[i]) == is;
		}
	return 0;
}

/* Keeps p->told.key in the place of one that was met before, if it was told. */
RUNTIME_KNOWN int runtime_know(struct runtime_walk *p, __u64 is, __u32 what)
{
	struct runtime_place *at = p ? runtime_place(p, is) : 0;
	__u32 way;

	if (!at || !ANEW(p->told.key) || !runtime_told(p))
		return 0;
	way = (__u32)ANEW(p->walk) % RUNTIME_WAYS;
	FORGET(way);
	if (way >= RUNTIME_WAYS)
		return 0;
	*(volatile __u64 *)&at->is[way] = 0;
	*(volatile __u64 *)&at->key[way] = p->told.key;
	*(volatile __u32 *)&at->what[way] = what;
	*(volatile __u64 *)&at->is[way] = is;
	return 0;
}

#endif
