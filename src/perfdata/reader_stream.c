// SPDX-License-Identifier: MIT
/*
 * reader_stream.c: input that comes once, front to back: a pipe-mode stream, or a whole file
 * through a pipe. Memory: one window, and for a file what stands before and behind its data.
 *
 * Neither end of a stream is known: header.data.size may be 0. So the reader takes what comes, and
 * the features behind a file's data are read when the data ends. seam_reader_rewind is refused.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "perfdata/reader_state.h"

/* Reads until held has n bytes or the input ends. A hostile header can ask for no more than
 * READER_STREAM_HEAD here. */
static int reader_hold_up_to(struct seam_reader *r, size_t n, struct seam_error *err)
{
	while (r->held.n < n) {
		size_t step = n - r->held.n < READER_WINDOW ? n - r->held.n : READER_WINDOW;
		void *p = buf_reserve(&r->held, step);
		ssize_t got = p ? input_read(&r->input, p, step) : -ENOMEM;

		if (got < 0)
			return seam_error_set(err, (int)-got, r->name, r->held.n, NULL, "%s",
			                      strerror((int)-got));
		if (!got)
			return 0;
		r->held.n += (size_t)got;
	}
	return 0;
}

/* A file through a pipe: its attrs must come before its data, as every perf writes them. */
static int reader_stream_head(struct seam_reader *r, struct seam_error *err)
{
	const struct header *h = &r->header;
	int rc;

	/* All of it is held in memory, because the events may stand anywhere in it. */
	if (h->data.offset > READER_STREAM_HEAD)
		return seam_error_set(
		        err, EBADMSG, r->name, 40, "header",
		        "the data begin at 0x%llx, behind more than %u bytes: this file "
		        "cannot be read from a pipe",
		        (unsigned long long)h->data.offset, READER_STREAM_HEAD);
	if (h->data.offset < h->size || h->attrs.offset > h->data.offset ||
	    h->attrs.size > h->data.offset - h->attrs.offset)
		return seam_error_set(err, EBADMSG, r->name, 24, "header",
		                      "the attrs do not stand before the data: "
		                      "this file cannot be read from a pipe");
	rc = reader_hold_up_to(r, (size_t)h->data.offset, err);
	if (rc < 0)
		return rc;
	r->unfinished = !h->data.size || header_is_open(h);
	r->stream_left = r->unfinished ? UINT64_MAX : h->data.size;
	if (r->unfinished && damage_add(&r->damage, err, 48, "header",
	                                "%sthe recorder did not finish this file; reading to the "
	                                "end of the stream",
	                                header_is_open(h) ? "" : "data.size is 0: ") < 0)
		return -EBADMSG;
	return meta_load_attrs(&r->meta, h, r->held.bytes, r->held.n, err);
}

/* Reads as much of the input as the header takes and sets the reader up to read the rest once,
 * front to back. Only a file that comes through a pipe has more than the header in front of its
 * data. */
int reader_open_stream(struct seam_reader *r, struct seam_error *err)
{
	int rc = reader_hold_up_to(r, HEADER_SIZE_PIPE, err);

	r->stream = true;
	r->window = malloc(READER_WINDOW);
	if (!r->window)
		return -ENOMEM;
	/* The first 16 bytes tell a pipe from a file, whose header is longer. */
	if (rc >= 0)
		rc = header_decode(r->held.bytes, r->held.n, r->name, &r->header, NULL);
	if (rc == -EAGAIN)
		rc = reader_hold_up_to(r, HEADER_SIZE, err);
	if (rc >= 0 || rc == -EBADMSG)
		rc = header_decode(r->held.bytes, r->held.n, r->name, &r->header, err);
	if (rc < 0)
		return rc == -EAGAIN ? -EBADMSG : rc;
	r->swap = r->header.swap;
	rc = meta_init(&r->meta, r->swap, &r->damage);
	if (rc < 0)
		return rc;
	r->stream_left = UINT64_MAX;
	if (!r->header.pipe)
		rc = reader_stream_head(r, err);
	if (rc < 0)
		return rc;
	r->header.data.offset = r->header.pipe ? HEADER_SIZE_PIPE : r->header.data.offset;
	lane_set(&r->outer, r->window, 0, r->header.data.offset, false, false);
	return 0;
}

/* Reads what follows the data of a file that came through a pipe. 0: nothing more follows, or it
 * was read; damage is reported. The feature table has offsets of the file; what is held begins at
 * `base`. */
int reader_stream_behind(struct seam_reader *r, struct seam_error *err)
{
	uint64_t base = r->header.data.offset + r->header.data.size;
	int rc;

	if (r->header.pipe || r->unfinished || r->stream_behind)
		return 0;
	r->stream_behind = true;
	/* Its data was cut, so the table is not there. */
	if (r->stream_left) {
		meta_lose_features(&r->meta, &r->header);
		return damage_add(&r->damage, err, base - r->stream_left, "data",
		                  "the stream ends %llu bytes before its data does",
		                  (unsigned long long)r->stream_left);
	}
	buf_clear(&r->held);
	rc = reader_hold_up_to(r, READER_STREAM_HEAD, err);
	if (rc < 0)
		return rc;
	return meta_load_features(&r->meta, &r->header, r->held.bytes, r->held.n, base, base, err);
}
