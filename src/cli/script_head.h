/* SPDX-License-Identifier: MIT */
/* script_head.h: the part of a line of seam script that all records have: comm, ids, CPU, mode, time. */
#ifndef SEAM_CLI_SCRIPT_HEAD_H
#define SEAM_CLI_SCRIPT_HEAD_H

#include "cli/script_put.h"
#include "cli/script_text.h"

#define HEADS 64u     /* threads whose name and ids are kept as text; a power of two */
#define HEAD_TEXT 48u /* bytes */
#define HEAD_COMM \
	16u /* with its NUL: what a kernel's names have; a longer one is written each time */

struct script_head { /* zeroed to start; one thread each */
	struct proc_recall recall;
	struct put_clock clock;
	struct head_task {
		uint32_t pid, tid;
		uint32_t n; /* bytes of text; 0: nothing yet */
		bool padded;
		char comm[HEAD_COMM];
		char text[HEAD_TEXT];
	} tasks[HEADS]; /* by tid */
};

void script_head(struct script_head *head, const struct script_text_opts *opts,
                 const struct recording *rec, const struct batch_item *item, struct buf *out);

#endif
