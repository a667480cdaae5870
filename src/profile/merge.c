// SPDX-License-Identifier: MIT
// merge.c: profiles into one another: all of one (profile_merge) or the rows that a caller wants
// (profile_filter). Knows only the public face of a profile.
//
// Invariant: what is renamed is renamed once: ids of `from` are mapped lazily, 0 is "not yet".
#include <errno.h>
#include <stdlib.h>

#include "profile/merge.h"

struct merge {
	struct profile *to;
	const struct profile *from;
	uint32_t *objects, *tasks, *frames, *nodes, *events; /* from's id -> to's id */
	uint32_t *path; /* nodes on the way up, as deep as the tree can be */
};

static void merge_free(struct merge *m)
{
	free(m->objects);
	free(m->tasks);
	free(m->frames);
	free(m->nodes);
	free(m->events);
	free(m->path);
}

static int merge_start(struct merge *m, struct profile *to, const struct profile *from)
{
	*m = (struct merge){ .to = to, .from = from };
	m->objects = calloc(profile_n_objects(from) + 1, sizeof(uint32_t));
	m->tasks = calloc(profile_n_tasks(from) + 1, sizeof(uint32_t));
	m->frames = calloc(profile_n_frames(from) + 1, sizeof(uint32_t));
	m->nodes = calloc(profile_n_nodes(from) + 1, sizeof(uint32_t));
	m->events = calloc(profile_n_events(from) + 1, sizeof(uint32_t));
	m->path = calloc(profile_n_nodes(from) + 1, sizeof(uint32_t));
	if (m->objects && m->tasks && m->frames && m->nodes && m->events && m->path)
		return 0;
	merge_free(m);
	return -ENOMEM;
}

static uint32_t merge_string(struct merge *m, uint32_t string)
{
	return string ? profile_string(m->to, profile_text(m->from, string)) : 0;
}

static uint32_t merge_event(struct merge *m, uint32_t event)
{
	if (event && !m->events[event])
		m->events[event] = profile_event(m->to, profile_event_name(m->from, event));
	return m->events[event];
}

static uint32_t merge_object(struct merge *m, uint32_t object)
{
	const struct profile_object *o = profile_object_at(m->from, object);

	if (object && !m->objects[object])
		m->objects[object] =
		        profile_object(m->to, profile_text(m->from, o->path),
		                       o->build_id ? profile_text(m->from, o->build_id) : NULL);
	return m->objects[object];
}

static uint32_t merge_task(struct merge *m, uint32_t task)
{
	const struct profile_task *t = profile_task_at(m->from, task);
	uint32_t comm;

	if (task && !m->tasks[task]) {
		comm = merge_string(m, t->comm);
		m->tasks[task] = comm == PROFILE_FAILED ? PROFILE_FAILED
		                                        : profile_task(m->to, comm, t->pid, t->tid);
	}
	return m->tasks[task];
}

static uint32_t merge_frame(struct merge *m, uint32_t frame)
{
	struct profile_frame f = *profile_frame_at(m->from, frame);

	if (frame && !m->frames[frame]) {
		f.object = merge_object(m, f.object);
		f.symbol = merge_string(m, f.symbol);
		f.file = merge_string(m, f.file);
		if (f.object == PROFILE_FAILED || f.symbol == PROFILE_FAILED ||
		    f.file == PROFILE_FAILED)
			return PROFILE_FAILED;
		m->frames[frame] = profile_frame(m->to, &f);
	}
	return m->frames[frame];
}

/* Up to a node that is known already (or the root), then down again: deep stacks need no recursion. */
static uint32_t merge_node(struct merge *m, uint32_t node)
{
	size_t depth = 0;
	uint32_t at = node, to, frame;

	while (at != PROFILE_ROOT && !m->nodes[at]) {
		m->path[depth++] = at;
		at = profile_node_at(m->from, at)->parent;
	}
	to = m->nodes[at];
	while (depth) {
		at = m->path[--depth];
		frame = merge_frame(m, profile_node_at(m->from, at)->frame);
		to = frame == PROFILE_FAILED ? PROFILE_FAILED : profile_node(m->to, to, frame);
		if (to == PROFILE_FAILED)
			return PROFILE_FAILED;
		m->nodes[at] = to;
	}
	return to;
}

