// SPDX-License-Identifier: MIT
/* outline.c: see outline.h. An outline is where functions begin and end, by the unwind information
 * (.eh_frame) of a stripped file. It gives a function without a name a place of its own: "[unknown
 * lib.so+0x1234]". */
#include "symbol/outline.h"

#include <errno.h>
#include <stdlib.h>

#include "base/radix.h"
#include "image/image.h"

static struct outline_span *outline_spans(const struct outline *o)
{
	return (struct outline_span *)(void *)o->spans.bytes;
}

static size_t outline_count(const struct outline *o)
{
	return o->spans.n / sizeof(struct outline_span);
}

/* For image_each_fde: one function. -ENOMEM. */
int outline_put(void *outline, uint64_t start, uint64_t end)
{
	const struct outline_span span = { start, end };
	struct outline *o = outline;

	return buf_put(&o->spans, &span, sizeof(span));
}

/* Keeps one span for each start, the longest, and cuts each where the next one begins. Unwind
 * information may describe a function in several parts, and tables of two kinds the same function
 * twice. -ENOMEM. */
int outline_settle(struct outline *o)
{
	size_t n = outline_count(o), kept = 0;
	struct outline_span *spans = outline_spans(o);

	/* They come in the order in which they were linked. */
	if (!radix_sort(spans, n, sizeof(*spans)))
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		struct outline_span *before = kept ? &spans[kept - 1] : NULL;

		if (before && before->start == spans[i].start) {
			before->end = spans[i].end > before->end ? spans[i].end : before->end;
			continue;
		}
		if (before && before->end > spans[i].start)
			before->end = spans[i].start;
		spans[kept++] = spans[i];
	}
	o->spans.n = kept * sizeof(*spans);
	spans = kept ? realloc(spans, o->spans.n) : NULL;
	if (spans) {
		o->spans.bytes = (unsigned char *)spans;
		o->spans.capacity = o->spans.n;
	}
	return 0;
}

/* No object has more. */
#define OUTLINE_SIGNAL_FRAMES 64u

/* Keeps the span, and apart from it those that a signal handler returns to ('S' in the
 * augmentation). */
static int outline_take(void *outline, uint64_t start, uint64_t end, bool is_signal_frame)
{
	const struct outline_span span = { start, end };
	struct outline *o = outline;

	if (is_signal_frame && o->signal_frames.n < OUTLINE_SIGNAL_FRAMES * sizeof(span) &&
	    buf_put(&o->signal_frames, &span, sizeof(span)) < 0)
		return -ENOMEM;
	return outline_put(outline, start, end);
}

/* Whether a frame at this address was put there by a signal. */
bool outline_is_signal_frame(const struct outline *o, uint64_t addr)
{
	const struct outline_span *spans = (const void *)o->signal_frames.bytes;

	for (size_t i = 0; i < o->signal_frames.n / sizeof(*spans); i++)
		if (addr >= spans[i].start && addr < spans[i].end)
			return true;
	return false;
}

/* Reads the whole outline. A damaged part ends it; only -ENOMEM is an error. */
int outline_read(struct outline *outline, struct image *image)
{
	int r = image_each_fde(image, outline_take, outline);

	return r == -ENOMEM ? r : outline_settle(outline);
}

/* The function at an address, or NULL. */
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
	buf_free(&outline->signal_frames);
}
