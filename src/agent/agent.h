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

#include "recorder/recorder.h"
#include "store/labels.h"
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
	uint64_t keep_ns, keep_bytes;    /* windows that are older, or too much, go; 0: none */
};

/* Records until the end. 0; -EINVAL: what is asked for cannot be; another -errno. What is wrong is
 * in err, if recording did not begin; else it was said. */
int agent_run(const struct agent_opts *o, struct seam_error *err);

#endif
