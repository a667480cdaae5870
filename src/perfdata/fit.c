// SPDX-License-Identifier: MIT
/*
 * fit.c: see fit.h. Knows three faults of records: a trailer that the kernel counted twice (see
 * events_trailer_end), a size that is not a multiple of 8, an id of no event. Each was seen to stop
 * perf 7.3.4 ("Bad address", "not 8-byte aligned").
 *
 * Called by the writer for each record, so it is fast for those that are sound: fit_record says no
 * without copying anything. The events are the writer's own. Files that seam writes must be
 * readable by perf, which stops at the first record that it does not like.
 */
#include "perfdata/fit.h"

#include <errno.h>
#include <string.h>

#include "abi/events.h"
#include "base/cursor.h"
#include "perfdata/feature.h"

#define FIT_KERNEL_LAST 22u /* CALLCHAIN_DEFERRED */
/* The largest multiple of 8 that the size can hold. */
#define FIT_RECORD_MOST 65528u

/* How each file of tracepoint formats begins. */
static const unsigned char fit_tracing[] = { 0x17, 0x08, 0x44, 't', 'r', 'a', 'c', 'i', 'n', 'g' };

/* Whether perf 7.3.4 reads such a record at all. Others are left out when a recording is written
 * for it: perf would end there. */
bool fit_type(uint32_t type)
{
	if (type < SEAM_RECORD_USER_FIRST)
		return type >= SEAM_RECORD_MMAP && type <= FIT_KERNEL_LAST;
	return type <= FIT_TYPE_7_3 && type != SEAM_RECORD_COMPRESSED &&
	       type != SEAM_RECORD_COMPRESSED2;
}

/* Whether records of this type may have any size: these are as long as what they carry. */
static bool fit_any_size(uint32_t type)
{
	return type == SEAM_RECORD_HEADER_TRACING_DATA || type == SEAM_RECORD_HEADER_FEATURE ||
	       type == SEAM_RECORD_COMPRESSED;
}

/* What is wrong with a record, and where. */
struct fit {
	uint32_t end;     /* behind its last byte that means something */
	uint32_t trailer; /* bytes in front of end that stay its last */
	uint32_t pad;     /* zeros in front of the trailer */
	bool no_id;       /* the id in the trailer is of no event */
};

/* Whether a record's id is of no event. perf takes id 0 for a record that it made itself, and ends
 * the file at any other id that it does not know. */
static bool fit_stray_id(const struct seam_events *events, const struct seam_record *record,
                         uint32_t end)
{
	uint32_t back = events->trailer_id_back;
	uint64_t id;

	if (events->n < 2 || back == EVENTS_NO_ID || !events->same_trailer || end < 8 + back)
		return false;
	memcpy(&id, record->bytes + end - back, sizeof(id));
	return id && !events_find(events, id);
}

/* What must change so that perf can read it. Samples have no trailer, and their sizes are right. */
static struct fit fit_look(const struct seam_events *events, const struct seam_record *record)
{
	struct fit f = { .end = record->size };

	if (record->type < SEAM_RECORD_USER_FIRST && record->type != SEAM_RECORD_SAMPLE) {
		f.end = events_trailer_end(events, record);
		if (events->n && events->same_trailer)
			f.trailer = events->entries[0]->layout.trailer_size;
		/* The record is shorter than its trailer: the trailer is not touched. */
		if (f.trailer > f.end - 8)
			f.trailer = 0;
		f.no_id = f.trailer && fit_stray_id(events, record, f.end);
	}
	if (!fit_any_size(record->type))
		/* The bytes missing to a multiple of 8; unsigned arithmetic gives 0 for a
		 * multiple. */
		f.pad = -f.end & 7;
	return f;
}

/* Rebuilds the record in three parts: what it says, the padding that makes its size a multiple of
 * 8, and the trailer, which readers look for at the very end. */
bool fit_record(const struct seam_events *events, const struct seam_record *record, struct buf *out)
{
	struct fit f = fit_look(events, record);
	uint32_t size = f.end + f.pad, front = f.end - f.trailer;
	size_t start = out->n;
	uint64_t none = 0;

	/* A record that would become too long stays as it is. */
	if ((size == record->size && !f.no_id) || size > FIT_RECORD_MOST)
		return false;
	buf_put_u32(out, record->type);
	buf_put_u16(out, record->misc);
	buf_put_u16(out, (uint16_t)size);
	buf_put(out, record->bytes + 8, front - 8);
	buf_put_zeros(out, f.pad);
	buf_put(out, record->bytes + front, f.trailer);
	/* id 0 is the one that perf takes for "no event of the recording". */
	if (f.no_id && !out->failed)
		memcpy(out->bytes + start + size - events->trailer_id_back, &none, sizeof(none));
	return true;
}

/* TRACING_DATA is judged by how it begins only: nothing here decodes it. Every other feature is
 * good if its text can be made. */
bool fit_feature(unsigned feature, const struct seam_bytes *content)
{
	struct feature_context context = { .full = true };
	/* The features were written by this machine or turned to its order before. */
	struct cursor c = cursor_of(content->bytes, content->n, false);
	struct buf text = { 0 };
	int r;

	if (feature == SEAM_FEATURE_TRACING_DATA)
		return content->n >= sizeof(fit_tracing) &&
		       !memcmp(content->bytes, fit_tracing, sizeof(fit_tracing));
	if (feature == SEAM_FEATURE_NRCPUS) { /* available, online */
		uint32_t available = cursor_u32(&c), online = cursor_u32(&c);

		return !c.failed && available && online <= available;
	}
	r = feature_text(feature, content, &context, &text);
	buf_free(&text);
	return r != -EBADMSG;
}
