// SPDX-License-Identifier: MIT
/*
 * tables_make.c: the unwind table of one object: of the cache on disk, or compiled and kept there.
 * Which objects there are, and who asks for them, tables.c knows.
 *
 * Invariant: a table is of the file that was mapped, as far as that can be told; else there is
 * none, and a reason. It is known, in memory and on disk, by what it was made from
 * (tables_contents.c).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tables/tables_parts.h"
#include "unwind/compile.h"

/* Bytes of unwind information from which on helpers are of use: 10 ms of one thread. */
#define TABLES_HELPED (1u << 20)

/* Takes all helpers that are free, if the object is large enough for them to be of use. They are
 * given back afterwards. */
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

static bool tables_keeps_fp(void *ctx, uint64_t start, uint64_t end)
{
	const struct tables_input *input = ctx;

	return image_keeps_frame_pointers_in(input->image, start, end);
}

/* Some bytes of code from an address on; NULL: they cannot be read. */
static const unsigned char *tables_piece(struct tables_input *input, uint64_t start, size_t n)
{
	const struct image_section *text = &input->text;
	uint64_t left;

	if (text->bytes)
		return image_section_piece(input->image, text, start, n, NULL);
	if (n > sizeof(input->piece) || start < text->vaddr || start - text->vaddr > text->n)
		return NULL;
	if (start < input->piece_at || start - input->piece_at > input->n_piece ||
	    n > input->n_piece - (start - input->piece_at)) {
		left = text->n - (start - text->vaddr);
		input->piece_at = start;
		input->n_piece = left < sizeof(input->piece) ? (size_t)left : sizeof(input->piece);
		if (!image_section_piece(input->image, text, start, input->n_piece, input->piece))
			input->n_piece = 0;
	}
	return n <= input->n_piece ? input->piece + (start - input->piece_at) : NULL;
}

/* What lies between two functions: nops and zeros, or code that nobody described. */
static bool tables_is_padding(void *ctx, uint64_t start, uint64_t end)
{
	struct tables_input *input = ctx;
	size_t n = (size_t)(end - start);
	const unsigned char *code;

	if (end < start)
		return false;
	code = tables_piece(input, start, n);
	return code && image_is_padding(image_machine(input->image), code, n);
}

static void tables_spent(void *ctx)
{
	tables_input_spent(ctx);
}

static int tables_compile(struct tables *t, struct tables_input *input, struct buf *ret,
                          struct seam_error *err)
{
	struct compile_input *in = &input->in;
	unsigned helpers = tables_take_helpers(t, in);
	int r;

	in->keeps_fp = tables_keeps_fp;
	in->is_padding = tables_is_padding;
	in->spent = tables_spent;
	in->code_ctx = input;
	in->stopped = t->opts.stopped;
	in->stopped_ctx = t->opts.stopped_ctx;
	in->threads = 1 + helpers;
	r = compile_table(in, ret, err);
	tables_give_helpers(t, helpers);
	return r;
}

/* A copy, because the image is closed afterwards. Without memory there are none, and no address of
 * the object can be found. */
static void tables_copy_segments(struct tables_entry *e, const struct image *image)
{
	size_t n = image_segments(image);

	e->segments = calloc(n + 1, sizeof(*e->segments));
	for (size_t i = 0; e->segments && i < n; i++)
		e->segments[i] = *image_segment_at(image, i);
	e->object.segments = e->segments;
	e->object.n_segments = e->segments ? n : 0;
}

/* ---- the table of contents ---- */

static uint64_t tables_blob_key(const struct tables_contents *contents)
{
	uint64_t key;

	memcpy(&key, contents->digest, sizeof(key));
	return key;
}

static void tables_blob_name(const struct tables_contents *contents, char name[TABLES_NAME])
{
	char hex[BLAKE2_HEX];

	snprintf(name, TABLES_NAME, "%s.table%u", blake2_hex(contents->digest, hex),
	         FRAMETAB_VERSION);
}

/* The table of these contents in memory; NULL: none. The caller holds the lock. */
static struct tables_blob *tables_blob_find(struct tables *t,
                                            const struct tables_contents *contents)
{
	struct tables_blob *b;
	uint64_t at = 0;

	map_get(&t->by_contents, tables_blob_key(contents), &at);
	for (b = (struct tables_blob *)(uintptr_t)at; b; b = b->same)
		if (!memcmp(b->digest, contents->digest, sizeof(b->digest)))
			return b;
	return NULL;
}

