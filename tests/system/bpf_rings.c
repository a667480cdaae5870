// SPDX-License-Identifier: MIT
/*
 * bpf_rings.c: nothing is dropped without being counted. Rings of one page that nobody reads while
 * the program runs: what came out and what the programs say there was no room for is all that was
 * sampled, to the last one; with ample rings it is nothing. Copies of stacks leave room for
 * samples. What there is no time to read when a recording ends is counted, too, and children that
 * there is no room for among the targets.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bpf/taken.h"
#include "work.h"

/* Two processes that work; arguments: the pid of the test, whose program they are. */
#define TWO_CPUS "/proc/%d/exe burn & /proc/%d/exe burn & wait"
#define BURN_MS 300

static int failures;

static void same(const char *what, uint64_t expected, uint64_t got)
{
	bool right = expected == got;

	printf("%s: %s: %" PRIu64 "%s%" PRIu64 "\n", right ? "ok" : "FAILED", what, got,
	       right ? " = " : ", expected ", expected);
	failures += !right;
}

static void more(const char *what, uint64_t least, uint64_t got)
{
	printf("%s: %s: %" PRIu64 " of at least %" PRIu64 "\n", got >= least ? "ok" : "FAILED",
	       what, got, least);
	failures += got < least;
}

static uint64_t ends(const struct kwalk_counts *c)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < KWALK_ENDS; i++)
		sum += c->end[i];
	return sum;
}

static int record(struct taken *t, const struct taken_opts *o)
{
	char command[128];
	int r;

	snprintf(command, sizeof(command), TWO_CPUS, (int)getpid(), (int)getpid());
	r = taken_record(t, command, o);

	if (r < 0)
		printf("FAILED: nothing could be recorded\n");
	failures += r < 0;
	return r;
}

/* What holds whatever the size of a ring. */
static void balanced(const char *what, const struct kwalk_totals *t)
{
	const struct kwalk_counts *c = &t->counts;
	uint64_t tried = c->user_chains + c->user_chain_full;

	printf("# %s: %" PRIu64 " samples, %" PRIu64 " without room; %" PRIu64 " deferred, %" PRIu64
	       " answers, %" PRIu64 " without room, %" PRIu64 " refused\n",
	       what, c->samples, c->ring_full, c->asked, c->user_chains, c->user_chain_full,
	       c->refused);
	more("samples", 200, c->samples);
	same("samples in the file and without room", c->samples, t->samples + c->ring_full);
	same("answers tried, of tasks that were asked", c->asked, tried - c->remote);
	same("ends counted", c->samples + tried, ends(c));
}

static int burn(void)
{
	static volatile unsigned sum;

	for (uint64_t end = work_until(BURN_MS); work_goes_on(end);)
		for (unsigned i = 0, n = work_loops(100000); i < n; i++)
			sum += i;
	(void)sum;
	return 0;
}

int main(int argc, char **argv)
{
	struct kwalk_probe probe;
	struct taken_opts tiny = { .frequency = 4000,
		                   .ring_bytes = 4096,
		                   .no_copies = true,
		                   .read_late = true },
	                  ample = { .frequency = 4000, .no_copies = true },
	                  late = { .frequency = 4000,
		                   .no_copies = true,
		                   .read_late = true,
		                   .no_time = true },
	                  copies = { .frequency = 4000, .ring_bytes = 4 << 20, .read_late = true },
	                  alone = { .frequency = 4000, .no_copies = true, .tasks = 1 };
	struct taken t;

	if (argc > 1 && !strcmp(argv[1], "burn"))
		return burn();
	setvbuf(stdout, NULL, _IOLBF, 0);
	kwalk_probe(&probe);
	if (!probe.usable) {
		printf("skipped: %s\n", probe.reason);
		return 77;
	}
	if (record(&t, &ample) >= 0) {
		balanced("ample rings", &t.totals);
		same("without room", 0,
		     t.totals.counts.ring_full + t.totals.counts.user_chain_full);
		same("unanswered", 0, t.totals.unanswered);
		/* other BPF programs of the machine may have been in the way */
		same("told as lost", t.totals.counts.skipped, t.told_lost);
		same("children not followed", 0, t.totals.counts.not_followed);
	}
	taken_free(&t);
	if (record(&t, &alone) >= 0) {
		same("room for the command alone: children not followed", 2,
		     t.totals.counts.not_followed);
		same("told in the recording", 2, t.told_tasks);
	}
	taken_free(&t);
	if (record(&t, &tiny) >= 0) {
		balanced("tiny rings", &t.totals);
		more("without room", 100, t.totals.counts.ring_full);
		same("told as lost", t.totals.counts.ring_full + t.totals.counts.skipped,
		     t.told_lost);
	}
	taken_free(&t);
	/* 64 copies of 64 KiB fill such a ring; all samples fit into its last quarter. */
	if (record(&t, &copies) >= 0) {
		more("copies without room", 100, t.totals.counts.raw_full);
		same("samples without room", 0, t.totals.counts.ring_full);
	}
	taken_free(&t);
	if (record(&t, &late) >= 0) {
		const struct kwalk_totals *l = &t.totals;

		more("no time to read the rings: left out", 100, l->cut);
		same("samples and answers, all left out or without room",
		     l->counts.samples + l->counts.user_chains + l->counts.user_chain_full,
		     l->cut + l->counts.ring_full + l->counts.user_chain_full);
		same("told as lost", l->cut + l->counts.ring_full + l->counts.skipped, t.told_lost);
		same("in the file", 0, l->samples + l->user_chains);
	}
	taken_free(&t);
	tiny.when = KWALK_ALWAYS;
	if (probe.defers && record(&t, &tiny) >= 0) {
		balanced("tiny rings, all deferred", &t.totals);
		more("answers without room", 1, t.totals.counts.user_chain_full);
		more("answers without room, beside what nobody got", t.totals.unanswered,
		     t.totals.counts.user_chain_full);
		taken_free(&t);
	}
	return failures != 0;
}
