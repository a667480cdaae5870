// SPDX-License-Identifier: MIT
/*
 * load_build.c: counted raw stacks into a profile with names: each part of a stack is walked once.
 *
 * A stack is a kernel part and a user part, and many stacks share one of them. The user part is put
 * into the tree of the profile first, from its outermost frame down to its innermost; its node is
 * remembered (users). The kernel part goes on below that node. Where the sample hit, if that is not
 * where its callchain begins, comes last.
 *
 * An address becomes a frame once (load_frame.c): the resolver keeps a slot for each address of a
 * space, and in it is the number of the frame, with marks about what it means for the frames around
 * it (LOAD_*).
 *
 * Invariant: one thread at a time. The first one may be another's, that puts user parts into the
 * tree while samples are still counted (load_ahead.c).
 */
#include "aggregate/load_build.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "abi/event_unit.h"
#include "base/buf.h"
#include "base/map.h"
#include "aggregate/load_descend.h"
#include "aggregate/load_kernels.h"
#include "aggregate/load_number.h"
#include "aggregate/load_rows.h"
#include "aggregate/load_set.h"
#include "aggregate/load_turns.h"
#include "aggregate/load_users.h"
#include "resolve/resolver.h"
#include "profile/origin.h"
#include "samples/hit.h"
#include "samples/sample_index.h"
#include "stitch/states.h"

struct load_builder {
	struct load *load;
	const struct recording *rec;
	struct load_descent descent;
	struct load_kernels kernels;
	struct kernel_prefetch *prefetch;
	uint32_t *events; /* event index -> profile's event */
	struct load_users users[LOAD_TABLES_MAX];
	bool users_known;    /* the user parts of all tables were met */
	uint32_t *tasks;     /* of one table: key -> task, 0: not yet known */
	size_t looked_at;    /* bytes of stacks (recording_looked_at) */
	struct map programs; /* user space -> object; 0: none */
	const struct load_cgroups *cgroups;
	struct load_sets sets;
};

/* How many entries were named, of how many. */
struct load_naming {
	uint64_t done, total;
};

/* Whether both frames are in one function, by its name. */
static bool load_same_function(const struct profile *p, uint32_t a, uint32_t b)
{
	const struct profile_frame *x = profile_frame_at(p, a), *y = profile_frame_at(p, b);

	return x->symbol && x->symbol == y->symbol && x->object == y->object && x->kind == y->kind;
}

/*
 * Where the sample hit, below the node of its chain. A chain that begins in the same function tells
 * of that call, as it was some instructions later: one frame stands for both, and its address is
 * where the sample hit.
 */
static int load_hit(struct load_builder *b, const struct load_whose *e,
                    const struct callchain *sample, uint32_t *node)
{
	struct frame_walk walk = { 0 };
	struct frame_at at;
	uint64_t frame;
	int r;

	if (!hit_apart(sample) || !frame_walk_next(&walk, sample, &at))
		return 0;
	r = load_frame(&b->descent, e, &at, &frame);
	if (r < 0)
		return r;
	if (*node != PROFILE_ROOT &&
	    load_same_function(b->descent.namer.profile,
	                       profile_node_at(b->descent.namer.profile, *node).frame,
	                       (uint32_t)frame))
		*node = profile_node_at(b->descent.namer.profile, *node).parent;
	*node = profile_node(b->descent.namer.profile, *node, (uint32_t)frame);
	return *node == PROFILE_FAILED ? -ENOMEM : 0;
}

/* The space of an entry that stands for all that are alike: where its addresses are looked up. */
static uint32_t load_whose_space(const struct load_alike *alike, const struct stacks_entry *entry)
{
	return entry->same.user ? load_alike_space(alike, entry->same.user)
	                        : load_alike_hit_space(alike, entry->same.hit);
}

/* What naming needs to know of an entry beside its stack. */
static struct load_whose load_whose(const struct load_table *t, const struct stacks_entry *entry)
{
	const struct stacks_key *key = stacks_key(t->stacks, entry);
	const uint32_t user = entry->same.user;

