/* SPDX-License-Identifier: MIT */
/*
 * outfile.h: the file that a command makes of a finished profile: -o FILE, "-" for standard
 * output; never the recording itself. What the bytes mean is the writer's.
 */
#ifndef SEAM_CLI_OUTFILE_H
#define SEAM_CLI_OUTFILE_H

#include "cli/cmd.h"
#include "export/export.h"

/* True when both are one regular file, by what they are, not by what they are called: the output is emptied before the input is read.
 * "-" and NULL are none. */
bool outfile_is(const char *path, const char *other);

struct outfile {
	const char *path; /* NULL and "-": standard output */
	int fd;
	struct export_out out; /* for a writer */
};

static inline bool outfile_is_stdout(const char *path)
{
	return !path || (path[0] == '-' && !path[1]);
}

/* Empties or makes the file: 0 or -errno. To be closed in any case. */
int outfile_open(struct outfile *o, const char *path);
/* r is what the writer said, or outfile_open. The first failure is said on stderr, but for a reader that went away:
 * 0 or -errno. */
int outfile_close(struct outfile *o, const struct cmd *cmd, int r);

#endif
