// SPDX-License-Identifier: MIT
// error.c: composes the one sentence of a struct seam_error.
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The end of a path tells more than its beginning. */
static void error_set_path(struct seam_error *err, const char *path)
{
	size_t n = strlen(path);

	if (n < sizeof(err->path))
		memcpy(err->path, path, n + 1);
	else
		snprintf(err->path, sizeof(err->path), "...%s", path + n - (sizeof(err->path) - 4));
}

/* No part can overflow the text: each is cut to its field first. For ENOMEM offset and what are
 * left out. */
int seam_error_set(struct seam_error *err, int code, const char *path, uint64_t offset,
                   const char *what, const char *fmt, ...)
{
	size_t n = 0;
	va_list ap;

	if (!err)
		return -code;
	*err = (struct seam_error){ .code = code, .offset = offset };
	/* path (256) + offset (28) + what (32) + separators stay below text (512): n never passes
	 * its end. */
	if (path) {
		error_set_path(err, path);
		n += (size_t)snprintf(err->text + n, sizeof(err->text) - n, "%s: ", err->path);
	}
	/* Running out of memory at an offset says nothing of the file there; with a place it would
	 * read as damage. */
	if (code == ENOMEM) {
		snprintf(err->text + n, sizeof(err->text) - n, "out of memory");
		return -code;
	}
	if (offset != SEAM_NO_OFFSET)
		n += (size_t)snprintf(err->text + n, sizeof(err->text) - n,
		                      "offset 0x%llx: ", (unsigned long long)offset);
	if (what) {
		snprintf(err->what, sizeof(err->what), "%s", what);
		n += (size_t)snprintf(err->text + n, sizeof(err->text) - n, "%s: ", err->what);
	}
	va_start(ap, fmt);
	vsnprintf(err->text + n, sizeof(err->text) - n, fmt, ap);
	va_end(ap);
	return -code;
}

/* For a caller that knows the file when the one that failed did not. A path that is there stays. */
void seam_error_add_path(struct seam_error *err, const char *path)
{
	char text[sizeof(err->text)];

	if (!err || err->path[0])
		return;
	error_set_path(err, path);
	memcpy(text, err->text, sizeof(text));
	/* A message that grows past the struct loses its end, never the path. */
	if (snprintf(err->text, sizeof(err->text), "%s: %s", err->path, text) < 0)
		err->text[0] = 0;
}

const char *error_reason(const struct seam_error *err, int r)
{
	if (r == -ENOMEM)
		return "out of memory";
	return err->code ? err->text : strerror(-r);
}
