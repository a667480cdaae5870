/* SPDX-License-Identifier: MIT */
/*
 * outfile.h: the file that a command makes of a recording: -o FILE, "-" for standard output; never
 * the recording itself. What the bytes mean is the writer's.
 *
 * A regular file gets its name when it is whole, so that what stood there before outlives a run
 * that failed. A device or a FIFO is written where it is.
 */
#ifndef SEAM_CMD_OUTFILE_H
#define SEAM_CMD_OUTFILE_H

#include "base/buf.h"
#include "cmd/cmd.h"
#include "export/export.h"

/* Whether both are the same regular file, whatever their names are. "-" and NULL are none. */
bool outfile_is(const char *path, const char *other);

struct outfile {
	const char *path; /* NULL and "-": standard output */
	int fd;
	bool replaces;         /* a file that is there */
	bool whole;            /* ended: it has its name, or nothing is left of it */
	struct buf target;     /* the name that it gets at the end; empty: it is written in place */
	struct buf temporary;  /* the name that it has until then; empty: none yet */
	struct export_out out; /* for a writer */
};

static inline bool outfile_is_stdout(const char *path)
{
	return !path || (path[0] == '-' && !path[1]);
}

/* Makes the file: 0 or -errno. A new file has at most the rights in mode (0666: as umask says).
 * outfile_end must follow in any case. */
int outfile_open(struct outfile *o, const char *path, unsigned mode);
/* r is what the writer or outfile_open returned. If it is 0 or more, the file gets its name now;
 * otherwise nothing of it is left. 0 or -errno, which is not printed. */
int outfile_end(struct outfile *o, int r);
/* As outfile_end, and the first failure is said on stderr with what helps, but for a reader that
 * went away. */
int outfile_close(struct outfile *o, const struct cmd *cmd, int r);
/* The advice for an error of writing, if there is one. */
void outfile_hint(const struct outfile *o, const struct cmd *cmd, int r);

/* Writes the whole text to standard output, on a terminal through a pager (pager.h) where it is
 * longer than the screen. An exit code. A failure, also that memory was out for
 * the text, is reported, except if the reader of a pipe went away. */
int outfile_print(const struct cmd *cmd, const struct buf *text);

#endif
