// SPDX-License-Identifier: MIT
/*
 * redecode.c: see redecode.h. Invariant: what it decodes, seam_record_decode decodes with the same
 * result. Records that are unsound, of another event, or have more fields than a callchain are left
 * to that function.
 *
 * A decoded record of the same event already holds everything that the event determines: which
 * fields there are, its pointer, which ids are known. So only values are written. Callers keep one
 * seam_decoded per type for this (redecode_decode in the header).
 *
 * The fast way has two doors: the near one is for records of this byte order whose id is in the
 * table of near ids; the far one searches. Both take the same record apart.
 */
#include "abi/redecode.h"

#include "abi/fixed.h"

#define DEFERRED_LEAST 24u /* header, cookie, number of addresses */
/* The sample_type that both perf and seam use to record several CPUs with stacks. */
#define REDECODE_USUAL                                                                  \
	(SEAM_SAMPLE_IDENTIFIER | SEAM_SAMPLE_IP | SEAM_SAMPLE_TID | SEAM_SAMPLE_TIME | \
	 SEAM_SAMPLE_CALLCHAIN | SEAM_SAMPLE_CPU | SEAM_SAMPLE_PERIOD)

/* Whether a record is of the same event as the last one. at: where its id stands in the record;
 * EVENTS_NO_ID: nowhere. */
static bool redecode_is(const struct seam_events *events, const struct seam_record *record,
                        uint32_t at, const struct seam_event *last)
{
	const unsigned char *p = record->bytes + at;

	if (events->n == 1)
		return true;
	return at <= record->size - 8 && events_find(events, fixed_word(&p, record->swap)) == last;
}

/* The same for records of this byte order whose id is near the first, as nearly all are; false if
 * it cannot tell. It calls no function, so the caller need not save registers, which would be a
 * quarter of its instructions. */
static inline bool redecode_is_near(const struct seam_events *events,
                                    const struct seam_record *record, uint32_t at,
                                    const struct seam_event *last)
{
	const unsigned char *p = record->bytes + at;
	uint64_t near;

	if (record->swap)
		return false;
	if (events->n == 1)
		return true;
	if (at > record->size - 8 || !events->near_ids)
		return false;
	/* Unsigned: an id below the first one becomes a large number and is not near. */
	near = fixed_word(&p, false) - events->first_id;
	return near < EVENTS_NEAR && events->near_ids[near] == last->index + 1;
}

/* Fills ret from a sample that is known to be of the last one's event, without clearing what the
 * last one left: the same fields are written again. False: it is not sound; decode it in full. */
FIXED_INLINE bool redecode_take_sample(const struct seam_record *record, bool swap,
                                       const struct layout *l, struct seam_decoded *ret)
{
	const unsigned char *p = record->bytes + l->fixed_size;
	uint64_t n;

	if (l->sample_type & SEAM_SAMPLE_CALLCHAIN) {
		n = fixed_word(&p, swap);
		if (n > (record->size - l->fixed_size - 8) / 8)
			return false;
		ret->sample.callchain = (struct seam_u64s){ .bytes = p, .n = n, .swap = swap };
	}
	p = record->bytes + 8;
	/* The constant makes the compiler write a second copy for the usual sample, without tests
	 * of bits. */
	if (l->sample_type == REDECODE_USUAL)
		fixed_sample(l, REDECODE_USUAL, p, swap, &ret->sample, &ret->id);
	else
		fixed_sample(l, l->sample_type, p, swap, &ret->sample, &ret->id);
	ret->record = record;
	return true;
}

/* Kept out of the caller's code, so that the usual case saves no registers for it. */
__attribute__((noinline)) static bool redecode_far_sample(const struct seam_events *events,
                                                          const struct seam_record *record,
                                                          const struct seam_event *last,
                                                          struct seam_decoded *ret)
{
	return redecode_is(events, record, events->sample_id_at, last) &&
	       redecode_take_sample(record, record->swap, events_layout(last), ret);
}

/* redecode_size is UINT32_MAX for events with more fields, so they always take the long way. */
bool redecode_sample(const struct seam_events *events, const struct seam_record *record,
                     const struct seam_event *last, struct seam_decoded *ret)
{
	const struct layout *l = events_layout(last);

	if (record->size < l->redecode_size)
		return false;
	if (!redecode_is_near(events, record, events->sample_id_at, last))
		return redecode_far_sample(events, record, last, ret);
	return redecode_take_sample(record, false, l, ret);
}

/* The same for a deferred record: cookie, count, addresses, trailer. */
FIXED_INLINE bool redecode_take_deferred(const struct seam_record *record, bool swap,
                                         const struct layout *l, struct seam_decoded *ret)
{
	const unsigned char *p = record->bytes + 8;
	uint64_t cookie = fixed_word(&p, swap), n = fixed_word(&p, swap);

	if (n > (record->size - DEFERRED_LEAST - l->trailer_size) / 8)
		return false;
	ret->deferred.cookie = cookie;
	ret->deferred.ips = (struct seam_u64s){ .bytes = p, .n = n, .swap = swap };
	fixed_trailer(l, record->bytes + record->size - l->trailer_size, swap, &ret->id);
	ret->record = record;
	return true;
}

__attribute__((noinline)) static bool redecode_far_deferred(const struct seam_events *events,
                                                            const struct seam_record *record,
                                                            const struct seam_event *last,
                                                            struct seam_decoded *ret)
{
	return redecode_is(events, record, record->size - events->trailer_id_back, last) &&
	       redecode_take_deferred(record, record->swap, events_layout(last), ret);
}

bool redecode_deferred(const struct seam_events *events, const struct seam_record *record,
                       const struct seam_event *last, struct seam_decoded *ret)
{
	const struct layout *l = events_layout(last);

	/* If the id has no place, the position is behind the record, and both ways refuse it. */
	if (record->size < DEFERRED_LEAST + l->trailer_size)
		return false;
	if (!redecode_is_near(events, record, record->size - events->trailer_id_back, last))
		return redecode_far_deferred(events, record, last, ret);
	return redecode_take_deferred(record, false, l, ret);
}
