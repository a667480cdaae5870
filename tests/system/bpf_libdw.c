// SPDX-License-Identifier: MIT
/*
 * bpf_libdw.c: stacks by BPF in the kernel beside libdw's, from the same registers and the same
 * bytes of stack, by the mappings that the kernel's records tell of. A command is sampled from its
 * exec on.
 *
 *	system_bpf_libdw SHOW COMMAND...    sh -c COMMAND; one JSON object, and the first SHOW
 *	                                    differences on stderr
 *
 * Knows nothing of what is expected; tests/system/bpf_libdw.py does. Without arguments: 77, there
 * is nothing to compare.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/taken.h"
#include "libdw/peer.h"

struct beside {
	struct taken taken;
	struct peer peer;
	unsigned show;
	uint64_t samples, frames, complete, deferred, outside, guessed;
	uint64_t cut; /* the copy ends before the stack: a page was not there, or another stack */
	uint64_t cut_begins; /* of them, as far as libdw's frames go they are equal */
	uint64_t both, equal, stops, guesses, differ; /* both say that they are complete */
	uint64_t ours_only, peer_only, neither, neither_begins;
	uint64_t ends[KWALK_ENDS];     /* of those walked in the kernel */
	uint64_t walk_ends[WALK_ENDS]; /* of those left to the recorder */
	uint64_t unanswered;
};

static void beside_show(struct beside *b, const struct taken_stack *s, const char *what,
                        uint32_t space)
{
	const uint64_t *ours = taken_words(&b->taken, s->frames);
	const struct peer *p = &b->peer;

	if (!b->show)
		return;
	b->show--;
	fprintf(stderr, "%s: pid %u at %" PRIu64 ": %s%s, %zu frames; libdw %zu (%s)\n", what,
	        s->pid, s->time_ns, kwalk_end_name(s->end), s->outside ? ", outside" : "", s->n,
	        p->n, dwfl_errmsg(-1));
	for (size_t i = 0; i < s->n || i < p->n; i++) {
		uint64_t pc = i < s->n ? ours[i] : p->frames[i];
		const struct proc_mapping *m = proc_space_find(b->taken.procs, space, pc);

		fprintf(stderr, "  #%-3zu %16" PRIx64 " %16" PRIx64 "  %s+%#" PRIx64 "\n", i,
		        i < s->n ? ours[i] : 0, i < p->n ? p->frames[i] : 0,
		        m ? m->object->path : "?", m ? pc - m->start + m->pgoff : pc);
	}
}

static bool beside_peer(struct beside *b, const struct taken_stack *s, uint32_t space)
{
	const struct kwalk_raw *raw = taken_raw(&b->taken, s);
	struct peer_sample p = { .pid = s->pid,
		                 .space = space,
		                 .start = raw->start,
		                 .stack = raw->stack,
		                 .n_stack = raw->n };

	memcpy(p.registers, raw->regs, sizeof(p.registers));
	return peer_walk(&b->peer, &p);
}

/* The walker outside had no more memory to go on, so libdw has none, whatever it calls complete. */
static bool beside_is_cut(const struct taken_stack *s)
{
	return s->walk_end == WALK_TRUNCATED || s->walk_end == WALK_BAD_MEMORY ||
	       s->walk_end == WALK_BELOW_SP || s->walk_end == WALK_OTHER_STACK;
}

static void beside_both(struct beside *b, const struct taken_stack *s, bool equal, uint32_t space)
{
	enum peer_why why = peer_why(&b->peer, taken_words(&b->taken, s->frames), s->n);

	b->both++;
	b->equal += equal;
	if (equal)
		return;
	b->stops += why == PEER_STOPS;
	b->guesses += why == PEER_GUESSES;
	b->differ += why == PEER_DIFFERS;
	beside_show(b, s, "different", space);
}

