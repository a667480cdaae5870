// SPDX-License-Identifier: MIT
// script_text.c: see script_text.h. Samples and answers; the side-band records are
// script_records.c's, the list of fields is script_fields.c's.
#include "cli/script_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "cli/script_records.h"
#include "cli/script_tail.h"
#include "pipeline/outcome.h"

struct script_line {
	uint32_t n;
	char text[];
};

#define TAILS 16u /* threads whose last stack's lines are kept; a power of two */

struct script_text {
	struct recording *rec;
	struct script_text_opts opts;
	struct places *places;
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
	if (r < 0) {
		free(t);
		return r;
	}
	*ret = t;
	return 0;
}

void script_text_free(struct script_text *t)
{
	if (!t)
		return;
	places_free(t->places);
	arena_free(&t->lines);
	buf_free(&t->line);
	for (size_t i = 0; i < TAILS; i++)
		free(t->tails[i]);
	free(t);
}

/* ---- numbers, without printf ---- */

static char *put_digits(char *end, uint64_t v)
{
	do
		*--end = (char)('0' + v % 10);
	while (v /= 10);
	return end;
}

/* v with at least `least` digits (zeros), then blanks in front up to width. */
static void put_number(struct buf *out, uint64_t v, int least, int width)
{
	char text[48], *end = text + sizeof(text), *at = put_digits(end, v);

	while (end - at < least)
		*--at = '0';
	while (end - at < width)
		*--at = ' ';
	buf_put(out, at, (size_t)(end - at));
}

static void put_hex(struct buf *out, uint64_t v, int width)
{
	char text[32], *end = text + sizeof(text), *at = end;

	do
		*--at = "0123456789abcdef"[v & 15];
	while (v >>= 4);
	while (end - at < width)
		*--at = ' ';
	buf_put(out, at, (size_t)(end - at));
}

static void put_blanks(struct buf *out, int n)
{
	while (n-- > 0)
		buf_put(out, " ", 1);
}

static void put_time(struct buf *out, uint64_t time_ns, bool ns)
{
	char text[48], *end = text + sizeof(text), *at = end;
	uint64_t fraction = time_ns % 1000000000;
	int digits = ns ? 9 : 6, width = ns ? 15 : 12;

	if (!ns)
		fraction /= 1000;
	at = put_digits(at, fraction);
	while (end - at < digits)
		*--at = '0';
	*--at = '.';
	at = put_digits(at, time_ns / 1000000000);
	put_blanks(out, width - (int)(end - at));
	buf_put(out, at, (size_t)(end - at));
	buf_put(out, ": ", 2);
}

/* ---- the head of a sample ---- */

static void put_signed(struct buf *out, uint32_t v, int width)
{
	if (v == UINT32_MAX) {
		put_blanks(out, width - 2);
		buf_put_text(out, "-1");
	} else {
		put_number(out, v, 1, width);
	}
}

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
	if (fields & SCRIPT_TIME && (id->has & SEAM_SAMPLE_TIME || !event))
		put_time(out, id->time_ns, t->opts.ns);
}

/* ---- frames ---- */

static void script_place(struct script_text *t, const struct place *place, bool guessed,
                         struct buf *out)
{
	unsigned fields = t->opts.fields;

	if (guessed || fields & SCRIPT_SYM)
		buf_put(out, " ", 1);
	if (guessed)
		buf_put_text(out, FRAME_GUESS);
	if (fields & SCRIPT_SYM) {
		buf_put_text(out, place->symbol.name ? place->symbol.name : SYMBOL_UNKNOWN);
		if (place->symbol.name && fields & SCRIPT_SYMOFF) {
			buf_put(out, "+0x", 3);
			put_hex(out, place->address - place->symbol.start, 0);
		}
	}
	if (fields & SCRIPT_DSO) {
		buf_put(out, " (", 2);
		buf_put_text(out,
		             place->object ? symbol_object_name(place->object) : SYMBOL_UNKNOWN);
		buf_put(out, ")", 1);
	}
}

