// SPDX-License-Identifier: MIT
/*
 * answer.c: see answer.h.
 *
 * An answer of a store looks to report/ like a loaded recording: a profile, counts beside it, and
 * the objects that lacked names. Nothing of the recordings themselves is needed any more.
 */
#include "fleet/answer.h"

#include <stdlib.h>

#include "fleet/flat_frames.h"
#include "fleet/nameless_frames.h"
#include "fleet/quality.h"
#include "profile/events.h"
#include "profile/origin.h"

/* Reads the rows into the profile. In which order a store meets events depends on how it finds what
 * is asked for, so they get one of their own. Windows begin at times of the wall clock; the
 * profile's own clock starts with the first of them. */
static int answer_profile(struct answer *a, struct store *s, const struct store_query *q,
                          struct seam_error *err)
{
	struct profile *p = a->load.profile;
	struct origin *origin = profile_origin(p);
	struct flat_frames frames = { .flat = q->flat };
	int r = load_states(p);

	if (q->flat) {
		q->flat->frame = flat_frames_say;
		q->flat->ctx = &frames;
	}
	if (r >= 0)
		r = store_read(s, q, p, &a->found, err);
	flat_frames_free(&frames);
	if (q->flat && q->flat->filled)
		a->load.flat = q->flat;
	if (r >= 0)
		r = events_sort(p, q->flat && q->flat->filled ? q->flat : NULL);
	if (r < 0 || !a->found.windows)
		return r;
	/* Times by a clock that began with the first window, so that its begin is known. */
	origin->first_ns = 1;
	origin->last_ns = a->found.last_ns - a->found.first_ns + 1;
	origin->epoch_ns = a->found.first_ns - 1;
	return 0;
}

/* Windows do not say of which series these samples are. So counts of whole windows would be wrong
 * beside some of their series. */
static void answer_forget(struct load *load)
{
	load->of_others = true;
	load->ended_at_data = load->callers_taken = load->not_taken = 0;
	load->recorded = (struct walk_result_counts){ 0 };
	load->unwound = (struct unwound_counts){ 0 };
}

static void answer_count(struct load *load)
{
	load->taken = 0;
	for (size_t i = 0; i < profile_n_rows(load->profile); i++)
		load->taken += profile_row_at(load->profile, i)->samples;
}

/* Reads the query's profile, then everything that is told beside it. keep: PROFILE_KEEP_LABEL and
 * _SLICE or not: windows hold nothing else. -errno. */
int answer_load(struct answer *ret, struct store *s, const struct store_query *q, unsigned keep,
                struct seam_error *err)
{
	struct answer a = { 0 };
	int r = profile_new(&a.load.profile, keep & (PROFILE_KEEP_LABEL | PROFILE_KEEP_SLICE));

	if (r >= 0)
		r = answer_profile(&a, s, q, err);
	if (r >= 0)
		r = quality_restore(&a.load, &a.found);
	if (r >= 0) {
		if (q->where)
			answer_forget(&a.load);
		answer_count(&a.load);
		r = nameless_frames(&a.load, &a.found, &a.texts);
	}
	if (r < 0)
		answer_free(&a);
	else
		*ret = a;
	return r;
}

static bool answer_is_wanted(const struct profile *p, const struct profile_row *row, void *ctx)
{
	const bool *wanted = ctx;

	(void)p;
	return wanted[row->key.event - 1];
}

/* -ENOMEM. */
int answer_only_events(struct answer *a, const bool *wanted)
{
	struct profile *some;
	int r = profile_filter(&some, a->load.profile, answer_is_wanted, (void *)wanted);

	if (r < 0)
		return r;
	profile_free(a->load.profile);
	a->load.profile = some;
	answer_forget(&a->load);
	answer_count(&a->load);
	free(a->load.unnamed);
	a->load.unnamed = NULL;
	a->load.n_unnamed = 0;
	a->load.taken_unnamed = 0;
	buf_free(&a->texts);
	return nameless_frames(&a->load, &a->found, &a->texts);
}

void answer_free(struct answer *a)
{
	load_free(&a->load);
	store_found_free(&a->found);
	buf_free(&a->texts);
}
