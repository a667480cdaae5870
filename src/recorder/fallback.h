/* SPDX-License-Identifier: MIT */
/*
 * fallback.h: the ways of taking user stacks that only a recorder can join: by BPF programs where
 * they can be loaded, else what the session chooses among the kernel's own. Every step down is one
 * notice, with its reason.
 *
 *	asked              first                             then
 *	auto, dwarf,defer  BPF, unwind tables                deferred by the kernel, copies, frame
 *	                                                     pointers (session.h)
 *	fp,defer           deferred by the kernel            BPF, frame pointers; frame pointers at
 *	                                                     once
 *	all else           as asked
 */
#ifndef SEAM_RECORDER_FALLBACK_H
#define SEAM_RECORDER_FALLBACK_H

#include "recorder/bpf_stacks.h"
#include "recorder/opts.h"

/* Opens the session, and bpf if it takes part; else bpf->reason says why it does not. o->session
 * gets the clock of the records. 0, or -errno with err. */
int fallback_open(struct session **ret, struct bpf_stacks *bpf, struct recorder_opts *o,
                  struct seam_error *err);

#endif
