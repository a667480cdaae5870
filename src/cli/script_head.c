// SPDX-License-Identifier: MIT
// script_head.c: see script_head.h. Whose name, ids, CPU, mode and time; the form is perf's to the blank.
#include "cli/script_head.h"

#include <string.h>

#include "base/digits.h"
#include "cli/script_put.h"

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

static void put_comm(struct buf *out, const struct recording *rec, const struct seam_decoded *d,
                     bool padded)
{
	char nameless[16];
	uint32_t tid;
	const char *comm = script_comm(rec, d, &tid);
	size_t n;

	if (!comm)
		comm = script_nameless(tid, nameless);
	n = strlen(comm);
	if (padded)
		put_blanks(out, 16 - (int)n);
	buf_put(out, comm, n);
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

void script_head(const struct script_text_opts *opts, const struct recording *rec,
                 const struct batch_item *item, struct buf *out)
{
	const struct seam_id *id = &item->decoded.id;
	const struct seam_event *event = item->decoded.record->type == SEAM_RECORD_SAMPLE
	                                         ? item->decoded.sample.event
	                                         : item->decoded.event;
	bool chain = event && event->attr.sample_type & SEAM_SAMPLE_CALLCHAIN;
	unsigned fields = opts->fields;

	/* A record of perf's own has no event: perf takes the first one's for it. */
	if (!event && seam_events_count(rec->events))
		chain = seam_events_at(rec->events, 0)->attr.sample_type & SEAM_SAMPLE_CALLCHAIN;
	chain = chain && !opts->hide_chain;
	if (fields & SCRIPT_COMM)
		put_comm(out, rec, &item->decoded, !(fields & SCRIPT_IP && chain));
	put_task(out, fields, id);
	if (fields & SCRIPT_CPU && id->has & SEAM_SAMPLE_CPU) {
		buf_put(out, "[", 1);
		put_number(out, id->cpu, 3, 0);
		buf_put(out, "] ", 2);
	}
	if (fields & SCRIPT_MISC)
		put_misc(out, item->decoded.record);
	if (fields & SCRIPT_TIME && (id->has & SEAM_SAMPLE_TIME || !event))
		put_time(out, id->time_ns, opts->ns);
}
