// SPDX-License-Identifier: MIT
/*
 * merge.c: copies one profile into another: all of it (profile_merge), the rows that a caller wants
 * (profile_filter), in another order (merge_in_order), or with the lines and inlined functions of
 * each frame (profile_expand). Uses only what profile.h offers.
 *
 * A profile names everything by number: strings, objects, tasks, frames, and nodes of the tree of
 * stacks. A number means nothing in another profile, so a copy is a translation. Each kind has an
 * array from the one's numbers to the other's.
 *
 * Invariant: each thing is translated once. Ids of `from` are translated when they are first met; 0
 * means "not yet".
 */
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/pool.h"
#include "base/trie.h"
#include "profile/merge.h"
#include "profile/nameless.h"
#include "profile/origin.h"

struct merge {
	struct profile *to;
	const struct profile *from;
	/* from's id -> to's id */
	uint32_t *strings, *objects, *tasks, *frames, *nodes, *events;
	uint32_t
	        *keys; /* of samples: by from's, to's; 0: its row is not copied. NULL: no samples */
	uint32_t *path;          /* nodes on the way up, as deep as the tree can be */
	struct trie_step *steps; /* the way down of those */
	size_t steps_capacity;
	/* profile_expand: */
	size_t (*source)(void *ctx, uint32_t frame, const struct profile_source **ret);
	void *source_ctx;
	uint32_t *inlined; /* from's frame -> where its inlined frames begin in more, + 1 */
	struct buf more;   /* u32: their number, then to's frames, outermost first */
	size_t moves;      /* nodes; of profile_expand_in_place */
	bool alone; /* `to` was empty, and what differs stays different: nothing is looked for */
};

static void merge_free(struct merge *m)
{
	free(m->strings);
	free(m->objects);
	free(m->tasks);
	free(m->frames);
	free(m->nodes);
	free(m->events);
	free(m->keys);
	free(m->path);
	free(m->steps);
	free(m->inlined);
	buf_free(&m->more);
}

/* -ENOMEM: nothing was set up. */
static int merge_start(struct merge *m, struct profile *to, const struct profile *from)
{
	*m = (struct merge){ .to = to, .from = from };
	m->strings = calloc(profile_n_strings(from) + 1, sizeof(uint32_t));
	m->objects = calloc(profile_n_objects(from) + 1, sizeof(uint32_t));
	m->tasks = calloc(profile_n_tasks(from) + 1, sizeof(uint32_t));
	m->frames = calloc(profile_n_frames(from) + 1, sizeof(uint32_t));
	m->nodes = calloc(profile_n_nodes(from) + 1, sizeof(uint32_t));
	m->events = calloc(profile_n_events(from) + 1, sizeof(uint32_t));
	if (profile_n_samples(from))
		m->keys = calloc(profile_n_rows(from) + 1, sizeof(uint32_t));
	m->path = calloc(profile_n_nodes(from) + 1, sizeof(uint32_t));
	if (m->strings && m->objects && m->tasks && m->frames && m->nodes && m->events &&
	    (m->keys || !profile_n_samples(from)) && m->path)
		return 0;
	merge_free(m);
	return -ENOMEM;
}

/* 0 for none, PROFILE_FAILED: out of memory. The same of those that follow. */
static uint32_t merge_string(struct merge *m, uint32_t string)
{
	if (string && !m->strings[string])
		m->strings[string] = profile_string(m->to, profile_text(m->from, string));
	return m->strings[string];
}

