/* SPDX-License-Identifier: MIT */
/*
 * asleep.h: reads the user stacks that tasks owe to the kernel's own deferred callchains (Linux
 * 6.19 and newer), for those that sleep when a recording ends: by a program of its own
 * (asleep.bpf.c), loaded for this one reading.
 */
#ifndef SEAM_CAPTURE_BPF_ASLEEP_H
#define SEAM_CAPTURE_BPF_ASLEEP_H

#include "capture/session.h"

/* A session_read_asleep: see session.h. */
int asleep_read(const uint64_t *cookies, size_t n, session_give_asleep give, void *ctx,
                struct seam_error *err);

/* The same for threads by their tids instead of cookies, whatever kernel: for tests. */
int asleep_read_threads(const uint64_t *tids, size_t n, session_give_asleep give, void *ctx,
                        struct seam_error *err);

#endif
