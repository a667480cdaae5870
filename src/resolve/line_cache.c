// SPDX-License-Identifier: MIT
/*
 * line_cache.c: see line_cache.h. The file: magic, version, counts, a checksum of what follows;
 * then entries by address, frames, the offsets of the texts and the texts. Native byte order: it is
 * a cache of this machine.
 *
 * Invariant: nothing of a file is believed before its checksum fits and each number in it is within
 * bounds. In memory, texts are numbers of a pool that several objects share (struct intern); in a
 * file they are numbers of its own. Versions have other file names, so old files are never read.
 */
#include "resolve/line_cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"

static const char magic[8] = "seamline";

void line_cache_free(struct line_cache *a)
{
	buf_free(&a->entries);
	buf_free(&a->frames);
	map_free(&a->index);
}

size_t line_cache_count(const struct line_cache *a)
{
	return a->entries.n / sizeof(struct line_cache_entry);
}

static const struct line_cache_entry *line_cache_at(const struct line_cache *a, size_t i)
{
	return (const struct line_cache_entry *)(const void *)a->entries.bytes + i;
}

/* What is known of an address, or NULL: it was not asked yet. An entry without frames says that
 * there is no line. */
const struct line_cache_entry *line_cache_find(const struct line_cache *a, uint64_t vaddr)
{
	uint64_t i;

	return map_get(&a->index, vaddr, &i) ? line_cache_at(a, i) : NULL;
}

const struct line_cache_frame *line_cache_frames(const struct line_cache *a,
                                                 const struct line_cache_entry *entry)
{
	if (!entry->n) /* there may be no frames at all */
		return NULL;
	return (const struct line_cache_frame *)(const void *)a->frames.bytes + entry->first;
}

/* The frames' texts are numbers of the caller's pool, and are kept as such. An address that is
 * there already stays as it was. */
int line_cache_put(struct line_cache *a, uint64_t vaddr, const struct line_cache_frame *frames,
                   size_t n)
{
	struct line_cache_entry entry = { .vaddr = vaddr, .n = (uint32_t)n };
	size_t first = a->frames.n / sizeof(*frames);
	uint64_t *slot;
	bool is_new;

	if (first > UINT32_MAX - n)
		return -ENOMEM;
	entry.first = (uint32_t)first;
	slot = map_slot(&a->index, vaddr, &is_new);
	if (!slot)
		return -ENOMEM;
	if (!is_new)
		return 0;
	*slot = line_cache_count(a);
	if ((n && buf_put(&a->frames, frames, n * sizeof(*frames)) < 0) ||
	    buf_put(&a->entries, &entry, sizeof(entry)) < 0) {
		/* Without its entry the index must not know it. */
		map_del(&a->index, vaddr);
		return -ENOMEM;
	}
	return 0;
}

/* ---- to bytes ---- */

static int line_entry_order(const void *pa, const void *pb)
{
	const struct line_cache_entry *a = pa, *b = pb;

	return a->vaddr < b->vaddr ? -1 : a->vaddr > b->vaddr;
}

/* ids: a text gets its number when it is first met. */
struct encoding {
	const struct intern *texts;
	struct map ids; /* of the pool -> of the file */
	struct buf entries, frames, offsets, strings;
};

/* A failure is kept in e->strings, to be found at the end. */
static uint32_t line_encode_text(struct encoding *e, uint32_t text)
{
	bool is_new;
	uint64_t *slot = map_slot(&e->ids, text, &is_new);

	if (!slot) {
		e->strings.failed = true;
		return 0;
	}
	if (is_new) {
		*slot = e->offsets.n / sizeof(uint32_t);
		buf_put_u32(&e->offsets, (uint32_t)e->strings.n);
		buf_put(&e->strings, intern_get(e->texts, text), intern_length(e->texts, text) + 1);
	}
	return (uint32_t)*slot;
}

