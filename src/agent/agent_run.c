// SPDX-License-Identifier: MIT
/*
 * agent_run.c: see agent.h and agent_parts.h: a recorder whose records go into windows, from the
 * first to the last.
 *
 * Every record goes from the rings into the window in memory; nothing is written but what the
 * stores take. One thread reads the rings; a window is named in a second (agent_window.c).
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "agent/agent_parts.h"
#include "capture/mode.h"

/* Of the memory that the agent may have: for unwind tables; for stacks that wait to be walked; for
 * samples that wait for the end of their window; for the rings of all CPUs, each of which has this
 * many bytes without a limit. */
#define TABLES_PART 4u
#define PENDING_PART 16u
#define WINDOW_PART 8u
#define RINGS_PART 16u
#define RINGS_CPU (5u << 19)
#define RING_LEAST (64u << 10)
/* A file that was linked so long ago is one that will be met again. */
#define FRESH_S 600u
#define ASK_HELD_MS 500u /* of who asks it, by a process */
#define SHELF_PART 4u    /* of the memory that the agent may have */

/* A name for this run of the agent, which no other has. A store tells windows of different runs
 * apart by it. */
static void agent_instance(struct agent *a)
{
	unsigned char random[12] = { 0 };
	size_t at = (size_t)snprintf(a->instance, sizeof(a->instance), "agent:");

	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random)) {
		uint64_t now = agent_now_ns();
		pid_t pid = getpid();

		memcpy(random, &now, sizeof(now));
		memcpy(random + sizeof(now), &pid, sizeof(pid));
	}
	for (size_t i = 0; i < sizeof(random); i++)
		at += (size_t)snprintf(a->instance + at, sizeof(a->instance) - at, "%02x",
		                       random[i]);
}

/* The pages of a CPU's rings; 0: as without a limit. */
static size_t agent_ring_pages(const struct agent_opts *o)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t most = agent_part(o, RINGS_PART) / (uint64_t)(cpus > 0 ? cpus : 1);
	uint64_t bytes = RING_LEAST;

	/* There are two of this size, and the smaller one of who follows mappings. */
	while (bytes * 6 <= most)
		bytes *= 2;
	return !o->memory || most >= RINGS_CPU ? 0 : bytes / (size_t)sysconf(_SC_PAGESIZE);
}

/* Opens the rings. -errno. */
int agent_open_recorder(struct agent *a, struct seam_error *err)
{
	struct recorder_opts *o = a->o->rec;
	int error;

	/* Objects are named without the recording: their mappings must say which build they are. */
	o->build_ids_always = true;
	o->no_context = true; /* windows do not keep it */
	o->fresh_s = FRESH_S;
	o->session.mmap_pages = agent_ring_pages(a->o);
	/* Naming a window of large programs takes about as much again. */
	if (a->o->memory) {
		o->unwind_memory = agent_part(a->o, TABLES_PART);
		o->pending_memory = agent_part(a->o, PENDING_PART);
	}
	error = recorder_new(&a->recorder, o, err);
	return error ? error : recorder_open(a->recorder, err);
}

/* Makes the window for what is recorded, and begins to sample into it. -errno. */
static int agent_start(struct agent *a, struct seam_error *err)
{
	const struct recorder_opts *opened = recorder_options(a->recorder);
	const struct window_watch watch = { ask_hear, a->ask };
	struct recorder_sink sink = { .write = window_write };
	int error;

	a->head = (struct datafile_opts){ .program = a->o->program,
		                          .groups = a->o->rec->events,
		                          .use_clockid = opened->session.use_clockid,
		                          .clockid = opened->session.clockid };
	error = window_new(&a->window, &a->head, recorder_events(a->recorder));
	if (!error) {
		sink.ctx = a->window;
		window_watch(a->window, &watch);
		if (a->o->memory)
			window_limit(a->window, agent_part(a->o, WINDOW_PART));
		error = recorder_begin(a->recorder, &sink, err);
	}
	return error ? error : recorder_start(a->recorder, err);
}

