// SPDX-License-Identifier: MIT
/*
 * context.c: see context.h. Keys and values are anybody's: the text is one of lines whatever they
 * hold, and whoever shows them escapes them.
 */
#include "abi/context.h"

#include <stdlib.h>
#include <string.h>

static void context_put_text(struct buf *set, const char *text, size_t n)
{
	for (size_t i = 0; i < n && text[i]; i++) {
		char c = text[i];

		if (c == '\t' || c == '\n' || c == '\\') {
			buf_put(set, "\\", 1);
			c = c == '\t' ? 't' : c == '\n' ? 'n' : '\\';
		}
		buf_put(set, &c, 1);
	}
}

void context_put(struct buf *set, const struct context_label *label)
{
	context_put_text(set, label->key, label->key_n);
	buf_put(set, "\t", 1);
	context_put_text(set, label->value, label->value_n);
	buf_put(set, "\n", 1);
}

static int context_compare(const void *a, const void *b)
{
	const struct context_label *x = a, *y = b;
	size_t n = x->key_n < y->key_n ? x->key_n : y->key_n;
	int r = memcmp(x->key, y->key, n);

	if (r || x->key_n != y->key_n)
		return r ? r : x->key_n < y->key_n ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

bool context_put_all(struct buf *set, struct context_label *labels, size_t n)
{
	for (size_t i = 0; i < n; i++)
		labels[i].order = i;
	qsort(labels, n, sizeof(*labels), context_compare);
	for (size_t i = 0; i < n; i++) {
		const struct context_label *l = &labels[i];

		if (!l->key_n || (i + 1 < n && labels[i + 1].key_n == l->key_n &&
		                  !memcmp(labels[i + 1].key, l->key, l->key_n)))
			continue;
		if (set->n + 2 * (l->key_n + l->value_n) + 2 > CONTEXT_TEXT_MOST)
			return false;
		context_put(set, l);
	}
	return !set->failed;
}

bool context_next(const char **text, struct context_label *ret)
{
	const char *line = *text, *tab = strchr(line, '\t'), *end = strchr(line, '\n');

	if (!tab || !end || tab > end)
		return false;
	*ret = (struct context_label){ .key = line,
		                       .key_n = (size_t)(tab - line),
		                       .value = tab + 1,
		                       .value_n = (size_t)(end - tab - 1) };
	*text = end + 1;
	return true;
}

void context_plain(struct buf *out, const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char c = text[i];

		if (c == '\\' && i + 1 < n) {
			c = text[++i];
			c = c == 't' ? '\t' : c == 'n' ? '\n' : c;
		}
		buf_put(out, &c, 1);
	}
}

const char *context_value(const char *set, const char *key, struct buf *buf)
{
	struct context_label l;

	while (context_next(&set, &l)) {
		buf_clear(buf);
		context_plain(buf, l.key, l.key_n);
		if (strcmp(buf_text(buf), key) != 0)
			continue;
		buf_clear(buf);
		context_plain(buf, l.value, l.value_n);
		return buf_text(buf);
	}
	return NULL;
}

const char *context_reserved(uint32_t number)
{
	return number == CONTEXT_UNREAD    ? "[not read: a page was not in memory]"
	       : number == CONTEXT_LARGE   ? "[not read: more than is read]"
	       : number == CONTEXT_STRANGE ? "[not read: a version that is not known]"
	                                   : NULL;
}
