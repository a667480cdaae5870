// SPDX-License-Identifier: MIT
/*
 * tables_make.c: the unwind table of one object: of the cache on disk, or compiled and kept there. Which objects there are, and who asks
 * for them, tables.c knows.
 *
 * Invariant: a table is of the file that was mapped, as far as that can be told; else there is none, and a reason.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "tables/tables_parts.h"
#include "unwind/compile.h"

/* Bytes of unwind information from which on helpers are of use: 10 ms of one thread. */
#define TABLES_HELPED (1u << 20)

static void tables_section(struct image *image, const char *name, struct compile_section *ret)
{
	struct image_section section;

	if (image_section(image, name, &section) >= 0 && section.bytes)
		*ret = (struct compile_section){ section.bytes, section.n, section.vaddr };
}

static uint64_t tables_section_address(struct image *image, const char *name)
{
	struct image_section section;

	return image_section(image, name, &section) >= 0 ? section.vaddr : 0;
}

static bool tables_swapped(const struct image *image)
{
	const uint16_t one = 1;
	bool big_here = !*(const unsigned char *)&one;

	return image_is_big_endian(image) != big_here;
}

/* All helpers that are free, for an object to which they are of use; they are given back after it. */
static unsigned tables_take_helpers(struct tables *t, const struct compile_input *in)
{
	unsigned taken;

	if (in->eh_frame.n + in->debug_frame.n < TABLES_HELPED)
		return 0;
	pthread_mutex_lock(&t->lock);
	taken = t->helpers;
	t->helpers = 0;
	pthread_mutex_unlock(&t->lock);
	return taken;
}

static void tables_give_helpers(struct tables *t, unsigned n)
{
	pthread_mutex_lock(&t->lock);
	t->helpers += n;
	pthread_mutex_unlock(&t->lock);
}

/* The code of an object, for what the unwind information leaves out. */
struct tables_code {
	struct image *image;
	struct image_section text;
};

static bool tables_keeps_fp(void *ctx, uint64_t start, uint64_t end)
{
	const struct tables_code *code = ctx;

	return image_keeps_frame_pointers_in(code->image, start, end);
}

static bool tables_is_padding(void *ctx, uint64_t start, uint64_t end)
{
	const struct tables_code *code = ctx;
	const struct image_section *text = &code->text;

	return start >= text->vaddr && end >= start && end - text->vaddr <= text->n &&
	       image_is_padding(image_machine(code->image), text->bytes + (start - text->vaddr),
	                        (size_t)(end - start));
}

/* Compiles an image, with the .debug_frame of its separate debug file if it has none of its own. */
static int tables_compile(struct tables *t, struct image *image, struct buf *ret,
                          struct seam_error *err)
{
	struct tables_code code = { .image = image };
	struct compile_input in = { .machine = image_machine(image),
		                    .swap = tables_swapped(image),
		                    .keeps_fp = tables_keeps_fp,
		                    .is_padding = tables_is_padding,
		                    .code_ctx = &code };
	struct image *debug = NULL;
	unsigned helpers;
	int r;

	for (size_t i = 0; i < image_segments(image) && in.n_ranges < COMPILE_RANGES_MAX; i++) {
		const struct image_segment *s = image_segment_at(image, i);

		if (s->executable && s->memory_size <= UINT64_MAX - s->vaddr)
			in.ranges[in.n_ranges++] =
			        (struct compile_range){ s->vaddr, s->vaddr + s->memory_size };
	}
	in.entry = image_entry(image);
	if (image_section(image, ".text", &code.text) < 0 || !code.text.bytes)
		code.text.n = 0;
	in.text_address = code.text.vaddr;
	in.data_address = tables_section_address(image, ".got");
	tables_section(image, ".eh_frame", &in.eh_frame);
	tables_section(image, ".sframe", &in.sframe);
	tables_section(image, ".debug_frame", &in.debug_frame);
	if (!in.debug_frame.bytes && image_find_debug(&debug, image, &t->opts.search, NULL) >= 0)
		tables_section(debug, ".debug_frame", &in.debug_frame);
	helpers = tables_take_helpers(t, &in);
	in.threads = 1 + helpers;
	r = compile_table(&in, ret, err);
	tables_give_helpers(t, helpers);
	image_close(debug);
	return r;
}

static void tables_copy_segments(struct tables_entry *e, const struct image *image)
{
	size_t n = image_segments(image);

	e->segments = calloc(n + 1, sizeof(*e->segments));
	for (size_t i = 0; e->segments && i < n; i++)
		e->segments[i] = *image_segment_at(image, i);
	e->object.segments = e->segments;
	e->object.n_segments = e->segments ? n : 0;
}

