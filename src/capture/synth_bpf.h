/* SPDX-License-Identifier: MIT */
/*
 * synth_bpf.h: the code of BPF programs that are loaded already, as KSYMBOL records.
 */
#ifndef SEAM_CAPTURE_SYNTH_BPF_H
#define SEAM_CAPTURE_SYNTH_BPF_H

#include "base/buf.h"
#include "capture/synth.h"

/*
 * Appends a record per piece of compiled code and counts it. Without the right to ask
 * (CAP_SYS_ADMIN or CAP_BPF), without BPF or with hidden addresses nothing is appended. 0, or
 * -errno of encoding.
 */
int synth_bpf_records(const struct synth_opts *opts, struct buf *out, struct synth_counts *counts);

#endif
