// SPDX-License-Identifier: MIT
// reader.c: a perf.data file, stream or directory as a sequence of records.
//
// Two lanes of bytes: `outer`, the records as they lie in the input, and `inner`, those that a
// compressed record held. Invariant: a record is handed out only when its size is at least 8 and it
// is whole. Does not decode records beyond those that describe the recording (meta.c), does not
// order them (order.c). Opening is reader_open.c.
//
// Policy for what is unsound: a record whose size is below 8 leaves no way to find the next one, so
// it ends its section, and what is left there is counted; a record longer than what is left is cut
// and ends it too. Nothing is guessed.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "perfdata/reader_state.h"
#include "perfdata/window.h"

/* "SAMPLE", or "record" for a type without a name; bytes hold a record's header. */
static const char *reader_type_name(const unsigned char *bytes, bool swap)
{
	struct cursor c = cursor_of(bytes, 4, swap);
	const char *name = seam_record_name(cursor_u32(&c));

	return name ? name : "record";
}

/* ---- more bytes for the outer lane ---- */

/* A mapped file that somebody cuts must not be touched behind its new end: its section ends
 * here. */
static int reader_check_shrunk(struct seam_reader *r, struct seam_error *err)
{
	const struct section *s = &r->sections[r->section];
	const struct input *in = r->section ? &s->input : &r->input;
	uint64_t now, at = lane_offset(&r->outer);

	if (!input_shrunk(in, &now))
		return 0;
	r->outer.at = r->outer.end;
	r->section_cut = true;
	r->tally.skipped_bytes += s->base + s->size - at;
	return damage_add(&r->damage, err, now, "data",
	                  "the file was cut from %llu to %llu bytes while it was read: "
	                  "%llu bytes left out",
	                  (unsigned long long)in->size, (unsigned long long)now,
	                  (unsigned long long)(s->base + s->size - at));
}

/* How far the lane goes next: up to READER_STEP, or to the end. */
static size_t reader_step(const unsigned char *at, const unsigned char *end)
{
	return (size_t)(end - at) > READER_STEP ? READER_STEP : (size_t)(end - at);
}

/* Extends the lane by up to 16 MiB of a mapped section. 1; 0: the section has no more. */
static int reader_advance(struct seam_reader *r, struct seam_error *err)
{
	const struct section *s = &r->sections[r->section];
	const unsigned char *end = s->bytes + s->size;
	size_t n;
	int rc;

	if (r->visible == end || r->section_cut)
		return 0;
	rc = reader_check_shrunk(r, err);
	if (rc < 0 || r->section_cut)
		return rc;
	/* The thread may have mapped this piece already. */
	n = reader_step(r->visible, end);
	if (!ahead_wait(&r->ahead, r->visible, n))
		input_populate(r->visible, n);
	r->visible += n;
	if (window_large(r) && r->outer.at - r->dropped > READER_BEHIND) {
		window_drop(r->dropped, (size_t)(r->outer.at - r->dropped) - READER_BEHIND);
		r->dropped = r->outer.at - READER_BEHIND;
	}
	if (r->visible != end)
		ahead_start(&r->ahead, r->visible, reader_step(r->visible, end));
	r->outer.end = r->visible;
	return 1;
}

/* Reads more of a stream into the window, behind what is left there. 1: there are more bytes; 0:
 * the stream has ended; an error of read(2) ends it too. */
static int reader_fill_stream(struct seam_reader *r, struct seam_error *err)
{
	/* A record that is not whole stays in front; the window is larger than any record. */
	struct lane *l = &r->outer;
	size_t left = lane_left(l), want = READER_WINDOW - left;
	uint64_t base = lane_offset(l);
	ssize_t got;

	if (r->stream_end)
		return 0;
	/* A file through a pipe: features follow the data and must not be read as records. */
	if (r->stream_left < want)
		want = (size_t)r->stream_left;
	memmove(r->window, l->at, left);
	got = want ? input_read(&r->input, r->window + left, want) : 0;
	lane_set(l, r->window, left + (got > 0 ? (size_t)got : 0), base, false, false);
	if (got < 0) {
		r->stream_end = true;
		return seam_error_set(err, (int)-got, r->name, base + left, "data", "%s",
		                      strerror((int)-got));
	}
	r->stream_left -= (uint64_t)got;
	r->stream_end = got == 0;
	return got > 0;
}

