/* SPDX-License-Identifier: MIT */
/*
 * agent.h: the whole machine, all the time, into stores. Each window of time is named and put while
 * the next one is recorded. A store that takes nothing loses its window, and is told so in the next
 * one that it takes; the agent goes on.
 *
 * Prints nothing: notices for people are lines of rec->session.log, as the recorder's are.
 */
#ifndef SEAM_AGENT_AGENT_H
#define SEAM_AGENT_AGENT_H

#include "fleet/process.h"
#include "recorder/recorder.h"
#include "base/labels.h"
#include "symbol/symbol.h"

#define AGENT_STORES_MAX 8u

struct agent_opts {
	size_t sz; /* sizeof(struct agent_opts) */
	/* What is recorded. Its session.stopped ends the agent. Changed: build-ids are always
	 * wanted. */
	struct recorder_opts *rec;
	/* Is told which recorder a signal wakes, and NULL when there is none any more. NULL: nobody
	 * wants to know. */
	void (*wakes)(struct recorder *recorder);
	const char *program; /* "seam 1.0" */
	const struct symbol_opts *symbols;
	bool no_inline;
	const char *urls[AGENT_STORES_MAX]; /* of stores */
	size_t n_urls;
	const struct labels *all;        /* labels of all series */
	uint64_t window_ns, duration_ns; /* duration 0: until session.stopped says so */
	uint64_t day_bytes;              /* of store_compact */
	uint64_t keep_ns, keep_bytes;    /* windows that are older, or too much, go; 0: none */
	double max_cpu;                  /* percent of one CPU, for the whole agent; 0: no limit */
	uint64_t memory;                 /* bytes that the process may have; 0: no limit */
	const struct process_opts *processes; /* labels that come from processes */
	const char *metrics; /* ADDRESS:PORT or PORT where metrics are served; NULL: nowhere */
	/* Asked often: whether to end because the caller has other options. NULL: never. */
	bool (*anew)(void *ctx);
	void *anew_ctx;
};

/* Records until the end. 0; AGENT_ANEW: as anew said; -EINVAL: what is asked for cannot be; another
 * -errno. What is wrong is in err, if recording did not begin; else it was said. */
#define AGENT_ANEW 1
int agent_run(const struct agent_opts *o, struct seam_error *err);
/* Opens all that agent_run opens and closes it again. Lines for people say what it would do, and
 * what is wrong. 0, or -errno of what was wrong first. Nothing is made, sampled or written. */
int agent_check(const struct agent_opts *o);

/* The least limit of memory that an agent can keep on this machine, in bytes. */
uint64_t agent_memory_least(void);

#endif
