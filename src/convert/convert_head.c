// SPDX-License-Identifier: MIT
/*
 * convert_head.c: see convert_head.h. Knows which bits of an attr, which features and which of
 * perf's own records would tell a classic tool of what is no longer there.
 *
 * Called before the first record is written (events, features of a stream) and after the last
 * (features of a file), so it knows the recording's description only, and none of its samples.
 */
#include "convert/convert_head.h"

#include <errno.h>
#include <string.h>

#include "base/cursor.h"
#include "perfdata/feature.h"
#include "perfdata/fit.h"
#include "samples/walked_sample.h"
#include "samples/unwound.h"

/* The first feature that perf 6.1 does not know: it complains of them in streams. */
#define FEATURE_NEW (SEAM_FEATURE_PMU_CAPS + 1)

/* EVENT_UPDATE of a name: the writer says those itself. */
#define EVENT_UPDATE_NAME 2u

/* Whether stack copies will be walked: they are there, wanted so, and of a machine that unwind/
 * knows. */
bool convert_head_unwinds(const struct recording *rec, const struct convert_opts *opts,
                          uint32_t *machine)
{
	struct unwound_opts unwound = { .sz = sizeof(unwound) };
	bool copies = unwound_opts_of(rec, &unwound);

	*machine = unwound.machine;
	return !opts->keep_stacks && copies && unwound.machine;
}

/* Registers that came with a stack copy were taken for unwinding, and go with it. Registers that
 * were taken alone are data, and stay. */
static struct seam_attr convert_attr(const struct seam_attr *from, const struct convert_opts *opts,
                                     bool unwinds)
{
	struct seam_attr a = *from;

	a.flags &= ~(SEAM_ATTR_DEFER_CALLCHAIN | SEAM_ATTR_DEFER_OUTPUT);
	/* No flag asks for these fields any more, and classic readers refuse flags that they do not
	 * know. */
	if (opts->strip_raw)
		a.sample_type &= ~SEAM_SAMPLE_RAW;
	/* AUX data is not carried over, so samples cannot refer to it. */
	a.sample_type &= ~SEAM_SAMPLE_AUX;
	return unwinds ? walked_sample_attr(&a) : a;
}

/* The caller frees *ret. Events keep their indices, so that samples need no translation. */
int convert_head_events(const struct recording *rec, const struct convert_opts *opts,
                        struct seam_events **ret, struct seam_error *err)
{
	uint32_t machine;
	bool unwinds = convert_head_unwinds(rec, opts, &machine);
	struct seam_events *events = NULL;
	int r = seam_events_new(&events);

	for (size_t i = 0; r >= 0 && i < seam_events_count(rec->events); i++) {
		const struct seam_event *e = seam_events_at(rec->events, i);
		struct seam_attr attr = convert_attr(&e->attr, opts, unwinds);

		r = seam_events_add(events, &attr, e->name, e->ids, e->n_ids, err);
	}
	if (r < 0) {
		seam_events_free(events);
		return r;
	}
	*ret = events;
	return 0;
}

/* ---- perf's own records ---- */

/* Whether a record of perf's own is copied: those that say what ids, CPUs and threads are. */
static bool convert_head_carries(const struct seam_record *record)
{
	struct cursor c = cursor_of(record->bytes, record->size, false);

	switch (record->type) {
	case SEAM_RECORD_ID_INDEX:
	case SEAM_RECORD_THREAD_MAP:
	case SEAM_RECORD_CPU_MAP:
	/* Needed to turn times of hardware traces, and harmless without these. */
	case SEAM_RECORD_TIME_CONV:
		return true;
	case SEAM_RECORD_EVENT_UPDATE:
		cursor_u64(&c);
		return cursor_u64(&c) != EVENT_UPDATE_NAME;
	default:
		return false;
	}
}

/* Records that are no loss: the writer makes them anew, or they only said how far the recorder
 * was. */
