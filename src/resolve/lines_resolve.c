// SPDX-License-Identifier: MIT
/*
 * lines_resolve.c: many addresses at once. Those of an object are sorted and dealt out in pieces,
 * so that a thread works on units that lie together; a thread keeps its handle while the pieces are
 * one object's.
 *
 * Invariant: a piece is worked on by one thread, and a handle is used by one thread. Threads meet
 * at the counter `next` and at the locks of lines_look_up. The result does not depend on who does
 * what.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/thread.h"
#include "resolve/lines_object.h"

#define PIECE_LEAST 256u /* addresses: less is not worth a handle of its own */
/* More pieces than threads, so that nobody waits long for the last one. */
#define PIECES_PER_THREAD 4u
#define STEP 64u /* addresses between two looks at how large a handle is */

struct piece {
	struct lines_object *object;
	const uint64_t *vaddrs;
	size_t n;
	uint64_t weight;
	bool open; /* when the pieces were cut */
};

struct resolving {
	struct lines *lines;
	struct buf pieces;
	size_t n_pieces;
	unsigned threads;
	uint64_t total;
	atomic_size_t next;
	_Atomic uint64_t done;
	atomic_int failed;
};

/* One thread's state. reports: it tells the progress. */
struct lines_resolver {
	struct resolving *work;
	struct lines_object *object; /* whose handle it is */
	struct dwarf *handle;
	pthread_t thread;
	bool started, reports;
};

static int lines_vaddr_order(const void *pa, const void *pb)
{
	uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;

	return a < b ? -1 : a > b;
}

/* Sorts the wanted addresses, and removes doubles and those whose answer is known. */
static void lines_wanted_tidy(struct lines_object *object)
{
	uint64_t *at = (uint64_t *)(void *)object->wanted.bytes;
	size_t n = object->wanted.n / sizeof(*at), kept = 0;
	uint64_t last = 0;

	if (n)
		qsort(at, n, sizeof(*at), lines_vaddr_order);
	for (size_t i = 0; i < n; i++) {
		if (i && at[i] == last)
			continue;
		last = at[i];
		if (!line_cache_find(&object->answers, &object->lines->texts, at[i]))
			at[kept++] = at[i];
	}
	object->wanted.n = kept * sizeof(*at);
}

/* Cuts an object's addresses into pieces. -ENOMEM. */
static int lines_pieces_cut(struct resolving *work, struct lines_object *object)
{
	const uint64_t *at = (const uint64_t *)(const void *)object->wanted.bytes;
	size_t n = object->wanted.n / sizeof(*at);
	size_t size = n / ((size_t)work->threads * PIECES_PER_THREAD) + 1;

	if (size < PIECE_LEAST)
		size = PIECE_LEAST;
	for (size_t i = 0; i < n; i += size) {
		struct piece piece = { .object = object,
			               .vaddrs = at + i,
			               .n = n - i < size ? n - i : size };

		if (work->lines->opts.share_ns) { /* one thread: nobody is opening it */
			piece.weight = lines_share_weight(object);
			piece.open = object->prefetch != NULL;
		}

		if (buf_put(&work->pieces, &piece, sizeof(piece)) < 0)
			return -ENOMEM;
	}
	work->total += n;
	object->cut = true;
	return 0;
}

/* Where time is bounded: what is open costs little, then comes what is most urgent. Pieces of one
 * object lie together. */
static int lines_piece_order(const void *pa, const void *pb)
{
	const struct piece *a = pa, *b = pb;

	if (a->open != b->open)
		return a->open ? -1 : 1;
	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return (a->vaddrs > b->vaddrs) - (a->vaddrs < b->vaddrs);
}

/* Looks up a few addresses. The handle is renewed when libdw has taken too much memory for it: it
 * gives none back before it is closed. 1; 0: the object has no information (lines_object_reason);
 * -ENOMEM. */
static int resolver_step(struct lines_resolver *r, const uint64_t *vaddrs, size_t n)
{
	struct lines *l = r->work->lines;
	/* The bound is that of all threads together. */
	uint64_t most =
	        (l->opts.keep_bytes ? l->opts.keep_bytes : LINES_HANDLE_BYTES) / r->work->threads;
	uint64_t began_ns = lines_share_now(l);
	int rc;

	if (r->handle && dwarf_bytes(r->handle) > most) {
		lines_handle_close(r->object, r->handle);
		r->handle = NULL;
	}
	if (!r->handle && lines_handle(r->object, &r->handle) < 0)
		return 0;
	rc = lines_look_up(r->object, r->handle, vaddrs, n);
	if (l->opts.share_ns) { /* one thread, as lines.h has it */
		r->object->waited = 0;
		lines_share_take(l, began_ns);
	}
	return rc < 0 ? rc : 1;
}

