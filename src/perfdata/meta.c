// SPDX-License-Identifier: MIT
/*
 * meta.c: see meta.h. Names have ranks. A name that the file states wins over one guessed from the
 * attr, and a more exact statement over a less exact one, whichever comes first.
 *
 * Features and events of the header are known at once; those of a stream come in records while it
 * is read, and meta_take sees them all. Ownership: strings and features of a stream live in the
 * arena, features of a file point into the mapping. Memory is bounded for what a stream may repeat
 * (META_FEATURE_BYTES, META_BUILD_ID_BYTES).
 */
#include "perfdata/meta.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cursor.h"
#include "perfdata/event_name.h"
#include "perfdata/feature.h"

/* In rising order of trust. */
enum {
	NAMED_NOT,
	NAMED_BY_ATTR,
	NAMED_BY_TYPE_RECORD, /* EVENT_TYPE of old perfs */
	NAMED_BY_DESC,        /* EVENT_DESC */
	NAMED_BY_UPDATE,      /* EVENT_UPDATE */
};

int meta_init(struct meta *m, bool swap, struct damage *damage)
{
	*m = (struct meta){ .swap = swap, .damage = damage };
	return seam_events_new(&m->events);
}

void meta_free(struct meta *m)
{
	seam_events_free(m->events);
	free(m->named);
	map_free(&m->tracepoints);
	map_free(&m->pmus);
	arena_free(&m->arena);
	buf_free(&m->build_ids);
	*m = (struct meta){ 0 };
}

/* ---- names ---- */

/* Gives the event a name if none better is known. An empty name is none. */
static int meta_name(struct meta *m, uint32_t index, const char *name, uint8_t rank)
{
	int rc;

	if (index >= m->n_named || m->named[index].rank >= rank || !*name)
		return 0;
	rc = seam_events_set_name(m->events, index, name);
	if (rc >= 0)
		m->named[index].rank = rank;
	return rc;
}

/* Names an event by its attr. When the PMUs are known later, it may get another such name. */
static int meta_name_by_attr(struct meta *m, const struct seam_event *event)
{
	struct buf text = { 0 };
	uint64_t pmu = 0;
	int rc;

	map_get(&m->pmus, event_name_pmu_type(&event->attr), &pmu);
	rc = event_name(&event->attr, (const char *)(uintptr_t)pmu, &text);
	if (rc >= 0 && m->named[event->index].rank == NAMED_BY_ATTR)
		m->named[event->index].rank = NAMED_NOT; /* a PMU's name may be known by now */
	if (rc >= 0)
		rc = meta_name(m, event->index, buf_text(&text), NAMED_BY_ATTR);
	buf_free(&text);
	return rc;
}

/* After the PMUs became known: events that have no better name are named once more. */
static int meta_name_all_by_attr(struct meta *m)
{
	int rc = 0;

	for (size_t i = 0; rc >= 0 && i < seam_events_count(m->events); i++) {
		if (m->named[i].rank <= NAMED_BY_ATTR)
			rc = meta_name_by_attr(m, seam_events_at(m->events, i));
	}
	return rc;
}

/* The names of PMUs by their types, the first of each type; in a stream the first list that has any
 * counts, so that events are named anew once. */
static int meta_take_pmus(struct meta *m, const struct seam_bytes *bytes)
{
	struct feature_pmus walk;
	const char *name;
	uint32_t type;

	/* One list is enough. A hostile stream of many lists would name all events again each
	 * time. */
	if (m->pmus.n)
		return 0;
	feature_pmus(bytes, m->swap, &walk);
	while (feature_next_pmu(&walk, &type, &name)) {
		bool is_new;
		uint64_t *slot = map_slot(&m->pmus, type, &is_new);

		if (!slot)
			return -ENOMEM;
		if (is_new)
			*slot = (uintptr_t)name;
	}
	return m->pmus.n ? meta_name_all_by_attr(m) : 0;
}

/* Enough to tell that two lists speak of the same event. */
static bool meta_same_event(const struct seam_attr *a, const struct seam_attr *b)
{
	return a->type == b->type && a->config == b->config;
}

