/* SPDX-License-Identifier: MIT */
/*
 * redecode.h: decoding into the place of the last record of the same type. Nearly all records are
 * samples or deferred records (CALLCHAIN_DEFERRED) of the event before, of which little has to be
 * written.
 */
#ifndef SEAM_ABI_REDECODE_H
#define SEAM_ABI_REDECODE_H

#include "abi/events.h"

/*
 * The same as seam_record_decode into what it last decoded, a whole SAMPLE (a whole
 * CALLCHAIN_DEFERRED) of the event last, and nobody wrote since: only what differs is written.
 * False: nothing was written, and seam_record_decode is to be called, whatever there is to be said.
 */
bool redecode_sample(const struct seam_events *events, const struct seam_record *record,
                     const struct seam_event *last, struct seam_decoded *ret);
bool redecode_deferred(const struct seam_events *events, const struct seam_record *record,
                       const struct seam_event *last, struct seam_decoded *ret);

/*
 * seam_record_decode into a place that holds what the same *last says: the event of the whole
 * record of that type (SAMPLE or CALLCHAIN_DEFERRED) that was decoded there last; NULL: something
 * else.
 */
static inline int redecode_decode(const struct seam_events *events,
                                  const struct seam_record *record, uint32_t type,
                                  const struct seam_event **last, struct seam_decoded *ret,
                                  struct seam_error *err)
{
	int r;

	if (*last && record->type == type &&
	    (type == SEAM_RECORD_SAMPLE ? redecode_sample(events, record, *last, ret)
	                                : redecode_deferred(events, record, *last, ret)))
		return 0;
	r = seam_record_decode(events, record, ret, err);
	*last = r >= 0 && record->type == type ? ret->event : NULL;
	return r;
}

#endif
