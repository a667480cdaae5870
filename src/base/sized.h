/* SPDX-License-Identifier: MIT */
/*
 * sized.h: structs that programs give to the library, or get from it. Their first member is the
 * size that the caller knows of them, because the two may have been compiled with different
 * versions of a header. A field that only one side knows is zero for the other. An option that is
 * set and not known here is refused, because it cannot be honoured.
 */
#ifndef SEAM_BASE_SIZED_H
#define SEAM_BASE_SIZED_H

#include <errno.h>
#include <stddef.h>
#include <string.h>

/*
 * Takes options: copies what both sides know of `from` into ret, which has n bytes, and zeroes the
 * rest. from may be NULL: nothing is set. -EINVAL: from's size is less than that of the size
 * itself. -E2BIG: a byte behind the n that are known is set.
 */
static inline int sized_take(void *ret, size_t n, const void *from)
{
	const unsigned char *bytes = from;
	size_t sz;

	memset(ret, 0, n);
	if (!from)
		return 0;
	memcpy(&sz, from, sizeof(sz));
	if (sz < sizeof(sz))
		return -EINVAL;
	for (size_t i = n; i < sz; i++)
		if (bytes[i])
			return -E2BIG;
	memcpy(ret, from, sz < n ? sz : n);
	return 0;
}

/*
 * Gives an answer: copies what both sides know of `from`, which has n bytes, into ret, and zeroes
 * what only the caller knows. ret's size stays. -EINVAL: it is less than that of the size itself.
 */
static inline int sized_give(void *ret, const void *from, size_t n)
{
	unsigned char *bytes = ret;
	size_t sz;

	memcpy(&sz, ret, sizeof(sz));
	if (sz < sizeof(sz))
		return -EINVAL;
	if (sz > n)
		memset(bytes + n, 0, sz - n);
	memcpy(bytes + sizeof(sz), (const unsigned char *)from + sizeof(sz),
	       (sz < n ? sz : n) - sizeof(sz));
	return 0;
}

#endif
