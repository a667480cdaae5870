// SPDX-License-Identifier: MIT
/* origin.c: see origin.h. What a profile needs to know of the recording beyond its rows: exports
 * write it, and filters and merges carry it over. Keys are the profile's own ids. */
#include "profile/origin.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* Two recordings of one profile had other periods: then none is true. */
#define PERIODS_DIFFER UINT64_MAX

void origin_free(struct origin *o)
{
	free(o->code);
	map_free(&o->programs);
	map_free(&o->periods);
	map_free(&o->cpus);
	*o = (struct origin){ 0 };
}

/* A code without limit only makes room for the object. Two mappings of an object become one that
 * covers both. */
int origin_add_code(struct origin *o, uint32_t object, const struct origin_code *code)
{
	struct origin_code *at;

	if (ARRAY_ROOM_ZEROED(&o->code, &o->n_code, (size_t)object + 1) < 0)
		return -ENOMEM;
	at = &o->code[object];
	if (!code->limit)
		return 0;
	if (!at->limit || code->start < at->start) {
		at->start = code->start;
		at->offset = code->offset;
	}
	if (code->limit > at->limit)
		at->limit = code->limit;
	return 0;
}

struct origin_code origin_code_of(const struct origin *o, uint32_t object)
{
	return object < o->n_code ? o->code[object] : (struct origin_code){ 0 };
}

/* The object of the program that a task ran; 0: not known. */
uint32_t origin_program_of(const struct origin *o, uint32_t task)
{
	uint64_t object = 0;

	return map_get(&o->programs, task, &object) ? (uint32_t)object : 0;
}

int origin_add_period(struct origin *o, uint32_t event, uint64_t period)
{
	bool is_new;
	uint64_t *slot = map_slot(&o->periods, event, &is_new);

	if (!slot)
		return -ENOMEM;
	*slot = is_new || *slot == period ? period : PERIODS_DIFFER;
	return 0;
}

/* 0: not known, or it differs. */
uint64_t origin_period_of(const struct origin *o, uint32_t event)
{
	uint64_t period = 0;

	map_get(&o->periods, event, &period);
	return period == PERIODS_DIFFER ? 0 : period;
}

int origin_add_cpu(struct origin *o, uint32_t event, enum origin_cpu cpu)
{
	bool is_new;
	uint64_t *slot = map_slot(&o->cpus, event, &is_new);

	if (!slot)
		return -ENOMEM;
	*slot = is_new || *slot == (uint64_t)cpu ? cpu : ORIGIN_CPU_UNKNOWN;
	return 0;
}

/* What an event's weights say of a CPU's use; unknown where recordings differ. */
enum origin_cpu origin_cpu_of(const struct origin *o, uint32_t event)
{
	uint64_t cpu = ORIGIN_CPU_UNKNOWN;

	map_get(&o->cpus, event, &cpu);
	return (enum origin_cpu)cpu;
}

/* The earliest and the latest of both. epoch_ns belongs to the earliest. */
void origin_add_times(struct origin *o, const struct origin *from)
{
	if (!from->last_ns)
		return;
	if (!o->last_ns || from->first_ns < o->first_ns) {
		o->first_ns = from->first_ns;
		o->epoch_ns = from->epoch_ns;
	}
	if (from->last_ns > o->last_ns)
		o->last_ns = from->last_ns;
}
