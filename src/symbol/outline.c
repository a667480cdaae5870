// SPDX-License-Identifier: MIT
// outline.c: see outline.h.
#include "symbol/outline.h"

#include <errno.h>
#include <stdlib.h>

#include "image/image.h"

static struct outline_span *outline_spans(const struct outline *o)
{
	return (struct outline_span *)(void *)o->spans.bytes;
}

static size_t outline_count(const struct outline *o)
{
	return o->spans.n / sizeof(struct outline_span);
}

int outline_put(void *outline, uint64_t start, uint64_t end)
{
	const struct outline_span span = { start, end };
	struct outline *o = outline;

	return buf_put(&o->spans, &span, sizeof(span));
}

static int outline_order(const void *pa, const void *pb)
{
	const struct outline_span *a = pa, *b = pb;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->end > b->end ? -1 : a->end < b->end;
}

/* One of each start, the longest; each up to the next at most. */
void outline_settle(struct outline *o)
{
	struct outline_span *spans = outline_spans(o);
	size_t n = outline_count(o), kept = 0;

	if (n)
		qsort(spans, n, sizeof(*spans), outline_order);
	for (size_t i = 0; i < n; i++) {
		if (kept && spans[kept - 1].start == spans[i].start)
			continue;
		if (kept && spans[kept - 1].end > spans[i].start)
			spans[kept - 1].end = spans[i].start;
		spans[kept++] = spans[i];
	}
	o->spans.n = kept * sizeof(*spans);
}

int outline_read(struct outline *outline, struct image *image)
{
	int r = image_each_fde(image, outline_put, outline);

	if (r == -ENOMEM)
		return r;
	outline_settle(outline);
	return 0;
}

const struct outline_span *outline_find(const struct outline *outline, uint64_t addr)
{
	const struct outline_span *spans = outline_spans(outline);
	size_t low = 0, high = outline_count(outline);

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (spans[middle].start <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low && addr < spans[low - 1].end ? &spans[low - 1] : NULL;
}

void outline_free(struct outline *outline)
{
	buf_free(&outline->spans);
}
