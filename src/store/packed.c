// SPDX-License-Identifier: MIT
/*
 * packed.c: see packed.h. A window has an epoch of its own (blocks.h): first its lists, then what
 * refers to them:
 *
 *	"seamwin1", four blocks (bytes, things, packed bytes), one more for the rest:
 *	instance, from, to; counts (name, value); series (bytes, labels);
 *	rows (event, unit, series, state, node, samples, weight)
 */
#include "store/packed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/leb.h"
#include "store/stacks/dictionary.h"
#include "store/found.h"
#include "store/stacks/lookup.h"

static const char packed_magic[] = "seamwin1";

/* ---- writing ---- */

static void packed_put_text(struct buf *to, const char *text)
{
	size_t n = strnlen(text, BLOCKS_STRING_MAX);

	blocks_put_number(to, n);
	buf_put(to, text, n);
}

/* -ENOMEM. */
static int packed_put_rows(struct buf *to, const struct store_window *w, struct dictionary *d,
                           const struct dictionary_map *map)
{
	const struct profile *p = w->profile;

	blocks_put_number(to, profile_n_rows(p));
	for (size_t i = 0; i < profile_n_rows(p); i++) {
		const struct profile_row *row = profile_row_at(p, i);
		uint32_t event = dictionary_string(d, profile_event_name(p, row->key.event));
		uint32_t state = dictionary_string(d, profile_state_at(p, row->key.state)->name);

		if (event == DICTIONARY_FAILED || state == DICTIONARY_FAILED)
			return -ENOMEM;
		blocks_put_number(to, event);
		blocks_put_number(to, profile_event_unit(p, row->key.event));
		blocks_put_number(to, w->row_series ? w->row_series[i] : 0);
		blocks_put_number(to, state);
		blocks_put_number(to, map->nodes[row->key.node]);
		blocks_put_number(to, row->samples);
		blocks_put_number(to, row->weight);
	}
	return 0;
}

/* What is no list. -ENOMEM. */
static int packed_put_rest(struct buf *to, const struct store_window *w, struct dictionary *d,
                           const struct dictionary_map *map)
{
	packed_put_text(to, w->instance);
	blocks_put_number(to, w->from_ns);
	blocks_put_number(to, w->to_ns);
	blocks_put_number(to, w->n_counts);
	for (size_t i = 0; i < w->n_counts; i++) {
		packed_put_text(to, w->counts[i].name);
		blocks_put_number(to, w->counts[i].value);
	}
	blocks_put_number(to, w->n_series);
	for (size_t i = 0; i < w->n_series; i++) {
		blocks_put_number(to, w->series[i].bytes.n);
		buf_put(to, w->series[i].bytes.bytes, w->series[i].bytes.n);
	}
	return packed_put_rows(to, w, d, map);
}

/* One list, or the rest. -ENOMEM. */
static int packed_put_block(struct buf *to, struct buf *plain, uint32_t n)
{
	struct buf packed = { 0 };
	int r = blocks_pack(&packed, plain, BLOCKS_QUICK);

	if (r >= 0) {
		blocks_put_number(to, packed.n);
		blocks_put_number(to, n);
		r = buf_put(to, packed.bytes, packed.n);
	}
	buf_free(&packed);
	buf_free(plain);
	return r;
}

/* The rest is made before the lists are, because it brings strings. */
int packed_write(struct buf *to, const struct store_window *w)
{
	struct dictionary d;
	struct dictionary_map map = { 0 };
	struct buf plain = { 0 }, rest = { 0 };
	uint32_t first, n;
	int r;

	dictionary_start(&d);
	r = dictionary_map_start(&map, w->profile);
	if (r >= 0)
		r = dictionary_add(&d, &map);
	if (r >= 0)
		r = packed_put_rest(&rest, w, &d, &map);
	if (r >= 0)
		r = buf_put(to, packed_magic, sizeof(packed_magic) - 1);
	for (int kind = 0; kind < BLOCKS_KINDS && r >= 0; kind++) {
		r = dictionary_block(&d, kind, &first, &n, &plain);
		if (r >= 0)
			r = packed_put_block(to, &plain, r ? n : 0);
	}
	if (r >= 0)
		r = packed_put_block(to, &rest, 0);
	buf_free(&rest);
	buf_free(&plain);
	dictionary_map_free(&map);
	dictionary_free(&d);
	return r;
}

/* ---- reading ---- */

struct packed_reading {
	struct packed_window *to;
	struct packed_list {
		const unsigned char *bytes;
		size_t size;
		uint32_t n;
	} lists[BLOCKS_KINDS];
	struct lookup lookup;
	struct lookup_stacks stacks;
};

