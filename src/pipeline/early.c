// SPDX-License-Identifier: MIT
// early.c: see early.h. What is loaded, and whether it may name anything, is symbol's to say; here it only begins
// earlier. Whoever needs a name of it meanwhile waits for it, and for nothing else.
#include "pipeline/early.h"

#include "base/cpus.h"

static bool counts_in_kernel(const struct recording *rec)
{
	for (size_t i = 0; i < seam_events_count(rec->events); i++)
		if (!(seam_events_at(rec->events, i)->attr.flags & SEAM_ATTR_EXCLUDE_KERNEL))
			return true;
	return false;
}

static void *early_run(void *arg)
{
	struct early *e = arg;

	symbol_object_load(e->kernel); /* that it failed says the first lookup */
	return NULL;
}

void early_start(struct early *e, struct places *places, unsigned threads)
{
	*e = (struct early){ 0 };
	if ((threads ? threads : cpus_online()) == 1)
		return;
	e->kernel = places_kernel(places);
	e->started = e->kernel && counts_in_kernel(places_recording(places)) &&
	             !pthread_create(&e->thread, NULL, early_run, e);
}

void early_end(struct early *e)
{
	if (e->started)
		pthread_join(e->thread, NULL);
	e->started = false;
}
