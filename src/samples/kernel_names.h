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

/* Whether a record may say where the kernel was mapped; such records are to be given to
 * kernel_names_begin. */
static inline bool kernel_names_asks(const struct seam_record *record)
{
	return record->type == SEAM_RECORD_MMAP || record->type == SEAM_RECORD_MMAP2;
}

/* True: the record said where the kernel was mapped, so no further one need be given. rec->running
 * then holds the names that are being read. */
bool kernel_names_begin(struct recording *rec, const struct symbol_opts *symbols,
                        const struct seam_record *record);

/* True if some event of the recording counts in the kernel. */
bool kernel_names_wanted(const struct recording *rec);

#endif
