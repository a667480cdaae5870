/* SPDX-License-Identifier: MIT */
/*
 * hint.h: what would give names to an object that has none: a file, the Debian package that holds
 * it, or an option. Looks into dpkg's lists, and starts nothing.
 */
#ifndef SEAM_REPORT_HINT_H
#define SEAM_REPORT_HINT_H

#include "base/buf.h"
#include "aggregate/load.h"
#include "proc/proc.h"

#define HINTS_MAX 16u /* objects that are advised on at once */

/* What a list of dpkg says of a file. */
enum hint_match {
	HINT_NONE,
	HINT_BEFORE_USR, /* /lib/x of /usr/lib/x */
	HINT_LISTED
};

/* The package that a file belongs to. */
struct hint_package {
	const char *path; /* absolute */
	struct buf name;  /* empty: none; the caller's */
	/* hint_packages fills these: of path; what its file's name begins with, as that of its
	 * package often does. */
	size_t length, n_letters;
	const char *letters;
	enum hint_match match;
};

/* Appends one line without its end to out[i] for the object unnamed[i], n of them; nothing when
 * there is nothing to advise. Those behind HINTS_MAX get none. procs: whose mappings tell the
 * runtime. */
void hint_unnamed(const struct load_unnamed *unnamed, size_t n, const struct proc_table *procs,
                  struct buf *out);
/* Looks for the packages of n files in dpkg's lists ("/var/lib/dpkg/info"). */
void hint_packages(const char *info, struct hint_package *files, size_t n);

#endif