	return (struct load_whose){ .key = key,
		                    .kernel = entry->same.kernel,
		                    .user = user,
		                    .user_space = key->user_space == LOAD_ALIKE
		                                          ? load_whose_space(t->alike, entry)
		                                          : key->user_space,
		                    .time_ns = entry->time_ns };
}

/* The node of a stack of which outer frames are left out, or whose parts go over into each
 * other. */
static int load_limited(struct load_builder *b, const struct load_whose *e,
                        const struct callchain *sample, size_t most, uint32_t *root, uint32_t *ret)
{
	struct load_descent *d = &b->descent;
	size_t n = 0;
	int r = load_walk(d, e, sample, most ? most - hit_apart(sample) : SIZE_MAX, &n);

	if (r >= 0 && !most)
		*root = load_root(d, e, *root, states_facts[sample->state].part == STATES_CUT,
		                  n ? d->frames[n - 1] : 0, n);
	*ret = *root;
	if (r < 0 || *root == PROFILE_FAILED)
		return r < 0 ? r : -ENOMEM;
	return load_path(d, n, ret);
}

/* The same of a whole one: the kernel's frames are named first, and put last. 1: its kernel part
 * ends in data, so that it must be walked as one. */
static int load_below(struct load_builder *b, const struct load_whose *e, struct callchain *sample,
                      uint32_t root, uint32_t *ret)
{
	struct callchain kernel = *sample, user = *sample;
	size_t n = 0;
	int r;

	kernel.user.n = 0;
	user.kernel.n = 0;
	r = load_walk(&b->descent, e, &kernel, SIZE_MAX, &n);
	if (r < 0 || b->descent.told & LOAD_DATA)
		return r < 0 ? r : 1;
	*ret = root;
	if (user.user.n)
		r = load_descend_user(&b->descent, e, &user, load_how(e, sample), root, ret);
	sample->user = user.user;
	return r < 0 ? r : load_path(&b->descent, n, ret);
}

/* The same of one that hangs below a root of its own, or of which outer frames are left out, with
 * where it hit. A stack without frames hangs below no root. */
static int load_apart(struct load_builder *b, const struct load_whose *e, struct callchain *sample,
                      size_t most, uint32_t root, uint32_t *ret)
{
	/* Where user addresses stand in the kernel part, the user part goes on behind them. */
	int r = most || frame_walk_mixed(sample) ? 1 : load_below(b, e, sample, root, ret);

	if (r > 0) {
		r = most ? 0 : load_fold(&b->descent, e->user_space, sample);
		if (r >= 0)
			r = load_limited(b, e, sample, most, &root, ret);
	}
	if (r >= 0)
		r = load_hit(b, e, sample, ret);
	if (*ret == root) /* no frame is called from it */
		*ret = PROFILE_ROOT;
	return r;
}

/* The same where nothing but this frame is wanted: it hangs below the root. */
static int load_innermost(struct load_builder *b, const struct load_table *t,
                          const struct stacks_entry *entry, uint32_t *ret)
{
	const struct load_whose e = load_whose(t, entry);
	const struct callchain sample = stacks_callchain(t->stacks, entry, b->rec->events);
	struct frame_walk walk = { 0 };
	struct frame_at at;
	uint64_t frame;
	int r;

	*ret = PROFILE_ROOT;
	if (!frame_walk_next(&walk, &sample, &at))
		return 0;
	r = load_frame(&b->descent, &e, &at, &frame);
	if (r < 0)
		return r;
	*ret = profile_node(b->descent.namer.profile, PROFILE_ROOT, (uint32_t)frame);
	return *ret == PROFILE_FAILED ? -ENOMEM : 0;
}

