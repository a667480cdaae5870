/* SPDX-License-Identifier: MIT */
/*
 * origin.h: what a recording says beside its samples, for formats that have a place for it: where
 * an object's code was mapped, which program a task ran, how often an event was sampled, and when.
 *
 * Ids are the profile's. Nothing here is needed to read a profile: what is not known is 0.
 */
#ifndef SEAM_PROFILE_ORIGIN_H
#define SEAM_PROFILE_ORIGIN_H

#include "base/map.h"
#include "profile/profile.h"

/* Addresses [start, limit) in the object's own numbering, as frames have them; offset is that of
 * start in the file (of the kernel: the address of _text). limit 0: not known. */
struct origin_code {
	uint64_t start, limit, offset;
};

/* What of its CPU a thread used between two samples of an event, as their weights have it. */
enum origin_cpu {
	ORIGIN_CPU_UNKNOWN,
	ORIGIN_CPU_NANOSECONDS,
	ORIGIN_CPU_CYCLES,
};

struct origin {
	struct origin_code *code; /* by object */
	size_t n_code;
	struct map programs; /* task -> object */
	struct map periods;  /* event -> period in its unit, where it is the same for all samples */
	struct map cpus;     /* event -> enum origin_cpu */
	uint64_t first_ns,
	        last_ns;   /* of the samples, by the recording's clock; last_ns 0: no times */
	uint64_t epoch_ns; /* to be added for the time since 1970; 0: not known */
};

struct origin *profile_origin(struct profile *p);
const struct origin *profile_origin_of(const struct profile *p);

void origin_free(struct origin *o);
/* One more mapping of an object: its code spans all of them. -ENOMEM. */
int origin_add_code(struct origin *o, uint32_t object, const struct origin_code *code);
struct origin_code origin_code_of(const struct origin *o, uint32_t object);
/* The program that a task ran: of several, the one whose path sorts first, whatever the order of
 * calls. -ENOMEM. */
int origin_add_program(struct profile *p, uint32_t task, uint32_t object);
/* 0: not known. */
uint32_t origin_program_of(const struct origin *o, uint32_t task);
/* Two events that are one to the profile but have different periods have none. -ENOMEM. */
int origin_add_period(struct origin *o, uint32_t event, uint64_t period);
uint64_t origin_period_of(const struct origin *o, uint32_t event);
/* Two events that are one to the profile and differ in it are not known. -ENOMEM. */
int origin_add_cpu(struct origin *o, uint32_t event, enum origin_cpu cpu);
enum origin_cpu origin_cpu_of(const struct origin *o, uint32_t event);
/* From the first sample of both to the last. */
void origin_add_times(struct origin *o, const struct origin *from);

#endif