static void line_encode_entry(struct encoding *e, const struct line_cache *a,
                              const struct line_cache_entry *entry)
{
	const struct line_cache_frame *f = line_cache_frames(a, entry);
	struct line_cache_entry to = *entry;

	to.first = (uint32_t)(e->frames.n / sizeof(*f));
	buf_put(&e->entries, &to, sizeof(to));
	for (uint32_t i = 0; i < entry->n; i++) {
		struct line_cache_frame frame = { line_encode_text(e, f[i].function),
			                          line_encode_text(e, f[i].file), f[i].line };

		buf_put(&e->frames, &frame, sizeof(frame));
	}
}

/* Joins the parts behind a header with their counts and a checksum. -EFBIG: more texts than a u32
 * can number. */
static int line_encode_parts(struct encoding *e, struct buf *ret)
{
	struct buf body = { 0 };
	bool failed;

	buf_put(&body, e->entries.bytes, e->entries.n);
	/* The checksum is made over all four parts as they will be in the file. */
	buf_put(&body, e->frames.bytes, e->frames.n);
	buf_put(&body, e->offsets.bytes, e->offsets.n);
	buf_put(&body, e->strings.bytes, e->strings.n);
	buf_clear(ret);
	buf_put(ret, magic, sizeof(magic));
	buf_put_u32(ret, LINE_CACHE_VERSION);
	buf_put_u32(ret, (uint32_t)(e->entries.n / sizeof(struct line_cache_entry)));
	buf_put_u32(ret, (uint32_t)(e->frames.n / sizeof(struct line_cache_frame)));
	buf_put_u32(ret, (uint32_t)(e->offsets.n / sizeof(uint32_t)));
	buf_put_u32(ret, (uint32_t)e->strings.n);
	/* Fills the header to a multiple of 8. */
	buf_put_u32(ret, 0);
	buf_put_u64(ret, map_hash_bytes(body.bytes, body.n, LINE_CACHE_VERSION));
	buf_put(ret, body.bytes, body.n);
	failed = body.failed || ret->failed || e->strings.failed || e->offsets.failed ||
	         e->frames.failed || e->entries.failed;
	buf_free(&body);
	return failed ? -ENOMEM : e->strings.n > UINT32_MAX ? -EFBIG : 0;
}

/* Entries are sorted by address and texts renumbered by use, so that the bytes do not depend on the
 * order of asking. */
int line_cache_encode(const struct line_cache *a, const struct intern *texts, struct buf *ret)
{
	struct encoding e = { .texts = texts };
	size_t n = line_cache_count(a);
	struct line_cache_entry *sorted = malloc((n + 1) * sizeof(*sorted));
	int r = -ENOMEM;

	/* Text 0 is the empty one, in the file as in the pool. */
	line_encode_text(&e, 0);
	if (sorted) {
		if (n)
			memcpy(sorted, a->entries.bytes, n * sizeof(*sorted));
		qsort(sorted, n, sizeof(*sorted), line_entry_order);
		for (size_t i = 0; i < n; i++)
			line_encode_entry(&e, a, &sorted[i]);
		r = line_encode_parts(&e, ret);
	}
	free(sorted);
	map_free(&e.ids);
	buf_free(&e.entries);
	buf_free(&e.frames);
	buf_free(&e.offsets);
	buf_free(&e.strings);
	return r;
}

/* ---- from bytes ---- */

/* Cursors over the parts of a file, whose sizes its header says. All are in the caller's bytes. */
struct decoding {
	struct cursor entries, frames, offsets;
	uint32_t n_entries, n_frames, n_texts;
	const char *strings;
	uint32_t n_strings;
};

static int line_decode_header(struct cursor *c, struct decoding *ret)
{
	const unsigned char *at = cursor_bytes(c, sizeof(magic));
	uint64_t hash;

	if (!at || memcmp(at, magic, sizeof(magic)) || cursor_u32(c) != LINE_CACHE_VERSION)
		return -EBADMSG;
	ret->n_entries = cursor_u32(c);
	ret->n_frames = cursor_u32(c);
	ret->n_texts = cursor_u32(c);
	ret->n_strings = cursor_u32(c);
	cursor_u32(c);
	hash = cursor_u64(c);
	if (c->failed || hash != map_hash_bytes(c->at, cursor_left(c), LINE_CACHE_VERSION))
		return -EBADMSG;
	return 0;
}

