/* SPDX-License-Identifier: MIT */
/*
 * features_machine.h: the probes of rows that are no bit of an attr, and what the two files of
 * features share. Only features*.c include it.
 */
#ifndef SEAM_CAPTURE_FEATURES_MACHINE_H
#define SEAM_CAPTURE_FEATURES_MACHINE_H

#include "capture/features.h"

/* In features.c: opens and closes: 0 or -errno. */
int features_try(struct features *f, const struct seam_attr *attr, pid_t pid, int cpu);
struct seam_attr features_harmless(void);

/* Each fills the row and returns 0. */
int machine_open(struct features *f, struct feature_result *r);
int machine_software_clock(struct features *f, struct feature_result *r);
int machine_hardware(struct features *f, struct feature_result *r);
int machine_precise(struct features *f, struct feature_result *r);
int machine_branch_stack(struct features *f, struct feature_result *r);
int machine_kernel(struct features *f, struct feature_result *r);
int machine_system_wide(struct features *f, struct feature_result *r);
int machine_tracepoints(struct features *f, struct feature_result *r);
int machine_mlock(struct features *f, struct feature_result *r);
int machine_kallsyms(struct features *f, struct feature_result *r);
int machine_defers(struct features *f, struct feature_result *r);
int machine_bpf(struct features *f, struct feature_result *r);
int machine_btf(struct features *f, struct feature_result *r);
int machine_counters(struct features *f, struct feature_result *r);

#endif
