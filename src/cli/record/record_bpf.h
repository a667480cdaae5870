/* SPDX-License-Identifier: MIT */
/*
 * record_bpf.h: user stacks by BPF in a recording: joins the programs (capture/bpf) with the unwind
 * tables (tables/tables), and leaves records about strangers out, for the events are then every
 * CPU's and the target is chosen in the kernel.
 */
#ifndef SEAM_CLI_RECORD_BPF_H
#define SEAM_CLI_RECORD_BPF_H

#include "capture/bpf/kwalk.h"
#include "recorder/strangers.h"
#include "cli/record/record_options.h"
#include "cli/record/record_say.h"
#include "recorder/bpf_table.h"
#include "tables/tables.h"

struct record_bpf {
	struct kwalk *kwalk; /* NULL: not in use */
	struct tables *tables;
	struct bpf_table *table;
	bool everything; /* nobody is a stranger */
	struct strangers belong;
	capture_write write;
	void *write_ctx;
	/* Why it is not in use although the ladder had it as a step; "": it is, or was no step. */
	char reason[256];
};

/*
 * Makes *s, a copy of what was asked for, a session whose samples come from BPF. 0; *reason, at
 * least 256 bytes, says why not when it is -EOPNOTSUPP: *s is untouched then. o lives as long as
 * the recording.
 */
int record_bpf_open(struct record_bpf *b, const struct record_opts *o, struct session_opts *s,
                    char *reason);
/* Reads what is mapped in the targets (and, for a command, puts the tables of what it will map into
 * memory). -errno. */
int record_bpf_targets(struct record_bpf *b, const struct record_opts *o);
/* A capture_write before the recording's own: ctx is the struct. */
int record_bpf_write(void *ctx, const void *bytes, size_t n);
/* What was lost in the programs. */
struct record_lost record_bpf_lost(const struct record_bpf *b);
/* What became of the stacks, on standard error. */
void record_bpf_say(const struct record_bpf *b, const struct record_opts *o);
void record_bpf_close(struct record_bpf *b);

#endif
