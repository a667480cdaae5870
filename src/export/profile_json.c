// SPDX-License-Identifier: MIT
/*
 * profile_json.c: all of a profile as one JSON object of seam's own: tables that name one another
 * by index. Version 1; keys may be added, none is taken away. Described in the help of `seam
 * export`.
 *
 * Ids of the profile start at 1, indices of JSON's arrays at 0: each reference is the id less one,
 * and -1 for none.
 */
#include <errno.h>

#include "base/json.h"
#include "export/export.h"
#include "export/labels.h"

/* In the order of enum profile_kind. */
static const char *const json_kinds[PROFILE_KINDS] = { "unknown", "user", "kernel", "inlined",
	                                               "missing" };

struct json_writer {
	const struct profile *p;
	const struct export_opts *opts;
	struct export_out *out;
	struct json j;
};

/* An index, which starts at 0, of an id, which starts at 1; none: -1. */
static void json_index(struct json *j, uint32_t id)
{
	json_i64(j, (int64_t)id - 1);
}

/* -1 for what the profile does not keep. */
static void json_number(struct json *j, uint32_t v)
{
	if (v == PROFILE_NOT_KEPT)
		json_i64(j, -1);
	else
		json_u64(j, v);
}

/* A string, or null for none. */
static void json_text(struct json_writer *w, const char *key, uint32_t string)
{
	json_key(&w->j, key);
	json_string(&w->j, string ? profile_text(w->p, string) : NULL);
}

/* What the recording lost, or could not say. */
static void json_counts(struct json_writer *w)
{
	const struct profile_counts *c = profile_counts_of(w->p);
	const struct {
		const char *key;
		uint64_t v;
	} counts[] = { { "lost", c->lost },
		       { "lost_samples", c->lost_samples },
		       { "lost_beside", c->lost_beside },
		       { "skipped_samples", c->skipped_samples },
		       { "lost_tasks", c->lost_tasks },
		       { "duplicate_samples", c->duplicate_samples },
		       { "undecoded_samples", c->undecoded } };

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		json_key(&w->j, counts[i].key);
		json_u64(&w->j, counts[i].v);
	}
}

/* Writes events, states of stacks, and objects: the tables that are small. */
static void json_names(struct json_writer *w)
{
	struct json *j = &w->j;

	json_key(j, "events");
	json_open(j, '[');
	for (uint32_t i = 1; i <= profile_n_events(w->p); i++) {
		json_open(j, '{');
		json_key(j, "name");
		json_string(j, profile_event_name(w->p, i));
		json_key(j, "unit");
		json_string(j, export_unit(w->p, i));
		json_close(j, '}');
	}
	json_close(j, ']');
	json_key(j, "states");
	json_open(j, '[');
	for (uint32_t i = 0; i < profile_n_states(w->p); i++)
		json_string(j, profile_state_at(w->p, i)->name);
	json_close(j, ']');
	json_key(j, "objects");
	json_open(j, '[');
	for (uint32_t i = 1; i <= profile_n_objects(w->p); i++) {
		json_open(j, '{');
		json_text(w, "path", profile_object_at(w->p, i)->path);
		json_text(w, "build_id", profile_object_at(w->p, i)->build_id);
		json_close(j, '}');
	}
	json_close(j, ']');
}

/* Writes the tasks; -1 stands for a pid or tid that the profile does not keep. */
static void json_tasks(struct json_writer *w)
{
	struct json *j = &w->j;

	json_key(j, "tasks");
	json_open(j, '[');
	for (uint32_t i = 1; i <= profile_n_tasks(w->p); i++) {
		const struct profile_task *t = profile_task_at(w->p, i);

		json_open(j, '{');
		json_text(w, "comm", t->comm);
		json_key(j, "pid");
		json_number(j, t->pid);
		json_key(j, "tid");
		json_number(j, t->tid);
		json_close(j, '}');
	}
	json_close(j, ']');
}

