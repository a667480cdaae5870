// SPDX-License-Identifier: MIT
// agent_run.c: see agent.h: a recorder whose records go into windows, from the first to the last.
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "capture/mode.h"
#include "agent/agent.h"
#include "cli/record/record_say.h"
#include "cli/record/record_signals.h"

/* A name for this run of the agent, which no other has. */
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
	struct recorder_opts *o = &a->o.rec;
	const struct recorder_opts *opened;
	int error;

	o->build_ids_always = true;
	o->session.stopped = agent_stopped;
	o->session.log.line = record_say_log;
	o->session.log.ctx = (void *)a->cmd;
	o->progress = record_say_progress;
	o->progress_ctx = (void *)a->cmd;
	error = recorder_new(&a->recorder, o, err);
	if (error)
		return error;
	record_signals_catch();
	error = recorder_open(a->recorder, err);
	if (error)
		return error;
	record_signals_wake(a->recorder);
	opened = recorder_options(a->recorder);
	a->head = (struct datafile_opts){ .program = "seam " SEAM_VERSION,
		                          .groups = o->events,
		                          .use_clockid = opened->session.use_clockid,
		                          .clockid = opened->session.clockid };
	return window_new(&a->window, &a->head, recorder_events(a->recorder));
}

static int agent_start(struct agent *a, struct seam_error *err)
{
	const struct recorder_sink sink = { .write = window_write, .ctx = a->window };
	int error = recorder_begin(a->recorder, &sink, err);

	return error ? error : recorder_start(a->recorder, err);
}

/* Stores first: if one cannot be written, nothing is recorded. */
static int agent_open(struct agent *a)
{
	struct seam_error err = { 0 };
	char mode[400];
	int error = 0;

	agent_instance(a);
	for (size_t i = 0; i < a->n_stores && error >= 0; i++)
		error = store_open(&a->stores[i].store, a->stores[i].url, STORE_AGENT, &err);
	if (error >= 0)
		error = agent_open_recorder(a, &err);
	if (!error)
		error = agent_start(a, &err);
	if (error) {
		cmd_error(a->cmd, "%s",
		          agent_stopped() ? "stopped before sampling began"
		                          : cmd_reason(&err, error));
		return error == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
	}
	cmd_error(a->cmd, "%s",
	          mode_line(session_mode(recorder_session(a->recorder)), mode, sizeof(mode)));
	return EXIT_OK;
}

/* Makes one window after the other, until a signal or the end of the duration. An exit code. */
static int agent_loop(struct agent *a)
{
	uint64_t start_ns = agent_now_ns(), next_ns;
	bool ended = false, last = false;
	int r = 0;

	a->begun_ns = start_ns;
	while (r >= 0 && !last) {
		next_ns = a->begun_ns + a->window_ns;
		if (a->duration_ns && next_ns >= start_ns + a->duration_ns) {
			next_ns = start_ns + a->duration_ns;
			last = true;
		}
		r = ended ? 1 : agent_read(a, next_ns);
		if (r < 0)
			cmd_error(a->cmd, "reading the rings: %s", strerror(-r));
		last |= r > 0;
		if (r >= 0 && last)
			r = recorder_stop(a->recorder, recorder_until_ns(a->recorder));
		if (r >= 0)
			r = agent_window(a, last);
		ended |= r > 0;
	}
	return r < 0 ? EXIT_FAILED : EXIT_OK;
}

/* What was done, and what it cost. */
static void agent_say(const struct agent *a, uint64_t ns)
{
	struct rusage u = { 0 };
	uint64_t lost = 0;
	double cpu;

	getrusage(RUSAGE_SELF, &u);
	cpu = (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	      (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
	for (size_t i = 0; i < a->n_stores; i++)
		lost += a->stores[i].lost;
	cmd_error(a->cmd,
	          "%llu windows with %llu samples, %llu windows were lost; %.2f s of CPU time in "
	          "%.0f s (%.2f %% of a CPU), %ld MB at most",
	          (unsigned long long)a->windows, (unsigned long long)a->samples,
	          (unsigned long long)lost, cpu, (double)ns / 1e9, ns ? cpu * 1e11 / (double)ns : 0,
	          u.ru_maxrss / 1024);
}

int agent_run_all(struct agent *a)
{
	int rc = agent_open(a);

	if (rc == EXIT_OK) {
		uint64_t begun_ns = agent_now_ns();

		rc = agent_loop(a);
		agent_say(a, agent_now_ns() - begun_ns);
	}
	record_signals_wake(NULL);
	recorder_free(a->recorder);
	window_free(a->window);
	groups_free(&a->groups);
	for (size_t i = 0; i < a->n_stores; i++)
		store_close(a->stores[i].store);
	return rc;
}