/* Cuts the body into its parts. They must fill it exactly, and the last text must end in a NUL: so
 * every text does. */
static int line_decode_parts(struct cursor *c, struct decoding *d)
{
	const unsigned char *entries, *frames, *offsets, *strings;

	entries = cursor_array(c, d->n_entries, sizeof(struct line_cache_entry));
	frames = cursor_array(c, d->n_frames, sizeof(struct line_cache_frame));
	offsets = cursor_array(c, d->n_texts, sizeof(uint32_t));
	strings = cursor_bytes(c, d->n_strings);
	if (c->failed || cursor_left(c) || !d->n_strings || strings[d->n_strings - 1])
		return -EBADMSG;
	d->entries = cursor_of(entries, d->n_entries * sizeof(struct line_cache_entry), false);
	d->frames = cursor_of(frames, d->n_frames * sizeof(struct line_cache_frame), false);
	d->offsets = cursor_of(offsets, d->n_texts * sizeof(uint32_t), false);
	d->strings = (const char *)strings;
	return 0;
}

/* The file's texts in the pool. */
static int line_decode_texts(struct decoding *d, struct intern *texts, uint32_t *ids)
{
	for (uint32_t i = 0; i < d->n_texts; i++) {
		uint32_t offset = cursor_u32(&d->offsets);

		if (offset >= d->n_strings)
			return -EBADMSG;
		ids[i] = intern_text(texts, d->strings + offset);
		if (ids[i] == INTERN_FAILED)
			return -ENOMEM;
	}
	return 0;
}

/* Translates the texts' numbers; a number that the file does not have is unsound. */
static int line_decode_frames(struct decoding *d, const uint32_t *ids, struct line_cache_frame *ret)
{
	for (uint32_t i = 0; i < d->n_frames; i++) {
		uint32_t function = cursor_u32(&d->frames), file = cursor_u32(&d->frames);

		if (function >= d->n_texts || file >= d->n_texts)
			return -EBADMSG;
		ret[i] = (struct line_cache_frame){ ids[function], ids[file],
			                            cursor_u32(&d->frames) };
	}
	return 0;
}

/* Checks all entries before it adds the first, so that unsound bytes add nothing. */
static int line_decode_entries(struct decoding *d, const struct line_cache_frame *frames,
                               struct line_cache *to)
{
	struct cursor check = d->entries;
	int r = 0;

	for (uint32_t i = 0; i < d->n_entries; i++) {
		uint32_t first, n;

		cursor_u64(&check);
		first = cursor_u32(&check);
		n = cursor_u32(&check);
		if (first > d->n_frames || n > d->n_frames - first)
			return -EBADMSG;
	}
	for (uint32_t i = 0; i < d->n_entries && r >= 0; i++) {
		uint64_t vaddr = cursor_u64(&d->entries);
		uint32_t first = cursor_u32(&d->entries);

		r = line_cache_put(to, vaddr, frames + first, cursor_u32(&d->entries));
	}
	return r;
}

/* The checksum is compared first. texts: the pool that takes the texts; their numbers there are put
 * into the frames. */
/* -EBADMSG: it is not such a file, or unsound; nothing was added. -ENOMEM. */
int line_cache_decode(struct line_cache *a, struct intern *texts, const void *bytes, size_t n)
{
	struct cursor c = cursor_of(bytes, n, false);
	struct decoding d = { 0 };
	struct line_cache_frame *frames;
	uint32_t *ids;
	int r = line_decode_header(&c, &d);

	if (r >= 0)
		r = line_decode_parts(&c, &d);
	if (r < 0)
		return r;
	ids = calloc((size_t)d.n_texts + 1, sizeof(*ids));
	frames = calloc((size_t)d.n_frames + 1, sizeof(*frames));
	r = ids && frames ? line_decode_texts(&d, texts, ids) : -ENOMEM;
	if (r >= 0)
		r = line_decode_frames(&d, ids, frames);
	if (r >= 0)
		r = line_decode_entries(&d, frames, a);
	free(frames);
	free(ids);
	return r;
}