/* Writes the frames; symbol and object may be null or -1 where nothing is known. */
static int json_frames(struct json_writer *w)
{
	struct json *j = &w->j;
	int r = 0;

	json_key(j, "frames");
	json_open(j, '[');
	for (uint32_t i = 1; i <= profile_n_frames(w->p) && r >= 0; i++) {
		const struct profile_frame *f = profile_frame_at(w->p, i);

		json_open(j, '{');
		/* address is the object's own. */
		json_text(w, "symbol", f->symbol);
		json_key(j, "object");
		json_index(j, f->object);
		json_key(j, "address");
		json_hex(j, f->address);
		json_key(j, "kind");
		json_string(j, json_kinds[f->kind < PROFILE_KINDS ? f->kind : 0]);
		if (f->file) {
			json_text(w, "file", f->file);
			json_key(j, "line");
			json_u64(j, f->line);
		}
		json_close(j, '}');
		r = export_step(w->out);
	}
	json_close(j, ']');
	return r;
}

/* Writes the nodes of all stacks, each as [parent, frame]; a parent comes before its children. */
static int json_stacks(struct json_writer *w)
{
	struct json *j = &w->j;
	int r = 0;

	json_key(j, "stacks");
	json_open(j, '[');
	for (uint32_t i = 1; i <= profile_n_nodes(w->p) && r >= 0; i++) {
		struct profile_node n = profile_node_at(w->p, i);

		json_open(j, '[');
		json_index(j, n.parent);
		json_index(j, n.frame);
		json_close(j, ']');
		r = export_step(w->out);
	}
	json_close(j, ']');
	return r;
}

/* [key, value]: a set may have a key twice. */
static int json_label(void *ctx, const char *key, const char *value)
{
	struct json *j = ctx;

	json_open(j, '[');
	json_string(j, key);
	json_string(j, value);
	json_close(j, ']');
	return 0;
}

/* Writes the rows of the events that are wanted. Indices are into the whole tables, which are
 * written in full. */
static int json_rows(struct json_writer *w)
{
	struct json *j = &w->j;
	int r = 0;

	json_key(j, "rows");
	json_open(j, '[');
	for (size_t i = 0; i < profile_n_rows(w->p) && r >= 0; i++) {
		const struct profile_row *row = profile_row_at(w->p, i);

		if (!export_wants(w->opts, row->key.event))
			continue;
		json_open(j, '{');
		json_key(j, "event");
		json_index(j, row->key.event);
		json_key(j, "task");
		json_index(j, row->key.task);
		json_key(j, "cpu");
		json_number(j, row->key.cpu);
		json_key(j, "state");
		json_u64(j, row->key.state);
		json_key(j, "stack");
		json_index(j, row->key.node);
		json_key(j, "samples");
		json_u64(j, row->samples);
		json_key(j, "weight");
		json_u64(j, row->weight);
		if (profile_keeps(w->p) & LABELS_KEPT) {
			json_key(j, "labels");
			json_open(j, '[');
			r = labels_each(w->p, &row->key, json_label, j);
			json_close(j, ']');
		}
		json_close(j, '}');
		r = r < 0 ? r : export_step(w->out);
	}
	json_close(j, ']');
	return r;
}

/* Writes the tables before the rows that refer to them, so that a reader can work from front to
 * back. */
int export_json(const struct profile *p, const struct export_opts *opts, struct export_out *out)
{
	struct json_writer w = { .p = p, .opts = opts, .out = out, .j = { .out = &out->buf } };
	int r;

	json_open(&w.j, '{');
	json_key(&w.j, "version");
	json_u64(&w.j, 1);
	json_counts(&w);
	json_names(&w);
	json_tasks(&w);
	r = json_frames(&w);
	if (r >= 0)
		r = json_stacks(&w);
	if (r >= 0)
		r = json_rows(&w);
	json_close(&w.j, '}');
	buf_put(&out->buf, "\n", 1);
	return r < 0 ? r : export_flush(out);
}