/* The node of an entry's innermost frame. */
static int load_stack(struct load_builder *b, const struct load_table *t, struct load_users *users,
                      const struct stacks_entry *entry, uint32_t *ret)
{
	const struct load_whose e = load_whose(t, entry);
	struct callchain sample = stacks_callchain(t->stacks, entry, b->rec->events), kernel;
	size_t most = b->descent.namer.opts->max_stack;
	uint32_t root;
	int r = most ? load_fold(&b->descent, e.user_space, &sample) : 0;

	recording_looked_at(b->rec, &b->looked_at, (sample.kernel.n + sample.user.n) * 8);
	b->descent.told = 0;
	*ret = PROFILE_ROOT;
	if (r < 0 || b->descent.namer.opts->frames == LOAD_FRAMES_NONE)
		return r;
	if (b->descent.namer.opts->frames == LOAD_FRAMES_INNERMOST)
		return load_innermost(b, t, entry, ret);
	root = load_cut_root(&b->descent.cut, b->descent.namer.profile, &sample, e.key, most);
	if (root == PROFILE_ROOT && !sample.user.n) /* its user part never came */
		root = load_cut_end(&b->descent.cut, b->descent.namer.profile, e.key->end, false, 0,
		                    0);
	*ret = root;
	if (root == PROFILE_FAILED)
		return -ENOMEM;
	if (most || root != PROFILE_ROOT)
		return load_apart(b, &e, &sample, most, root, ret);
	kernel = sample;
	kernel.user.n = 0;
	if (sample.user.n)
		r = load_user(&b->descent, users, &e, sample, ret);
	if (r >= 0 && sample.kernel.n)
		r = load_descend_kernel(&b->kernels, &b->descent, &e, &kernel, ret);
	/* A chain with frames that begins where the sample hit has no number of a hit. */
	if (r < 0 || (!entry->same.hit && *ret != PROFILE_ROOT))
		return r;
	return load_hit(b, &e, &sample, ret);
}

/* The task of a key. A thread whose name is not known is called by its tid. */
static uint32_t load_task(struct load_builder *b, const struct stacks_key *key)
{
	char name[16] = ":-1";
	uint32_t comm,
	        tid = b->descent.namer.opts->keep & PROFILE_KEEP_TID ? key->tid : PROFILE_NOT_KEPT;

	if (!key->comm && key->tid != PROFILE_NOT_KEPT)
		snprintf(name, sizeof(name), ":%u", key->tid);
	comm = profile_string(b->descent.namer.profile, key->comm ? key->comm : name);
	return comm == PROFILE_FAILED ? comm
	                              : profile_task(b->descent.namer.profile, comm, key->pid, tid);
}

/* The program of an address space: its object; 0: none; PROFILE_FAILED. */
static uint32_t load_program(struct load_builder *b, uint32_t space)
{
	const struct proc_mapping *m = proc_space_program(b->rec->procs, space);
	bool is_new;
	uint64_t *slot = map_slot(&b->programs, space, &is_new);
	struct place place = { 0 };
	uint32_t object;

	if (!slot)
		return PROFILE_FAILED;
	if (!is_new || !m)
		return (uint32_t)*slot;
	if (resolver_find(b->descent.namer.resolver, space, 0, m->start, false, &place) < 0)
		return PROFILE_FAILED;
	object = load_frame_object(&b->descent.namer, &place, m->start);
	*slot = object;
	return object;
}

/* Few keys are in many entries, so that of each is remembered. */
static uint32_t load_entry_task(struct load_builder *b, const struct stacks_entry *e,
                                const struct stacks_key *key)
{
	uint32_t *task = &b->tasks[e->same.key];

	if (*task)
		return *task;
	*task = load_task(b, key);
	if (*task != PROFILE_FAILED && b->descent.namer.opts->keep & PROFILE_KEEP_PROGRAM) {
		uint32_t program = load_program(b, key->program);

		if (program == PROFILE_FAILED ||
		    (program && origin_add_program(b->descent.namer.profile, *task, program) < 0))
			*task = PROFILE_FAILED;
	}
	return *task;
}

/* The path of a control group as a string of the profile. */
static int load_text_cgroup(struct load_builder *b, uint32_t cgroup, uint32_t *ret)
{
	*ret = cgroup;
	if (!cgroup || cgroup == PROFILE_NOT_KEPT)
		return 0;
	*ret = profile_string(b->descent.namer.profile, load_cgroups_path(b->cgroups, cgroup));
	return *ret == PROFILE_FAILED ? -ENOMEM : 0;
}

