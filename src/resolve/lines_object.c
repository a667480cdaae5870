// SPDX-License-Identifier: MIT
/*
 * lines_object.c: the files of one object: where its debugging information is, and its answers on
 * disk.
 *
 * An object's files are opened once, when first needed, and closed when its answers are complete.
 * image: the program or library; debug: where its debugging information is (perhaps the same file);
 * alt: what dwz shared between packages. All under the object's lock.
 */
#include "resolve/lines_object.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpus.h"
#include "base/thread.h"
#include "image/go_table.h"

/* Whether a file has debugging information in it. Separate debug files keep the header of sections
 * that they do not have (NOBITS). */
static bool lines_has_debug_info(const struct image *image)
{
	struct image_section section;

	for (size_t i = 0; image_section_at(image, i, &section) == 0; i++) {
		if (section.type != SHT_NOBITS && section.memory_size &&
		    (!strcmp(section.name, ".debug_info") || !strcmp(section.name, ".zdebug_info")))
			return true;
	}
	return false;
}

/* Where the kernel's _text was linked to. Addresses of the kernel are counted from it, wherever it
 * was loaded (KASLR). A module's are those of its own file already. -ENOENT: without the symbol no
 * address means anything. */
static int lines_base(struct lines_object *object)
{
	if (object->terms != LINES_KERNEL)
		return 0;
	if (image_symbol_value(object->debug, "_text", &object->base) == 0 ||
	    image_symbol_value(object->image, "_text", &object->base) == 0)
		return 0;
	snprintf(object->reason, sizeof(object->reason), "%.400s: it has no symbol _text",
	         image_path(object->debug));
	if (object->debug != object->image)
		image_close(object->debug);
	object->debug = NULL;
	return -ENOENT;
}

/* Reading all of a file to know what it is may take longer than what is kept then saves. */
static bool lines_may_be_named(const struct lines_object *object, const struct image *image)
{
	struct stamp stamp;

	return !object->lines->opts.share_ns || stamp_of(image_fd(image), &stamp) == STAMP_LASTS;
}

/*
 * Makes the name under which the answers are kept on disk, from what the files are that they come
 * from, not from what these claim to be. Without a name nothing is kept.
 */
static void lines_name(struct lines_object *object)
{
	const struct image *files[] = { object->image, object->debug, object->alt };
	const uint64_t words[] = { LINE_CACHE_VERSION, (uint64_t)object->terms };
	unsigned char digest[BLAKE2_BYTES];
	char hex[BLAKE2_HEX];
	struct blake2 b;

	blake2_start(&b);
	/* A file that is not there, or is the first one again, counts as zeros. */
	blake2_add(&b, words, sizeof(words));
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		memset(digest, 0, sizeof(digest));
		if (files[i] && (i != 1 || files[i] != object->image) &&
		    (!lines_may_be_named(object, files[i]) ||
		     stamp_contents(image_fd(files[i]), digest) < 0))
			return;
		blake2_add(&b, digest, sizeof(digest));
	}
	blake2_end(&b, digest);
	snprintf(object->cache_name, sizeof(object->cache_name), "%s.lines%u",
	         blake2_hex(digest, hex), LINE_CACHE_VERSION);
}

/* Remembers what a file is now. Its path lives as long as the lines; without memory for it the
 * object is taken for changed. */
static void lines_note(struct lines_object *object, const struct image *image, const char **at,
                       struct stat *was)
{
	const char *path = image_path(image);

	if (fstat(image_fd(image), was) < 0)
		*at = "";
	else if (!*at || strcmp(*at, path) != 0)
		*at = arena_string(&object->lines->arena, path, strlen(path));
	if (!*at)
		*at = "";
}

#define LINES_UNPACKED 3u /* times as large as packed, about */
/* Lines that stay open unpack into a file (image_spill). There it may be so many times what it may
 * be in memory: what is packed is in memory while it is unpacked. */
#define SPILLED_TIMES 4u
#define SPILLED_BYTES (512u << 20) /* of all objects that are open */
#define OPEN_BYTES 16384u          /* that an open object takes before it is read */