/* Looks up one piece, as far as there is time for it. */
static int resolver_piece(struct lines_resolver *r, const struct piece *piece)
{
	const struct lines_opts *opts = &r->work->lines->opts;
	int rc = 1;

	if (r->object != piece->object) {
		lines_handle_rest(r->object, r->handle);
		/* Where files stay open, there is room for the next one's. */
		if (opts->keep_bytes && r->work->threads == 1)
			lines_files_shrink(r->work->lines);
		r->handle = NULL;
		r->object = piece->object;
	}
	for (size_t i = 0; i < piece->n && rc > 0; i += STEP) {
		if (!lines_share_is_left(r->work->lines)) {
			lines_files_put_off(r->object);
			break;
		}
		rc = resolver_step(r, piece->vaddrs + i, piece->n - i < STEP ? piece->n - i : STEP);
	}
	return rc < 0 ? rc : 0;
}

/* A thread: takes pieces until none is left or another thread has failed. Only one thread reports
 * progress. */
static void *resolver_run(void *arg)
{
	struct lines_resolver *r = arg;
	struct resolving *work = r->work;
	const struct progress *progress = &work->lines->opts.progress;

	while (!atomic_load(&work->failed)) {
		const struct piece *pieces = (const void *)work->pieces.bytes;
		size_t i = atomic_fetch_add(&work->next, 1);
		int rc;

		if (i >= work->n_pieces)
			break;
		rc = resolver_piece(r, &pieces[i]);
		if (rc < 0)
			atomic_store(&work->failed, rc);
		if (rc >= 0 && progress_stopped(progress))
			atomic_store(&work->failed, -ECANCELED);
		atomic_fetch_add(&work->done, pieces[i].n);
		if (r->reports && progress->report)
			progress->report(progress->ctx, "source lines", atomic_load(&work->done),
			                 work->total);
	}
	lines_handle_rest(r->object, r->handle);
	return NULL;
}

/* The first resolver is this thread; one that cannot be started leaves its share to the others.
 * Returns 0 or the first failure of any. */
static int lines_resolving_run(struct resolving *work)
{
	struct lines_resolver resolvers[LINES_THREADS_MAX] = { 0 };
	unsigned n = work->n_pieces < work->threads ? (unsigned)work->n_pieces : work->threads;

	for (unsigned i = 0; i < n; i++)
		resolvers[i].work = work;
	for (unsigned i = 1; i < n; i++)
		resolvers[i].started =
		        thread_start(&resolvers[i].thread, resolver_run, &resolvers[i]) >= 0;
	resolvers[0].reports = true;
	if (n)
		resolver_run(&resolvers[0]);
	for (unsigned i = 1; i < n; i++)
		if (resolvers[i].started)
			pthread_join(resolvers[i].thread, NULL);
	return atomic_load(&work->failed);
}

/* Objects whose debug file is still being opened come last, so that the threads work meanwhile.
 * What is asked for while it runs waits for the next call. */
int lines_resolve_some(struct lines *l)
{
	struct resolving work = { .lines = l, .threads = lines_threads(l) };
	int r = 0;

	for (struct lines_object *o = l->first; o && r >= 0; o = o->next) {
		if (o->wanted.failed)
			r = -ENOMEM;
		if (o->wanted.n && !o->cache_read)
			lines_cache_read(o);
		lines_wanted_tidy(o);
	}
	/* First come those whose files are open already. */
	for (unsigned last = 0; last < 2; last++)
		for (struct lines_object *o = l->first; o && r >= 0; o = o->next)
			if (o->wanted.n && !o->cut && (last || !atomic_load(&o->opening)))
				r = lines_pieces_cut(&work, o);
	work.n_pieces = work.pieces.n / sizeof(struct piece);
	if (l->opts.share_ns && work.n_pieces)
		qsort(work.pieces.bytes, work.n_pieces, sizeof(struct piece), lines_piece_order);
	if (r >= 0)
		r = lines_resolving_run(&work);
	for (struct lines_object *o = l->first; o; o = o->next) {
		buf_clear(&o->wanted);
		o->cut = false;
	}
	buf_free(&work.pieces);
	return r;
}

/* The same at the end of a recording: answers go to disk, and files are closed. */
int lines_resolve(struct lines *l)
{
	int r = lines_resolve_some(l);

	for (struct lines_object *o = l->first; o; o = o->next) {
		buf_free(&o->wanted);
		if (l->opts.keep_bytes)
			continue;
		lines_cache_write(o);
		if (!o->dwarf)
			lines_files_close(o);
	}
	if (l->opts.keep_bytes)
		lines_files_shrink(l);
	return r;
}
