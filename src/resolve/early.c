// SPDX-License-Identifier: MIT
// early.c: see early.h. What is loaded, and whether it may name anything, is symbol's to say; here
// it only begins earlier. Whoever needs a name of it meanwhile waits for it, and for nothing else.
#include "resolve/early.h"

#include <errno.h>

#include "base/cpus.h"
#include "samples/kernel_names.h"

static void *early_run(void *arg)
{
	struct early *e = arg;

	symbol_object_load(e->kernel); /* that it failed says the first lookup */
	while (sem_wait(&e->rest) < 0 && errno == EINTR)
		;
	symbol_object_keep(e->kernel);
	return NULL;
}

void early_start(struct early *e, struct places *places, unsigned threads)
{
	*e = (struct early){ 0 };
	if ((threads ? threads : cpus_online()) == 1)
		return;
	e->kernel = places_kernel(places);
	sem_init(&e->rest, 0, 0);
	e->started = e->kernel && kernel_names_wanted(places_recording(places)) &&
	             !pthread_create(&e->thread, NULL, early_run, e);
}

void early_rest(struct early *e)
{
	if (e->started)
		sem_post(&e->rest);
}

void early_end(struct early *e)
{
	early_rest(e);
	if (e->started) {
		pthread_join(e->thread, NULL);
		sem_destroy(&e->rest);
	}
	e->started = false;
}
