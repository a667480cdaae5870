// SPDX-License-Identifier: MIT
/*
 * kwalk_publish.c: what is mapped in a process, for the programs: an array in the arena, whose
 * mappings say where in it their tables are. The array is written whole beside the old one and then
 * published in one map value, so that a program sees the one or the other.
 */
#include <bpf/bpf.h>

#include "capture/bpf/kwalk_parts.h"
#include "capture/context/kwalk_context.h"

/* False: the table is not in the arena, or not made yet, so the programs must not know the
 * mapping. */
static bool publish_one(struct kwalk *l, const struct kwalk_vma *m, bool told,
                        struct kwalk_mapping *ret)
{
	enum room_state state = ROOM_NONE;

	*ret = (struct kwalk_mapping){ .start = m->start,
		                       .end = m->end,
		                       .flags = (m->may_guess ? KWALK_MAY_GUESS : 0) |
		                                (m->may_guess && told ? KWALK_TOLD : 0) |
		                                (m->keeps_fp ? KWALK_KEEPS_FP : 0) };
	if (m->later)
		return false;
	if (m->blob)
		state = room_table(l, m->blob, ret);
	if (state == ROOM_IN)
		ret->base += m->start - m->vaddr;
	return state != ROOM_OUT;
}

/* Replaces the array that the programs see of a process. If there are too many mappings or no
 * memory, none is known to them. */
static void publish_known(struct kwalk *l, struct kwalk_space *s)
{
	struct kwalk_process p = { .n = (uint32_t)s->n, .execs = s->execs, .losses = s->losses };
	size_t size = (s->n + 1) * sizeof(struct kwalk_mapping);
	struct kwalk_mapping *at;
	size_t known = 0;
	bool told = false;

	p.mappings = s->n <= KWALK_MAPPINGS ? arena_take(&l->arena, size) : 0;
	if (!p.mappings) { /* too many, or no memory: none is known, rather than some */
		p.n = 0;
		l->arena.left_out++;
	}
	/* The search reads the entry before the first without using it, so it must be there. */
	at = (struct kwalk_mapping *)(void *)(l->arena.bytes + p.mappings);
	for (size_t i = 0; i < p.n && !told; i++)
		told = s->at[i].tells;
	for (size_t i = 0, n = p.n; i < n; i++) {
		if (publish_one(l, &s->at[i], told, &at[known]))
			known++;
	}
	p.n = (uint32_t)known;
	if (l->opts.runtimes)
		runtime_publish(l, s);
	if (l->opts.context)
		context_publish(l, s);
	bpf_map_update_elem(l->processes, &s->pid, &p, BPF_ANY);
	arena_give(&l->arena, s->published, s->published_size, kwalk_now_ns());
	s->published = p.mappings;
	s->published_size = size;
	l->spaces.mappings += p.n;
}

/* Publishing costs two copies of the array, so that it counts as work. A process that has ended is
 * not sampled any more; and the programs may have forgotten it, which they do once. */
static void publish_space(struct kwalk *l, struct kwalk_space *s)
{
	if (s->gone_ns && !s->outlived)
		return;
	if (!s->left_ns)
		budget_charge(l, s, s->n * 2); /* may forget them */
	publish_known(l, s);
}

void kwalk_publish(struct kwalk *l)
{
	struct kwalk_space *s;

	while ((s = l->spaces.dirty)) {
		l->spaces.dirty = s->next_dirty;
		s->dirty = false;
		publish_space(l, s);
	}
}
