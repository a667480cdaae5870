// SPDX-License-Identifier: MIT
// stitch_stream.c: prints the whole stack of each sample of a recording while it is still being
// made, with libseam.
//
//	cc stitch_stream.c $(pkg-config --cflags --libs seam) -o stitch_stream
//	seam record -o - -- ./program | ./stitch_stream
//
// A stitcher takes records in order of time; a stream brings them ring after ring, in rounds. What
// a round brought may be older than what the round before it brought, but never older than what
// came two rounds before (FINISHED_ROUND tells where a round ends). So records are held back for
// one round, sorted, and fed.
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seam/seam.h>

/* A record that waits, with bytes of its own: the reader's live only until the next one. */
struct held {
	struct seam_record record;
	uint64_t time_ns;
	unsigned char *bytes;
};

struct queue {
	struct held *held;
	size_t n, room;
	uint64_t newest_ns; /* seen so far */
	uint64_t safe_ns;   /* what is not later than this may be fed: nothing older comes */
};

static int by_time(const void *pa, const void *pb)
{
	const struct held *a = pa, *b = pb;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return a->record.index < b->record.index ? -1 : a->record.index > b->record.index;
}

static int hold(struct queue *q, const struct seam_record *record, uint64_t time_ns)
{
	struct held *h;

	if (q->n == q->room) {
		size_t room = q->room ? 2 * q->room : 1024;

		h = realloc(q->held, room * sizeof(*h));
		if (!h)
			return -1;
		q->held = h;
		q->room = room;
	}
	h = &q->held[q->n];
	*h = (struct held){ .record = *record, .time_ns = time_ns, .bytes = malloc(record->size) };
	if (!h->bytes)
		return -1;
	memcpy(h->bytes, record->bytes, record->size);
	h->record.bytes = h->bytes;
	q->newest_ns = time_ns > q->newest_ns ? time_ns : q->newest_ns;
	q->n++;
	return 0;
}

/* Prints the samples that are whole by now. */
static void take(struct seam_stitch *stitch)
{
	struct seam_stitched s = { .sz = sizeof(s) };

	while (seam_stitch_next(stitch, &s) > 0) {
		printf("%" PRIu32 " %" PRIu64 " %s:", s.sample.id.tid, s.sample.id.time_ns,
		       seam_stitch_state_name(s.state));
		for (uint64_t i = 0; i < s.kernel.n; i++)
			if (seam_u64s_at(&s.kernel, i) < SEAM_CONTEXT_MAX)
				printf(" %" PRIx64, seam_u64s_at(&s.kernel, i));
		for (uint64_t i = 0; i < s.user.n; i++)
			printf(" %" PRIx64, seam_u64s_at(&s.user, i));
		putchar('\n');
	}
}

/* Feeds, in order, what is not later than a time. -EAGAIN says that samples are to be taken
 * first. */
static int feed(struct queue *q, const struct seam_events *events, struct seam_stitch *stitch,
                uint64_t until_ns, struct seam_error *err)
{
	size_t n = 0;
	int r = 0;

	if (q->n)
		qsort(q->held, q->n, sizeof(*q->held), by_time);
	for (; n < q->n && q->held[n].time_ns <= until_ns && r >= 0; n++) {
		struct seam_decoded decoded = { .sz = sizeof(decoded) };

		if (seam_record_decode(events, &q->held[n].record, &decoded, NULL) >= 0) {
			r = seam_stitch_feed(stitch, &decoded, err);
			take(stitch);
			if (r == -EAGAIN)
				r = seam_stitch_feed(stitch, &decoded, err);
		}
		free(q->held[n].bytes);
	}
	memmove(q->held, q->held + n, (q->n - n) * sizeof(*q->held));
	q->n -= n;
	return r;
}

int main(int argc, char **argv)
{
	struct seam_stitch *stitch = NULL;
	struct seam_reader *reader = NULL;
	struct seam_error err = { 0 };
	struct seam_record record;
	struct queue q = { 0 };
	int r = seam_reader_open(&reader, argc > 1 ? argv[1] : "-", NULL, &err);

	if (r >= 0)
		r = seam_stitch_new(&stitch, NULL);
	while (r >= 0 && (r = seam_reader_next(reader, &record, &err)) > 0) {
		const struct seam_events *events = seam_reader_events(reader);
		struct seam_decoded decoded = { .sz = sizeof(decoded) };

		if (record.type == SEAM_RECORD_HEADER_ATTR) {
			r = seam_stitch_events(stitch, events);
		} else if (record.type == SEAM_RECORD_FINISHED_ROUND) {
			r = feed(&q, events, stitch, q.safe_ns, &err);
			q.safe_ns = q.newest_ns;
		} else if (record.type < SEAM_RECORD_USER_FIRST &&
		           seam_record_decode(events, &record, &decoded, NULL) >= 0) {
			r = hold(&q, &record, decoded.id.time_ns);
		}
	}
	if (r >= 0)
		r = feed(&q, seam_reader_events(reader), stitch, UINT64_MAX, &err);
	if (r >= 0)
		r = seam_stitch_finish(stitch);
	if (r >= 0)
		take(stitch);
	else
		fprintf(stderr, "%s\n", err.text[0] ? err.text : "out of memory");
	while (q.n)
		free(q.held[--q.n].bytes);
	free(q.held);
	seam_stitch_free(stitch);
	seam_reader_close(reader);
	return r < 0;
}
