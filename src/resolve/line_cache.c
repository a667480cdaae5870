// SPDX-License-Identifier: MIT
/*
 * line_cache.c: see line_cache.h. The file: magic, version, counts, a checksum of what follows;
 * then entries by address, frames, the offsets of the texts and the texts. Native byte order: it is
 * a cache of this machine.
 *
 * Nothing of a file is copied or looked at before it is asked for, but for the checksum: most of
 * what is kept of a large program is of no moment for one recording.
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

/* A file's parts, in the bytes of whoever opened it. Invariant: its checksum fits; numbers in it
 * are checked when they are used. */
struct line_cache_file {
	const struct line_cache_entry *entries; /* by address */
	const struct line_cache_frame *frames;  /* with numbers of the file's own texts */
	const uint32_t *offsets;                /* of a text, in strings */
	const char *strings;
	uint32_t n_entries, n_frames, n_texts, n_strings;
	uint32_t *ids;        /* of a text -> of the pool; 0: not yet asked for, or the empty one */
	struct buf frames_of; /* of one entry, with numbers of the pool */
};

static void line_cache_file_free(struct line_cache_file *f)
{
	if (!f)
		return;
	free(f->ids);
	buf_free(&f->frames_of);
	free(f);
}

void line_cache_free(struct line_cache *a)
{
	buf_free(&a->entries);
	buf_free(&a->frames);
	map_free(&a->index);
	line_cache_file_free(a->file);
	a->file = NULL;
}

size_t line_cache_count(const struct line_cache *a)
{
	return a->entries.n / sizeof(struct line_cache_entry);
}

bool line_cache_any(const struct line_cache *a)
{
	return line_cache_count(a) || (a->file && a->file->n_entries);
}

static const struct line_cache_entry *line_cache_at(const struct line_cache *a, size_t i)
{
	return (const struct line_cache_entry *)(const void *)a->entries.bytes + i;
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

/* ---- a file's answers, one by one ---- */

static int line_entry_order(const void *pa, const void *pb)
{
	const struct line_cache_entry *a = pa, *b = pb;

	return a->vaddr < b->vaddr ? -1 : a->vaddr > b->vaddr;
}

/* A text of the file as one of the pool. -EBADMSG, -ENOMEM. */
static int line_file_text(struct line_cache_file *f, struct intern *texts, uint32_t text,
                          uint32_t *ret)
{
	if (text >= f->n_texts || f->offsets[text] >= f->n_strings)
		return -EBADMSG;
	if (!f->ids[text])
		f->ids[text] = intern_text(texts, f->strings + f->offsets[text]);
	*ret = f->ids[text];
	if (*ret != INTERN_FAILED)
		return 0;
	f->ids[text] = 0;
	return -ENOMEM;
}

/* Takes an answer of the file over. -EBADMSG: it is not sound, and none. -ENOMEM. */
static int line_file_take(struct line_cache *a, struct intern *texts,
                          const struct line_cache_entry *e)
{
	struct line_cache_file *f = a->file;
	struct line_cache_frame frame;
	int r = 0;

	if (e->first > f->n_frames || e->n > f->n_frames - e->first)
		return -EBADMSG;
	buf_clear(&f->frames_of);
	for (uint32_t i = 0; i < e->n && r >= 0; i++) {
		const struct line_cache_frame *from = &f->frames[e->first + i];

		frame.line = from->line;
		r = line_file_text(f, texts, from->function, &frame.function);
		if (r >= 0)
			r = line_file_text(f, texts, from->file, &frame.file);
		if (r >= 0)
			r = buf_put(&f->frames_of, &frame, sizeof(frame));
	}
	return r < 0 ? r : line_cache_put(a, e->vaddr, (const void *)f->frames_of.bytes, e->n);
}

/* What is known of an address, or NULL: it was not asked yet. An entry without frames says that
 * there is no line. It is valid until the next call. */
const struct line_cache_entry *line_cache_find(struct line_cache *a, struct intern *texts,
                                               uint64_t vaddr)
{
	const struct line_cache_entry *e;
	uint64_t i;

	if (map_get(&a->index, vaddr, &i))
		return line_cache_at(a, i);
	e = a->file ? bsearch(&(struct line_cache_entry){ .vaddr = vaddr }, a->file->entries,
	                      a->file->n_entries, sizeof(*e), line_entry_order)
	            : NULL;
	return e && line_file_take(a, texts, e) >= 0 && map_get(&a->index, vaddr, &i)
	               ? line_cache_at(a, i)
	               : NULL;
}

int line_cache_close(struct line_cache *a, struct intern *texts)
{
	int r = 0;

	for (uint32_t i = 0; a->file && i < a->file->n_entries && r != -ENOMEM; i++)
		if (!map_get(&a->index, a->file->entries[i].vaddr, NULL))
			r = line_file_take(a, texts, &a->file->entries[i]);
	line_cache_file_free(a->file);
	a->file = NULL;
	return r == -ENOMEM ? r : 0;
}

/* ---- to bytes ---- */

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
int line_cache_encode(struct line_cache *a, struct intern *texts, struct buf *ret)
{
	struct encoding e = { .texts = texts };
	int r = line_cache_close(a, texts);
	size_t n = line_cache_count(a);
	struct line_cache_entry *sorted = r < 0 ? NULL : malloc((n + 1) * sizeof(*sorted));

	r = -ENOMEM;
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

static int line_file_header(struct cursor *c, struct line_cache_file *ret)
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
static int line_file_parts(struct cursor *c, struct line_cache_file *f)
{
	const void *entries = cursor_array(c, f->n_entries, sizeof(*f->entries));
	const void *frames = cursor_array(c, f->n_frames, sizeof(*f->frames));
	const void *offsets = cursor_array(c, f->n_texts, sizeof(*f->offsets));
	const unsigned char *strings = cursor_bytes(c, f->n_strings);

	if (c->failed || cursor_left(c) || !f->n_strings || strings[f->n_strings - 1] ||
	    (uintptr_t)entries % _Alignof(struct line_cache_entry))
		return -EBADMSG;
	f->entries = entries;
	f->frames = frames;
	f->offsets = offsets;
	f->strings = (const char *)strings;
	return 0;
}

/* The checksum is compared first. The entries' order is that of line_cache_encode: of others some
 * would not be found. */
int line_cache_open(struct line_cache *a, struct intern *texts, const void *bytes, size_t n)
{
	struct cursor c = cursor_of(bytes, n, false);
	struct line_cache_file f = { 0 }, *kept;
	int r = line_file_header(&c, &f);

	if (r >= 0)
		r = line_file_parts(&c, &f);
	if (r >= 0)
		r = line_cache_close(a, texts);
	if (r < 0)
		return r;
	kept = malloc(sizeof(*kept));
	f.ids = calloc((size_t)f.n_texts + 1, sizeof(*f.ids));
	if (!kept || !f.ids) {
		free(kept);
		free(f.ids);
		return -ENOMEM;
	}
	*kept = f;
	a->file = kept;
	return 0;
}