/* A text that is made of a set of labels. Sets are many, so each is made once. */
static int load_text_made(struct load_builder *b, enum load_set what, uint32_t set, uint32_t *ret)
{
	uint32_t *known = load_set_slot(&b->sets, what, set);
	const char *text;

	if (!known)
		return -ENOMEM;
	if (!*known) {
		text = load_set_text(&b->sets, what, set);
		if (text)
			*ret = profile_string(b->descent.namer.profile, text);
		if (text && *ret == PROFILE_FAILED)
			return -ENOMEM;
		*known = *ret;
	}
	*ret = *known;
	return 0;
}

/* The same of a sample that may have none. */
static int load_text_of_set(struct load_builder *b, enum load_set what, uint32_t set, uint32_t *ret)
{
	*ret = PROFILE_NOT_KEPT;
	return set == PROFILE_NOT_KEPT ? 0 : load_text_made(b, what, set, ret);
}

static int load_text_label(struct load_builder *b, uint32_t set, uint32_t *ret)
{
	return load_text_of_set(b, LOAD_SET_LABEL, set, ret);
}

static int load_text_trace(struct load_builder *b, uint32_t set, uint32_t *ret)
{
	return load_text_of_set(b, LOAD_SET_TRACE, set, ret);
}

static int load_text_span(struct load_builder *b, uint32_t set, uint32_t *ret)
{
	return load_text_of_set(b, LOAD_SET_SPAN, set, ret);
}

static int load_text_context(struct load_builder *b, uint32_t set, uint32_t *ret)
{
	return load_text_of_set(b, LOAD_SET_CONTEXT, set, ret);
}

/* What a row of the profile has of an entry's key: all but the node. -ENOMEM. */
static int load_key(struct load_builder *b, const struct load_table *t,
                    const struct stacks_entry *e, struct profile_key *ret)
{
	const struct stacks_key *of = stacks_key(t->stacks, e);
	struct profile_key key = { .event = b->events[of->event],
		                   .task = load_entry_task(b, e, of),
		                   .state = of->state };
	int r = key.task == PROFILE_FAILED ? -ENOMEM : 0;

	if (r < 0)
		return r;
#define NUMBER(bit, id, name) key.name = of->number[LOAD_NUMBER_##id];
#define TEXT(bit, id, name) \
	r = r < 0 ? r : load_text_##name(b, of->number[LOAD_NUMBER_##id], &key.name);
#include "profile/columns.def"
	*ret = key;
	return r;
}

/* Names one entry and adds its row to the profile; *ret: what its samples have as their key.
 * -ENOMEM. */
static int load_entry(struct load_builder *b, const struct load_table *t, struct load_users *users,
                      const struct stacks_entry *e, uint32_t *ret)
{
	struct profile_key key;
	int r = load_key(b, t, e, &key);

	if (r >= 0)
		r = load_stack(b, t, users, e, &key.node);
	if (r < 0)
		return r;
	b->load->ended_at_data += b->descent.told & LOAD_DATA ? e->samples : 0;
	b->load->callers_taken += b->descent.told & LOAD_TAKEN ? e->samples : 0;
	return profile_add_sampled(b->descent.namer.profile, &key, e->samples, e->weight, ret);
}

/* The user parts of a table. */
static int load_users(struct load_builder *b, const struct load_table *t, struct load_users *users)
{
	const struct stacks *s = t->stacks;
	uint32_t most = 0;
	int r;

	if (b->descent.namer.opts->max_stack)
		return 0;
	for (size_t i = 0; i < s->n; i++)
		most = s->entries[i].same.user > most ? s->entries[i].same.user : most;
	r = ARRAY_ROOM_ZEROED(&users->first, &users->capacity, (size_t)most / 2 + 1);
	for (size_t i = 0; i < s->n && r >= 0; i++) {
		const struct load_whose e = load_whose(t, &s->entries[i]);
		struct callchain sample = stacks_callchain(s, &s->entries[i], b->rec->events);
		uint32_t node;

		/* What hangs elsewhere than below the root is not shared. */
		if (sample.user.n && load_cut_root(&b->descent.cut, b->descent.namer.profile,
		                                   &sample, e.key, false) == PROFILE_ROOT)
			r = load_user(&b->descent, users, &e, sample, &node);
		recording_looked_at(b->rec, &b->looked_at, sample.user.n * 8);
	}
	return r;
}

