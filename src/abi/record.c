// SPDX-License-Identifier: MIT
/*
 * record.c: one record by its type: the table, the least sizes, the sample_id trailer, and the way
 * into the decoder of the type (sample.c, sideband.c).
 *
 * Invariant: no decoder runs on a record shorter than the least size of its type plus its trailer.
 * A record that fails leaves *ret empty but for sz and record: nobody can read half of one. A type
 * that is not known is an error of its own (-EOPNOTSUPP), which readers count and pass over.
 */
#include <errno.h>

#include "abi/decode.h"
#include "abi/record.h"
#include "base/sized.h"
#include "abi/fixed.h"

struct record_type {
	/* The fixed part of the type, header included, in bytes. */
	uint16_t least;
	uint16_t clear; /* bytes of seam_decoded that are zeroed before decoding */
	int (*decode)(struct decode *d);
};

/* The largest member of the union but the sample, which is ten times as large as most. To clear
 * room for a sample in front of every small record would cost time for nothing. */
#define RECORD_CLEAR (offsetof(struct seam_decoded, mmap) + sizeof(struct seam_mmap))
#define RECORD_CLEAR_ALL sizeof(struct seam_decoded)

_Static_assert(sizeof(struct seam_mmap) >= sizeof(struct seam_task) &&
                       sizeof(struct seam_mmap) >= sizeof(struct seam_ksymbol) &&
                       sizeof(struct seam_mmap) >= sizeof(struct seam_callchain_deferred),
               "RECORD_CLEAR");

static const struct record_type record_types[RECORD_TYPES] = {
#define RECORD(id, symbol, name, least, decoder, printer, fields) \
	[id] = { least, id == SEAM_RECORD_SAMPLE ? RECORD_CLEAR_ALL : RECORD_CLEAR, decoder },
#include "abi/records.def"
};

#define RECORD(id, symbol, name, least, decoder, printer, fields)            \
	_Static_assert(id == SEAM_RECORD_##symbol, "records.def: " #symbol); \
	_Static_assert(least >= 8 && least <= UINT16_MAX, "records.def: " #symbol);
#include "abi/records.def"

/* A type of the public header that has no row is a case that the compiler misses here. */
static inline void record_has_row(enum seam_record_type type)
{
	switch (type) {
#define RECORD(id, symbol, ...) case SEAM_RECORD_##symbol:
#include "abi/records.def"
		break;
	}
}

/* Called for records whose event is not known, too; perf's own records and samples have no
 * trailer. */
const struct layout *decode_trailer(const struct seam_events *events,
                                    const struct seam_record *record,
                                    const struct seam_event *event)
{
	static const struct layout none;

	if (record->type >= SEAM_RECORD_USER_FIRST || record->type == SEAM_RECORD_SAMPLE)
		return &none;
	if (event)
		return events_layout(event);
	/* perf's own records carry id 0, which is of no event. Their trailer is read if all events
	 * have the same one. */
	return events->same_trailer ? &events->entries[0]->layout : &none;
}

/* Finds the record's event and takes the trailer off the end of the body. *d gets both. */
static int record_kernel(struct decode *d, unsigned least)
{
	const struct seam_record *record = d->record;
	const struct seam_event *event = events_of_trailer(d->events, record);
	const struct layout *l = decode_trailer(d->events, record, event);
	/* `end` is before the record's end where the kernel left meaningless bytes behind the
	 * trailer. */
	uint32_t size = l->trailer_size, end = events_trailer_end(d->events, record);

	if (record->size < least + size)
		return decode_bad(d, "%u bytes, need %u", record->size, least + size);
	d->ret->event = event;
	if (!size)
		return 0;
	d->ret->id.has = fixed_trailer_has(l);
	fixed_trailer(l, record->bytes + end - size, record->swap, &d->ret->id);
	/* The decoder of the type sees neither the trailer nor these bytes. */
	d->body.end -= record->size - end + size;
	return 0;
}

/* Decodes in three steps: the type's least size is checked, the sample_id trailer is taken off the
 * end, and the decoder of the type reads what lies between. */
int record_decode(const struct seam_events *events, const struct seam_record *record,
                  struct seam_decoded *ret, struct seam_error *err)
{
	struct decode d = { .events = events, .record = record, .ret = ret, .err = err };
	const struct record_type *type;
	int r = 0;

	(void)record_has_row;
	type = record->type < RECORD_TYPES ? &record_types[record->type] : NULL;
	if (!type || !type->decode) {
		*ret = (struct seam_decoded){ .sz = sizeof(*ret), .record = record };
		return seam_error_set(err, EOPNOTSUPP, NULL, record->offset, NULL,
		                      "record type %u is not known (%u bytes)", record->type,
		                      record->size);
	}
	/* The compiler must not know this size: the "rep stos" that it makes for a known one takes
	 * twice as long. */
	memset(ret, 0, type->clear);
	ret->sz = sizeof(*ret);
	ret->record = record;
	/* -1 means "not said": 0 is a real CPU, and pid 0 is the idle task. */
	ret->id.pid = ret->id.tid = ret->id.cpu = UINT32_MAX;
	if (record->size < type->least)
		return decode_bad(&d, "%u bytes, need %u", record->size, type->least);
	d.body.start = d.body.at = record->bytes + 8;
	d.body.end = record->bytes + record->size;
	d.body.swap = record->swap;
	/* A sample's own fields hold what others have in the trailer. */
	if (record->type < SEAM_RECORD_USER_FIRST && record->type != SEAM_RECORD_SAMPLE)
		r = record_kernel(&d, type->least);
	if (r >= 0)
		r = type->decode(&d);
	/* A decoder that failed may have filled a part of it. */
	if (__builtin_expect(r < 0, 0))
		*ret = (struct seam_decoded){ .sz = sizeof(*ret), .record = record };
	return r;
}

/* The entry for users of the library, whose struct may be of another version: older callers get the
 * members that they know, newer ones zeros behind them. */
int seam_record_decode(const struct seam_events *events, const struct seam_record *record,
                       struct seam_decoded *ret, struct seam_error *err)
{
	struct seam_decoded whole;
	size_t sz = ret->sz;
	int r;

	if (sz == sizeof(*ret))
		return record_decode(events, record, ret, err);
	if (sz < sizeof(sz))
		return seam_error_set(err, EINVAL, NULL, record->offset,
		                      seam_record_name(record->type),
		                      "the size of what is to be filled is not set");
	r = record_decode(events, record, &whole, err);
	sized_give(ret, &whole, sizeof(whole));
	return r;
}
