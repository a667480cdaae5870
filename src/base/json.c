// SPDX-License-Identifier: MIT
/* json.c: see json.h. Writes one value after the other; commas and quotes are its own. `started`
 * has a bit per depth that says whether a comma is due: 64 levels, more than any output has. */
#include "base/json.h"

#include <math.h>
#include <string.h>

#include "base/digits.h"
#include "base/shown.h"
#include "base/utf8.h"

/* What stands in front of any value. */
static void json_value(struct json *j)
{
	uint64_t bit = 1ULL << (j->depth & 63);

	if (j->after_key)
		j->after_key = false;
	else if (j->started & bit)
		buf_put(j->out, ",", 1);
	j->started |= bit;
}

/* '{' or '['; the caller closes with the same kind. */
void json_open(struct json *j, char bracket)
{
	json_value(j);
	buf_put(j->out, &bracket, 1);
	j->depth++;
	j->started &= ~(1ULL << (j->depth & 63));
}

void json_close(struct json *j, char bracket)
{
	j->depth--;
	buf_put(j->out, &bracket, 1);
}

/* Writes a character as \u escapes. A JSON reader gets the same text; on a terminal the character
 * cannot mislead. */
static void json_escape_character(struct buf *out, uint32_t c)
{
	if (c > 0xffff)
		buf_printf(out, "\\u%04x\\u%04x", 0xd800 + ((c - 0x10000) >> 10),
		           0xdc00 + ((c - 0x10000) & 0x3ff));
	else
		buf_printf(out, "\\u%04x", c);
}

/* Appends text as the inside of a JSON string. Bytes that are no UTF-8 become U+FFFD. Characters
 * that can mislead on a terminal or in HTML are written as \u escapes, which mean the same. */
static void json_escape(struct buf *out, const unsigned char *p, size_t n)
{
	while (n) {
		size_t len = utf8_sequence(p, n);

		if (!len) {
			buf_put_text(out, "\xef\xbf\xbd");
			len = 1;
		} else if (*p == '"' || *p == '\\') {
			buf_put(out, "\\", 1);
			buf_put(out, p, 1);
		} else if (*p == '\n') {
			buf_put_text(out, "\\n");
		} else if (*p == '\t') {
			buf_put_text(out, "\\t");
		} else if (*p < 0x20 || *p == 0x7f ||
		           *p == '<') { /* '<': safe inside <script> too */
			buf_printf(out, "\\u%04x", *p);
		} else if (len > 1 && shown_hides(utf8_character(p, len))) {
			json_escape_character(out, utf8_character(p, len));
		} else {
			buf_put(out, p, len);
		}
		p += len;
		n -= len;
	}
}

void json_bytes(struct json *j, const char *text, size_t n)
{
	json_value(j);
	buf_put(j->out, "\"", 1);
	json_escape(j->out, (const unsigned char *)text, n);
	buf_put(j->out, "\"", 1);
}

void json_string(struct json *j, const char *text)
{
	if (text)
		json_bytes(j, text, strlen(text));
	else
		json_null(j);
}

/* The value must follow. */
void json_key(struct json *j, const char *key)
{
	json_string(j, key);
	buf_put(j->out, ":", 1);
	j->after_key = true;
}

void json_u64(struct json *j, uint64_t v)
{
	json_value(j);
	buf_put_decimal(j->out, v);
}

void json_i64(struct json *j, int64_t v)
{
	json_value(j);
	buf_put_signed(j->out, v);
}

/* JSON has no infinity and no NaN. */
void json_double(struct json *j, double v, int decimals)
{
	if (!isfinite(v)) {
		json_null(j);
		return;
	}
	json_value(j);
	buf_printf(j->out, "%.*f", decimals, v);
}

/* As a string, because a number of 64 bits loses bits in JavaScript. */
void json_hex(struct json *j, uint64_t v)
{
	unsigned n = digits_hex_count(v);
	char *p;

	json_value(j);
	p = buf_reserve(j->out, n + 4);
	if (!p)
		return;
	memcpy(p, "\"0x", 3);
	digits_put_hex(p + 3, n, v);
	p[3 + n] = '"';
	j->out->n += n + 4;
}

void json_bool(struct json *j, bool v)
{
	json_value(j);
	buf_put_text(j->out, v ? "true" : "false");
}

void json_null(struct json *j)
{
	json_value(j);
	buf_put_text(j->out, "null");
}

void json_raw(struct json *j, const char *text, size_t n)
{
	json_value(j);
	buf_put(j->out, text, n);
}
