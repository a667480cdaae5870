// SPDX-License-Identifier: MIT
/*
 * kernel_prefetch.c: see kernel_prefetch.h. symbol/ decides what is loaded and whether it may name
 * anything; this only begins it earlier. Whoever needs one of the names meanwhile waits for the
 * thread.
 *
 * Reading kallsyms takes as long as reading a small recording, so a thread does it meanwhile. The
 * thread holds no lock but the symbols' own. With one CPU it would only compete.
 */
#include "resolve/kernel_prefetch.h"

#include <errno.h>

#include "base/cpus.h"
#include "base/thread.h"
#include "samples/kernel_names.h"

/* Loads the names, then waits until told that the first pass is over, before it does what is slow
 * and not urgent: keeping them on disk. */
static void *kernel_prefetch_run(void *arg)
{
	struct kernel_prefetch *e = arg;

	symbol_object_load(e->kernel); /* that it failed says the first lookup */
	while (sem_wait(&e->rest) < 0 && errno == EINTR)
		;
	symbol_object_keep(e->kernel);
	return NULL;
}

/* Begins, if there is a kernel whose names will be wanted. A thread that cannot be made is no
 * error. */
void kernel_prefetch_start(struct kernel_prefetch *e, struct resolver *resolver, unsigned threads)
{
	*e = (struct kernel_prefetch){ 0 };
	if (cpus_for(threads) == 1)
		return;
	e->kernel = resolver_kernel(resolver);
	sem_init(&e->rest, 0, 0);
	e->started = e->kernel && kernel_names_wanted(resolver_recording(resolver)) &&
	             thread_start(&e->thread, kernel_prefetch_run, e) >= 0;
}

/* The caller has read the recording: the rest of the work may go on now. */
void kernel_prefetch_rest(struct kernel_prefetch *e)
{
	if (e->started)
		sem_post(&e->rest);
}

void kernel_prefetch_end(struct kernel_prefetch *e)
{
	kernel_prefetch_rest(e);
	if (e->started) {
		pthread_join(e->thread, NULL);
		sem_destroy(&e->rest);
	}
	e->started = false;
}
