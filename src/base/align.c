// SPDX-License-Identifier: MIT
/*
 * align.c: see align.h. What begins and ends alike is taken first. What is left is compared as a
 * whole if it is small; else it is parted at elements that both lists have once, in the longest
 * chain of them that goes forward in both.
 */
#include "base/align.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CELLS_MOST (1u << 22) /* of a comparison as a whole: 8 MB of lengths */
#define PARTS_MOST 4u         /* times that a part is parted again */

struct align {
	const uint32_t *a, *b;
	uint32_t *ret;
	/* By value, in the range that is looked at: how often, and where last. */
	uint32_t *in_a, *in_b, *at;
};

struct align_range {
	size_t a, a_end, b, b_end;
};

/* The longest common part: lengths of what begins at each pair of places, from the end. */
static int align_whole(struct align *x, const struct align_range *r)
{
	size_t n = r->a_end - r->a, m = r->b_end - r->b, wide = m + 1;
	uint16_t *length = calloc((n + 1) * wide, sizeof(*length));

	if (!length)
		return -ENOMEM;
	for (size_t i = n; i-- > 0;)
		for (size_t k = m; k-- > 0;) {
			uint16_t down = length[(i + 1) * wide + k],
			         right = length[i * wide + k + 1];

			length[i * wide + k] =
			        x->a[r->a + i] == x->b[r->b + k]
			                ? (uint16_t)(length[(i + 1) * wide + k + 1] + 1)
			        : down > right ? down
			                       : right;
		}
	for (size_t i = 0, k = 0; i < n && k < m;) {
		if (x->a[r->a + i] == x->b[r->b + k]) {
			x->ret[r->a + i++] = (uint32_t)(r->b + k++ + 1);
		} else if (length[(i + 1) * wide + k] >= length[i * wide + k + 1]) {
			i++;
		} else {
			k++;
		}
	}
	free(length);
	return 0;
}

/* Counts the values of a range: what both lists have once has 1 in in_a and in_b. */
static void align_count(struct align *x, const struct align_range *r)
{
	for (size_t i = r->a; i < r->a_end; i++)
		x->in_a[x->a[i]] = x->in_b[x->a[i]] = 0;
	for (size_t k = r->b; k < r->b_end; k++)
		x->in_a[x->b[k]] = x->in_b[x->b[k]] = 0;
	for (size_t i = r->a; i < r->a_end; i++)
		x->in_a[x->a[i]]++;
	for (size_t k = r->b; k < r->b_end; k++) {
		x->in_b[x->b[k]]++;
		x->at[x->b[k]] = (uint32_t)k;
	}
}

/* One end of a chain that goes forward: the place in a, and the element before it. */
struct align_link {
	uint32_t a, b, before;
};

/* The longest chain of anchors, in order of a: tails[l] is the one that ends a chain of l + 1 at
 * the least place of b. Marks it in ret. */
static void align_chain(struct align *x, const struct align_range *r, struct align_link *links,
                        uint32_t *tails)
{
	size_t n = 0, longest = 0;
	uint32_t at;

	for (size_t i = r->a; i < r->a_end; i++) {
		size_t low = 0, high = longest;

		if (x->in_a[x->a[i]] != 1 || x->in_b[x->a[i]] != 1)
			continue;
		links[n] = (struct align_link){ (uint32_t)i, x->at[x->a[i]], UINT32_MAX };
		while (low < high) {
			size_t middle = (low + high) / 2;

			if (links[tails[middle]].b < links[n].b)
				low = middle + 1;
			else
				high = middle;
		}
		if (low)
			links[n].before = tails[low - 1];
		tails[low] = (uint32_t)n++;
		longest = low == longest ? longest + 1 : longest;
	}
	at = longest ? tails[longest - 1] : UINT32_MAX;
	for (; at != UINT32_MAX; at = links[at].before)
		x->ret[links[at].a] = links[at].b + 1;
}

static int align_range(struct align *x, struct align_range r, unsigned parted);

/* Aligns what lies between the anchors of a range. */
static int align_between(struct align *x, const struct align_range *r, unsigned parted)
{
	struct align_range part = { .a = r->a, .b = r->b };
	int e = 0;

	for (size_t i = r->a; i <= r->a_end && e >= 0; i++) {
		/* What is aligned below lies before i: here are anchors only. */
		if (i < r->a_end && !x->ret[i])
			continue;
		part.a_end = i;
		part.b_end = i < r->a_end ? x->ret[i] - 1 : r->b_end;
		e = align_range(x, part, parted + 1);
		part.a = i + 1;
		part.b = part.b_end + 1;
	}
	return e;
}

/* Parts a range at its anchors. Without any it stays as it is. */
static int align_part(struct align *x, const struct align_range *r, unsigned parted)
{
	size_t n = r->a_end - r->a;
	struct align_link *links = calloc(n, sizeof(*links));
	uint32_t *tails = calloc(n, sizeof(*tails));
	int e = links && tails ? 0 : -ENOMEM;

	if (e >= 0) {
		align_count(x, r);
		align_chain(x, r, links, tails);
	}
	free(links);
	free(tails);
	return e < 0 || parted == PARTS_MOST ? e : align_between(x, r, parted);
}

/* Aligns a part of both lists. */
static int align_range(struct align *x, struct align_range r, unsigned parted)
{
	while (r.a < r.a_end && r.b < r.b_end && x->a[r.a] == x->b[r.b])
		x->ret[r.a++] = (uint32_t)++r.b;
	while (r.a < r.a_end && r.b < r.b_end && x->a[r.a_end - 1] == x->b[r.b_end - 1])
		x->ret[--r.a_end] = (uint32_t)r.b_end--;
	if (r.a == r.a_end || r.b == r.b_end)
		return 0;
	/* The lengths are 16 bits wide. */
	if (r.a_end - r.a < UINT16_MAX && r.b_end - r.b < UINT16_MAX &&
	    (r.a_end - r.a + 1) * (r.b_end - r.b + 1) <= CELLS_MOST)
		return align_whole(x, &r);
	return align_part(x, &r, parted);
}

int align_lists(const uint32_t *a, size_t n, const uint32_t *b, size_t m, uint32_t values,
                uint32_t *ret)
{
	struct align x = { .a = a, .b = b, .ret = ret };
	int e = -ENOMEM;

	memset(ret, 0, n * sizeof(*ret));
	x.in_a = calloc((size_t)values + 1, sizeof(*x.in_a));
	x.in_b = calloc((size_t)values + 1, sizeof(*x.in_b));
	x.at = calloc((size_t)values + 1, sizeof(*x.at));
	if (x.in_a && x.in_b && x.at)
		e = align_range(&x, (struct align_range){ 0, n, 0, m }, 0);
	free(x.in_a);
	free(x.in_b);
	free(x.at);
	return e;
}
