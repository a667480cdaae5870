/* SPDX-License-Identifier: MIT */
/*
 * early.h: the recorded kernel's names, in a thread of their own while samples are still being counted: its list is long,
 * and the kernel writes it anew for each reader.
 */
#ifndef SEAM_PIPELINE_EARLY_H
#define SEAM_PIPELINE_EARLY_H

#include <pthread.h>
#include <semaphore.h>

#include "pipeline/places.h"

struct early {
	struct symbol_object *kernel;
	pthread_t thread;
	sem_t rest;
	bool started;
};

/* For a recording that is being read, and its records that say what was mapped. The one that says where the kernel was (true) is among the first: begins with
 * the running kernel's names, if that is the one and some event counts in it. They are rec->running. */
static inline bool early_asks(const struct seam_record *record)
{
	return record->type == SEAM_RECORD_MMAP || record->type == SEAM_RECORD_MMAP2;
}
bool early_names(struct recording *rec, const struct symbol_opts *symbols,
                 const struct seam_record *record);

/* Begins, where there is a CPU for it and some event counts in the kernel. threads as in load_opts. */
void early_start(struct early *e, struct places *places, unsigned threads);
/* Lets it write its list to disk, for the next run: when there is a CPU for that, as names and lines are found. */
void early_rest(struct early *e);
/* Lets it, and waits for its end: before the names are freed. Zeroed: there is nothing to wait for. */
void early_end(struct early *e);

#endif
