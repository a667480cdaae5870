// SPDX-License-Identifier: MIT
// recover.c: see recover.h.
#include "convert/recover.h"

#include <errno.h>
#include <string.h>

#include "abi/record.h"
#include "base/buf.h"
#include "perfdata/feature.h"
#include "perfdata/fit.h"

/* Opens the output with the events that are known by now. */
static int recover_open(struct recover *r, struct seam_error *err)
{
	const struct seam_events *events = seam_reader_events(r->reader);
	int rc = r->open(r->ctx, events, &r->writer, err);

	if (rc >= 0)
		r->events = seam_events_count(events);
	return rc;
}

/* Records that describe the recording are not copied: they become header and features of the
 * output. */
static bool recover_is_header(uint32_t type)
{
	return (type >= SEAM_RECORD_HEADER_ATTR && type <= SEAM_RECORD_HEADER_BUILD_ID) ||
	       type == SEAM_RECORD_HEADER_FEATURE;
}

/* AUX area data is not records, but bytes that these announce. */
static bool recover_is_aux(uint32_t type)
{
	return type == SEAM_RECORD_AUXTRACE || type == SEAM_RECORD_AUXTRACE_INFO;
}

/* Notes the first and last time of the samples. */
static void recover_time(struct recover *r, const struct seam_decoded *d)
{
	uint64_t t = d->id.time_ns;

	if (d->record->type != SEAM_RECORD_SAMPLE || !(d->id.has & SEAM_SAMPLE_TIME))
		return;
	if (!r->first_ns || t < r->first_ns)
		r->first_ns = t;
	if (t > r->last_ns)
		r->last_ns = t;
}

/* Notes its time, opens the output if it is the first one, and writes it as it stands. */
int recover_record(struct recover *r, const struct seam_record *record, struct seam_error *err)
{
	const struct seam_events *events = seam_reader_events(r->reader);
	struct seam_decoded decoded;
	int rc;

	if (recover_is_header(record->type))
		return 0;
	if (recover_is_aux(record->type)) {
		r->aux_records++;
		return 0;
	}
	if (!fit_type(record->type)) { /* perf gives up a file for one of them */
		r->unknown++;
		return 0;
	}
	rc = record_decode(events, record, &decoded, err);
	if (rc < 0 && rc != -EOPNOTSUPP) {
		r->dropped += !r->strict;
		return r->strict ? rc : 0;
	}
	if (rc >= 0)
		recover_time(r, &decoded);
	rc = r->writer ? 0 : recover_open(r, err);
	if (rc < 0)
		return rc;
	/* The header with the events is written first; one that comes later would be missing
	 * there. */
	if (seam_events_count(events) != r->events)
		return seam_error_set(err, EINVAL, r->name, record->offset, NULL,
		                      "an event appears behind the first records");
	rc = seam_writer_write(r->writer, record->bytes, record->size, err);
	r->written += rc >= 0;
	return rc;
}

/* AUXTRACE's index holds offsets of the old file; the writer says itself what is compressed. A
 * feature that cannot be read to its end is not passed on. */
static bool recover_keeps(struct recover *r, unsigned feature, struct seam_bytes *ret)
{
	if (feature == SEAM_FEATURE_AUXTRACE || feature == SEAM_FEATURE_COMPRESSED ||
	    feature == SEAM_FEATURE_DIR_FORMAT || !seam_reader_feature(r->reader, feature, ret))
		return false;
	if (feature == SEAM_FEATURE_EVENT_DESC && !r->events)
		return false; /* perf refuses one of no events */
	if (fit_feature(feature, ret))
		return true;
	r->left_out[feature] = true;
	return false;
}

/* Of those that are missing, it makes the two that perf needs to show events and times. */
int recover_features(struct recover *r, struct seam_error *err)
{
	const struct seam_events *events = seam_reader_events(r->reader);
	struct buf b = { 0 };
	struct seam_bytes bytes;
	/* An input without records has events nevertheless. */
	int rc = r->writer ? 0 : recover_open(r, err);

	if (rc < 0)
		return rc;
	for (unsigned f = 0; rc >= 0 && f < SEAM_FEATURE_MAX; f++) {
		if (recover_keeps(r, f, &bytes))
			rc = seam_writer_feature(r->writer, f, bytes.bytes, bytes.n);
	}
	if (rc >= 0 && r->events &&
	    !seam_reader_feature(r->reader, SEAM_FEATURE_EVENT_DESC, &bytes)) {
		rc = feature_put_event_desc(&b, events);
		if (rc >= 0)
			rc = seam_writer_feature(r->writer, SEAM_FEATURE_EVENT_DESC, b.bytes, b.n);
		buf_clear(&b);
	}
	if (rc >= 0 && r->last_ns &&
	    !seam_reader_feature(r->reader, SEAM_FEATURE_SAMPLE_TIME, &bytes)) {
		rc = feature_put_sample_time(&b, r->first_ns, r->last_ns);
		if (rc >= 0)
			rc = seam_writer_feature(r->writer, SEAM_FEATURE_SAMPLE_TIME, b.bytes, b.n);
	}
	buf_free(&b);
	return rc < 0 ? seam_error_set(err, -rc, r->name, SEAM_NO_OFFSET, NULL, "features: %s",
	                               strerror(-rc))
	              : 0;
}

bool recover_is_deferred(const struct recover *r)
{
	const struct seam_events *events = seam_reader_events(r->reader);

	for (size_t i = 0; i < seam_events_count(events); i++)
		if (seam_events_at(events, i)->attr.flags &
		    (SEAM_ATTR_DEFER_CALLCHAIN | SEAM_ATTR_DEFER_OUTPUT))
			return true;
	return false;
}
