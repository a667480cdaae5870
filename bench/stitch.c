// SPDX-License-Identifier: MIT
/*
 * stitch.c: time and memory of stitching alone: records are given decoded, nothing is read or
 * parsed.
 *
 * Tables: time per sample from 10,000 to 10 million samples, as a file and as a stream; the cases
 * in which a list per record becomes quadratic: answers that never come, and many tasks that wait
 * at once. `bench_stitch [MOST]` ends the first table at MOST samples.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <seam/stitch.h>

#define KERNEL_FRAMES 8
#define USER_FRAMES 20
#define CPUS 8
#define TASKS 1000

struct source {
	struct seam_events *events;
	struct seam_record record;
	struct seam_decoded decoded;
	uint64_t sample_bytes[16 + KERNEL_FRAMES]; /* header, fields, nr, chain */
	uint64_t answer_bytes[8 + USER_FRAMES];
};

static struct source source;

static void must(int r, const char *what)
{
	if (r >= 0)
		return;
	fprintf(stderr, "bench_stitch: %s: %d\n", what, r);
	exit(1);
}

static void source_start(struct source *s)
{
	struct seam_attr a = { .size = 144,
		               .sample_type = SEAM_SAMPLE_IP | SEAM_SAMPLE_TID | SEAM_SAMPLE_TIME |
		                              SEAM_SAMPLE_CALLCHAIN,
		               .flags = SEAM_ATTR_DEFER_CALLCHAIN | SEAM_ATTR_DEFER_OUTPUT |
		                        SEAM_ATTR_TASK | SEAM_ATTR_SAMPLE_ID_ALL };

	must(seam_events_new(&s->events), "events");
	must(seam_events_add(s->events, &a, "cpu-clock", NULL, 0, NULL), "events");
	for (int i = 0; i < USER_FRAMES; i++)
		s->answer_bytes[8 + i] = 0x550000000000ULL + 16 * i;
	for (int i = 1; i < KERNEL_FRAMES; i++)
		s->sample_bytes[6 + i] = 0xffffffff81000000ULL + 16 * i;
	s->sample_bytes[6] = SEAM_CONTEXT_KERNEL;
}

static struct seam_decoded *source_record(struct source *s, uint32_t type, uint64_t time,
                                          uint32_t tid, const void *bytes, size_t size)
{
	s->record.type = type;
	s->record.misc = type == SEAM_RECORD_SAMPLE ? SEAM_MISC_KERNEL : SEAM_MISC_USER;
	s->record.bytes = bytes;
	s->record.size = (uint32_t)size;
	s->record.stable = true; /* the deferred records' addresses are: all share them */
	s->decoded = (struct seam_decoded){
		.sz = sizeof(s->decoded),
		.record = &s->record,
		.event = seam_events_at(s->events, 0),
		.id = { .has = SEAM_SAMPLE_TID | SEAM_SAMPLE_TIME,
		        .pid = tid,
		        .tid = tid,
		        .time_ns = time },
	};
	return &s->decoded;
}

static const struct seam_decoded *source_sample(struct source *s, uint64_t time, uint32_t tid,
                                                uint64_t cookie)
{
	struct seam_decoded *d = source_record(s, SEAM_RECORD_SAMPLE, time, tid, s->sample_bytes,
	                                       (8 + KERNEL_FRAMES) * 8);

	s->sample_bytes[2] = time;
	s->sample_bytes[3] = tid;
	s->sample_bytes[6 + KERNEL_FRAMES] = SEAM_CONTEXT_USER_DEFERRED;
	s->sample_bytes[7 + KERNEL_FRAMES] = cookie;
	d->sample.event = d->event;
	d->sample.id = d->id;
	d->sample.callchain.bytes = (unsigned char *)&s->sample_bytes[6];
	d->sample.callchain.n = KERNEL_FRAMES + 2;
	return d;
}

