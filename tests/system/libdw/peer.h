/* SPDX-License-Identifier: MIT */
/*
 * peer.h: libdw as perf uses it: modules are reported as they are met, memory is a copy of the
 * stack. The judge of seam's walkers.
 */
#ifndef SEAM_TESTS_LIBDW_PEER_H
#define SEAM_TESTS_LIBDW_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <elfutils/libdwfl.h>

#include "base/buf.h"
#include "base/map.h"
#include "tables/tables.h"
#include "proc/proc.h"

#define PEER_FRAMES 1024
#define PEER_REGISTERS 17 /* x86_64, DWARF numbers: 7 is sp, 16 the pc */

struct peer_sample {
	uint32_t pid, space; /* PROC_TABLE's space at its time */
	uint64_t registers[PEER_REGISTERS];
	uint64_t start; /* of the copy */
	const unsigned char *stack;
	size_t n_stack;
};

struct peer {
	const struct proc_table *procs;
	struct tables *tables; /* for the segments of objects only */
	struct map dwfls;      /* pid and space -> Dwfl * */
	struct buf all;        /* the same, in the order they were made */
	char vdso[32];         /* a file with this kernel's vdso, "" when there is none */
	Dwfl *dwfl;
	const struct peer_sample *sample;
	/* of the sample that was walked last */
	uint64_t frames[PEER_FRAMES];
	uint64_t sps[PEER_FRAMES], fps[PEER_FRAMES]; /* of those frames; 0: not known */
	size_t n;
};

void peer_open(struct peer *p, const struct proc_table *procs, struct tables *tables);
void peer_free(struct peer *p);
/* True: libdw says that it reached the end. */
bool peer_walk(struct peer *p, const struct peer_sample *sample);

/* Why its frames differ from these, as far as its side tells. */
enum peer_why {
	PEER_STOPS,   /* it ended without an error where they go on */
	PEER_GUESSES, /* it went by frame pointer where there is a rule */
	PEER_DIFFERS,
};
enum peer_why peer_why(const struct peer *p, const uint64_t *frames, size_t n);

#endif