/* EVENT_DESC lists the events in their order; ids, when there, are surer than the order. */
static int meta_name_from_desc(struct meta *m, const struct seam_bytes *bytes)
{
	struct feature_event_descs walk;
	struct feature_event_desc desc;
	uint32_t i = 0;
	int rc = feature_event_descs(bytes, m->swap, &walk);

	for (; rc >= 0 && (rc = feature_next_event_desc(&walk, &desc)) > 0; i++) {
		const struct seam_event *event = NULL;

		if (desc.ids.n)
			event = seam_events_by_id(m->events, seam_u64s_at(&desc.ids, 0));
		if (!event)
			event = seam_events_at(m->events, i);
		/* A list that does not fit the events (another order, another file's) names
		 * nothing. */
		if (event && meta_same_event(&event->attr, &desc.attr))
			rc = meta_name(m, event->index, desc.name, NAMED_BY_DESC);
		if (rc < 0)
			break;
	}
	return rc;
}

/* ---- events ---- */

/* Remembers a tracepoint without a name, because an EVENT_TYPE record may name it later. */
static int meta_await_type(struct meta *m, const struct seam_attr *attr, uint32_t index)
{
	uint64_t *slot;

	if (attr->type != SEAM_TYPE_TRACEPOINT)
		return 0;
	slot = map_slot(&m->tracepoints, attr->config, NULL);
	if (!slot)
		return -ENOMEM;
	/* Events of the same tracepoint form a list by index + 1; 0 ends it. One name serves them
	 * all. */
	m->named[index].next = (uint32_t)*slot;
	*slot = index + 1;
	return 0;
}

/* Adds an event to the set and names it by its attr, until the file says a better name. */
static int meta_add_event(struct meta *m, const struct seam_attr *attr, const uint64_t *ids,
                          size_t n_ids, struct seam_error *err)
{
	int index = seam_events_add(m->events, attr, "", ids, n_ids, err), rc;

	if (index < 0)
		return index;
	if (ARRAY_ROOM_ZEROED(&m->named, &m->n_named, (size_t)index + 1) < 0)
		return -ENOMEM;
	rc = meta_await_type(m, attr, (uint32_t)index);
	return rc < 0 ? rc : meta_name_by_attr(m, seam_events_at(m->events, (size_t)index));
}

/* ids as they lie in the file, into this machine's order; the caller frees *ret. -ENOMEM. */
static int meta_ids(const unsigned char *bytes, size_t n, bool swap, uint64_t **ret)
{
	struct seam_u64s words = { bytes, n, swap };
	uint64_t *ids = NULL;

	if (n) {
		ids = malloc(n * sizeof(*ids));
		if (!ids)
			return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++)
		ids[i] = seam_u64s_at(&words, i);
	*ret = ids;
	return 0;
}

/* Reads one entry of the attr section: the attr, and the section of the file where its ids are. An
 * entry that is unsound is reported as damage, and the event or its ids are left out. *ids_left
 * bounds the ids of all entries together. */
static int meta_load_attr(struct meta *m, const struct header *h, const unsigned char *bytes,
                          uint64_t size, uint64_t offset, uint64_t *ids_left,
                          struct seam_error *err)
{
	size_t attr_size = (size_t)h->attr_size - 16;
	/* An entry is an attr and, in its last 16 bytes, the section of its ids. */
	struct cursor c = cursor_of(bytes + offset + attr_size, 16, m->swap);
	uint64_t ids_offset = cursor_u64(&c), ids_size = cursor_u64(&c), *ids = NULL;
	struct seam_attr attr;
	int rc;

	rc = seam_attr_decode(bytes + offset, attr_size, m->swap, &attr, NULL);
	if (rc < 0)
		return damage_add(m->damage, err, offset, "attr", "cannot be read: event left out");
	if (ids_offset > size || ids_size > size - ids_offset || ids_size > *ids_left) {
		bool there = ids_offset <= size && ids_size <= size - ids_offset;

		rc = damage_add(m->damage, err, offset + attr_size, "attr",
		                "%llu bytes of ids at 0x%llx %s: ids left out",
		                (unsigned long long)ids_size, (unsigned long long)ids_offset,
		                there ? "overlap those of other events" : "are not in the file");
		if (rc < 0)
			return rc;
		ids_size = 0;
	}
	*ids_left -= ids_size;
	rc = meta_ids(bytes + ids_offset * !!ids_size, (size_t)(ids_size / 8), m->swap, &ids);
	if (rc >= 0)
		rc = meta_add_event(m, &attr, ids, (size_t)(ids_size / 8), err);
	free(ids);
	return rc;
}

/* Reads the events from the header of a file. -EBADMSG: the section as a whole cannot be used; a
 * single bad entry is only reported. */