static void beside_stack(struct beside *b, const struct taken_stack *s)
{
	uint32_t space = proc_space(b->taken.procs, s->pid, s->time_ns);
	bool theirs = beside_peer(b, s, space), begins, equal;
	bool ours = s->outside ? s->walk_end == WALK_COMPLETE : s->end == KWALK_COMPLETE;
	size_t common = s->n < b->peer.n ? s->n : b->peer.n;

	begins = !memcmp(taken_words(&b->taken, s->frames), b->peer.frames, common * 8);
	equal = begins && s->n == b->peer.n;
	b->samples++;
	b->frames += s->n;
	b->complete += ours;
	b->deferred += s->first == KWALK_DEFERRED;
	b->outside += s->outside;
	b->guessed += s->guessed;
	b->unanswered += s->unanswered;
	if (s->outside)
		b->walk_ends[s->walk_end]++;
	else
		b->ends[s->end]++;
	if (!s->outside && beside_is_cut(s)) {
		b->cut++;
		b->cut_begins += begins;
		if (!begins)
			beside_show(b, s, "different before the copy ends", space);
	} else if (ours && theirs) {
		beside_both(b, s, equal, space);
	} else {
		b->ours_only += ours;
		b->peer_only += theirs;
		b->neither += !ours && !theirs;
		b->neither_begins += !ours && !theirs && begins;
		if (!ours)
			beside_show(b, s, theirs ? "libdw alone complete" : "neither complete",
			            space);
	}
}

static void beside_print(const struct beside *b)
{
	const struct kwalk_counts *c = &b->taken.totals.counts;

	printf("{\"samples\": %" PRIu64 ", \"frames\": %" PRIu64 ", \"complete\": %" PRIu64
	       ", \"deferred\": %" PRIu64 ", \"outside\": %" PRIu64 ", \"guessed\": %" PRIu64
	       ", \"cut\": %" PRIu64 ", \"cut_begins\": %" PRIu64 ", \"both\": %" PRIu64
	       ", \"equal\": %" PRIu64 ", \"stops\": %" PRIu64 ", \"guesses\": %" PRIu64
	       ", \"differ\": %" PRIu64 ", \"ours_only\": %" PRIu64 ", \"peer_only\": %" PRIu64
	       ", \"neither\": %" PRIu64 ", \"neither_begins\": %" PRIu64
	       ", \"unanswered\": %" PRIu64 ", \"uncopied\": %" PRIu64 ", \"ends\": {",
	       b->samples, b->frames, b->complete, b->deferred, b->outside, b->guessed, b->cut,
	       b->cut_begins, b->both, b->equal, b->stops, b->guesses, b->differ, b->ours_only,
	       b->peer_only, b->neither, b->neither_begins, b->unanswered,
	       c->raw_full + c->ring_full);
	for (size_t i = 0; i < KWALK_ENDS; i++)
		printf("%s\"%s\": %" PRIu64, i ? ", " : "", kwalk_end_name((enum kwalk_end)i),
		       b->ends[i]);
	printf("}, \"outside_ends\": {");
	for (size_t i = 0; i < WALK_ENDS; i++)
		printf("%s\"%s\": %" PRIu64, i ? ", " : "", walk_end_name((enum walk_end)i),
		       b->walk_ends[i]);
	printf("}}\n");
}

int main(int argc, char **argv)
{
	struct taken_opts opts = { .keep = true };
	struct beside b = { 0 };
	struct kwalk_probe probe;
	int r;

	kwalk_probe(&probe);
	if (argc < 3 || !probe.usable) {
		fprintf(stderr, "%s\n",
		        argc < 3 ? "a tool of tests/system/bpf_libdw.py" : probe.reason);
		return 77;
	}
	b.show = (unsigned)atoi(argv[1]);
	r = taken_record(&b.taken, argv[2], &opts);
	if (r >= 0) {
		peer_open(&b.peer, b.taken.procs, b.taken.tables);
		for (size_t i = 0; i < taken_count(&b.taken); i++)
			beside_stack(&b, taken_at(&b.taken, i));
		beside_print(&b);
		peer_free(&b.peer);
	}
	taken_free(&b.taken);
	return r < 0;
}