static int merge_row(struct merge *m, const struct profile_row *row)
{
	struct profile_key key = row->key;

	key.event = merge_event(m, key.event);
	key.task = merge_task(m, key.task);
	key.node = merge_node(m, key.node);
	if (key.event == PROFILE_FAILED || key.task == PROFILE_FAILED || key.node == PROFILE_FAILED)
		return -ENOMEM;
	return profile_add(m->to, &key, row->samples, row->weight);
}

static int merge_sample(struct merge *m, const struct profile_sample *from)
{
	struct profile_sample sample = *from;

	sample.key.event = merge_event(m, from->key.event);
	sample.key.task = merge_task(m, from->key.task);
	sample.key.node = merge_node(m, from->key.node);
	if (sample.key.event == PROFILE_FAILED || sample.key.task == PROFILE_FAILED ||
	    sample.key.node == PROFILE_FAILED)
		return -ENOMEM;
	return profile_add_sample(m->to, &sample);
}

static int merge_samples(struct merge *m,
                         bool (*keep)(const struct profile *, const struct profile_row *, void *),
                         void *ctx)
{
	int r = 0;

	for (size_t i = 0; i < profile_n_samples(m->from) && r >= 0; i++) {
		const struct profile_sample *s = profile_sample_at(m->from, i);
		const struct profile_row row = { s->key, 1, s->weight };

		if (!keep || keep(m->from, &row, ctx))
			r = merge_sample(m, s);
	}
	return r < 0 ? r : profile_sort_samples(m->to);
}

/* What is the same in the copy whatever rows it gets. */
static int merge_names(struct merge *m)
{
	int r = 0;

	for (uint32_t i = 0; i < profile_n_states(m->from) && r >= 0; i++) {
		const struct profile_state *state = profile_state_at(m->from, i);

		r = profile_set_state(m->to, i, state->name, state->text);
		if (state->unfinished)
			profile_set_unfinished(m->to, i);
	}
	/* In from's order, so that events get the same ids whether they have rows left or not. */
	for (uint32_t e = 1; e <= profile_n_events(m->from) && r >= 0; e++)
		if (merge_event(m, e) == PROFILE_FAILED)
			r = -ENOMEM;
	return r;
}

static int merge_rows(struct profile *to, const struct profile *from,
                      bool (*keep)(const struct profile *, const struct profile_row *, void *),
                      void *ctx)
{
	struct merge m;
	int r = merge_start(&m, to, from);

	if (r < 0)
		return r;
	r = merge_names(&m);
	for (size_t i = 0; i < profile_n_rows(from) && r >= 0; i++) {
		const struct profile_row *row = profile_row_at(from, i);

		if (!keep || keep(from, row, ctx))
			r = merge_row(&m, row);
	}
	if (r >= 0)
		r = merge_samples(&m, keep, ctx);
	merge_free(&m);
	return r;
}

int merge_in_order(struct profile *to, const struct profile *from, const size_t *rows,
                   const size_t *samples)
{
	struct merge m;
	int r = merge_start(&m, to, from);

	if (r < 0)
		return r;
	r = merge_names(&m);
	for (size_t i = 0; i < profile_n_rows(from) && r >= 0; i++)
		r = merge_row(&m, profile_row_at(from, rows[i]));
	for (size_t i = 0; i < profile_n_samples(from) && r >= 0; i++)
		r = merge_sample(&m, profile_sample_at(from, samples[i]));
	merge_free(&m);
	return r;
}

int profile_merge(struct profile *p, const struct profile *from)
{
	struct profile_counts *to = profile_counts(p);
	const struct profile_counts *add = profile_counts_of(from);
	int r;

	if (profile_keeps(p) != profile_keeps(from))
		return -EINVAL;
	r = merge_rows(p, from, NULL, NULL);
	if (r < 0)
		return r;
	to->lost += add->lost;
	to->lost_samples += add->lost_samples;
	to->duplicate_samples += add->duplicate_samples;
	to->undecoded += add->undecoded;
	return 0;
}

int profile_filter(struct profile **ret, const struct profile *p,
                   bool (*keep)(const struct profile *p, const struct profile_row *row, void *ctx),
                   void *ctx)
{
	struct profile *filtered;
	int r = profile_new(&filtered, profile_keeps(p));

	if (r < 0)
		return r;
	r = merge_rows(filtered, p, keep, ctx);
	if (r < 0) {
		profile_free(filtered);
		return r;
	}
	*profile_counts(filtered) = *profile_counts_of(p);
	*ret = filtered;
	return 0;
}
