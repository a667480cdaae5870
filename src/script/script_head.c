// SPDX-License-Identifier: MIT
/*
 * script_head.c: see script_head.h. Whose name, ids, CPU, mode and time; the form is perf's to the
 * blank.
 *
 * Most samples are of the same few threads, so the text of a thread's name, ids and CPU is kept and
 * copied (head_task), and so is that of an event's name and period.
 */
#include "script/script_head.h"

#include <string.h>

#include "base/digits.h"
#include "base/shown.h"
#include "script/script_put.h"

/* "398/398    ": left-aligned behind the slash. */
static void script_put_task(struct buf *out, unsigned fields, const struct seam_id *id)
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

/* The name that perf prints: that of a side-band record is the name of the task that it is
 * about. */
/* *tid: the thread that the name belongs to. */
static const char *script_comm(struct script_head *head, const struct recording *rec,
                               const struct seam_decoded *d, uint32_t *tid)
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
	return proc_recall_comm(&head->recall, rec->procs, pid, *tid, proc_time(d));
}

/* ":398": a task whose name is not known. */
static const char *script_nameless(uint32_t tid, char text[16])
{
	bool negative = (int32_t)tid < 0;
	char *p = text;

	*p++ = ':';
	if (negative)
		*p++ = '-';
	*digits_decimal(p, negative ? 0 - tid : tid) = 0;
	return text;
}

/* A name, with padding in front where no stack follows below the line. */
static void script_put_comm(struct buf *out, const char *comm, bool padded)
{
	if (padded)
		put_blanks(out, 16 - (int)shown_length(comm));
	shown_put_text(out, comm);
	buf_put(out, " ", 1);
}

/* "[003] ": three digits, more if they are needed. */
static void script_put_cpu(struct buf *out, uint32_t cpu)
{
	char *p = cpu < 1000 ? buf_reserve(out, 6) : NULL;

	if (p) {
		memcpy(p, "[000] ", 6);
		digits_put(p + 1, 3, cpu);
		out->n += 6;
		return;
	}
	buf_put(out, "[", 1);
	buf_put_decimal(out, cpu);
	buf_put(out, "] ", 2);
}

/* Name and ids of a record, and its CPU. tid: of the name. */
static void head_compose(unsigned fields, const struct seam_id *id, const char *comm, uint32_t tid,
                         bool padded, struct buf *out)
{
	char nameless[16];

	if (fields & SCRIPT_COMM)
		script_put_comm(out, comm ? comm : script_nameless(tid, nameless), padded);
	script_put_task(out, fields, id);
	if (fields & SCRIPT_CPU && id->has & SEAM_SAMPLE_CPU)
		script_put_cpu(out, id->cpu);
}

/* The same for a sample. For most samples of a thread it copies what was kept of the last one, if
 * all that it depends on is the same. Names are compared by their place, which does not change as
 * long as the table lives. */
static void head_task(struct script_head *head, unsigned fields, const struct sample *s,
                      bool padded, struct buf *out)
{
	const struct seam_id *id = &s->id;
	struct head_task *task = &head->tasks[(id->tid ^ id->cpu << 3) % HEADS];
	bool has_cpu = id->has & SEAM_SAMPLE_CPU;
	size_t start = out->n, n;
	char *p;

	if (task->n && task->comm == s->comm && task->pid == id->pid && task->tid == id->tid &&
	    task->cpu == id->cpu && task->has_cpu == has_cpu && task->padded == padded) {
		/* HEAD_TEXT bytes are copied whatever the text is long: a fixed size is one
		 * instruction or two. */
		p = buf_reserve(out, HEAD_TEXT);
		if (p)
			memcpy(p, task->text, HEAD_TEXT);
		out->n += p ? task->n : 0;
		return;
	}
	head_compose(fields, id, s->comm, id->tid, padded, out);
	n = out->n - start;
	if (out->failed || n > HEAD_TEXT)
		return;
	*task = (struct head_task){ .comm = s->comm,
		                    .pid = id->pid,
		                    .tid = id->tid,
		                    .cpu = id->cpu,
		                    .has_cpu = has_cpu,
		                    .padded = padded,
		                    .n = (uint32_t)n };
	if (n)
		memcpy(task->text, out->bytes + start, n);
}

