// SPDX-License-Identifier: MIT
/*
 * labels.c: see labels.h. A set is small, so keys are looked for one after the other.
 *
 * A set is its bytes: "key\0value\0" pairs in the order of keys, so equal sets are equal bytes.
 * Bounds: LABELS_MAX pairs, LABELS_BYTES_MAX bytes. Values come from paths and names of processes,
 * and may be anything.
 */
#include "base/labels.h"

#include <errno.h>
#include <string.h>

/* Ids of containers are SHA-256 in hexadecimal. */
#define CONTAINER_DIGITS 64u
#define CONTAINER_SHOWN 12u /* as container engines show it */

void labels_free(struct labels *l)
{
	buf_free(&l->bytes);
}

/* Begins with *at 0. False at the end. */
bool labels_next(const struct labels *l, size_t *at, const char **key, const char **value)
{
	const char *text = (const char *)l->bytes.bytes;

	if (*at >= l->bytes.n)
		return false;
	*key = text + *at;
	*at += strlen(*key) + 1;
	*value = text + *at;
	*at += strlen(*value) + 1;
	return true;
}

/* Where a key is, or where it belongs; its bytes with its value, 0 when it is not there. */
static size_t labels_find(const struct labels *l, const char *key, size_t *size)
{
	const char *k, *value;
	size_t at = 0, from = 0;

	*size = 0;
	for (; labels_next(l, &at, &k, &value); from = at) {
		int order = strcmp(k, key);

		if (!order)
			*size = at - from;
		if (order >= 0)
			break;
	}
	return from;
}

/* NULL: the set has no such key. */
const char *labels_get(const struct labels *l, const char *key)
{
	size_t size, at = labels_find(l, key, &size);

	return size ? (const char *)l->bytes.bytes + at + strlen(key) + 1 : NULL;
}

static size_t labels_count(const struct labels *l)
{
	const char *key, *value;
	size_t at = 0, n = 0;

	while (labels_next(l, &at, &key, &value))
		n++;
	return n;
}

/* Takes the old value out and moves what is behind it, then puts the new one there. An empty value,
 * or NULL, takes the key away. -E2BIG: the set would be too large; it is as it was. */
int labels_set(struct labels *l, const char *key, const char *value)
{
	size_t old, at = labels_find(l, key, &old), key_size = strlen(key) + 1;
	size_t n = value ? strnlen(value, LABELS_VALUE_MAX) : 0;
	size_t size = n ? key_size + n + 1 : 0;
	char copy[LABELS_VALUE_MAX];
	unsigned char *bytes;

	/* It may be another key's value, which moves. */
	if (n)
		value = memcpy(copy, value, n);
	if (size &&
	    (l->bytes.n + size - old > LABELS_BYTES_MAX || (!old && labels_count(l) == LABELS_MAX)))
		return -E2BIG;
	if (size > old && !buf_reserve(&l->bytes, size - old))
		return -ENOMEM;
	bytes = l->bytes.bytes;
	if (l->bytes.n > at + old)
		memmove(bytes + at + size, bytes + at + old, l->bytes.n - at - old);
	l->bytes.n += size - old;
	if (size) {
		memcpy(bytes + at, key, key_size);
		memcpy(bytes + at + key_size, value, n);
		bytes[at + size - 1] = 0;
	}
	return 0;
}

/* Takes them only if they are as labels_set would have made them. -EBADMSG, -ENOMEM; *l is as it
 * was. */
int labels_take(struct labels *l, const void *bytes, size_t n)
{
	struct labels got = { 0 };
	const char *key, *value, *before = "";
	size_t at = 0, pairs = 0;

	if (n > LABELS_BYTES_MAX || (n && ((const char *)bytes)[n - 1]))
		return -EBADMSG;
	if (buf_put(&got.bytes, bytes, n) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		/* Each pair has two NULs. */
		pairs += !got.bytes.bytes[i];
	if (pairs % 2 || pairs > (size_t)2 * LABELS_MAX)
		goto bad;
	for (; labels_next(&got, &at, &key, &value); before = key)
		if (strcmp(before, key) >= 0 || !*value)
			goto bad;
	labels_free(l);
	*l = got;
	return 0;
bad:
	labels_free(&got);
	return -EBADMSG;
}

/* An order of sets, for sorting: by their bytes. */
int labels_order(const struct labels *a, const struct labels *b)
{
	size_t n = a->bytes.n < b->bytes.n ? a->bytes.n : b->bytes.n;
	int order = n ? memcmp(a->bytes.bytes, b->bytes.bytes, n) : 0;

	return order ? order : (a->bytes.n > b->bytes.n) - (a->bytes.n < b->bytes.n);
}

/* Goes through the list of keys, in its order. A key that the set has not is "-". */
void labels_values(const struct labels *l, const char *keys, struct buf *out)
{
	char key[LABELS_VALUE_MAX];
	const char *separator = "";

	for (size_t n; *keys; keys += n + (keys[n] == ',')) {
		const char *value;

		n = strcspn(keys, ",");
		if (n >= sizeof(key))
			continue;
		memcpy(key, keys, n);
		key[n] = 0;
		value = labels_get(l, key);
		buf_put_text(out, separator);
		buf_put_text(out, value ? value : "-");
		separator = ", ";
	}
}

/* ---- control groups ---- */

/* Whether a text ends so, with something in front. */
static bool labels_ends(const char *text, size_t n, const char *end)
{
	size_t m = strlen(end);

	return n > m && !memcmp(text + n - m, end, m);
}

static bool labels_is_hex(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strchr("0123456789abcdef", text[i]) || !text[i])
			return false;
	return n > 0;
}