/* 1: there are more bytes in the lane now; 0: this section has no more. */
static int reader_fill(struct seam_reader *r, struct seam_error *err)
{
	return r->stream ? reader_fill_stream(r, err) : reader_advance(r, err);
}

/* ---- the end of a section ---- */

/* Whether the bytes are printable text. It is asked only where no record can be read. */
static bool reader_is_text(const unsigned char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if ((bytes[i] < ' ' || bytes[i] > '~') && bytes[i] != '\n' && bytes[i] != '\t')
			return false;
	}
	return n >= 8; /* fewer may look like anything */
}

/* Says what stands behind the last whole record: counts it, and reports it as damage. left: how
 * many bytes. A recorder that was killed leaves the front of a record; another program on the same
 * descriptor leaves text. */
static int reader_tail(struct seam_reader *r, uint64_t left, struct seam_error *err)
{
	const struct lane *l = &r->outer;
	size_t n = lane_left(l);
	uint32_t size = 0;

	if (n >= 8) {
		struct cursor c = cursor_of(l->at, 8, r->swap);

		cursor_bytes(&c, 6);
		size = cursor_u16(&c);
	}
	/* Text is not of the recorder: another program may have written to the same output. */
	if (reader_is_text(l->at, n < 64 ? n : 64)) {
		const unsigned char *line = memchr(l->at, '\n', n < 60 ? n : 60);

		r->tally.skipped_bytes += left;
		return damage_add(&r->damage, err, lane_offset(l), "data",
		                  "%llu bytes of text behind the last record: \"%.*s\"",
		                  (unsigned long long)left,
		                  (int)(line     ? line - l->at
		                        : n < 60 ? (ptrdiff_t)n
		                                 : 60),
		                  l->at);
	}
	r->tally.truncated_bytes += left;
	if (n < 8)
		return damage_add(&r->damage, err, lane_offset(l), "data",
		                  "ends with %llu bytes of a record's header",
		                  (unsigned long long)left);
	return damage_add(&r->damage, err, lane_offset(l), reader_type_name(l->at, r->swap),
	                  "the last record is cut: %llu of %u bytes", (unsigned long long)left,
	                  size);
}

/* What was carried over has no end: the compressed record that holds it is missing. */
static int reader_end_inner(struct seam_reader *r, struct seam_error *err)
{
	size_t n = r->carry.n;

	buf_clear(&r->carry);
	if (!n)
		return 0;
	r->tally.truncated_bytes += n;
	return damage_add(&r->damage, err, r->inner.base, "COMPRESSED",
	                  "the data ends inside a compressed record: %zu bytes of it", n);
}

/* Ends this section and enters the next one: 1. 0: that was the last. */
static int reader_next_section(struct seam_reader *r, struct seam_error *err)
{
	size_t left = lane_left(&r->outer);
	int rc = left ? reader_tail(r, left, err) : 0;

	lane_set(&r->outer, r->outer.end, 0, lane_offset(&r->outer) + left, false, false);
	if (rc >= 0)
		rc = reader_end_inner(r, err);
	if (rc < 0)
		return rc;
	if (r->stream)
		return reader_stream_behind(r, err);
	if (r->section + 1 >= r->n_sections)
		return 0;
	reader_enter_section(r, r->section + 1);
	return 1;
}

/* Begins section i from its front. Nothing of the section before is carried over: each file of a
 * directory has zstd frames of its own. */
void reader_enter_section(struct seam_reader *r, size_t i)
{
	const struct section *s = &r->sections[i];

	r->section = i;
	lane_set(&r->outer, s->bytes, 0, s->base, false, true);
	lane_set(&r->inner, NULL, 0, 0, true, false);
	r->visible = r->dropped = s->bytes;
	r->section_cut = false;
	buf_clear(&r->carry);
	inflate_reset(&r->inflate);
	r->inner_lost = false;
}

/* A record says a size that none can have: the rest of the section cannot be read. */
static int reader_unsound(struct seam_reader *r, struct lane *l, uint32_t size,
                          struct seam_error *err)
{
	uint64_t offset = lane_offset(l), left = lane_left(l);
	const char *what = reader_type_name(l->at, r->swap);
	int rc;

