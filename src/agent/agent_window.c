// SPDX-License-Identifier: MIT
// agent_window.c: see agent_parts.h. A window is named and put in a thread, so that the rings are
// read meanwhile. A store that takes nothing loses the window; that is said once, and told in the
// next window that it takes.
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "agent/agent_parts.h"
#include "base/error.h"
#include "base/thread.h"
#include "base/when.h"
#include "fleet/sum_up.h"

/* How long the rings are read at a time while a window is named. */
#define BESIDE_NS 20000000ULL
#define LINES_WINDOWS 60u
/* Of the memory that the agent may have: for lines, and for what is open for them; for the names,
 * and the debugging information, of one object. */
#define LINES_PART 8u
#define LARGEST_PART 4u
/* Of a CPU, for debugging information: a quarter of what an agent may cost in all. */
#define LINES_CPU 0.0025
/* Ten minutes of windows of ten seconds: letting go of old windows costs more than putting one.
 * What has become old meanwhile is then compacted, too, a piece after each window. */
#define FORGET_EVERY 60u /* windows */
#define DAY_NS (24 * 3600 * 1000000000ULL)

/* Of the thread that names windows: a tenth of a CPU that others want, too. */
#define NAMING_NICE 10

/* A window on its way into the stores. It belongs to the thread that names it until done is set. */
struct agent_job {
	struct agent *a;
	struct window_interval interval;
	uint64_t from_ns, to_ns; /* since the epoch */
	uint64_t lost, skipped;  /* in this window, as struct window_interval has them */
	uint64_t cpu_ns;
	bool last;
	struct seam_error err;
	int rc;
	atomic_bool done;
};

/* ---- stores ---- */

/* Counts a window that a store did not take. The first failure is said; the next ones are like
 * it. */
static void agent_failed(const struct agent *a, struct agent_store *s, uint64_t samples,
                         const struct seam_error *err, int r)
{
	if (!s->failing)
		log_line(a->log, LOG_PLAIN,
		         "%s: %s; windows are lost until it can be written again", s->url,
		         error_reason(err, r));
	s->failing = true;
	s->lost++;
	s->lost_samples += samples;
}

/* How many samples of a profile are of processes that were gone before they could be asked. */
static uint64_t agent_unlabelled(const struct agent *a, const struct profile *p)
{
	uint64_t samples = 0;

	for (size_t i = 0; i < profile_n_rows(p); i++) {
		const struct profile_row *row = profile_row_at(p, i);
		uint32_t pid = profile_task_at(p, row->key.task)->pid;

		samples += ask_was_gone(a->ask, pid) ? row->samples : 0;
	}
	return samples;
}

/* Puts a window into one store. What that did not take before is counted as lost samples. */
static void agent_put_into(const struct agent_job *job, struct agent_store *s,
                           const struct load *load)
{
	struct agent *a = job->a;
	/* Losses that no LOST record counts. */
	const uint64_t beside = job->interval.dropped + s->lost_samples + job->skipped;
	struct quality quality = { 0 };
	struct seam_error err = { 0 };
	const struct process_opts *po = a->o->processes;
	const struct series_processes processes = { .labels = ask_labels,
		                                    .ctx = a->ask,
		                                    .rules = po ? &po->rules : NULL,
		                                    .pid = po && po->pid,
		                                    .tid = po && po->tid };
	const struct put_window w = { .instance = a->instance,
		                      .from_ns = job->from_ns,
		                      .to_ns = job->to_ns,
		                      .all = a->o->all,
		                      .profile = load->profile,
		                      .processes = &processes,
		                      .quality = &quality,
		                      .sums = true };
	char rate[40], news[700];
	int r;

	snprintf(rate, sizeof(rate), "agent.windows_at_hz.%llu", (unsigned long long)a->budget.hz);
	quality_add_load(&quality, load);
	quality_add(&quality, rate, 1);
	quality_add(&quality, "agent.cpu_ns", job->cpu_ns);
	quality_add(&quality, "agent.window_ns", job->to_ns - job->from_ns);
	quality_add(&quality, "lost", job->lost - job->skipped);
	quality_add(&quality, "lost_samples", beside);
	quality_add(&quality, "lost_beside", beside);
	quality_add(&quality, "skipped_samples", job->skipped);
	quality_add(&quality, "agent.unlabelled_samples", agent_unlabelled(a, load->profile));
	quality_add(&quality, "agent.dropped_samples", job->interval.dropped);
	quality_add(&quality, "agent.untaken_samples", s->lost_samples);
	r = put_window(s->store, &w, &err);
	if (r < 0) {
		agent_failed(a, s, load->taken, &err, r);
	} else {
		/* The failure was said, so its end is said, too. */
		if (s->failing)
			log_line(a->log, LOG_PLAIN, "%s is written again; %llu windows were lost",
			         s->url, (unsigned long long)s->lost);
		s->failing = false;
		s->lost_samples = 0;
		s->windows++;
	}
	/* What a store behind a network has to say of what it was given before. */
	if (store_news(s->store, news, sizeof(news)))
		log_line(a->log, LOG_PLAIN, "%s", news);
	quality_free(&quality);
}

