// SPDX-License-Identifier: MIT
/* firefox_columns.c: how a column of the Firefox Profiler's tables is written. Keys and brackets in
 * the order in which the caller writes them; nothing is kept. */
#include <string.h>

#include "export/firefox.h"

void firefox_open(struct firefox *f, const char *key, char bracket)
{
	json_key(&f->j, key);
	json_open(&f->j, bracket);
}

void firefox_u64(struct firefox *f, const char *key, uint64_t v)
{
	json_key(&f->j, key);
	json_u64(&f->j, v);
}

void firefox_text(struct firefox *f, const char *key, const char *text)
{
	json_key(&f->j, key);
	json_string(&f->j, text);
}

void firefox_flag(struct firefox *f, const char *key, bool v)
{
	json_key(&f->j, key);
	json_bool(&f->j, v);
}

/* A column of n equal values. */
void firefox_same(struct firefox *f, const char *key, size_t n, const char *literal)
{
	firefox_open(f, key, '[');
	for (size_t i = 0; i < n; i++) {
		if (i)
			buf_put(&f->out->buf, ",", 1);
		buf_put_text(&f->out->buf, literal);
	}
	json_close(&f->j, ']');
}

/* A table without rows: the Profiler demands its columns. */
void firefox_empty(struct firefox *f, const char *key, const char *const *columns)
{
	firefox_open(f, key, '{');
	firefox_u64(f, "length", 0);
	for (; *columns; columns++)
		firefox_same(f, *columns, 0, "");
	json_close(&f->j, '}');
}
