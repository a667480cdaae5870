// SPDX-License-Identifier: MIT
/*
 * gen_deferred.c: a perf.data file of a made-up machine (scenario.h) and, beside it, the truth: per
 * sample, in time order, its state and the id of its user chain (frame i of chain c is
 * 0x550000000000 + c * 0x1000 + i * 8).
 *
 * Records are written ring by ring in rounds, as a recorder does. Without -o only the raw records
 * are written to standard output, in time order (for the corpus of the fuzzer).
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seam/writer.h>

#include "scenario.h"

#define ROUND 4096 /* records */

struct gen {
	struct scenario *scenario;
	struct seam_writer *writer; /* NULL: raw */
	struct buf bytes;
	struct scenario_record records[ROUND + SCENARIO_STEP];
	size_t n;
	uint32_t cpus;
	FILE *truth;
};

static size_t gen_size(const struct gen *g, size_t i)
{
	uint16_t size;

	memcpy(&size, g->bytes.bytes + g->records[i].offset + 6, 2);
	return size;
}

static int gen_put(struct gen *g, const void *bytes, size_t n)
{
	if (g->writer)
		return seam_writer_write(g->writer, bytes, n, NULL);
	return fwrite(bytes, 1, n, stdout) == n ? 0 : -EIO;
}

/* One sweep over the rings, and the mark behind it. */
static int gen_round(struct gen *g)
{
	const uint32_t mark[2] = { SEAM_RECORD_FINISHED_ROUND, 8u << 16 };
	int r = 0;

	if (!g->writer)
		r = gen_put(g, g->bytes.bytes, g->bytes.n);
	for (uint32_t cpu = 0; g->writer && cpu < g->cpus && r >= 0; cpu++)
		for (size_t i = 0; i < g->n && r >= 0; i++)
			if (g->records[i].cpu == cpu)
				r = gen_put(g, g->bytes.bytes + g->records[i].offset,
				            gen_size(g, i));
	if (g->writer && r >= 0)
		r = gen_put(g, mark, sizeof(mark));
	buf_clear(&g->bytes);
	g->n = 0;
	return r;
}

static int gen_records(struct gen *g, uint64_t samples)
{
	size_t n;
	int r = 0;

	while (r >= 0 && scenario_samples(g->scenario) < samples) {
		r = scenario_step(g->scenario, &g->bytes, g->records + g->n, &n);
		g->n += n;
		if (r >= 0 && g->n >= ROUND)
			r = gen_round(g);
	}
	return r < 0 ? r : gen_round(g);
}

static void gen_truth(struct gen *g)
{
	const struct seam_stitch_counts *c;

	scenario_end(g->scenario);
	c = scenario_counts(g->scenario);
	fprintf(g->truth, "# samples %llu\n", (unsigned long long)c->samples);
	for (int i = 0; i < SEAM_STITCH_STATES; i++)
		fprintf(g->truth, "# %s %llu\n", seam_stitch_state_name(i),
		        (unsigned long long)c->state[i]);
	fprintf(g->truth, "# duplicate_samples %llu\n# unclaimed_records %llu\n",
	        (unsigned long long)c->duplicate_samples, (unsigned long long)c->unclaimed_records);
	fprintf(g->truth, "# sample state chain frames\n");
	for (uint32_t i = 0; i < scenario_samples(g->scenario); i++) {
		const struct scenario_truth *t = scenario_truth(g->scenario, i);

		fprintf(g->truth, "%u %s %u %u\n", i, seam_stitch_state_name(t->state), t->chain,
		        t->chain ? scenario_frames(g->scenario, t->chain) : 0);
	}
}