/* A callback of window_profile. All stores get the same profile, one after the other. */
static int agent_put(void *ctx, struct recording *rec, struct load *load)
{
	struct agent_job *job = ctx;
	struct agent *a = job->a;

	(void)rec;
	a->samples += load->taken;
	for (size_t i = 0; i < a->o->n_urls; i++)
		agent_put_into(job, &a->stores[i], load);
	return 0;
}

/* Makes stores let go of what is too old or too much. A failure is said, and tried again later. */
static void agent_forget(struct agent *a)
{
	uint64_t from_ns = 0, now_ns = when_now_ns();

	if (a->o->keep_ns && now_ns > a->o->keep_ns)
		from_ns = now_ns - a->o->keep_ns;
	for (size_t i = 0; i < a->o->n_urls; i++) {
		struct seam_error err = { 0 };
		int64_t r = store_forget(a->stores[i].store, from_ns, a->o->keep_bytes, &err);

		if (r < 0 && !a->stores[i].failing)
			log_line(a->log, LOG_PLAIN, "%s: old windows stay: %s", a->stores[i].url,
			         error_reason(&err, (int)r));
	}
}

/* Compacts a piece of a store, or where there is none left, sums or rolls up an hour: of the last
 * day first, then what an older seam left otherwise, or nobody was there to make. As
 * store_compact. */
static int agent_compact_piece(struct agent *a, struct store *s, struct seam_error *err)
{
	const uint64_t now_ns = when_now_ns();
	const uint64_t froms[] = { now_ns - DAY_NS, 0 };
	struct store_compacted done = { 0 };
	int r = store_compact(s, now_ns, a->o->day_bytes, &done, err);

	for (size_t i = 0; i < sizeof(froms) / sizeof(*froms) && !r; i++) {
		const struct store_query span = { .from_ns = froms[i], .to_ns = now_ns };
		struct store_rolled rolled = { 0 };

		r = sum_up(s, &span, now_ns, 1, &rolled, err);
		r = r < 0 ? r : rolled.made + rolled.parts > 0;
	}
	return r;
}

/* Compacts a piece of each store that has more to compact. A failure is said once. */
static void agent_compact(struct agent *a)
{
	for (size_t i = 0; i < a->o->n_urls; i++) {
		struct agent_store *s = &a->stores[i];
		struct seam_error err = { 0 };
		int r;

		if (!s->compact)
			continue;
		r = agent_compact_piece(a, s->store, &err);
		s->compact = r > 0;
		if (r >= 0 || r == -EOPNOTSUPP || s->told_compact)
			continue;
		s->told_compact = true;
		log_line(a->log, LOG_PLAIN, "%s: old windows are not compacted: %s", s->url,
		         error_reason(&err, r));
	}
}

/* ---- windows ---- */

/* What a profile must keep for its series. */
static unsigned agent_keep(const struct process_opts *o)
{
	return (PUT_KEEP & ~PROFILE_KEEP_CGROUP) | (o && o->tid ? PROFILE_KEEP_TID : 0);
}

/* Lines serve some windows, then they begin anew: a debug file may have been installed, or they
 * take too much. Without memory for them they are the window's own. */
static void agent_lines(struct agent *a, const struct lines_opts *opts)
{
	if (a->lines && (++a->lines_windows > LINES_WINDOWS ||
	                 lines_bytes(a->lines) > agent_part(a->o, LINES_PART))) {
		lines_free(a->lines);
		a->lines = NULL;
	}
	if (!a->lines && lines_new(&a->lines, opts) >= 0)
		a->lines_windows = 1;
}

/* The CPU time that lines and inlined calls may take of a window. */
static uint64_t agent_lines_ns(const struct agent_opts *o)
{
	double most = o->max_cpu > 0 ? o->max_cpu / 400 : LINES_CPU;

	return (uint64_t)((double)o->window_ns * (most < LINES_CPU ? most : LINES_CPU)) + 1;
}

/* Names the window and puts it. -errno. */
static int agent_load(struct agent_job *job)
{
	struct symbol_opts symbols = *job->a->o->symbols;
	const uint64_t largest = job->a->o->memory ? agent_part(job->a->o, LARGEST_PART) : 0;
	/* In one thread: each one more would unpack the same debugging information once more. */
	const struct lines_opts lines = {
		.sz = sizeof(lines),
		.search = symbols.search,
		.no_demangle = symbols.no_demangle,
		.parameters = symbols.parameters,
		.threads = 1,
		.keep_bytes = agent_part(job->a->o, LINES_PART),
		.most_bytes = largest,
		.room = { agent_memory_room, job->a },
		.share_ns = agent_lines_ns(job->a->o),
	};
	struct load_opts opts = {
		.sz = sizeof(opts),
		.keep = agent_keep(job->a->o->processes),
		.threads = 1,
		.symbols = &symbols,
		.lines = true,
		.lines_opts = &lines,
		.no_inline = job->a->o->no_inline,
	};
	int r;

	symbols.shelf = job->a->shelf;
	symbols.most_bytes = largest;
	symbols.room = lines.room;
	agent_lines(job->a, &lines);
	opts.lent_lines = job->a->lines;
	r = window_profile(&job->interval, &opts, agent_put, job, &job->err);

	if (job->a->windows % FORGET_EVERY == 0) {
		agent_forget(job->a);
		for (size_t i = 0; i < job->a->o->n_urls; i++)
			job->a->stores[i].compact = true;
	}
	/* Somebody waits for the last window. */
	if (!job->last)
		agent_compact(job->a);
	return r;
}

