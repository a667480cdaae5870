/* SPDX-License-Identifier: MIT */
/*
 * array.h: an array that grows. The caller keeps a pointer to its elements, and for how many there
 * is room; both are 0 to start. Room that holds no element yet is not initialised, but for
 * ARRAY_ROOM_ZEROED. Elements may move. The array is freed by free().
 */
#ifndef SEAM_BASE_ARRAY_H
#define SEAM_BASE_ARRAY_H

#include <stddef.h>

/*
 * Makes room for `wanted` elements in all; at is a T **, capacity a size_t *. 0, or -ENOMEM, also
 * for more than an object of C can hold: then the array is as it was. Capacity at least doubles, so
 * that adding n elements one by one moves fewer than 2 n.
 */
#define ARRAY_ROOM(at, capacity, wanted) \
	((wanted) <= *(capacity) ? 0 : array_grow((at), (capacity), (wanted), sizeof(**(at))))

/* The same where elements are found by number, and one that was not set yet is 0. */
#define ARRAY_ROOM_ZEROED(at, capacity, wanted) \
	((wanted) <= *(capacity) ? 0            \
	                         : array_grow_zeroed((at), (capacity), (wanted), sizeof(**(at))))

/* The same for elements of a size that only the caller knows. at: where the pointer is. */
int array_grow(void *at, size_t *capacity, size_t wanted, size_t size);
int array_grow_zeroed(void *at, size_t *capacity, size_t wanted, size_t size);

#endif
