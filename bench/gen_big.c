// SPDX-License-Identifier: MIT
/*
 * gen_big.c: a recording as large as asked for, of a real one: its records again and again, each
 * round later than the one before, with cookies of its own.
 *
 *	gen_big [-v ROUNDS] [-p] BYTES FILE OUT
 *
 * -v: in this many rounds the outermost address of each user part is another, so that its stacks
 * are; then they come again. -p: in pipe mode; OUT "-" is standard output. Tasks begin, exec and
 * end in each round as they did in the first. Compressed recordings are written out plain.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seam/reader.h>
#include <seam/writer.h>

#define GAP_NS 1000000u /* between two rounds */
#define COOKIE_SHIFT 44

struct gen {
	struct seam_reader *reader;
	struct seam_writer *writer;
	const struct seam_events *events;
	uint64_t first_ns, last_ns; /* of the recording */
	uint64_t round, variants;
};

static uint64_t gen_get(const unsigned char *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static void gen_add(unsigned char *at, uint64_t more)
{
	uint64_t value = gen_get(at) + more;

	memcpy(at, &value, sizeof(value));
}

/* What the records of the event that wrote this one hold. */
static const struct seam_attr *gen_attr(const struct gen *g, const struct seam_record *record)
{
	const struct seam_event *event = seam_events_at(g->events, 0);
	size_t at = record->type == SEAM_RECORD_SAMPLE ? 8 : record->size - 8;

	if (event->attr.sample_type & SEAM_SAMPLE_IDENTIFIER && record->size >= 16 &&
	    seam_events_by_id(g->events, gen_get(record->bytes + at)))
		event = seam_events_by_id(g->events, gen_get(record->bytes + at));
	return &event->attr;
}

/* Where the time of a record is; 0: it has none. */
static size_t gen_time(const struct gen *g, const struct seam_record *record)
{
	uint64_t type = gen_attr(g, record)->sample_type, size = 8;

	if (!(type & SEAM_SAMPLE_TIME) || record->type >= SEAM_RECORD_USER_FIRST)
		return 0;
	if (record->type == SEAM_RECORD_SAMPLE)
		return 8 + 8 * (size_t)(!!(type & SEAM_SAMPLE_IDENTIFIER) +
		                        !!(type & SEAM_SAMPLE_IP) + !!(type & SEAM_SAMPLE_TID));
	/* sample_id_all: what is behind the time, from the record's end. */
	size += 8 * (uint64_t)(!!(type & SEAM_SAMPLE_ID) + !!(type & SEAM_SAMPLE_STREAM_ID) +
	                       !!(type & SEAM_SAMPLE_CPU) + !!(type & SEAM_SAMPLE_IDENTIFIER));
	return record->size > 8 + size ? record->size - size : 0;
}

/* Where a sample's callchain begins, with the number of its words; 0: it has none that is found so
 * easily. */
static size_t gen_chain(const struct gen *g, const struct seam_record *record)
{
	const uint64_t before[] = { SEAM_SAMPLE_IDENTIFIER, SEAM_SAMPLE_IP,   SEAM_SAMPLE_TID,
		                    SEAM_SAMPLE_TIME,       SEAM_SAMPLE_ADDR, SEAM_SAMPLE_ID,
		                    SEAM_SAMPLE_STREAM_ID,  SEAM_SAMPLE_CPU,  SEAM_SAMPLE_PERIOD };
	uint64_t type = gen_attr(g, record)->sample_type;
	size_t at = 8;

	if (!(type & SEAM_SAMPLE_CALLCHAIN) || type & SEAM_SAMPLE_READ)
		return 0;
	for (size_t i = 0; i < sizeof(before) / sizeof(*before); i++)
		at += type & before[i] ? 8 : 0;
	return at + 8 <= record->size && gen_get(record->bytes + at) <= (record->size - at) / 8 - 1
	               ? at
	               : 0;
}

/* Makes the outermost address of a chain another, if it is one of user space. */
static void gen_vary(const struct gen *g, unsigned char *words, uint64_t n)
{
	if (n > 1 && g->variants && gen_get(words + (n - 1) * 8) < UINT64_MAX / 2)
		gen_add(words + (n - 1) * 8, g->round % g->variants * 16);
}

/* A record of this round, in bytes. */
static void gen_later(const struct gen *g, const struct seam_record *record, unsigned char *bytes)
{
	uint64_t cookie = g->round << COOKIE_SHIFT, n;
	size_t at = gen_time(g, record);

	memcpy(bytes, record->bytes, record->size);
	if (at && gen_get(bytes + at))
		gen_add(bytes + at, g->round * (g->last_ns - g->first_ns + GAP_NS));
	if (record->type == SEAM_RECORD_CALLCHAIN_DEFERRED && record->size >= 24) {
		n = gen_get(bytes + 16);
		gen_add(bytes + 8, cookie);
		if (n && n <= (record->size - 24) / 8)
			gen_vary(g, bytes + 24, n);
	}
	at = record->type == SEAM_RECORD_SAMPLE ? gen_chain(g, record) : 0;
	n = at ? gen_get(bytes + at) : 0;
	if (n >= 2 && gen_get(bytes + at + (n - 1) * 8) == SEAM_CONTEXT_USER_DEFERRED)
		gen_add(bytes + at + n * 8, cookie);
	else
		gen_vary(g, bytes + at + 8, n);
}

/* One round: what the recorder made of the running machine's state is in the first one only. */
static int gen_round(struct gen *g, uint64_t bytes, struct seam_error *err)
{
	static unsigned char copy[UINT16_MAX + 1];
	struct seam_record record;
	int r;

	while ((r = seam_reader_next(g->reader, &record, err)) > 0) {
		size_t at = gen_time(g, &record);

		if (record.type >= SEAM_RECORD_USER_FIRST &&
		    record.type != SEAM_RECORD_FINISHED_ROUND)
			continue;
		if (g->round && !(at && gen_get(record.bytes + at)) &&
		    record.type != SEAM_RECORD_FINISHED_ROUND)
			continue;
		gen_later(g, &record, copy);
		r = seam_writer_write(g->writer, copy, record.size, err);
		if (r < 0 || seam_writer_bytes(g->writer) >= bytes)
			return r < 0 ? r : 1;
	}
	return r;
}

/* The first and the last time. */
static int gen_span(struct gen *g, struct seam_error *err)
{
	struct seam_record record;
	int r;

	g->first_ns = UINT64_MAX;
	while ((r = seam_reader_next(g->reader, &record, err)) > 0) {
		size_t at = gen_time(g, &record);
		uint64_t time = at ? gen_get(record.bytes + at) : 0;

		if (time && time < g->first_ns)
			g->first_ns = time;
		if (time > g->last_ns)
			g->last_ns = time;
	}
	return r < 0 ? r : seam_reader_rewind(g->reader);
}

static int gen_features(const struct gen *g)
{
	struct seam_bytes bytes;
	int r = 0;

	for (unsigned i = SEAM_FEATURE_BUILD_ID; i < SEAM_FEATURE_MAX && r >= 0; i++) {
		if (i != SEAM_FEATURE_COMPRESSED && i != SEAM_FEATURE_DIR_FORMAT &&
		    i != SEAM_FEATURE_SAMPLE_TIME && seam_reader_feature(g->reader, i, &bytes) > 0)
			r = seam_writer_feature(g->writer, i, bytes.bytes, bytes.n);
	}
	return r;
}

static int gen_run(struct gen *g, uint64_t bytes, const char *out, bool pipe,
                   struct seam_error *err)
{
	const struct seam_writer_opts opts = { .sz = sizeof(opts), .pipe = pipe };
	const struct seam_events *events = seam_reader_events(g->reader);
	int r;

	if (!seam_events_at(events, 0))
		return -EINVAL;
	g->events = events;
	r = gen_span(g, err);
	if (r >= 0)
		r = seam_writer_open(&g->writer, out, events, &opts, err);
	if (r >= 0)
		r = gen_features(g);
	for (; r >= 0 && seam_writer_bytes(g->writer) < bytes; g->round++) {
		uint64_t before = seam_writer_bytes(g->writer);

		r = gen_round(g, bytes, err);
		if (r >= 0)
			r = seam_reader_rewind(g->reader);
		if (r >= 0 && seam_writer_bytes(g->writer) == before)
			r = -ENODATA; /* nothing in it has a time */
	}
	return r;
}

int main(int argc, char **argv)
{
	struct seam_error err = { 0 };
	struct gen g = { 0 };
	bool pipe = false;
	int c, r;

	while ((c = getopt(argc, argv, "v:p")) != -1) {
		if (c == 'v')
			g.variants = strtoull(optarg, NULL, 10);
		else if (c == 'p')
			pipe = true;
		else
			break;
	}
	if (c != -1 || argc - optind != 3 || !strtoull(argv[optind], NULL, 10)) {
		fprintf(stderr, "usage: gen_big [-v ROUNDS] [-p] BYTES FILE OUT\n");
		return 2;
	}
	r = seam_reader_open(&g.reader, argv[optind + 1], NULL, &err);
	if (r >= 0)
		r = gen_run(&g, strtoull(argv[optind], NULL, 10), argv[optind + 2], pipe, &err);
	if (g.writer) {
		int closed = seam_writer_close(g.writer, &err);

		r = r < 0 ? r : closed;
	}
	seam_reader_close(g.reader);
	if (r < 0)
		fprintf(stderr, "gen_big: %s\n", err.code ? err.text : strerror(-r));
	return r < 0 ? 1 : 0;
}
