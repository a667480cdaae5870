/* SPDX-License-Identifier: MIT */
/*
 * record_say.h: what `seam record` tells people, on standard error.
 */
#ifndef SEAM_CLI_RECORD_SAY_H
#define SEAM_CLI_RECORD_SAY_H

#include "cmd/cmd.h"
#include "asked/record_options.h"
#include "recorder/recorder.h"
#include "recorder/runtime_ends.h"

/* For session_opts.log: ctx is the struct cmd. */
void record_say_log(void *ctx, int level, const char *text);
/* For recorder_opts.progress: ctx is the struct cmd. Writes only to a terminal. */
void record_say_progress(void *ctx, size_t done, size_t of);
/* The one line that says how user stacks are taken, and with -v how long is waited for them. */
void record_say_mode(const struct record_opts *o, const struct cmd *cmd,
                     const struct session *session);
void record_say_synth(const struct record_opts *o, const struct cmd *cmd,
                      const struct synth_counts *counts, uint64_t ns);
/* Writes the closing line, and what was lost where. samples: how many are in the file for certain.
 * unwritten: how many were read from the rings and may not be in the file. lost: losses that no
 * count of the session has. bytes: of the file, or of what went into the pipe. */
void record_say_end(const struct record_opts *o, const struct session *session, uint64_t samples,
                    uint64_t unwritten, const struct bpf_stacks_lost *lost, uint64_t bytes);
/* Says what became of the stack copies that were unwound while recording; live NULL: there were
 * none. */
void record_say_live(const struct record_opts *o, struct live *live);
/* Says which stacks end in code of a runtime, and the flag that mends them. */
void record_say_runtimes(const struct runtime_ends *r);
/* Says what became of the stacks that BPF programs took. */
void record_say_bpf(const struct record_opts *o, const struct bpf_stacks *b);

#endif
