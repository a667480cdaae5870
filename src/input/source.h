/* SPDX-License-Identifier: MIT */
/*
 * source.h: the recording that a command walks through once, as a stream: -i FILE or FILE as the
 * argument, "-" for standard input, perf.data else; --strict; and what is said of its damage.
 */
#ifndef SEAM_INPUT_SOURCE_H
#define SEAM_INPUT_SOURCE_H

#include <seam/reader.h>

#include "base/buf.h"
#include "cmd/cmd.h"

enum {
	SOURCE_INPUT = 1000,
	SOURCE_STRICT,
};

/* Entries for a command's option table. */
#define SOURCE_OPTIONS                                                                       \
	{ "input", 'i', "FILE", "recording to read (default: perf.data; -: standard input)", \
	  SOURCE_INPUT },                                                                    \
	{                                                                                    \
		"strict", 0, NULL, "stop at the first damage", SOURCE_STRICT                 \
	}

struct source {
	const struct cmd *cmd;
	const char *path; /* NULL: perf.data */
	bool strict;
	struct seam_reader *reader;
};

/* Takes an option or operand from options_next. EXIT_OK: taken. EXIT_USAGE: it is wrong, which was
 * said. -1: it is for somebody else. */
int source_option(struct source *s, int id, const char *arg);
/* EXIT_OK, or EXIT_FAILED and why on stderr. */
int source_open(struct source *s);
/* 1 and *ret; 0: the end; -1: failed, and said on stderr. */
int source_next(const struct source *s, struct seam_record *ret);
/* Says on stderr what is damaged, and how much was read nevertheless. EXIT_OK or EXIT_PARTIAL. */
int source_verdict(const struct source *s);
/* Writes text to stdout; EXIT_OK, or EXIT_FAILED when that is full or gone, or there was no memory
 * for the text. */
int source_print(const struct source *s, const struct buf *text);
void source_close(struct source *s);

#endif
