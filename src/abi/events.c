// SPDX-License-Identifier: MIT
/*
 * events.c: a set of events, and which of them a record belongs to.
 *
 * Invariant: sample_id_at and trailer_id_back are positions that all events of the set share, or
 * EVENTS_NO_ID. It reads at most one word of a record and interprets nothing else. Nothing is ever
 * removed from a set, and an event keeps its address and its index.
 *
 * Every record of the kernel belongs to an event, but only its id says to which. Where the id
 * stands depends on the event's own sample_type, which is not known yet. The kernel solves this
 * with IDENTIFIER, whose place is the same in all events; older recordings may agree on a place by
 * chance, and events_share keeps it as long as all events agree.
 */
#include "abi/events.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

/* However many CPUs a machine has, an event of a recording is one entry with an id for each. So
 * real files have few, and the bound keeps a hostile header from filling memory. */
#define EVENTS_MAX 65536u
/* The fields at the front of a sample, of one word each: everything up to the first that states its
 * own length. */
#define EVENTS_FIXED                                                                    \
	(SEAM_SAMPLE_IDENTIFIER | SEAM_SAMPLE_IP | SEAM_SAMPLE_TID | SEAM_SAMPLE_TIME | \
	 SEAM_SAMPLE_ADDR | SEAM_SAMPLE_ID | SEAM_SAMPLE_STREAM_ID | SEAM_SAMPLE_CPU |  \
	 SEAM_SAMPLE_PERIOD)
/* The fields that a sample_id trailer may hold. */
#define EVENTS_TRAILER                                                                 \
	(SEAM_SAMPLE_TID | SEAM_SAMPLE_TIME | SEAM_SAMPLE_ID | SEAM_SAMPLE_STREAM_ID | \
	 SEAM_SAMPLE_CPU | SEAM_SAMPLE_IDENTIFIER)
#define EVENTS_BRANCH_HW_INDEX (1ULL << 17) /* of branch_sample_type */
#define EVENTS_BRANCH_COUNTERS (1ULL << 19)

/* The size in bytes of that many fields of one word. */
static uint32_t events_words(uint64_t bits)
{
	return 8 * (uint32_t)__builtin_popcountll(bits);
}

/* Computes once per event what decoding each of its samples needs: which fields there are, how long
 * the fixed part is, and from which size on the short way of redecode.c may be used. */
struct layout layout_of(const struct seam_attr *a)
{
	uint64_t type = a->sample_type;
	struct layout l = {
		.sample_type = type,
		.read_format = a->read_format,
		.id_has = type & EVENTS_TRAILER,
		.trailer = a->flags & SEAM_ATTR_SAMPLE_ID_ALL ? type & EVENTS_TRAILER : 0,
		.regs_user = a->sample_regs_user,
		.regs_intr = a->sample_regs_intr,
		/* A sample without its own period has that of the attr. With a frequency the attr
		 * holds no period, so each such sample counts as 1. */
		.period = a->flags & SEAM_ATTR_FREQ ? 1 : a->sample_period,
		.fixed_size = 8 + events_words(type & EVENTS_FIXED),
		.branch_hw_idx = a->branch_sample_type & EVENTS_BRANCH_HW_INDEX,
		.branch_counters = a->branch_sample_type & EVENTS_BRANCH_COUNTERS,
		.redecode_size = UINT32_MAX,
	};

	/* A sample that ends with its callchain can be decoded a second time without looking at its
	 * bits. */
	if (!(type & ~(EVENTS_FIXED | SEAM_SAMPLE_CALLCHAIN)))
		l.redecode_size = l.fixed_size + (type & SEAM_SAMPLE_CALLCHAIN ? 8 : 0);
	l.trailer_size = events_words(l.trailer);
	l.regs_user_n = (uint8_t)__builtin_popcountll(l.regs_user);
	l.regs_intr_n = (uint8_t)__builtin_popcountll(l.regs_intr);
	if (type & SEAM_SAMPLE_IDENTIFIER) /* whoever asks for an id need not know of two bits */
		l.id_has |= SEAM_SAMPLE_ID;
	return l;
}

/* Where the id stands in a sample, from its start. */
static uint32_t events_layout_sample_id_at(const struct layout *l)
{
	const uint64_t before =
	        SEAM_SAMPLE_IP | SEAM_SAMPLE_TID | SEAM_SAMPLE_TIME | SEAM_SAMPLE_ADDR;

	if (l->sample_type & SEAM_SAMPLE_IDENTIFIER)
		return 8;
	if (l->sample_type & SEAM_SAMPLE_ID)
		return 8 + events_words(l->sample_type & before);
	return EVENTS_NO_ID;
}

/* Where the id stands in the trailer, from the record's end. */
static uint32_t events_layout_trailer_id_back(const struct layout *l)
{
	if (l->trailer & SEAM_SAMPLE_IDENTIFIER)
		return 8;
	if (l->trailer & SEAM_SAMPLE_ID)
		return 8 + events_words(l->trailer & (SEAM_SAMPLE_STREAM_ID | SEAM_SAMPLE_CPU));
	return EVENTS_NO_ID;
}

