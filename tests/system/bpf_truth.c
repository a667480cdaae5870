// SPDX-License-Identifier: MIT
/*
 * bpf_truth.c: are the stacks of the programs in the kernel those that the walker outside finds, from the same registers and the
 * same bytes of stack? Programs of this machine are sampled, every sample with both. Start-up is included.
 *
 * Without arguments: what of the list is installed. With arguments: that command (sh -c), figures and the first differences.
 */
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "capture/bpf/kwalk.h"
#include "capture/event.h"
#include "capture/session.h"
#include "capture/target.h"
#include "cli/record_table.h"
#include "cli/record_walk.h"

#define LEAST_EQUAL 0.999
#define LEAST_COMPLETE \
	0.97 /* runs are short: a few samples of an ending process are a whole percent */
#define ENTRY_BYTES 64u

struct truth {
	struct kwalk *kwalk;
	struct tables *tables;
	bool verbose;
	uint64_t samples; /* with a user half */
	uint64_t
	        compared; /* walked in the kernel to an end that the copy of the stack reaches, too */
	uint64_t equal;
	uint64_t whole; /* the user half is complete: at once, deferred or by the recorder */
	uint64_t cut;   /* the copy of the stack is too short to tell */
	uint64_t gone;  /* what was mapped is not known any more */
	uint64_t deferred, early, frames, shown;
	uint64_t ends[KWALK_ENDS];
};

static void truth_show(struct truth *t, const struct kwalk_sample *s, const struct kwalk_raw *raw,
                       const uint64_t *user, const uint64_t *frames, const struct walk *walk)
{
	size_t at = 0;

	if (!t->verbose || t->shown++ >= 10)
		return;
	while (at < s->n_user && at < walk->n && user[at] == frames[at])
		at++;
	printf("pid %u in_user %u: kernel %u frames %s, walker %zu frames %s; first %zu equal\n",
	       s->pid, s->in_user, s->n_user, kwalk_end_name(s->end), walk->n,
	       walk_end_name(walk->end), at);
	printf("  needed %" PRIx64 " sp %" PRIx64 " start %" PRIx64 " n %x\n", walk->needed,
	       raw->regs[7], raw->start, raw->n);
	for (size_t i = at > 1 ? at - 1 : 0; i < at + 3; i++)
		printf("  %3zu %16" PRIx64 " %16" PRIx64 "\n", i, i < s->n_user ? user[i] : 0,
		       i < walk->n ? frames[i] : 0);
}

/* The walker did not find what was mapped at the time of the sample: the process has replaced its program too often since. */
static bool truth_is_gone(struct truth *t, const struct kwalk_sample *s, const struct walk *walk)
{
	const void *blob;
	uint64_t vaddr;
	bool may_guess;

	return walk->end == WALK_NO_INFO &&
	       kwalk_find(t->kwalk, s->pid, s->time_ns, walk->end_pc - 1, &blob, &vaddr,
	                  &may_guess) < 0;
}

/* The interpreter's first instructions have no unwind information (glibc 2.36), and no caller either: that is a whole stack. */
static bool truth_is_entry(struct truth *t, const struct kwalk_sample *s, uint64_t outermost)
{
	const Elf64_Ehdr *interpreter = (const void *)getauxval(AT_BASE);
	const void *blob;
	uint64_t vaddr;
	bool may_guess;

	if (!interpreter ||
	    kwalk_find(t->kwalk, s->pid, s->time_ns, outermost, &blob, &vaddr, &may_guess) < 0)
		return false;
	return vaddr >= interpreter->e_entry && vaddr < interpreter->e_entry + ENTRY_BYTES;
}

