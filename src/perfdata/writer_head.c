// SPDX-License-Identifier: MIT
// writer_head.c: the parts of a file around its records: header, attrs, features, and the records
// that stand for them in a stream. Pure: bytes into bufs.
//
// Attrs are written as short as they may be (but not below 128 bytes, which perf 6.1 takes for
// granted in streams): older readers refuse attrs that are longer than those they know, even when
// what they do not know is zero.
#include <errno.h>
#include <string.h>

#include "abi/encode.h"
#include "base/cursor.h"
#include "perfdata/event_name.h"
#include "perfdata/header.h"
#include "perfdata/writer_state.h"

#define WRITER_ATTR_LEAST 128u

/* The size for all attrs: up to the last field that any of them uses. */
static uint32_t writer_attr_size(const struct seam_events *events)
{
	uint32_t size = WRITER_ATTR_LEAST;

	for (size_t i = 0; i < seam_events_count(events); i++) {
		const struct seam_attr *a = &seam_events_at(events, i)->attr;

		if (a->config4)
			return 144;
		if (a->config3)
			size = 136;
	}
	return size;
}

/* Appends the attr in another size than its own. */
static int writer_put_attr(struct buf *out, const struct seam_attr *attr, uint32_t size)
{
	struct seam_attr a = *attr;

	a.size = size;
	return encode_attr(out, &a);
}

/* Appends a record that names an event, for events whose attr does not tell the name. */
static int writer_put_name(struct buf *out, const struct seam_event *event)
{
	const uint64_t is_name = 2;
	size_t start = encode_begin(out, SEAM_RECORD_EVENT_UPDATE, 0);

	buf_put_u64(out, is_name);
	buf_put_u64(out, event->ids[0]);
	buf_put(out, event->name, strlen(event->name) + 1);
	return encode_end(out, start);
}

/* With `all`, names that readers could make themselves are written as well: a stream has no
 * EVENT_DESC. */
static int writer_put_names(struct buf *out, const struct seam_events *events, bool all)
{
	int rc = 0;

	for (size_t i = 0; rc >= 0 && i < seam_events_count(events); i++) {
		const struct seam_event *event = seam_events_at(events, i);
		struct buf plain = { 0 };

		if (!event->n_ids || !event->name || !event->name[0])
			continue;
		event_name(&event->attr, NULL, &plain);
		if (all || strcmp(buf_text(&plain), event->name) != 0)
			rc = writer_put_name(out, event);
		buf_free(&plain);
	}
	return rc;
}

/* An offset and a size: how a header says where something is. */
static void writer_put_section(struct buf *out, uint64_t offset, uint64_t size)
{
	buf_put_u64(out, offset);
	buf_put_u64(out, size);
}

/* Appends the attr section, each entry with the place of its ids, and then the ids of all events.
 * ids_at: where in the file the ids will begin. */
static int writer_put_attrs(struct buf *out, const struct seam_events *events, uint32_t attr_size,
                            uint64_t ids_at)
{
	size_t n = seam_events_count(events);
	int rc = 0;

	for (size_t i = 0; rc >= 0 && i < n; i++) {
		const struct seam_event *event = seam_events_at(events, i);

		rc = writer_put_attr(out, &event->attr, attr_size);
		writer_put_section(out, ids_at, event->n_ids * 8);
		ids_at += event->n_ids * 8;
	}
	for (size_t i = 0; i < n; i++) {
		const struct seam_event *event = seam_events_at(events, i);

		for (size_t k = 0; k < event->n_ids; k++)
			buf_put_u64(out, event->ids[k]);
	}
	return rc;
}

/* Appends all that stands in front of the data of a file. `header` gets the header by itself as
 * well, because it is rewritten when the size of the data is known. */
int writer_head_file(struct buf *out, const struct seam_events *events, struct buf *header)
{
	size_t n = seam_events_count(events), n_ids = 0;
	uint32_t attr_size = writer_attr_size(events);
	uint64_t attrs_size = n * (attr_size + 16), data;
	int rc;

	for (size_t i = 0; i < n; i++)
		n_ids += seam_events_at(events, i)->n_ids;
	data = HEADER_SIZE + attrs_size + n_ids * 8;
	buf_put_u64(header, HEADER_MAGIC);
	buf_put_u64(header, HEADER_SIZE);
	buf_put_u64(header, attr_size + 16);
	writer_put_section(header, HEADER_SIZE, attrs_size);
	writer_put_section(header, data, 0);
	writer_put_section(header, 0, 0);
	buf_put_zeros(header, 32);
	buf_put(out, header->bytes, header->n);
	rc = writer_put_attrs(out, events, attr_size, HEADER_SIZE + attrs_size);
	return rc < 0 ? rc : out->failed || header->failed ? -ENOMEM : 0;
}

