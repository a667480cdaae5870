// SPDX-License-Identifier: MIT
/*
 * quality.c: see quality.h. One walk over all counts (quality_each) serves both ways.
 *
 * Counts of a window are pairs of a name and a number, which a store adds up over windows. So what
 * is a sum travels as itself; what is the largest of all has its value in the name; what is a text
 * (why an object has no names) is a name with its parts separated by 0x1f. Names are part of what
 * stores hold, and do not change.
 */
#include "fleet/quality.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/stack_end.h"
#include "base/shown.h"
#include "profile/origin.h"

#define UNNAMED "unnamed\x1f"
#define UNNAMED_MOST 64u /* objects of a window: those with the most samples */
#define PARTIAL "partial\x1f"
#define PARTIAL_MOST 16u /* objects of a window */
#define PERIOD "period\x1f"
#define RATE "agent.windows_at_hz."

struct quality_count {
	const char *name;
	uint64_t *value;
};

/* Calls each with every count that a load has, under its name. */
static void quality_each(struct load *load, void (*each)(void *ctx, const char *name, uint64_t *at),
                         void *ctx)
{
	struct profile_counts *c = profile_counts(load->profile);
	struct walk_result_counts *w = &load->recorded;
	struct unwound_counts *u = &load->unwound;
	const struct quality_count plain[] = {
		{ "lost", &c->lost },
		{ "lost_samples", &c->lost_samples },
		{ "lost_beside", &c->lost_beside },
		{ "skipped_samples", &c->skipped_samples },
		{ "lost_tasks", &c->lost_tasks },
		{ "duplicate_samples", &c->duplicate_samples },
		{ "undecoded_samples", &c->undecoded },
		{ "not_taken", &load->not_taken },
		{ "ended_at_data", &load->ended_at_data },
		{ "uretprobe_callers", &load->callers_taken },
		{ "guessed", &load->guessed },
		{ "lines_put_off", &load->put_off },
		{ "stitch.deferred_samples", &load->stitch.deferred_samples },
		{ "stitch.deferred_records", &load->stitch.deferred_records },
		{ "stitch.unclaimed_records", &load->stitch.unclaimed_records },
		{ "stitch.duplicate_records", &load->stitch.duplicate_records },
		{ "stitch.tid_mismatches", &load->stitch.tid_mismatches },
		{ "stitch.empty_answers", &load->stitch.empty_answers },
		{ "walk.samples", &w->samples },
		{ "walk.guessed", &w->guessed },
		{ "walk.unreadable", &w->unreadable },
		{ "walk.unmapped", &w->unmapped },
		{ "copy.samples", &u->samples },
		{ "copy.unusable", &u->unusable },
		{ "copy.guessed", &u->guessed },
		{ "copy.guessed_frames", &u->guessed_frames },
		{ "copy.frames", &u->frames },
	};
	char name[64];

	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		each(ctx, plain[i].name, plain[i].value);
	for (int e = 0; e < STACK_ENDS; e++) {
		snprintf(name, sizeof(name), "end.%d", e);
		each(ctx, name, &load->ends[e]);
	}
	for (int e = 0; e < RUNTIME_ENDS; e++) {
		snprintf(name, sizeof(name), "runtime_end.%d", e);
		each(ctx, name, &load->runtime_ends[e]);
	}
	for (int e = 0; e < WALK_ENDS; e++) {
		snprintf(name, sizeof(name), "walk.end.%s", walk_end_name(e));
		each(ctx, name, &w->end[e]);
		snprintf(name, sizeof(name), "copy.end.%s", walk_end_name(e));
		each(ctx, name, &u->end[e]);
	}
	for (int k = 0; k < WALK_RESULT_KINDS; k++) {
		snprintf(name, sizeof(name), "walk.kind.%d", k);
		each(ctx, name, &w->kind[k]);
	}
	for (unsigned n = 0; n < WALK_RESULT_NEEDED; n++) {
		snprintf(name, sizeof(name), "walk.needed.%u", n);
		each(ctx, name, &w->needed[n]);
	}
}

/* ---- into counts ---- */

/* Adds a count. 0 is not written: it is what a missing count reads as. */
void quality_add(struct quality *q, const char *name, uint64_t value)
{
	size_t at = q->names.n;

	if (!value)
		return;
	buf_put(&q->at, &at, sizeof(at));
	buf_put(&q->values, &value, sizeof(value));
	buf_put(&q->names, name, strlen(name) + 1);
}

/* For quality_each. */
static void quality_add_count(void *q, const char *name, uint64_t *value)
{
	quality_add(q, name, *value);
}

/* What is no sum, but the largest of all: it is in the name. */
static void quality_add_most(struct quality *q, const char *name, uint64_t value)
{
	char text[64];

	snprintf(text, sizeof(text), "%s.%llu", name, (unsigned long long)value);
	quality_add(q, text, value != 0);
}

