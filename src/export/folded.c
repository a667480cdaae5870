// SPDX-License-Identifier: MIT
/*
 * folded.c: "comm;outermost;...;innermost WEIGHT", a line per distinct stack of names. A name holds
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

struct folded {
	const struct profile *p;
	const struct export_opts *opts;
	struct export_out *out;
	struct intern names; /* escaped */
	/* A name is made when its first frame is met. */
	uint32_t *frames;    /* frame -> name + 1; 0: not made yet */
	struct trie stacks;  /* of names; the root's children are comms */
	struct map nodes_at; /* comm's node << 32 | profile's node -> node */
	uint64_t *weights;   /* by node */
	size_t capacity;     /* of weights */
	uint32_t *path;      /* profile's nodes on the way up */
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

/* The name of a frame in the pool of names. INTERN_FAILED: out of memory. */
static uint32_t folded_name(struct folded *f, uint32_t frame)
{
	unsigned kind = profile_frame_at(f->p, frame)->kind;

	if (f->frames[frame])
		return f->frames[frame] - 1;
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
	if (ARRAY_ROOM_ZEROED(&f->weights, &f->capacity, (size_t)node + 1) < 0)
		return -ENOMEM;
	*ret = node;
	return 0;
}

/* Places a stack below its comm: climbs up to what was placed already, then goes down again. */
static int folded_place(struct folded *f, uint32_t comm, uint32_t node, uint32_t *ret)
{
	uint64_t found = comm;
	uint32_t at = comm;
	size_t depth = 0;
	int r = 0;

	while (node != PROFILE_ROOT &&
	       !map_get(&f->nodes_at, (uint64_t)comm << 32 | node, &found)) {
		f->path[depth++] = node;
		node = profile_node_at(f->p, node).parent;
	}
	if (node != PROFILE_ROOT)
		at = (uint32_t)found;
	while (depth && r >= 0) {
		node = f->path[--depth];
		r = folded_child(f, at, folded_name(f, profile_node_at(f->p, node).frame), &at);
		if (r >= 0)
			r = map_put(&f->nodes_at, (uint64_t)comm << 32 | node, at);
	}
	*ret = at;
	return r;
}

/* Adds a row's weight to the node of its stack, below the node of its comm. -ENOMEM. */
static int folded_row(struct folded *f, const struct profile_row *row)
{
	const struct profile_task *task = profile_task_at(f->p, row->key.task);
	uint32_t comm, node;
	int r;

	buf_clear(&f->text);
	folded_put(&f->text, profile_text(f->p, task->comm));
	/* A comm that is not known, or empty. */
	if (!f->text.n)
		buf_put_text(&f->text, "[unknown]");
	r = f->text.failed ? -ENOMEM
	                   : folded_child(f, TRIE_ROOT,
	                                  intern_bytes(&f->names, f->text.bytes, f->text.n), &comm);
	if (r >= 0)
		r = folded_place(f, comm, row->key.node, &node);
	if (r >= 0)
		f->weights[node] += row->weight;
	return r;
}

/* Writes a node's stack and weight as one line. */
static int folded_line(struct folded *f, uint32_t node)
{
	struct buf *out = &f->out->buf;
	size_t depth = 0;

	for (uint32_t at = node; at; at = trie_at(&f->stacks, at).parent)
		f->path[depth++] = at;
	while (depth) {
		uint32_t name = trie_at(&f->stacks, f->path[--depth]).key;

		buf_put(out, intern_get(&f->names, name), intern_length(&f->names, name));
		buf_put(out, depth ? ";" : " ", 1);
	}
	buf_printf(out, "%llu\n", (unsigned long long)f->weights[node]);
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
	for (uint32_t node = 1; node <= f->stacks.n && r >= 0; node++)
		if (f->weights[node])
			r = folded_line(f, node);
	return r < 0 ? r : export_flush(f->out);
}

/* Stacks of equal names become one line, whatever their addresses and objects were. */
int export_folded(const struct profile *p, const struct export_opts *opts, struct export_out *out)
{
	struct folded f = { .p = p, .opts = opts, .out = out };
	int r = -ENOMEM;

	f.frames = calloc(profile_n_frames(p) + 1, sizeof(*f.frames));
	/* A stack of names is at most as deep as the profile's, with its comm in front. */
	f.path = calloc(profile_n_nodes(p) + 2, sizeof(*f.path));
	if (f.frames && f.path)
		r = folded_write(&f);
	intern_free(&f.names);
	trie_free(&f.stacks);
	map_free(&f.nodes_at);
	buf_free(&f.text);
	buf_free(&f.name);
	free(f.frames);
	free(f.weights);
	free(f.path);
	return r;
}
