/* SPDX-License-Identifier: MIT */
/*
 * log.h: where this room says what it does: lines to the caller's sink. Nothing in this room
 * prints.
 */
#ifndef SEAM_CAPTURE_LOG_H
#define SEAM_CAPTURE_LOG_H

#include <stdbool.h>

#include <seam/record.h>

enum {
	LOG_PLAIN = 0,   /* a person must be told */
	LOG_VERBOSE = 1, /* -v */
	LOG_ATTRS = 2,   /* -vv: every attr that is tried */
};

struct log {
	/* text: one line without its newline. NULL: nobody listens. */
	void (*line)(void *ctx, int level, const char *text);
	void *ctx;
	int level; /* lines above it are not composed at all */
};

static inline bool log_wants(const struct log *log, int level)
{
	return log && log->line && level <= log->level;
}

void log_line(const struct log *log, int level, const char *fmt, ...)
        __attribute__((format(printf, 3, 4)));
/* The attr, field by field, as `perf record -vv` has it, at LOG_ATTRS. Fields that are 0 are left
 * out. */
void log_attr(const struct log *log, const struct seam_attr *attr);

#endif
