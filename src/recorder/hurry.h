/* SPDX-License-Identifier: MIT */
/*
 * hurry.h: the end of a recording comes before other work of the machine, where that is allowed:
 * until it is there, tasks are interrupted for samples that nobody will read. It is short, so that
 * nobody starves by it.
 */
#ifndef SEAM_RECORDER_HURRY_H
#define SEAM_RECORDER_HURRY_H

#include <stdint.h>

/* From the end of the command, or the word to stop, to the file, in milliseconds; what is not done
 * then is left out and counted. */
#define HURRY_MS 700u

/* Raises the priority of all threads of this process, however low it was. Async-signal-safe. */
void hurry_begin(void);
/* HURRY_MS from now, and grace_ms (as session_settle takes it) where more was asked for than its
 * default: CLOCK_MONOTONIC. */
uint64_t hurry_until_ns(uint32_t grace_ms);

#endif
