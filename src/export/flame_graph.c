// SPDX-License-Identifier: MIT
/*
 * flame_graph.c: see flame_graph.h. Each profile's stacks are placed once per root that they hang
 * below; what is equal by name is one cell. Knows nothing of how a graph is shown.
 */
#include "export/flame_graph.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/shown.h"
#include "export/runtime.h"
#include "profile/builds.h"

/* One side on its way in. */
struct flame_merge {
	struct flame_graph *g;
	const struct profile *p;
	struct builds *builds;
	uint32_t side;
	uint32_t *functions;     /* profile's frame -> function; 0: not made yet */
	uint32_t *path;          /* profile's nodes on the way up */
	struct trie_step *steps; /* the way down of those */
	size_t steps_capacity;
	uint32_t *nodes;   /* profile's node -> node; 0: not placed yet */
	uint32_t *events;  /* profile's event -> event; 0: not made yet */
	uint32_t *threads; /* profile's task -> thread */
};

struct flame_function flame_function(const struct flame_graph *g, uint32_t id)
{
	struct flame_function f = { 0 };

	/* Copied out: the pool's bytes are not aligned for the struct. The same of those below. */
	if (id) /* 0 is the pool's own empty string */
		memcpy(&f, intern_get(&g->functions, id), sizeof(f));
	return f;
}

struct flame_thread flame_thread(const struct flame_graph *g, uint32_t id)
{
	struct flame_thread t;

	memcpy(&t, intern_get(&g->threads, id + 1), sizeof(t));
	return t;
}

struct flame_key flame_key(const struct flame_graph *g, uint32_t id)
{
	struct flame_key k;

	memcpy(&k, pool_at(&g->keys, id + 1), sizeof(k));
	return k;
}

static struct flame_event flame_event_at(const struct flame_graph *g, uint32_t id)
{
	struct flame_event e;

	memcpy(&e, intern_get(&g->events, id + 1), sizeof(e));
	return e;
}

const char *flame_event(const struct flame_graph *g, uint32_t id)
{
	return flame_text(g, flame_event_at(g, id).name);
}

enum profile_unit flame_event_unit(const struct flame_graph *g, uint32_t id)
{
	/* Anything but nanoseconds is a count. */
	return flame_event_at(g, id).unit == PROFILE_NANOSECONDS ? PROFILE_NANOSECONDS
	                                                         : PROFILE_COUNT;
}

const char *flame_text(const struct flame_graph *g, uint32_t text)
{
	return intern_get(&g->texts, text);
}

/* The id of a text as people are shown it: a name must not mislead them by what it does to the text
 * around it. */
static uint32_t flame_shown(struct flame_graph *g, const char *text, size_t n)
{
	struct buf shown = { 0 };
	uint32_t id;

	shown_put(&shown, text, n);
	id = shown.failed
	             ? INTERN_FAILED
	             : intern_bytes(&g->texts, shown.n ? (const char *)shown.bytes : "", shown.n);
	buf_free(&shown);
	return id;
}

/* A function is its shown name, its shown object and its kind. INTERN_FAILED: out of memory. */
static uint32_t flame_add_function(struct flame_graph *g, const char *name, size_t n,
                                   const char *object, uint32_t kind)
{
	struct flame_function f = { flame_shown(g, name, n), flame_shown(g, object, strlen(object)),
		                    kind };

	if (f.name == INTERN_FAILED || f.object == INTERN_FAILED)
		return INTERN_FAILED;
	return intern_bytes(&g->functions, &f, sizeof(f));
}

uint32_t flame_graph_function(struct flame_graph *g, const char *name, uint32_t kind)
{
	return flame_add_function(g, name, strlen(name), "", kind);
}

