// SPDX-License-Identifier: MIT
/*
 * script_text.c: see script_text.h. Samples and deferred records; what stands in front of all is
 * script_head.c's, frames are script_frames.c's, side-band records script_records.c's, the list of
 * fields is script_fields.c's.
 *
 * One thread writes with one of these; others are made with `with` and share symbols, lines and
 * names. script_text_join adds up what they counted. The text goes to a buf and is printed by the
 * caller.
 */
#include "script/script_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "abi/stack_end.h"
#include "script/script_frames.h"
#include "script/script_head.h"
#include "base/shown.h"
#include "script/script_put.h"
#include "script/script_records.h"
#include "script/script_values.h"
#include "samples/called.h"
#include "samples/sample_end.h"
#include "samples/uretprobe.h"
#include "samples/walk_result.h"

struct script_text {
	struct recording *rec;
	struct script_text_opts opts;
	struct script_frames *frames;
	struct script_values *values;
	struct script_head head;
	int event_width;
	struct buf labels;
};

/* The widest name of the events, to which the others are padded. */
static int script_event_width(const struct seam_events *events)
{
	size_t width = 0;

	for (size_t i = 0; i < seam_events_count(events); i++) {
		const char *name = seam_events_at(events, i)->name;

		if (name && strlen(name) > width)
			width = strlen(name);
	}
	return (int)width;
}

/* -ENOMEM, or -errno of reading the recording. */
int script_text_new(struct script_text **ret, struct recording *rec,
                    const struct script_text_opts *opts, const struct script_text *with)
{
	struct script_text *t = calloc(1, sizeof(*t));
	int r;

	if (!t)
		return -ENOMEM;
	t->rec = rec;
	t->opts = *opts;
	t->event_width = script_event_width(rec->events);
	r = script_frames_new(&t->frames, rec, &t->opts, with ? with->frames : NULL);
	if (r >= 0)
		r = script_values_new(&t->values, rec, script_frames_resolver(t->frames),
		                      opts->fields, with ? with->values : NULL);
	if (r < 0) {
		script_text_free(t);
		return r;
	}
	*ret = t;
	return 0;
}

/* NULL is allowed. */
void script_text_free(struct script_text *t)
{
	if (!t)
		return;
	script_values_free(t->values);
	buf_free(&t->labels);
	script_frames_free(t->frames);
	free(t);
}

/* perf's line for a cookie that it was told not to merge. */
static void script_cookie(const struct script_text *t, uint64_t cookie, struct buf *out)
{
	buf_put(out, "\t", 1);
	put_hex(out, cookie, 16);
	if (t->opts.fields & SCRIPT_SYM)
		buf_put_text(out, " (cookie)");
	buf_put(out, "\n", 1);
}

/* "/truncated": why the user part is not whole, as far as it was unwound. */
static void script_walk_end(const struct script_text *t, const struct sample *s,
                            const struct seam_event *layout, struct buf *out)
{
	const struct seam_u64s user = sample_user(s);
	sample_end ended = sample_end_of(layout, s->walk, s->misc, s->deferred_misc);
	const char *end = ended ? sample_end_name(ended) : NULL;

	if (uretprobe_in_stack(t->rec->procs, s->user_space, &user))
		end = stack_end_name(STACK_END_WATCHED);
	if (end)
		buf_printf(out, "/%s", end);
}

/* The fields to print of this event's samples. */
static unsigned script_fields_of(const struct script_text *t, const struct seam_event *event)
{
	bool chain = event->attr.sample_type & SEAM_SAMPLE_CALLCHAIN && !t->opts.hide_chain;

	/* perf prints no period for tracepoints, and no frames if they have no chain. */
	if (t->opts.fields_given || event->attr.type != SEAM_TYPE_TRACEPOINT)
		return t->opts.fields;
	return t->opts.fields & ~SCRIPT_PERIOD &
	       (chain ? ~0u : ~(unsigned)(SCRIPT_IP | SCRIPT_SYM | SCRIPT_SYMOFF | SCRIPT_DSO));
}

/* What frames of a sample depend on beside its words. The spaces are those that it was resolved
 * with: mappings change while a recording runs. */
static struct script_spaces script_spaces_of(const struct sample *s)
{
	/* All that is asked of it here; its words may be far. */
	const struct callchain how = { .event = s->event,
		                       .misc = s->misc,
		                       .deferred_misc = s->deferred_misc,
		                       .state = s->state };

	return (struct script_spaces){ .user = s->user_space,
		                       .kernel = s->kernel_space,
		                       .tid = s->id.tid,
		                       .time_ns = s->proc_ns,
		                       .kernel_number = s->kernel_number,
		                       .user_number = s->user_number,
		                       .by_tables = walk_result_by_tables(&how),
		                       .marks = called_marks(&how) };
}

/* Writes the stack, or where the sample hit. A stack ends with a newline. */
static int script_where(struct script_text *t, const struct sample *s, bool chain, struct buf *out)
{
	const struct script_spaces spaces = script_spaces_of(s);
	uint64_t cookie = t->opts.unmerged ? s->cookie : 0;
	struct callchain whole, kernel;
	int r = 0;

	if (chain) {
		buf_put(out, "\n", 1);
		/* Words that the sample brings have no number. */
		if (!cookie && !s->kernel.n && !s->user.n)
			r = script_frames_known(t->frames, &spaces, out);
	}
	if (r)
		return r < 0 ? r : 0;
	whole = kernel = sample_callchain(s);
	if (!chain)
		return script_frames_hit(t->frames, &whole, &spaces, out);
	if (!cookie)
		return script_frames_put(t->frames, &whole, &spaces, out);
	/* What the kernel ran is printed above the cookie; the user part is in the deferred
	 * record. */
	if (kernel.kernel.n) {
		kernel.user.n = 0;
		r = script_frames_put(t->frames, &kernel, &spaces, out);
	}
	script_cookie(t, cookie, out);
	return r;
}

