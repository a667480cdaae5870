/* SPDX-License-Identifier: MIT */
/*
 * opts.h: what is to be recorded, and how: all that a recorder is told by its caller. Zeros are the
 * defaults. Pointers are the caller's and live as long as the recording.
 */
#ifndef SEAM_RECORDER_OPTS_H
#define SEAM_RECORDER_OPTS_H

#include "base/peek.h"
#include "capture/bpf/kwalk.h"
#include "capture/session.h"

/* For a recorder: a process may keep who reads the rings waiting for so long at once, and all of
 * them for a quarter of the time. */
#define RECORDER_PEEK                       \
	{                                   \
		.limit_ms = 100, .rests = 3 \
	}

struct recorder_opts {
	size_t sz; /* sizeof(struct recorder_opts) */
	/* Events, target, rates, callchains. log takes the notices for people; start_paused,
	 * enable_on_exec, read_asleep and source are the recorder's to fill. */
	struct session_opts session;
	struct event_list *events; /* the same as session.events: made to fit the machine */
	bool by_tid;               /* the target's tasks are single threads, not processes */
	char **command;            /* is started for the recording; ends with NULL; NULL: none */
	bool command_to_stderr;    /* its standard output goes to standard error */
	bool delayed;              /* sampling begins at recorder_resume */

	enum kwalk_when bpf_when;     /* when BPF programs defer the walk of a stack */
	struct kwalk_filters filters; /* users, names, cgroups: chosen by BPF programs */
	const char *needs_bpf; /* the option that cannot be had without, for messages; NULL: none */
	uint64_t away_ns;      /* a sample for so much time off the CPU; 0: none */
	/* Frames of these interpreters, bits by enum runtime_kind: asked for, or not wanted; the
	 * others: where BPF programs walk stacks by tables. */
	uint32_t runtimes, no_runtimes;
	uint32_t runtimes_now;   /* of them, those asked for: not only when one is met */
	bool no_context;         /* for whom threads work is not asked */
	bool wall;               /* the events count time, on the CPU and off it */
	uint64_t unwind_memory;  /* bytes for unwind tables in the kernel; 0: the default */
	uint64_t pending_memory; /* bytes of stacks that wait to be walked here; 0: the default */
	/* Reads memory of processes; NULL: the recorder makes one, but for its own command. */
	struct peek *peek;
	unsigned fresh_s;        /* as in tables_opts */
	unsigned unwind_threads; /* 0: as live.h has it */
	bool keep_stacks;        /* stack copies stay in the samples as they are */

	bool no_build_ids;     /* nowhere */
	bool build_ids_always; /* also where the kernel puts none into its records: into those of
	                        * what runs already */
	bool data_maps;        /* mappings of data, too, of what runs already */
	uint32_t prepare_ms;   /* for tables before sampling begins, at most; 0: 5000 */
	uint32_t grace_ms;     /* for deferred stacks at the end, as session_settle takes it */

	/* Progress of what takes long before the recording begins: how many of how many processes
	 * were looked at; 0 of 0: it is over. NULL: not wanted. */
	void (*progress)(void *ctx, size_t done, size_t of);
	void *progress_ctx;
};

#endif
