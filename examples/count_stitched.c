// SPDX-License-Identifier: MIT
// count_stitched.c: prints how many samples of a recording have their whole stack, with libseam.
//
//	cc count_stitched.c $(pkg-config --cflags --libs seam) -o count_stitched
//	./count_stitched perf.data
#include <stdio.h>

#include <seam/seam.h>

/* Feeds the deferred records, execs, exits and losses of the whole file; samples are looked at in
 * the second pass. */
static int learn(struct seam_reader *reader, struct seam_stitch *stitch, struct seam_error *err)
{
	struct seam_record record;
	struct seam_decoded decoded = { .sz = sizeof(decoded) };
	int r;

	while ((r = seam_reader_next(reader, &record, err)) > 0) {
		if (seam_record_decode(seam_reader_events(reader), &record, &decoded, err) < 0)
			/* an unsound or unknown record: the reader counts the first kind */
			continue;
		r = seam_stitch_learn(stitch, &decoded, err);
		if (r < 0)
			return r;
	}
	return r < 0 ? r : seam_stitch_seal(stitch);
}

static int count(struct seam_reader *reader, struct seam_stitch *stitch,
                 struct seam_stitch_counts *counts, struct seam_error *err)
{
	struct seam_record record;
	struct seam_decoded decoded = { .sz = sizeof(decoded) };
	struct seam_stitched whole = { .sz = sizeof(whole) };
	int r = seam_reader_rewind(reader);

	while (r >= 0 && (r = seam_reader_next(reader, &record, err)) > 0) {
		if (record.type == SEAM_RECORD_SAMPLE &&
		    seam_record_decode(seam_reader_events(reader), &record, &decoded, err) >= 0)
			seam_stitch_resolve(stitch, &decoded, counts, &whole);
	}
	return r;
}

int main(int argc, char **argv)
{
	struct seam_stitch_counts counts = { .sz = sizeof(counts) };
	struct seam_error err = { 0 };
	struct seam_reader *reader = NULL;
	struct seam_stitch *stitch = NULL;
	int r;

	r = seam_reader_open(&reader, argc > 1 ? argv[1] : "perf.data", NULL, &err);
	if (r >= 0)
		r = seam_stitch_new(&stitch, NULL);
	if (r >= 0)
		r = seam_stitch_events(stitch, seam_reader_events(reader));
	if (r >= 0)
		r = learn(reader, stitch, &err);
	if (r >= 0)
		r = count(reader, stitch, &counts, &err);
	if (r >= 0)
		printf("%llu of %llu samples stitched\n",
		       (unsigned long long)(counts.state[SEAM_STITCH_STITCHED] +
		                            counts.state[SEAM_STITCH_STITCHED_EARLIER]),
		       (unsigned long long)counts.samples);
	else
		fprintf(stderr, "%s\n", err.text[0] ? err.text : "out of memory");
	seam_stitch_free(stitch);
	seam_reader_close(reader);
	return r < 0;
}
