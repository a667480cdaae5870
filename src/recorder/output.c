// SPDX-License-Identifier: MIT
/* output.c: knows rename(2). Touches nothing but regular files: a device, a pipe or stdout is
 * written to as it is, and never renamed or removed. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recorder/output.h"

/* PATH becomes PATH.old, in place of an older file of that name. "-" and what is no regular file
 * stay as they are. */
int output_rotate(struct output *out, const char *path)
{
	struct stat st;
	char *old;

	*out = (struct output){ .path = path };
	if (!strcmp(path, "-"))
		return 0;
	if (stat(path, &st) < 0) {
		out->created = true;
		return 0;
	}
	/* An empty file holds nothing that anybody could miss. */
	if (!S_ISREG(st.st_mode) || !st.st_size)
		return 0;
	if (asprintf(&old, "%s.old", path) < 0)
		return -ENOMEM;
	if (rename(path, old) < 0) {
		int error = -errno;

		free(old);
		return error;
	}
	out->old = old;
	out->created = true;
	return 0;
}

/* Only what this recording made is removed. */
void output_abandon(struct output *out)
{
	if (!out->created)
		return;
	unlink(out->path);
	if (out->old)
		rename(out->old, out->path);
	out->created = false;
}

void output_free(struct output *out)
{
	free(out->old);
	out->old = NULL;
}