/* Writes the processor's mode of a sample, or the mark of some other records. */
static void head_put_misc(struct buf *out, uint32_t type, uint16_t misc)
{
	const char *text = (const char *[]){
		"", "K", "U", "H", "G", "g", "", ""
	}[misc & SEAM_MISC_CPUMODE_MASK];
	/* One bit has several meanings, by the type of record: no code in a mapping, an exec in a
	 * COMM. */
	bool marked = misc & SEAM_MISC_MMAP_DATA;

	switch (type) {
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

/* Whether stacks follow below the samples of this event. The padding of names depends on it. */
static bool head_chain(const struct script_text_opts *opts, const struct seam_event *event)
{
	return event && event->attr.sample_type & SEAM_SAMPLE_CALLCHAIN && !opts->hide_chain;
}

/* Writes what stands in front of a sample or record: name, ids, CPU, mode and time, each if it is
 * asked for. */
void script_head(struct script_head *head, const struct script_text_opts *opts,
                 const struct seam_event *layout, const struct sample *s, struct buf *out)
{
	/* perf pads names where everything stands on one line. */
	bool padded = !(opts->fields & SCRIPT_IP && head_chain(opts, layout));

	head_task(head, opts->fields, s, padded, out);
	if (opts->fields & SCRIPT_MISC)
		head_put_misc(out, SEAM_RECORD_SAMPLE, s->misc);
	if (opts->fields & SCRIPT_TIME && s->id.has & SEAM_SAMPLE_TIME)
		put_time(out, &head->clock, s->id.time_ns, opts->ns);
}

/* The same in front of a record that is no sample. */
void script_head_record(struct script_head *head, const struct script_text_opts *opts,
                        const struct recording *rec, const struct seam_decoded *d, struct buf *out)
{
	const struct seam_event *event = d->event;
	unsigned fields = opts->fields;
	uint32_t tid = d->id.tid;
	const char *comm = fields & SCRIPT_COMM ? script_comm(head, rec, d, &tid) : NULL;

	/* A record of perf's own has no event: perf takes the first one's for it. */
	if (!event && seam_events_count(rec->events))
		event = seam_events_at(rec->events, 0);
	head_compose(fields, &d->id, comm, tid, !(fields & SCRIPT_IP && head_chain(opts, event)),
	             out);
	if (fields & SCRIPT_MISC)
		head_put_misc(out, d->record->type, d->record->misc);
	if (fields & SCRIPT_TIME && (d->id.has & SEAM_SAMPLE_TIME || !d->event))
		put_time(out, &head->clock, d->id.time_ns, opts->ns);
}

/* The text of an event's last period is kept, because most of its samples have the same one. */
void script_head_event(struct script_head *head, const struct seam_event *event, uint64_t period,
                       int width, struct buf *out)
{
	struct head_event *kept = &head->events[event->index % HEAD_EVENTS];
	const char *name = event->name ? event->name : SYMBOL_UNKNOWN;
	size_t start = out->n, n;
	char *p;

	if (kept->n && kept->event == event && kept->period == period) {
		p = buf_reserve(out, HEAD_TEXT);
		if (p)
			memcpy(p, kept->text, HEAD_TEXT);
		out->n += p ? kept->n : 0;
		return;
	}
	put_number(out, period, 10);
	buf_put(out, " ", 1);
	put_label(out, name, width);
	n = out->n - start;
	if (out->failed || n > HEAD_TEXT)
		return;
	kept->event = event;
	kept->period = period;
	kept->n = (uint32_t)n;
	memcpy(kept->text, out->bytes + start, n);
}
