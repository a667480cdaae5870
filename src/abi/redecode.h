/* SPDX-License-Identifier: MIT */
/*
 * redecode.h: decoding into the place of the last record of the same type. Nearly all records are
 * samples or deferred records (CALLCHAIN_DEFERRED) of the event before, of which little has to be
 * written.
 */
#ifndef SEAM_ABI_REDECODE_H
#define SEAM_ABI_REDECODE_H

#include "abi/record.h"
#include "abi/events.h"

/*
 * Decodes a sample (or a deferred record) of the event `last` into *ret, which must hold the last
 * record of this type and event, unchanged since: only what differs is written. False: nothing was
 * written, and the caller must use seam_record_decode, which also says what is wrong.
 */
bool redecode_sample(const struct seam_events *events, const struct seam_record *record,
                     const struct seam_event *last, struct seam_decoded *ret);
bool redecode_deferred(const struct seam_events *events, const struct seam_record *record,
                       const struct seam_event *last, struct seam_decoded *ret);

/*
 * Decodes a record into *ret by the fastest way. *last: the event of the record that is in *ret, if
 * that is a whole SAMPLE (or CALLCHAIN_DEFERRED), else NULL; it is updated. So a caller keeps one
 * ret and one last for each of the two types.
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
	r = record_decode(events, record, ret, err);
	*last = r >= 0 && record->type == type ? ret->event : NULL;
	return r;
}

#endif