/* The blob takes the bytes over, in pages that the kernel may take back where there is a place for
 * such pages. */
static void tables_blob_take(struct tables *t, struct tables_blob *b,
                             struct table_cache_bytes *bytes)
{
	b->bytes = (struct table_cache_bytes){ .n = bytes->n, .mapped = true };
	if (!bytes->mapped &&
	    table_cache_spill(&t->cache, bytes->bytes, bytes->n, &b->bytes.bytes) > 0) {
		table_cache_give_back(bytes);
	} else {
		b->bytes = *bytes;
		*bytes = (struct table_cache_bytes){ 0 };
	}
	frametab_of(&b->table, b->bytes.bytes);
}

/* Makes a table the one of these contents. If another thread was faster, that thread's table is
 * used. -ENOMEM. */
static int tables_blob_add(struct tables *t, const struct tables_contents *contents,
                           struct table_cache_bytes *bytes, struct tables_blob **ret)
{
	struct tables_blob *b;
	uint64_t *slot;

	pthread_mutex_lock(&t->lock);
	b = tables_blob_find(t, contents);
	if (!b) {
		b = arena_alloc(&t->arena, sizeof(*b));
		slot = b ? map_slot(&t->by_contents, tables_blob_key(contents), NULL) : NULL;
		if (!slot) {
			pthread_mutex_unlock(&t->lock);
			return -ENOMEM;
		}
		memcpy(b->digest, contents->digest, sizeof(b->digest));
		tables_blob_take(t, b, bytes);
		b->same = (struct tables_blob *)(uintptr_t)*slot;
		b->next = t->blobs;
		t->blobs = b;
		*slot = (uintptr_t)b;
		t->counts.bytes += b->table.header->size;
		if (b->bytes.mapped)
			map_put(&t->mapped, (uintptr_t)b->bytes.bytes, b->bytes.n);
		else
			t->counts.own_bytes += b->bytes.n;
	}
	pthread_mutex_unlock(&t->lock);
	*ret = b;
	return 0;
}

/* The table of contents that are known, from memory or from disk: 1; 0: there is none; -ENOMEM. */
static int tables_blob_get(struct tables *t, const struct tables_contents *contents,
                           struct tables_blob **ret)
{
	struct table_cache_bytes bytes;
	struct frametab table;
	char name[TABLES_NAME];
	int r = 0;

	pthread_mutex_lock(&t->lock);
	*ret = tables_blob_find(t, contents);
	pthread_mutex_unlock(&t->lock);
	if (*ret)
		return 1;
	if (contents->alone)
		return 0;
	tables_blob_name(contents, name);
	if (table_cache_take(&t->cache, name, &bytes) &&
	    frametab_open(&table, bytes.bytes, bytes.n, NULL) >= 0)
		r = tables_blob_add(t, contents, &bytes, ret) < 0 ? -ENOMEM : 1;
	table_cache_give_back(&bytes);
	return r;
}

/* Makes the table, and puts it on disk, too, where that is of use. */
static int tables_blob_make(struct tables *t, struct tables_input *input,
                            struct tables_contents *contents, struct tables_blob **ret,
                            struct seam_error *err)
{
	struct table_cache_bytes bytes;
	struct buf made = { 0 };
	struct frametab table;
	char name[TABLES_NAME];
	int r = tables_compile(t, input, &made, err);

	bytes = (struct table_cache_bytes){ made.bytes, made.n, false };
	if (r >= 0)
		r = frametab_open(&table, bytes.bytes, bytes.n, err);
	tables_contents_check(t, input, contents);
	if (r >= 0 && !contents->alone) {
		tables_blob_name(contents, name);
		pthread_mutex_lock(&t->lock);
		table_cache_put(&t->cache, name, bytes.bytes, bytes.n);
		pthread_mutex_unlock(&t->lock);
	}
	if (r >= 0)
		r = tables_blob_add(t, contents, &bytes, ret);
	table_cache_give_back(&bytes);
	return r;
}

/*
 * The table of an open object. If it was found out before what the file holds, its sections are not
 * read again. 1: the table was there; 0: it was made; or why there is none.
 */
static int tables_of_image(struct tables *t, struct image *image, struct tables_blob **ret,
                           struct seam_error *err)
{
	struct tables_contents contents;
	struct tables_input input;
	int r;

