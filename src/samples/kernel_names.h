/* SPDX-License-Identifier: MIT */
/*
 * kernel_names.h: begins to read the running kernel's names while a recording is still being read,
 * where they are the recorded kernel's and some event counts in it: the list is long, and the
 * kernel writes it anew for each reader.
 */
#ifndef SEAM_SAMPLES_KERNEL_NAMES_H
#define SEAM_SAMPLES_KERNEL_NAMES_H

#include "samples/recording.h"
#include "symbol/symbol.h"

/* True for records that may say where the kernel was mapped: kernel_names_begin is to see them. */
static inline bool kernel_names_asks(const struct seam_record *record)
{
	return record->type == SEAM_RECORD_MMAP || record->type == SEAM_RECORD_MMAP2;
}

/* True: the record says where the kernel was, so that no further one need be shown. The names that
 * were begun are rec->running. */
bool kernel_names_begin(struct recording *rec, const struct symbol_opts *symbols,
                        const struct seam_record *record);

/* True if some event of the recording counts in the kernel. */
bool kernel_names_wanted(const struct recording *rec);

#endif