/* Makes an empty set. Free it with seam_events_free, which frees the events and their names too. */
int seam_events_new(struct seam_events **ret)
{
	struct seam_events *e = calloc(1, sizeof(*e));

	if (!e)
		return -ENOMEM;
	e->sample_id_at = e->trailer_id_back = EVENTS_NO_ID;
	*ret = e;
	return 0;
}

static void events_entry_free(struct events_entry *entry)
{
	if (!entry)
		return;
	free(entry->name);
	free(entry->ids);
	free(entry);
}

void seam_events_free(struct seam_events *events)
{
	if (!events)
		return;
	for (size_t i = 0; i < events->n; i++)
		events_entry_free(events->entries[i]);
	free(events->entries);
	free(events->near_ids);
	map_free(&events->by_id);
	free(events);
}

/* Narrows what all events of the set have in common. Called with each event that is added. One
 * event that differs is enough: the place is given up for good. */
static void events_share(struct seam_events *events, const struct layout *l)
{
	uint32_t at = events_layout_sample_id_at(l), back = events_layout_trailer_id_back(l);

	if (events->n == 0) {
		events->sample_id_at = at;
		events->trailer_id_back = back;
		events->same_trailer = true;
	}
	if (events->sample_id_at != at)
		events->sample_id_at = EVENTS_NO_ID;
	if (events->trailer_id_back != back)
		events->trailer_id_back = EVENTS_NO_ID;
	if (events->n && events->entries[0]->layout.trailer != l->trailer)
		events->same_trailer = false;
	events->any_sample_type |= l->sample_type;
	events->any_sample_id_all |= l->trailer != 0;
}

/* Enters an id in the map and, if it is near the first one, in the table that events_find asks
 * first. The first id of all decides which ids are near. -ENOMEM. */
static int events_put_id(struct seam_events *events, uint64_t id, uint32_t index)
{
	int r;

	if (!events->near_ids) {
		events->near_ids = calloc(EVENTS_NEAR, sizeof(*events->near_ids));
		if (!events->near_ids)
			return -ENOMEM;
		events->first_id = id;
	}
	r = map_put(&events->by_id, id, index);
	if (r >= 0 && id - events->first_id < EVENTS_NEAR)
		events->near_ids[id - events->first_id] = index + 1;
	return r;
}

/* Takes an id out again. Calls with ids that were never entered change nothing. */
static void events_del_id(struct seam_events *events, uint64_t id)
{
	if (events->near_ids && id - events->first_id < EVENTS_NEAR)
		events->near_ids[id - events->first_id] = 0;
	map_del(&events->by_id, id);
}

/* Gives an event that is being added its ids. -ENOMEM: some may be entered; the caller takes them
 * out. */
static int events_ids(struct seam_events *events, struct events_entry *entry, const uint64_t *ids,
                      size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int r = events_put_id(events, ids[i], entry->event.index);

		if (r < 0)
			return r;
	}
	if (n)
		memcpy(entry->ids, ids, n * sizeof(*ids));
	entry->event.ids = entry->ids;
	entry->event.n_ids = n;
	return 0;
}

static int events_grow(struct seam_events *events)
{
	return ARRAY_ROOM(&events->entries, &events->capacity, events->n + 1);
}

/* On failure the set is as it was before: ids that were already entered are taken out again,
 * because the next event will get the same index. */
int seam_events_add(struct seam_events *events, const struct seam_attr *attr, const char *name,
                    const uint64_t *ids, size_t n_ids, struct seam_error *err)
{
	struct events_entry *entry;
	int r;

	if (events->n >= EVENTS_MAX)
		return seam_error_set(err, E2BIG, NULL, SEAM_NO_OFFSET, "attr",
		                      "more than %u events", EVENTS_MAX);
	r = events_grow(events);
	entry = r < 0 ? NULL : calloc(1, sizeof(*entry));
	if (!entry)
		goto no_memory;
	entry->event.attr = *attr;
	entry->event.index = (uint32_t)events->n;
	entry->layout = layout_of(attr);
	entry->ids_capacity = n_ids ? n_ids : 1;
	entry->ids = calloc(entry->ids_capacity, sizeof(*entry->ids));
	entry->name = name ? strdup(name) : NULL;
	entry->event.name = entry->name;
	if (!entry->ids || (name && !entry->name))
		goto no_memory;
	r = events_ids(events, entry, ids, n_ids);
	if (r < 0)
		goto no_memory;
	events_share(events, &entry->layout);
	events->entries[events->n++] = entry;
	return (int)entry->event.index;

no_memory:
	for (size_t i = 0; entry && i < n_ids; i++) /* the index will be another's */
		events_del_id(events, ids[i]);
	events_entry_free(entry);
	return seam_error_set(err, ENOMEM, NULL, SEAM_NO_OFFSET, "attr", "out of memory");
}

