// SPDX-License-Identifier: MIT
// writer.c: a well-formed perf.data file or stream from records and features.
//
// Invariant: `data` counts the bytes of whole records in the file, and `out` begins at a record's
// start. So when a write fails the file can be cut back to data_offset + data, and what is there is
// sound. Layout: header, attrs, ids, data, feature table, features; see writer_head.c.
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "abi/encode.h"
#include "abi/record_at.h"
#include "base/cursor.h"
#include "base/sized.h"
#include "perfdata/fit.h"
#include "perfdata/header.h"
#include "perfdata/writer_flags.h"
#include "perfdata/writer_state.h"

/* ---- bytes to the file ---- */

/* write(2) until all is written. *done says how much was, also on failure: that part is in the file
 * and must be cut off again. An interrupted call is repeated. */
static int writer_put(const struct seam_writer *w, const unsigned char *bytes, size_t n,
                      size_t *done)
{
	*done = 0;
	while (*done < n) {
		ssize_t put = write(w->fd, bytes + *done, n - *done);

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return put < 0 ? -errno : -EIO;
		*done += (size_t)put;
	}
	return 0;
}

/* The error that was kept, in words, with the place in the file. */
static int writer_error(const struct seam_writer *w, struct seam_error *err)
{
	return seam_error_set(err, -w->failed, w->name, w->data_offset + w->data, NULL, "%s",
	                      strerror(-w->failed));
}

/* Bytes of payload that stand behind a record without being counted in its size. */
static uint64_t writer_payload(const struct seam_record *r)
{
	struct cursor c = cursor_of(r->bytes, r->size, false);

	cursor_u64(&c); /* the header */
	if (r->type == SEAM_RECORD_HEADER_TRACING_DATA) {
		uint32_t n = cursor_u32(&c);

		return r->size > 12 && n <= r->size - 12 ? 0
		                                         : n; /* simpleperf has it in the record */
	}
	return r->type == SEAM_RECORD_AUXTRACE ? cursor_u64(&c) : 0;
}

/* The length of the record at bytes, with what stands behind it; 0 when it is not whole. */
static uint64_t writer_record_size(const unsigned char *bytes, size_t n)
{
	struct seam_record record;
	uint64_t payload;

	if (!record_at(bytes, n, &record))
		return 0;
	payload = writer_payload(&record);
	return payload > n - record.size ? 0 : record.size + payload;
}

/* How many of n bytes, all of which are in the file, belong to whole records. Called after a failed
 * write, to keep what can be read. */
static size_t writer_whole(const unsigned char *bytes, size_t n)
{
	size_t at = 0;
	uint64_t size;

	while (at < n && (size = writer_record_size(bytes + at, n - at)) != 0)
		at += (size_t)size;
	return at;
}

/* Writes out `out`. On failure the file is cut back to its last whole record and the error kept. */
static int writer_drain(struct seam_writer *w)
{
	size_t done;
	int rc;

	/* After a failure nothing more is written: what follows would have a gap in front. */
	if (w->failed)
		return w->failed;
	rc = writer_put(w, w->out.bytes, w->out.n, &done);
	if (rc < 0) {
		/* The pieces of one zstd frame are of no use without each other. */
		w->data += w->compressing ? 0 : writer_whole(w->out.bytes, done);
		w->failed = rc;
		/* A disk that is full often still allows the cut. */
		if (!w->pipe && (ftruncate(w->fd, (off_t)(w->data_offset + w->data)) < 0 ||
		                 lseek(w->fd, (off_t)(w->data_offset + w->data), SEEK_SET) < 0))
			w->uncut = true; /* the header will say where the data ends */
	} else {
		w->data += done;
	}
	buf_clear(&w->out);
	return rc;
}

/* The same at a place of the file that was written before. */
static int writer_pwrite(const struct seam_writer *w, const struct buf *b, uint64_t offset)
{
	size_t done = 0;

	while (done < b->n) {
		ssize_t put = pwrite(w->fd, b->bytes + done, b->n - done, (off_t)(offset + done));

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return put < 0 ? -errno : -EIO;
		done += (size_t)put;
	}
	return 0;
}

