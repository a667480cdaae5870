// SPDX-License-Identifier: MIT
// record_at.c: see record_at.h. Knows a record's header, and nothing behind it.
#include "abi/record_at.h"

#include <string.h>

#define HEADER 8u /* u32 type, u16 misc, u16 size of it all */

bool record_at(const void *p, size_t n, struct seam_record *ret)
{
	const unsigned char *bytes = p;
	uint16_t size;

	/* Without a whole header not even the size can be believed. */
	if (n < HEADER)
		return false;
	memcpy(&size, bytes + 6, 2);
	if (size < HEADER || size > n)
		return false;
	*ret = (struct seam_record){ .size = size, .bytes = bytes };
	memcpy(&ret->type, bytes, 4);
	memcpy(&ret->misc, bytes + 4, 2);
	return true;
}
