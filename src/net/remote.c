// SPDX-License-Identifier: MIT
// remote.c: see remote.h. The text is copied once and cut in place.
#include "net/remote.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

int remote_digit(char c)
{
	const char *digits = "0123456789abcdefABCDEF", *at = c ? strchr(digits, c) : NULL;

	return !at ? -1 : at - digits < 16 ? (int)(at - digits) : (int)(at - digits) - 6;
}

/* Replaces %41 by what it means, in place. False: a NUL or what is no number. */
static bool remote_unescape(char *text)
{
	char *to = text;

	for (; *text; text++) {
		int high, low;

		if (*text != '%') {
			*to++ = *text;
			continue;
		}
		high = remote_digit(text[1]);
		low = high < 0 ? -1 : remote_digit(text[2]);
		if (low < 0 || high * 16 + low == 0)
			return false;
		*to++ = (char)(high * 16 + low);
		text += 2;
	}
	*to = 0;
	return true;
}

/* Takes NAME=VALUE. -EINVAL. */
static int remote_take(struct remote *t, char *term, const char *const *known,
                       struct seam_error *err)
{
	char *value = strchr(term, '=');

	if (value)
		*value++ = 0;
	for (; *known && strcmp(*known, term) != 0; known++)
		;
	if (!*known)
		return seam_error_set(err, EINVAL, NULL, SEAM_NO_OFFSET, NULL,
		                      "the URL's option '%s' is not known", term);
	if (!value || !*value || !remote_unescape(value) || t->n == REMOTE_OPTIONS_MAX)
		return seam_error_set(err, EINVAL, NULL, SEAM_NO_OFFSET, NULL,
		                      "the URL's option '%s' has no value that makes sense", term);
	t->options[t->n++] = (struct remote_option){ term, value };
	return 0;
}

/* A password in a URL would be in every list of processes. */
static int remote_check(const char *url, size_t scheme, struct seam_error *err)
{
	const char *host = url + scheme;
	size_t n = strcspn(host, "/?#");

	if (!scheme || !n)
		return seam_error_set(err, EINVAL, NULL, SEAM_NO_OFFSET, NULL,
		                      "'%s' is no URL of http:// or https://", url);
	if (memchr(host, '@', n))
		return seam_error_set(err, EINVAL, NULL, SEAM_NO_OFFSET, NULL,
		                      "a URL holds no user and password: they are options of it, "
		                      "?user=NAME&password-file=FILE");
	for (const char *c = url; *c; c++)
		if ((unsigned char)*c <= ' ' || *c == 0x7f)
			return seam_error_set(err, EINVAL, NULL, SEAM_NO_OFFSET, NULL,
			                      "a URL has no spaces and control characters");
	return 0;
}

/* Cuts a URL into its origin, path and options. -EINVAL, -ENOMEM; then *ret is as it was. */
int remote_parse(struct remote *ret, const char *url, const char *const *known,
                 struct seam_error *err)
{
	struct remote t = { 0 };
	size_t scheme = !strncmp(url, "http://", 7) ? 7 : !strncmp(url, "https://", 8) ? 8 : 0;
	size_t host, path;
	char *query;
	int r = remote_check(url, scheme, err);

	if (r < 0)
		return r;
	host = strcspn(url + scheme, "/?#") + scheme;
	path = strcspn(url + host, "?#");
	t.text = malloc(strlen(url) + 2);
	if (!t.text)
		return -ENOMEM;
	memcpy(t.text, url, host);
	t.text[host] = 0;
	/* A byte more, so that the origin has its NUL. */
	strcpy(t.text + host + 1, url + host);
	t.origin = t.text;
	t.path = t.text + host + 1;
	query = t.text + host + 1 + path;
	if (*query == '#')
		r = seam_error_set(err, EINVAL, NULL, SEAM_NO_OFFSET, NULL,
		                   "a URL of a store has no part behind '#'");
	if (*query)
		*query++ = 0;
	for (char *next; r >= 0 && *query; query = next) {
		size_t n = strcspn(query, "&");

		next = query + n + (query[n] != 0);
		query[n] = 0;
		r = remote_take(&t, query, known, err);
	}
	if (r < 0)
		remote_free(&t);
	else
		*ret = t;
	return r;
}

void remote_free(struct remote *t)
{
	free(t->text);
	*t = (struct remote){ 0 };
}

const char *remote_option(const struct remote *t, const char *name)
{
	for (size_t i = 0; i < t->n; i++)
		if (!strcmp(t->options[i].name, name))
			return t->options[i].value;
	return NULL;
}

/* Reads an option that is a number. */
int remote_number(const struct remote *t, const char *name, unsigned long long or_this,
                  unsigned long long most, unsigned long long *ret, struct seam_error *err)
{
	const char *text = remote_option(t, name);
	unsigned long long v = or_this;
	char *end;

	if (text) {
		errno = 0;
		v = strtoull(text, &end, 10);
		if (errno || *end || *text < '0' || *text > '9' || !v || v > most)
			return seam_error_set(err, EINVAL, NULL, SEAM_NO_OFFSET, NULL,
			                      "the URL's option %s is a number from 1 to %llu",
			                      name, most);
	}
	*ret = v;
	return 0;
}