int meta_load_attrs(struct meta *m, const struct header *h, const unsigned char *bytes,
                    uint64_t size, struct seam_error *err)
{
	const char *path = m->damage->path;
	/* Ids of sound files do not overlap, so all of them fit into the file once. */
	uint64_t ids_left = size, n;
	int rc = 0;

	/* 64 bytes is the first attr there was. */
	if (h->attr_size < SEAM_ATTR_SIZE_MIN + 16 || h->attr_size > 4096)
		return seam_error_set(err, EBADMSG, path, 16, "header",
		                      "attr entries of %llu bytes, need 80 ... 4096",
		                      (unsigned long long)h->attr_size);
	if (h->attrs.offset > size || h->attrs.size > size - h->attrs.offset)
		return seam_error_set(
		        err, EBADMSG, path, 24, "header",
		        "attrs (%llu bytes at 0x%llx) are not in the file (%llu bytes)",
		        (unsigned long long)h->attrs.size, (unsigned long long)h->attrs.offset,
		        (unsigned long long)size);
	n = h->attrs.size / h->attr_size;
	for (uint64_t i = 0; i < n && rc >= 0; i++)
		rc = meta_load_attr(m, h, bytes, size, h->attrs.offset + i * h->attr_size,
		                    &ids_left, err);
	return rc < 0 ? rc : 0;
}

/* ---- features ---- */

/* bytes stay where they are; for a stream they are a copy in the arena. */
static int meta_set_feature(struct meta *m, unsigned feature, const void *bytes, size_t n)
{
	struct seam_bytes b = { bytes, n };

	m->features[feature] = b;
	m->has[feature] = true;
	/* The text of an older feature of this number is no longer true. */
	m->strings[feature] = NULL;
	if (feature == SEAM_FEATURE_PMU_MAPPINGS)
		return meta_take_pmus(m, &b);
	if (feature == SEAM_FEATURE_EVENT_DESC)
		return meta_name_from_desc(m, &b);
	return 0;
}

/* Counts a feature that cannot be used, and reports it as damage. */
static int meta_bad_feature(struct meta *m, unsigned feature, uint64_t offset, const char *why,
                            struct seam_error *err)
{
	const char *name = feature_name(feature);
	char number[32];

	m->bad_features++;
	m->has[feature] = false;
	if (!name) {
		snprintf(number, sizeof(number), "feature %u", feature);
		name = number;
	}
	return damage_add(m->damage, err, offset, name, "%s: feature skipped", why);
}

/* A feature whose content is unsound is left out; that there is no memory for it is no damage. */
static int meta_load_feature(struct meta *m, unsigned feature, const void *bytes, size_t n,
                             uint64_t offset, struct seam_error *err)
{
	int rc = meta_set_feature(m, feature, bytes, n);

	return rc == -EBADMSG
	               ? meta_bad_feature(m, feature, offset, "its content cannot be read", err)
	               : rc;
}

/* Reads the features behind the data. The features point into `bytes`. One that is not wholly in
 * the file is reported and left out; the others are read. */
int meta_load_features(struct meta *m, const struct header *h, const unsigned char *bytes,
                       uint64_t size, uint64_t base, uint64_t table, struct seam_error *err)
{
	struct cursor c = cursor_of(bytes, (size_t)size, m->swap);
	int rc = 0;

	cursor_seek(&c, table - base);
	/* The table has an entry for each bit that is set, in the order of the bits. */
	for (unsigned f = 0; f < SEAM_FEATURE_MAX && rc >= 0; f++) {
		uint64_t at = base + cursor_offset(&c), offset, n;

		if (!header_has(h, f))
			continue;
		offset = cursor_u64(&c);
		n = cursor_u64(&c);
		if (c.failed)
			rc = meta_bad_feature(m, f, at, "the table ends before it", err);
		else if (offset < base || offset - base > size || n > size - (offset - base))
			rc = meta_bad_feature(m, f, at, "it lies outside the file", err);
		else
			rc = meta_load_feature(m, f, bytes + (offset - base), (size_t)n, offset,
			                       err);
	}
	return rc < 0 ? rc : 0;
}

/* The data is cut, so the table behind it is not there: all features that the header names are
 * lost. */
void meta_lose_features(struct meta *m, const struct header *h)
{
	for (unsigned f = 0; f < SEAM_FEATURE_MAX; f++)
		m->bad_features += header_has(h, f);
}