	/* The whole rest of the section is given up, beyond what is visible by now. */
	if (l == &r->outer && !r->stream) {
		const struct section *s = &r->sections[r->section];

		left = (uint64_t)(s->bytes + s->size - l->at);
		r->visible = s->bytes + s->size;
	}
	r->tally.skipped_records++;
	/* Only a new frame tells where records begin again. */
	r->inner_lost |= l == &r->inner;
	l->at = l->end;
	/* A stream's rest is read and thrown away, so that its bytes can be counted. */
	while (l == &r->outer && r->stream && (rc = reader_fill_stream(r, err)) != 0) {
		if (rc < 0)
			return rc;
		left += lane_left(l);
		l->at = l->end;
	}
	r->tally.skipped_bytes += left;
	return damage_add(&r->damage, err, offset, what,
	                  "size %u, need at least 8: %llu bytes from here on cannot be read", size,
	                  (unsigned long long)left);
}

/* ---- payloads behind a record ---- */

/* Passes n bytes of the lane; keeps the first `keep` of them in *kept. */
static int reader_pass(struct seam_reader *r, struct lane *l, uint64_t n, struct buf *kept,
                       size_t keep, const char *what, struct seam_error *err)
{
	uint64_t want = n;
	int rc;

	/* A payload may be longer than what is visible, or than the window. */
	for (;;) {
		size_t left = lane_left(l), take = n < left ? (size_t)n : left;

		if (kept && kept->n < keep)
			buf_put(kept, l->at, take < keep - kept->n ? take : keep - kept->n);
		l->at += take;
		n -= take;
		if (!n)
			return 0;
		rc = l == &r->outer ? reader_fill(r, err) : 0;
		if (rc < 0)
			return rc;
		if (!rc)
			break;
	}
	r->tally.truncated_bytes += want - n;
	return damage_add(&r->damage, err, lane_offset(l), what,
	                  "the data ends inside what follows it: %llu of %llu bytes",
	                  (unsigned long long)(want - n), (unsigned long long)want);
}

/* Whether n bytes begin as records do: with three in a row, or with fewer up to their very end. */
static bool reader_are_records(const unsigned char *bytes, size_t n, bool swap)
{
	for (unsigned i = 0; i < 3; i++) {
		struct cursor c = cursor_of(bytes, n, swap);
		uint32_t type = cursor_u32(&c), size;

		cursor_u16(&c);
		size = cursor_u16(&c);
		if (!n && i)
			return true;
		if (c.failed || size < 8 || size % 8 || size > n || !type ||
		    type > SEAM_RECORD_COMPRESSED2 ||
		    (type > SEAM_RECORD_CALLCHAIN_DEFERRED && type < SEAM_RECORD_USER_FIRST))
			return false;
		bytes += size;
		n -= size;
	}
	return true;
}

/* A record claims a payload that is longer than the rest of the file, while records follow it: it
 * is skipped, and these are read. (If none follow, the file was cut.) 1: skipped. A claim of a
 * hostile or damaged record must not make megabytes of sound records unreadable. */
static int reader_oversized(struct seam_reader *r, struct lane *l, const struct seam_record *rec,
                            uint64_t payload, const char *what, struct seam_error *err)
{
	uint64_t room = lane_left(l);
	int rc = 0;

	if (r->stream)
		return 0;
	if (l == &r->outer) {
		const struct section *s = &r->sections[r->section];

		room = (uint64_t)(s->bytes + s->size - l->at);
		/* Enough is made visible to look at three records; a small lane may end before. */
		while (payload > room && lane_left(l) < room && lane_left(l) < READER_PEEK &&
		       (rc = reader_fill(r, err)) > 0)
			;
	}
	if (rc < 0 || payload <= room || !reader_are_records(l->at, lane_left(l), r->swap))
		return rc < 0 ? rc : 0;
	r->tally.skipped_records++;
	r->tally.skipped_bytes += rec->size;
	rc = damage_add(
	        &r->damage, err, rec->offset, what,
	        "%llu bytes are to follow it, and the data have %llu, which are records: it is "
	        "skipped",
	        (unsigned long long)payload, (unsigned long long)room);
	return rc < 0 ? rc : 1;
}

/* While a payload is passed, a stream's window moves. So the record in front of it is copied
 * aside. */
static int reader_hold(struct seam_reader *r, const struct lane *l, struct seam_record *rec)
{
	if (!r->stream || l != &r->outer)
		return 0;
	buf_clear(&r->held);
	if (buf_put(&r->held, rec->bytes, rec->size) < 0)
		return -ENOMEM;
	rec->bytes = r->held.bytes;
	return 0;
}

/* TRACING_DATA: the formats of tracepoints follow the record, or are in it. They are kept in the
 * first pass. 0; 1: the record is skipped. */