/* Compresses what has gathered, one frame. */
static int writer_deflate(struct seam_writer *w)
{
	int rc;

	if (!w->compressing || !w->plain.n || w->failed)
		return w->failed;
	rc = deflate_records(&w->deflate, w->plain.bytes, w->plain.n, &w->out);
	buf_clear(&w->plain);
	if (rc < 0) {
		w->failed = rc;
		buf_clear(&w->out);
		return rc;
	}
	return writer_drain(w);
}

/* ---- records ---- */

/* Records that describe the recording, or that have a payload behind them, are never compressed:
 * perf looks for them in the open. */
static bool writer_in_the_open(const unsigned char *record)
{
	uint32_t type;

	memcpy(&type, record, 4);
	return type >= SEAM_RECORD_USER_FIRST && type != SEAM_RECORD_FINISHED_ROUND;
}

/* Puts the record at bytes into w->fit in the form that perf accepts. False: it needs no change. */
static bool writer_refit(struct seam_writer *w, const unsigned char *bytes, size_t n)
{
	struct seam_record record;

	buf_clear(&w->fit);
	return record_at(bytes, n, &record) && fit_record(w->events, &record, &w->fit);
}

/* A run of records into the buffer, which is emptied first when it would overflow. */
static int writer_take(struct seam_writer *w, const unsigned char *bytes, size_t n, bool open)
{
	/* Compressed output has two buffers: plain records wait in one until they make a frame. */
	struct buf *to = w->compressing && !open ? &w->plain : &w->out;
	size_t most = w->compressing && !open ? DEFLATE_CHUNK : w->buffer;
	int rc = 0;

	/* What is in the open must stay behind the records before it, so these are packed first. */
	if (to->n + n > most || (w->compressing && open))
		rc = w->compressing ? writer_deflate(w) : writer_drain(w);
	if (rc >= 0)
		rc = buf_put(to, bytes, n);
	return rc >= 0 && w->compressing && open ? writer_drain(w) : rc;
}

/* The record of writer_refit in its new form. */
static int writer_take_fit(struct seam_writer *w, bool open)
{
	return w->fit.failed ? -ENOMEM : writer_take(w, w->fit.bytes, w->fit.n, open);
}

/* Checks the whole input first, so that either all records are taken or none. Some records are
 * changed on the way into a form that perf can read (fit.h). */
int seam_writer_write(struct seam_writer *w, const void *records, size_t n, struct seam_error *err)
{
	const unsigned char *bytes = records;
	size_t at = 0, run = 0;
	bool open = false;
	int rc = 0;

	if (w->failed)
		/* All or nothing: a half record in the file would make the rest unreadable. */
		return writer_error(w, err);
	if (writer_whole(bytes, n) != n)
		return seam_error_set(err, EINVAL, w->name, SEAM_NO_OFFSET, NULL,
		                      "%zu bytes that do not end at a record's end", n);
	/* Records of one kind are taken in runs of up to 64 KiB: one at a time would cost a copy
	 * each. */
	while (at < n && rc >= 0) {
		size_t size = (size_t)writer_record_size(bytes + at, n - at);
		bool kind = writer_in_the_open(bytes + at);
		bool other = writer_refit(w, bytes + at, n - at);

		if (at > run && (other || kind != open || at + size - run > WRITER_RUN)) {
			rc = writer_take(w, bytes + run, at - run, open);
			run = at;
		}
		open = kind;
		at += size;
		if (other && rc >= 0)
			rc = writer_take_fit(w, kind);
		if (other)
			run = at;
	}
	if (at > run && rc >= 0)
		rc = writer_take(w, bytes + run, at - run, open);
	if (rc < 0) {
		w->failed = w->failed ? w->failed : rc;
		return writer_error(w, err);
	}
	w->accepted += n;
	return 0;
}

/* After it everything that was accepted is in the file, and the header says so. A recording that is
 * read while it grows (or after a crash) ends here. */