/* The function of a frame of the profile being added, made once. */
static uint32_t flame_of_frame(struct flame_merge *m, uint32_t frame)
{
	const struct profile_frame *f = profile_frame_at(m->p, frame);
	const char *path = profile_text(m->p, profile_object_at(m->p, f->object)->path);
	uint32_t runtime;
	struct buf name = { 0 };

	if (m->functions[frame])
		return m->functions[frame];
	runtime = runtime_of(m->p, f);
	export_frame_name(m->p, frame, &name);
	m->functions[frame] =
	        name.failed ? INTERN_FAILED
	                    : flame_add_function(m->g, buf_text(&name), name.n,
	                                         m->builds ? builds_known(m->builds, path) : path,
	                                         runtime ? FLAME_RUNTIME + runtime - 1 : f->kind);
	buf_free(&name);
	return m->functions[frame];
}

/* Node 0 is the root, "all". */
struct flame_node flame_node(const struct flame_graph *g, size_t id)
{
	struct trie_node node;

	if (!id)
		return (struct flame_node){ .function = g->root };
	node = trie_at(&g->nodes, (uint32_t)id);
	return (struct flame_node){ .parent = node.parent, .function = node.key };
}

/* The child of a node for a function, made when new. -ENOMEM, also for a function that could not be
 * made. */
static int flame_child(struct flame_graph *g, uint32_t parent, uint32_t function, uint32_t *ret)
{
	uint32_t node =
	        function == INTERN_FAILED ? TRIE_FAILED : trie_put(&g->nodes, parent, function);

	if (node == TRIE_FAILED)
		return -ENOMEM;
	*ret = node;
	return 0;
}

/* Gives the node under which a stack hangs: the root, or for samples without any frame a cell that
 * says what is missing. Other stacks that are not whole have a root that says it. */
static int flame_root(struct flame_merge *m, const struct profile_key *from, uint32_t *ret)
{
	const struct profile_state *s = profile_state_at(m->p, from->state);
	struct buf name = { 0 };
	int r;

	*ret = 0;
	if (!s->unfinished || from->node != PROFILE_ROOT)
		return 0;
	buf_printf(&name, "[unfinished: %s]", s->text);
	r = name.failed ? -ENOMEM
	                : flame_child(m->g, 0,
	                              flame_add_function(m->g, buf_text(&name), name.n, "",
	                                                 FLAME_UNFINISHED),
	                              ret);
	buf_free(&name);
	return r;
}

/* Places the profile's nodes in m->path below a node, and gives the innermost one's place. */
static int flame_way(struct flame_merge *m, uint32_t *at, size_t depth)
{
	if (ARRAY_ROOM(&m->steps, &m->steps_capacity, depth) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < depth; i++) {
		m->steps[i].key =
		        flame_of_frame(m, profile_node_at(m->p, m->path[depth - i - 1]).frame);
		if (m->steps[i].key == INTERN_FAILED)
			return -ENOMEM;
	}
	*at = trie_path(&m->g->nodes, *at, m->steps, depth);
	if (*at == TRIE_FAILED)
		return -ENOMEM;
	for (size_t i = 0; i < depth; i++)
		m->nodes[m->path[depth - i - 1]] = m->steps[i].id;
	return 0;
}

/* Places a stack, below the root that a sample without any frame has: climbs up to what was placed
 * already, then goes down again. */
static int flame_place(struct flame_merge *m, uint32_t root, uint32_t node, uint32_t *ret)
{
	uint32_t at = root;
	size_t depth = 0;
	int r = 0;

	while (node != PROFILE_ROOT && !m->nodes[node]) {
		m->path[depth++] = node;
		node = profile_node_at(m->p, node).parent;
	}
	if (node != PROFILE_ROOT)
		at = m->nodes[node];
	if (depth)
		r = flame_way(m, &at, depth);
	*ret = at;
	return r;
}

/* Which of FLAME_SLICES equal parts of the span a time lies in. The + 1 keeps the last time
 * within. */
static uint32_t flame_slice(const struct flame_span *span, uint64_t time_ns)
{
	double whole = (double)(span->end_ns - span->start_ns) + 1;

	return (uint32_t)((double)(time_ns - span->start_ns) / whole * FLAME_SLICES);
}