/* About what the sections of a file take in memory. */
static uint64_t lines_debug_bytes(const struct image *image)
{
	struct image_section s;
	uint64_t bytes = 0;

	for (size_t i = 0; image && image_section_at(image, i, &s) == 0; i++)
		if (s.type != SHT_NOBITS &&
		    (!strncmp(s.name, ".debug_", 7) || !strncmp(s.name, ".zdebug_", 8)))
			bytes += s.flags & SHF_COMPRESSED || s.name[1] == 'z'
			                 ? s.memory_size * LINES_UNPACKED
			                 : s.memory_size;
	return bytes;
}

/* About what is in memory at once while the sections of a file are unpacked: a packed one as it is,
 * and as it becomes. Of the others pieces are. */
static uint64_t lines_debug_at_once(const struct image *image)
{
	struct image_section s;
	uint64_t most = 0;

	for (size_t i = 0; image && image_section_at(image, i, &s) == 0; i++)
		if (s.type != SHT_NOBITS &&
		    (s.flags & SHF_COMPRESSED || !strncmp(s.name, ".zdebug_", 8)) &&
		    s.memory_size * (1 + LINES_UNPACKED) > most)
			most = s.memory_size * (1 + LINES_UNPACKED);
	return most;
}

/* Then its files are closed, and reason says so. */
static bool lines_is_too_large(struct lines_object *object)
{
	const struct lines_opts *o = &object->lines->opts;
	uint64_t bytes = lines_debug_bytes(object->debug), most = o->most_bytes;

	if (o->keep_bytes)
		most *= SPILLED_TIMES;
	if (most && bytes > most)
		snprintf(object->reason, sizeof(object->reason),
		         "%.400s: its debugging information takes about %llu MB, at most %llu are "
		         "allowed",
		         image_path(object->debug), (unsigned long long)(bytes >> 20),
		         (unsigned long long)(most >> 20));
	else if (!room_has(&o->room, o->keep_bytes ? lines_debug_at_once(object->debug) : bytes))
		snprintf(object->reason, sizeof(object->reason),
		         "%.400s: there was no memory for its debugging information",
		         image_path(object->debug));
	else
		return false;
	object->too_large = true;
	if (object->debug != object->image)
		image_close(object->debug);
	object->debug = NULL;
	return true;
}

/* Finds the object's file and the one with its debugging information. */
static int lines_files_find(struct lines_object *object)
{
	const struct image_search *search = &object->lines->opts.search;
	struct seam_error err = { 0 };
	int r = image_find(&object->image, object->path, &object->build_id, search, NULL, &err);

	if (r < 0) {
		snprintf(object->reason, sizeof(object->reason), "%s", err.text);
		return r;
	}
	lines_note(object, object->image, &object->image_at, &object->image_was);
	object->debug = object->image;
	if (!lines_has_debug_info(object->image)) {
		object->debug = NULL;
		r = image_find_debug(&object->debug, object->image, search, &err);
		if (r >= 0 && !lines_has_debug_info(object->debug)) {
			image_close(object->debug);
			object->debug = NULL;
		}
	}
	/* A stripped program of Go has the lines that its runtime needs. */
	if (!object->debug && go_table_is_there(object->image))
		object->debug = object->image;
	if (!object->debug) {
		if (r == -EPERM)
			snprintf(object->reason, sizeof(object->reason), "%s", err.text);
		else
			snprintf(
			        object->reason, sizeof(object->reason),
			        "%s: no debugging information, and no separate debug file with any",
			        object->path);
		return -ENOENT;
	}
	lines_note(object, object->debug, &object->debug_at, &object->debug_was);
	if (lines_is_too_large(object))
		return -EFBIG;
	/* That there is none is the usual case. */
	image_find_alt(&object->alt, object->debug, search, NULL);
	if (object->lines->opts.keep_bytes) {
		image_spill(object->debug);
		if (object->alt)
			image_spill(object->alt);
	}
	return lines_base(object);
}

/* Opens the object's files, once; a second call returns 0 also after a failure, which
 * object->reason then tells. Under the object's lock. */
static int lines_files_open(struct lines_object *object)
{
	int r = object->opened || object->reason[0] ? 0 : lines_files_find(object);

	object->opened = true;
	if (object->debug && !object->cache_name[0] && object->lines->cache.dir >= 0)
		lines_name(object);
	return r;
}