	tables_recall(t, image_fd(image), &contents);
	if (!contents.known)
		tables_contents_by_stamp(t, image, &contents);
	r = contents.known ? tables_blob_get(t, &contents, ret) : 0;
	if (r)
		return r;
	tables_input_read(t, image, &input);
	if (!contents.by_stamp) {
		tables_input_contents(&input, &contents);
		r = contents.known ? tables_blob_get(t, &contents, ret)
		                   : seam_error_set(err, EIO, image_path(image), SEAM_NO_OFFSET,
		                                    NULL, "its code cannot be read");
	}
	if (!r)
		r = tables_blob_make(t, &input, &contents, ret, err);
	if (r >= 0 && tables_input_is_own(&input))
		tables_remember(t, image_fd(image), &contents);
	tables_input_free(&input);
	return r;
}

/* Whether the file at the path is the one that was mapped, as far as can be told. In a tree of
 * files (--symfs) it is: whoever made the tree vouches for it. */
static bool tables_is_mapped_file(const struct tables *t, const struct tables_entry *e)
{
	struct stat st;

	/* Only files without a build-id are in doubt here: image_find compares build-ids itself. */
	if (!e->inode || e->build_id.size || t->opts.search.root)
		return true;
	if (stat(e->object.path, &st) < 0)
		return false;
	return st.st_ino == e->inode && (!e->noted || (st.st_mtim.tv_sec == e->written.tv_sec &&
	                                               st.st_mtim.tv_nsec == e->written.tv_nsec));
}

/* Opens the object. Its file is checked before and after, because it may be replaced at any
 * time. */
static int tables_open(struct tables *t, const struct tables_entry *e, struct image **ret,
                       struct seam_error *err)
{
	int r = 0;

	if (e->memory)
		return image_open_memory(ret, e->memory, e->n_memory, e->object.path, err);
	/* If it is not, r stays 0, and the second look says why. */
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

/* Says what code an object has, from its file. */
int tables_code(struct tables *t, const struct tables_object *object, uint64_t address, void *ret,
                size_t n)
{
	const struct tables_entry *e = (const struct tables_entry *)(const void *)object;
	struct image *image;
	uint64_t offset;
	int r = tables_open(t, e, &image, NULL);

	if (r < 0)
		return r;
	r = image_offset_of_vaddr(image, address, &offset);
	if (r >= 0 && e->memory && (offset > e->n_memory || n > e->n_memory - offset))
		r = -EFAULT;
	else if (r >= 0 && e->memory)
		memcpy(ret, (const unsigned char *)e->memory + offset, n);
	else if (r >= 0 && pread(image_fd(image), ret, n, (off_t)offset) != (ssize_t)n)
		r = -EIO;
	image_close(image);
	return r;
}

/* Chromium has unwind information for a few thousand of its functions: a table that small says
 * nothing of the rest. */
static bool tables_is_bare(const struct tables_entry *e, bool has_table)
{
	uint64_t code = 0;

	for (size_t i = 0; i < e->object.n_segments; i++)
		if (e->segments[i].executable)
			code += e->segments[i].memory_size;
	return !has_table || e->object.table->header->size < code / 100;
}

/* Takes the lock of `t` itself, for the counts. An object with hardly any unwind information is
 * asked whether its code keeps frame pointers. */
void tables_make(struct tables *t, struct tables_entry *e)
{
	struct seam_error err = { 0 };
	struct tables_blob *blob = NULL;
	struct image *image = NULL;
	int r;

	r = tables_open(t, e, &image, &err);
	if (r >= 0) {
		tables_copy_segments(e, image);
		r = tables_of_image(t, image, &blob, &err);
		/* Even without a table the segments are there: the object can be named. */
		e->object.table = r >= 0 ? &blob->table : NULL;
		if (tables_is_bare(e, r >= 0))
			e->object.keeps_fp = image_keeps_frame_pointers(image) > 0;
	}
	image_close(image);
	e->object.no_object = r == -ENOEXEC;
	pthread_mutex_lock(&t->lock);
	if (r >= 0) {
		t->counts.skipped_functions += blob->table.header->skipped;
		if (r)
			t->counts.from_cache++;
		else
			t->counts.built++;
	} else {
		snprintf(e->reason, sizeof(e->reason), "%s", err.text[0] ? err.text : strerror(-r));
		t->counts.without++;
	}
	pthread_mutex_unlock(&t->lock);
}