/* Adds weight and samples to the row of a key, made when new. -ENOMEM. */
static int flame_count(struct flame_graph *g, const struct flame_key *key, uint64_t weight,
                       uint64_t samples)
{
	uint32_t id = pool_put(&g->keys, key);

	if (id == POOL_FAILED)
		return -ENOMEM;
	id--;
	if (ARRAY_ROOM_ZEROED(&g->values, &g->values_capacity, (size_t)id + 1) < 0)
		return -ENOMEM;
	g->n_keys = g->keys.n;
	g->values[id].weight += weight;
	g->values[id].samples += samples;
	return 0;
}

/* The graph's number of an event of the profile. -ENOMEM. -EOVERFLOW: more than a key can hold. */
static int flame_number_event(struct flame_merge *m, uint32_t event, uint32_t *ret)
{
	const char *name = profile_event_name(m->p, event);
	struct flame_event e;
	uint32_t id = m->events[event];

	if (!id) {
		e = (struct flame_event){ flame_shown(m->g, name, strlen(name)),
			                  profile_event_unit(m->p, event) };
		id = intern_bytes(&m->g->events, &e, sizeof(e));
		if (e.name == INTERN_FAILED || id == INTERN_FAILED)
			return -ENOMEM;
		m->events[event] = id;
	}
	*ret = id - 1;
	return *ret > UINT16_MAX ? -EOVERFLOW : 0;
}

/* The graph's number of a task of the profile. -ENOMEM. */
static int flame_number_thread(struct flame_merge *m, uint32_t task, uint32_t *ret)
{
	const struct profile_task *t = profile_task_at(m->p, task);
	const char *comm = profile_text(m->p, t->comm);
	struct flame_thread thread;
	uint32_t id = m->threads[task];

	if (!id) {
		thread = (struct flame_thread){ flame_shown(m->g, comm, strlen(comm)), t->pid,
			                        t->tid };
		id = intern_bytes(&m->g->threads, &thread, sizeof(thread));
		if (thread.comm == INTERN_FAILED || id == INTERN_FAILED)
			return -ENOMEM;
		m->threads[task] = id;
	}
	*ret = id - 1;
	return 0;
}

/* Adds one stack of the profile to the graph, with its thread, event and state. slice: the part of
 * the side's time that it lies in. -EOVERFLOW: more events than a key can number. */
static int flame_add(struct flame_merge *m, const struct profile_key *from, uint32_t slice,
                     uint64_t weight, uint64_t samples)
{
	struct flame_key key = { .slice = slice };
	uint32_t event, root;
	int r = flame_number_event(m, from->event, &event);

	if (r >= 0)
		r = flame_number_thread(m, from->task, &key.thread);
	if (r >= 0)
		r = flame_root(m, from, &root);
	if (r < 0)
		return r;
	/* 16 bits of event, 8 of state, 8 of side: the page takes it apart again. */
	key.what = event | from->state << 16 | m->side << 24;
	r = flame_place(m, root, from->node, &key.node);
	return r < 0 ? r : flame_count(m->g, &key, weight, samples);
}

/* Numbers events, threads and functions of all samples, in the order in which counting does. */
static int flame_number_all(struct flame_merge *m)
{
	uint32_t ignored;
	int r = 0;

	for (size_t i = 0; i < profile_n_samples(m->p) && r >= 0; i++) {
		const struct profile_key *key = profile_key_of(m->p, profile_sample_at(m->p, i));

		r = flame_number_event(m, key->event, &ignored);
		if (r >= 0)
			r = flame_number_thread(m, key->task, &ignored);
		if (r >= 0)
			r = flame_root(m, key, &ignored);
		if (r >= 0)
			r = flame_place(m, ignored, key->node, &ignored);
	}
	return r;
}

/* The time `after` start, or end where that is earlier. */
static uint64_t flame_earlier(uint64_t end_ns, uint64_t start_ns, uint64_t after)
{
	return after < end_ns - start_ns ? start_ns + after : end_ns;
}

