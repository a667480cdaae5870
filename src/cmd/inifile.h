/* SPDX-License-Identifier: MIT */
/*
 * inifile.h: a file of sections and "name = value" lines, # and ; comments, line by line. Knows
 * the syntax, and nothing of what names there are.
 */
#ifndef SEAM_CMD_INIFILE_H
#define SEAM_CMD_INIFILE_H

#include <stdbool.h>

#include <seam/error.h>

/* A line that sets something. Its texts are valid during the call. */
struct inifile_line {
	const char *where;                  /* "FILE:LINE", for messages */
	const char *section, *name, *value; /* section "": before the first */
};

/* 0, or -errno after filling err, which ends the reading. */
typedef int inifile_take(void *ctx, const struct inifile_line *line, struct seam_error *err);

/* named: somebody named this file, so that it must be there, and may be a pipe. Else a file that is
 * missing or may not be read counts as empty. -EINVAL: a line cannot be understood; -EFBIG; -errno
 * of reading; what take returned. */
int inifile_read(const char *path, bool named, inifile_take *take, void *ctx,
                 struct seam_error *err);

#endif