static int reader_tracing_data(struct seam_reader *r, struct lane *l, struct seam_record *rec,
                               struct seam_error *err)
{
	struct cursor c = cursor_of(rec->bytes + 8, rec->size - 8, r->swap);
	uint32_t size = cursor_u32(&c);
	struct buf kept = { 0 };
	bool keep = rec->index >= r->learned;
	int rc;

	if (size && rec->size > 12 &&
	    size <= rec->size - 12) { /* in the record itself: simpleperf */
		rc = keep ? meta_take_tracing_data(&r->meta, rec->bytes + 12, size) : 0;
		return rc < 0 ? rc : 0;
	}
	rc = reader_oversized(r, l, rec, size, "TRACING_DATA", err);
	if (!rc)
		rc = reader_hold(r, l, rec);
	if (rc)
		return rc;
	/* All of the payload is passed, but only as much is kept as the bound allows. */
	rc = reader_pass(r, l, size, keep ? &kept : NULL, READER_TRACING_DATA, "TRACING_DATA", err);
	if (rc >= 0 && keep && size > READER_TRACING_DATA && kept.n >= READER_TRACING_DATA)
		rc = damage_add(&r->damage, err, rec->offset, "TRACING_DATA",
		                "%u bytes, more than %u: left out", size, READER_TRACING_DATA);
	else if (rc >= 0 && keep && kept.n == size && size)
		rc = meta_take_tracing_data(&r->meta, kept.bytes, kept.n);
	buf_free(&kept);
	return rc < 0 ? rc : 0;
}

/* AUXTRACE: a piece of a hardware trace follows, which seam does not decode: it is passed over. 1:
 * the record is skipped. */
static int reader_auxtrace(struct seam_reader *r, struct lane *l, struct seam_record *rec,
                           struct seam_error *err)
{
	struct cursor c = cursor_of(rec->bytes + 8, rec->size - 8, r->swap);
	uint64_t size = cursor_u64(&c);
	int rc = reader_oversized(r, l, rec, size, "AUXTRACE", err);

	if (!rc)
		rc = reader_hold(r, l, rec);
	return rc ? rc : reader_pass(r, l, size, NULL, 0, "AUXTRACE", err);
}

/* ---- records ---- */

/* Deals with records that mean something to the reader. 1: hand it out, 0: do not. */
static int reader_special(struct seam_reader *r, struct lane *l, struct seam_record *rec,
                          struct seam_error *err)
{
	int rc = 0;

	switch (rec->type) {
	case SEAM_RECORD_COMPRESSED:
	case SEAM_RECORD_COMPRESSED2:
		if (l == &r->inner) /* nobody compresses twice; a bomb would */
			return 1;
		r->tally.compressed_records++;
		r->tally.compressed2_records += rec->type == SEAM_RECORD_COMPRESSED2;
		return reader_compressed(r, rec, err);
	case SEAM_RECORD_HEADER_TRACING_DATA:
		rc = reader_tracing_data(r, l, rec, err);
		break;
	case SEAM_RECORD_AUXTRACE:
		rc = reader_auxtrace(r, l, rec, err);
		break;
	default:
		/* meta looks at each record in the first pass only. */
		if (rec->index >= r->learned)
			rc = meta_take(&r->meta, rec, err);
		return rc < 0 ? rc : 1;
	}
	return rc < 0 ? rc : !rc;
}

/* perf's own records, which are few. FINISHED_ROUND is one of them, but means nothing here, and is
 * frequent in files of many CPUs. */
static bool reader_is_special(uint32_t type)
{
	return type - SEAM_RECORD_USER_FIRST <
	               SEAM_RECORD_COMPRESSED2 + 1 - SEAM_RECORD_USER_FIRST &&
	       type != SEAM_RECORD_FINISHED_ROUND;
}

/* The lane's bytes do not hold a whole record. 1: try again, 0: the end. In the inner lane the rest
 * of the record is in the next compressed one. */
static int reader_short(struct seam_reader *r, struct lane *l, struct seam_error *err)
{
	int rc;

	if (l == &r->inner) {
		rc = reader_carry(r, l->at, lane_left(l));
		l->at = l->end;
		return rc < 0 ? rc : 1;
	}
	rc = reader_fill(r, err);
	return rc ? rc : reader_next_section(r, err);
}

/* Remembers how reading ended. After damage with `strict`, or without memory, no record can be
 * trusted, so later calls fail as well. Errors of read(2) are given once. */
