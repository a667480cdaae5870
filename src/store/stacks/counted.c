// SPDX-License-Identifier: MIT
// counted.c: see counted.h. Columns, because zstd finds more in numbers of one kind: of a simulated
// day's windows of a minute they take three quarters of what the counts one by one do.
#include "store/stacks/counted.h"

#include <errno.h>
#include <stdlib.h>

#include "base/leb.h"

/* ---- writing ---- */

/* By series, then by event. */
static int counted_group_order(const void *pa, const void *pb)
{
	const struct counted_group *a = pa, *b = pb;

	if (a->series != b->series)
		return a->series < b->series ? -1 : 1;
	return (a->event > b->event) - (a->event < b->event);
}

/* By state, then by node: nodes of one state then differ by little. */
static int counted_order(const void *pa, const void *pb)
{
	const struct blocks_count *a = pa, *b = pb;

	if (a->state != b->state)
		return a->state < b->state ? -1 : 1;
	return (a->node > b->node) - (a->node < b->node);
}

/* The weight of each sample, if it is the same for n counts; else 0. */
static uint64_t counted_weight(const struct blocks_count *counts, size_t n)
{
	uint64_t weight = counts[0].samples ? counts[0].weight / counts[0].samples : 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t product;

		if (__builtin_mul_overflow(weight, counts[i].samples, &product) ||
		    product != counts[i].weight)
			return 0;
	}
	return weight;
}

/* The columns: what counts are of, their nodes, their samples. */
struct counted_columns {
	struct buf heads, nodes, samples;
};

/* Appends counts of one state. */
static void counted_put_state(struct counted_columns *to, const struct blocks_count *counts,
                              size_t n)
{
	const uint64_t weight = counted_weight(counts, n);
	uint32_t node = 0;

	blocks_put_number(&to->heads, counts[0].state);
	blocks_put_number(&to->heads, weight);
	blocks_put_number(&to->heads, n);
	for (size_t i = 0; i < n; i++) {
		/* Nodes ascend, so the distance is not negative. */
		blocks_put_number(&to->nodes, counts[i].node - node);
		blocks_put_number(&to->samples, counts[i].samples);
		if (!weight)
			blocks_put_number(&to->samples, counts[i].weight);
		node = counts[i].node;
	}
}

/* How many counts there are of the first one's state. */
static size_t counted_same_state(const struct blocks_count *counts, size_t n)
{
	size_t same = 1;

	while (same < n && counts[same].state == counts[0].state)
		same++;
	return same;
}

/* Sorts the counts of a group and appends them. */
static void counted_put_group(struct counted_columns *to, const struct counted_group *g)
{
	uint64_t samples = 0, states = 0;

	if (g->n)
		qsort(g->counts, g->n, sizeof(*g->counts), counted_order);
	for (size_t i = 0; i < g->n; i++)
		samples += g->counts[i].samples;
	for (size_t i = 0; i < g->n; states++)
		i += counted_same_state(g->counts + i, g->n - i);
	blocks_put_number(&to->heads, g->series);
	blocks_put_number(&to->heads, g->event);
	blocks_put_number(&to->heads, samples);
	blocks_put_number(&to->heads, states);
	for (size_t i = 0, n; i < g->n; i += n) {
		n = counted_same_state(g->counts + i, g->n - i);
		counted_put_state(to, g->counts + i, n);
	}
}

