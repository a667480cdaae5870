/* SPDX-License-Identifier: MIT */
/*
 * job.h: work for a view that a thread does, while keys are answered. Signals are for the thread
 * that has the screen.
 */
#ifndef SEAM_VIEW_JOB_H
#define SEAM_VIEW_JOB_H

struct job;

/* Begins. -ENOMEM; -errno. */
int job_start(struct job **ret, int (*work)(void *ctx), void *ctx);
/* Readable when the work has ended. */
int job_fd(const struct job *j);
/* Waits for the end of the work, and frees it. What the work returned. */
int job_end(struct job *j);

#endif