/* A count whose name has a kind and two texts. */
static void quality_add_texts(struct quality *q, const char *kind, const char *a, const char *b,
                              uint64_t value)
{
	struct buf name = { 0 };

	buf_printf(&name, "%s%s\x1f%s", kind, a, b);
	quality_add(q, buf_text(&name), value);
	q->names.failed |= name.failed;
	buf_free(&name);
}

/* The periods of events whose samples all have one, in a window. */
static void quality_add_periods(struct quality *q, const struct profile *p)
{
	for (uint32_t e = 1; e <= profile_n_events(p); e++) {
		uint64_t period = origin_period_of(profile_origin_of(p), e);
		char text[24];

		snprintf(text, sizeof(text), "%llu", (unsigned long long)period);
		if (period)
			quality_add_texts(q, PERIOD, text, profile_event_name(p, e), 1);
	}
}

/* The load is only read. */
void quality_add_load(struct quality *q, const struct load *load)
{
	quality_each((struct load *)load, quality_add_count, q);
	quality_add(q, "damaged", load->damaged);
	quality_add_most(q, "walk.most_copied", load->recorded.copy_bytes);
	quality_add_most(q, "copy.most_needed", load->unwound.needed);
	quality_add_periods(q, load->profile);
	for (size_t i = 0; i < load->n_partial && i < PARTIAL_MOST; i++)
		quality_add_texts(q, PARTIAL, load->partial[i].object, load->partial[i].file,
		                  load->partial[i].samples);
	/* An object that lacks names: state, path and reason in the name, samples as the value. */
	for (size_t i = 0; i < load->n_unnamed && i < UNNAMED_MOST; i++) {
		const struct load_unnamed *u = &load->unnamed[i];
		struct buf name = { 0 };

		buf_printf(&name, UNNAMED "%s\x1f%s\x1f%s", symbol_state_name(u->state), u->object,
		           u->reason);
		quality_add(q, buf_text(&name), u->samples);
		q->names.failed |= name.failed;
		buf_free(&name);
	}
}

/* Makes the array that a store takes. It is valid until quality_free. -ENOMEM: also if an earlier
 * call ran out of memory. */
int quality_end(struct quality *q, const struct store_count **ret, size_t *n)
{
	const size_t *at = (const void *)q->at.bytes;
	const uint64_t *values = (const void *)q->values.bytes;

	if (q->names.failed || q->at.failed || q->values.failed)
		return -ENOMEM;
	*n = q->at.n / sizeof(*at);
	for (size_t i = 0; i < *n; i++) {
		const struct store_count count = { (const char *)q->names.bytes + at[i],
			                           values[i] };

		buf_put(&q->counts, &count, sizeof(count));
	}
	*ret = (const void *)q->counts.bytes;
	return q->counts.failed ? -ENOMEM : 0;
}

void quality_free(struct quality *q)
{
	buf_free(&q->names);
	buf_free(&q->at);
	buf_free(&q->counts);
	buf_free(&q->values);
}

/* ---- back ---- */

/* For quality_each: the counts come back to where they were taken from. */
static void quality_restore_count(void *found, const char *name, uint64_t *value)
{
	*value = store_found_count(found, name);
}

/* The largest of the values that stand in names. */
static uint64_t quality_restore_most(const struct store_found *found, const char *name)
{
	size_t n = strlen(name);
	uint64_t most = 0;

	for (size_t i = 0; i < found->n_counts; i++) {
		const char *text = found->counts[i].name;
		uint64_t v = 0;

		if (!strncmp(text, name, n) && text[n] == '.')
			v = strtoull(text + n + 1, NULL, 10);
		most = v > most ? v : most;
	}
	return most;
}

/* Calls each with the two texts of every count of a kind. */
static int quality_texts(struct load *load, const struct store_found *found, const char *kind,
                         int (*each)(struct load *load, const char *a, size_t n, const char *b,
                                     uint64_t value))
{
	size_t n = strlen(kind);
	int r = 0;

	for (size_t i = 0; i < found->n_counts && r >= 0; i++) {
		const char *a = found->counts[i].name + n, *b;

		if (strncmp(found->counts[i].name, kind, n) != 0)
			continue;
		b = strchr(a, '\x1f');
		if (b)
			r = each(load, a, (size_t)(b - a), b + 1, found->counts[i].value);
	}
	return r;
}

/* For quality_texts. An event that had several periods in the span has none. */
static int quality_period(struct load *load, const char *a, size_t n, const char *b, uint64_t value)
{
	uint64_t period = strtoull(a, NULL, 10);

	(void)n;
	(void)value;
	for (uint32_t e = 1; e <= profile_n_events(load->profile) && period; e++)
		if (!strcmp(profile_event_name(load->profile, e), b))
			return origin_add_period(profile_origin(load->profile), e, period);
	return 0;
}

/* For quality_texts. One object may lack several files; it is one row of each. */
static int quality_partial(struct load *load, const char *a, size_t n, const char *b,
                           uint64_t value)
{
	struct load_partial *more = realloc(load->partial, (load->n_partial + 1) * sizeof(*more));

	if (!more)
		return -ENOMEM;
	load->partial = more;
	more += load->n_partial;
	*more = (struct load_partial){ .object = strndup(a, n), .samples = value };
	if (!more->object)
		return -ENOMEM;
	snprintf(more->file, sizeof(more->file), "%s", b);
	load->n_partial++;
	return 0;
}

