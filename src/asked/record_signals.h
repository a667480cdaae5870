/* SPDX-License-Identifier: MIT */
/*
 * record_signals.h: how `seam record` is told to stop. The first SIGINT, SIGTERM or SIGHUP asks; a
 * second one, at least 300 ms later, ends the program at once, wherever it is: also in a write(2)
 * to a pipe that nobody reads. What was flushed is in the file then.
 */
#ifndef SEAM_ASKED_RECORD_SIGNALS_H
#define SEAM_ASKED_RECORD_SIGNALS_H

#include <stdbool.h>

#include "recorder/recorder.h"

/* Installs the handlers; SIGPIPE is ignored from now on (write(2) says EPIPE). */
void record_signals_catch(void);
/* Sets which recorder a signal wakes; NULL: none. */
void record_signals_wake(struct recorder *recorder);
/* Sets what is done before a second signal or SIGQUIT ends the program. It must be
 * async-signal-safe, and stays set. */
void record_signals_leave(void (*leave)(void));
/* The first signal that asked to stop; 0: none yet. *was_sent: a process sent it, so the command
 * has not got it. (A terminal would have signalled the command, too.) */
int record_signals_asked(bool *was_sent);

#endif
