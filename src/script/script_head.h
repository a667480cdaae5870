/* SPDX-License-Identifier: MIT */
/* script_head.h: the part of a line of seam script that all records have: comm, ids, CPU, mode,
 * time. */
#ifndef SEAM_SCRIPT_SCRIPT_HEAD_H
#define SEAM_SCRIPT_SCRIPT_HEAD_H

#include "script/script_put.h"
#include "script/script_text.h"

#define HEADS 64u /* threads on a CPU whose name, ids and CPU are kept as text; a power of two */
#define HEAD_EVENTS 8u /* events of which the last period is kept as text, with the name */
#define HEAD_TEXT 64u  /* bytes; what is longer is written each time */

struct script_head { /* zeroed to start; one thread and one set of fields each */
	struct proc_recall recall;
	struct put_clock clock;
	struct head_task {
		const char *comm; /* proc_comm's, or NULL */
		uint32_t pid, tid, cpu;
		uint32_t n; /* bytes of text; 0: nothing yet */
		bool has_cpu, padded;
		char text[HEAD_TEXT];
	} tasks[HEADS];
	struct head_event {
		const struct seam_event *event;
		uint64_t period;
		uint32_t n;
		char text[HEAD_TEXT];
	} events[HEAD_EVENTS];
};

/* Writes the head of a sample, which stands in front of all else. layout: the event of its
 * record. */
void script_head(struct script_head *head, const struct script_text_opts *opts,
                 const struct seam_event *layout, const struct sample *sample, struct buf *out);
/* Writes the head of another record. */
void script_head_record(struct script_head *head, const struct script_text_opts *opts,
                        const struct recording *rec, const struct seam_decoded *decoded,
                        struct buf *out);
/* "    250000   cpu-clock: ", the name in width columns. */
void script_head_event(struct script_head *head, const struct seam_event *event, uint64_t period,
                       int width, struct buf *out);

#endif