/* Adding an id twice to the same event changes nothing. An id that belonged to another event
 * belongs to this one afterwards. -ENOENT: there is no event of that index. -ENOMEM. */
int seam_events_add_id(struct seam_events *events, uint32_t index, uint64_t id)
{
	struct events_entry *entry = index < events->n ? events->entries[index] : NULL;
	uint64_t owner;
	int r;

	if (!entry)
		return -ENOENT;
	if (map_get(&events->by_id, id, &owner) && owner == index)
		return 0;
	if (ARRAY_ROOM(&entry->ids, &entry->ids_capacity, entry->event.n_ids + 1) < 0)
		return -ENOMEM;
	entry->event.ids = entry->ids;
	/* The array is grown first: when the map has the id, nothing can fail any more. */
	r = events_put_id(events, id, index);
	if (r < 0)
		return r;
	entry->ids[entry->event.n_ids++] = id;
	return 0;
}

/* Gives an event another name. Records that are decoded later have it; the old text is freed, so
 * nobody may keep a pointer to it. */
int seam_events_set_name(struct seam_events *events, uint32_t index, const char *name)
{
	struct events_entry *entry = index < events->n ? events->entries[index] : NULL;
	char *copy;

	if (!entry)
		return -ENOENT;
	copy = strdup(name);
	if (!copy)
		return -ENOMEM;
	free(entry->name);
	entry->event.name = entry->name = copy;
	return 0;
}

size_t seam_events_count(const struct seam_events *events)
{
	return events->n;
}

const struct seam_event *seam_events_at(const struct seam_events *events, size_t index)
{
	return index < events->n ? &events->entries[index]->event : NULL;
}

const struct seam_event *seam_events_by_id(const struct seam_events *events, uint64_t id)
{
	uint64_t index;

	return map_get(&events->by_id, id, &index) ? seam_events_at(events, index) : NULL;
}

/* The word at a place of the record that the caller has checked. */
static uint64_t events_word(const struct seam_record *record, uint32_t at)
{
	uint64_t v;

	memcpy(&v, record->bytes + at, sizeof(v));
	return record->swap ? __builtin_bswap64(v) : v;
}

/* NULL: several events, and no place for the id that all of them share, or no event has this id. */
const struct seam_event *events_of_sample(const struct seam_events *events,
                                          const struct seam_record *record)
{
	uint32_t at = events->sample_id_at;

	if (events->n == 1) /* the only one: no id is needed, and perf writes none */
		return &events->entries[0]->event;
	if (at == EVENTS_NO_ID || record->size < 8 || record->size - 8 < at)
		return NULL;
	return events_find(events, events_word(record, at));
}

/* Where the fields of a KSYMBOL, BPF_EVENT or TEXT_POKE end, by what the record says itself. 0: it
 * is another type of record, or it is not whole. */
static uint32_t events_body_end(const struct seam_record *record)
{
	const unsigned char *nul;
	uint16_t lengths[2]; /* of a TEXT_POKE's old and new code */

	if (record->size <= 24) /* bytes in front of the name; a BPF_EVENT has no more */
		return 0;
	switch (record->type) {
	case SEAM_RECORD_KSYMBOL:
		nul = memchr(record->bytes + 24, 0, record->size - 24);
		return nul ? ((uint32_t)(nul - record->bytes) + 8) & ~7U : 0;
	case SEAM_RECORD_BPF_EVENT:
		return 24;
	case SEAM_RECORD_TEXT_POKE:
		if (record->swap)
			return 0;
		memcpy(lengths, record->bytes + 16, sizeof(lengths));
		return (20U + lengths[0] + lengths[1] + 7) & ~7U;
	default:
		return 0;
	}
}

/*
 * The kernel adds the size of the trailer to a KSYMBOL, BPF_EVENT or TEXT_POKE again for each event
 * that gets the record, and never takes it off (seen on 6.18 and 7.3). So when others record at the
 * same time, the trailer stands right behind the record's fields, and meaningless bytes follow it
 * up to the record's end.
 */
uint32_t events_trailer_end(const struct seam_events *events, const struct seam_record *record)
{
	uint32_t end, back = events->trailer_id_back;

	if (!events->n || !events->same_trailer)
		return record->size;
	end = events_body_end(record);
	if (!end)
		return record->size;
	end += events->entries[0]->layout.trailer_size;
	if (end >= record->size || back == EVENTS_NO_ID || end < back ||
	    !seam_events_by_id(events, events_word(record, end - back)))
		return record->size;
	return end;
}

/* The same for the other records of the kernel, whose id is in the trailer at the end. */
const struct seam_event *events_of_trailer(const struct seam_events *events,
                                           const struct seam_record *record)
{
	uint32_t back = events->trailer_id_back;

	if (events->n == 1)
		return &events->entries[0]->event;
	if (back == EVENTS_NO_ID || record->size < 8 || record->size - 8 < back)
		return NULL;
	return events_find(events, events_word(record, events_trailer_end(events, record) - back));
}