/* True and *ret. The bytes are valid as long as the reader is open. */
bool meta_feature(const struct meta *m, unsigned feature, struct seam_bytes *ret)
{
	if (feature >= SEAM_FEATURE_MAX || !m->has[feature])
		return false;
	*ret = m->features[feature];
	return true;
}

/* The text of a feature that is one string; NULL: not there, not sound, or no memory. The copy is
 * kept, because callers ask again and a feature need not end in a NUL. */
const char *meta_feature_string(struct meta *m, unsigned feature)
{
	struct seam_bytes b;
	struct cursor c;
	const char *text;

	if (!meta_feature(m, feature, &b))
		return NULL;
	if (!m->strings[feature]) {
		c = cursor_of(b.bytes, b.n, m->swap);
		text = feature_string(&c);
		if (text)
			m->strings[feature] = arena_string(&m->arena, text, strlen(text));
	}
	return m->strings[feature];
}

/* ---- records ---- */

/* The event that was announced before with the same attr and first id (or with none); NULL: there
 * is none. Programs that join streams, or put records behind a header, announce events twice. */
static const struct seam_event *meta_told_before(const struct meta *m, const struct seam_attr *attr,
                                                 const uint64_t *ids, size_t n)
{
	const struct seam_event *event =
	        n ? seam_events_by_id(m->events, ids[0]) : seam_events_at(m->events, 0);

	if (!event || (!n && event->n_ids) || memcmp(&event->attr, attr, sizeof(*attr)))
		return NULL;
	return event;
}

/* Takes an ATTR record of a stream: the attr, whose size stands in itself, and then ids up to the
 * record's end. An event that was announced before gets the new ids; it is not added twice. */
static int meta_take_attr(struct meta *m, const struct seam_record *r, struct seam_error *err)
{
	struct cursor c = cursor_of(r->bytes, r->size, r->swap);
	const struct seam_event *again;
	struct seam_attr attr;
	uint64_t *ids = NULL;
	uint32_t size;
	size_t n;
	int rc;

	/* The attr's size is its second word: behind the record's header and the type. */
	cursor_bytes(&c, 12);
	size = cursor_u32(&c);
	/* perf of 2.6.3x left the size empty. */
	if (!size)
		size = SEAM_ATTR_SIZE_MIN;
	cursor_seek(&c, 8);
	if (!cursor_bytes(&c, size) ||
	    seam_attr_decode(r->bytes + 8, size, r->swap, &attr, NULL) < 0)
		return damage_add(m->damage, err, r->offset, "ATTR",
		                  "an attr of %u bytes in a record of %u: event left out", size,
		                  r->size);
	n = cursor_left(&c) / 8;
	rc = meta_ids(c.at, n, r->swap, &ids);
	again = rc >= 0 ? meta_told_before(m, &attr, ids, n) : NULL;
	for (size_t i = 0; again && rc >= 0 && i < n; i++)
		rc = seam_events_add_id(m->events, again->index, ids[i]);
	if (rc >= 0 && !again)
		rc = meta_add_event(m, &attr, ids, n, err);
	free(ids);
	return rc < 0 ? rc : 0;
}

/* A fixed-length name field, which old perfs cut short. */
static char *meta_name_field(struct meta *m, const struct cursor *c)
{
	return arena_string(&m->arena, (const char *)c->at,
	                    strnlen((const char *)c->at, cursor_left(c)));
}

/* EVENT_TYPE: old perfs named tracepoints by their config, in streams. */
static int meta_take_event_type(struct meta *m, const struct seam_record *r)
{
	struct cursor c = cursor_of(r->bytes + 8, r->size - 8, r->swap);
	uint64_t config = cursor_u64(&c);
	uint64_t first = 0;
	char *name;
	int rc = 0;

	if (c.failed || !map_get(&m->tracepoints, config, &first))
		return 0;
	name = meta_name_field(m, &c);
	if (!name || !*name)
		return name ? 0 : -ENOMEM;
	for (uint32_t i = (uint32_t)first; i && rc >= 0; i = m->named[i - 1].next)
		rc = meta_name(m, i - 1, name, NAMED_BY_TYPE_RECORD);
	map_del(&m->tracepoints, config); /* the first name stays */
	return rc;
}

