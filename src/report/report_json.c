// SPDX-License-Identifier: MIT
// report_json.c: a report for programs. The keys are documented in report.c and stable.
#include <stdlib.h>

#include "base/json.h"
#include "report/report.h"
#include "export/export.h"

/* One key with its number. */
static void json_number(struct json *j, const char *key, uint64_t v)
{
	json_key(j, key);
	json_u64(j, v);
}

/* Writes what became of the samples: losses, the states of stacks, and what the stitcher
 * counted. */
static void json_counts(const struct report *r, struct json *j)
{
	const struct profile_counts *c = profile_counts_of(r->load.profile);
	const struct seam_stitch_counts *s = &r->load.stitch;
	struct profile_account a;

	profile_account(r->load.profile, 0, &a);
	json_number(j, "samples", a.samples);
	json_number(j, "not_taken", r->load.not_taken);
	json_number(j, "lost", c->lost);
	json_number(j, "lost_samples", c->lost_samples);
	json_number(j, "lost_beside", c->lost_beside);
	json_number(j, "skipped_samples", c->skipped_samples);
	json_number(j, "lost_tasks", c->lost_tasks);
	json_number(j, "duplicate_samples", c->duplicate_samples);
	json_number(j, "undecoded_samples", c->undecoded);
	json_number(j, "ended_at_data", r->load.ended_at_data);
	json_number(j, "uretprobe_callers", r->load.callers_taken);
	json_key(j, "damaged");
	json_bool(j, r->load.damaged);
	json_key(j, "states");
	json_open(j, '{');
	for (uint32_t i = 0; i < SEAM_STITCH_STATES; i++)
		json_number(j, seam_stitch_state_name(i), a.state[i]);
	json_close(j, '}');
	json_key(j, "stitch");
	json_open(j, '{');
	json_number(j, "deferred_samples", s->deferred_samples);
	json_number(j, "deferred_records", s->deferred_records);
	json_number(j, "unclaimed_records", s->unclaimed_records);
	json_number(j, "duplicate_records", s->duplicate_records);
	json_number(j, "tid_mismatches", s->tid_mismatches);
	json_number(j, "empty_answers", s->empty_answers);
	json_close(j, '}');
}

/* Writes how stack copies were unwound while recording, as each sample says. */
static void json_recorded(const struct report *r, struct json *j)
{
	const struct walk_result_counts *c = &r->load.recorded;

	json_key(j, "unwound_recording");
	json_open(j, '{');
	json_number(j, "samples", c->samples);
	json_number(j, "copy_bytes", c->copy_bytes);
	for (int e = 0; e < WALK_ENDS; e++)
		json_number(j, walk_end_name(e), c->end[e]);
	json_number(j, "unreadable", c->unreadable);
	json_number(j, "unmapped", c->unmapped);
	for (int kind = 0; kind < WALK_RESULT_KINDS; kind++)
		if (kind != WALK_RESULT_WALKED)
			json_number(j, walk_result_name(&(struct walk_result){ .kind = kind }),
			            c->kind[kind]);
	json_number(j, "guessed_samples", c->guessed);
	json_close(j, '}');
}

/* Writes how the stack copies were unwound, and where information was missing, here or while
 * recording. */
static void json_unwound(const struct report *r, struct json *j)
{
	const struct unwound_counts *u = &r->load.unwound;

	json_key(j, "unwound");
	json_open(j, '{');
	json_number(j, "samples", u->samples);
	for (int e = 0; e < WALK_ENDS; e++)
		json_number(j, walk_end_name(e), u->end[e]);
	json_number(j, "not_unwound", u->unusable);
	json_number(j, "needed_bytes", u->needed);
	json_number(j, "guessed_samples", u->guessed);
	json_number(j, "guessed_frames", u->guessed_frames);
	json_number(j, "frames", u->frames);
	json_key(j, "missing");
	json_open(j, '[');
	for (size_t i = 0; i < r->load.n_missing; i++) {
		const struct unwound_missing *m = &r->load.missing[i];

		json_open(j, '{');
		json_key(j, "object");
		json_string(j, m->object ? m->object->path : NULL);
		json_number(j, "samples", m->samples);
		json_key(j, "reason");
		json_string(j, m->reason);
		json_close(j, '}');
	}
	json_close(j, ']');
	json_close(j, '}');
}

/* Writes why the stacks ended that were walked while recording. */
static void json_ends(const struct report *r, struct json *j)
{
	const struct load *c = &r->load;

	json_key(j, "ends");
	json_open(j, '{');
	for (uint32_t e = STACK_END_COMPLETE; e < STACK_ENDS; e++)
		if (e != STACK_END_DEFERRED)
			json_number(j, stack_end_name(e), c->ends[e]);
	json_number(j, "guessed", c->guessed);
	json_close(j, '}');
}

/* Writes what became of an interpreter's frames in those stacks. */
static void json_runtime_ends(const struct report *r, struct json *j)
{
	json_key(j, "runtime_ends");
	json_open(j, '{');
	for (uint32_t e = RUNTIME_END_COMPLETE; e < RUNTIME_ENDS; e++)
		if (strcmp(runtime_end_name((enum runtime_end)e), "unknown") != 0)
			json_number(j, runtime_end_name((enum runtime_end)e),
			            r->load.runtime_ends[e]);
	json_close(j, '}');
}

