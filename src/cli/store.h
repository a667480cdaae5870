/* SPDX-License-Identifier: MIT */
/* store.h: what the files of `seam store` share. store.c takes the command line, store_import.c and
 * store_show.c do the work. */
#ifndef SEAM_CLI_STORE_H
#define SEAM_CLI_STORE_H

#include "cmd/cmd.h"
#include "input/infile.h"
#include "input/naming.h"
#include "input/stored.h"

enum store_form {
	STORE_TEXT,
	STORE_CSV,
	STORE_JSON,
};

struct store_cmd {
	const struct cmd *cmd;
	struct stored stored;
	struct infile in;
	struct naming naming;
	enum store_form form;
	const char *function; /* of series */
	uint64_t window_ns;   /* of import; of a point of series, 0: a 60th of the span */
	struct labels labels; /* given with --label */
};

/* Each is a word behind `seam store`: an exit code. */
int store_cmd_ls(struct store_cmd *s);
int store_cmd_series(struct store_cmd *s);
int store_cmd_import(struct store_cmd *s);

#endif