/* job->done is set last: behind it the job is the caller's again. Other work comes first, but not
 * without end: the next window waits for this one. */
static void *agent_thread(void *arg)
{
	struct agent_job *job = arg;

	setpriority(PRIO_PROCESS, (id_t)gettid(), NAMING_NICE);
	job->rc = agent_load(job);
	atomic_store(&job->done, true);
	return NULL;
}

/* 1: what is recorded ended; 0; -errno of reading. The last window has no rings to read beside it,
 * and where no thread is to be had, they wait. */
static int agent_load_beside(struct agent *a, struct agent_job *job, bool last)
{
	pthread_t thread;
	int r = 0;

	if (last || thread_start(&thread, agent_thread, job)) {
		job->rc = agent_load(job);
		return 0;
	}
	while (!atomic_load(&job->done) && !r)
		r = agent_read(a, agent_now_ns() + BESIDE_NS);
	pthread_join(thread, NULL);
	return r;
}

/* Its length is taken from a clock that nobody sets, its end from the time of day. */
static void agent_times(struct agent *a, struct agent_job *job)
{
	uint64_t now_ns = agent_now_ns(), cpu_ns = agent_cpu_ns(a);

	job->to_ns = when_now_ns();
	job->from_ns = job->to_ns - (now_ns - a->begun_ns);
	job->cpu_ns = cpu_ns - a->cpu_ns;
	a->begun_ns = now_ns;
	a->cpu_ns = cpu_ns;
}

/* What is kept from one window to the next. */
static void agent_tell_kept(struct agent *a, struct metrics_values *v)
{
	struct recorder_kept kept = recorder_kept(a->recorder);
	struct lines_counts lines = { 0 };

	if (a->lines)
		lines_count(a->lines, &lines);
	v->processes = kept.processes;
	v->table_bytes = kept.table_bytes;
	v->names_bytes =
	        symbol_shelf_trim(a->shelf, SIZE_MAX) + (a->lines ? lines_bytes(a->lines) : 0);
	v->too_large = lines.too_large;
}

/* Processes that kept who reads their memory waiting: said when there are more. */
static void agent_tell_held(const struct agent *a, struct metrics_values *v)
{
	uint64_t held = ask_peeks(a->ask).held;

	if (a->peek)
		held += peek_counts(a->peek).held;
	if (held > v->held)
		log_line(a->log, LOG_PLAIN,
		         "a process kept who reads its memory waiting (%llu times): it is left "
		         "alone for %u minutes, and its labels and stacks may be missing",
		         (unsigned long long)(held - v->held), PEEK_AGAIN_S / 60);
	v->held = held;
}

/* Sets what metrics say. */
static void agent_tell(struct agent *a, const struct agent_job *job)
{
	struct metrics_values *v = &a->now;

	v->windows = a->windows;
	v->samples = a->samples;
	v->lost += job->lost;
	v->dropped += job->interval.dropped;
	v->cpu_ns = agent_cpu_ns(a);
	v->memory = agent_memory();
	v->memory_peak = agent_memory_peak();
	v->memory_limit = a->o->memory;
	v->refused = a->refused;
	agent_tell_held(a, v);
	agent_tell_kept(a, v);
	v->rate_hz = a->budget.hz;
	v->last_ns = job->to_ns;
	for (size_t i = 0; i < a->o->n_urls; i++) {
		const struct agent_store *s = &a->stores[i];

		v->stores[i] = (struct metrics_store){ .url = s->url,
			                               .windows = s->windows,
			                               .lost = s->lost,
			                               .lost_samples = s->lost_samples,
			                               .failing = s->failing };
	}
	v->n_stores = a->o->n_urls;
	metrics_set(a->metrics, v);
}

/* What came up to now is cut off, named and put; then side-band records are made less. 1: what is
 * recorded ended; 0; -errno, which was said. */
int agent_window(struct agent *a, bool last)
{
	struct agent_job job = { .a = a, .last = last };
	int r, read = 0;

	agent_times(a, &job);
	r = window_cut(a->window, last, &job.interval, &job.err);
	job.lost = job.interval.lost - a->lost;
	a->lost = job.interval.lost;
	job.skipped = job.interval.skipped - a->skipped;
	a->skipped = job.interval.skipped;
	if (r >= 0) {
		a->windows++;
		read = agent_load_beside(a, &job, last);
		r = job.rc;
	}
	if (r >= 0 && read < 0)
		r = read;
	if (r >= 0)
		r = window_renew(a->window, a->recorder);
	ask_window(a->ask);
	agent_memory_trim(a);
	agent_tell(a, &job);
	if (r < 0)
		log_line(a->log, LOG_PLAIN, "%s", error_reason(&job.err, r));
	return r < 0 ? r : read;
}