int seam_writer_flush(struct seam_writer *w, struct seam_error *err)
{
	if (writer_deflate(w) < 0 || writer_drain(w) < 0)
		return writer_error(w, err);
	if (w->pipe || !w->data)
		return 0;
	/* What is flushed is in the header, too: perf reads nothing of a file whose data.size is
	 * 0. */
	writer_head_update(&w->head, w->data, true, NULL);
	w->failed = w->head.failed ? -ENOMEM : writer_pwrite(w, &w->head, 0);
	return w->failed ? writer_error(w, err) : 0;
}

/* Bytes of records that were accepted, before compression. */
uint64_t seam_writer_bytes(const struct seam_writer *w)
{
	return w->accepted;
}

/* ---- features ---- */

/* A stream has no header to name features in: they are records, and must come before the samples
 * that need them. */
static int writer_feature_pipe(struct seam_writer *w, unsigned feature, const void *bytes, size_t n)
{
	struct buf out = { 0 };
	int rc = writer_feature_records(&out, feature, bytes, n);

	if (rc >= 0)
		rc = seam_writer_write(w, out.bytes, out.n, NULL);
	buf_free(&out);
	return rc;
}

/* Keeps the content until the file is closed. The bytes are copied. Giving a feature again replaces
 * it. */
int seam_writer_feature(struct seam_writer *w, unsigned feature, const void *bytes, size_t n)
{
	struct writer_feature *f;

	if (feature >= SEAM_FEATURE_MAX)
		return -EINVAL;
	if (w->pipe)
		return writer_feature_pipe(w, feature, bytes, n);
	f = &w->features[feature];
	buf_clear(&f->content);
	f->has = buf_put(&f->content, n ? bytes : "", n) >= 0;
	return f->has ? 0 : -ENOMEM;
}

int seam_writer_feature_string(struct seam_writer *w, unsigned feature, const char *text)
{
	struct buf b = { 0 };
	int rc = feature_put_string(&b, text);

	if (rc >= 0)
		rc = seam_writer_feature(w, feature, b.bytes, b.n);
	buf_free(&b);
	return rc;
}

/* ---- open and close ---- */

/* The feature that tells readers that the data is compressed: the kind, the level, the ratio so
 * far, and how much memory a reader needs for a frame's content. */
static int writer_feature_compressed(struct seam_writer *w)
{
	const uint32_t zstd = 1, version = 0;
	struct buf b = { 0 };
	int rc;

	buf_put_u32(&b, version);
	buf_put_u32(&b, zstd);
	buf_put_u32(&b, (uint32_t)w->deflate.level);
	buf_put_u32(&b, w->data ? (uint32_t)(w->accepted / w->data) : 0);
	buf_put_u32(&b, DEFLATE_CHUNK);
	rc = b.failed ? -ENOMEM : seam_writer_feature(w, SEAM_FEATURE_COMPRESSED, b.bytes, b.n);
	buf_free(&b);
	return rc;
}

/* The head goes out at once, so that a recording that is killed can be read. */
static int writer_start(struct seam_writer *w, const struct seam_events *events,
                        struct seam_error *err)
{
	size_t done;
	int rc = w->pipe ? writer_head_pipe(&w->out, events)
	                 : writer_head_file(&w->out, events, &w->head);

	if (rc == -E2BIG)
		return seam_error_set(err, E2BIG, w->name, SEAM_NO_OFFSET, NULL,
		                      "too many ids of one event for a stream");
	if (rc < 0)
		return seam_error_set(err, -rc, w->name, SEAM_NO_OFFSET, NULL, "%s", strerror(-rc));
	rc = writer_put(w, w->out.bytes, w->out.n, &done);
	if (rc < 0)
		return seam_error_set(err, -rc, w->name, SEAM_NO_OFFSET, NULL, "%s", strerror(-rc));
	w->data_offset = w->pipe ? 0 : w->out.n;
	buf_clear(&w->out);
	/* Names of events that the attr does not tell; in a stream the head has them. */
	if (!w->pipe && writer_names(&w->out, events) < 0)
		return -ENOMEM;
	return writer_drain(w) < 0 ? writer_error(w, err) : 0;
}

/* Opens the path, or takes a descriptor of the caller, which is duplicated and stays the
 * caller's. */
