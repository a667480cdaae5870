/* SPDX-License-Identifier: MIT */
/*
 * record_options.h: what the command line and the config file of `seam record` ask for.
 */
#ifndef SEAM_ASKED_RECORD_OPTIONS_H
#define SEAM_ASKED_RECORD_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "cmd/cmd.h"
#include "cmd/config.h"
#include "recorder/opts.h"

struct record_opts {
	struct recorder_opts rec; /* its pointers point into this struct */
	struct event_list events;
	pid_t *pids;
	int *cpus;
	const char *output; /* never NULL; "-": a pipe on standard output */
	uint64_t delay_ms;
	uint64_t duration_ms; /* 0: no limit */
	uint64_t max_size;    /* bytes; 0: no limit */
	int compress_level;
	bool quiet;
	int verbose;
	int argc; /* the whole command line, for the file's header */
	char **argv;
	struct config *config;
	bool system_wide; /* -a */
};

extern const struct option_def record_option_defs[];

/* 0, or what the options walker returned (OPTIONS_USAGE, OPTIONS_HELP), after saying why on stderr.
 * ret must be freed in either case. */
int record_options_parse(struct record_opts *ret, int argc, char **argv, const struct cmd *cmd);
void record_options_free(struct record_opts *o);

#endif
