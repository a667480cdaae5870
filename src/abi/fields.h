/* SPDX-License-Identifier: MIT */
/*
 * fields.h: walks the field lists of records.def: "pid:i4 tid:i4 entries:n8{id:u8 cpu:i8} name:s".
 *
 *	u x i and a width    an integer, meant as unsigned, hexadecimal, signed; 1, 2, 4 or 8 bytes
 *	s                    a string up to its NUL; the record's padding follows
 *	s and a width        a field of that many bytes with a string in it
 *	h and a width        that many bytes
 *	h                    all bytes that are left
 *	*u8 ...              integers as long as there are any
 *	n8{...}              a u64 count, then that many times the fields in braces
 *	a                    a perf_event_attr
 */
#ifndef SEAM_ABI_FIELDS_H
#define SEAM_ABI_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct field {
	const char *name; /* not NUL-terminated */
	size_t name_n;
	char kind;         /* one of u x i s h n a */
	bool repeated;     /* "*" */
	unsigned width;    /* bytes; 0: to the NUL (s), to the end (h) */
	const char *group; /* of n: what stands between the braces, "" ends there with '}' */
};

/* The next field, *at moved behind it; false at the end of the list or of its group. */
bool fields_next(const char **at, struct field *ret);
/* The list of a record type; "" when it has none or is not known. */
const char *fields_of(uint32_t type);

#endif