void lines_files_put_off(struct lines_object *object)
{
	pthread_mutex_lock(&object->lock);
	lines_files_open(object);
	object->waited++;
	pthread_mutex_unlock(&object->lock);
}

/* Unpacking the sections of a debug file takes as long as everything else that is done with it. So
 * it begins, in a thread, as soon as it is known that they will be wanted, while the rest of the
 * recording is still being read. */
static void *lines_open_early(void *arg)
{
	struct lines_object *object = arg;

	pthread_mutex_lock(&object->lock);
	/* Somebody was faster, and has a handle of its own. */
	if (!object->handed)
		dwarf_open(&object->prefetch, object->debug, object->alt, NULL);
	pthread_mutex_unlock(&object->lock);
	atomic_store(&object->opening, false);
	return NULL;
}

unsigned lines_threads(const struct lines *l)
{
	unsigned n = cpus_for(l->opts.threads);

	return n < LINES_THREADS_MAX ? n : LINES_THREADS_MAX;
}

/* Starts that thread, if there is a CPU for it and not too many run already. */
static void lines_start_early(struct lines_object *object)
{
	struct lines *l = object->lines;

	/* With one CPU a thread would gain nothing. */
	if (object->has_opener || lines_threads(l) == 1 || l->openers >= lines_threads(l))
		return;
	atomic_store(&object->opening, true);
	object->has_opener = thread_start(&object->opener, lines_open_early, object) >= 0;
	if (!object->has_opener)
		atomic_store(&object->opening, false);
	l->openers += object->has_opener;
}

/* Waits for it. What it opened and nobody took is closed. */
static void lines_end_early(struct lines_object *object)
{
	if (object->has_opener) {
		pthread_join(object->opener, NULL);
		object->lines->openers--;
	}
	object->has_opener = false;
	dwarf_close(object->prefetch);
	object->prefetch = NULL;
}

/* Answers stay; what they were read from goes. */
void lines_files_close(struct lines_object *object)
{
	lines_end_early(object);
	dwarf_close(object->dwarf);
	image_close(object->alt);
	if (object->debug != object->image)
		image_close(object->debug);
	image_close(object->image);
	object->dwarf = NULL;
	object->image = object->debug = object->alt = NULL;
	object->opened = object->handed = false;
}

/* Whether lines can be told of this object at all. If so, reading its debugging information
 * begins. */
bool lines_known(struct lines_object *object)
{
	bool known;

	object->asked = true;
	if (!object->cache_read)
		lines_cache_read(object);
	if (line_cache_any(&object->answers))
		return true;
	pthread_mutex_lock(&object->lock);
	lines_files_open(object);
	known = object->debug != NULL;
	pthread_mutex_unlock(&object->lock);
	if (known)
		lines_start_early(object);
	return known;
}

/* The handle that was opened early is handed to the first that asks; everyone else gets a new one,
 * to be closed with lines_handle_close. -ENOENT: it has none; object->reason says why. */
int lines_handle(struct lines_object *object, struct dwarf **ret)
{
	struct seam_error err = { 0 };
	int r;

	pthread_mutex_lock(&object->lock);
	r = lines_files_open(object);
	object->handed = true;
	object->used = atomic_fetch_add(&object->lines->clock, 1) + 1;
	if (r >= 0 && object->prefetch) {
		*ret = object->prefetch;
		object->prefetch = NULL;
	} else if (r >= 0) {
		r = object->debug ? dwarf_open(ret, object->debug, object->alt, &err) : -ENOENT;
	}
	if (r < 0 && !object->reason[0])
		snprintf(object->reason, sizeof(object->reason), "%s", err.text);
	pthread_mutex_unlock(&object->lock);
	return r;
}

/* NULL is no handle. What a handle knows of missing units must not get lost. */
void lines_handle_close(struct lines_object *object, struct dwarf *handle)
{
	if (!handle)
		return;
	pthread_mutex_lock(&object->lock);
	object->incomplete |= dwarf_missing_units(handle) != 0;
	dwarf_close(handle);
	pthread_mutex_unlock(&object->lock);
}

