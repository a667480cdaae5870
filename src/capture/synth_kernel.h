/* SPDX-License-Identifier: MIT */
/*
 * synth_kernel.h: the mappings of the running kernel and of its modules, as records.
 */
#ifndef SEAM_CAPTURE_SYNTH_KERNEL_H
#define SEAM_CAPTURE_SYNTH_KERNEL_H

#include "base/buf.h"
#include "capture/synth.h"

/*
 * Appends the record of the kernel and those of its modules to out, and counts. proc and sys are
 * open directories (sys may be -1). Appends nothing when addresses are hidden. 0, or -errno of
 * encoding.
 */
int synth_kernel_records(const struct synth_opts *opts, int proc, int sys, struct buf *out,
                         struct synth_counts *counts);

#endif