/* Sets a key to a part of a text. */
static int labels_set_part(struct labels *l, const char *key, const char *text, size_t n)
{
	char part[256];

	if (n >= sizeof(part))
		n = sizeof(part) - 1;
	memcpy(part, text, n);
	part[n] = 0;
	return labels_set(l, key, part);
}

/* "docker-<64 digits>.scope", "cri-containerd-<...>.scope", "<64 digits>" and the like. Anything
 * else is no container, and no failure. */
static int labels_set_container(struct labels *l, const char *name, size_t n)
{
	size_t digits = labels_ends(name, n, ".scope") ? n - strlen(".scope") : n;

	if (digits < CONTAINER_DIGITS ||
	    !labels_is_hex(name + digits - CONTAINER_DIGITS, CONTAINER_DIGITS) ||
	    (digits > CONTAINER_DIGITS && name[digits - CONTAINER_DIGITS - 1] != '-'))
		return 0;
	return labels_set_part(l, "container", name + digits - CONTAINER_DIGITS, CONTAINER_SHOWN);
}

/* "pod<uid>", or "kubepods-burstable-pod<uid>.slice", where systemd wrote '_' for '-'. */
static int labels_set_pod(struct labels *l, const char *name, size_t n)
{
	char uid[37];
	size_t at = 0;

	if (labels_ends(name, n, ".slice"))
		n -= strlen(".slice");
	if (n < 3 + sizeof(uid) - 1)
		return 0;
	at = n - (sizeof(uid) - 1);
	if (memcmp(name + at - 3, "pod", 3))
		return 0;
	for (size_t i = 0; i + 1 < sizeof(uid); i++) {
		char c = name[at + i] == '_' ? '-' : name[at + i];

		if ((i == 8 || i == 13 || i == 18 || i == 23) ? c != '-' : !labels_is_hex(&c, 1))
			return 0;
		uid[i] = c;
	}
	uid[sizeof(uid) - 1] = 0;
	return labels_set(l, "pod", uid);
}

/* Whether a part of a path is a unit of systemd's. */
static bool labels_is_unit(const char *name, size_t n)
{
	return labels_ends(name, n, ".service") || labels_ends(name, n, ".scope") ||
	       labels_ends(name, n, ".slice");
}

/* Goes down the path: the innermost unit, container and pod hold. What does not fit into the set is
 * left out. */
int labels_set_cgroup(struct labels *l, const char *path)
{
	int r = 0;

	for (size_t n; *path && r >= 0; path += n) {
		path += strspn(path, "/");
		n = strcspn(path, "/");
		if (labels_is_unit(path, n))
			r = labels_set_part(l, "unit", path, n);
		if (r >= 0)
			r = labels_set_container(l, path, n);
		if (r >= 0)
			r = labels_set_pod(l, path, n);
	}
	return r == -E2BIG ? 0 : r;
}

/* ---- filters ---- */

/* Copies up to one of the stops; a backslash takes the next character as it is. Returns how many
 * characters of the text were used. */
static size_t labels_filter_word(struct buf *to, const char *text, const char *stops)
{
	size_t i = 0;

	while (text[i] && !strchr(stops, text[i])) {
		if (text[i] == '\\' && text[i + 1])
			i++;
		buf_put(to, text + i++, 1);
	}
	buf_put(to, "", 1);
	return i;
}

/* Cuts the text at commas and equals signs that have no backslash in front of them. The same key
 * may come again: then either value will do. -EINVAL: *at says where the text is wrong. */
int labels_filter_parse(struct labels_filter *f, const char *text, size_t *at)
{
	size_t i = 0;

	while (text[i]) {
		size_t n = labels_filter_word(&f->terms, text + i, "=,");

		*at = i;
		if (!n || text[i + n] != '=')
			return -EINVAL;
		i += n + 1;
		*at = i;
		n = labels_filter_word(&f->terms, text + i, ",");
		if (!n)
			return -EINVAL;
		i += n + (text[i + n] == ',');
	}
	return f->terms.failed ? -ENOMEM : 0;
}

void labels_filter_free(struct labels_filter *f)
{
	buf_free(&f->terms);
}

/* Whether a key that the filter names has one of the values that it gives for it. */
static bool labels_match_key(const struct labels_filter *f, const char *key, const char *have)
{
	const struct labels terms = { f->terms };
	const char *k, *value;
	size_t at = 0;

	while (have && labels_next(&terms, &at, &k, &value))
		if (!strcmp(k, key) && !strcmp(value, have))
			return true;
	return false;
}

/* A set that lacks a key does not match it. NULL matches all. */
bool labels_match(const struct labels_filter *f, const struct labels *l)
{
	const char *key, *value;
	size_t at = 0;

	if (!f)
		return true;
	const struct labels terms = { f->terms };

	while (labels_next(&terms, &at, &key, &value))
		if (!labels_match_key(f, key, labels_get(l, key)))
			return false;
	return true;
}