/* Adds every sample, each in its slice of time. The span of the side is found first, because slices
 * divide it. */
static int flame_samples(struct flame_merge *m, const struct flame_side *part)
{
	struct flame_span *span = &m->g->spans[m->side];
	size_t n = profile_n_samples(m->p);
	int r = 0;

	*span = (struct flame_span){ .start_ns = UINT64_MAX };
	for (size_t i = 0; i < n; i++) {
		uint64_t at = profile_sample_at(m->p, i)->time_ns;

		span->start_ns = at < span->start_ns ? at : span->start_ns;
		span->end_ns = at > span->end_ns ? at : span->end_ns;
	}
	if (part->to_ns) {
		r = flame_number_all(m);
		span->end_ns = flame_earlier(span->end_ns, span->start_ns, part->to_ns);
		span->start_ns = flame_earlier(span->end_ns, span->start_ns, part->from_ns);
	}
	for (size_t i = 0; i < n && r >= 0; i++) {
		const struct profile_sample *s = profile_sample_at(m->p, i);

		if (s->time_ns >= span->start_ns && s->time_ns <= span->end_ns)
			r = flame_add(m, profile_key_of(m->p, s), flame_slice(span, s->time_ns),
			              s->weight, 1);
	}
	return r;
}

/* The same for a profile without times: all is in the first slice. */
static int flame_rows(struct flame_merge *m)
{
	int r = 0;

	for (size_t i = 0; i < profile_n_rows(m->p) && r >= 0; i++) {
		const struct profile_row *row = profile_row_at(m->p, i);

		r = flame_add(m, &row->key, 0, row->weight, row->samples);
	}
	return r;
}

/* Adds a profile's samples, or its rows if it has no samples. */
static int flame_merge_side(struct flame_graph *g, const struct flame_side *from, uint32_t side)
{
	const struct profile *p = from->profile;
	struct flame_merge m = { .g = g, .p = p, .builds = from->builds, .side = side };
	int r = -ENOMEM;

	m.functions = calloc(profile_n_frames(p) + 1, sizeof(*m.functions));
	m.path = calloc(profile_n_nodes(p) + 1, sizeof(*m.path));
	m.nodes = calloc(profile_n_nodes(p) + 1, sizeof(*m.nodes));
	m.events = calloc(profile_n_events(p) + 1, sizeof(*m.events));
	m.threads = calloc(profile_n_tasks(p) + 1, sizeof(*m.threads));
	if (m.functions && m.path && m.nodes && m.events && m.threads)
		r = profile_n_samples(p) ? flame_samples(&m, from) : flame_rows(&m);
	free(m.functions);
	free(m.path);
	free(m.steps);
	free(m.nodes);
	free(m.events);
	free(m.threads);
	return r;
}

/* Sides are the profiles to be compared, at most FLAME_SIDES. -EINVAL, -EOVERFLOW, -ENOMEM; to be
 * freed in any case. */
int flame_graph_build(struct flame_graph *ret, const struct flame_side *sides, size_t n)
{
	int r = n && n <= FLAME_SIDES ? 0 : -EINVAL;

	*ret = (struct flame_graph){ .keys = { .size = sizeof(struct flame_key) } };
	if (r >= 0) {
		ret->root = flame_add_function(ret, "all", 3, "", PROFILE_UNKNOWN);
		r = ret->root == INTERN_FAILED ? -ENOMEM : 0;
	}
	for (uint32_t i = 0; i < n && r >= 0; i++)
		r = flame_merge_side(ret, &sides[i], i);
	return r;
}

void flame_graph_free(struct flame_graph *g)
{
	intern_free(&g->texts);
	intern_free(&g->functions);
	intern_free(&g->threads);
	intern_free(&g->events);
	pool_free(&g->keys);
	trie_free(&g->nodes);
	free(g->values);
	*g = (struct flame_graph){ 0 };
}
