/* SPDX-License-Identifier: MIT */
/*
 * btf_types.h: the types of a BTF one after the other. Pure: bytes in, nothing is copied. Only
 * btf_*.c include it.
 */
#ifndef SEAM_CAPTURE_BTF_TYPES_H
#define SEAM_CAPTURE_BTF_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cursor.h"

enum btf_kind {
	KIND_INT = 1,
	KIND_PTR,
	KIND_ARRAY,
	KIND_STRUCT,
	KIND_UNION,
	KIND_ENUM,
	KIND_FWD,
	KIND_TYPEDEF,
	KIND_VOLATILE,
	KIND_CONST,
	KIND_RESTRICT,
	KIND_FUNC,
	KIND_FUNC_PROTO,
	KIND_VAR,
	KIND_DATASEC,
	KIND_FLOAT,
	KIND_DECL_TAG,
	KIND_TYPE_TAG,
	KIND_ENUM64,
};

struct btf_entry {
	uint32_t name; /* in the strings */
	uint32_t info;
	uint32_t size;             /* or the type that it refers to, by kind */
	const unsigned char *more; /* what stands behind these three, by kind */
	size_t more_size;
};

struct btf_types {
	struct cursor types;
	const char *strings; /* they end with a 0 */
	uint32_t strings_size;
};

static inline enum btf_kind btf_entry_kind(const struct btf_entry *t)
{
	return t->info >> 24 & 0x1f;
}

static inline uint32_t btf_entry_n(const struct btf_entry *t)
{
	return t->info & 0xffff;
}

/* -EBADMSG: these bytes are no BTF of this byte order. */
int btf_types_of(const void *bytes, size_t size, struct btf_types *ret);

/* The next type; their ids count from 1. False: there is none, or none whose length is known. */
bool btf_types_next(struct btf_types *b, struct btf_entry *ret);

/* A name; "": none. */
const char *btf_types_name(const struct btf_types *b, uint32_t at);

#endif
