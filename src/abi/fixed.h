/* SPDX-License-Identifier: MIT */
/*
 * fixed.h: what stands at a place that the event alone tells: the front of its samples, the trailer
 * of its other records. Invariant: the caller knows that the bytes are there. Everything that
 * states its own length is elsewhere.
 *
 * swap is best a constant: each field then costs a test, a load and its stores. So is type: then
 * there is no test, either.
 */
#ifndef SEAM_ABI_FIXED_H
#define SEAM_ABI_FIXED_H

#include <string.h>

#include "abi/events.h"

#define FIXED_INLINE __attribute__((always_inline)) static inline

FIXED_INLINE uint64_t fixed_word(const unsigned char **p, bool swap)
{
	uint64_t v;

	memcpy(&v, *p, 8);
	*p += 8;
	return swap ? __builtin_bswap64(v) : v;
}

/* Two u32 in one word: each is swapped by itself. */
FIXED_INLINE void fixed_pair(const unsigned char **p, bool swap, uint32_t *first, uint32_t *second)
{
	memcpy(first, *p, 4);
	memcpy(second, *p + 4, 4);
	*p += 8;
	if (swap) {
		*first = __builtin_bswap32(*first);
		*second = __builtin_bswap32(*second);
	}
}

/*
 * Reads the fields from IDENTIFIER to PERIOD. type is l->sample_type, and l->fixed_size - 8 bytes
 * must be there. pid, tid, time and ids are stored twice, in both ids of a decoded sample: copying
 * one to the other afterwards would wait for the stores.
 */
FIXED_INLINE void fixed_sample(const struct layout *l, uint64_t type, const unsigned char *p,
                               bool swap, struct seam_sample *s, struct seam_id *id)
{
	uint32_t reserved;

	if (type & SEAM_SAMPLE_IDENTIFIER)
		id->id = s->id.id = fixed_word(&p, swap);
	if (type & SEAM_SAMPLE_IP)
		s->ip = fixed_word(&p, swap);
	if (type & SEAM_SAMPLE_TID) {
		fixed_pair(&p, swap, &s->id.pid, &s->id.tid);
		id->pid = s->id.pid;
		id->tid = s->id.tid;
	}
	if (type & SEAM_SAMPLE_TIME)
		id->time_ns = s->id.time_ns = fixed_word(&p, swap);
	if (type & SEAM_SAMPLE_ADDR)
		s->addr = fixed_word(&p, swap);
	if (type & SEAM_SAMPLE_ID)
		id->id = s->id.id = fixed_word(&p, swap);
	if (type & SEAM_SAMPLE_STREAM_ID)
		id->stream_id = s->id.stream_id = fixed_word(&p, swap);
	if (type & SEAM_SAMPLE_CPU) {
		fixed_pair(&p, swap, &s->id.cpu, &reserved);
		id->cpu = s->id.cpu;
	}
	s->period = type & SEAM_SAMPLE_PERIOD ? fixed_word(&p, swap) : l->period;
}

/* The trailer of a kernel record that is no sample; l->trailer_size bytes are there. Sets all of
 * ret but has. */
FIXED_INLINE void fixed_trailer(const struct layout *l, const unsigned char *p, bool swap,
                                struct seam_id *ret)
{
	uint64_t bits = l->trailer;
	uint32_t reserved;

	if (bits & SEAM_SAMPLE_TID)
		fixed_pair(&p, swap, &ret->pid, &ret->tid);
	if (bits & SEAM_SAMPLE_TIME)
		ret->time_ns = fixed_word(&p, swap);
	if (bits & SEAM_SAMPLE_ID)
		ret->id = fixed_word(&p, swap);
	if (bits & SEAM_SAMPLE_STREAM_ID)
		ret->stream_id = fixed_word(&p, swap);
	if (bits & SEAM_SAMPLE_CPU)
		fixed_pair(&p, swap, &ret->cpu, &reserved);
	if (bits & SEAM_SAMPLE_IDENTIFIER)
		ret->id = fixed_word(&p, swap);
}

/* The seam_id::has of a record with that trailer. */
FIXED_INLINE uint64_t fixed_trailer_has(const struct layout *l)
{
	return l->trailer | (l->trailer & SEAM_SAMPLE_IDENTIFIER ? SEAM_SAMPLE_ID : 0);
}

#endif
