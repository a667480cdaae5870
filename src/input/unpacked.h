/* SPDX-License-Identifier: MIT */
/*
 * unpacked.h: an archive that --archive names, as a directory: unpacked into a private one below
 * $TMPDIR (/var/tmp), which goes away when the program ends, also by a signal; or a directory that
 * tar unpacked it into, which stays.
 */
#ifndef SEAM_INPUT_UNPACKED_H
#define SEAM_INPUT_UNPACKED_H

#include "cmd/cmd.h"

/* Zero-initialise to start; lives until the command ends. */
struct unpacked {
	char dir[2048];   /* the tree by build-id */
	char files[2100]; /* objects by path */
	char maps[2100];  /* of JIT code */
	char recording[2100];
};

/* 0, or -EINVAL after saying on stderr what is wrong. One archive per program. A recording in it,
 * or beside it under its name without the ending, becomes the one that is read by default. */
int unpacked_open(struct unpacked *u, const struct cmd *cmd, const char *path);
/* Removes what was unpacked. Safe in a signal handler. */
void unpacked_remove(void);

#endif
