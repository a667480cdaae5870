// SPDX-License-Identifier: MIT
/*
 * rules.c: see rules.h. Rules are few and are looked through one after the other, once for each
 * series of a window.
 */
#include "fleet/rules.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

struct rule {
	char *key, *value;
	struct labels_filter conditions;
};

/* What was made so far is freed on failure. */
int rules_add(struct rules *r, const char *key, const char *value, const char *conditions)
{
	struct rule rule = { .key = strdup(key), .value = strdup(value) };
	struct rule *more = NULL;
	size_t at;
	int e = labels_filter_parse(&rule.conditions, conditions, &at);

	/* Without a condition it would be for all: --label says so better. */
	if (e >= 0 && (!rule.conditions.terms.n || !*key || !*value))
		e = -EINVAL;
	if (e >= 0 && r->n == RULES_MAX)
		e = -E2BIG;
	if (e >= 0)
		more = realloc(r->at, (r->n + 1) * sizeof(*more));
	if (more)
		r->at = more;
	if (more && rule.key && rule.value) {
		r->at[r->n++] = rule;
		return 0;
	}
	free(rule.key);
	free(rule.value);
	labels_filter_free(&rule.conditions);
	return e < 0 ? e : -ENOMEM;
}

void rules_free(struct rules *r)
{
	for (size_t i = 0; i < r->n; i++) {
		free(r->at[i].key);
		free(r->at[i].value);
		labels_filter_free(&r->at[i].conditions);
	}
	free(r->at);
	*r = (struct rules){ 0 };
}

/* Whether one of the patterns that a rule has for a key fits. */
static bool rules_fits_key(const struct labels *terms, const char *key, const char *have)
{
	const char *k, *pattern;
	size_t at = 0;

	while (have && labels_next(terms, &at, &k, &pattern))
		if (!strcmp(k, key) && !fnmatch(pattern, have, 0))
			return true;
	return false;
}

/* A set that lacks a key does not fit. */
static bool rules_fits(const struct rule *rule, const struct labels *l)
{
	const struct labels terms = { rule->conditions.terms };
	const char *key, *pattern;
	size_t at = 0;

	while (labels_next(&terms, &at, &key, &pattern))
		if (!rules_fits_key(&terms, key, labels_get(l, key)))
			return false;
	return true;
}

/* Whether an earlier rule for the same label fitted. */
static bool rules_was_set(const struct rules *r, size_t n, const bool *fitted)
{
	for (size_t i = 0; i < n; i++)
		if (fitted[i] && !strcmp(r->at[i].key, r->at[n].key))
			return true;
	return false;
}

/* A rule sees what those above it have set: so a version can go by a service. */
int rules_apply(const struct rules *r, struct labels *l)
{
	bool fits[RULES_MAX];
	int e = 0;

	for (size_t i = 0; r && i < r->n && e >= 0; i++) {
		fits[i] = !rules_was_set(r, i, fits) && rules_fits(&r->at[i], l);
		if (fits[i])
			e = labels_set(l, r->at[i].key, r->at[i].value);
	}
	return e;
}

/* A key that several conditions have is given several times. */
void rules_keys(const struct rules *r, const char *begin, void (*each)(void *ctx, const char *key),
                void *ctx)
{
	for (size_t i = 0; r && i < r->n; i++) {
		const struct labels terms = { r->at[i].conditions.terms };
		const char *key, *pattern;
		size_t at = 0;

		while (labels_next(&terms, &at, &key, &pattern))
			if (!strncmp(key, begin, strlen(begin)))
				each(ctx, key);
	}
}
