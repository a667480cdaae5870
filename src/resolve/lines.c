// SPDX-License-Identifier: MIT
/*
 * lines.c: see lines.h. Joins image/ (which file), dwarf/ (what it says) and the cache on disk.
 * Answers are kept by address until lines_free; what was read to make them is not.
 *
 * Locks: lines->lock guards the pool of texts and the answers while threads look up; an object's
 * lock guards its files and handles. Without threads running, answers are read without a lock.
 */
#include "resolve/lines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "resolve/lines_object.h"
#include "symbol/symbol.h"

/* Beyond this the oldest files of the cache are removed. */
#define CACHE_BYTES (512ULL << 20)

/* opts may be NULL, or of an older size: what it lacks is 0. -ENOMEM. */
int lines_new(struct lines **ret, const struct lines_opts *opts)
{
	struct lines *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	if (opts)
		memcpy(&l->opts, opts, opts->sz < sizeof(*opts) ? opts->sz : sizeof(*opts));
	l->opts.search.sz = sizeof(l->opts.search);
	l->cache.dir = -1;
	if (!l->opts.no_cache)
		table_cache_open(&l->cache, "lines", l->opts.cache_dir,
		                 l->opts.cache_bytes ? l->opts.cache_bytes : CACHE_BYTES);
	pthread_mutex_init(&l->lock, NULL);
	*ret = l;
	return 0;
}

/* Lets go of an object's answers and files. Itself it stays until lines_free. */
static void lines_object_end(struct lines_object *o)
{
	if (o->dwarf)
		/* Answers of a debug file that lacks units are not kept: a whole one may come
		 * later. */
		o->incomplete |= dwarf_missing_units(o->dwarf) != 0;
	lines_cache_write(o);
	lines_files_close(o);
	line_cache_free(&o->answers);
	table_cache_give_back(&o->cached);
	buf_free(&o->wanted);
	map_free(&o->shown);
	map_free(&o->partial);
}

/* Writes new answers into the cache on disk before it frees them. */
void lines_free(struct lines *l)
{
	if (!l)
		return;
	for (struct lines_object *o = l->first; o; o = o->next) {
		lines_object_end(o);
		pthread_mutex_destroy(&o->lock);
	}
	table_cache_close(&l->cache);
	map_free(&l->by_hash);
	map_free(&l->demangled);
	intern_free(&l->texts);
	arena_free(&l->arena);
	pthread_mutex_destroy(&l->lock);
	free(l);
}

/* Objects with a build-id stay where their files do. */
void lines_renew(struct lines *l, const struct image_search *search)
{
	if (!search) {
		/* Texts that it points to are the recording's. */
		l->opts.search = (struct image_search){ .sz = sizeof(l->opts.search) };
		return;
	}
	l->opts.search = *search;
	l->opts.search.sz = sizeof(l->opts.search);
	lines_share_renew(l);
	for (struct lines_object *o = l->first; o; o = o->next) {
		if (o->old || (o->build_id.size && lines_files_hold(o)))
			continue;
		lines_object_end(o);
		o->old = true;
	}
}

size_t lines_bytes(const struct lines *l)
{
	size_t bytes = intern_held(&l->texts) + l->shown + map_bytes(&l->demangled);

	for (const struct lines_object *o = l->first; o; o = o->next)
		bytes += sizeof(*o) + o->cached.n + o->answers.entries.capacity +
		         o->answers.frames.capacity + map_bytes(&o->answers.index) +
		         map_bytes(&o->shown);
	return bytes;
}

/* Adds an object that nothing has been asked of yet; NULL: out of memory. */
static struct lines_object *lines_object_new(struct lines *l, enum lines_terms terms,
                                             const char *path, const struct image_build_id *id)
{
	struct lines_object *o = arena_alloc(&l->arena, sizeof(*o));

	if (!o)
		return NULL;
	o->lines = l;
	o->terms = terms;
	o->path = arena_string(&l->arena, path, strlen(path));
	if (!o->path)
		return NULL;
	o->build_id = *id;
	pthread_mutex_init(&o->lock, NULL);
	if (l->last)
		l->last->next = o;
	else
		l->first = o;
	l->last = o;
	return o;
}

/* Objects that differ in their terms (how addresses are counted) are different ones, though they
 * are of one file. */
int lines_object(struct lines *l, enum lines_terms terms, const char *path,
                 const struct image_build_id *build_id, struct lines_object **ret)
{
	static const struct image_build_id none;
	const struct image_build_id *id = build_id ? build_id : &none;
	uint64_t hash =
	        map_hash_bytes(path, strlen(path), map_hash_bytes(id->bytes, id->size, terms));
	uint64_t *slot = map_slot(&l->by_hash, hash, NULL);
	struct lines_object *o;

	if (!slot)
		return -ENOMEM;
	/* The hash finds candidates; equality decides. */
	for (o = (struct lines_object *)(uintptr_t)*slot; o; o = o->same) {
		if (!o->old && o->terms == terms && !strcmp(o->path, path) &&
		    o->build_id.size == id->size &&
		    !memcmp(o->build_id.bytes, id->bytes, id->size)) {
			*ret = o;
			return 0;
		}
	}
	o = lines_object_new(l, terms, path, id);
	if (!o)
		return -ENOMEM;
	o->same = (struct lines_object *)(uintptr_t)*slot;
	*slot = (uintptr_t)o;
	*ret = o;
	return 0;
}

