/* SPDX-License-Identifier: MIT */
/* bpf_walk.h: the user stack of a sample from its registers and a copy of the stack, by the
 * tables that kwalk.h knows. */
#ifndef SEAM_RECORDER_BPF_WALK_H
#define SEAM_RECORDER_BPF_WALK_H

#include "capture/bpf/kwalk.h"
#include "tables/tables.h"
#include "unwind/walk.h"

/* frames has room for KWALK_FRAMES_MAX, sps for one more (walk_options). tables: of code made at
 * run time; dump: the path of the process's jitdump, NULL: it has none. */
void bpf_walk(struct kwalk *kwalk, struct tables *tables, const char *dump,
              const struct kwalk_sample *sample, const struct kwalk_raw *raw, uint64_t *frames,
              uint64_t *sps, struct walk *ret);

/* Why the walk ended, as the programs name it. */
enum kwalk_end bpf_walk_end(struct kwalk *kwalk, const struct kwalk_sample *sample,
                            const struct walk *walk);

#endif