static int writer_open_fd(struct seam_writer *w, const char *path, int fd, struct seam_error *err)
{
	bool standard = !fd && !strcmp(path, "-");

	if (standard)
		fd = STDOUT_FILENO;
	/* 0600: a recording shows what ran, with its arguments. The duplicate is above 2, so that
	 * nobody's standard output is taken for it. */
	w->fd = fd ? fcntl(fd, F_DUPFD_CLOEXEC, 3)
	           : open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (standard || (w->fd >= 0 && lseek(w->fd, 0, SEEK_SET) < 0))
		w->pipe = true; /* a FIFO: only a stream can be written there */
	if (w->fd < 0)
		return seam_error_set(err, errno, path, SEAM_NO_OFFSET, NULL, "%s",
		                      strerror(errno));
	return 0;
}

/* Frees all, whatever was set up. Buffers that were not written are lost. */
static void writer_free(struct seam_writer *w)
{
	for (unsigned f = 0; f < SEAM_FEATURE_MAX; f++)
		buf_free(&w->features[f].content);
	if (w->compressing)
		deflate_free(&w->deflate);
	if (w->fd >= 0)
		close(w->fd);
	buf_free(&w->out);
	buf_free(&w->plain);
	buf_free(&w->head);
	buf_free(&w->fit);
	seam_events_free(w->events);
	free(w->name);
	free(w);
}

/* Copies the events: the caller's may grow, or be freed, while the file is open. */
static int writer_keep_events(struct seam_writer *w, const struct seam_events *events)
{
	int rc = seam_events_new(&w->events);

	for (size_t i = 0; rc >= 0 && i < seam_events_count(events); i++) {
		const struct seam_event *e = seam_events_at(events, i);

		rc = seam_events_add(w->events, &e->attr, e->name, e->ids, e->n_ids, NULL);
	}
	return rc < 0 ? rc : 0;
}

/* When opening fails, nothing stays open; a file that was created stays, with what was written so
 * far. */
int seam_writer_open(struct seam_writer **ret, const char *path, const struct seam_events *events,
                     const struct seam_writer_opts *opts, struct seam_error *err)
{
	struct seam_writer_opts o;
	struct seam_writer *w;
	int rc = sized_take(&o, sizeof(o), opts);

	if (rc < 0)
		return seam_error_set(
		        err, -rc, path, SEAM_NO_OFFSET, NULL,
		        "the options are of a newer version, or their size is not set");
	if (o.compress_level < 0 || o.compress_level > 22)
		return seam_error_set(err, EINVAL, path, SEAM_NO_OFFSET, NULL,
		                      "compression level %d, must be 0 ... 22", o.compress_level);
	w = calloc(1, sizeof(*w));
	if (!w)
		return seam_error_set(err, ENOMEM, path, SEAM_NO_OFFSET, NULL, "out of memory");
	w->fd = -1;
	w->pipe = o.pipe;
	w->buffer = o.buffer ? o.buffer : WRITER_BUFFER;
	w->name = strdup(o.fd || strcmp(path, "-") ? path : "standard output");
	rc = w->name ? writer_open_fd(w, path, o.fd, err) : -ENOMEM;
	if (rc >= 0)
		rc = writer_keep_events(w, events);
	if (rc >= 0)
		rc = writer_start(w, events, err);
	if (rc >= 0 && o.compress_level) {
		rc = deflate_init(&w->deflate, o.compress_level);
		w->deflate.v1 = o.compress_v1;
		if (rc >= 0 && w->pipe)
			rc = writer_feature_compressed(w);
		if (rc >= 0)
			rc = seam_writer_flush(w, err);
		/* Only from here on: what stands at the front must be readable without
		 * unpacking. */
		w->compressing = w->deflate.context;
	}
	if (rc == -ENOMEM)
		seam_error_set(err, ENOMEM, path, SEAM_NO_OFFSET, NULL, "out of memory");
	if (rc < 0)
		writer_free(w);
	else
		*ret = w;
	return rc;
}

/* Flags that the kernel refused while the recording went on: the attrs are written again without
 * them when the file is closed. Only for files: a stream's attrs are gone. */
