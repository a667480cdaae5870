/* SPDX-License-Identifier: MIT */
/*
 * labels.h: the labels of a series: keys with values, each key once, and filters of them. In bytes
 * ("key\0value\0", keys ascending) equal labels are equal. Keys and values may hold any bytes but
 * NUL; an empty value is none.
 */
#ifndef SEAM_BASE_LABELS_H
#define SEAM_BASE_LABELS_H

#include <stdbool.h>

#include "base/buf.h"

#define LABELS_MAX 64u          /* keys in one set */
#define LABELS_BYTES_MAX 16384u /* of one set */
#define LABELS_VALUE_MAX 1024u  /* of a value: more is cut */

struct labels {
	struct buf bytes;
};

void labels_free(struct labels *l);
/* Sets a key; an empty or missing value takes it away. -ENOMEM; -E2BIG: the set is full. */
int labels_set(struct labels *l, const char *key, const char *value);
/* NULL: there is none. Valid until the next labels_set. */
const char *labels_get(const struct labels *l, const char *key);
/* Walks: start with *at = 0; true and a pair until the end. */
bool labels_next(const struct labels *l, size_t *at, const char **key, const char **value);
/* Takes bytes that are not trusted. -EBADMSG: they are no labels. */
int labels_take(struct labels *l, const void *bytes, size_t n);
int labels_order(const struct labels *a, const struct labels *b);
/* The values of keys (by commas) with ", " between them; a missing one is "-". */
void labels_values(const struct labels *l, const char *keys, struct buf *out);

/*
 * The labels that follow from a control group's path: "unit" (a service, scope or slice of
 * systemd), "container" (an id of 64 hexadecimal digits, cut to 12), "pod" (the uid of a pod of
 * Kubernetes). -ENOMEM.
 */
int labels_set_cgroup(struct labels *l, const char *path);

/* "service=checkout,host=web-7": all keys must match; a key that is given more than once matches
 * any of its values. A backslash takes the next character as it is. */
struct labels_filter {
	struct buf terms; /* key\0value\0 */
};

/* -EINVAL, and *at is where the text makes no sense; -ENOMEM. */
int labels_filter_parse(struct labels_filter *f, const char *text, size_t *at);
void labels_filter_free(struct labels_filter *f);
/* f NULL: all match. */
bool labels_match(const struct labels_filter *f, const struct labels *l);

#endif