/* Tells whoever waits that one entry more was named. -ECANCELED: nobody does any more. */
static int load_named(struct load_builder *b, struct load_naming *naming)
{
	const struct progress *progress = &b->descent.namer.opts->progress;

	if (++naming->done % 4096)
		return 0;
	if (progress->report)
		progress->report(progress->ctx, "naming", naming->done, naming->total);
	return progress_stopped(progress) ? -ECANCELED : 0;
}

/* The entries of one table, in their order. keys: by entry, what their samples have as their key;
 * NULL: nobody asks. */
static int load_each(struct load_builder *b, const struct load_table *t, struct load_users *users,
                     struct load_naming *naming, uint32_t *keys)
{
	const struct stacks *s = t->stacks;
	uint32_t key;
	int r = 0;

	for (size_t i = 0; i < s->n && r >= 0; i++) {
		r = load_entry(b, t, users, &s->entries[i], &key);
		if (r >= 0 && keys)
			keys[i] = key;
		if (r >= 0)
			r = load_named(b, naming);
	}
	return r;
}

/* The same where nothing but the places that samples hit is wanted, function after function: what
 * a key has in one of them is one row. */
static int load_each_place(struct load_builder *b, const struct load_table *t,
                           struct load_naming *naming)
{
	struct load_turn *turns = load_turns(t);
	struct load_rows *rows = load_rows_new(b->descent.namer.profile);
	int r = turns && rows ? 0 : -ENOMEM;

	for (size_t i = 0; i < t->stacks->n && r >= 0; i++) {
		const struct stacks_entry *e = &t->stacks->entries[turns[i].entry];
		struct load_row *row = load_row(rows, e->same.key);
		uint32_t node;

		r = row ? load_innermost(b, t, e, &node) : -ENOMEM;
		if (r >= 0 && !row->id)
			r = load_key(b, t, e, &row->key);
		if (r >= 0)
			r = load_rows_add(rows, row, e, node);
		if (r >= 0)
			r = load_named(b, naming);
	}
	if (r >= 0)
		r = load_rows_flush(rows);
	free(rows);
	free(turns);
	return r;
}

/* The entries of one table, and its samples if they are kept. */
static int load_table(struct load_builder *b, const struct load_table *t, struct load_users *users,
                      struct load_naming *naming)
{
	struct stacks *s = t->stacks;
	struct profile *p = b->descent.namer.profile;
	/* By entry, where samples are kept. */
	uint32_t *keys = s->n_samples ? calloc(s->n, sizeof(*keys)) : NULL;
	int r;

	b->tasks = calloc((size_t)s->keys.n + 1, sizeof(*b->tasks));
	r = b->tasks && (keys || !s->n_samples) ? profile_room_samples(p, s->n_samples) : -ENOMEM;
	if (r >= 0 && !keys && b->descent.namer.opts->frames == LOAD_FRAMES_INNERMOST)
		r = load_each_place(b, t, naming);
	else if (r >= 0)
		r = load_each(b, t, users, naming, keys);
	for (size_t i = 0; i < s->n_samples && r >= 0; i++) {
		const struct stacks_sample *sample = &s->samples[i];

		r = profile_add_sample(p, &(struct profile_sample){ .time_ns = sample->time_ns,
		                                                    .weight = sample->weight,
		                                                    .key = keys[sample->entry] });
	}
	stacks_drop_samples(s);
	free(b->tasks);
	b->tasks = NULL;
	free(keys);
	return r;
}

