/* SPDX-License-Identifier: MIT */
/*
 * json.h: writes JSON into a buf: commas and escapes are its business, names from files may hold
 * anything. Bytes that are not UTF-8 are written as U+FFFD. Zero-initialise with .out set; nesting
 * at most 64 deep.
 */
#ifndef SEAM_BASE_JSON_H
#define SEAM_BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

struct json {
	struct buf *out;
	unsigned depth;
	uint64_t started; /* bit d: level d holds a value already */
	bool after_key;
};

void json_open(struct json *j, char bracket);  /* '{' or '[' */
void json_close(struct json *j, char bracket); /* '}' or ']' */
void json_key(struct json *j, const char *key);
void json_string(struct json *j, const char *text); /* NULL: null */
void json_bytes(struct json *j, const char *text, size_t n);
void json_u64(struct json *j, uint64_t v);
void json_i64(struct json *j, int64_t v);
void json_double(struct json *j, double v, int decimals);
void json_hex(struct json *j, uint64_t v); /* "0x..." as a string: u64 does not fit a JSON number */
void json_bool(struct json *j, bool v);
void json_null(struct json *j);
/* A value that is JSON already. */
void json_raw(struct json *j, const char *text, size_t n);

#endif
