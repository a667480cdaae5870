// SPDX-License-Identifier: MIT
/* pprof_way.c: see pprof_way.h. When the room is full, the bytes move to the end of a larger
 * one. */
#include "export/pprof_way.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "export/proto.h"

void pprof_way_free(struct pprof_way *w)
{
	free(w->steps);
	free(w->bytes);
	*w = (struct pprof_way){ 0 };
}

bool pprof_way_meets(struct pprof_way *w, uint32_t node)
{
	while (w->n && w->steps[w->n - 1].node > node)
		w->n--;
	return w->n && w->steps[w->n - 1].node == node;
}

static size_t pprof_way_size(const struct pprof_way *w)
{
	return w->n ? w->steps[w->n - 1].size : 0;
}

/* Room for one number more in front of `used` bytes. -ENOMEM. */
static int pprof_way_room(struct pprof_way *w, size_t used)
{
	const size_t before = w->capacity;
	int r = ARRAY_ROOM(&w->bytes, &w->capacity, used + PROTO_VARINT_MOST);

	if (r >= 0 && w->capacity != before)
		memmove(w->bytes + w->capacity - used, w->bytes + before - used, used);
	return r < 0 ? r : ARRAY_ROOM(&w->steps, &w->steps_capacity, w->n + 1);
}

int pprof_way_put(struct pprof_way *w, uint32_t node, uint32_t location)
{
	const size_t used = pprof_way_size(w);
	unsigned char number[PROTO_VARINT_MOST];
	const size_t n = proto_put_varint(number, location);
	int r = pprof_way_room(w, used);

	if (r < 0)
		return r;
	memcpy(w->bytes + w->capacity - used - n, number, n);
	w->steps[w->n++] = (struct pprof_step){ .node = node, .size = used + n };
	return 0;
}

const unsigned char *pprof_way_bytes(const struct pprof_way *w, size_t *n)
{
	*n = pprof_way_size(w);
	return w->bytes + w->capacity - *n;
}
