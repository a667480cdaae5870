// SPDX-License-Identifier: MIT
// load_walk_result.c: see load_walk_result.h. A walk that found no unwind information ended in its
// last frame, so the object is the one that was mapped there.
#include "aggregate/load_walk_result.h"

/* Reasons, compared by address: each text is here once. */
static const char not_mapped[] = "no mapping of that time held the address";
static const char made_at_run_time[] = "no object: code made at run time";
static const char without[] = "no unwind information was found while recording";

/* Where a walk ended: the object that was mapped at its last frame's address, or why there is
 * none. */
static void load_walk_result_where(const struct recording *rec, const struct sample *sample,
                                   bool unmapped, struct unwound_missing *ret)
{
	const struct seam_u64s user = sample_user(sample);
	const struct proc_mapping *m = NULL;
	const uint64_t n = user.n;

	*ret = (struct unwound_missing){ .reason = not_mapped, .samples = 1 };
	if (n && !unmapped) /* a caller's address is behind its call */
		m = proc_space_find(rec->procs, sample->user_space,
		                    seam_u64s_at(&user, n - 1) - (n > 1));
	if (!m)
		return;
	ret->object = m->object;
	ret->reason = m->object->kind == PROC_KIND_ANON || m->object->kind == PROC_KIND_JIT
	                      ? made_at_run_time
	                      : without;
}

/* Where the walk ended for want of information, the object that was mapped there is counted,
 * too. */
int load_walk_result_add(struct load_walk_result *o, const struct recording *rec,
                         const struct sample *sample)
{
	const struct seam_attr *attr = &sample->event->attr;
	struct unwound_missing *have, add;
	struct walk_result result;

	walk_result_count(&o->counts, attr, sample->misc);
	if (!walk_result_get(attr, sample->misc, &result) || result.kind != WALK_RESULT_WALKED ||
	    result.end != WALK_NO_INFO)
		return 0;
	load_walk_result_where(rec, sample, result.unmapped, &add);
	have = (struct unwound_missing *)(void *)o->missing.bytes;
	for (size_t i = 0; i < o->missing.n / sizeof(add); i++) {
		if (have[i].object == add.object && have[i].reason == add.reason) {
			have[i].samples++;
			return 0;
		}
	}
	return buf_put(&o->missing, &add, sizeof(add));
}
