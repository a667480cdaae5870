// SPDX-License-Identifier: MIT
// array.c: see array.h.
#include "base/array.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/pages.h"

#define FIRST_BYTES 1024u /* of a new array, but at least FIRST elements */
#define FIRST 8u

/* Twice as many, or as many as are wanted, and never more than an object may have (PTRDIFF_MAX). */
static size_t array_larger(size_t capacity, size_t wanted, size_t size)
{
	size_t most = PTRDIFF_MAX / size, larger = capacity > most / 2 ? most : capacity * 2;

	if (!capacity)
		larger = FIRST_BYTES / size > FIRST ? FIRST_BYTES / size : FIRST;
	return larger > most ? most : larger > wanted ? larger : wanted;
}

/* The pointer is copied in and out, because its type is the caller's. */
int array_grow(void *at, size_t *capacity, size_t wanted, size_t size)
{
	size_t larger;
	void *elements;

	if (wanted <= *capacity)
		return 0;
	if (wanted > PTRDIFF_MAX / size)
		return -ENOMEM;
	larger = array_larger(*capacity, wanted, size);
	memcpy(&elements, at, sizeof(elements));
	elements = pages_grown(elements, *capacity * size, larger * size);
	if (!elements)
		return -ENOMEM;
	memcpy(at, &elements, sizeof(elements));
	*capacity = larger;
	return 0;
}

/* Memory that the system gives is 0 already: what is never touched takes none. */
static int array_new_zeroed(void *at, size_t *capacity, size_t wanted, size_t size)
{
	size_t larger;
	void *elements;

	if (!wanted)
		return 0;
	if (wanted > PTRDIFF_MAX / size)
		return -ENOMEM;
	larger = array_larger(0, wanted, size);
	elements = pages_zeroed(larger, size);
	if (!elements)
		return -ENOMEM;
	memcpy(at, &elements, sizeof(elements));
	*capacity = larger;
	return 0;
}

/* New elements are 0, as calloc would give them. */
int array_grow_zeroed(void *at, size_t *capacity, size_t wanted, size_t size)
{
	size_t before = *capacity;
	unsigned char *elements;
	int r;

	if (!before)
		return array_new_zeroed(at, capacity, wanted, size);
	r = array_grow(at, capacity, wanted, size);
	if (r < 0)
		return r;
	memcpy(&elements, at, sizeof(elements));
	if (*capacity > before)
		memset(elements + before * size, 0, (*capacity - before) * size);
	return 0;
}
