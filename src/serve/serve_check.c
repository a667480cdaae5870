// SPDX-License-Identifier: MIT
// serve_check.c: who may ask.
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

#include "serve/serve.h"

int serve_make_token(char token[SERVE_TOKEN_SIZE])
{
	unsigned char bytes[(SERVE_TOKEN_SIZE - 1) / 2];

	/* The kernel gives so few bytes at once, or none. */
	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return errno ? -errno : -EIO;
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(token + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

/* Looks at as many bytes whatever they are. */
const char *serve_behind_token(const char *path, const char *token)
{
	size_t n = strlen(token), given = strlen(path);
	unsigned char differs = 0;

	if (given < n + 2 || path[0] != '/' || path[n + 1] != '/')
		return NULL;
	for (size_t i = 0; i < n; i++)
		differs |= (unsigned char)(path[i + 1] ^ token[i]);
	return differs ? NULL : path + n + 2;
}

bool serve_host_is_here(const char *host)
{
	static const char *const names[] = { "127.0.0.1", "localhost", "[::1]" };

	for (size_t i = 0; host && i < sizeof(names) / sizeof(*names); i++) {
		size_t n = strlen(names[i]), digits;

		if (strncasecmp(host, names[i], n) != 0)
			continue;
		if (!host[n])
			return true;
		digits = host[n] == ':' ? strspn(host + n + 1, "0123456789") : 0;
		if (digits && digits <= 5 && !host[n + 1 + digits])
			return true;
	}
	return false;
}

bool serve_origin_is_here(const char *origin)
{
	return !origin || (!strncmp(origin, "http://", 7) && serve_host_is_here(origin + 7));
}