static int reader_fail(struct seam_reader *r, int rc, struct seam_error *err)
{
	if (rc == -ENOMEM)
		seam_error_set(err, ENOMEM, r->name, SEAM_NO_OFFSET, NULL, "out of memory");
	if (rc == -EBADMSG || rc == -ENOMEM)
		r->failed = rc;
	if (!rc)
		r->complete = true;
	return rc;
}

/*
 * Asks for memory that will be needed soon. It may lie behind the end of the file: this is only a
 * hint. Of records with stack copies only both ends are read, and the next one is most likely as
 * long as this one.
 */
static inline void reader_ahead(const unsigned char *next, uint16_t size)
{
	if (size <= 1024) {
		__builtin_prefetch(next + 1024);
		return;
	}
	next += 2 * (size_t)size;
	__builtin_prefetch(next - 8);
	for (unsigned i = 0; i < 8; i++)
		__builtin_prefetch(next + i * 64);
}

/* The lane that the next record is in. */
static inline struct lane *reader_lane(struct seam_reader *r)
{
	return r->inner.at != r->inner.end ? &r->inner : &r->outer;
}

/* The first 8 bytes of each record, in this machine's byte order. */
struct head {
	uint32_t type;
	uint16_t misc, size;
};

/* The header that stands in a lane, where 8 bytes are. */
static inline struct head reader_head(const struct seam_reader *r, const struct lane *l)
{
	struct head h;

	memcpy(&h.type, l->at, 4);
	memcpy(&h.misc, l->at + 4, 2);
	memcpy(&h.size, l->at + 6, 2);
	if (r->swap) {
		h.type = __builtin_bswap32(h.type);
		h.misc = __builtin_bswap16(h.misc);
		h.size = __builtin_bswap16(h.size);
	}
	return h;
}

/* Hands out the record at the front of the lane: fills *ret and moves on. Nothing is copied. */
static inline void reader_take(const struct seam_reader *r, struct lane *l, const struct head *h,
                               struct seam_record *ret)
{
	*ret = (struct seam_record){ .type = h->type,
		                     .misc = h->misc,
		                     .swap = r->swap,
		                     .stable = l->stable,
		                     .size = h->size,
		                     .offset = lane_offset(l),
		                     .index = r->records,
		                     .bytes = l->at };
	l->at += h->size;
}

/* The slow part of seam_reader_next, for records that need some action first. It is not inlined,
 * because each record would pay for its registers. */
__attribute__((noinline)) static int
reader_next_special(struct seam_reader *r, struct seam_record *ret, struct seam_error *err)
{
	int rc;

	if (r->failed)
		return seam_error_set(err, -r->failed, r->name, SEAM_NO_OFFSET, NULL,
		                      "reading has failed before");
	for (;;) {
		/* What a compressed record gave is read to its end before the next outer record. */
		struct lane *l = reader_lane(r);
		size_t left = lane_left(l);
		struct head h;

		if (left < 8) {
			rc = reader_short(r, l, err);
			if (rc <= 0)
				return reader_fail(r, rc, err);
			continue;
		}
		h = reader_head(r, l);
		/* A record that is cut here may be whole once more is read. A size below 8 is
		 * damage. */
		if (h.size < 8 || h.size > left) {
			rc = h.size < 8 ? reader_unsound(r, l, h.size, err)
			                : reader_short(r, l, err);
			if (rc < 0 || (!rc && h.size >= 8))
				return reader_fail(r, rc, err);
			continue;
		}
		reader_take(r, l, &h, ret);
		if (reader_is_special(ret->type)) {
			rc = reader_special(r, l, ret, err);
			if (rc < 0)
				return reader_fail(r, rc, err);
			if (!rc)
				continue;
		}
		r->records++;
		return 1;
	}
}

/* The fast way: a record that is at hand as a whole and means nothing to the reader. 1 and *ret; 0
 * at the end; -errno. */
int seam_reader_next(struct seam_reader *r, struct seam_record *ret, struct seam_error *err)
{
	struct lane *l = reader_lane(r);
	size_t left = lane_left(l);

	if (left >= 8 && !r->failed) {
		struct head h = reader_head(r, l);

		if (h.size >= 8 && h.size <= left && !reader_is_special(h.type)) {
			reader_take(r, l, &h, ret);
			reader_ahead(l->at, h.size);
			r->records++;
			return 1;
		}
	}
	return reader_next_special(r, ret, err);
}