static size_t truth_sample(void *ctx, const struct kwalk_sample *s, const uint64_t *user,
                           const struct kwalk_raw *raw, uint64_t *frames)
{
	struct truth *t = ctx;
	struct walk walk;
	bool equal;

	record_walk(t->kwalk, s, raw, frames, &walk);
	t->samples++;
	t->ends[s->end]++;
	if (s->end == KWALK_DEFERRED) {
		t->deferred++;
		t->whole++; /* held against the answers' own ends, below */
		return 0;
	}
	if (s->end == KWALK_NO_MAPPING ||
	    s->end == KWALK_BAD_RULE) { /* walked by the recorder, that is, here */
		t->early++;
		t->whole += walk.end == WALK_COMPLETE ||
		            (walk.end == WALK_NO_INFO && truth_is_entry(t, s, frames[walk.n - 1]));
		if (walk.end != WALK_COMPLETE)
			truth_show(t, s, raw, user, frames, &walk);
		return walk.n;
	}
	t->whole += s->end == KWALK_COMPLETE ||
	            (s->end == KWALK_NO_RULE && truth_is_entry(t, s, user[s->n_user - 1]));
	if (truth_is_gone(t, s, &walk)) {
		t->gone++;
		return 0;
	}
	if (walk.end == WALK_TRUNCATED) {
		t->cut++;
		return 0;
	}
	equal = s->n_user == walk.n && !memcmp(user, frames, walk.n * sizeof(*user)) &&
	        (s->end == KWALK_COMPLETE) == (walk.end == WALK_COMPLETE);
	t->compared++;
	t->frames += walk.n;
	t->equal += equal;
	if (!equal || (s->end != KWALK_COMPLETE && t->verbose))
		truth_show(t, s, raw, user, frames, &walk);
	return 0;
}

static void truth_table(void *ctx, const struct kwalk_ask *ask, struct kwalk_table *ret)
{
	struct truth *t = ctx;

	record_table(t->tables, ask, ret);
}

static int truth_write(void *ctx, const void *bytes, size_t n)
{
	(void)ctx;
	(void)bytes;
	(void)n;
	return 0;
}

static int truth_record(struct truth *t, const char *command, struct kwalk_totals *totals)
{
	char line[2048], *argv[] = { (char *)"sh", (char *)"-c", line, NULL };
	struct kwalk_opts opts = { .sz = sizeof(opts),
		                   .filter = KWALK_PROCESSES,
		                   .table = truth_table,
		                   .unwind = truth_sample,
		                   .raw = true,
		                   .ctx = t };
	struct event_list events = { 0 };
	struct session_opts so = { .sz = sizeof(so),
		                   .target = SESSION_SYSTEM,
		                   .frequency = 997,
		                   .use_clockid = true,
		                   .clockid = CLOCK_MONOTONIC,
		                   .start_paused = true };
	struct tables_opts tables = { .sz = sizeof(tables) };
	struct session *session = NULL;
	struct seam_error err = { 0 };
	struct target target;
	int r;

	snprintf(line, sizeof(line), "exec >/dev/null 2>&1; %s", command);
	r = target_fork(&target, argv, true);

	if (r >= 0)
		r = tables_new(&t->tables, &tables);
	if (r >= 0)
		r = event_list_parse(&events, "cpu-clock", NULL, &err);
	if (r >= 0)
		r = kwalk_open(&t->kwalk, &opts, &err);
	if (r >= 0)
		r = kwalk_target(t->kwalk, target.pid);
	so.events = &events;
	if (r >= 0) {
		kwalk_source(t->kwalk, &so.source);
		r = session_open(&session, &so, &err);
	}
	if (r >= 0)
		r = session_start(session);
	if (r >= 0)
		r = session_resume(session);
	if (r >= 0)
		r = target_go(&target);
	while (r >= 0 && !target_poll(&target)) {
		session_wait(session, 50);
		if (session_read(session, truth_write, NULL) < 0)
			r = -EIO;
	}
	if (r >= 0) {
		session_stop(session);
		session_settle(session, 200, truth_write, NULL);
		session_finish(session, truth_write, NULL);
		kwalk_total(t->kwalk, totals);
	} else {
		printf("%s: %s %s\n", command, strerror(-r), err.text);
	}
	session_close(session);
	kwalk_close(t->kwalk);
	tables_free(t->tables);
	target_close(&target);
	event_list_free(&events);
	return r;
}

