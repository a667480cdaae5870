/* SPDX-License-Identifier: MIT */
/*
 * forecast.h: which programs a command will run, as far as its words say it: what stands behind env
 * or timeout, in a shell's text, in a script, in a makefile. A forecast, for getting ready: nothing
 * is run, what it misses is met later, and what it says in vain costs time only.
 */
#ifndef SEAM_RECORDER_FORECAST_H
#define SEAM_RECORDER_FORECAST_H

#include <stdbool.h>

/* Asked of a program's file, the command's own first. True: what it runs in turn is not looked
 * for. */
typedef bool (*forecast_program)(void *ctx, const char *path);

/* Goes through a command (argv ends with NULL) as execvp would run it here. Work is bounded. */
void forecast_command(char *const argv[], forecast_program program, void *ctx);

#endif
