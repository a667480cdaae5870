// SPDX-License-Identifier: MIT
/*
 * shelf.c: see shelf.h and symbol.h: names of files, kept by path and build-id while the files that
 * they came from are the same, by device, inode, size and times.
 *
 * A build-id is what a file claims. Its file is looked at again for each cache that asks, and all
 * is read anew after a while: a debug file may have been installed, which no file tells.
 *
 * The running kernel's own names and its modules' are there, too: they stay the same as long as the
 * kernel, or the module with this build-id, runs.
 *
 * Bounded in bytes: what was not used for the longest goes first. What is used stays, so the bound
 * holds between two caches. Where the shelf spills, large tables lie in files without a
 * name, and are in memory as far as they were looked at since symbol_shelf_rest.
 */
#include "symbol/shelf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define SHELF_FILES 3u               /* the object, its debug file, the file of both */
#define SHELF_KEPT_NS 3600000000000u /* then it is read anew */
#define SHELF_LOST_NS 60000000000u   /* the same where no file was found */
#define SHELF_SPILLS 32768u          /* bytes: a smaller table is not worth a file */
#define SHELF_SPILLED (512u << 20)   /* bytes in all files */
#define SHELF_KALLSYMS "/proc/kallsyms"

struct shelf_file {
	char *path;
	struct stat st;
};

/* The files of an object that is being loaded. failed: one could not be noted. */
struct shelf_files {
	struct shelf_file at[SHELF_FILES];
	size_t n;
	bool failed;
};

struct shelf_entry {
	struct shelf_entry *next;
	struct symbol_shelf *shelf;
	char *path;
	enum symbol_kind kind;
	struct image_build_id build_id;
	struct shelf_files files;
	uint64_t read_ns; /* when its files were read */
	uint64_t used;    /* the larger the later */
	size_t bytes, spilled, users;
	bool stale; /* goes with its last user */
	/* Of the object. */
	enum symbol_state state;
	enum object_terms terms;
	uint64_t shift, reference;
	struct table table;
	struct image_segment *segments;
	size_t n_segments;
	struct buf reason, source;
	bool outlined;
	struct outline outline;
};

struct symbol_shelf {
	pthread_mutex_t lock;     /* for all */
	pthread_mutex_t outlines; /* held while one is read */
	struct shelf_entry *first;
	size_t bytes, most, spilled;
	bool spills;
	uint64_t clock;
};

static uint64_t shelf_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

int symbol_shelf_new(struct symbol_shelf **ret, size_t most, bool spills)
{
	struct symbol_shelf *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	pthread_mutex_init(&s->lock, NULL);
	pthread_mutex_init(&s->outlines, NULL);
	s->most = most;
	s->spills = spills;
	*ret = s;
	return 0;
}

static void shelf_files_free(struct shelf_files *f)
{
	for (size_t i = 0; i < f->n; i++)
		free(f->at[i].path);
	f->n = 0;
}

/* Takes an entry out of the list and frees it. Under the lock. */
static void shelf_remove(struct symbol_shelf *s, struct shelf_entry *e)
{
	struct shelf_entry **at = &s->first;

	while (*at != e)
		at = &(*at)->next;
	*at = e->next;
	s->bytes -= e->bytes;
	s->spilled -= e->spilled;
	table_free(&e->table);
	outline_free(&e->outline);
	buf_free(&e->reason);
	buf_free(&e->source);
	shelf_files_free(&e->files);
	free(e->segments);
	free(e->path);
	free(e);
}

/* Lets go of where functions begin: it is read again when it is wanted. Under the lock. */
static void shelf_drop_outline(struct symbol_shelf *s, struct shelf_entry *e)
{
	s->bytes -= e->outline.spans.capacity;
	e->bytes -= e->outline.spans.capacity;
	outline_free(&e->outline);
	e->outline = (struct outline){ 0 };
	e->outlined = false;
}

/* Lets go of what was used least lately until no more than most is left, but of nothing that is
 * used. A table in a file takes no memory: to read it again would. Under the lock. */
static void shelf_shrink(struct symbol_shelf *s, size_t most)
{
	while (s->bytes > most || s->spilled > SHELF_SPILLED) {
		struct shelf_entry *oldest = NULL;
		bool files = s->spilled > SHELF_SPILLED;

		for (struct shelf_entry *e = s->first; e; e = e->next)
			if (!e->users && (files || !e->spilled || e->outline.spans.capacity) &&
			    (!oldest || e->used < oldest->used))
				oldest = e;
		if (!oldest)
			return;
		if (oldest->spilled && !files)
			shelf_drop_outline(s, oldest);
		else
			shelf_remove(s, oldest);
	}
}

void symbol_shelf_rest(struct symbol_shelf *s)
{
	pthread_mutex_lock(&s->lock);
	for (const struct shelf_entry *e = s->first; e; e = e->next)
		scratch_alone_rest(&e->table.spilled);
	pthread_mutex_unlock(&s->lock);
}

