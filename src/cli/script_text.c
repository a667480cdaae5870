// SPDX-License-Identifier: MIT
// script_text.c: see script_text.h. Samples and answers; the side-band records are
// script_records.c's, the list of fields is script_fields.c's.
#include "cli/script_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "cli/script_put.h"
#include "cli/script_records.h"
#include "cli/script_tail.h"
#include "cli/script_values.h"
#include "pipeline/outcome.h"

#define LINES_MAX (1u << 18) /* of a stream: about 50 MiB */

struct script_line {
	uint32_t n;
	uint32_t
	        own; /* where the line of the function itself begins, behind those of what is inlined */
	char text[];
};

#define TAILS 16u /* threads whose last stack's lines are kept; a power of two */

struct script_text {
	struct recording *rec;
	struct script_text_opts opts;
	struct places *places;
	struct script_values *values;
	struct arena lines; /* what places' slots point to */
	struct buf line;    /* one line while it is composed */
	int event_width;
	struct script_tail *tails[TAILS]; /* by tid; NULL: not needed yet */
	uint32_t begins[TAIL_FRAMES];
};

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

static bool script_wants_lines(const struct script_text_opts *opts)
{
	return opts->fields & SCRIPT_IP &&
	       (opts->fields & SCRIPT_SRCLINE ||
	        (!opts->no_inline && !opts->hide_chain && opts->fields & SCRIPT_SYM));
}

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
	r = with ? places_share(&t->places, with->places)
	         : places_new(&t->places, rec, opts->symbols);
	if (r >= 0 && !with && script_wants_lines(opts))
		r = places_lines_start(t->places, NULL, opts->symbols);
	if (r >= 0)
		r = script_values_new(&t->values, rec, t->places, opts->fields,
		                      with ? with->values : NULL);
	if (r < 0) {
		script_text_free(t);
		return r;
	}
	*ret = t;
	return 0;
}

void script_text_free(struct script_text *t)
{
	if (!t)
		return;
	script_values_free(t->values);
	places_free(t->places);
	arena_free(&t->lines);
	buf_free(&t->line);
	for (size_t i = 0; i < TAILS; i++)
		free(t->tails[i]);
	free(t);
}

/* ---- the head of a sample ---- */

/* "398/398    ": left-aligned behind the slash. */
static void put_task(struct buf *out, unsigned fields, const struct seam_id *id)
{
	size_t before;

	if (fields & SCRIPT_PID)
		put_signed(out, id->pid, 7);
	if (fields & SCRIPT_PID && fields & SCRIPT_TID) {
		buf_put(out, "/", 1);
		before = out->n;
		put_signed(out, id->tid, 0);
		put_blanks(out, 7 - (int)(out->n - before));
	} else if (fields & SCRIPT_TID) {
		put_signed(out, id->tid, 7);
	}
	if (fields & (SCRIPT_PID | SCRIPT_TID))
		buf_put(out, " ", 1);
}

/* Whose name perf prints: a side-band record's is that of the task it is about. */
static const char *script_comm(const struct recording *rec, const struct seam_decoded *d,
                               uint32_t *tid)
{
	uint32_t pid = d->id.pid;

	*tid = d->id.tid;
	switch (d->record->type) {
	case SEAM_RECORD_COMM:
		return d->comm.comm;
	case SEAM_RECORD_MMAP:
	case SEAM_RECORD_MMAP2:
		pid = d->mmap.pid;
		*tid = d->mmap.tid;
		break;
	case SEAM_RECORD_FORK:
		pid = d->task.ppid;
		*tid = d->task.ptid;
		break;
	case SEAM_RECORD_EXIT:
		pid = d->task.pid;
		*tid = d->task.tid;
		break;
	default:
		break;
	}
	return proc_comm(rec->procs, pid, *tid, proc_time(d));
}

