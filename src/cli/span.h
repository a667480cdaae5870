/* SPDX-License-Identifier: MIT */
/*
 * span.h: a span of time from the command line, "START,STOP" in seconds, as perf's --time.
 */
#ifndef SEAM_CLI_SPAN_H
#define SEAM_CLI_SPAN_H

#include <stdbool.h>
#include <stdint.h>

struct span {
	uint64_t start_ns, stop_ns; /* both belong to it */
};

/*
 * "1.5,2", "1.5," or ",2": up to nine digits behind the point; a side that is left out is open.
 * 0, or -EINVAL: it is none of these, or ends before it begins.
 */
int span_parse(const char *text, struct span *ret);

static inline bool span_has(const struct span *s, uint64_t time_ns)
{
	return time_ns >= s->start_ns && time_ns <= s->stop_ns;
}

#endif
