// SPDX-License-Identifier: MIT
// lines_object.c: the files of one object: where its debugging information is, and its answers on disk.
#include "resolve/lines_object.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool has_debug_info(const struct image *image)
{
	struct image_section section;

	for (size_t i = 0; image_section_at(image, i, &section) == 0; i++) {
		if (section.type != SHT_NOBITS && section.memory_size &&
		    (!strcmp(section.name, ".debug_info") || !strcmp(section.name, ".zdebug_info")))
			return true;
	}
	return false;
}

/* Where the kernel's _text was linked to. */
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

static int lines_files_open(struct lines_object *object)
{
	const struct image_search *search = &object->lines->opts.search;
	struct seam_error err = { 0 };
	int r = image_find(&object->image, object->path, &object->build_id, search, NULL, &err);

	if (r < 0) {
		snprintf(object->reason, sizeof(object->reason), "%s", err.text);
		return r;
	}
	object->debug = object->image;
	if (!has_debug_info(object->image)) {
		object->debug = NULL;
		r = image_find_debug(&object->debug, object->image, search, &err);
		if (r >= 0 && !has_debug_info(object->debug)) {
			image_close(object->debug);
			object->debug = NULL;
		}
	}
	if (!object->debug) {
		snprintf(object->reason, sizeof(object->reason),
		         "%s: no debugging information, and no separate debug file with any",
		         object->path);
		return -ENOENT;
	}
	image_find_alt(&object->alt, object->debug, search, NULL);
	return lines_base(object);
}

/* Unpacking the sections of a debug file takes as long as all else that is done with it: it begins when
 * it is known that they will be wanted, while the rest of the recording is still being read. */
static void *lines_open_early(void *arg)
{
	struct lines_object *object = arg;

	pthread_mutex_lock(&object->lock);
	if (!object->handed)
		dwarf_open(&object->early, object->debug, object->alt, NULL);
	pthread_mutex_unlock(&object->lock);
	atomic_store(&object->opening, false);
	return NULL;
}

static void lines_start_early(struct lines_object *object)
{
	struct lines *l = object->lines;

	/* With one CPU there is nothing to be won. */
	if (object->has_opener || lines_threads(l) == 1 || l->openers >= lines_threads(l))
		return;
	atomic_store(&object->opening, true);
	object->has_opener = !pthread_create(&object->opener, NULL, lines_open_early, object);
	if (!object->has_opener)
		atomic_store(&object->opening, false);
	l->openers += object->has_opener;
}

static void lines_end_early(struct lines_object *object)
{
	if (object->has_opener) {
		pthread_join(object->opener, NULL);
		object->lines->openers--;
	}
	object->has_opener = false;
	dwarf_close(object->early);
	object->early = NULL;
}

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

bool lines_known(struct lines_object *object)
{
	bool known;

	object->asked = true;
	if (!object->cache_read)
		lines_cache_read(object);
	if (linebook_count(&object->answers))
		return true;
	pthread_mutex_lock(&object->lock);
	if (!object->opened && !object->reason[0])
		lines_files_open(object);
	object->opened = true;
	known = object->debug != NULL;
	pthread_mutex_unlock(&object->lock);
	if (known)
		lines_start_early(object);
	return known;
}

int lines_handle(struct lines_object *object, struct dwarf **ret)
{
	struct seam_error err = { 0 };
	int r = 0;

	pthread_mutex_lock(&object->lock);
	if (!object->opened && !object->reason[0])
		r = lines_files_open(object);
	object->opened = object->handed = true;
	if (r >= 0 && object->early) {
		*ret = object->early;
		object->early = NULL;
	} else if (r >= 0) {
		r = object->debug ? dwarf_open(ret, object->debug, object->alt, &err) : -ENOENT;
	}
	if (r < 0 && !object->reason[0])
		snprintf(object->reason, sizeof(object->reason), "%s", err.text);
	pthread_mutex_unlock(&object->lock);
	return r;
}

void lines_handle_close(struct lines_object *object, struct dwarf *handle)
{
	if (!handle)
		return;
	pthread_mutex_lock(&object->lock);
	object->incomplete |= dwarf_missing_units(handle) != 0;
	dwarf_close(handle);
	pthread_mutex_unlock(&object->lock);
}

/* ---- on disk ---- */

static bool cache_name(const struct lines_object *object, char *name, size_t n)
{
	char hex[IMAGE_BUILD_ID_HEX];

	if (!object->build_id.size)
		return false;
	snprintf(name, n, "%s.lines%u", image_build_id_hex(&object->build_id, hex),
	         LINEBOOK_VERSION);
	return true;
}

void lines_cache_read(struct lines_object *object)
{
	struct buf bytes = { 0 };
	char name[64];

	object->cache_read = true;
	if (cache_name(object, name, sizeof(name)) &&
	    table_cache_get(&object->lines->cache, name, &bytes) > 0)
		linebook_decode(&object->answers, &object->lines->texts, bytes.bytes, bytes.n);
	buf_free(&bytes);
}

/* Another process may have added answers meanwhile: they are kept. */
void lines_cache_write(struct lines_object *object)
{
	struct buf bytes = { 0 };
	char name[64];

	if (!object->dirty || object->incomplete || !cache_name(object, name, sizeof(name)))
		return;
	object->dirty = false;
	lines_cache_read(object);
	if (linebook_encode(&object->answers, &object->lines->texts, &bytes) >= 0)
		table_cache_put(&object->lines->cache, name, bytes.bytes, bytes.n);
	buf_free(&bytes);
}