/* ATTR: the attr, then its ids. */
static int writer_put_attr_record(struct buf *out, const struct seam_event *event, uint32_t size)
{
	size_t start = encode_begin(out, SEAM_RECORD_HEADER_ATTR, 0);
	int rc = writer_put_attr(out, &event->attr, size);

	for (size_t i = 0; i < event->n_ids; i++)
		buf_put_u64(out, event->ids[i]);
	return rc < 0 ? rc : encode_end(out, start);
}

/* The head of a stream: a short header, then events and names as records. */
int writer_head_pipe(struct buf *out, const struct seam_events *events)
{
	uint32_t attr_size = writer_attr_size(events);
	int rc = 0;

	buf_put_u64(out, HEADER_MAGIC);
	buf_put_u64(out, HEADER_SIZE_PIPE);
	for (size_t i = 0; rc >= 0 && i < seam_events_count(events); i++)
		rc = writer_put_attr_record(out, seam_events_at(events, i), attr_size);
	if (rc >= 0)
		rc = writer_put_names(out, events, true);
	return rc < 0 ? rc : out->failed ? -ENOMEM : 0;
}

int writer_names(struct buf *out, const struct seam_events *events)
{
	int rc = writer_put_names(out, events, false);

	return rc < 0 ? rc : out->failed ? -ENOMEM : 0;
}

/* Rewrites the fields of the header that change: data.size at 48, the mark of an unfinished file in
 * the place of event_types.offset at 56, the bitmap of features at 72. */
void writer_head_update(struct buf *header, uint64_t data_size, bool open,
                        const struct writer_feature *features)
{
	const uint64_t mark = open ? HEADER_OPEN : 0;
	uint64_t bits[4] = { 0 };

	if (header->failed || header->n != HEADER_SIZE)
		return;
	for (unsigned f = 0; features && f < SEAM_FEATURE_MAX; f++)
		bits[f / 64] |= (uint64_t)features[f].has << f % 64;
	memcpy(header->bytes + 48, &data_size, 8);
	memcpy(header->bytes + 56, &mark, 8);
	memcpy(header->bytes + 72, bits, sizeof(bits));
}

/* Appends the table of features, in the order of their bits, and their contents. Offsets in the
 * table are those of the file, so the caller says at which offset the table will stand. */
int writer_tail(struct buf *out, const struct writer_feature *features, uint64_t at)
{
	uint64_t n = 0;

	for (unsigned f = 0; f < SEAM_FEATURE_MAX; f++)
		n += features[f].has;
	at += n * 16;
	for (unsigned f = 0; f < SEAM_FEATURE_MAX; f++) {
		if (!features[f].has)
			continue;
		writer_put_section(out, at, features[f].content.n);
		at += features[f].content.n;
	}
	for (unsigned f = 0; f < SEAM_FEATURE_MAX; f++) {
		if (features[f].has)
			buf_put(out, features[f].content.bytes, features[f].content.n);
	}
	return out->failed ? -ENOMEM : 0;
}

/* Makes records of the entries of the BUILD_ID feature. They are laid out as records, but their
 * type may be 0. -EBADMSG: an entry is not whole. */
static int writer_build_id_records(struct buf *out, const void *bytes, size_t n)
{
	struct cursor c = cursor_of(bytes, n, false);
	struct feature_build_id b;
	int rc = 0;

	while (cursor_left(&c)) {
		const unsigned char *entry = c.at;
		const uint32_t type = SEAM_RECORD_HEADER_BUILD_ID;

		rc = feature_next_build_id(&c, &b);
		if (rc < 0)
			return rc;
		/* The header's other half (misc, size) follows. */
		buf_put(out, &type, 4);
		buf_put(out, entry + 4, (size_t)(c.at - entry) - 4);
	}
	return 0;
}

/* The formats of tracepoints: the record has their size, and they follow it, padded to 8 bytes. */
static void writer_tracing_data_record(struct buf *out, const void *bytes, size_t n)
{
	size_t padded = (n + 7) & ~(size_t)7;

	buf_put_u32(out, SEAM_RECORD_HEADER_TRACING_DATA);
	buf_put_u16(out, 0);
	buf_put_u16(out, 12);
	buf_put_u32(out, (uint32_t)padded);
	buf_put(out, bytes, n);
	buf_put_zeros(out, padded - n);
}

/* A feature as records of a stream. -E2BIG: it is longer than a record can be. */
int writer_feature_records(struct buf *out, unsigned feature, const void *bytes, size_t n)
{
	size_t start;

	if (feature == SEAM_FEATURE_BUILD_ID)
		return writer_build_id_records(out, bytes, n);
	if (feature == SEAM_FEATURE_TRACING_DATA) {
		if (n > UINT32_MAX - 8)
			return -E2BIG;
		writer_tracing_data_record(out, bytes, n);
		return out->failed ? -ENOMEM : 0;
	}
	start = encode_begin(out, SEAM_RECORD_HEADER_FEATURE, 0);
	buf_put_u64(out, feature);
	buf_put(out, n ? bytes : "", n);
	return encode_end(out, start);
}