size_t symbol_shelf_trim(struct symbol_shelf *s, size_t most)
{
	size_t left;

	pthread_mutex_lock(&s->lock);
	shelf_shrink(s, most);
	left = s->bytes;
	pthread_mutex_unlock(&s->lock);
	return left;
}

/* No object may use it any more. */
void symbol_shelf_free(struct symbol_shelf *s)
{
	if (!s)
		return;
	while (s->first)
		shelf_remove(s, s->first);
	pthread_mutex_destroy(&s->lock);
	pthread_mutex_destroy(&s->outlines);
	free(s);
}

/* ---- files ---- */

static bool shelf_is_kernel(enum symbol_kind kind)
{
	return kind == SYMBOL_KIND_KERNEL || kind == SYMBOL_KIND_MODULE;
}

bool shelf_fits(const struct symbol_object *object)
{
	const struct symbol_opts *o = &object->cache->opts;

	return o->shelf && !object->key.data && !o->foreign &&
	       (object->key.kind == SYMBOL_KIND_FILE ||
	        (shelf_is_kernel(object->key.kind) && !o->kallsyms)) &&
	       object->id.size;
}

void shelf_note(struct symbol_object *object, const struct image *image)
{
	struct shelf_files *f = object->files;
	struct shelf_file file = { 0 };

	if (!f)
		return;
	if (f->n == SHELF_FILES || image_fd(image) < 0 || fstat(image_fd(image), &file.st) < 0 ||
	    !(file.path = strdup(image_path(image))))
		f->failed = true;
	else
		f->at[f->n++] = file;
}

static bool shelf_is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* Whether what was read then would be read again now. */
static bool shelf_holds(const struct shelf_entry *e)
{
	struct stat st;

	if (shelf_is_kernel(e->kind))
		return true;
	if (shelf_now_ns() - e->read_ns > (e->files.n ? SHELF_KEPT_NS : SHELF_LOST_NS))
		return false;
	for (size_t i = 0; i < e->files.n; i++)
		if (stat(e->files.at[i].path, &st) < 0 || !shelf_is_same(&st, &e->files.at[i].st))
			return false;
	return e->files.n || stat(e->path, &st) < 0;
}

/* ---- objects ---- */

/* The entry of an object's key; NULL: none. Under the lock. */
static struct shelf_entry *shelf_find(const struct symbol_shelf *s,
                                      const struct symbol_object *object)
{
	const struct image_build_id *id = &object->id;

	for (struct shelf_entry *e = s->first; e; e = e->next)
		if (!e->stale && e->kind == object->key.kind &&
		    image_build_id_equal(&e->build_id, id) && !strcmp(e->path, object->path))
			return e;
	return NULL;
}

/* The object uses what the entry has. */
static bool shelf_lend(struct symbol_object *object, struct shelf_entry *e)
{
	buf_put(&object->reason, e->reason.bytes, e->reason.n);
	buf_put(&object->source, e->source.bytes, e->source.n);
	if (object->reason.failed || object->source.failed)
		return false;
	object->state = e->state;
	object->terms = e->terms;
	object->shift = e->shift;
	object->reference = e->reference;
	object->table = e->table;
	object->segments = e->segments;
	object->n_segments = e->n_segments;
	object->shelved = e;
	e->users++;
	e->used = ++e->shelf->clock;
	return true;
}

/* An entry whose files are others now goes when nobody uses it. */
bool shelf_take(struct symbol_object *object)
{
	struct symbol_shelf *s = object->cache->opts.shelf;
	struct shelf_entry *e;
	bool taken = false;

	if (!shelf_fits(object))
		return false;
	pthread_mutex_lock(&s->lock);
	e = shelf_find(s, object);
	if (e && !shelf_holds(e)) {
		e->stale = true;
		if (!e->users)
			shelf_remove(s, e);
		e = NULL;
	}
	if (e)
		taken = shelf_lend(object, e);
	pthread_mutex_unlock(&s->lock);
	if (!taken)
		object->files = calloc(1, sizeof(*object->files));
	return taken;
}

static size_t shelf_bytes(const struct shelf_entry *e)
{
	size_t table = e->table.names.capacity + e->table.capacity * sizeof(*e->table.symbols) +
	               (e->table.kept ? e->table.n * sizeof(*e->table.kept) : 0) +
	               e->table.n_pieces * sizeof(*e->table.pieces);

	return sizeof(*e) + (e->table.spilled.at ? 0 : table) + e->reason.capacity +
	       e->n_segments * sizeof(*e->segments) + e->outline.spans.capacity;
}

