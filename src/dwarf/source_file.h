/* SPDX-License-Identifier: MIT */
/*
 * source_file.h: which source files may be shown.
 *
 * Their names come from line tables, jitdumps and recordings: from whoever compiled a program, or
 * wrote a file that says that it is a recording. What is read may be sent to others (a page, an
 * archive). So a name alone opens nothing. A file is read if its real path, all links followed,
 *
 *  - is that of a regular file that ends as sources do, is text, and is no larger than
 *    SOURCE_FILE_MAX, and
 *  - is below a directory that the user named (SOURCE_DIRS), or
 *  - is in one of the system's directories (/usr, /opt ...), root's, and readable by everybody, or
 *  - is below the current directory, or
 *  - has a directory in common with the program that names it, and that program is proven to be the
 *    one that was recorded.
 *
 * A directory that holds other things as well (/, /home, a home directory, one where everybody may
 * write) speaks for the files directly in it only. For the last two the file is also the user's
 * own, the directory's or program's owner's, or readable by everybody.
 */
#ifndef SEAM_DWARF_SOURCE_FILE_H
#define SEAM_DWARF_SOURCE_FILE_H

#include <stddef.h>

#define SOURCE_FILE_MAX (16u << 20)

/* What a user allows: directories, or single files of any ending, with ':' between them; NULL or
 * "": none. A file that is not at its path is looked for below them, too, by as much of the end of
 * its path as is there. */
struct source_dirs {
	const char *paths;
};

/* What a name leads to. */
struct source_file {
	char *bytes; /* freed by the caller; NULL: it is not shown */
	size_t n;
	char path[4096];    /* where it really is; "": nowhere */
	const char *reason; /* why what is there is not shown; NULL: it is shown, or not there */
};

/* Reads a file that may be shown. program: the path of the object that names it, if it is proven to
 * be the one that was recorded; NULL: nobody speaks for the name. -ENOENT: it is not there; -EPERM:
 * ret->reason says why it is not shown; -ENOMEM. */
int source_file_read(const struct source_dirs *dirs, const char *name, const char *program,
                     struct source_file *ret);
/* Whether a path ends as sources do. */
int source_file_ends_so(const char *path);

#endif
