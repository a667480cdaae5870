/* SPDX-License-Identifier: MIT */
/*
 * record_ladder.h: the ways of taking user stacks that only who records (record, top) can join: by
 * BPF programs where they can be loaded, else what the session chooses among the kernel's own.
 * Every step down is said in one line, with its reason.
 *
 *	asked              first                             then
 *	auto, dwarf,defer  BPF, unwind tables                deferred by the kernel, copies, frame pointers (session.h)
 *	fp,defer           deferred by the kernel            BPF, frame pointers; frame pointers at once
 *	all else           as asked
 */
#ifndef SEAM_CLI_RECORD_LADDER_H
#define SEAM_CLI_RECORD_LADDER_H

#include "cli/cmd.h"
#include "cli/record/record_bpf.h"
#include "cli/record/record_options.h"

/* Opens the session, and bpf when it has a part in it; bpf->reason: why it has none. o->session
 * learns which clock the records have. 0, or -errno with err. */
int record_ladder_open(struct session **ret, struct record_bpf *bpf, struct record_opts *o,
                       const struct cmd *cmd, struct seam_error *err);

#endif
