/* SPDX-License-Identifier: MIT */
/*
 * probe.h: asks the kernel by opening an event, and the probes of rows that are no bit of an attr.
 * Only features.c includes it, and event_fit.c for the first two.
 */
#ifndef SEAM_CAPTURE_PROBE_H
#define SEAM_CAPTURE_PROBE_H

#include "capture/features.h"

/* Opens an event and closes it: 0 or -errno. */
int probe_try(struct features *f, const struct seam_attr *attr, pid_t pid, int cpu);
/* An event that is granted to everybody who may have any event. */
struct seam_attr probe_harmless(void);

/* Each fills the row and returns 0. */
int probe_open(struct features *f, struct feature_result *r);
int probe_software_clock(struct features *f, struct feature_result *r);
int probe_hardware(struct features *f, struct feature_result *r);
int probe_precise(struct features *f, struct feature_result *r);
int probe_branch_stack(struct features *f, struct feature_result *r);
int probe_kernel(struct features *f, struct feature_result *r);
int probe_system_wide(struct features *f, struct feature_result *r);
int probe_tracepoints(struct features *f, struct feature_result *r);
int probe_mlock(struct features *f, struct feature_result *r);
int probe_kallsyms(struct features *f, struct feature_result *r);
int probe_defers(struct features *f, struct feature_result *r);
int probe_bpf(struct features *f, struct feature_result *r);
int probe_btf(struct features *f, struct feature_result *r);
int probe_live(struct features *f, struct feature_result *r);
int probe_live_defer(struct features *f, struct feature_result *r);
int probe_counters(struct features *f, struct feature_result *r);

#endif