/* The line of an address, without what stands before it and without its end. */
static int script_line_new(struct script_text *t, uint32_t space, uint64_t time_ns,
                           const struct frame_at *at, const struct script_line **ret)
{
	struct place place = { .address = at->addr };
	struct script_line *line;
	int r = 0;

	if (!at->guest && t->opts.fields & (SCRIPT_SYM | SCRIPT_DSO))
		r = places_find(t->places, space, time_ns, at->addr, at->caller, &place);
	if (r < 0)
		return r;
	buf_clear(&t->line);
	put_hex(&t->line, at->addr, 16);
	script_place(t, &place, at->guessed, &t->line);
	line = arena_alloc(&t->lines, sizeof(*line) + t->line.n);
	if (!line || t->line.failed)
		return -ENOMEM;
	line->n = (uint32_t)t->line.n;
	memcpy(line->text, t->line.bytes, t->line.n);
	*ret = line;
	return 0;
}

static int script_frame(struct script_text *t, uint32_t space, uint64_t time_ns,
                        const struct frame_at *at, struct buf *out)
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
	return buf_put(out, line->text, line->n);
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
		r = script_frame(t, spaces->user, spaces->time_ns, &at, out);
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
		                 out);
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
	else if (outcome_get(&sample->sample.event->attr, sample->misc, &outcome) &&
	         outcome.kind != OUTCOME_NO_STACK &&
	         (outcome.kind != OUTCOME_WALKED || outcome.end != WALK_COMPLETE))
		end = outcome_name(&outcome);
	if (end)
		buf_printf(out, "/%s", end);
}

static int script_sample(struct script_text *t, const struct batch_item *item, struct buf *out)
{
	struct seam_stitched sample = item->sample;
	const struct seam_event *event = sample.sample.event;
	struct script_spaces spaces = { .user = item->user_space,
		                        .kernel = item->kernel_space,
		                        .time_ns = item->proc_ns };
	unsigned fields = t->opts.fields;
	bool chain = event->attr.sample_type & SEAM_SAMPLE_CALLCHAIN;
	int r;

	script_text_head(t, item, out);
	if (fields & SCRIPT_PERIOD &&
	    (t->opts.fields_given || event->attr.type != SEAM_TYPE_TRACEPOINT)) {
		put_number(out, sample.sample.period, 1, 10);
		buf_put(out, " ", 1);
	}
	if (fields & SCRIPT_STATE) {
		buf_put_text(out, seam_stitch_state_name(sample.state));
		script_walk_end(item, out);
		buf_put(out, " ", 1);
	}
	if (fields & SCRIPT_EVENT) {
		const char *name = event->name ? event->name : SYMBOL_UNKNOWN;

		put_blanks(out, t->event_width - (int)strlen(name));
		buf_put_text(out, name);
		buf_put(out, ": ", 2);
	}
	if (fields & SCRIPT_ADDR && event->attr.sample_type & SEAM_SAMPLE_ADDR) {
		put_hex(out, sample.sample.addr, 16);
		buf_put(out, " ", 1);
	}
	if (!(fields & SCRIPT_IP))
		return buf_put(out, "\n", 1);
	if (t->opts.hide_chain)
		sample.kernel.n = sample.user.n = 0;
	if (!chain || t->opts.hide_chain) {
		size_t before = out->n;

		r = script_frames(t, &sample, &spaces, ' ', out);
		return r < 0 || out->n > before ? r : buf_put(out, "\n", 1);
	}
	buf_put(out, "\n", 1);
	if (t->opts.unmerged && sample.cookie)
		sample.user.n = 0;
	if (t->opts.unmerged && sample.cookie && !sample.kernel.n)
		r = 0;
	else
		r = script_frames(t, &sample, &spaces, '\t', out);
	if (t->opts.unmerged && sample.cookie)
		script_cookie(t, sample.cookie, out);
	buf_put(out, "\n", 1);
	return r;
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
	if (t->opts.fields & SCRIPT_IP)
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