void writer_clear_flags(struct seam_writer *w, uint64_t flags)
{
	w->clear_flags |= flags;
}

/* Writes the attrs again, without the flags that are to go. -EINVAL: the head would have another
 * length, which must not be. */
static int writer_attrs_again(struct seam_writer *w)
{
	struct buf head = { 0 }, all = { 0 }, attrs = { 0 }, desc = { 0 };
	struct writer_feature *f = &w->features[SEAM_FEATURE_EVENT_DESC];
	struct seam_events *events;
	int rc = seam_events_new(&events);

	for (size_t i = 0; rc >= 0 && i < seam_events_count(w->events); i++) {
		const struct seam_event *e = seam_events_at(w->events, i);
		struct seam_attr attr = e->attr;

		attr.flags &= ~w->clear_flags;
		rc = seam_events_add(events, &attr, e->name, e->ids, e->n_ids, NULL);
	}
	if (rc >= 0)
		rc = writer_head_file(&all, events, &head);
	if (rc >= 0 && all.n != w->data_offset)
		rc = -EINVAL;
	if (rc >= 0)
		rc = buf_put(&attrs, all.bytes + HEADER_SIZE, all.n - HEADER_SIZE);
	if (rc >= 0)
		rc = writer_pwrite(w, &attrs, HEADER_SIZE);
	/* EVENT_DESC has the attrs too. */
	if (rc >= 0 && f->has && feature_put_event_desc(&desc, events) >= 0) {
		buf_free(&f->content);
		f->content = desc;
		desc = (struct buf){ 0 };
	}
	seam_events_free(events);
	buf_free(&desc);
	buf_free(&attrs);
	buf_free(&head);
	buf_free(&all);
	return rc < 0 ? rc : 0;
}

/* Writes the features behind the data, then the header with its sizes. If the features cannot be
 * written, the header says that there are none. -errno. In this order the header is true at every
 * moment: a process that is killed between leaves a file whose data can be read. */
static int writer_finish(struct seam_writer *w)
{
	uint64_t end = w->data_offset + w->data;
	struct buf tail = { 0 };
	int rc, head_rc;

	/* The ratio is known now. */
	if (w->compressing && writer_feature_compressed(w) < 0)
		return -ENOMEM;
	if (w->clear_flags && !w->failed)
		writer_attrs_again(w); /* with them the file is as good as before */
	rc = writer_tail(&tail, w->features, end);
	if (rc >= 0)
		rc = writer_pwrite(w, &tail, end);
	if (rc < 0 && ftruncate(w->fd, (off_t)end) < 0)
		w->uncut = true;
	buf_free(&tail);
	writer_head_update(&w->head, w->data, false, rc < 0 ? NULL : w->features);
	head_rc = w->head.failed ? -ENOMEM : writer_pwrite(w, &w->head, 0);
	return rc < 0 ? rc : head_rc;
}

/* Writes one FINISHED_ROUND: a file with data.size 0 is taken for one whose recorder was killed. */
static int writer_no_data(struct seam_writer *w, struct seam_error *err)
{
	struct buf round = { 0 };
	int rc = encode_end(&round, encode_begin(&round, SEAM_RECORD_FINISHED_ROUND, 0));

	if (rc >= 0)
		rc = seam_writer_write(w, round.bytes, round.n, err);
	buf_free(&round);
	return rc < 0 ? rc : seam_writer_flush(w, err);
}

/* Frees the writer in any case. The first error is the one that is returned. */
int seam_writer_close(struct seam_writer *w, struct seam_error *err)
{
	int rc, finish_rc = 0;

	if (!w)
		return 0;
	rc = seam_writer_flush(w, err);
	if (!w->pipe && !w->failed && !w->data) /* a finished file without data looks killed */
		rc = writer_no_data(w, err);
	if (!w->pipe)
		finish_rc = writer_finish(w);
	if (rc >= 0 && finish_rc < 0)
		rc = seam_error_set(err, -finish_rc, w->name, SEAM_NO_OFFSET, "header", "%s",
		                    strerror(-finish_rc));
	writer_free(w);
	return rc;
}