/* A lookup_fetch: a list is one block. */
static int packed_fetch(void *ctx, enum blocks_kind kind, uint32_t id, uint32_t *first, uint32_t *n,
                        const void **bytes, size_t *size)
{
	const struct packed_list *l = &((struct packed_reading *)ctx)->lists[kind];

	(void)id;
	*first = 1;
	*n = l->n;
	*bytes = l->bytes;
	*size = l->size;
	return l->n ? 0 : -ENOENT;
}

/* Where a text is put in p->text, plus 1, as that may move. 0: the cursor failed. */
static size_t packed_take_text(struct packed_window *p, struct cursor *c)
{
	uint64_t n = leb_unsigned(c);
	const unsigned char *bytes = cursor_bytes(c, n);
	size_t at = p->text.n;

	if (!bytes || memchr(bytes, 0, n)) {
		cursor_fail(c);
		return 0;
	}
	buf_put(&p->text, bytes, n);
	buf_put(&p->text, "", 1);
	return at + 1;
}

/* A number of things of which each has at least so many bytes. */
static size_t packed_take_number(struct cursor *c, size_t each)
{
	uint64_t n = leb_unsigned(c);

	if (n > cursor_left(c) / each) {
		cursor_fail(c);
		return 0;
	}
	return (size_t)n;
}

/* -EBADMSG, -ENOMEM. */
static int packed_take_counts(struct packed_window *p, struct cursor *c, size_t more)
{
	size_t n = packed_take_number(c, 2), *names = calloc(n + 1, sizeof(*names));

	p->counts = calloc(n + more + 1, sizeof(*p->counts));
	if (!names || !p->counts) {
		free(names);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++) {
		names[i] = packed_take_text(p, c);
		p->counts[i].value = leb_unsigned(c);
	}
	for (size_t i = 0; i < n && !c->failed && !p->text.failed; i++)
		p->counts[i].name = (const char *)p->text.bytes + names[i] - 1;
	free(names);
	p->w.n_counts = n;
	p->w.counts = p->counts;
	return p->text.failed ? -ENOMEM : c->failed ? -EBADMSG : 0;
}

/* -EBADMSG, -ENOMEM. */
static int packed_take_series(struct packed_window *p, struct cursor *c)
{
	size_t n = packed_take_number(c, 1);
	int r = 0;

	p->series = calloc(n + 1, sizeof(*p->series));
	if (!p->series)
		return -ENOMEM;
	p->w.series = p->series;
	for (; p->w.n_series < n && r >= 0; p->w.n_series++) {
		uint64_t size = leb_unsigned(c);
		const unsigned char *bytes = cursor_bytes(c, size);

		r = bytes ? labels_take(&p->series[p->w.n_series], bytes, size) : -EBADMSG;
	}
	return r;
}

/* A row: its series stands in the place of its slice of time, so that rows of two series stay
 * two. */
struct packed_row {
	uint32_t event, unit, series, state, node;
	uint64_t samples, weight;
};

static int packed_take_row(struct packed_reading *r, struct cursor *c, struct packed_row *ret)
{
	uint64_t event = leb_unsigned(c), unit = leb_unsigned(c), series = leb_unsigned(c);
	uint64_t state = leb_unsigned(c), node = leb_unsigned(c);

	ret->samples = leb_unsigned(c);
	ret->weight = leb_unsigned(c);
	if (c->failed || event >= BLOCKS_THINGS_MAX || unit > PROFILE_NANOSECONDS ||
	    series >= r->to->w.n_series || state >= BLOCKS_THINGS_MAX || node >= BLOCKS_THINGS_MAX)
		return -EBADMSG;
	ret->event = (uint32_t)event;
	ret->unit = (uint32_t)unit;
	ret->series = (uint32_t)series;
	ret->state = (uint32_t)state;
	ret->node = (uint32_t)node;
	return 0;
}

/* Tells what rows need. */
static int packed_need_rows(struct packed_reading *r, struct cursor c, size_t n)
{
	struct packed_row row;
	int rc = 0;

	for (size_t i = 0; i < n && rc >= 0; i++) {
		rc = packed_take_row(r, &c, &row);
		if (rc >= 0)
			rc = lookup_need(&r->lookup, BLOCKS_STRINGS, row.event);
		if (rc >= 0)
			rc = lookup_need(&r->lookup, BLOCKS_STRINGS, row.state);
		if (rc >= 0)
			rc = lookup_stacks_need(&r->stacks, row.node);
	}
	return rc;
}

