/* SPDX-License-Identifier: MIT */
/*
 * walked_sample.h: a sample with registers and a copy -> the same sample with a callchain. Pure: no
 * I/O, no state. Invariant: all other fields of the sample stay as they are.
 */
#ifndef SEAM_SAMPLES_WALKED_SAMPLE_H
#define SEAM_SAMPLES_WALKED_SAMPLE_H

#include <seam/record.h>

#include "base/buf.h"

/* The attr that the event has in the file that is written. */
struct seam_attr walked_sample_attr(const struct seam_attr *in);
/* The user ip of its registers; 0: there is no user stack (kernel threads, io workers). */
uint64_t walked_sample_user_ip(uint32_t machine, const struct seam_sample *s);
/* The user sp of its registers, or 0. */
uint64_t walked_sample_user_sp(uint32_t machine, const struct seam_sample *s);
/*
 * Appends the sample to out with kernel part and n user addresses (0: without a user part). chain
 * is scratch. -E2BIG: nothing was appended. -ENOMEM, -EINVAL.
 */
int walked_sample_put(struct buf *out, struct buf *chain, const struct seam_attr *attr,
                      uint16_t misc, const struct seam_sample *s, const uint64_t *user, size_t n);

#endif
