// SPDX-License-Identifier: MIT
/*
 * evlist.c: see evlist.h.
 *
 * Knows events and their attributes only. The form is that of perf evlist.
 */
#include "inspect/evlist.h"

#include "base/cursor.h"
#include "base/shown.h"
#include "perfdata/event_name.h"
#include "perfdata/feature.h"

/* Whether the events are all known before any record is read: not in a stream, nor where no header
 * was finished. */
bool evlist_is_known(const struct seam_reader *reader)
{
	struct seam_reader_info info = { .sz = sizeof(info) };

	seam_reader_info(reader, &info);
	return !info.is_pipe && !info.unfinished && info.file_size;
}

/* One event, with what was asked of it. */
static void evlist_event(const struct evlist_opts *o, const struct seam_event *e, struct buf *out)
{
	const char *term = e->attr.flags & SEAM_ATTR_FREQ ? "sample_freq" : "sample_period";

	shown_put_text(out, e->name);
	if (o->verbose) {
		buf_put_text(out, ": ");
		event_attr_text(&e->attr, ": ", out);
	} else if (o->freq) {
		shown_printf(out, ": %s=%llu", term, (unsigned long long)e->attr.sample_period);
	}
}

/* The number of events, from this one on, that GROUP_DESC puts into one group; 1: none. */
static uint32_t evlist_members(const struct evlist_opts *o, size_t index)
{
	struct seam_reader_info info = { .sz = sizeof(info) };
	struct seam_bytes bytes;
	struct cursor c;

	if (!o->group || !seam_reader_feature(o->reader, SEAM_FEATURE_GROUP_DESC, &bytes))
		return 1;
	seam_reader_info(o->reader, &info);
	c = cursor_of(bytes.bytes, bytes.n, info.swapped);
	for (uint32_t n = cursor_u32(&c); n && !c.failed; n--) {
		uint32_t leader, members;

		feature_string(&c);
		leader = cursor_u32(&c);
		members = cursor_u32(&c);
		if (!c.failed && leader == index && members)
			return members;
	}
	return 1;
}

/* A line for each event, or for each group. */
void evlist_text(const struct evlist_opts *o, struct buf *out)
{
	const struct seam_events *events = seam_reader_events(o->reader);
	size_t n = seam_events_count(events);

	for (size_t i = 0; i < n;) {
		size_t members = evlist_members(o, i), end = members < n - i ? i + members : n;
		bool braces = end - i > 1;

		buf_put_text(out, braces ? "{" : "");
		for (size_t first = i; i < end; i++) {
			buf_put_text(out, i > first ? "," : "");
			evlist_event(o, seam_events_at(events, i), out);
		}
		buf_put_text(out, braces ? "}\n" : "\n");
	}
}
