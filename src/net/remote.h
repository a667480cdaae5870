/* SPDX-License-Identifier: MIT */
/*
 * remote.h: where something is sent, as users write it: a URL of http or https whose query holds
 * options for seam: https://host:8443/db?user=seam&password-file=/etc/seam/password. %41 is a byte
 * by its hexadecimal number.
 */
#ifndef SEAM_NET_REMOTE_H
#define SEAM_NET_REMOTE_H

#include <seam/error.h>

#define REMOTE_OPTIONS_MAX 32u

/* Zero-initialise; remote_free. */
struct remote {
	char *text;         /* all below points into it */
	const char *origin; /* "https://host:8443" */
	const char *path;   /* "/db"; "" if there is none */
	size_t n;
	struct remote_option {
		const char *name, *value;
	} options[REMOTE_OPTIONS_MAX];
};

/*
 * What every remote takes: user and password-file; token-file (a bearer token); ca-file (PEM: the
 * authorities that are trusted in place of the system's); timeout (seconds of a request).
 */
#define REMOTE_COMMON "user", "password-file", "token-file", "ca-file", "timeout"

/* known: names of options, NULL behind the last. -EINVAL, and err says what is wrong. */
int remote_parse(struct remote *ret, const char *url, const char *const *known,
                 struct seam_error *err);
void remote_free(struct remote *t);
/* NULL: it was not given. */
const char *remote_option(const struct remote *t, const char *name);
/* A whole number from 1 to most; `or` if it was not given. -EINVAL. */
int remote_number(const struct remote *t, const char *name, unsigned long long or_this,
                  unsigned long long most, unsigned long long *ret, struct seam_error *err);
/* The value of a hexadecimal digit, as in %41; -1: it is none. */
int remote_digit(char c);

#endif