/* The order of groups is that of their numbers, so that bytes do not hang on how rows came. */
int counted_put(struct buf *packed, struct counted_group *groups, size_t n, enum blocks_level level)
{
	struct counted_columns columns = { 0 };
	struct buf plain = { 0 };
	int r;

	if (n)
		qsort(groups, n, sizeof(*groups), counted_group_order);
	for (size_t i = 0; i < n; i++)
		counted_put_group(&columns, &groups[i]);
	blocks_put_number(&plain, columns.heads.n);
	blocks_put_number(&plain, columns.nodes.n);
	buf_put(&plain, columns.heads.bytes, columns.heads.n);
	buf_put(&plain, columns.nodes.bytes, columns.nodes.n);
	buf_put(&plain, columns.samples.bytes, columns.samples.n);
	r = columns.heads.failed || columns.nodes.failed || columns.samples.failed
	            ? -ENOMEM
	            : blocks_pack(packed, &plain, level);
	buf_free(&columns.heads);
	buf_free(&columns.nodes);
	buf_free(&columns.samples);
	buf_free(&plain);
	return r;
}

/* ---- reading ---- */

struct counted_cursors {
	struct cursor heads, nodes, samples;
};

/* Finds the columns. -EBADMSG. */
static int counted_columns(struct counted_cursors *ret, const struct buf *plain)
{
	struct cursor c = cursor_of(plain->bytes, plain->n, false);
	const uint64_t heads = leb_unsigned(&c), nodes = leb_unsigned(&c);
	const unsigned char *at = cursor_bytes(&c, heads);

	ret->heads = cursor_of(at, c.failed ? 0 : heads, false);
	at = cursor_bytes(&c, nodes);
	ret->nodes = cursor_of(at, c.failed ? 0 : nodes, false);
	ret->samples = cursor_of(c.at, cursor_left(&c), false);
	return c.failed ? -EBADMSG : 0;
}

/* Reads the counts of one state; to: NULL: they are passed over. -EBADMSG, or what each returned.
 */
static int counted_state(struct counted_cursors *c, const struct counted_reader *to)
{
	const uint64_t state = leb_unsigned(&c->heads), weight = leb_unsigned(&c->heads);
	uint64_t node = 0;
	int r = state < BLOCKS_THINGS_MAX ? 0 : -EBADMSG;

	for (uint64_t left = leb_unsigned(&c->heads); left && r >= 0; left--) {
		struct blocks_count count = { .state = (uint32_t)state };

		node += leb_unsigned(&c->nodes);
		count.samples = leb_unsigned(&c->samples);
		if (!weight)
			count.weight = leb_unsigned(&c->samples);
		else if (__builtin_mul_overflow(count.samples, weight, &count.weight))
			return -EBADMSG;
		if (c->nodes.failed || c->samples.failed || node >= BLOCKS_THINGS_MAX)
			return -EBADMSG;
		count.node = (uint32_t)node;
		if (to)
			r = to->each(to->ctx, &count);
	}
	return r;
}

/* Reads a group. -EBADMSG, or what the reader returned. */
static int counted_group(struct counted_cursors *c, const struct counted_reader *to)
{
	struct counted_head head;
	uint64_t states;
	int r, wanted;

	head.series = leb_unsigned(&c->heads);
	head.event = leb_unsigned(&c->heads);
	head.samples = leb_unsigned(&c->heads);
	states = leb_unsigned(&c->heads);
	if (c->heads.failed)
		return -EBADMSG;
	r = wanted = to->group(to->ctx, &head);
	for (; states && r >= 0 && !c->heads.failed; states--)
		r = counted_state(c, wanted ? to : NULL);
	return r < 0 ? r : c->heads.failed ? -EBADMSG : 0;
}

/* The reverse of counted_put: each group, and the counts of those that are wanted. */
int counted_each(const void *bytes, size_t n, const struct counted_reader *to)
{
	struct counted_cursors c;
	struct buf plain = { 0 };
	int r = blocks_unpack(&plain, bytes, n);

	if (r >= 0)
		r = counted_columns(&c, &plain);
	while (r >= 0 && cursor_left(&c.heads))
		r = counted_group(&c, to);
	/* Each count is some group's. */
	if (r >= 0 && (cursor_left(&c.nodes) || cursor_left(&c.samples)))
		r = -EBADMSG;
	buf_free(&plain);
	return r < 0 ? r : 0;
}