/* The rows of samples of which nothing is known but their states. -ENOMEM. */
static int load_tally(struct load_builder *b, const struct sample_tally *t)
{
	struct profile_key key = { .node = PROFILE_ROOT };
	uint32_t nobody = profile_string(b->descent.namer.profile, "");
	int r = nobody == PROFILE_FAILED ? -ENOMEM : 0;

	if (r >= 0 && t->n_rows)
		key.task = profile_task(b->descent.namer.profile, nobody, PROFILE_NOT_KEPT,
		                        PROFILE_NOT_KEPT);
	if (key.task == PROFILE_FAILED)
		return -ENOMEM;
	for (size_t i = 0; i < t->n_rows * SEAM_STITCH_STATES && r >= 0; i++) {
		const struct sample_tally_row *row = &t->rows[i / SEAM_STITCH_STATES];

		key.state = i % SEAM_STITCH_STATES;
		if (!row->samples[key.state])
			continue;
		key.event = b->events[i / SEAM_STITCH_STATES];
		r = profile_add(b->descent.namer.profile, &key, row->samples[key.state],
		                row->weight[key.state]);
	}
	return r;
}

/* The period of an event, if all its samples have the same one; 0: they differ, or it is not
 * known. */
static uint64_t load_period(const struct seam_event *e)
{
	if (!(e->attr.flags & SEAM_ATTR_FREQ))
		return e->attr.sample_period;
	return event_unit_is_time(e) && e->attr.sample_period ? 1000000000 / e->attr.sample_period
	                                                      : 0;
}

/* What an event's weights tell of a CPU's use (profile/origin.h). */
static enum origin_cpu load_cpu(const struct seam_event *e)
{
	return event_unit_is_cpu_time(e)     ? ORIGIN_CPU_NANOSECONDS
	       : event_unit_is_cpu_cycles(e) ? ORIGIN_CPU_CYCLES
	                                     : ORIGIN_CPU_UNKNOWN;
}

/* Names the states of stacks, for profiles made here and for answers of a store. -ENOMEM. */
int load_states(struct profile *p)
{
	int r = 0;

	for (uint32_t i = 0; i < SEAM_STITCH_STATES && r >= 0; i++) {
		const struct states_fact *fact = &states_facts[i];

		r = profile_set_state(p, i,
		                      &(struct profile_state){ .name = fact->name,
		                                               .text = fact->text,
		                                               .hint = fact->hint,
		                                               .whole = fact->part == STATES_WHOLE,
		                                               .unfinished =
		                                                       fact->part == STATES_CUT });
	}
	return r;
}

/* Gives the profile its events, with their units and periods, and the names of the stack states.
 * -ENOMEM. */
static int load_name_events(struct load_builder *b)
{
	struct origin *origin = profile_origin(b->descent.namer.profile);
	size_t n = seam_events_count(b->rec->events);
	int r = 0;

	b->events = calloc(n + 1, sizeof(*b->events));
	if (!b->events)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct seam_event *e = seam_events_at(b->rec->events, i);

		b->events[i] =
		        profile_event_in(b->descent.namer.profile, e->name ? e->name : "unnamed",
		                         event_unit_is_time(e) ? PROFILE_NANOSECONDS
		                                               : PROFILE_COUNT);
		if (b->events[i] == PROFILE_FAILED ||
		    origin_add_period(origin, b->events[i], load_period(e)) < 0 ||
		    origin_add_cpu(origin, b->events[i], load_cpu(e)) < 0)
			return -ENOMEM;
	}
	return r < 0 ? r : load_states(b->descent.namer.profile);
}

/* Names the stacks of all tables and adds their rows. Source lines are looked up when all addresses
 * are known. */
