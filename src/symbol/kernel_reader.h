/* SPDX-License-Identifier: MIT */
/* kernel_reader.h: the inside of struct kernel_reader, for kernel.c. */
#ifndef SEAM_SYMBOL_KERNEL_READER_H
#define SEAM_SYMBOL_KERNEL_READER_H

#include <pthread.h>

#include "symbol/kernel_cache.h"
#include "symbol/object.h"

struct kernel_reader {
	pthread_t thread;
	pthread_mutex_t lock; /* of started */
	bool started;         /* and not joined */
	struct kernel_storage keep;
	/* Written by the thread; do not touch before it is joined. */
	struct table table; /* empty: there was none, or it was taken */
	uint64_t reference;
	struct kallsyms kallsyms;
	bool listed; /* kallsyms was read */
	bool made;   /* the table is of it: not a kept one */
};

/* Waits for the thread, and gives its table to the object and its list to the object's cache,
 * once. */
void kernel_reader_take(struct kernel_reader *running, struct symbol_object *object);

#endif