static void put_comm(struct buf *out, const struct recording *rec, const struct seam_decoded *d,
                     bool padded)
{
	char nameless[16];
	uint32_t tid;
	const char *comm = script_comm(rec, d, &tid);

	if (!comm) {
		snprintf(nameless, sizeof(nameless), ":%d", (int)tid);
		comm = nameless;
	}
	if (padded)
		put_blanks(out, 16 - (int)strlen(comm));
	buf_put_text(out, comm);
	buf_put(out, " ", 1);
}

/* The processor's mode of a sample, the mark of some other records. */
static void put_misc(struct buf *out, const struct seam_record *record)
{
	const char *text = (const char *[]){
		"", "K", "U", "H", "G", "g", "", ""
	}[record->misc & SEAM_MISC_CPUMODE_MASK];
	bool marked = record->misc & SEAM_MISC_MMAP_DATA;

	switch (record->type) {
	case SEAM_RECORD_SAMPLE:
		break;
	case SEAM_RECORD_MMAP:
	case SEAM_RECORD_MMAP2:
		text = marked ? "M" : "";
		break;
	case SEAM_RECORD_COMM:
		text = marked ? "E" : "";
		break;
	default:
		text = "";
	}
	buf_put_text(out, text);
	put_blanks(out, 6 - (int)strlen(text));
}

void script_text_head(struct script_text *t, const struct batch_item *item, struct buf *out)
{
	const struct seam_id *id = &item->decoded.id;
	const struct seam_event *event = item->decoded.record->type == SEAM_RECORD_SAMPLE
	                                         ? item->decoded.sample.event
	                                         : item->decoded.event;
	bool chain = event && event->attr.sample_type & SEAM_SAMPLE_CALLCHAIN;
	unsigned fields = t->opts.fields;

	/* A record of perf's own has no event: perf takes the first one's for it. */
	if (!event && seam_events_count(t->rec->events))
		chain = seam_events_at(t->rec->events, 0)->attr.sample_type & SEAM_SAMPLE_CALLCHAIN;
	chain = chain && !t->opts.hide_chain;
	if (fields & SCRIPT_COMM)
		put_comm(out, t->rec, &item->decoded, !(fields & SCRIPT_IP && chain));
	put_task(out, fields, id);
	if (fields & SCRIPT_CPU && id->has & SEAM_SAMPLE_CPU) {
		buf_put(out, "[", 1);
		put_number(out, id->cpu, 3, 0);
		buf_put(out, "] ", 2);
	}
	if (fields & SCRIPT_MISC)
		put_misc(out, item->decoded.record);
	if (fields & SCRIPT_TIME && (id->has & SEAM_SAMPLE_TIME || !event))
		put_time(out, id->time_ns, t->opts.ns);
}

/* ---- frames ---- */

static void script_symbol(const struct script_text *t, const struct place *place, const char *name,
                          struct buf *out)
{
	buf_put_text(out, name ? name : SYMBOL_UNKNOWN);
	if (place->symbol.name && t->opts.fields & SCRIPT_SYMOFF) {
		buf_put(out, "+0x", 3);
		put_hex(out, place->address - place->symbol.start, 0);
	}
}

/* Below the frame: "  file.c:12", or where the code is when no line is known. */
static void script_source(const struct script_text *t, const struct place *place,
                          const struct lines_frame *source, uint64_t addr, struct buf *out)
{
	const char *slash = source && *source->file ? strrchr(source->file, '/') : NULL;

	if (!(t->opts.fields & SCRIPT_SRCLINE) || !place->object)
		return;
	buf_put_text(out, "\n  ");
	if (source && *source->file) {
		buf_put_text(out, slash ? slash + 1 : source->file);
		buf_put(out, ":", 1);
		put_number(out, source->line, 1, 0);
	} else {
		buf_put_text(out, symbol_object_short_name(place->object));
		buf_put(out, "[", 1);
		put_hex(out, place->kernel ? addr : place->address, 0);
		buf_put(out, "]", 1);
	}
}

static void script_place(struct script_text *t, const struct place *place, bool guessed,
                         struct buf *out)
{
	unsigned fields = t->opts.fields;

