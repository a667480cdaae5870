// SPDX-License-Identifier: MIT
// record_output.c: knows rename(2). Touches nothing but regular files.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/record/record_output.h"

int record_output_rotate(struct record_output *out, const char *path)
{
	struct stat st;
	char *old;

	*out = (struct record_output){ .path = path };
	if (!strcmp(path, "-"))
		return 0;
	if (stat(path, &st) < 0) {
		out->created = true;
		return 0;
	}
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

void record_output_abandon(struct record_output *out)
{
	if (!out->created)
		return;
	unlink(out->path);
	if (out->old)
		rename(out->old, out->path);
}

void record_output_free(struct record_output *out)
{
	free(out->old);
	out->old = NULL;
}
