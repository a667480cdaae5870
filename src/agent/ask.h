/* SPDX-License-Identifier: MIT */
/*
 * ask.h: who the processes are that are sampled, asked by a thread of its own: /proc may keep who
 * reads it waiting for as long as a process likes, and the rings are not read meanwhile.
 *
 * Three threads meet here: who reads the rings tells what it hears and never waits for the others
 * (ask_hear, ask_window); the asking thread; who names a window takes the answers.
 */
#ifndef SEAM_AGENT_ASK_H
#define SEAM_AGENT_ASK_H

#include "base/peek.h"
#include "fleet/process.h"
#include "recorder/window.h"

/* News that may wait. The fork storms of builds bring some thousand a second. */
#define ASK_MOST 16384u

struct ask;

/* o lives as long as it. held_ms: for so long a process may keep who asks it waiting. -errno. */
int ask_new(struct ask **ret, const struct process_opts *o, unsigned held_ms);
/* Waits until the process that is asked now has answered. */
void ask_free(struct ask *a);

/* As window_watch has it. */
void ask_hear(void *ask, enum window_news news, uint32_t pid);
/* Between two windows. */
void ask_window(struct ask *a);
/* As series_processes has it: a process that nobody has asked yet is asked now. */
int ask_labels(void *ask, uint32_t pid, const char *path, struct labels *l);
/* Whether a process was gone before it could be asked. */
bool ask_was_gone(struct ask *a, uint32_t pid);
/* Of the processes that kept the asking thread waiting. NULL: none. */
struct peek_counts ask_peeks(struct ask *a);
/* Forgets what was answered. */
void ask_forget(struct ask *a);

#endif
