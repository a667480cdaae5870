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

/* For how long a thread has run, and has waited until others let it. */
struct hurry_share {
	uint64_t ran_ns, waited_ns;
};

/* Of the calling thread; zeros: not known. */
struct hurry_share hurry_share(void);
/* The milliseconds for draining: HURRY_MS, or less where so small a share of its CPU is left to the
 * thread that closing, which is work, takes more than the rest of a second. */
uint64_t hurry_drain_ms(uint64_t ran_ns, uint64_t waited_ns);
/* So long from now, and grace_ms (as session_settle takes it) where more was asked for than its
 * default: CLOCK_MONOTONIC. To be called after hurry_begin: a thread whose priority could be raised
 * has HURRY_MS, whatever share it had. */
uint64_t hurry_until_ns(uint32_t grace_ms, const struct hurry_share *since);
/* The same for an end that begins ms from now, whose share is not known: the latest time. */
uint64_t hurry_latest_ns(uint32_t grace_ms, uint64_t ms);

#endif
