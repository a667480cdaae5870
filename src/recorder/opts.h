/* SPDX-License-Identifier: MIT */
/*
 * opts.h: what is to be recorded, and how: all that a recorder is told by its caller. Zeros are the
 * defaults. Pointers are the caller's and live as long as the recording.
 */
#ifndef SEAM_RECORDER_OPTS_H
#define SEAM_RECORDER_OPTS_H

#include "capture/bpf/kwalk.h"
#include "capture/session.h"

struct recorder_opts {
	size_t sz; /* sizeof(struct recorder_opts) */
	/* Events, target, rates, callchains; .log takes the notices for people. */
	struct session_opts session;
	struct event_list *events;    /* the same as session.events: made to fit the machine */
	char **command;               /* is started for the recording; ends with NULL; NULL: none */
	bool by_tid;                  /* the target's tasks are single threads, not processes */
	enum kwalk_when bpf_when;     /* when BPF programs defer the walk of a stack */
	struct kwalk_filters filters; /* users, names, cgroups: chosen by BPF programs */
	const char *needs_bpf; /* the option that cannot be had without, for messages; NULL: none */
	uint64_t away_ns;      /* a sample for so much time off the CPU; 0: none */
	bool wall;             /* the events count time, on the CPU and off it */
	uint64_t unwind_memory;  /* bytes for unwind tables in the kernel; 0: the default */
	unsigned unwind_threads; /* 0: as live.h has it */
	bool keep_stacks;        /* stack copies stay in the samples as they are */
	bool no_build_ids;
	bool data_maps;    /* mappings of data, too, of what runs already */
	uint32_t grace_ms; /* for deferred stacks at the end, as session_settle takes it */
	/* Of what takes long before the recording begins: so many of so many processes were looked
	 * at; 0 of 0: that is over. NULL: nobody asks. */
	void (*progress)(void *ctx, size_t done, size_t of);
	void *progress_ctx;
};

#endif