/* Gives back the room that a table had to grow into. It is used as it is, if that fails. */
static void shelf_tighten(const struct symbol_shelf *s, struct table *t)
{
	struct table_symbol *symbols;
	unsigned char *names;

	if (t->names.n + t->n * (t->kept ? sizeof(*t->kept) : sizeof(*symbols)) > SHELF_SPILLS &&
	    s->spills && table_spill(t))
		return;
	if (t->lent.bytes)
		return;
	symbols = t->n ? realloc(t->symbols, t->n * sizeof(*symbols)) : NULL;
	names = t->names.n ? realloc(t->names.bytes, t->names.n) : NULL;
	if (symbols) {
		t->symbols = symbols;
		t->capacity = t->n;
	}
	if (names) {
		t->names.bytes = names;
		t->names.capacity = t->names.n;
	}
}

/* Whether what an object has may be another's. Of the kernel only what the kernel itself says of
 * now. */
static bool shelf_may_keep(struct symbol_object *object)
{
	if (!object->files || object->files->failed || object->no_room)
		return false;
	return !shelf_is_kernel(object->key.kind) ||
	       (object->state == SYMBOL_NAMED &&
	        !strcmp(buf_text(&object->source), SHELF_KALLSYMS));
}

/* Makes the entry of an object. NULL: out of memory, or the object is to keep what it has. */
static struct shelf_entry *shelf_entry(struct symbol_object *object)
{
	struct shelf_entry *e;
	struct symbol_shelf *s = object->cache->opts.shelf;

	if (!shelf_may_keep(object))
		return NULL;
	e = calloc(1, sizeof(*e));
	if (!e || !(e->path = strdup(object->path))) {
		free(e);
		return NULL;
	}
	shelf_tighten(s, &object->table);
	e->shelf = s;
	e->kind = object->key.kind;
	e->build_id = object->id;
	e->state = object->state;
	e->terms = object->terms;
	e->shift = object->shift;
	e->reference = object->reference;
	e->table = object->table;
	e->segments = object->segments;
	e->n_segments = object->n_segments;
	e->read_ns = shelf_now_ns();
	e->bytes = shelf_bytes(e);
	e->spilled = e->table.spilled.n;
	/* One that is larger than all would drive out everything, each time. */
	if (e->bytes > s->most / 2 || e->spilled > SHELF_SPILLED / 2) {
		free(e->path);
		free(e);
		return NULL;
	}
	return e;
}

/* What was noted for an entry that was not made is let go, too. */
static void shelf_end_note(struct symbol_object *object)
{
	if (object->files)
		shelf_files_free(object->files);
	free(object->files);
	object->files = NULL;
}

/* What was noted of the object's files becomes the entry's. */
void shelf_put(struct symbol_object *object, bool loaded)
{
	struct shelf_entry *e = loaded ? shelf_entry(object) : NULL;

	if (e) {
		struct symbol_shelf *s = e->shelf;

		buf_put(&e->reason, object->reason.bytes, object->reason.n);
		buf_put(&e->source, object->source.bytes, object->source.n);
		e->files = *object->files;
		object->files->n = 0;
		object->shelved = e;
		pthread_mutex_lock(&s->lock);
		e->users = 1;
		e->used = ++s->clock;
		/* A text that is cut for want of memory is not for others. */
		e->stale = e->reason.failed || e->source.failed;
		e->next = s->first;
		s->first = e;
		s->bytes += e->bytes;
		s->spilled += e->spilled;
		shelf_shrink(s, s->most);
		pthread_mutex_unlock(&s->lock);
	}
	shelf_end_note(object);
}

/* Others that want one wait meanwhile; names can be taken and put. */
int shelf_outline(struct symbol_object *object, int (*read)(struct symbol_object *object))
{
	struct shelf_entry *e = object->shelved;
	struct symbol_shelf *s = e->shelf;
	int r = 0;

	pthread_mutex_lock(&s->outlines);
	if (!e->outlined) {
		r = read(object);
		pthread_mutex_lock(&s->lock);
		/* Who comes later may have room for it. */
		if (r >= 0 && !object->no_outline) {
			e->outline = object->outline;
			e->outlined = true;
			s->bytes += e->outline.spans.capacity;
			e->bytes += e->outline.spans.capacity;
		}
		pthread_mutex_unlock(&s->lock);
	}
	object->outline = e->outlined ? e->outline : object->outline;
	pthread_mutex_unlock(&s->outlines);
	return r;
}

void shelf_leave(struct symbol_object *object)
{
	struct shelf_entry *e = object->shelved;
	struct symbol_shelf *s = e->shelf;

	pthread_mutex_lock(&s->lock);
	if (!--e->users && e->stale)
		shelf_remove(s, e);
	shelf_shrink(s, s->most);
	pthread_mutex_unlock(&s->lock);
	object->shelved = NULL;
	object->table = (struct table){ 0 };
	object->outline = (struct outline){ 0 };
	object->segments = NULL;
}
