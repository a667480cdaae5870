/* SPDX-License-Identifier: MIT */
/*
 * target.h: the command that is recorded: forked early, held back, let go to its exec when the
 * events are open, watched until it ends. Knows no events and no files.
 *
 *	target_fork(&t, argv, false)    // a child waits; t.pid can be opened
 *	target_go(&t)                   // exec: 0, or -errno of it
 *	target_poll(&t)                 // ended?
 *	target_close(&t)                // a child that was never let go runs nothing
 */
#ifndef SEAM_CAPTURE_TARGET_H
#define SEAM_CAPTURE_TARGET_H

#include <stdbool.h>
#include <sys/types.h>

struct target {
	pid_t pid;  /* 0: none */
	int go;     /* a byte lets it go, the end of file lets it die */
	int failed; /* errno of exec comes here, the end of file when it worked */
	bool started;
	bool ended;
	int status; /* as waitpid(2), once ended */
};

/* argv ends with NULL and is searched for in PATH. The command inherits signal mask and
 * dispositions as they are now: fork before changing them. quiet_output: its standard output is
 * sent to standard error, because the recording goes to standard output. -errno of pipe or fork. */
int target_fork(struct target *t, char *const argv[], bool quiet_output);
/* -ENOENT, -EACCES ...: of exec, the child is gone then. */
int target_go(struct target *t);
/* True once it has ended. Never blocks. */
bool target_poll(struct target *t);
/* Sends a signal, unless the command has ended. */
void target_signal(struct target *t, int number);
/* What a shell would show: its exit status, or 128 + the signal that ended it. */
int target_exit_code(const struct target *t);
void target_close(struct target *t);

#endif