/* The most samples first. */
static int quality_partial_order(const void *pa, const void *pb)
{
	const struct load_partial *a = pa, *b = pb;
	int order = (a->samples < b->samples) - (a->samples > b->samples);

	return order ? order : strcmp(a->object, b->object);
}

/* What is a text, or made of texts. -ENOMEM. */
static int quality_restore_texts(struct load *load, const struct store_found *found)
{
	int r = quality_texts(load, found, PERIOD, quality_period);

	if (r >= 0)
		r = quality_texts(load, found, PARTIAL, quality_partial);
	if (load->n_partial)
		qsort(load->partial, load->n_partial, sizeof(*load->partial),
		      quality_partial_order);
	return r < 0 ? -ENOMEM : 0;
}

/* Writes at which rates agents sampled in the span, what they cost, and what of it no store has. */
void quality_text(const struct store_found *found, struct buf *out)
{
	uint64_t ns = store_found_count(found, "agent.window_ns");
	uint64_t cpu_ns = store_found_count(found, "agent.cpu_ns");
	uint64_t dropped = store_found_count(found, "agent.dropped_samples");
	uint64_t untaken = store_found_count(found, "agent.untaken_samples");
	uint64_t folded = store_found_count(found, STORE_FOLDED);
	uint64_t unlabelled = store_found_count(found, "agent.unlabelled_samples");
	uint64_t put_off = store_found_count(found, "lines_put_off");
	bool any = false;

	for (size_t i = 0; i < found->n_counts; i++) {
		const char *name = found->counts[i].name;

		if (strncmp(name, RATE, strlen(RATE)) != 0)
			continue;
		shown_printf(out, "%s%llu at %s Hz",
		             any ? ", " : "windows: ", (unsigned long long)found->counts[i].value,
		             name + strlen(RATE));
		any = true;
	}
	if (any && ns)
		shown_printf(out, "; their agents took %.2f %% of a CPU each",
		             100.0 * (double)cpu_ns / (double)ns);
	if (any)
		buf_put_text(out, "\n");
	if (dropped)
		shown_printf(out, "%llu samples had no room in the agents' memory\n",
		             (unsigned long long)dropped);
	if (untaken)
		shown_printf(out, "%llu samples were lost while this store took nothing\n",
		             (unsigned long long)untaken);
	if (unlabelled)
		shown_printf(out,
		             "%llu samples are of processes that were gone before their unit and "
		             "container could be asked\n",
		             (unsigned long long)unlabelled);
	if (put_off)
		shown_printf(out,
		             "%llu samples have functions whose inlined calls and lines no agent "
		             "had the time to read\n",
		             (unsigned long long)put_off);
	if (folded)
		shown_printf(out,
		             "%llu samples are of stacks that were too many for the store: "
		             "[folded] stands for their innermost functions\n",
		             (unsigned long long)folded);
}

/* The reverse of quality_add_load. What other counts a store has is passed over. */
int quality_restore(struct load *load, const struct store_found *found)
{
	quality_each(load, quality_restore_count, (void *)found);
	load->damaged = store_found_count(found, "damaged") > 0;
	load->recorded.copy_bytes = (uint32_t)quality_restore_most(found, "walk.most_copied");
	load->unwound.needed = quality_restore_most(found, "copy.most_needed");
	return quality_restore_texts(load, found);
}

/* A state by its name; one that is not known is taken for a missing file. */
static enum symbol_state quality_state(const char *name, size_t n)
{
	for (enum symbol_state s = SYMBOL_NAMED; s < SYMBOL_STATES; s++)
		if (strlen(symbol_state_name(s)) == n && !memcmp(symbol_state_name(s), name, n))
			return s;
	return SYMBOL_NO_FILE;
}

/* A name that has not all its parts is passed over. */
int quality_unnamed(const struct store_found *found,
                    void (*each)(void *ctx, enum symbol_state state, const char *object,
                                 const char *reason),
                    void *ctx)
{
	for (size_t i = 0; i < found->n_counts; i++) {
		const char *text = found->counts[i].name;
		struct buf object = { 0 };
		size_t state, path;

		if (strncmp(text, UNNAMED, strlen(UNNAMED)) != 0)
			continue;
		text += strlen(UNNAMED);
		state = strcspn(text, "\x1f");
		if (!text[state])
			continue;
		path = strcspn(text + state + 1, "\x1f");
		if (!text[state + 1 + path])
			continue;
		buf_put(&object, text + state + 1, path);
		buf_put(&object, "", 1);
		if (object.failed)
			return -ENOMEM;
		each(ctx, quality_state(text, state), (const char *)object.bytes,
		     text + state + path + 2);
		buf_free(&object);
	}
	return 0;
}
