// SPDX-License-Identifier: MIT
// script_head.c: see script_head.h. Whose name, ids, CPU, mode and time; the form is perf's to the
// blank.
#include "cli/script/script_head.h"

#include <string.h>

#include "base/digits.h"
#include "base/shown.h"
#include "cli/script/script_put.h"

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

/* Whose name perf prints: a side-band record's is that of the task it is about. */
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

static void script_put_comm(struct buf *out, const char *comm, bool padded)
{
	if (padded)
		put_blanks(out, 16 - (int)shown_length(comm));
	shown_put_text(out, comm);
	buf_put(out, " ", 1);
}

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

/* Name and ids of any record, and its CPU. */
static void head_compose(struct script_head *head, unsigned fields, const struct recording *rec,
                         const struct seam_decoded *d, const char *comm, bool padded,
                         struct buf *out)
{
	uint32_t tid = d->id.tid;
	char nameless[16];

	if (fields & SCRIPT_COMM) {
		if (!comm)
			comm = script_comm(head, rec, d, &tid);
		script_put_comm(out, comm ? comm : script_nameless(tid, nameless), padded);
	}
	script_put_task(out, fields, &d->id);
	if (fields & SCRIPT_CPU && d->id.has & SEAM_SAMPLE_CPU)
		script_put_cpu(out, d->id.cpu);
}

/* The same of a sample, for most of a thread's samples from what was kept of the last one: if all
 * that it depends on is the same. A name has one place as long as the table is there. */
static void head_sample(struct script_head *head, unsigned fields, const struct recording *rec,
                        const struct seam_decoded *d, bool padded, struct buf *out)
{
	const struct seam_id *id = &d->id;
	struct head_task *task = &head->tasks[(id->tid ^ id->cpu << 3) % HEADS];
	bool has_cpu = id->has & SEAM_SAMPLE_CPU;
	const char *comm = NULL;
	size_t start = out->n, n;
	char *p;

	if (fields & SCRIPT_COMM)
		comm = proc_recall_comm(&head->recall, rec->procs, id->pid, id->tid, proc_time(d));
	if (task->n && task->comm == comm && task->pid == id->pid && task->tid == id->tid &&
	    task->cpu == id->cpu && task->has_cpu == has_cpu && task->padded == padded) {
		p = buf_reserve(out, HEAD_TEXT);
		if (p)
			memcpy(p, task->text, HEAD_TEXT);
		out->n += p ? task->n : 0;
		return;
	}
	head_compose(head, fields, rec, d, comm, padded, out);
	n = out->n - start;
	if (out->failed || n > HEAD_TEXT)
		return;
	*task = (struct head_task){ .comm = comm,
		                    .pid = id->pid,
		                    .tid = id->tid,
		                    .cpu = id->cpu,
		                    .has_cpu = has_cpu,
		                    .padded = padded,
		                    .n = (uint32_t)n };
	if (n)
		memcpy(task->text, out->bytes + start, n);
}

/* The processor's mode of a sample, the mark of some other records. */
static void script_put_misc(struct buf *out, const struct seam_record *record)
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

void script_head(struct script_head *head, const struct script_text_opts *opts,
                 const struct recording *rec, const struct batch_item *item, struct buf *out)
{
	const struct seam_id *id = &item->decoded.id;
	const struct seam_event *event = item->decoded.record->type == SEAM_RECORD_SAMPLE
	                                         ? item->decoded.sample.event
	                                         : item->decoded.event;
	bool chain = event && event->attr.sample_type & SEAM_SAMPLE_CALLCHAIN;
	unsigned fields = opts->fields;
	bool padded;

	/* A record of perf's own has no event: perf takes the first one's for it. */
	if (!event && seam_events_count(rec->events))
		chain = seam_events_at(rec->events, 0)->attr.sample_type & SEAM_SAMPLE_CALLCHAIN;
	chain = chain && !opts->hide_chain;
	padded = !(fields & SCRIPT_IP && chain);
	if (item->decoded.record->type == SEAM_RECORD_SAMPLE)
		head_sample(head, fields, rec, &item->decoded, padded, out);
	else
		head_compose(head, fields, rec, &item->decoded, NULL, padded, out);
	if (fields & SCRIPT_MISC)
		script_put_misc(out, item->decoded.record);
	if (fields & SCRIPT_TIME && (id->has & SEAM_SAMPLE_TIME || !event))
		put_time(out, &head->clock, id->time_ns, opts->ns);
}

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