/* Adds a row to the profile. */
static int packed_add_row(struct packed_reading *r, const struct packed_row *row)
{
	struct profile *p = r->to->profile;
	const char *comm = labels_get(&r->to->series[row->series], "comm");
	uint32_t text = profile_string(p, comm ? comm : "");
	struct profile_key key = { .cpu = PROFILE_NOT_KEPT,
		                   .slice = row->series,
		                   .cgroup = PROFILE_NOT_KEPT,
		                   .label = PROFILE_NOT_KEPT };

	key.event = profile_event_in(p, lookup_text(&r->lookup, row->event), row->unit);
	key.state = found_state(p, lookup_text(&r->lookup, row->state));
	key.task = text == PROFILE_FAILED ? text : profile_task(p, text, 0, 0);
	key.node = lookup_node(&r->stacks, row->node);
	if (key.event == PROFILE_FAILED || key.state == PROFILE_FAILED ||
	    key.task == PROFILE_FAILED)
		return -ENOMEM;
	return profile_add(p, &key, row->samples, row->weight);
}

/* Makes the profile of the rows, and notes the series of each. */
static int packed_take_rows(struct packed_reading *r, struct cursor *c)
{
	size_t n = packed_take_number(c, 7);
	struct packed_window *to = r->to;
	struct packed_row row;
	int rc = profile_new(&to->profile, PROFILE_KEEP_SLICE);

	if (rc >= 0)
		rc = packed_need_rows(r, *c, n);
	if (rc >= 0)
		rc = lookup_stacks_load(&r->lookup, &r->stacks);
	if (rc >= 0)
		rc = lookup_load(&r->lookup);
	if (rc >= 0)
		rc = lookup_make(&r->lookup, &r->stacks, to->profile);
	for (size_t i = 0; i < n && rc >= 0; i++) {
		rc = packed_take_row(r, c, &row);
		if (rc >= 0)
			rc = packed_add_row(r, &row);
	}
	if (rc < 0)
		return rc;
	to->row_series = calloc(profile_n_rows(to->profile) + 1, sizeof(*to->row_series));
	if (!to->row_series)
		return -ENOMEM;
	for (size_t i = 0; i < profile_n_rows(to->profile); i++)
		to->row_series[i] = profile_row_at(to->profile, i)->key.slice;
	to->w.row_series = to->row_series;
	to->w.profile = to->profile;
	return 0;
}

/* Reads what is no list. */
static int packed_take_rest(struct packed_reading *r, const struct buf *rest, size_t more)
{
	struct cursor c = cursor_of(rest->bytes, rest->n, false);
	struct packed_window *to = r->to;
	int rc;

	/* The instance's text begins at 0: it is pointed to when the text moves no more. */
	packed_take_text(to, &c);
	to->w.from_ns = leb_unsigned(&c);
	to->w.to_ns = leb_unsigned(&c);
	if (c.failed)
		return -EBADMSG;
	rc = packed_take_counts(to, &c, more);
	to->w.instance = (const char *)to->text.bytes;
	if (rc >= 0)
		rc = packed_take_series(to, &c);
	return rc < 0 ? rc : packed_take_rows(r, &c);
}

/* Finds the blocks, then reads the last one. */
int packed_read(struct packed_window *ret, const void *bytes, size_t n, size_t more)
{
	struct packed_reading r = { .to = ret };
	struct cursor c = cursor_of(bytes, n, false);
	const unsigned char *magic = cursor_bytes(&c, sizeof(packed_magic) - 1);
	struct buf rest = { 0 };
	struct packed_list last = { 0 };
	int rc;

	*ret = (struct packed_window){ 0 };
	lookup_start(&r.lookup, packed_fetch, &r);
	for (int kind = 0; kind <= BLOCKS_KINDS; kind++) {
		struct packed_list *l = kind < BLOCKS_KINDS ? &r.lists[kind] : &last;
		uint64_t things;

		l->size = (size_t)leb_unsigned(&c);
		things = leb_unsigned(&c);
		l->bytes = cursor_bytes(&c, l->size);
		l->n = things < BLOCKS_THINGS_MAX ? (uint32_t)things : 0;
	}
	if (c.failed || memcmp(magic, packed_magic, sizeof(packed_magic) - 1) != 0)
		return -EBADMSG;
	rc = blocks_unpack(&rest, last.bytes, last.size);
	if (rc >= 0)
		rc = packed_take_rest(&r, &rest, more);
	lookup_free(&r.lookup);
	lookup_stacks_free(&r.stacks);
	buf_free(&rest);
	return rc;
}

void packed_free(struct packed_window *p)
{
	for (size_t i = 0; p->series && i < p->w.n_series; i++)
		labels_free(&p->series[i]);
	free(p->series);
	free(p->counts);
	free(p->row_series);
	profile_free(p->profile);
	buf_free(&p->text);
	*p = (struct packed_window){ 0 };
}