/* Takes a file's pages for the table, if they are sound and of this version. */
static bool tables_take(struct tables_entry *e, const void *bytes, size_t n)
{
	struct frametab table;

	if (frametab_open(&table, bytes, n, NULL) < 0) {
		munmap((void *)bytes, n);
		return false;
	}
	e->table = table;
	e->mapped = bytes;
	e->n_mapped = n;
	buf_free(&e->blob);
	return true;
}

static bool tables_from_cache(struct tables *t, struct tables_entry *e, const char *name)
{
	const void *bytes;
	size_t n;

	return table_cache_map(&t->cache, name, &bytes, &n) > 0 && tables_take(e, bytes, n);
}

/* A table that was made: into the cache, or a file without a name, for its pages. */
static void tables_keep(struct tables *t, struct tables_entry *e, const char *name)
{
	size_t n = e->blob.n;
	const void *bytes;

	if (name[0]) {
		pthread_mutex_lock(&t->lock);
		table_cache_put(&t->cache, name, e->blob.bytes, n);
		pthread_mutex_unlock(&t->lock);
		if (tables_from_cache(t, e, name))
			return;
	}
	if (table_cache_spill(&t->cache, e->blob.bytes, n, &bytes) > 0)
		tables_take(e, bytes, n);
}

/* The file at the path is the one that was mapped, as far as can be told; for a tree of files (--symfs)
 * its maker vouches. */
static bool tables_is_mapped_file(const struct tables *t, const struct tables_entry *e)
{
	struct stat st;

	if (!e->inode || e->build_id.size || t->opts.search.root)
		return true;
	if (stat(e->object.path, &st) < 0)
		return false;
	return st.st_ino == e->inode && (!e->noted || (st.st_mtim.tv_sec == e->written.tv_sec &&
	                                               st.st_mtim.tv_nsec == e->written.tv_nsec));
}

/* Opens the object; with its file checked before and after, as it may be replaced any time. */
static int tables_open(struct tables *t, const struct tables_entry *e, struct image **ret,
                       struct seam_error *err)
{
	int r = 0;

	if (e->memory)
		return image_open_memory(ret, e->memory, e->n_memory, e->object.path, err);
	if (tables_is_mapped_file(t, e))
		r = image_find(ret, e->object.path, &e->build_id, &t->opts.search, NULL, err);
	if (r < 0 || tables_is_mapped_file(t, e))
		return r;
	image_close(*ret);
	*ret = NULL;
	return seam_error_set(
	        err, ESTALE, NULL, SEAM_NO_OFFSET, NULL,
	        "it has no build-id, and the file there is not the one that was mapped");
}

/* Chromium has unwind information for a few thousand of its functions: a table that small says nothing of the rest. */
static bool tables_is_bare(const struct tables_entry *e, bool has_table)
{
	uint64_t code = 0;

	for (size_t i = 0; i < e->object.n_segments; i++)
		if (e->segments[i].executable)
			code += e->segments[i].memory_size;
	return !has_table || e->table.header->size < code / 100;
}

void tables_make(struct tables *t, struct tables_entry *e)
{
	char hex[IMAGE_BUILD_ID_HEX], name[64] = "";
	struct image_build_id id = { 0 };
	struct seam_error err = { 0 };
	struct image *image = NULL;
	bool cached = false;
	int r;

	r = tables_open(t, e, &image, &err);
	if (r >= 0) {
		tables_copy_segments(e, image);
		if (image_build_id(image, &id) > 0 && !e->memory)
			snprintf(name, sizeof(name), "%s.table%u", image_build_id_hex(&id, hex),
			         FRAMETAB_VERSION);
		cached = name[0] && tables_from_cache(t, e, name);
		if (!cached)
			r = tables_compile(t, image, &e->blob, &err);
		if (!cached && r >= 0)
			r = frametab_open(&e->table, e->blob.bytes, e->blob.n, &err);
		if (!cached && r >= 0)
			tables_keep(t, e, name);
		if (tables_is_bare(e, r >= 0))
			e->object.keeps_fp = image_keeps_frame_pointers(image) > 0;
	}
	image_close(image);
	pthread_mutex_lock(&t->lock);
	if (r >= 0) {
		e->object.table = &e->table;
		t->counts.bytes += e->table.header->size;
		t->counts.own_bytes += e->blob.n;
		if (e->mapped)
			map_put(&t->mapped, (uintptr_t)e->mapped, e->n_mapped);
		t->counts.skipped_functions += e->table.header->skipped;
		if (cached)
			t->counts.from_cache++;
		else
			t->counts.built++;
	} else {
		snprintf(e->reason, sizeof(e->reason), "%s", err.text[0] ? err.text : strerror(-r));
		t->counts.without++;
	}
	pthread_mutex_unlock(&t->lock);
}