	if (guessed || fields & SCRIPT_SYM)
		buf_put(out, " ", 1);
	if (guessed)
		buf_put_text(out, FRAME_GUESS);
	if (fields & SCRIPT_SYM)
		script_symbol(t, place, place->symbol.name, out);
	if (fields & SCRIPT_DSO) {
		buf_put(out, " (", 2);
		buf_put_text(out,
		             place->object ? symbol_object_name(place->object) : SYMBOL_UNKNOWN);
		buf_put(out, ")", 1);
	}
}

/* What is inlined at an address, the innermost first, each with its end and the next one's lead. */
static void script_inlined(struct script_text *t, const struct place *place, uint64_t addr,
                           const struct lines_at *at, struct buf *out)
{
	if (t->opts.no_inline || !(t->opts.fields & SCRIPT_SYM))
		return;
	for (size_t i = at->n; i > 1; i--) {
		const struct lines_frame *f = &at->frames[i - 1];

		put_hex(out, addr, 16);
		buf_put(out, " ", 1);
		script_symbol(t, place, *f->function ? f->function : NULL, out);
		script_source(t, place, f, addr, out);
		buf_put_text(out, " (inlined)\n\t");
	}
}

static int script_compose(struct script_text *t, const struct frame_at *at,
                          const struct place *place, size_t *own)
{
	struct lines_at source = { 0 };
	size_t shown;
	int r = at->guessed ? 0 : places_source(t->places, place, &source);

	if (r < 0)
		return r;
	shown = t->opts.no_inline ? source.n : 1;
	buf_clear(&t->line);
	script_inlined(t, place, at->addr, &source, &t->line);
	*own = t->line.n;
	put_hex(&t->line, at->addr, 16);
	script_place(t, place, at->guessed, &t->line);
	script_source(t, place, source.n ? &source.frames[shown - 1] : NULL, at->addr, &t->line);
	return 0;
}

/* The line of an address, without what stands before it and without its end. */
static int script_line_new(struct script_text *t, uint32_t space, uint64_t time_ns,
                           const struct frame_at *at, const struct script_line **ret)
{
	struct place place = { .address = at->addr };
	struct script_line *line;
	size_t own = 0;
	int r = 0;

	if (!at->guest && t->opts.fields & (SCRIPT_SYM | SCRIPT_DSO | SCRIPT_SRCLINE))
		r = places_find(t->places, space, time_ns, at->addr, at->caller, &place);
	if (r >= 0)
		r = script_compose(t, at, &place, &own);
	if (r < 0)
		return r;
	line = arena_alloc(&t->lines, sizeof(*line) + t->line.n);
	if (!line || t->line.failed)
		return -ENOMEM;
	line->n = (uint32_t)t->line.n;
	line->own = (uint32_t)own;
	memcpy(line->text, t->line.bytes, t->line.n);
	*ret = line;
	return 0;
}

static int script_frame(struct script_text *t, uint32_t space, uint64_t time_ns,
                        const struct frame_at *at, bool chain, struct buf *out)
{
	uint64_t *slot = places_frame_slot(t->places, space, at);
	const struct script_line *line;
	int r;

	if (!slot)
		return -ENOMEM;
	if (!*slot) {
		r = script_line_new(t, space, time_ns, at, &line);
		if (r < 0)
			return r;
		*slot = (uint64_t)(uintptr_t)line;
	}
	line = (const struct script_line *)(uintptr_t)*slot;
	return chain ? buf_put(out, line->text, line->n)
	             : buf_put(out, line->text + line->own, line->n - line->own);
}

/* The thread's last lines; NULL: out of memory. */
static struct script_tail *script_tail(struct script_text *t, uint32_t tid)
{
	struct script_tail **tail = &t->tails[tid % TAILS];

	if (!*tail)
		*tail = calloc(1, sizeof(**tail));
	return *tail;
}

struct script_spaces {
	uint32_t user, kernel;
	uint64_t time_ns;
};