/* ---- looking up ---- */

/* A missing name is the pool's text 0. */
static uint32_t lines_text(struct intern *texts, const char *text)
{
	return text ? intern_text(texts, text) : 0;
}

/* Asks a handle about an address, and puts the answer into `to`, with its texts in a pool of the
 * thread's own. */
static int lines_ask(const struct lines_object *object, struct dwarf *handle, uint64_t vaddr,
                     struct intern *texts, struct buf *frames, struct line_cache *to)
{
	const struct dwarf_frame *found;
	size_t n;
	/* base: what is to be added so that the address is one of the debugging information's. */
	int r = dwarf_find(handle, vaddr + object->base, &found, &n);

	if (r < 0)
		return r;
	buf_clear(frames);
	for (size_t i = 0; i < n; i++) {
		struct line_cache_frame f = { .function = lines_text(texts, found[i].function),
			                      .file = lines_text(texts, found[i].file),
			                      .line = found[i].line };

		if (f.function == INTERN_FAILED || f.file == INTERN_FAILED)
			return -ENOMEM;
		buf_put(frames, &f, sizeof(f));
	}
	return frames->failed ? -ENOMEM : line_cache_put(to, vaddr, (const void *)frames->bytes, n);
}

/* Takes a thread's answers over into the object; their texts get numbers of the common pool. */
static int lines_take_over(struct lines_object *object, const struct line_cache *found,
                           const struct intern *texts)
{
	struct lines *l = object->lines;
	/* Texts are renumbered before the answers are put, and the answers of `found` are changed
	 * for that. */
	uint32_t *ids = calloc(texts->n + 1, sizeof(*ids));
	struct line_cache_frame *frames = (void *)found->frames.bytes;
	size_t n_frames = found->frames.n / sizeof(*frames);
	int r = ids ? 0 : -ENOMEM;

	for (uint32_t i = 1; i < texts->n && r >= 0; i++) {
		ids[i] = intern_bytes(&l->texts, intern_get(texts, i), intern_length(texts, i));
		if (ids[i] == INTERN_FAILED)
			r = -ENOMEM;
	}
	for (size_t i = 0; i < n_frames && r >= 0; i++) {
		frames[i].function = ids[frames[i].function];
		frames[i].file = ids[frames[i].file];
	}
	for (size_t i = 0; i < line_cache_count(found) && r >= 0; i++) {
		const struct line_cache_entry *e = (const void *)found->entries.bytes;

		r = line_cache_put(&object->answers, e[i].vaddr, line_cache_frames(found, &e[i]),
		                   e[i].n);
	}
	object->dirty = true;
	l->counts.looked_up += line_cache_count(found);
	free(ids);
	return r;
}

/* Remembers that an answer lacks something, and which file would have it (a .dwo, say). -ENOMEM. */
static int lines_note_partial(struct lines_object *object, uint64_t vaddr, const char *file)
{
	int r;

	pthread_mutex_lock(&object->lines->lock);
	if (!object->partial_file[0])
		snprintf(object->partial_file, sizeof(object->partial_file), "%s", file);
	r = map_put(&object->partial, vaddr, 1);
	pthread_mutex_unlock(&object->lines->lock);
	return r;
}

/* May run in several threads, each with a handle of its own: libdw's are not shared. Answers gather
 * in the thread and are taken over at the end, so that the lock is held shortly. */
int lines_look_up(struct lines_object *object, struct dwarf *handle, const uint64_t *vaddrs,
                  size_t n)
{
	struct intern texts = { 0 };
	struct line_cache found = { 0 };
	struct buf frames = { 0 };
	int r = 0;

	for (size_t i = 0; i < n && r >= 0; i++) {
		r = lines_ask(object, handle, vaddrs[i], &texts, &frames, &found);
		if (r >= 0 && dwarf_missing_file(handle))
			r = lines_note_partial(object, vaddrs[i], dwarf_missing_file(handle));
	}
	if (r >= 0) {
		pthread_mutex_lock(&object->lines->lock);
		r = lines_take_over(object, &found, &texts);
		pthread_mutex_unlock(&object->lines->lock);
	}
	buf_free(&frames);
	line_cache_free(&found);
	intern_free(&texts);
	return r;
}

/* ---- showing ---- */

