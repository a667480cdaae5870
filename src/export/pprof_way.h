/* SPDX-License-Identifier: MIT */
/*
 * pprof_way.h: the locations of a stack as a sample of pprof has them: varints, innermost first.
 * Stacks that follow each other mostly share their outer locations, whose bytes are the last ones:
 * these stay, and those further in are put in front of them.
 */
#ifndef SEAM_EXPORT_PPROF_WAY_H
#define SEAM_EXPORT_PPROF_WAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A location. */
struct pprof_step {
	uint32_t node; /* of its innermost frame: greater than that of the step before */
	size_t size;   /* bytes of it and of those outside of it */
};

/* Zero-initialise to start. */
struct pprof_way {
	struct pprof_step *steps; /* outermost first */
	size_t n, steps_capacity;
	unsigned char *bytes; /* filled from its end */
	size_t capacity;
};

void pprof_way_free(struct pprof_way *w);
/* For a way up that is at a node: leaves out the steps that are further in. Whether the one that is
 * the last now is this node's: then the rest of the way up is known. */
bool pprof_way_meets(struct pprof_way *w, uint32_t node);
/* Puts a location in front of those that are outside of it. -ENOMEM. */
int pprof_way_put(struct pprof_way *w, uint32_t node, uint32_t location);
/* What is there now; until the next put. */
const unsigned char *pprof_way_bytes(const struct pprof_way *w, size_t *n);

#endif