static double ratio(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 1;
}

/* 0: as it should be. */
static int truth_judge(const char *name, const char *command, bool verbose)
{
	struct truth t = { .verbose = verbose };
	struct kwalk_totals totals = { .sz = sizeof(totals) };
	int r = truth_record(&t, command, &totals);
	uint64_t unanswered;

	if (r < 0)
		return r;
	unanswered = totals.unanswered;
	t.whole -= unanswered < t.whole ? unanswered : t.whole;
	printf("%-10s %6" PRIu64 " samples, %6" PRIu64
	       " compared, %7.3f %% equal, %7.3f %% complete; %" PRIu64 " deferred, %" PRIu64
	       " early, %" PRIu64 " cut, %" PRIu64 " gone, %.1f frames, %" PRIu64 " unanswered;",
	       name, t.samples, t.compared, 100 * ratio(t.equal, t.compared),
	       100 * ratio(t.whole, t.samples), t.deferred, t.early, t.cut, t.gone,
	       ratio(t.frames, t.compared), unanswered);
	for (size_t i = 1; i < KWALK_ENDS; i++)
		if (t.ends[i])
			printf(" %s %" PRIu64, kwalk_end_name((enum kwalk_end)i), t.ends[i]);
	printf("%s\n", totals.counts.raw_full + totals.counts.ring_full ? " (ring was full)" : "");
	if (t.compared < 20) {
		printf("FAILED: %s: too few samples to tell\n", name);
		return -ENODATA;
	}
	if (ratio(t.equal, t.compared) < LEAST_EQUAL ||
	    ratio(t.whole, t.samples) < LEAST_COMPLETE) {
		printf("FAILED: %s\n", name);
		return -EBADMSG;
	}
	return 0;
}

struct program {
	const char *name, *needs, *command;
};

static const struct program programs[] = {
	{ "python3", "python3",
	  "exec python3 -c 'import json,re\nfor i in range(3000):\n s=json.dumps({str(k):[k,k*2.5] "
	  "for k in "
	  "range(120)}); json.loads(s); sorted(s); re.findall(\"[0-9]+\", s)'" },
	{ "cc1", "gcc",
	  "i=0; while [ $i -lt 6 ]; do echo '#include <stdio.h>\n#include <stdlib.h>\n#include "
	  "<math.h>\nint "
	  "f(int n){return n<2?n:f(n-1)+f(n-2);}' | gcc -O2 -x c -S -o /dev/null -; i=$((i+1)); "
	  "done" },
	{ "sqlite3", "sqlite3",
	  "exec sqlite3 :memory: 'with recursive c(x) as (select 1 union all select x+1 from c "
	  "where x<700000) select "
	  "count(*),sum(x*7%13) from c group by x%97 order by 2;'" },
	{ "xz", "xz", "exec xz -6 -T1 -c /proc/self/exe /usr/bin/python3 /usr/bin/openssl" },
	{ "openssl", "openssl", "exec openssl speed -seconds 1 -elapsed rsa2048 ecdsap256 sha256" },
	{ "perl", "perl",
	  "exec perl -e 'for(1..400000){$h{$_%997}.=\"x$_\"; $s=join(\",\",map{$_*2}1..5);}'" },
};

static bool installed(const char *program)
{
	char command[64];

	snprintf(command, sizeof(command), "command -v %s >/dev/null 2>&1", program);
	return system(command) == 0;
}

int main(int argc, char **argv)
{
	struct kwalk_probe probe;
	int failed = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	kwalk_probe(&probe);
	if (!probe.usable) {
		printf("skipped: %s\n", probe.reason);
		return 77;
	}
	if (argc > 1)
		return truth_judge("command", argv[1], true) < 0;
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		if (installed(programs[i].needs))
			failed += truth_judge(programs[i].name, programs[i].command, false) < 0;
		else
			printf("%s: not installed\n", programs[i].name);
	}
	return failed != 0;
}