/* "{http.route=/cart trace_id=...}" */
static void script_label(struct script_text *t, uint32_t context, struct buf *out)
{
	buf_clear(&t->labels);
	contexts_show(&t->labels, contexts_text(&t->rec->contexts, context), true);
	buf_put(out, "{", 1);
	shown_put_text(out, buf_text(&t->labels));
	buf_put(out, "} ", 2);
}

#define SCRIPT_WHAT (SCRIPT_PERIOD | SCRIPT_STATE | SCRIPT_EVENT | SCRIPT_LABEL)

/* Period, state and event, each if it is asked for: the slow way, for any choice of them. */
static void script_what(struct script_text *t, const struct sample *s,
                        const struct seam_event *layout, unsigned fields, struct buf *out)
{
	if (fields & SCRIPT_PERIOD) {
		put_number(out, s->period, 10);
		buf_put(out, " ", 1);
	}
	if (fields & SCRIPT_STATE) {
		buf_put_text(out, seam_stitch_state_name(s->state));
		script_walk_end(t, s, layout, out);
		buf_put(out, " ", 1);
	}
	if (fields & SCRIPT_LABEL)
		script_label(t, s->context, out);
	if (fields & SCRIPT_EVENT)
		put_label(out, s->event->name ? s->event->name : SYMBOL_UNKNOWN, t->event_width);
}

/* Writes a sample: its head, event, values and stack. s->event may be another member of the group
 * than the record's. -ENOMEM. */
int script_text_sample(struct script_text *t, const struct sample *s, struct buf *out)
{
	/* The event of the record; s->event may be another member of its group. */
	const struct seam_event *layout = s->decoded ? s->decoded->sample.event : s->event;
	unsigned fields = script_fields_of(t, s->event);
	bool chain = layout->attr.sample_type & SEAM_SAMPLE_CALLCHAIN && !t->opts.hide_chain;
	int r = 0;

	script_head(&t->head, &t->opts, layout, s, out);
	if ((fields & SCRIPT_WHAT) == (SCRIPT_PERIOD | SCRIPT_EVENT))
		script_head_event(&t->head, s->event, s->period, t->event_width, out);
	else
		script_what(t, s, layout, fields, out);
	if (layout->attr.type != SEAM_TYPE_TRACEPOINT)
		/* Only tracepoints have a format. */
		fields &= ~(unsigned)SCRIPT_TRACE;
	if (fields & SCRIPT_BEFORE)
		r = script_values_before(t->values, s, fields, out);
	if (r >= 0 && fields & SCRIPT_IP)
		r = script_where(t, s, chain, out);
	if (fields & SCRIPT_AFTER)
		script_values_after(t->values, s, fields, out);
	buf_put(out, "\n", 1);
	return r < 0 ? r : out->failed ? -ENOMEM : 0;
}

/* Writes a deferred record with its frames, for those who want to see them apart. */
static int script_deferred(struct script_text *t, const struct seam_decoded *d, struct buf *out)
{
	/* recording_spaces wants a sample; only its ids matter. */
	const struct seam_stitched sample = { .sample.id = d->id };
	const struct callchain deferred = { .user = d->deferred.ips };
	struct script_spaces spaces = { .tid = d->id.tid, .time_ns = proc_time(d) };
	int r = 0;

	recording_spaces(t->rec, &sample, spaces.time_ns, &spaces.user, &spaces.kernel);
	buf_put_text(out, "DEFERRED CALLCHAIN [cookie: ");
	put_hex(out, d->deferred.cookie, 0);
	buf_put(out, "]\n", 2);
	if (t->opts.fields & SCRIPT_IP && !t->opts.hide_chain)
		r = script_frames_put(t->frames, &deferred, &spaces, out);
	buf_put(out, "\n", 1);
	return r;
}

/* Writes a record beside samples. -errno. */
int script_text_record(struct script_text *t, const struct seam_decoded *d, struct buf *out)
{
	int r;

	script_head_record(&t->head, &t->opts, t->rec, d, out);
	r = d->record->type == SEAM_RECORD_CALLCHAIN_DEFERRED ? script_deferred(t, d, out)
	                                                      : script_record(d, out);
	return r < 0 ? r : out->failed ? -ENOMEM : 0;
}

/* Keeps memory bounded while a stream is printed. Only between samples. */
void script_text_bound(struct script_text *t)
{
	script_frames_bound(t->frames);
}

/* Takes a record of a stream that a later sample's text depends on. */
int script_text_learn(struct script_text *t, const struct seam_record *record)
{
	return script_values_learn(t->values, record);
}

/* Adds what another thread's text counted. */
void script_text_join(struct script_text *t, const struct script_text *other)
{
	script_values_join(t->values, other->values);
}

/* Which samples of tracepoints could not be printed, for one message at the end. */
struct script_textless script_text_textless(const struct script_text *t)
{
	return script_values_textless(t->values);
}
