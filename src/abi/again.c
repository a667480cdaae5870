// SPDX-License-Identifier: MIT
// again.c: see again.h. Invariant: what it takes, seam_record_decode takes, with the same result; what is unsound, of another
// event or of a shape with more to it is left to that.
#include "abi/again.h"

#include "abi/fixed.h"

#define ANSWER_LEAST 24u /* header, cookie, number of addresses */

/* Whether a word of the record is an id of the event; at is EVENTS_NO_ID where no place is known. */
static inline bool again_is(const struct seam_events *events, const struct seam_record *record,
                            uint32_t at, const struct seam_event *event)
{
	const unsigned char *p = record->bytes + at;

	if (events->n == 1)
		return true;
	if (at > record->size - 8)
		return false;
	return events_find(events, fixed_word(&p, record->swap)) == event;
}

FIXED_INLINE bool again_sample_as(const struct seam_events *events,
                                  const struct seam_record *record, bool swap,
                                  const struct seam_event *last, struct seam_decoded *ret)
{
	const struct layout *l = events_layout(last);
	bool chain = l->sample_type & SEAM_SAMPLE_CALLCHAIN;
	const unsigned char *p = record->bytes + l->fixed_size;
	uint64_t n;

	if (!l->plain || record->size < l->fixed_size + (chain ? 8 : 0) ||
	    !again_is(events, record, events->sample_id_at, last))
		return false;
	if (chain) {
		n = fixed_word(&p, swap);
		if (n > (record->size - l->fixed_size - 8) / 8)
			return false;
		ret->sample.callchain = (struct seam_u64s){ .bytes = p, .n = n, .swap = swap };
	}
	fixed_sample(l, record->bytes + 8, swap, &ret->sample, &ret->id);
	ret->record = record;
	return true;
}

bool again_sample(const struct seam_events *events, const struct seam_record *record,
                  const struct seam_event *last, struct seam_decoded *ret)
{
	return __builtin_expect(record->swap, 0)
	               ? again_sample_as(events, record, true, last, ret)
	               : again_sample_as(events, record, false, last, ret);
}

FIXED_INLINE bool again_answer_as(const struct seam_events *events,
                                  const struct seam_record *record, bool swap,
                                  const struct seam_event *last, struct seam_decoded *ret)
{
	const struct layout *l = events_layout(last);
	const unsigned char *p = record->bytes + 8;
	uint64_t cookie, n;

	if (record->size < ANSWER_LEAST + l->trailer_size ||
	    !again_is(events, record, record->size - events->trailer_id_back, last))
		return false;
	cookie = fixed_word(&p, swap);
	n = fixed_word(&p, swap);
	if (n > (record->size - ANSWER_LEAST - l->trailer_size) / 8)
		return false;
	ret->deferred.cookie = cookie;
	ret->deferred.ips = (struct seam_u64s){ .bytes = p, .n = n, .swap = swap };
	fixed_trailer(l, record->bytes + record->size - l->trailer_size, swap, &ret->id);
	ret->record = record;
	return true;
}

bool again_answer(const struct seam_events *events, const struct seam_record *record,
                  const struct seam_event *last, struct seam_decoded *ret)
{
	return __builtin_expect(record->swap, 0)
	               ? again_answer_as(events, record, true, last, ret)
	               : again_answer_as(events, record, false, last, ret);
}