/* EVENT_UPDATE may name an event, or say its unit, scale or CPUs. Only the name is used here. */
static int meta_take_event_update(struct meta *m, const struct seam_record *r,
                                  struct seam_error *err)
{
	const uint64_t is_name = 2;
	struct cursor c = cursor_of(r->bytes + 8, r->size - 8, r->swap);
	uint64_t kind = cursor_u64(&c), id = cursor_u64(&c);
	const struct seam_event *event;
	char *name;

	if (c.failed)
		return damage_add(m->damage, err, r->offset, "EVENT_UPDATE",
		                  "%u bytes, need 24: skipped", r->size);
	event = seam_events_by_id(m->events, id);
	if (kind != is_name || !event)
		return 0;
	name = meta_name_field(m, &c);
	return name && *name ? meta_name(m, event->index, name, NAMED_BY_UPDATE) : 0;
}

/* Before perf 7 a FEATURE record of the number behind the last feature, without content, ended
 * them: the number is another feature today, the emptiness is what tells. */
/* BRANCH_STACK and STAT have no content in sound files either. */
static bool meta_ends_features(uint64_t feature, size_t n)
{
	return !n && feature != SEAM_FEATURE_BRANCH_STACK && feature != SEAM_FEATURE_STAT;
}

/* Takes a FEATURE record of a stream. Its content is copied, because the record does not stay; the
 * copies of all features together are limited to META_FEATURE_BYTES. */
static int meta_take_feature(struct meta *m, const struct seam_record *r, struct seam_error *err)
{
	struct cursor c = cursor_of(r->bytes + 8, r->size - 8, r->swap);
	uint64_t feature = cursor_u64(&c);
	size_t n = cursor_left(&c);
	void *copy;

	if (!c.failed && meta_ends_features(feature, n))
		return 0;
	if (c.failed || feature >= SEAM_FEATURE_MAX) {
		m->bad_features++;
		return damage_add(m->damage, err, r->offset, "FEATURE",
		                  "number %llu in %u bytes: feature skipped",
		                  (unsigned long long)feature, r->size);
	}
	if (m->arena.bytes > META_FEATURE_BYTES)
		return meta_bad_feature(m, (unsigned)feature, r->offset, "features of over 256 MiB",
		                        err);
	copy = arena_copy(&m->arena, c.at, n);
	if (!copy)
		return -ENOMEM;
	return meta_load_feature(m, (unsigned)feature, copy, n, r->offset, err);
}

/* BUILD_ID records of a stream are gathered into what the feature of a file holds: both have the
 * same layout. */
static int meta_take_build_id(struct meta *m, const struct seam_record *r, struct seam_error *err)
{
	if (m->has[SEAM_FEATURE_BUILD_ID] && !m->build_ids.n)
		return 0; /* a file that has the list in its header */
	/* The most that can come is reserved at once: pointers into it are handed out, so it must
	 * not move. */
	if (!m->build_ids.n)
		buf_reserve(&m->build_ids, META_BUILD_ID_BYTES);
	if (m->build_ids.n + r->size > META_BUILD_ID_BYTES)
		return damage_add(m->damage, err, r->offset, "BUILD_ID",
		                  "more than 16 MiB of them: left out");
	if (buf_put(&m->build_ids, r->bytes, r->size) < 0)
		return -ENOMEM;
	return meta_set_feature(m, SEAM_FEATURE_BUILD_ID, m->build_ids.bytes, m->build_ids.n);
}

/* Takes what a record says about the recording. Records of other types mean nothing here. Faults
 * are damage; errors are those of `strict` and -ENOMEM. */
int meta_take(struct meta *m, const struct seam_record *record, struct seam_error *err)
{
	switch (record->type) {
	case SEAM_RECORD_HEADER_ATTR:
		return meta_take_attr(m, record, err);
	case SEAM_RECORD_HEADER_EVENT_TYPE:
		return meta_take_event_type(m, record);
	case SEAM_RECORD_HEADER_BUILD_ID:
		return meta_take_build_id(m, record, err);
	case SEAM_RECORD_EVENT_UPDATE:
		return meta_take_event_update(m, record, err);
	case SEAM_RECORD_HEADER_FEATURE:
		return meta_take_feature(m, record, err);
	default:
		return 0;
	}
}

/* The formats of tracepoints, which stand behind their record. They are copied. */
int meta_take_tracing_data(struct meta *m, const void *payload, size_t n)
{
	void *copy = arena_copy(&m->arena, payload, n);

	return copy ? meta_set_feature(m, SEAM_FEATURE_TRACING_DATA, copy, n) : -ENOMEM;
}
