// SPDX-License-Identifier: MIT
/* members.c: see members.h. A group's sample carries the running totals of all its counters; each
 * member's share of the sample is its total less the one before. The map keeps the last totals, per
 * counter and, if counters are inherited, per thread. */
#include "abi/members.h"

#include <errno.h>

/* Inherited counters count per thread, under one id. So the total of each thread is another number,
 * though the id is the same. */
static uint64_t members_key(const struct seam_sample *s, uint64_t id)
{
	const uint64_t words[2] = { id, s->id.tid };

	if (!(s->event->attr.flags & SEAM_ATTR_INHERIT) || !(s->id.has & SEAM_SAMPLE_TID))
		return id;
	return map_hash_bytes(words, sizeof(words), 1);
}

/* Keeps each total for the next sample. So every sample must be given, in the order in which they
 * were taken. */
int members_next(struct members *m, const struct seam_events *events, const struct seam_sample *s,
                 uint64_t *i, struct member *ret)
{
	while (*i < s->read.n) {
		struct seam_read_value v = seam_read_at(&s->read, (*i)++);
		const struct seam_event *event = seam_events_by_id(events, v.id);
		uint64_t *last = event ? map_slot(&m->last, members_key(s, v.id), NULL) : NULL;

		if (event && !last)
			return -ENOMEM;
		/* A total that has not moved gives its event nothing: such a member is passed
		 * over. */
		if (!event || *last == v.value)
			continue;
		*ret = (struct member){ .event = event, .id = v.id, .period = v.value - *last };
		*last = v.value;
		return 1;
	}
	return 0;
}

void members_free(struct members *m)
{
	map_free(&m->last);
}
