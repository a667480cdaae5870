/* SPDX-License-Identifier: MIT */
/* samples_parts.h: what samples.c and samples_text.c share. */
#ifndef SEAM_SAMPLES_SAMPLES_PARTS_H
#define SEAM_SAMPLES_SAMPLES_PARTS_H

#include "samples/samples_reader.h"
#include "samples/samples_source.h"

/* Gives what came from a source. */
static inline int samples_parts_give(struct samples_reader *r, const struct samples_next *next)
{
	if (next->entry)
		return samples_reader_take(r, next->entry, next->has_record ? &next->record : NULL);
	return samples_reader_beside(r, &next->record);
}

/* Gives samples in order of time, in n threads (readers), and writes what comes out in order. */
int samples_text(struct samples_source *source, struct samples_reader *const *readers, unsigned n,
                 const struct samples_consumer *consumer);

#endif
