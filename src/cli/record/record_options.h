/* SPDX-License-Identifier: MIT */
/*
 * record_options.h: what the command line and the config file of `seam record` ask for.
 */
#ifndef SEAM_CLI_RECORD_OPTIONS_H
#define SEAM_CLI_RECORD_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "capture/bpf/kwalk.h"
#include "capture/session.h"
#include "cli/cmd.h"
#include "cli/config.h"

struct record_opts {
	struct session_opts session; /* its pointers point into this struct */
	struct event_list events;
	pid_t *pids;
	int *cpus;
	const char *output; /* never NULL; "-": a pipe on standard output */
	uint64_t delay_ms;
	uint64_t duration_ms; /* 0: no limit */
	uint64_t max_size;    /* bytes; 0: no limit */
	uint32_t grace_ms;    /* as session_settle takes it */
	int compress_level;
	enum kwalk_when bpf_when;     /* --call-graph dwarf,defer=always, =never */
	struct kwalk_filters filters; /* --uid, --comm, --cgroup */
	const char *needs_bpf; /* an option that cannot be had without; NULL: none was given */
	uint64_t away_ns;      /* --off-cpu: a sample for so much time off the CPU; 0: none */
	bool wall;
	uint64_t unwind_memory;  /* bytes; 0: the default */
	unsigned unwind_threads; /* 0: as recorder/live.h has it */
	bool keep_stacks;        /* stack copies go into the file as they are */
	bool no_build_ids;
	bool data_maps; /* -d */
	bool quiet;
	int verbose;
	char **command; /* ends with NULL; NULL: none */
	int argc;       /* the whole command line, for the file's header */
	char **argv;
	struct config *config;

	bool system_wide, by_tid; /* -a; -t rather than -p */
};

extern const struct option_def record_option_defs[];

/* 0, or what the options walker returned (OPTIONS_USAGE, OPTIONS_HELP); it was said on stderr. ret
 * is to be freed in either case. */
int record_options_parse(struct record_opts *ret, int argc, char **argv, const struct cmd *cmd);
void record_options_free(struct record_opts *o);

#endif
