/* SPDX-License-Identifier: MIT */
/*
 * record_values.h: the values that options and settings of `seam record` take, from text into
 * struct record_opts. Each returns 0, or -EINVAL after it said on stderr what is wrong.
 */
#ifndef SEAM_ASKED_RECORD_VALUES_H
#define SEAM_ASKED_RECORD_VALUES_H

#include "asked/record_options.h"

/* The value being looked at, and where it came from, for messages. */
struct record_arg {
	const struct cmd *cmd;
	const char *what; /* "-F", or "FILE:LINE: record.freq" */
	const char *text;
};

int record_values_wrong(const struct record_arg *a, const char *fmt, ...)
        __attribute__((format(printf, 2, 3)));
int record_values_plain_number(const struct record_arg *a, uint64_t least, uint64_t most,
                               uint64_t *ret);
/* "512K", "4M", "1G", "100B"; *is_bytes is false for a bare number. */
int record_values_size(const struct record_arg *a, uint64_t *ret, bool *is_bytes);
int record_values_pids(struct record_opts *o, const struct record_arg *a);
int record_values_cpus(struct record_opts *o, const struct record_arg *a);
int record_values_freq(struct record_opts *o, const struct record_arg *a);
int record_values_call_graph(struct record_opts *o, const struct record_arg *a);
int record_values_unwind_memory(struct record_opts *o, const struct record_arg *a);
int record_values_mmap_pages(struct record_opts *o, const struct record_arg *a);
/* "python,php" */
int record_values_runtimes(struct record_opts *o, const struct record_arg *a);
int record_values_clockid(struct record_opts *o, const struct record_arg *a);
/* Takes a compression level. least 0: "0" means no compression. Without a text it is level 1. */
int record_values_compress(struct record_opts *o, const struct record_arg *a, uint64_t least);
int record_values_duration(struct record_opts *o, const struct record_arg *a);
int record_values_events(struct record_opts *o, const struct record_arg *a);

#endif
