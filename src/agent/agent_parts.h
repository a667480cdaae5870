/* SPDX-License-Identifier: MIT */
/*
 * agent_parts.h: what the files of this room share. agent_run.c runs the recorder, agent_read.c
 * reads its rings, agent_window.c hands what came in a window on to the stores.
 */
#ifndef SEAM_AGENT_AGENT_PARTS_H
#define SEAM_AGENT_AGENT_PARTS_H

#include "agent/agent.h"
#include "agent/ask.h"
#include "agent/budget.h"
#include "agent/metrics.h"
#include "base/peek.h"
#include "fleet/put.h"
#include "recorder/window.h"

#define AGENT_PART_MOST (256u << 20) /* bytes, where there is no limit */
/* What is there whatever the limit: the program and its libraries, rings, what a window counts. The
 * parts are of the rest. */
#define AGENT_APART (40ull << 20)

struct agent_store {
	const char *url;
	struct store *store;
	bool failing;           /* the last window was not taken */
	uint64_t windows, lost; /* that it has; that it did not take */
	uint64_t lost_samples;  /* not yet told in a window that it took */
	bool compact;           /* there may be more to compact than was done last */
	bool told_compact;      /* that it cannot be */
};

struct agent {
	const struct agent_opts *o;
	const struct log *log; /* for people */
	struct agent_store stores[AGENT_STORES_MAX];
	char instance[40];
	struct recorder *recorder;
	struct window *window;
	struct datafile_opts head;  /* what window says of itself */
	struct peek *peek;          /* reads what may keep us waiting, for the recorder */
	struct ask *ask;            /* who the processes are */
	struct symbol_shelf *shelf; /* names of files, from one window to the next */
	struct lines *lines;        /* and their lines; NULL: to be made */
	uint64_t lines_windows;     /* that they served */
	struct rate_budget budget;
	struct metrics *metrics;      /* NULL: not served */
	struct metrics_values now;    /* what they say */
	int lock;                     /* -1: not held */
	int priority;                 /* of this process before a recording ended: see hurry.h */
	uint64_t begun_ns;            /* of the window that is recorded: CLOCK_MONOTONIC */
	uint64_t recorder_ns;         /* when the recorder began: the same clock */
	uint64_t lost, skipped;       /* records, as window_interval had them last */
	uint64_t cpu_ns;              /* that this process had used then */
	uint64_t windows, samples;    /* that were made */
	uint64_t refused;             /* times that there was no room */
	uint64_t watched_ns;          /* when memory was looked at last: agent_now_ns */
	bool told_memory, told_floor; /* that a limit is too small */
};

/* ---- agent_clock.c ---- */

/* CLOCK_MONOTONIC: the clock of windows, which nobody sets. */
uint64_t agent_now_ns(void);
/* CPU time of the whole agent so far, user and system, its readers (base/peek.h) included. */
uint64_t agent_cpu_ns(const struct agent *a);

/* ---- agent_memory.c ---- */

/* Resident memory of this process in bytes, now and at most so far; 0: not known. */
uint64_t agent_memory(void);
uint64_t agent_memory_peak(void);
/* Who reads the rings calls it often: where there is too much, what can be read again is let go. */
void agent_memory_watch(struct agent *a);
/* Threads that begin from now on take memory apart from this one, which so does not wait for them:
 * who names windows may be off the CPU for long, in the midst of taking some. */
void agent_memory_apart(void);
/* A callback of struct room, with the agent as ctx. */
bool agent_memory_room(void *agent, uint64_t bytes);
/* Gives memory that is free back to the machine, and what is kept where there is too much. */
void agent_memory_trim(struct agent *a);
/* Bytes that one of the things that take memory may have. */
static inline size_t agent_part(const struct agent_opts *o, unsigned part)
{
	return !o->memory                 ? AGENT_PART_MOST
	       : o->memory <= AGENT_APART ? 1u << 20
	                                  : (size_t)((o->memory - AGENT_APART) / part);
}
/* Opens the recorder for what is asked, without sampling. -errno. */
int agent_open_recorder(struct agent *a, struct seam_error *err);
/* The file of the lock, into path. */
void agent_lock_path(char *path, size_t n);
/* Takes the lock. -EEXIST: another agent runs, and err names it; another -errno. */
int agent_lock(struct agent *a, struct seam_error *err);
void agent_unlock(struct agent *a);

/* Whether somebody asked for the end. */
bool agent_stopped(const struct agent *a);
/* Reads the rings until a time (agent_now_ns). 1: nothing more will come, or the caller wants to
 * begin anew; 0; -errno. */
int agent_read(struct agent *a, uint64_t until_ns);

/* Ends the window that is recorded and hands it on. last: nothing more will come. 1: the recording
 * has ended meanwhile; 0; -errno after saying why. */
int agent_window(struct agent *a, bool last);

#endif