static int load_entries(struct load_builder *b, const struct load_table *tables, size_t n)
{
	const struct stacks *stacks[LOAD_TABLES_MAX];
	struct load_naming naming = { 0 };
	bool all = b->descent.namer.opts->frames == LOAD_FRAMES_ALL;
	int r = 0;

	for (size_t w = 0; w < n; w++)
		stacks[w] = tables[w].stacks;
	if (all)
		load_cut_learn(&b->descent.cut, b->rec, stacks, n);
	for (size_t w = 0; w < n; w++)
		naming.total += tables[w].stacks->n;
	/* User parts come before the kernel's frames, because the kernel's names may still be on
	 * their way (kernel_prefetch.h). */
	for (size_t w = 0; w < n && r >= 0 && all && !b->users_known; w++)
		r = load_users(b, &tables[w], &b->users[w]);
	if (r >= 0)
		r = load_lines_some(&b->descent.namer.lines);
	kernel_prefetch_rest(b->prefetch); /* what follows is one thread's */
	for (size_t w = 0; w < n && r >= 0; w++) {
		if (w)
			load_kernels_other_table(&b->kernels);
		r = load_table(b, &tables[w], &b->users[w], &naming);
	}
	if (r >= 0)
		r = load_tally(b, &b->rec->index->tally);
	if (r >= 0)
		r = profile_sort_samples(b->descent.namer.profile);
	if (r >= 0)
		r = load_unnamed_list(&b->descent.namer.unnamed, b->load);
	return r < 0 ? r : load_lines_expand(&b->descent.namer.lines, b->load);
}

/* Nothing is in the profile yet but its events. */
int load_build_start(struct load_builder **ret, struct load *load, struct resolver *resolver,
                     const struct load_opts *opts, const struct load_cgroups *cgroups,
                     uint64_t stacks)
{
	const struct recording *rec = resolver_recording(resolver);
	struct load_builder *b = calloc(1, sizeof(*b));
	int r;

	if (!b)
		return -ENOMEM;
	*ret = b;
	b->load = load;
	b->rec = rec;
	b->descent.namer.resolver = resolver;
	b->descent.namer.opts = opts;
	b->cgroups = cgroups;
	b->sets.contexts = &rec->contexts;
	b->sets.by = opts->by;
	b->sets.lines = opts->label_lines;
	if (!b->rec->no_spaces)
		b->descent.fold.procs = b->rec->procs;
	r = load_descent_start(&b->descent, stacks);
	if (r >= 0)
		r = load_kernels_start(&b->kernels, stacks);
	if (r >= 0)
		r = profile_new(&load->profile, opts->keep);
	b->descent.namer.profile = load->profile;
	if (r >= 0)
		r = load_lines_start(&b->descent.namer.lines, resolver, opts);
	if (r >= 0 && opts->frames == LOAD_FRAMES_ALL)
		r = load_cut_start(&b->descent.cut, rec);
	return r < 0 ? r : load_name_events(b);
}

int load_build_user(struct load_builder *b, const struct load_whose *e,
                    const struct callchain *sample)
{
	struct load_descent *d = &b->descent;
	uint32_t root = load_cut_root(&d->cut, d->namer.profile, sample, e->key, false), node;

	recording_looked_at(b->rec, &b->looked_at, sample->user.n * 8);
	if (root == PROFILE_FAILED)
		return -ENOMEM;
	/* What hangs elsewhere than below the root is not shared. */
	return root == PROFILE_ROOT ? load_user(d, &b->users[0], e, *sample, &node) : 0;
}

const struct load_cut *load_build_cut(const struct load_builder *b)
{
	return &b->descent.cut;
}

void load_build_users_known(struct load_builder *b)
{
	b->users_known = true;
}

/* At the end the profile may be replaced by a copy with source lines. */
int load_build(struct load_builder *b, struct kernel_prefetch *prefetch,
               const struct load_table *tables, size_t n)
{
	uint64_t stacks = 0;
	int r;

	for (size_t w = 0; w < n; w++)
		stacks += tables[w].stacks->n;
	b->prefetch = prefetch;
	/* what is left empty is not touched */
	r = profile_room(b->load->profile, stacks);
	return r < 0 ? r : load_entries(b, tables, n);
}

/* The profile is load's, and stays. */
void load_build_free(struct load_builder *b)
{
	struct load_namer *namer;

	if (!b)
		return;
	namer = &b->descent.namer;
	for (size_t w = 0; w < LOAD_TABLES_MAX; w++)
		load_users_free(&b->users[w]);
	map_free(&namer->objects);
	map_free(&b->programs);
	load_lines_free(&namer->lines);
	load_unnamed_free(&namer->unnamed);
	free(b->events);
	load_descent_free(&b->descent);
	load_kernels_free(&b->kernels);
	load_sets_free(&b->sets);
	buf_free(&namer->name);
	free(b);
}