static const struct seam_decoded *source_deferred(struct source *s, uint64_t time, uint32_t tid,
                                                  uint64_t cookie)
{
	struct seam_decoded *d = source_record(s, SEAM_RECORD_CALLCHAIN_DEFERRED, time, tid,
	                                       s->answer_bytes, sizeof(s->answer_bytes));

	d->deferred.cookie = cookie;
	d->deferred.ips.bytes = (unsigned char *)&s->answer_bytes[8];
	d->deferred.ips.n = USER_FRAMES;
	return d;
}

static uint64_t cookie_of(uint64_t i)
{
	return (i / CPUS * 2 + 1) << 32 | (i % CPUS + 1);
}

/* ---- who takes the records ---- */

struct sink {
	struct seam_stitch *stitch;
	struct seam_stitch_counts counts;
	int (*take)(struct sink *sink, const struct seam_decoded *d);
	uint64_t taken;
};

static int sink_learn(struct sink *sink, const struct seam_decoded *d)
{
	return seam_stitch_learn(sink->stitch, d, NULL);
}

static int sink_resolve(struct sink *sink, const struct seam_decoded *d)
{
	struct seam_stitched out = { .sz = sizeof(out) };

	if (d->record->type != SEAM_RECORD_SAMPLE)
		return 0;
	sink->taken++;
	return seam_stitch_resolve(sink->stitch, d, &sink->counts, &out);
}

static int sink_feed(struct sink *sink, const struct seam_decoded *d)
{
	int r = seam_stitch_feed(sink->stitch, d, NULL);
	struct seam_stitched out = { .sz = sizeof(out) };

	while (r >= 0 && seam_stitch_next(sink->stitch, &out) > 0)
		sink->taken++;
	return r;
}

static uint64_t give_index;

static void give(struct sink *sink, const struct seam_decoded *d)
{
	source.record.index = give_index++;
	must(sink->take(sink, d), "stitch");
}

/* ---- what happens ---- */

/* One entry in a thousand is not answered, one in 50 has a late sample, one in 8 two samples. */
static uint64_t ordinary(struct sink *sink, uint64_t n)
{
	uint64_t time = 1000, samples = 0;

	for (uint64_t i = 0; samples < n; i++, time += 2000) {
		uint32_t tid = 100 + (uint32_t)(i * 7919 % TASKS);
		uint64_t cookie = cookie_of(i);

		give(sink, source_sample(&source, time, tid, cookie));
		samples++;
		if (i % 8 == 3) {
			give(sink, source_sample(&source, time + 100, tid, cookie));
			samples++;
		}
		if (i % 1000 != 77)
			give(sink, source_deferred(&source, time + 500, tid, cookie));
		if (i % 50 == 7) {
			give(sink, source_sample(&source, time + 900, tid, cookie));
			samples++;
		}
	}
	return samples;
}

/* Each third is never answered, each of another task. */
static uint64_t never_answered(struct sink *sink, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		uint32_t tid = 100 + (uint32_t)i;

		give(sink, source_sample(&source, 1000 + i * 10, tid, cookie_of(i)));
		if (i % 3)
			give(sink, source_deferred(&source, 1005 + i * 10, tid, cookie_of(i)));
	}
	return n;
}

/* n tasks wait at once, then all answer. */
static uint64_t pending(struct sink *sink, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		give(sink, source_sample(&source, 1000 + i, 100 + (uint32_t)i, cookie_of(i)));
	for (uint64_t i = 0; i < n; i++)
		give(sink, source_deferred(&source, 1000 + n + i, 100 + (uint32_t)i, cookie_of(i)));
	return n;
}

/* 10,000 wait to the end, beside n ordinary pairs. */
static uint64_t beside_pending(struct sink *sink, uint64_t n)
{
	for (uint64_t i = 0; i < 10000; i++)
		give(sink, source_sample(&source, 1000 + i, 100 + (uint32_t)i, cookie_of(i)));
	for (uint64_t i = 10000; i < 10000 + n; i++) {
		give(sink, source_sample(&source, 1000 + i * 10, 99, cookie_of(i)));
		give(sink, source_deferred(&source, 1005 + i * 10, 99, cookie_of(i)));
	}
	return 10000 + n;
}