static bool convert_head_passes(uint32_t type)
{
	switch (type) {
	case SEAM_RECORD_HEADER_ATTR:
	case SEAM_RECORD_HEADER_EVENT_TYPE:
	case SEAM_RECORD_HEADER_TRACING_DATA:
	case SEAM_RECORD_HEADER_BUILD_ID:
	case SEAM_RECORD_HEADER_FEATURE:
	case SEAM_RECORD_EVENT_UPDATE:
	case SEAM_RECORD_FINISHED_ROUND:
	case SEAM_RECORD_FINISHED_INIT:
		return true;
	default:
		return false;
	}
}

/* Copies these records to `out`, and counts those that are lost. Reads the recording once, from the
 * beginning. */
int convert_head_records(const struct recording *rec, struct buf *out,
                         struct convert_result *result, struct seam_error *err)
{
	struct seam_record record;
	int r = seam_reader_rewind(rec->reader);

	while (r >= 0 && (r = seam_reader_next(rec->reader, &record, err)) > 0) {
		if (record.type < SEAM_RECORD_USER_FIRST)
			continue;
		if (convert_head_carries(&record))
			r = buf_put(out, record.bytes, record.size);
		else if (record.type >= SEAM_RECORD_AUXTRACE_INFO &&
		         record.type <= SEAM_RECORD_AUXTRACE_ERROR)
			result->aux++;
		else if (!convert_head_passes(record.type))
			result->vendor++;
	}
	return r;
}

/* ---- features ---- */

/* Whether a feature is copied. Not copied are those that the writer makes, those that are made anew
 * below, those that point into the old file, and in a stream those of which perf 6.1 complains. */
static bool convert_head_keeps(unsigned feature, bool stream)
{
	switch (feature) {
	case SEAM_FEATURE_EVENT_DESC:
	case SEAM_FEATURE_SAMPLE_TIME:
	case SEAM_FEATURE_COMPRESSED:
	case SEAM_FEATURE_DIR_FORMAT:
	case SEAM_FEATURE_AUXTRACE:
		return false;
	default:
		return !stream || feature < FEATURE_NEW;
	}
}

/* Writes the features that must be made anew: the events as they are in the output, and the times
 * of the first and the last sample. */
static int convert_head_told(const struct recording *rec, const struct seam_events *events,
                             struct seam_writer *writer, uint64_t first_ns, uint64_t last_ns)
{
	struct seam_bytes bytes;
	struct buf b = { 0 };
	int r = 0;

	if (seam_events_count(events) && /* perf refuses one of no events */
	    seam_reader_feature(rec->reader, SEAM_FEATURE_EVENT_DESC, &bytes) > 0) {
		r = feature_put_event_desc(&b, events);
		if (r >= 0)
			r = seam_writer_feature(writer, SEAM_FEATURE_EVENT_DESC, b.bytes, b.n);
		buf_clear(&b);
	}
	if (r >= 0 && last_ns) {
		r = feature_put_sample_time(&b, first_ns, last_ns);
		if (r >= 0)
			r = seam_writer_feature(writer, SEAM_FEATURE_SAMPLE_TIME, b.bytes, b.n);
	}
	buf_free(&b);
	return r;
}

/* A feature that is copied must be readable for perf (fit.h), because perf stops at one that is
 * not. first_ns and last_ns are 0 where they are not known yet (a stream's head). */
int convert_head_features(const struct recording *rec, const struct seam_events *events,
                          struct seam_writer *writer, bool stream, uint64_t first_ns,
                          uint64_t last_ns, struct convert_result *result, struct seam_error *err)
{
	struct seam_bytes bytes;
	int r = 0;

	for (unsigned f = 0; r >= 0 && f < SEAM_FEATURE_MAX; f++) {
		if (!convert_head_keeps(f, stream) ||
		    seam_reader_feature(rec->reader, f, &bytes) <= 0)
			continue;
		if (fit_feature(f, &bytes))
			r = seam_writer_feature(writer, f, bytes.bytes, bytes.n);
		else
			result->features++;
	}
	if (r >= 0)
		r = convert_head_told(rec, events, writer, first_ns, last_ns);
	if (r < 0 && (!err || !err->code))
		seam_error_set(err, -r, NULL, SEAM_NO_OFFSET, "features", "%s", strerror(-r));
	return r;
}
