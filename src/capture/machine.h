/* SPDX-License-Identifier: MIT */
/*
 * machine.h: what a recording says of the machine it was made on: names, CPUs, memory, PMUs. Read
 * once, by calls and small files; what cannot be known is empty or 0.
 */
#ifndef SEAM_CAPTURE_MACHINE_H
#define SEAM_CAPTURE_MACHINE_H

#include <stdint.h>

#include "base/arena.h"

struct machine_pmu {
	uint32_t type;
	const char *name;
};

struct machine {
	char hostname[65], release[65], arch[65];
	char cpu_text[256]; /* "Intel(R) Xeon(R) ..." */
	char cpu_id[80];    /* "GenuineIntel,6,143,8" */
	uint32_t cpus_online, cpus_available;
	uint64_t memory_kb;
	uint32_t e_machine;       /* EM_* of native programs; 0: not known */
	struct machine_pmu *pmus; /* in the arena */
	size_t n_pmus;
	struct arena arena;
};

/* proc and sys: NULL for the running system's. */
void machine_read(struct machine *ret, const char *proc, const char *sys);
void machine_free(struct machine *m);

#endif
