/* SPDX-License-Identifier: MIT */
/*
 * load_alike.h: user parts of which all addresses lie in files that other processes have mapped,
 * too: parts that are the same but for where the files lie are counted as one. For load_count.c and
 * load_build.c only.
 */
#ifndef SEAM_AGGREGATE_LOAD_ALIKE_H
#define SEAM_AGGREGATE_LOAD_ALIKE_H

#include <stdbool.h>

#include "base/intern.h"
#include "base/map.h"
#include "resolve/alike.h"
#include "samples/recording.h"
#include "samples/stacks.h"

/* In place of a key's user space: that of the part (load_alike_space). No space has this number. */
#define LOAD_ALIKE UINT32_MAX

/* One thread's; zero-initialise. */
struct load_alike {
	const struct recording *rec;
	struct alike places;
	struct intern strings; /* the places of a part's addresses, innermost first */
	uint32_t *parts;       /* by string: the first part that has it */
	size_t parts_capacity;
	struct load_alike_known {
		uint32_t space; /* and how it is read */
		uint32_t part;  /* that stands for it there; 0: not known */
	} * known;              /* by part / 2 */
	size_t known_capacity;
	uint32_t *spaces; /* by part / 2: where it stands for others; 0: nowhere */
	size_t spaces_capacity;
	uint64_t *string; /* of one part */
	size_t string_capacity;
	struct map hits; /* a place -> the number of the first hit there */
	struct load_alike_at {
		uint64_t place;
		uint32_t space; /* where it stands for others; 0: nowhere */
	} * hit_at;             /* by hit */
	size_t hit_at_capacity;
	size_t looked_at; /* bytes of stacks (recording_looked_at) */
	/* Words of new parts: looked at since it was last asked what came of it, and those of them
	 * met again; to be left alone, and how many these were at first. */
	uint64_t tried, met, rest, rests;
};

void load_alike_start(struct load_alike *a, const struct recording *rec);
void load_alike_free(struct load_alike *a);
/*
 * Whether what a user part of a space means depends on places in files alone: 1, and *part is the
 * one that stands for it and those which are the same. 0: it is its process's own. marks:
 * called_marks. -ENOMEM.
 */
int load_alike_part(struct load_alike *a, const struct stacks *s, uint32_t space, bool marks,
                    uint32_t *part);
/* stacks_hit of an address of a user's space: one number for all that are alike, if *alike. The
 * address is then that of the first one, in its space. -ENOMEM. */
int load_alike_hit(struct load_alike *a, struct stacks *s, uint32_t space, uint64_t ip,
                   uint32_t *ret, bool *alike);
/* The space of a hit that stands for others; 0: it stands for none. */
static inline uint32_t load_alike_hit_space(const struct load_alike *a, uint32_t hit)
{
	return hit < a->hit_at_capacity ? a->hit_at[hit].space : 0;
}
/* Its place: those of one mapped file are in the order of their offsets. UINT64_MAX: it stands for
 * none. */
static inline uint64_t load_alike_hit_place(const struct load_alike *a, uint32_t hit)
{
	return load_alike_hit_space(a, hit) ? a->hit_at[hit].place : UINT64_MAX;
}
/* The space in which a part stands for others; 0: it has no words. */
static inline uint32_t load_alike_space(const struct load_alike *a, uint32_t part)
{
	return part / 2 < a->spaces_capacity ? a->spaces[part / 2] : 0;
}

#endif