static int gen_run(struct gen *g, const char *path, uint64_t samples)
{
	struct seam_error err = { 0 };
	char truth[4096];
	int r = 0;

	if (path) {
		snprintf(truth, sizeof(truth), "%s.truth", path);
		g->truth = fopen(truth, "w");
		r = g->truth ? seam_writer_open(&g->writer, path, scenario_events(g->scenario),
		                                NULL, &err)
		             : -errno;
	}
	if (r >= 0)
		r = gen_records(g, samples);
	if (g->writer) {
		int closed = seam_writer_close(g->writer, &err);

		r = r < 0 ? r : closed;
	}
	if (r >= 0 && g->truth)
		gen_truth(g);
	if (g->truth && fclose(g->truth) != 0 && r >= 0)
		r = -errno;
	if (r < 0)
		fprintf(stderr, "gen_deferred: %s\n", err.code ? err.text : strerror(-r));
	return r;
}

/* What can be chosen. Chances are per 10,000. */
static const struct {
	const char *name;
	size_t offset;
} gen_chances[] = {
#define CHANCE(field)                                         \
	{                                                     \
#field, offsetof(struct scenario_opts, field) \
	}
	CHANCE(tasks),       CHANCE(cpus),         CHANCE(frames),        CHANCE(at_once),
	CHANCE(kernel_only), CHANCE(no_callchain), CHANCE(user_mode),     CHANCE(again),
	CHANCE(late),        CHANCE(lost),         CHANCE(exec),          CHANCE(exit),
	CHANCE(foreign),     CHANCE(twin_sample),  CHANCE(twin_deferred), CHANCE(wrong_task),
	CHANCE(empty),       CHANCE(overlap),      CHANCE(loss),          CHANCE(migrate),
	CHANCE(chains),      CHANCE(places),
};
#define GEN_CHANCES (sizeof(gen_chances) / sizeof(*gen_chances))

static int gen_usage(void)
{
	fprintf(stderr, "usage: gen_deferred [-o FILE] [-s SEED] [-n SAMPLES] [NAME=VALUE]...\n"
	                "writes FILE and FILE.truth; names (chances are per 10,000):");
	for (size_t i = 0; i < GEN_CHANCES; i++)
		fprintf(stderr, " %s", gen_chances[i].name);
	fprintf(stderr, "\n");
	return 2;
}

static int gen_option(struct scenario_opts *o, const char *arg)
{
	const char *equal = strchr(arg, '=');

	for (size_t i = 0; equal && i < GEN_CHANCES; i++) {
		size_t n = strlen(gen_chances[i].name);
		unsigned value = (unsigned)strtoul(equal + 1, NULL, 10);

		if ((size_t)(equal - arg) == n && !memcmp(arg, gen_chances[i].name, n)) {
			memcpy((char *)o + gen_chances[i].offset, &value, sizeof(value));
			return 0;
		}
	}
	return -EINVAL;
}

int main(int argc, char **argv)
{
	struct scenario_opts o = { .seed = 1,
		                   .tasks = 200,
		                   .cpus = 4,
		                   .frames = 30,
		                   .again = 1000,
		                   .late = 200,
		                   .lost = 100,
		                   .exec = 50,
		                   .exit = 50,
		                   .foreign = 100,
		                   .user_mode = 3000,
		                   .at_once = 100,
		                   .kernel_only = 1000,
		                   .twin_sample = 1,
		                   .migrate = 500 };
	static struct gen g;
	uint64_t samples = 10000;
	const char *path = NULL;
	int c, r;

	while ((c = getopt(argc, argv, "o:s:n:")) != -1) {
		switch (c) {
		case 'o':
			path = optarg;
			break;
		case 's':
			o.seed = strtoull(optarg, NULL, 10);
			break;
		case 'n':
			samples = strtoull(optarg, NULL, 10);
			break;
		default:
			return gen_usage();
		}
	}
	for (; optind < argc; optind++)
		if (gen_option(&o, argv[optind]) < 0)
			return gen_usage();
	if (!o.tasks || o.tasks > 1000000 || !o.cpus || !o.frames || o.frames > 510 ||
	    samples >= UINT32_MAX)
		return gen_usage();
	g.cpus = o.cpus;
	r = scenario_new(&g.scenario, &o);
	if (r >= 0)
		r = gen_run(&g, path, samples);
	scenario_free(g.scenario);
	buf_free(&g.bytes);
	return r < 0 ? 1 : 0;
}
