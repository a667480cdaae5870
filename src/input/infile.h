/* SPDX-License-Identifier: MIT */
/*
 * infile.h: the recording that a command reads: -i FILE, FILE as the argument, "-" for standard
 * input, perf.data else; and what is said of damage, the same way in every command.
 *
 * Standard input and FIFOs are read to their end first, because a recording is read twice; but for
 * infile_open_once. More than INFILE_MEMORY_MAX goes into a file without a name in TMPDIR
 * (/var/tmp), as much as there is room for. What does not begin as a recording is not read on.
 */
#ifndef SEAM_INPUT_INFILE_H
#define SEAM_INPUT_INFILE_H

#include <seam/reader.h>

#include "base/buf.h"
#include "cmd/cmd.h"
#include "samples/recording.h"

#define INFILE_MEMORY_MAX (64ULL << 20)

/* An entry for a command's option table; id: the command's own. */
#define INFILE_OPTION(ID)                                                                          \
	{                                                                                          \
		"input", 'i', "FILE", "recording to read (default: perf.data; -: standard input)", \
		        (ID)                                                                       \
	}

struct infile {
	const char *path; /* NULL: perf.data */
	struct seam_reader *reader;
	struct buf stream; /* standard input's bytes, unless they are in */
	int spool;         /* this file; 0: none */
	uint64_t spooled;  /* bytes in it */
	uint64_t room;     /* the most that may be in it; 0: what is free there says */
	int fd;            /* of infile_open_once, to be closed behind the reader; 0: none */
};

/* Takes the argument of -i or an operand. 0, or -EINVAL if there was one already, which was said on
 * stderr. */
int infile_set(struct infile *in, const struct cmd *cmd, const char *path);
/* Opens a stream of pipe mode as a stream, to be read once: true. False: it is none, and nothing
 * was taken of it; infile_open opens it. */
bool infile_open_once(struct infile *in);
/* An archive of this name (as it was given), whose tree by build-id is in dir: recording is what is
 * read where none is named (NULL: there is none in it or beside it), inside: it is in the archive.
 * All live as long as the command. */
void infile_set_archive(const char *name, const char *dir, const char *recording, bool inside);
/* Raises the limit of open files as far as allowed. To be called before a recording is opened that
 * may be a directory, because each of its files takes a descriptor. */
void infile_raise_limit(const char *path);
/* Opens it: EXIT_OK, or EXIT_FAILED after saying why on stderr. */
int infile_open(struct infile *in, const struct cmd *cmd);
/*
 * After the last record: says on stderr what was damaged or skipped. rec may be NULL (a command
 * that reads records itself). EXIT_OK or EXIT_PARTIAL.
 */
int infile_verdict(const struct infile *in, const struct cmd *cmd, const struct recording *rec);
/* Says on stderr how many samples the recorder wrote twice (stitch/rules.h), which count once;
 * nothing if there are none. */
void infile_say_copies(const struct cmd *cmd, const char *path, uint64_t n);
void infile_close(struct infile *in);

/* One line on stderr, rewritten in place; nothing when stderr is no terminal. infile_progress_end
 * takes the line away. */
struct progress infile_progress(void);
void infile_progress_end(void);

#endif