/* Opens the recorder and begins to sample, at the rate of the budget. -errno, and err says why. */
static int agent_begin(struct agent *a, struct seam_error *err)
{
	int error;

	a->o->rec->session.frequency = a->budget.hz;
	error = agent_open_recorder(a, err);
	if (!error && a->o->wakes)
		a->o->wakes(a->recorder);
	if (!error)
		error = agent_start(a, err);
	if (error && agent_stopped(a))
		seam_error_set(err, EINTR, NULL, SEAM_NO_OFFSET, NULL,
		               "stopped before sampling began");
	else if (error && !err->code)
		seam_error_set(err, -error, NULL, SEAM_NO_OFFSET, NULL, "%s", strerror(-error));
	a->lost = a->skipped = 0;
	a->begun_ns = a->recorder_ns = agent_now_ns();
	return error;
}

/* Frees what agent_begin made. The end of a recording raised the priority; that is undone, because
 * another one may follow. */
static void agent_finish(struct agent *a)
{
	if (a->o->wakes)
		a->o->wakes(NULL);
	recorder_free(a->recorder);
	window_free(a->window);
	a->recorder = NULL;
	a->window = NULL;
	setpriority(PRIO_PROCESS, 0, a->priority);
}

/* The lock and the stores come first: if one cannot be had, nothing is recorded. -errno, and err
 * says why. */
static int agent_open(struct agent *a, struct seam_error *err)
{
	char mode[400];
	int error = agent_lock(a, err);

	agent_instance(a);
	for (size_t i = 0; i < a->o->n_urls && error >= 0; i++) {
		a->stores[i].url = a->o->urls[i];
		error = store_open(&a->stores[i].store, a->stores[i].url, STORE_AGENT, err);
		/* What an earlier agent left is not to wait. */
		a->stores[i].compact = true;
	}
	if (error >= 0 && a->o->metrics)
		error = metrics_open(&a->metrics, a->o->metrics, err);
	if (error >= 0)
		error = agent_begin(a, err);
	if (error >= 0)
		log_line(a->log, LOG_PLAIN, "%s",
		         mode_line(session_mode(recorder_session(a->recorder)), mode,
		                   sizeof(mode)));
	return error;
}

/* Whether the recorder keeps so much of what is gone that another one is to begin. */
static bool agent_is_full(const struct agent *a)
{
	struct recorder_kept kept = recorder_kept(a->recorder);

	return budget_is_full(kept.objects, kept.file_bytes, agent_now_ns() - a->recorder_ns);
}

/* Begins to sample at another rate, or with nothing kept. Weights are in time, so sums stay true;
 * what is between the two recordings is in no window. 1: meanwhile somebody asked for the end; 0;
 * -errno after saying why. */
static int agent_begin_anew(struct agent *a)
{
	struct seam_error err = { 0 };
	int error;

	if (a->budget.hz < a->o->rec->session.frequency)
		log_line(a->log, LOG_PLAIN,
		         "more than %g %% of a CPU: %llu samples a second and CPU from now on",
		         a->budget.max_cpu, (unsigned long long)a->budget.hz);
	else if (a->budget.hz > a->o->rec->session.frequency)
		log_line(a->log, LOG_PLAIN,
		         "there is room below %g %% of a CPU: %llu samples a second and CPU from "
		         "now on",
		         a->budget.max_cpu, (unsigned long long)a->budget.hz);
	a->now.restarts += a->budget.hz != a->o->rec->session.frequency;
	agent_finish(a);
	error = agent_begin(a, &err);
	if (error && agent_stopped(a))
		return 1;
	if (error)
		log_line(a->log, LOG_PLAIN, "%s", err.text);
	return error;
}

/* Looks at what the window cost that ends now. True: the rate is another. At the least rate it is
 * said once that there is no more to do. */
static bool agent_budget(struct agent *a)
{
	bool was_floor = a->budget.floor, told = a->told_floor;
	bool changes = budget_window(&a->budget, agent_cpu_ns(a) - a->cpu_ns,
	                             agent_now_ns() - a->begun_ns);

	if (a->budget.floor && !was_floor && !told) {
		log_line(a->log, LOG_PLAIN,
		         "more than %g %% of a CPU at 1 sample a second, too: most of it is for "
		         "programs that start",
		         a->budget.max_cpu);
		a->told_floor = true;
	}
	return changes;
}

