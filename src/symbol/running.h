/* SPDX-License-Identifier: MIT */
/* running.h: the inside of struct symbol_running, for kernel.c. */
#ifndef SEAM_SYMBOL_RUNNING_H
#define SEAM_SYMBOL_RUNNING_H

#include <pthread.h>

#include "symbol/kept.h"
#include "symbol/object.h"

struct symbol_running {
	pthread_t thread;
	pthread_mutex_t lock; /* of started */
	bool started;         /* and not joined */
	struct symbol_keep keep;
	/* The thread's, until it is joined. */
	struct table table; /* empty: there was none, or it was taken */
	uint64_t reference;
	struct kallsyms kallsyms;
	bool listed; /* kallsyms was read */
	bool made;   /* the table is of it: not a kept one */
};

/* Waits for it, and gives its table to the object and its list to the object's cache, once. */
void running_take(struct symbol_running *running, struct symbol_object *object);

#endif
