// SPDX-License-Identifier: MIT
// kwalk_counts.c: the counts of the programs, of all CPUs together, and of the recorder's side.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>

#include "capture/bpf/kwalk_parts.h"

/* The struct is made of u64 alone (kwalk_counts in shared.h). */
static void kwalk_add_counts(struct kwalk_counts *to, const struct kwalk_counts *from)
{
	const uint64_t *f = (const uint64_t *)from;
	uint64_t *t = (uint64_t *)to;

	for (size_t i = 0; i < sizeof(*to) / sizeof(*t); i++)
		t[i] += f[i];
}

/* Adds up the programs' counts of all CPUs, without the lock. -ENOMEM. */
int counts_of_programs(struct kwalk *l, struct kwalk_counts *ret)
{
	struct kwalk_counts *all = calloc(l->n_cpus, sizeof(*all));
	uint32_t zero = 0;

	if (!all)
		return -ENOMEM;
	*ret = (struct kwalk_counts){ 0 };
	/* A per-CPU map: one struct for each possible CPU. */
	if (bpf_map_lookup_elem(l->counts, &zero, all) >= 0)
		for (size_t i = 0; i < l->n_cpus; i++)
			kwalk_add_counts(ret, &all[i]);
	free(all);
	return 0;
}

/* Adds up the programs' counts of all CPUs, and this side's. *ret->sz says how much the caller
 * knows of. -ENOMEM. */
int kwalk_total(struct kwalk *l, struct kwalk_totals *ret)
{
	struct kwalk_totals t = { .sz = ret->sz };

	if (counts_of_programs(l, &t.counts) < 0)
		return -ENOMEM;
	t.counts_skipped = l->counts_skipped;
	t.away_misses = kwalk_misses(l, "away_switch");
	t.samples = l->samples;
	t.user_chains = l->answered;
	t.late = l->late;
	t.unwound = l->unwound;
	t.unanswered = l->pending_cookies.n;
	t.cut = l->cut;
	t.runtimes_met = __atomic_load_n(&l->runtimes_met, __ATOMIC_RELAXED);
	t.runtime_functions = l->runtime_functions;
	t.runtime_unnamed = l->runtime_unnamed;
	t.context_unnamed = l->context_unnamed;
	t.counts.runtime_ends[KWALK_RUNTIME_LATE] += l->runtime_late;
	t.counts.runtime_ends[KWALK_RUNTIME_APART] += l->runtime_apart;
	t.counts.runtime_ends[KWALK_RUNTIME_COMPLETE] -= l->runtime_apart;
	pthread_mutex_lock(&l->lock);
	t.processes = l->spaces.by_pid.n;
	t.mappings = l->spaces.mappings;
	t.tables = l->room.n;
	t.table_bytes = l->room.bytes;
	t.tables_left = l->room.left;
	t.tables_returned = l->room.returned;
	t.pressed = l->room.pressed;
	t.arrays_left_out = l->arena.left_out;
	t.left_alone = l->budget.left;
	t.waiting = l->budget.waiting;
	t.follow_lost = l->follow.again;
	pthread_mutex_unlock(&l->lock);
	memcpy(ret, &t, ret->sz < sizeof(t) ? ret->sz : sizeof(t));
	return 0;
}