void lines_handle_rest(struct lines_object *object, struct dwarf *handle)
{
	if (!handle || !object->lines->opts.keep_bytes || object->prefetch) {
		lines_handle_close(object, handle);
		return;
	}
	pthread_mutex_lock(&object->lock);
	object->incomplete |= dwarf_missing_units(handle) != 0;
	object->prefetch = handle;
	pthread_mutex_unlock(&object->lock);
}

/* What lies in files of an open object. */
static uint64_t lines_files_spilled(const struct lines_object *object)
{
	return (object->debug ? image_spill_rest(object->debug) : 0) +
	       (object->alt ? image_spill_rest(object->alt) : 0);
}

/* What an open object takes: what libdw has read, and its unpacked sections, if they are in
 * memory. */
static uint64_t lines_files_bytes(const struct lines_object *object)
{
	if (!object->debug)
		return 0;
	return OPEN_BYTES + (object->prefetch ? dwarf_bytes(object->prefetch) : 0) +
	       (object->prefetch && !lines_files_spilled(object) ? lines_debug_bytes(object->debug)
	                                                         : 0);
}

/* Closes the one that was not used for the longest. False: none is open. */
static bool lines_files_close_oldest(struct lines *l)
{
	struct lines_object *oldest = NULL;

	for (struct lines_object *o = l->first; o; o = o->next)
		if (o->debug && (!oldest || o->used < oldest->used))
			oldest = o;
	if (oldest)
		lines_files_close(oldest);
	return oldest;
}

/* One that would take more than half of the room is closed at once. */
void lines_files_shrink(struct lines *l)
{
	uint64_t most = l->opts.keep_bytes, all, spilled;

	for (struct lines_object *o = l->first; o; o = o->next)
		if (lines_files_bytes(o) > most / 2)
			lines_files_close(o);
	do {
		all = spilled = 0;
		for (struct lines_object *o = l->first; o; o = o->next) {
			all += lines_files_bytes(o);
			spilled += lines_files_spilled(o);
		}
	} while ((all > most || spilled > SPILLED_BYTES) && lines_files_close_oldest(l));
}

static bool lines_is_same(const char *path, const struct stat *was)
{
	struct stat st;

	return stat(path, &st) == 0 && st.st_dev == was->st_dev && st.st_ino == was->st_ino &&
	       st.st_size == was->st_size && st.st_mtim.tv_sec == was->st_mtim.tv_sec &&
	       st.st_mtim.tv_nsec == was->st_mtim.tv_nsec &&
	       st.st_ctim.tv_sec == was->st_ctim.tv_sec &&
	       st.st_ctim.tv_nsec == was->st_ctim.tv_nsec;
}

/* Of one whose files were never opened nothing is known. */
bool lines_files_hold(const struct lines_object *object)
{
	return object->image_at && lines_is_same(object->image_at, &object->image_was) &&
	       (!object->debug_at || lines_is_same(object->debug_at, &object->debug_was));
}

/* ---- on disk ---- */

/* Reads earlier answers. A file that is missing or unsound is the same as none. */
void lines_cache_read(struct lines_object *object)
{
	struct intern *texts = &object->lines->texts;
	struct table_cache_bytes bytes;

	object->cache_read = true;
	pthread_mutex_lock(&object->lock);
	/* The name of the cache file follows from the contents of the object's files. */
	if (!object->cache_name[0] && object->lines->cache.dir >= 0)
		lines_files_open(object);
	pthread_mutex_unlock(&object->lock);
	if (!object->cache_name[0] ||
	    !table_cache_take(&object->lines->cache, object->cache_name, &bytes))
		return;
	if (line_cache_open(&object->answers, texts, bytes.bytes, bytes.n) < 0) {
		table_cache_give_back(&bytes);
		return;
	}
	table_cache_give_back(&object->cached); /* all of it was taken over */
	object->cached = bytes;
}

/* Another process may have added answers meanwhile: they are kept. Nothing is written if nothing is
 * new, or if an answer may be incomplete. */
void lines_cache_write(struct lines_object *object)
{
	struct buf bytes = { 0 };

	if (!object->dirty || object->incomplete || !object->cache_name[0])
		return;
	object->dirty = false;
	lines_cache_read(object);
	if (line_cache_encode(&object->answers, &object->lines->texts, &bytes) >= 0)
		table_cache_put(&object->lines->cache, object->cache_name, bytes.bytes, bytes.n);
	buf_free(&bytes);
}