/* The name to be shown for a text; each is demangled once. NULL: out of memory. */
static const char *lines_demangled(struct lines *l, uint32_t text)
{
	const char *raw = intern_get(&l->texts, text);
	bool is_new;
	uint64_t *slot;
	char *name;

	if (l->opts.no_demangle || !text)
		return raw;
	slot = map_slot(&l->demangled, text, &is_new);
	if (!slot)
		return NULL;
	if (is_new) {
		name = symbol_demangle(raw, l->opts.parameters);
		*slot = (uintptr_t)(name ? arena_string(&l->arena, name, strlen(name)) : raw);
		free(name);
	}
	return (const char *)(uintptr_t)*slot;
}

/* Frames as callers get them, with names to be shown. They live in the arena, as long as the lines
 * do. */
static const struct lines_frame *lines_show(struct lines_object *object,
                                            const struct line_cache_entry *e)
{
	const struct line_cache_frame *from = line_cache_frames(&object->answers, e);
	struct lines *l = object->lines;
	struct lines_frame *to = arena_alloc(&l->arena, (e->n + 1) * sizeof(*to));

	l->shown += (e->n + 1) * sizeof(*to);
	for (uint32_t i = 0; to && i < e->n; i++) {
		to[i] = (struct lines_frame){ .function = lines_demangled(l, from[i].function),
			                      .file = intern_get(&l->texts, from[i].file),
			                      .line = from[i].line };
		if (!to[i].function)
			return NULL;
	}
	return to;
}

/* Looks at the cache on disk first; opening debugging information is what costs. */
static int lines_find_new(struct lines_object *object, uint64_t vaddr)
{
	int r;

	if (!object->cache_read)
		lines_cache_read(object);
	if (line_cache_find(&object->answers, &object->lines->texts, vaddr))
		return 0;
	/* libdw keeps all it has read until its handle is closed, so a handle that grew too large
	 * is renewed. */
	if (object->dwarf && dwarf_bytes(object->dwarf) > LINES_HANDLE_BYTES) {
		lines_handle_close(object, object->dwarf);
		object->dwarf = NULL;
	}
	if (object->lines->opts.share_ns) /* lines_resolve answered all for which there was time */
		return 0;
	r = object->dwarf ? 0 : lines_handle(object, &object->dwarf);
	return r < 0 ? r : lines_look_up(object, object->dwarf, &vaddr, 1);
}

/* For many addresses lines_want and lines_resolve are faster, as they work in threads and in order
 * of address. */
int lines_find(struct lines_object *object, uint64_t vaddr, struct lines_at *ret)
{
	const struct line_cache_entry *e;
	uint64_t *slot;
	int r = 0;

	*ret = (struct lines_at){ 0 };
	object->asked = true;
	if (!line_cache_find(&object->answers, &object->lines->texts, vaddr))
		r = lines_find_new(object, vaddr);
	e = line_cache_find(&object->answers, &object->lines->texts, vaddr);
	if (map_get(&object->partial, vaddr, NULL))
		ret->partial = object->partial_file;
	/* Where there is no debugging information there is nothing to wait for. */
	ret->put_off = !e && object->lines->opts.share_ns && !object->reason[0];
	if (r == -ENOMEM || !e)
		return r == -ENOMEM ? r : 0;
	/* What was made for showing stays: the same place is asked again and again. */
	slot = map_slot(&object->shown, vaddr, NULL);
	if (slot && !*slot)
		*slot = (uintptr_t)lines_show(object, e);
	if (!slot || !*slot)
		return -ENOMEM;
	ret->frames = (const struct lines_frame *)(uintptr_t)*slot;
	ret->n = e->n;
	return e->n != 0;
}

/* Tells an answer that comes from elsewhere (a jitdump): later calls of lines_find have it. */
int lines_tell(struct lines_object *object, uint64_t vaddr, const char *file, uint32_t line)
{
	struct line_cache_frame frame = { .line = line };

	if (line_cache_find(&object->answers, &object->lines->texts, vaddr))
		return 0;
	frame.file = intern_text(&object->lines->texts, file);
	return frame.file == INTERN_FAILED ? -ENOMEM
	                                   : line_cache_put(&object->answers, vaddr, &frame, 1);
}

/* Notes an address for lines_resolve. -ENOMEM. */
int lines_want(struct lines_object *object, uint64_t vaddr)
{
	object->asked = true;
	return buf_put(&object->wanted, &vaddr, sizeof(vaddr));
}

/* Why the object has no lines; "" if it has. */
const char *lines_object_reason(const struct lines_object *object)
{
	return object->reason;
}

void lines_count(const struct lines *l, struct lines_counts *ret)
{
	*ret = l->counts;
	ret->objects = ret->without = ret->too_large = 0;
	for (const struct lines_object *o = l->first; o; o = o->next) {
		ret->objects += o->asked;
		ret->without += o->reason[0] != 0;
		ret->too_large += o->too_large;
	}
}
