/* SPDX-License-Identifier: MIT */
/*
 * record_at.h: a run of bytes as records, by their headers, in this machine's byte order. What a
 * record of a foreign file is, the reader says (perfdata/).
 *
 *	for (; record_at(p, n, &record); p += record.size, n -= record.size)
 *		...
 *
 * What is left in n then is no whole record.
 */
#ifndef SEAM_ABI_RECORD_AT_H
#define SEAM_ABI_RECORD_AT_H

#include <stdbool.h>
#include <stddef.h>

#include <seam/record.h>

/* The record at p, of which n bytes may be read; false: it is not whole, or smaller than its
 * header. The bytes stay the caller's. */
bool record_at(const void *p, size_t n, struct seam_record *ret);

#endif