/* Makes one window after the other, until a signal, the end of the duration, other options or
 * another rate. 1: another rate; 0; -errno after saying why. end_ns 0: no end. */
static int agent_loop(struct agent *a, uint64_t end_ns)
{
	bool ended = false, last = false, changes = false;
	uint64_t next_ns;
	int r = 0;

	while (r >= 0 && !last) {
		next_ns = a->begun_ns + a->o->window_ns;
		if (end_ns && next_ns >= end_ns) {
			next_ns = end_ns;
			last = true;
		}
		r = ended ? 1 : agent_read(a, next_ns);
		if (r < 0)
			log_line(a->log, LOG_PLAIN, "reading the rings: %s", strerror(-r));
		last |= r > 0;
		if (r == 0 && !last)
			last = changes = agent_budget(a) || agent_is_full(a);
		if (r >= 0 && last)
			r = recorder_stop(a->recorder, recorder_until_ns(a->recorder));
		if (r >= 0)
			r = agent_window(a, last);
		ended |= r > 0;
	}
	return r < 0 ? r : changes;
}

/* What was done, and what it cost. ns: how long it ran. */
static void agent_say(const struct agent *a, uint64_t ns)
{
	double cpu = (double)agent_cpu_ns(a) / 1e9;
	uint64_t lost = 0;

	for (size_t i = 0; i < a->o->n_urls; i++)
		lost += a->stores[i].lost;
	log_line(a->log, LOG_PLAIN,
	         "%llu windows with %llu samples, %llu windows were lost; %.2f s of CPU time in "
	         "%.0f s (%.2f %% of a CPU), %llu MB at most",
	         (unsigned long long)a->windows, (unsigned long long)a->samples,
	         (unsigned long long)lost, cpu, (double)ns / 1e9, ns ? cpu * 1e11 / (double)ns : 0,
	         (unsigned long long)(agent_memory_peak() >> 20));
}

/* Stores are closed last, when nothing can come any more. 0, AGENT_ANEW, or -errno and err. */
int agent_run(const struct agent_opts *o, struct seam_error *err)
{
	struct agent a = { .o = o,
		           .log = &o->rec->session.log,
		           .lock = -1,
		           .priority = getpriority(PRIO_PROCESS, 0),
		           .now = { .version = o->program,
		                    .asked_hz = o->rec->session.frequency,
		                    .window_ns = o->window_ns } };
	const struct peek_opts peek = RECORDER_PEEK;
	uint64_t frequency = o->rec->session.frequency, begun_ns;
	int error;

	agent_memory_apart();
	budget_start(&a.budget, o->max_cpu, frequency);
	a.cpu_ns = agent_cpu_ns(&a);
	/* Before much memory is taken. Without it the recorder reads itself. */
	if (!o->rec->peek)
		peek_new(&a.peek, &peek);
	if (a.peek)
		o->rec->peek = a.peek;
	error = symbol_shelf_new(&a.shelf, agent_part(o, SHELF_PART), true);
	if (!error)
		error = ask_new(&a.ask, o->processes, ASK_HELD_MS);
	if (!error)
		error = agent_open(&a, err);
	begun_ns = agent_now_ns();
	if (!error) {
		uint64_t end_ns = o->duration_ns ? begun_ns + o->duration_ns : 0;

		while ((error = agent_loop(&a, end_ns)) > 0 && !(error = agent_begin_anew(&a)))
			;
		agent_say(&a, agent_now_ns() - begun_ns);
	}
	agent_finish(&a);
	metrics_close(a.metrics);
	ask_free(a.ask);
	lines_free(a.lines);
	symbol_shelf_free(a.shelf);
	if (a.peek)
		o->rec->peek = NULL;
	peek_free(a.peek);
	for (size_t i = 0; i < o->n_urls; i++)
		store_close(a.stores[i].store);
	agent_unlock(&a);
	o->rec->session.frequency = frequency;
	if (error >= 0 && !agent_stopped(&a) && o->anew && o->anew(o->anew_ctx))
		return AGENT_ANEW;
	return error < 0 ? error : 0;
}