/* Writes the events with their units, samples and weights. */
static void json_events(const struct report *r, struct json *j)
{
	struct profile_account a;

	json_key(j, "events");
	json_open(j, '[');
	for (uint32_t e = 1; e <= profile_n_events(r->load.profile); e++) {
		profile_account(r->load.profile, e, &a);
		json_open(j, '{');
		json_key(j, "name");
		json_string(j, profile_event_name(r->load.profile, e));
		json_key(j, "unit");
		json_string(j, export_unit(r->load.profile, e));
		json_number(j, "samples", a.samples);
		json_number(j, "weight", a.weight);
		json_close(j, '}');
	}
	json_close(j, ']');
}

/* The value of a column: a number where it is one, null where the row has none. */
static void json_value_of(const struct rollup *t, const struct rollup_row *row,
                          enum rollup_column c, struct json *j)
{
	char buf[ROLLUP_TEXT_MAX];
	const char *value = rollup_value(t, row, c, buf, sizeof(buf));

	json_key(j, report_key(c));
	if (value && rollup_facts[c].kind == ROLLUP_IS_NUMBER)
		json_u64(j, row->value[c]);
	else
		json_string(j, value);
}

/* Writes all rows of an event: no limit holds here. -ENOMEM. */
static int json_rows(const struct report *r, uint32_t event, struct json *j)
{
	struct rollup_opts opts = report_rollup_opts(r, event);
	struct rollup t;
	int rc;

	opts.columns |= 1u << ROLLUP_EVENT;
	rc = rollup_build(&t, r->load.profile, &opts);
	if (rc < 0)
		return rc;
	rollup_sort_behind(&t, !r->no_children, r->fields.first, r->fields.n_first);
	for (size_t i = 0; i < t.n; i++) {
		const struct rollup_row *row = &t.rows[i];

		json_open(j, '{');
		for (unsigned c = 0; c < ROLLUP_COLUMNS; c++)
			if (t.columns & 1u << c)
				json_value_of(&t, row, (enum rollup_column)c, j);
		json_number(j, "self", row->self);
		json_number(j, "total", row->total);
		json_number(j, "self_samples", row->self_samples);
		json_number(j, "total_samples", row->total_samples);
		json_close(j, '}');
	}
	rollup_free(&t);
	return 0;
}

/* Writes the objects that have frames without a name, and why. */
static void json_unnamed(const struct report *r, struct json *j)
{
	json_key(j, "unnamed");
	json_open(j, '[');
	for (size_t i = 0; i < r->load.n_unnamed; i++) {
		const struct load_unnamed *u = &r->load.unnamed[i];

		json_open(j, '{');
		json_key(j, "object");
		json_string(j, u->object);
		json_key(j, "state");
		json_string(j, symbol_state_name(u->state));
		json_number(j, "samples", u->samples);
		json_key(j, "reason");
		json_string(j, u->reason);
		json_close(j, '}');
	}
	json_close(j, ']');
}

/* Writes the objects of whose debugging information a part was not found. */
static void json_partial(const struct report *r, struct json *j)
{
	json_key(j, "partial");
	json_open(j, '[');
	for (size_t i = 0; i < r->load.n_partial; i++) {
		const struct load_partial *p = &r->load.partial[i];

		json_open(j, '{');
		json_key(j, "object");
		json_string(j, p->object);
		json_key(j, "file");
		json_string(j, p->file);
		json_number(j, "samples", p->samples);
		json_close(j, '}');
	}
	json_close(j, ']');
}

/* Writes in which objects user stacks end early, as report_ends_find counts them. -ENOMEM. */
static int json_stops(const struct report *r, struct json *j)
{
	const struct profile *p = r->load.profile;
	struct report_ends e;
	int rc = report_ends_find(r, NULL, &e);

	if (rc < 0)
		return rc;
	json_key(j, "stops");
	json_open(j, '[');
	for (size_t i = 0; i < e.n; i++) {
		uint32_t object = e.by_object[i].object;

		json_open(j, '{');
		json_key(j, "object");
		json_string(j, object ? profile_text(p, profile_object_at(p, object)->path) : NULL);
		json_number(j, "samples", e.by_object[i].samples);
		json_close(j, '}');
	}
	json_close(j, ']');
	json_number(j, "cut_at_depth", e.deep);
	free(e.by_object);
	return 0;
}

/* Writes one JSON object with all events' rows in one list. -ENOMEM. */
int report_json(const struct report *r, struct buf *out)
{
	struct json j = { .out = out };
	int rc = 0;

	json_open(&j, '{');
	json_number(&j, "version", 1);
	json_counts(r, &j);
	json_ends(r, &j);
	json_runtime_ends(r, &j);
	json_unwound(r, &j);
	json_recorded(r, &j);
	json_events(r, &j);
	json_key(&j, "columns");
	json_open(&j, '[');
	for (unsigned c = 0; c < ROLLUP_COLUMNS; c++)
		if (r->fields.columns & 1u << c)
			json_string(&j, report_key(c));
	json_close(&j, ']');
	json_key(&j, "rows");
	json_open(&j, '[');
	for (uint32_t e = 1; e <= profile_n_events(r->load.profile) && rc >= 0; e++)
		rc = json_rows(r, e, &j);
	json_close(&j, ']');
	json_unnamed(r, &j);
	json_partial(r, &j);
	if (rc >= 0)
		rc = json_stops(r, &j);
	json_close(&j, '}');
	buf_put_text(out, "\n");
	return rc;
}
