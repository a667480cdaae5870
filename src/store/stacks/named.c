// SPDX-License-Identifier: MIT
/*
 * named.c: see named.h. Names are read once for all epochs that have them: of a day some thousand
 * strings and frames, where its stacks have millions of nodes.
 */
#include "store/stacks/named.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/leb.h"

/* What is looked for. */
struct named_search {
	struct named *to;
	size_t capacity; /* of frames */
	const char *name;
	uint32_t string; /* 0: not found yet */
};

static int named_string(struct named_search *s, struct cursor *c, uint32_t id)
{
	const uint64_t n = leb_unsigned(c);
	const unsigned char *bytes = cursor_bytes(c, n);

	if (bytes && n == strlen(s->name) && !memcmp(bytes, s->name, n))
		s->string = id;
	return c->failed ? -EBADMSG : 0;
}

static int named_frame(struct named_search *s, struct cursor *c, uint32_t id)
{
	const uint32_t symbol = lookup_frame(c).symbol;

	if (ARRAY_ROOM_ZEROED(&s->to->frames, &s->capacity, (size_t)id + 1) < 0)
		return -ENOMEM;
	s->to->frames[id] = symbol == s->string;
	s->to->n = id > s->to->n ? id : s->to->n;
	return c->failed ? -EBADMSG : 0;
}

/* Reads the block that holds the thing, or is the last one in front of it. *first: where it
 * begins; 0: there is none. */
static int named_block(struct named_search *s, const struct lookup *l, enum blocks_kind kind,
                       uint32_t id, uint32_t *first)
{
	struct buf plain = { 0 };
	const void *bytes;
	struct cursor c;
	size_t size;
	uint32_t n;
	int r = l->fetch(l->ctx, kind, id, first, &n, &bytes, &size);

	if (r == -ENOENT) {
		*first = 0;
		return 0;
	}
	if (r >= 0 && (!*first || *first > id || n > BLOCKS_THINGS_MAX - *first))
		r = -EBADMSG;
	if (r >= 0)
		r = blocks_unpack(&plain, bytes, size);
	c = cursor_of(plain.bytes, plain.n, false);
	for (uint32_t i = 0; r >= 0 && i < n; i++)
		r = (kind == BLOCKS_STRINGS ? named_string : named_frame)(s, &c, *first + i);
	buf_free(&plain);
	return r;
}

/* All blocks of a list, from the last one down. */
static int named_list(struct named_search *s, const struct lookup *l, enum blocks_kind kind)
{
	int r = 0;

	for (uint32_t first, id = BLOCKS_THINGS_MAX - 1; id && r >= 0; id = first ? first - 1 : 0)
		r = named_block(s, l, kind, id, &first);
	return r;
}

/* A function that no string names has no frames. */
int named_find(struct named *ret, const struct lookup *l, const char *function)
{
	struct named found = { .folded = !strcmp(function, LOOKUP_FOLDED) };
	struct named_search s = { .to = &found, .name = function };
	int r = *function ? named_list(&s, l, BLOCKS_STRINGS) : 0;

	if (r >= 0 && s.string)
		r = named_list(&s, l, BLOCKS_FRAMES);
	for (uint32_t f = found.n; f && r >= 0; f--)
		*(found.frames[f] ? &found.one : &found.other) = f;
	if (r < 0)
		named_free(&found);
	else
		*ret = found;
	return r;
}

void named_free(struct named *f)
{
	free(f->frames);
	*f = (struct named){ 0 };
}

static bool named_is(const struct named *f, uint32_t frame)
{
	if (frame == BLOCKS_FOLDED)
		return f->folded;
	return frame <= f->n && f->frames && f->frames[frame];
}

/* By node: 1 where its own frame is the function's, 2 where one further out is. NULL: out of
 * memory. */
static unsigned char *named_mark(const struct named *f, const struct lookup_stacks *s)
{
	unsigned char *on = calloc((size_t)s->list.highest + 1, 1);

	for (uint32_t id = 1; on && id <= s->list.highest; id++)
		on[id] = named_is(f, s->nodes[id].frame) ? 1 : on[s->nodes[id].parent] ? 2 : 0;
	return on;
}

/* Both nodes are the same in all lists of these names. */
int named_take(const struct named *f, struct lookup *l, struct lookup_stacks *s, struct sums *sums)
{
	const uint32_t n = f->one || f->folded ? 2 : 0;
	struct blocks_node *nodes = calloc(3, sizeof(*nodes));
	unsigned char *on = named_mark(f, s);
	int r = nodes && on ? 0 : -ENOMEM;

	for (size_t i = 0; i < sums->n && r >= 0; i++) {
		struct sums_row *row = &sums->rows[i];

		if (row->node > s->list.highest || (row->node && !s->nodes[row->node].frame))
			r = -EBADMSG;
		else
			row->node = n ? on[row->node] : 0;
	}
	free(on);
	if (r < 0) {
		free(nodes);
		return r;
	}
	nodes[1] = (struct blocks_node){ 0, f->one ? f->one : BLOCKS_FOLDED };
	/* Where the function has all frames there are, only what was folded is below it. */
	nodes[2] = (struct blocks_node){ 1, f->other ? f->other : BLOCKS_FOLDED };
	free(s->nodes);
	s->nodes = nodes;
	s->list.highest = n;
	s->sorted = true;
	sums->sorted = 0;
	r = lookup_need(l, BLOCKS_FRAMES, f->one);
	return r < 0 ? r : lookup_need(l, BLOCKS_FRAMES, f->other);
}
