/* SPDX-License-Identifier: MIT */
/*
 * events.h: what a set of events knows beyond its public face: where in a record the id stands, and
 * what is constant of the records of each event.
 */
#ifndef SEAM_ABI_EVENTS_H
#define SEAM_ABI_EVENTS_H

#include <seam/record.h>

#include "base/map.h"

/* Computed once per event, so that decoding looks at no attr. Sizes in bytes. */
struct layout {
	uint64_t sample_type;
	uint64_t read_format;
	uint64_t id_has;               /* seam_id::has of its samples */
	uint64_t trailer;              /* SEAM_SAMPLE_* bits of its sample_id trailer, 0: none */
	uint64_t regs_user, regs_intr; /* masks */
	uint64_t period;               /* of a sample that carries none */
	uint32_t fixed_size;           /* of a sample up to PERIOD, header included */
	uint32_t trailer_size;
	uint8_t regs_user_n, regs_intr_n;
	bool branch_hw_idx, branch_counters;
	/* The least size of a sample that holds nothing but a callchain behind PERIOD. UINT32_MAX:
	 * samples of this event hold more. */
	uint32_t redecode_size;
};

#define EVENTS_NO_ID UINT32_MAX
#define EVENTS_NEAR 4096u

struct events_entry {
	struct seam_event event; /* first: an event's entry is its own address */
	struct layout layout;
	char *name;
	uint64_t *ids;
	size_t ids_capacity;
};

struct seam_events {
	struct events_entry **entries; /* each allocated alone: pointers to events stay valid */
	size_t n, capacity;
	struct map by_id; /* id -> index */
	/* A table of the EVENTS_NEAR ids from the first one on: index + 1 of the event, or 0. The
	 * kernel numbers events in a row, and every record has an id, so this saves nearly all
	 * searches. */
	uint64_t first_id;
	uint32_t *near_ids;
	/* Where the id stands when it can be found without knowing the event; else EVENTS_NO_ID. */
	uint32_t sample_id_at;    /* from the start of a sample */
	uint32_t trailer_id_back; /* from the end of another kernel record */
	bool same_trailer;        /* all events have the same trailer */
	uint64_t any_sample_type; /* all events' bits together */
	bool any_sample_id_all;
};

static inline const struct layout *events_layout(const struct seam_event *event)
{
	return &((const struct events_entry *)(const void *)event)->layout;
}

static inline const struct seam_event *events_find(const struct seam_events *events, uint64_t id)
{
	uint32_t index;

	if (!events->near_ids || id - events->first_id >= EVENTS_NEAR)
		return seam_events_by_id(events, id);
	index = events->near_ids[id - events->first_id];
	return index ? &events->entries[index - 1]->event : NULL;
}

/* The event that a kernel record belongs to; NULL when it cannot be told. */
const struct seam_event *events_of_sample(const struct seam_events *events,
                                          const struct seam_record *record);
/* Where the trailer of a kernel record ends: at its end, but for what the kernel made too long. */
uint32_t events_trailer_end(const struct seam_events *events, const struct seam_record *record);
const struct seam_event *events_of_trailer(const struct seam_events *events,
                                           const struct seam_record *record);

/* A sample's time and nothing else of it, so that little of the record is read; 0: it has none, or
 * cannot be decoded. */
uint64_t events_sample_time(const struct seam_events *events, const struct seam_record *record);

/* What is constant of the records of an event with this attr. */
struct layout layout_of(const struct seam_attr *attr);

#endif
