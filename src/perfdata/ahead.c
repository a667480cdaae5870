// SPDX-License-Identifier: MIT
/*
 * ahead.c: see ahead.h. A thread for each piece: pieces are megabytes, a start is microseconds.
 *
 * A mapped file is touched for the first time by the reader otherwise, page by page, and each fault
 * costs more than reading the page. ahead.c takes the faults of the next piece (READER_STEP) while
 * this piece is read. Invariant: no thread runs unless `started` is set, and then only ahead_wait
 * ends it; the mapping must live until then.
 */
#include "base/thread.h"
#include "perfdata/ahead.h"

#include "perfdata/input.h"

/* The thread writes nothing: it only makes the kernel map pages. */
static void *ahead_run(void *arg)
{
	const struct ahead *a = arg;

	input_populate(a->bytes, a->n);
	return NULL;
}

/* Begins to map a piece. If no thread can be made, nothing is lost: the caller maps the piece
 * itself. */
void ahead_start(struct ahead *a, const unsigned char *bytes, size_t n)
{
	ahead_wait(a, NULL, 0);
	a->bytes = bytes;
	a->n = n;
	a->started = thread_start(&a->thread, ahead_run, a) >= 0;
}

/* Waits for the piece that is under way. True if it was this one; false tells the caller to map its
 * piece itself. With NULL it only ends the thread. */
bool ahead_wait(struct ahead *a, const unsigned char *bytes, size_t n)
{
	bool was = a->started;

	if (was)
		pthread_join(a->thread, NULL);
	a->started = false;
	return was && a->bytes == bytes && a->n == n;
}
