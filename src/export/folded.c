// SPDX-License-Identifier: MIT
/*
 * folded.c: "comm;outermost;...;innermost WEIGHT", a line per distinct stack of names; labels that
 * the profile keeps are a name behind the comm. A name holds
 * no ';', which is written ':', and no line end or control character: those are escaped
 * (base/shown.h).
 *
 * Invariant: the weights of all lines add up to the event's weight; two lines never name the same
 * stack.
 *
 * Made for flamegraph.pl and all that read its input. A name's ";" would begin another frame, so it
 * cannot stay.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/intern.h"
#include "base/map.h"
#include "base/shown.h"
#include "base/trie.h"
#include "export/export.h"
#include "export/labels.h"

struct folded {
	const struct profile *p;
	const struct export_opts *opts;
	struct export_out *out;
	struct intern names; /* escaped */
	/* A name is made when its first frame is met. */
	uint32_t *frames;   /* frame -> name + 1; 0: not made yet */
	struct trie stacks; /* of names; the root's children are comms */
	/* By the profile's node: where it was placed first, and below which comm's node. Few are
	 * below two: those are in a map, comm's node << 32 | profile's node -> node. */
	struct folded_place {
		uint32_t comm, node;
	} * places;
	struct map more_places;
	uint32_t *comms; /* by the profile's task: its comm's node; 0: not made yet */
	struct folded_node {
		uint64_t weight;
		uint32_t level;  /* from 1 */
	} * nodes;               /* of stacks */
	size_t capacity;         /* of nodes */
	uint32_t *path;          /* nodes on the way up, the profile's or of stacks */
	struct trie_step *steps; /* the way down of those */
	size_t steps_capacity;
	struct folded_level {
		uint32_t node;
		size_t end; /* of its name and the separator behind it, in text */
	} * line;           /* the stack that text holds, the comm first */
	size_t n_line, line_capacity;
	struct buf text, name;
};

/* Names as lines of text show them, without what separates frames. */
/* ':' is as long as ';', so nothing moves. */
static void folded_put(struct buf *text, const char *name)
{
	size_t start = text->n;

	shown_put_text(text, name);
	for (size_t i = start; i < text->n; i++)
		if (text->bytes[i] == ';')
			text->bytes[i] = ':';
}

/* The name of a frame in the pool of names, when it is met first. INTERN_FAILED: out of memory. */
static uint32_t folded_name(struct folded *f, uint32_t frame)
{
	unsigned kind = profile_frame_at(f->p, frame)->kind;

	buf_clear(&f->name);
	buf_clear(&f->text);
	export_frame_name(f->p, frame, &f->name);
	folded_put(&f->text, buf_text(&f->name));
	/* The marks are those that flamegraph.pl colours by. */
	if (f->opts->annotate && (kind == PROFILE_KERNEL || kind == PROFILE_INLINED))
		buf_put_text(&f->text, kind == PROFILE_KERNEL ? "_[k]" : "_[i]");
	if (f->text.failed || f->name.failed)
		return INTERN_FAILED;
	f->frames[frame] = intern_bytes(&f->names, f->text.bytes, f->text.n) + 1;
	return f->frames[frame] - 1;
}

/* The child of a node for a name, made when new. -ENOMEM, also for a name that could not be
 * made. */
static int folded_child(struct folded *f, uint32_t parent, uint32_t name, uint32_t *ret)
{
	uint32_t node = name == INTERN_FAILED ? TRIE_FAILED : trie_put(&f->stacks, parent, name);

	if (node == TRIE_FAILED)
		return -ENOMEM;
	if (ARRAY_ROOM_ZEROED(&f->nodes, &f->capacity, (size_t)node + 1) < 0)
		return -ENOMEM;
	f->nodes[node].level = parent ? f->nodes[parent].level + 1 : 1;
	*ret = node;
	return 0;
}

/* Where a node of the profile was placed below a comm; 0: nowhere yet. */
static uint32_t folded_placed(const struct folded *f, uint32_t comm, uint32_t node)
{
	const struct folded_place *place = &f->places[node];
	uint64_t found = 0;

	if (place->comm == comm)
		return place->node;
	if (place->comm)
		map_get(&f->more_places, (uint64_t)comm << 32 | node, &found);
	return (uint32_t)found;
}

/* Places the profile's nodes in f->path below a node, and gives the innermost one's place. */
static int folded_way(struct folded *f, uint32_t comm, uint32_t *at, size_t depth)
{
	uint32_t level = f->nodes[*at].level;
	int r = 0;

	if (ARRAY_ROOM(&f->steps, &f->steps_capacity, depth) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < depth; i++) {
		uint32_t frame = profile_node_at(f->p, f->path[depth - i - 1]).frame;

		f->steps[i].key = f->frames[frame] ? f->frames[frame] - 1 : folded_name(f, frame);
		if (f->steps[i].key == INTERN_FAILED)
			return -ENOMEM;
	}
	*at = trie_path(&f->stacks, *at, f->steps, depth);
	if (*at == TRIE_FAILED ||
	    ARRAY_ROOM_ZEROED(&f->nodes, &f->capacity, (size_t)f->stacks.n + 1) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < depth && r >= 0; i++) {
		struct folded_place *place = &f->places[f->path[depth - i - 1]];
		const uint32_t id = f->steps[i].id;

		f->nodes[id].level = ++level;
		if (place->comm)
			r = map_put(&f->more_places, (uint64_t)comm << 32 | f->path[depth - i - 1],
			            id);
		else
			*place = (struct folded_place){ comm, id };
	}
	return r;
}