/* ---- measuring ---- */

/* Processor time: other work on the machine does not count. */
static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

struct result {
	uint64_t samples;
	double seconds;
	struct seam_stitch_counts counts;
};

static struct result run(uint64_t (*what)(struct sink *, uint64_t), uint64_t n, bool stream)
{
	struct sink sink = { .counts.sz = sizeof(sink.counts) };
	struct seam_stitch_opts opts = { .sz = sizeof(opts), .max_bytes = 1u << 30 };
	struct seam_stitch_counts all = { .sz = sizeof(all) };
	struct seam_stitched out = { .sz = sizeof(out) };
	struct result r;
	double start;

	must(seam_stitch_new(&sink.stitch, &opts), "new");
	must(seam_stitch_events(sink.stitch, source.events), "events");
	sink.take = stream ? sink_feed : sink_learn;
	give_index = 0;
	start = now();
	r.samples = what(&sink, n);
	if (stream) {
		must(seam_stitch_finish(sink.stitch), "finish");
		while (seam_stitch_next(sink.stitch, &out) > 0)
			sink.taken++;
	} else {
		must(seam_stitch_seal(sink.stitch), "seal");
		sink.take = sink_resolve;
		give_index = 0;
		what(&sink, n);
	}
	r.seconds = now() - start;
	must(seam_stitch_counts(sink.stitch, &all), "counts");
	if (!stream)
		seam_stitch_counts_add(&all, &sink.counts);
	if (sink.taken != r.samples || all.samples != r.samples)
		must(-1, "a sample is missing");
	r.counts = all;
	seam_stitch_free(sink.stitch);
	return r;
}

static void table(uint64_t most)
{
	printf("| samples | file ns/sample | file MB | stream ns/sample | stream MB |\n"
	       "|---:|---:|---:|---:|---:|\n");
	for (uint64_t n = 10000; n <= most; n *= 10) {
		struct result file = run(ordinary, n, false), stream = run(ordinary, n, true);

		printf("| %llu | %.0f | %.1f | %.0f | %.1f |\n", (unsigned long long)n,
		       file.seconds * 1e9 / (double)file.samples,
		       (double)file.counts.peak_bytes / 1e6,
		       stream.seconds * 1e9 / (double)stream.samples,
		       (double)stream.counts.peak_bytes / 1e6);
		fflush(stdout);
	}
}

static void hard(const char *name, uint64_t (*what)(struct sink *, uint64_t), uint64_t n)
{
	struct result file = run(what, n, false), stream = run(what, n, true);

	printf("| %s | %.1f | %.1f | %.1f | %llu |\n", name, file.seconds * 1e3,
	       stream.seconds * 1e3, (double)stream.counts.peak_bytes / 1e6,
	       (unsigned long long)stream.counts.state[SEAM_STITCH_STILL_IN_KERNEL]);
}

int main(int argc, char **argv)
{
	uint64_t most = argc > 1 ? strtoull(argv[1], NULL, 10) : 10000000;

	source_start(&source);
	table(most);
	printf("\n| case | file ms | stream ms | stream MB | still in the kernel |\n"
	       "|---|---:|---:|---:|---:|\n");
	hard("60,000 samples, 20,000 never answered", never_answered, 60000);
	hard("600,000 samples, 200,000 never answered", never_answered, 600000);
	hard("10,000 wait at once", pending, 10000);
	hard("30,000 wait at once", pending, 30000);
	hard("100,000 wait at once", pending, 100000);
	hard("100,000 pairs beside 10,000 that wait", beside_pending, 100000);
	seam_events_free(source.events);
	return 0;
}
