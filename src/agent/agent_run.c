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

/* Opens the rings and makes the window for their records. -errno. */
static int agent_open_recorder(struct agent *a, struct seam_error *err)
{
	struct recorder_opts *o = a->o->rec;
	const struct recorder_opts *opened;
	int error;

	/* Objects are named without the recording: their mappings must say which build they are. */
	o->build_ids_always = true;
	error = recorder_new(&a->recorder, o, err);
	if (!error)
		error = recorder_open(a->recorder, err);
	if (error)
		return error;
	if (a->o->wakes)
		a->o->wakes(a->recorder);
	opened = recorder_options(a->recorder);
	a->head = (struct datafile_opts){ .program = a->o->program,
		                          .groups = o->events,
		                          .use_clockid = opened->session.use_clockid,
		                          .clockid = opened->session.clockid };
	return window_new(&a->window, &a->head, recorder_events(a->recorder));
}

/* Begins to sample, into the window. -errno. */
static int agent_start(struct agent *a, struct seam_error *err)
{
	const struct recorder_sink sink = { .write = window_write, .ctx = a->window };
	int error = recorder_begin(a->recorder, &sink, err);

	return error ? error : recorder_start(a->recorder, err);
}

/* Stores first: if one cannot be written, nothing is recorded. -errno, and err says why. */
static int agent_open(struct agent *a, struct seam_error *err)
{
	char mode[400];
	int error = 0;

	agent_instance(a);
	for (size_t i = 0; i < a->o->n_urls && error >= 0; i++) {
		a->stores[i].url = a->o->urls[i];
		error = store_open(&a->stores[i].store, a->stores[i].url, STORE_AGENT, err);
	}
	if (error >= 0)
		error = agent_open_recorder(a, err);
	if (!error)
		error = agent_start(a, err);
	if (error && agent_stopped(a))
		seam_error_set(err, EINTR, NULL, SEAM_NO_OFFSET, NULL,
		               "stopped before sampling began");
	else if (error && !err->code)
		seam_error_set(err, -error, NULL, SEAM_NO_OFFSET, NULL, "%s", strerror(-error));
	if (error)
		return error;
	log_line(a->log, LOG_PLAIN, "%s",
	         mode_line(session_mode(recorder_session(a->recorder)), mode, sizeof(mode)));
	return 0;
}

/* Makes one window after the other, until a signal or the end of the duration. -errno after saying
 * why. */
static int agent_loop(struct agent *a)
{
	uint64_t start_ns = agent_now_ns(), next_ns;
	bool ended = false, last = false;
	int r = 0;

	a->begun_ns = start_ns;
	while (r >= 0 && !last) {
		next_ns = a->begun_ns + a->o->window_ns;
		if (a->o->duration_ns && next_ns >= start_ns + a->o->duration_ns) {
			next_ns = start_ns + a->o->duration_ns;
			last = true;
		}
		r = ended ? 1 : agent_read(a, next_ns);
		if (r < 0)
			log_line(a->log, LOG_PLAIN, "reading the rings: %s", strerror(-r));
		last |= r > 0;
		if (r >= 0 && last)
			r = recorder_stop(a->recorder, recorder_until_ns(a->recorder));
		if (r >= 0)
			r = agent_window(a, last);
		ended |= r > 0;
	}
	return r < 0 ? r : 0;
}

/* What was done, and what it cost. ns: how long it ran. */
static void agent_say(const struct agent *a, uint64_t ns)
{
	struct rusage u = { 0 };
	uint64_t lost = 0;
	double cpu;

	getrusage(RUSAGE_SELF, &u);
	cpu = (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	      (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
	for (size_t i = 0; i < a->o->n_urls; i++)
		lost += a->stores[i].lost;
	log_line(a->log, LOG_PLAIN,
	         "%llu windows with %llu samples, %llu windows were lost; %.2f s of CPU time in "
	         "%.0f s (%.2f %% of a CPU), %ld MB at most",
	         (unsigned long long)a->windows, (unsigned long long)a->samples,
	         (unsigned long long)lost, cpu, (double)ns / 1e9, ns ? cpu * 1e11 / (double)ns : 0,
	         u.ru_maxrss / 1024);
}

/* Stores are closed last, when nothing can come any more. 0, or -errno and err. */
int agent_run(const struct agent_opts *o, struct seam_error *err)
{
	struct agent a = { .o = o, .log = &o->rec->session.log };
	int error = agent_open(&a, err);

	if (!error) {
		uint64_t begun_ns = agent_now_ns();

		error = agent_loop(&a);
		agent_say(&a, agent_now_ns() - begun_ns);
	}
	if (o->wakes)
		o->wakes(NULL);
	recorder_free(a.recorder);
	window_free(a.window);
	groups_free(&a.groups);
	for (size_t i = 0; i < o->n_urls; i++)
		store_close(a.stores[i].store);
	return error;
}
