/* SPDX-License-Identifier: MIT */
/*
 * record_signals.h: how `seam record` is told to stop. The first SIGINT, SIGTERM or SIGHUP asks; a
 * second one, at least 300 ms later, ends the program at once, wherever it is: also in a write(2)
 * to a pipe that nobody reads. What was flushed is in the file then.
 */
#ifndef SEAM_CLI_RECORD_SIGNALS_H
#define SEAM_CLI_RECORD_SIGNALS_H

#include <stdbool.h>

#include "recorder/recorder.h"

/* Installs the handlers; SIGPIPE is ignored from now on (write(2) says EPIPE). */
void record_signals_catch(void);
/* Which recorder a signal wakes; NULL: none. */
void record_signals_wake(struct recorder *recorder);
/* What is done before the second one ends the program, and before SIGQUIT does; async-signal-safe.
 * Not to be changed back. */
void record_signals_leave(void (*leave)(void));
/* The first signal that asked to stop; 0: none yet. *was_sent: by a process, so that the command,
 * which a terminal would have told too, does not know of it. */
int record_signals_asked(bool *was_sent);

#endif
