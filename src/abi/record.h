/* SPDX-License-Identifier: MIT */
/*
 * record.h: seam_record_decode for callers of this tree, which know the whole struct: what stands
 * in it before does not matter, and its sz is set.
 */
#ifndef SEAM_ABI_RECORD_H
#define SEAM_ABI_RECORD_H

#include <seam/record.h>

int record_decode(const struct seam_events *events, const struct seam_record *record,
                  struct seam_decoded *ret, struct seam_error *err);

#endif
