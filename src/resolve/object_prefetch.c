// SPDX-License-Identifier: MIT
/*
 * object_prefetch.c: see object_prefetch.h. symbol/ decides what is loaded; this only begins it
 * earlier. Whoever needs one of the names meanwhile waits for the thread, or loads the object
 * itself if the thread has not come to it. With one CPU it would only compete.
 */
#include "resolve/object_prefetch.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/cpus.h"
#include "base/thread.h"
#include "proc/proc.h"

/* The next object; NULL: there will be none. The caller holds the lock. */
static const struct proc_object *object_prefetch_next(struct object_prefetch *e)
{
	while (e->taken == e->n && !e->ends)
		pthread_cond_wait(&e->more, &e->lock);
	return e->ends ? NULL : e->met[e->taken++];
}

/* The thread. That an object cannot be loaded is told by the first lookup. */
static void *object_prefetch_run(void *arg)
{
	struct object_prefetch *e = arg;
	const struct proc_object *o;

	pthread_mutex_lock(&e->lock);
	while ((o = object_prefetch_next(e))) {
		pthread_mutex_unlock(&e->lock);
		resolver_load(e->resolver, o);
		pthread_mutex_lock(&e->lock);
	}
	pthread_mutex_unlock(&e->lock);
	return NULL;
}

void object_prefetch_start(struct object_prefetch *e, const struct resolver *resolver,
                           unsigned threads)
{
	*e = (struct object_prefetch){ 0 };
	if (cpus_for(threads) == 1)
		return;
	e->resolver = resolver;
	pthread_mutex_init(&e->lock, NULL);
	pthread_cond_init(&e->more, NULL);
}

/* The thread begins with the first object. That it cannot be made is no error. */
void object_prefetch_met(void *prefetch, const struct proc_object *object)
{
	struct object_prefetch *e = prefetch;
	bool is_new;

	if (!e->resolver || object->kind != PROC_KIND_FILE)
		return;
	pthread_mutex_lock(&e->lock);
	if (map_slot(&e->seen, (uint64_t)object->id + 1, &is_new) && is_new &&
	    ARRAY_ROOM(&e->met, &e->capacity, e->n + 1) >= 0) {
		e->met[e->n++] = object;
		if (!e->started)
			e->started = thread_start(&e->thread, object_prefetch_run, e) >= 0;
		pthread_cond_signal(&e->more);
	}
	pthread_mutex_unlock(&e->lock);
}

void object_prefetch_end(struct object_prefetch *e)
{
	if (!e->resolver)
		return;
	pthread_mutex_lock(&e->lock);
	e->ends = true;
	pthread_cond_signal(&e->more);
	pthread_mutex_unlock(&e->lock);
	if (e->started)
		pthread_join(e->thread, NULL);
	pthread_cond_destroy(&e->more);
	pthread_mutex_destroy(&e->lock);
	map_free(&e->seen);
	free(e->met);
	*e = (struct object_prefetch){ 0 };
}