/* The user half: only the lines of frames that the thread's last stack did not have are made. */
static int script_user_frames(struct script_text *t, const struct seam_stitched *sample,
                              const struct script_spaces *spaces, struct buf *out)
{
	struct script_tail *tail = script_tail(t, sample->sample.id.tid);
	struct frame_walk walk = { .in_user = true };
	size_t start = out->n;
	struct frame_at at;
	uint32_t same;
	int r = 0;

	if (!tail)
		return -ENOMEM;
	same = script_tail_common(tail, sample->sample.id.tid, spaces->user,
	                          sample->state == SEAM_STITCH_STACK_COPY, &sample->user);
	while (r >= 0 && walk.i < sample->user.n - same && frame_walk_next(&walk, sample, &at)) {
		if (walk.i <= TAIL_FRAMES)
			t->begins[walk.i - 1] = (uint32_t)(out->n - start);
		buf_put(out, "\t", 1);
		r = script_frame(t, spaces->user, spaces->time_ns, &at, true, out);
		buf_put(out, "\n", 1);
	}
	if (r < 0 || out->failed)
		return -ENOMEM;
	script_tail_keep(tail, same, &sample->user, out->bytes + start, out->n - start, t->begins);
	return script_tail_put(tail, same, out);
}

/* All frames of a sample; each is led by lead, and followed by a newline. */
static int script_frames(struct script_text *t, const struct seam_stitched *sample,
                         const struct script_spaces *spaces, char lead, struct buf *out)
{
	bool tail = lead == '\t' && !t->opts.max_stack && sample->user.n;
	struct frame_walk walk = { 0 };
	struct frame_at at;
	unsigned n = 0;
	int r = 0;

	while (r >= 0 && (!tail || walk.i < sample->kernel.n) &&
	       frame_walk_next(&walk, sample, &at)) {
		if (tail && at.user) /* behind a marker that was the kernel half's last word */
			break;
		if (t->opts.max_stack && n++ >= t->opts.max_stack)
			break;
		buf_put(out, &lead, 1);
		r = script_frame(t, at.user ? spaces->user : spaces->kernel, spaces->time_ns, &at,
		                 lead == '\t', out);
		buf_put(out, "\n", 1);
	}
	return tail && r >= 0 ? script_user_frames(t, sample, spaces, out) : r;
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

/* "/truncated": why the user half is not whole, as far as it was unwound from a copy. */
static void script_walk_end(const struct batch_item *item, struct buf *out)
{
	const struct seam_stitched *sample = &item->sample;
	struct outcome outcome;
	const char *end = NULL;

	if (item->walk)
		end = item->walk->end == WALK_COMPLETE ? NULL : walk_end_name(item->walk->end);
	else if (outcome_get(&item->decoded.sample.event->attr, sample->misc, &outcome) &&
	         outcome.kind != OUTCOME_NO_STACK &&
	         (outcome.kind != OUTCOME_WALKED || outcome.end != WALK_COMPLETE))
		end = outcome_name(&outcome);
	if (end)
		buf_printf(out, "/%s", end);
}

/* Of a sample of this event. */
static unsigned script_fields_of(const struct script_text *t, const struct seam_event *event)
{
	bool chain = event->attr.sample_type & SEAM_SAMPLE_CALLCHAIN && !t->opts.hide_chain;

	if (t->opts.fields_given || event->attr.type != SEAM_TYPE_TRACEPOINT)
		return t->opts.fields;
	return t->opts.fields & ~SCRIPT_PERIOD &
	       (chain ? ~0u : ~(unsigned)(SCRIPT_IP | SCRIPT_SYM | SCRIPT_SYMOFF | SCRIPT_DSO));
}

/* The stack, or where the sample hit; ends with a newline if it is a stack. */
static int script_where(struct script_text *t, const struct batch_item *item, bool chain,
                        struct buf *out)
{
	struct script_spaces spaces = { .user = item->user_space,
		                        .kernel = item->kernel_space,
		                        .time_ns = item->proc_ns };
	struct seam_stitched sample = item->sample;
	size_t before = out->n;
	int r = 0;

	if (!chain) {
		sample.kernel.n = sample.user.n = 0;
		r = script_frames(t, &sample, &spaces, ' ', out);
		out->n -= out->n > before && out->bytes[out->n - 1] == '\n';
		return r;
	}
	buf_put(out, "\n", 1);
	if (t->opts.unmerged && sample.cookie)
		sample.user.n = 0;
	if (!t->opts.unmerged || !sample.cookie || sample.kernel.n)
		r = script_frames(t, &sample, &spaces, '\t', out);
	if (t->opts.unmerged && sample.cookie)
		script_cookie(t, sample.cookie, out);
	return r;
}

static int script_sample(struct script_text *t, const struct batch_item *item, struct buf *out)
{
	const struct seam_stitched *sample = &item->sample;
	const struct seam_event *event = sample->sample.event;
	const struct seam_event *layout = item->decoded.sample.event;
	unsigned fields = script_fields_of(t, event);
	bool chain = layout->attr.sample_type & SEAM_SAMPLE_CALLCHAIN && !t->opts.hide_chain;
	int r;

	script_text_head(t, item, out);
	if (fields & SCRIPT_PERIOD) {
		put_number(out, sample->sample.period, 1, 10);
		buf_put(out, " ", 1);
	}
	if (fields & SCRIPT_STATE) {
		buf_put_text(out, seam_stitch_state_name(sample->state));
		script_walk_end(item, out);
		buf_put(out, " ", 1);
	}
	if (fields & SCRIPT_EVENT) {
		const char *name = event->name ? event->name : SYMBOL_UNKNOWN;

		put_blanks(out, t->event_width - (int)strlen(name));
		buf_put_text(out, name);
		buf_put(out, ": ", 2);
	}
	r = script_values_before(t->values, item, fields, out);
	if (r >= 0 && fields & SCRIPT_IP)
		r = script_where(t, item, chain, out);
	script_values_after(t->values, item, fields, out);
	return r < 0 ? r : buf_put(out, "\n", 1);
}

static int script_answer(struct script_text *t, const struct batch_item *item, struct buf *out)
{
	const struct seam_callchain_deferred *d = &item->decoded.deferred;
	struct seam_stitched answer = { .sample = { .id = item->decoded.id }, .user = d->ips };
	struct script_spaces spaces = { .time_ns = item->proc_ns };
	int r = 0;

	recording_spaces(t->rec, &answer, spaces.time_ns, &spaces.user, &spaces.kernel);
	script_text_head(t, item, out);
	buf_put_text(out, "DEFERRED CALLCHAIN [cookie: ");
	put_hex(out, d->cookie, 0);
	buf_put(out, "]\n", 2);
	if (t->opts.fields & SCRIPT_IP && !t->opts.hide_chain)
		r = script_frames(t, &answer, &spaces, '\t', out);
	buf_put(out, "\n", 1);
	return r;
}

int script_text_put(struct script_text *t, const struct batch_item *item, struct buf *out)
{
	int r;

	switch (item->record.type) {
	case SEAM_RECORD_SAMPLE:
		r = script_sample(t, item, out);
		break;
	case SEAM_RECORD_CALLCHAIN_DEFERRED:
		r = script_answer(t, item, out);
		break;
	default:
		script_text_head(t, item, out);
		r = script_record(&item->decoded, out);
	}
	return r < 0 ? r : out->failed ? -ENOMEM : 0;
}

void script_text_bound(struct script_text *t)
{
	if (places_count(t->places) <= LINES_MAX)
		return;
	places_forget(t->places);
	arena_free(&t->lines);
	t->lines = (struct arena){ 0 };
}

int script_text_learn(struct script_text *t, const struct seam_record *record)
{
	return script_values_learn(t->values, record);
}

void script_text_join(struct script_text *t, const struct script_text *other)
{
	script_values_join(t->values, other->values);
}

int script_text_verdict(const struct script_text *t, const struct cmd *cmd)
{
	return script_values_verdict(t->values, cmd) && t->opts.fields_given ? EXIT_PARTIAL
	                                                                     : EXIT_OK;
}