/* Places a stack below its comm: climbs up to what was placed already, then goes down again. */
static int folded_place(struct folded *f, uint32_t comm, uint32_t node, uint32_t *ret)
{
	uint32_t at = 0;
	size_t depth = 0;
	int r = 0;

	while (node != PROFILE_ROOT && !(at = folded_placed(f, comm, node))) {
		f->path[depth++] = node;
		node = profile_node_at(f->p, node).parent;
	}
	if (node == PROFILE_ROOT)
		at = comm;
	if (depth)
		r = folded_way(f, comm, &at, depth);
	*ret = at;
	return r;
}

/* The node of a task's comm. -ENOMEM. */
static int folded_comm(struct folded *f, uint32_t task, uint32_t *ret)
{
	int r = 0;

	if (!f->comms[task]) {
		buf_clear(&f->text);
		folded_put(&f->text, profile_text(f->p, profile_task_at(f->p, task)->comm));
		/* A comm that is not known, or empty. */
		if (!f->text.n)
			buf_put_text(&f->text, "[unknown]");
		r = f->text.failed ? -ENOMEM
		                   : folded_child(f, TRIE_ROOT,
		                                  intern_bytes(&f->names, f->text.bytes, f->text.n),
		                                  &f->comms[task]);
	}
	*ret = f->comms[task];
	return r;
}

/* The node below which a row's stack stands: its comm's, or below that its labels'. -ENOMEM. */
static int folded_base(struct folded *f, const struct profile_row *row, uint32_t *ret)
{
	int r = folded_comm(f, row->key.task, ret);

	if (r < 0 || !(profile_keeps(f->p) & LABELS_KEPT))
		return r;
	buf_clear(&f->name);
	buf_clear(&f->text);
	r = labels_text(f->p, &row->key, &f->name);
	if (r < 0 || !f->name.n)
		return r;
	folded_put(&f->text, buf_text(&f->name));
	return f->text.failed
	               ? -ENOMEM
	               : folded_child(f, *ret, intern_bytes(&f->names, f->text.bytes, f->text.n),
	                              ret);
}

/* Adds a row's weight to the node of its stack. -ENOMEM. */
static int folded_row(struct folded *f, const struct profile_row *row)
{
	uint32_t comm, node;
	int r = folded_base(f, row, &comm);

	if (r >= 0)
		r = folded_place(f, comm, row->key.node, &node);
	if (r >= 0)
		f->nodes[node].weight += row->weight;
	return r;
}

/* Makes f->text the names of a node's stack. What it shares with the stack that was there last
 * stays. -ENOMEM. */
static int folded_text(struct folded *f, uint32_t node)
{
	size_t deep = 0, level = 0;

	for (; node; node = trie_at(&f->stacks, node).parent) {
		level = f->nodes[node].level;
		if (level <= f->n_line && f->line[level - 1].node == node)
			break;
		f->path[deep++] = node;
		level = 0;
	}
	f->n_line = level;
	f->text.n = level ? f->line[level - 1].end : 0;
	if (ARRAY_ROOM(&f->line, &f->line_capacity, level + deep) < 0)
		return -ENOMEM;
	while (deep) {
		uint32_t name;

		node = f->path[--deep];
		name = trie_at(&f->stacks, node).key;
		buf_put(&f->text, intern_get(&f->names, name), intern_length(&f->names, name));
		buf_put(&f->text, ";", 1);
		f->line[f->n_line++] = (struct folded_level){ node, f->text.n };
	}
	return f->text.failed ? -ENOMEM : 0;
}

/* Writes a node's stack and weight as one line. */
static int folded_line(struct folded *f, uint32_t node)
{
	struct buf *out = &f->out->buf;
	int r = folded_text(f, node);

	if (r < 0)
		return r;
	buf_put(out, f->text.bytes, f->text.n - 1); /* the last ';' */
	buf_put(out, " ", 1);
	buf_put_decimal(out, f->nodes[node].weight);
	buf_put(out, "\n", 1);
	return export_step(f->out);
}

/* Nodes are numbered as they were met, so equal profiles give equal files. */
static int folded_write(struct folded *f)
{
	uint32_t event = export_event(f->p, f->opts);
	int r = 0;

	for (size_t i = 0; i < profile_n_rows(f->p) && r >= 0; i++)
		if (profile_row_at(f->p, i)->key.event == event)
			r = folded_row(f, profile_row_at(f->p, i));
	buf_clear(&f->text);
	for (uint32_t node = 1; node <= f->stacks.n && r >= 0; node++)
		if (f->nodes[node].weight)
			r = folded_line(f, node);
	return r < 0 ? r : export_flush(f->out);
}

/* Stacks of equal names become one line, whatever their addresses and objects were. */
int export_folded(const struct profile *p, const struct export_opts *opts, struct export_out *out)
{
	struct folded f = { .p = p, .opts = opts, .out = out };
	int r = -ENOMEM;

	f.frames = calloc(profile_n_frames(p) + 1, sizeof(*f.frames));
	/* A stack of names is at most as deep as the profile's, behind its comm and labels. */
	f.path = calloc(profile_n_nodes(p) + 3, sizeof(*f.path));
	f.places = calloc(profile_n_nodes(p) + 1, sizeof(*f.places));
	f.comms = calloc(profile_n_tasks(p) + 1, sizeof(*f.comms));
	if (f.frames && f.path && f.places && f.comms)
		r = folded_write(&f);
	intern_free(&f.names);
	trie_free(&f.stacks);
	map_free(&f.more_places);
	buf_free(&f.text);
	buf_free(&f.name);
	free(f.frames);
	free(f.places);
	free(f.comms);
	free(f.nodes);
	free(f.path);
	free(f.steps);
	free(f.line);
	return r;
}
