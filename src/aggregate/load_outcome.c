// SPDX-License-Identifier: MIT
// load_outcome.c: see load_outcome.h. A walk that found no unwind information ended in its last
// frame, so the object is the one that was mapped there.
#include "aggregate/load_outcome.h"

static const char not_mapped[] = "no mapping of that time held the address";
static const char made_at_run_time[] = "no object: code made at run time";
static const char without[] = "no unwind information was found while recording";

static void load_outcome_where(const struct recording *rec, uint32_t space, bool unmapped,
                               const struct seam_stitched *sample, struct unwound_missing *ret)
{
	const struct proc_mapping *m = NULL;
	uint64_t n = sample->user.n;

	*ret = (struct unwound_missing){ .reason = not_mapped, .samples = 1 };
	if (n && !unmapped) /* a caller's address is behind its call */
		m = proc_space_find(rec->procs, space,
		                    seam_u64s_at(&sample->user, n - 1) - (n > 1));
	if (!m)
		return;
	ret->object = m->object;
	ret->reason = m->object->kind == PROC_KIND_ANON || m->object->kind == PROC_KIND_JIT
	                      ? made_at_run_time
	                      : without;
}

int load_outcome_add(struct load_outcome *o, const struct recording *rec, uint32_t space,
                     const struct seam_stitched *sample)
{
	const struct seam_attr *attr = &sample->sample.event->attr;
	struct unwound_missing *have, add;
	struct outcome outcome;

	if (!outcome_said(attr))
		return 0;
	outcome_count(&o->counts, attr, sample->misc);
	if (!outcome_get(attr, sample->misc, &outcome) || outcome.kind != OUTCOME_WALKED ||
	    outcome.end != WALK_NO_INFO)
		return 0;
	load_outcome_where(rec, space, outcome.unmapped, sample, &add);
	have = (struct unwound_missing *)(void *)o->missing.bytes;
	for (size_t i = 0; i < o->missing.n / sizeof(add); i++) {
		if (have[i].object == add.object && have[i].reason == add.reason) {
			have[i].samples++;
			return 0;
		}
	}
	return buf_put(&o->missing, &add, sizeof(add));
}
