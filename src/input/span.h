/* SPDX-License-Identifier: MIT */
/*
 * span.h: spans of time from the command line, as perf's --time: "START,STOP" in seconds, or parts
 * of the recording in percent.
 */
#ifndef SEAM_INPUT_SPAN_H
#define SEAM_INPUT_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cmd/cmd.h"

struct span {
	uint64_t start_ns, stop_ns; /* both belong to it */
};

static inline bool span_has(const struct span *s, uint64_t time_ns)
{
	return time_ns >= s->start_ns && time_ns <= s->stop_ns;
}

/*
 * Several spans: absolute ones, separated by blanks ("1,2 3, 4"); or parts of a recording,
 * separated by commas: "10%-20%", or "10%/2", the second slice of 10 %. Zero-initialise to start:
 * all of the recording.
 */
#define SPANS_MAX 64u
struct spans {
	bool percent; /* begins[] and ends[] are parts of the recording until spans_resolve */
	size_t n;
	double begins[SPANS_MAX], ends[SPANS_MAX]; /* 0 ... 1 */
	struct span at[SPANS_MAX];
};

#define SPANS_HELP "START,STOP in seconds, 10%-20%, or 10%/2 (slice)"

/* 0, or -EINVAL: text is none of the above. */
int spans_parse(const char *text, struct spans *ret);
/* The same of an option --time: what is wrong is said on stderr. */
int spans_option(const struct cmd *cmd, const char *text, struct spans *ret);
/* Computes the times of the parts; first and last are the times of the recording's first and last
 * samples. A sample is in at most one of parts that touch. */
void spans_resolve(struct spans *s, uint64_t first_ns, uint64_t last_ns);
/* True as well when there are none. */
bool spans_have(const struct spans *s, uint64_t time_ns);

#endif