/* An event without rows has a place, too: reports list it. */
static uint32_t merge_event(struct merge *m, uint32_t event)
{
	if (event && !m->events[event])
		m->events[event] = profile_event_in(m->to, profile_event_name(m->from, event),
		                                    profile_event_unit(m->from, event));
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

/* The comm comes first: a task holds its number. */
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

/* The frames inlined into f, which has source[0] already. more is one array for all frames; 0 in
 * inlined means that the frame has none. -ENOMEM. */
static int merge_inlined(struct merge *m, uint32_t frame, struct profile_frame f,
                         const struct profile_source *source, size_t n)
{
	m->inlined[frame] = (uint32_t)(m->more.n / sizeof(uint32_t)) + 1;
	buf_put_u32(&m->more, (uint32_t)n - 1);
	f.kind = PROFILE_INLINED;
	for (size_t i = 1; i < n; i++) {
		uint32_t id;

		f.symbol = profile_string(m->to, source[i].function);
		f.file = profile_string(m->to, source[i].file);
		f.line = source[i].line;
		f.depth = (uint32_t)i;
		if (f.symbol == PROFILE_FAILED || f.file == PROFILE_FAILED)
			return -ENOMEM;
		id = profile_frame(m->to, &f);
		if (id == PROFILE_FAILED || buf_put_u32(&m->more, id) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Puts what stands for a frame of p into f. */
static int merge_own_source(struct profile *p, const struct profile_source *source,
                            struct profile_frame *f)
{
	/* A name of the symbol table wins over one of the debugging information. */
	if (source->function && (!f->symbol || nameless_is(profile_text(p, f->symbol), NULL)))
		f->symbol = profile_string(p, source->function);
	f->file = profile_string(p, source->file);
	f->line = source->line;
	return f->symbol == PROFILE_FAILED || f->file == PROFILE_FAILED ? -ENOMEM : 0;
}

/* Puts the source of a frame into f. */
static int merge_source(struct merge *m, uint32_t frame, struct profile_frame *f)
{
	const struct profile_source *source;
	size_t n = m->source ? m->source(m->source_ctx, frame, &source) : 0;
	int r = n ? merge_own_source(m->to, source, f) : 0;

	return r >= 0 && n > 1 ? merge_inlined(m, frame, *f, source, n) : r;
}

/* A frame with all that it names. Where lines are asked for, inlined frames have their own depth
 * already, and all others begin anew at 0. */
static uint32_t merge_frame(struct merge *m, uint32_t frame)
{
	struct profile_frame f = *profile_frame_at(m->from, frame);

	if (m->source && f.kind != PROFILE_INLINED)
		f.depth = 0;
	if (frame && !m->frames[frame]) {
		f.object = merge_object(m, f.object);
		f.symbol = merge_string(m, f.symbol);
		f.file = merge_string(m, f.file);
		if (f.object == PROFILE_FAILED || f.symbol == PROFILE_FAILED ||
		    f.file == PROFILE_FAILED || merge_source(m, frame, &f) < 0)
			return PROFILE_FAILED;
		m->frames[frame] = profile_frame(m->to, &f);
	}
	return m->frames[frame];
}

/* The nodes of what is inlined in a frame, below the frame's own. */
static uint32_t merge_inlined_nodes(struct merge *m, uint32_t frame, uint32_t to)
{
	const uint32_t *more = (const uint32_t *)(const void *)m->more.bytes;
	size_t at = m->inlined[frame];

	for (uint32_t n = at ? more[at - 1] : 0; n && to != PROFILE_FAILED; n--)
		to = profile_node(m->to, to, more[at++]);
	return to;
}

/* Puts the steps of m below a node of which it is known that it has no such child. depth is not 0.
 * PROFILE_FAILED. */
static uint32_t merge_new_way(struct merge *m, uint32_t to, size_t depth)
{
	to = m->steps[0].id = profile_node_new(m->to, to, m->steps[0].key);
	return to == PROFILE_FAILED ? to : profile_path(m->to, to, m->steps + 1, depth - 1);
}

/* The same of the nodes in m->path, each of which becomes one node, below to. */
static uint32_t merge_way(struct merge *m, uint32_t to, size_t depth)
{
	const struct trie *tree = profile_tree(m->from);

	if (ARRAY_ROOM(&m->steps, &m->steps_capacity, depth) < 0)
		return PROFILE_FAILED;
	for (size_t i = 0; i < depth; i++) {
		uint32_t from = trie_at(tree, m->path[depth - i - 1]).key;

		m->steps[i].key = m->frames[from] ? m->frames[from] : merge_frame(m, from);
		if (m->steps[i].key == PROFILE_FAILED)
			return PROFILE_FAILED;
	}
	if (m->alone)
		to = merge_new_way(m, to, depth);
	else
		to = profile_path(m->to, to, m->steps, depth);
	for (size_t i = 0; i < depth && to != PROFILE_FAILED; i++)
		m->nodes[m->path[depth - i - 1]] = m->steps[i].id;
	return to;
}

/* Climbs up to a node that was translated already (or the root), then goes down again. So deep
 * stacks need no recursion. */
static uint32_t merge_node(struct merge *m, uint32_t node)
{
	const struct trie *tree = profile_tree(m->from);
	size_t depth = 0;
	uint32_t at = node, to, frame;

	while (at != PROFILE_ROOT && !m->nodes[at]) {
		m->path[depth++] = at;
		at = trie_at(tree, at).parent;
	}
	to = m->nodes[at];
	if (depth && !m->source)
		return merge_way(m, to, depth);
	while (depth) {
		uint32_t from;

		at = m->path[--depth];
		from = trie_at(tree, at).key;
		frame = m->frames[from] ? m->frames[from] : merge_frame(m, from);
		to = frame == PROFILE_FAILED ? PROFILE_FAILED : profile_node(m->to, to, frame);
		if (to != PROFILE_FAILED && m->source)
			to = merge_inlined_nodes(m, from, to);
		if (to == PROFILE_FAILED)
			return PROFILE_FAILED;
		m->nodes[at] = to;
	}
	return to;
}

/* Translates a text of a key, unless the profile does not keep this column. */
static int merge_text(struct merge *m, uint32_t *text)
{
	if (*text == PROFILE_NOT_KEPT)
		return 0;
	*text = merge_string(m, *text);
	return *text == PROFILE_FAILED ? -ENOMEM : 0;
}

/* Translates all that a key names. -ENOMEM. */
static int merge_key(struct merge *m, struct profile_key *key)
{
	int r = 0;

	key->event = merge_event(m, key->event);
	key->task = merge_task(m, key->task);
	key->node = merge_node(m, key->node);
	if (key->event == PROFILE_FAILED || key->task == PROFILE_FAILED ||
	    key->node == PROFILE_FAILED)
		return -ENOMEM;
#define NUMBER(bit, id, name)
#define TEXT(bit, id, name) r = r < 0 ? r : merge_text(m, &key->name);
#include "profile/columns.def"
	return r;
}

/* Copies the row at this place. -ENOMEM. */
static int merge_row(struct merge *m, size_t place)
{
	const struct profile_row *row = profile_row_at(m->from, place);
	struct profile_key key = row->key;
	uint32_t number = 0;
	int r = merge_key(m, &key);

	if (r >= 0 && m->alone) {
		r = profile_add_new(m->to, &key, row->samples, row->weight);
		number = (uint32_t)profile_n_rows(m->to);
	} else if (r >= 0) {
		r = profile_add_sampled(m->to, &key, row->samples, row->weight, &number);
	}
	if (m->keys)
		m->keys[place + 1] = number;
	return r;
}

/* Copies a sample whose row was copied. */
static int merge_sample(struct merge *m, const struct profile_sample *from)
{
	struct profile_sample sample = *from;

	sample.key = m->keys[from->key];
	return sample.key ? profile_add_sample(m->to, &sample) : 0;
}

/* Samples that are kept one by one. */
static int merge_samples(struct merge *m)
{
	int r = 0;

	for (size_t i = 0; i < profile_n_samples(m->from) && r >= 0; i++)
		r = merge_sample(m, profile_sample_at(m->from, i));
	return r < 0 ? r : profile_sort_samples(m->to);
}

/* Copies what the recording says of the events, objects and tasks that the copy has. A program that
 * has no frame becomes an object only here, so that objects with frames come first. */
static int merge_origin(struct merge *m)
{
	const struct origin *from = profile_origin_of(m->from);
	struct origin *to = profile_origin(m->to);
	int r = 0;

	/* Times are those of both recordings together. */
	origin_add_times(to, from);
	for (uint32_t e = 1; e <= profile_n_events(m->from) && r >= 0; e++)
		if (m->events[e] && map_get(&from->periods, e, NULL))
			r = origin_add_period(to, m->events[e], origin_period_of(from, e));
	for (uint32_t e = 1; e <= profile_n_events(m->from) && r >= 0; e++)
		if (m->events[e] && map_get(&from->cpus, e, NULL))
			r = origin_add_cpu(to, m->events[e], origin_cpu_of(from, e));
	for (uint32_t t = 1; t <= profile_n_tasks(m->from) && r >= 0; t++) {
		uint32_t program = origin_program_of(from, t), object;

		if (!m->tasks[t] || !program)
			continue;
		object = merge_object(m, program);
		r = object == PROFILE_FAILED ? -ENOMEM
		                             : origin_add_program(m->to, m->tasks[t], object);
	}
	/* Which part of an object's file was mapped as code. */
	for (uint32_t o = 1; o <= profile_n_objects(m->from) && r >= 0; o++) {
		struct origin_code code = origin_code_of(from, o);

		if (m->objects[o] && code.limit)
			r = origin_add_code(to, m->objects[o], &code);
	}
	return r;
}

/* Copies what does not depend on which rows are copied. */
static int merge_names(struct merge *m)
{
	int r = 0;

	for (uint32_t i = 0; i < profile_n_states(m->from) && r >= 0; i++)
		r = profile_set_state(m->to, i, profile_state_at(m->from, i));
	if (profile_slices(m->from)->quantum_ns)
		profile_set_slices(m->to, profile_slices(m->from));
	/* In from's order, so that events get the same ids whether they have rows left or not. */
	for (uint32_t e = 1; e <= profile_n_events(m->from) && r >= 0; e++)
		if (merge_event(m, e) == PROFILE_FAILED)
			r = -ENOMEM;
	return r;
}

/* Copies the rows and samples that keep wants (NULL: all) into `to`, with everything that they
 * name. On -ENOMEM `to` has a part of them. */
static int merge_rows(struct profile *to, const struct profile *from,
                      bool (*keep)(const struct profile *, const struct profile_row *, void *),
                      void *ctx)
{
	struct merge m;
	int r = merge_start(&m, to, from);

	if (r < 0)
		return r;
	r = merge_names(&m);
	for (size_t i = 0; i < profile_n_rows(from) && r >= 0; i++)
		if (!keep || keep(from, profile_row_at(from, i), ctx))
			r = merge_row(&m, i);
	if (r >= 0)
		r = merge_samples(&m);
	if (r >= 0)
		r = merge_origin(&m);
	merge_free(&m);
	return r;
}

/* rows and samples: the numbers of `from` in the order that `to` shall have them in, each once. */
int merge_in_order(struct profile *to, const struct profile *from, const uint32_t *rows,
                   const uint32_t *samples)
{
	struct merge m;
	int r = merge_start(&m, to, from);

	if (r < 0)
		return r;
	m.alone = true;
	r = merge_names(&m);
	if (r >= 0)
		r = profile_room(to, profile_n_rows(from));
	if (r >= 0)
		r = profile_room_samples(to, profile_n_samples(from));
	for (size_t i = 0; i < profile_n_rows(from) && r >= 0; i++)
		r = merge_row(&m, rows[i]);
	for (size_t i = 0; i < profile_n_samples(from) && r >= 0; i++)
		r = merge_sample(&m, profile_sample_at(from, samples[i]));
	if (r >= 0)
		r = merge_origin(&m);
	merge_free(&m);
	return r;
}

/* Adds all of from to p. -EINVAL: the two do not keep the same columns, so their rows cannot be
 * compared. -ENOMEM: p has a part of it. */
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
	to->lost_beside += add->lost_beside;
	to->skipped_samples += add->skipped_samples;
	to->lost_tasks += add->lost_tasks;
	to->duplicate_samples += add->duplicate_samples;
	to->undecoded += add->undecoded;
	return 0;
}

/* A new profile of the rows that keep wants; the counts of losses are the whole recording's. */
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

/* Rows and samples keep their weights; only their stacks become longer. */
int profile_expand(struct profile **ret, const struct profile *p,
                   size_t (*at)(void *ctx, uint32_t frame, const struct profile_source **ret),
                   void *ctx)
{
	struct profile *expanded;
	struct merge m;
	int r = profile_new(&expanded, profile_keeps(p));

	if (r < 0)
		return r;
	r = merge_start(&m, expanded, p);
	if (r < 0) {
		profile_free(expanded);
		return r;
	}
	m.source = at;
	m.source_ctx = ctx;
	m.inlined = calloc(profile_n_frames(p) + 1, sizeof(*m.inlined));
	r = m.inlined ? merge_names(&m) : -ENOMEM;
	if (r >= 0)
		r = profile_room(expanded, profile_n_rows(p));
	if (r >= 0)
		r = profile_room_samples(expanded, profile_n_samples(p));
	for (size_t i = 0; i < profile_n_rows(p) && r >= 0; i++)
		r = merge_row(&m, i);
	if (r >= 0)
		r = merge_samples(&m);
	if (r >= 0)
		r = merge_origin(&m);
	merge_free(&m);
	if (r < 0) {
		profile_free(expanded);
		return r;
	}
	*profile_counts(expanded) = *profile_counts_of(p);
	*ret = expanded;
	return 0;
}

/* Fills *frames with what p's frames become, and marks in m->inlined those in which calls were
 * inlined. A frame keeps its number, so that nodes can stay. One that becomes equal to an earlier
 * one is that one (m->frames), and its number is nothing's. 1; 0: this cannot be done; -ENOMEM. */
static int merge_own_frames(struct merge *m, struct pool *frames)
{
	const struct profile_source *source;
	size_t n = profile_n_frames(m->from);

	for (uint32_t i = 1; i <= n; i++) {
		struct profile_frame f = *profile_frame_at(m->from, i);
		size_t sources = m->source(m->source_ctx, i, &source);
		const struct profile_frame unused = { .address = i, .depth = UINT32_MAX };
		uint32_t id;

		if (f.kind != PROFILE_INLINED)
			f.depth = 0;
		if (sources && merge_own_source(m->to, source, &f) < 0)
			return -ENOMEM;
		m->inlined[i] = sources > 1;
		m->frames[i] = id = pool_put(frames, &f);
		if (id == i)
			continue;
		id = id == POOL_FAILED ? id : pool_put(frames, &unused);
		if (id != i)
			return id == POOL_FAILED ? -ENOMEM : 0;
	}
	return 1;
}

/* Whether so few nodes are in or below frames that are others now that the rest is worth keeping:
 * what moves stays behind, unused. -ENOMEM. */
static int merge_few_move(struct merge *m)
{
	const struct trie *tree = profile_tree(m->from);
	unsigned char *moves = calloc((size_t)tree->n + 1, 1);
	size_t n = 0;

	for (uint32_t i = 1; moves && i <= tree->n; i++) {
		struct trie_node at = trie_at(tree, i);

		moves[i] = moves[at.parent] || m->inlined[at.key] || m->frames[at.key] != at.key;
		n += moves[i];
	}
	free(moves);
	if (!moves)
		return -ENOMEM;
	m->moves = n;
	return n < tree->n / 2 + 1;
}

/* Makes the inlined frames of p, which has its own with their sources already. -ENOMEM. */
static int merge_inlined_frames(struct merge *m)
{
	size_t n = profile_n_frames(m->to);
	int r = 0;

	for (uint32_t i = 1; i <= n && r >= 0; i++) {
		const struct profile_source *source;
		size_t sources = m->inlined[i] ? m->source(m->source_ctx, i, &source) : 0;

		m->inlined[i] = 0;
		if (sources > 1)
			r = merge_inlined(m, i, *profile_frame_at(m->to, m->frames[i]), source,
			                  sources);
	}
	return r;
}

/* Fills m->nodes with where p's nodes are now: a node in or below a frame that is another now, or
 * has inlined calls, is another one. A parent's number is less than its children's. -ENOMEM. */
static int merge_move_nodes(struct merge *m)
{
	const struct trie *tree = profile_tree(m->to);
	uint32_t n = tree->n;

	m->nodes = calloc((size_t)n + 1, sizeof(*m->nodes));
	if (!m->nodes)
		return -ENOMEM;
	for (uint32_t i = 1; i <= n; i++) {
		struct trie_node at = trie_at(tree, i);
		uint32_t to = i;

		if (m->nodes[at.parent] != at.parent || m->frames[at.key] != at.key)
			to = profile_node(m->to, m->nodes[at.parent], m->frames[at.key]);
		if (to != PROFILE_FAILED)
			to = merge_inlined_nodes(m, at.key, to);
		if (to == PROFILE_FAILED)
			return -ENOMEM;
		m->nodes[i] = to;
	}
	return 0;
}

/* Most programs have no debugging information, so few nodes change, or none. */
int profile_expand_in_place(struct profile *p,
                            size_t (*at)(void *ctx, uint32_t frame,
                                         const struct profile_source **ret),
                            void *ctx)
{
	struct merge m = { .to = p, .from = p, .source = at, .source_ctx = ctx };
	struct pool frames = { .size = sizeof(struct profile_frame) };
	int r = -ENOMEM;

	m.inlined = calloc(profile_n_frames(p) + 1, sizeof(*m.inlined));
	m.frames = calloc(profile_n_frames(p) + 1, sizeof(*m.frames));
	if (m.inlined && m.frames)
		r = merge_own_frames(&m, &frames);
	if (r > 0)
		r = merge_few_move(&m);
	if (r > 0) {
		profile_set_frames(p, &frames);
		r = merge_inlined_frames(&m);
		if (r >= 0 && m.moves)
			r = merge_move_nodes(&m);
		if (r >= 0 && m.moves)
			r = profile_move(p, m.nodes);
		r = r < 0 ? r : 1;
	}
	pool_free(&frames);
	merge_free(&m);
	return r;
}
