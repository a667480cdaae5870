/* SPDX-License-Identifier: MIT */
/*
 * bpf_stacks.h: user stacks by BPF in a recording: joins the programs (capture/bpf) with the unwind
 * tables (tables/tables), and leaves records about strangers out, for the events are then every
 * CPU's and the target is chosen in the kernel.
 */
#ifndef SEAM_RECORDER_BPF_STACKS_H
#define SEAM_RECORDER_BPF_STACKS_H

#include "capture/bpf/kwalk.h"
#include "recorder/bpf_context.h"
#include "recorder/bpf_runtime.h"
#include "recorder/bpf_table.h"
#include "recorder/opts.h"
#include "recorder/strangers.h"
#include "tables/tables.h"

/* Samples that the programs took and that did not reach the file. */
struct bpf_stacks_lost {
	uint64_t room;    /* their rings had none */
	uint64_t skipped; /* the kernel did not run them */
	uint64_t cut;     /* they waited when the time to end was over */
};

struct bpf_stacks {
	struct kwalk *kwalk; /* NULL: not in use */
	struct tables *tables;
	struct bpf_table *table;
	struct bpf_runtime *runtime; /* NULL: not wanted */
	struct bpf_context *context; /* likewise */
	bool everything;             /* nobody is a stranger */
	struct strangers strangers;
	capture_write write;
	void *write_ctx;
	/* Why BPF is not used although it was tried; "": it is used, or was not to be tried. */
	char reason[256];
};

/*
 * Changes *s, a copy of what was asked for, into a session whose samples come from BPF. 0, or
 * -errno. If it is -EOPNOTSUPP, *reason (at least 256 bytes) says why, and *s is unchanged. o lives
 * as long as the recording.
 */
int bpf_stacks_open(struct bpf_stacks *b, const struct recorder_opts *o, struct session_opts *s,
                    char *reason);
/* Reads what is mapped in the targets (and, for a command, puts the tables of what it will map into
 * memory). -errno. */
int bpf_stacks_targets(struct bpf_stacks *b, const struct recorder_opts *o);
/* A capture_write before the recording's own: ctx is the struct. */
int bpf_stacks_write(void *ctx, const void *bytes, size_t n);
struct bpf_stacks_lost bpf_stacks_lost(const struct bpf_stacks *b);
void bpf_stacks_close(struct bpf_stacks *b);

#endif
