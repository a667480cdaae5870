// SPDX-License-Identifier: MIT
/*
 * load_kernel.c: see load_kernel.h. A part is kept for the space in which it was walked last:
 * nearly every part is of one (samples/kernel_code.h). Both byte orders of a number have one place.
 */
#include "aggregate/load_kernel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void load_kernels_free(struct load_kernels *k)
{
	free(k->parts);
	free(k->frames);
	*k = (struct load_kernels){ 0 };
}

const struct load_kernel *load_kernels_get(const struct load_kernels *k, uint32_t part,
                                           uint32_t space)
{
	const struct load_kernel *of = part >> 1 < k->capacity ? &k->parts[part >> 1] : NULL;

	return of && part && of->part == part && of->space == space ? of : NULL;
}

/* A part that changes spaces again and again finds its room there. */
int load_kernels_put(struct load_kernels *k, const struct load_kernel *of, const uint32_t *frames)
{
	struct load_kernel *to;
	uint32_t at;

	if (!of->part)
		return 0;
	if (k->n_frames + of->n > UINT32_MAX ||
	    ARRAY_ROOM_ZEROED(&k->parts, &k->capacity, (size_t)(of->part >> 1) + 1) < 0 ||
	    ARRAY_ROOM(&k->frames, &k->frames_capacity, k->n_frames + of->n) < 0)
		return -ENOMEM;
	to = &k->parts[of->part >> 1];
	at = to->part && to->n >= of->n ? to->at : (uint32_t)k->n_frames;
	if (at == k->n_frames)
		k->n_frames += of->n;
	if (of->n)
		memcpy(k->frames + at, frames, of->n * sizeof(*frames));
	*to = *of;
	to->at = at;
	return 0;
}

void load_kernels_forget(struct load_kernels *k)
{
	if (k->capacity)
		memset(k->parts, 0, k->capacity * sizeof(*k->parts));
	k->n_frames = 0;
}
