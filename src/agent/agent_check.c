// SPDX-License-Identifier: MIT
/*
 * agent_check.c: see agent.h: what an agent would do here, and what is wrong, without doing it.
 *
 * Events are opened and BPF programs loaded, since nothing else tells whether they can be; nothing
 * is sampled. A store of files that is not there yet would be made by the agent: then only the
 * directory is looked at.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "agent/agent_parts.h"
#include "base/error.h"

/* Says one thing that is wrong, and remembers it if it is the first. */
static void check_wrong(const struct agent *a, int *first, int r, const char *what,
                        const struct seam_error *err)
{
	log_line(a->log, LOG_PLAIN, "%s%s", what, error_reason(err, r));
	*first = *first ? *first : r;
}

/* Whether a file could be made where a URL says. Other URLs have no directory. */
static bool check_directory(const char *url)
{
	const char *path = strchr(url, ':'), *slash;
	char dir[4096];

	if (!path || strncmp(url, "sqlite:", 7) != 0)
		return false;
	slash = strrchr(++path, '/');
	snprintf(dir, sizeof(dir), "%.*s", slash ? (int)(slash - path + 1) : 1, slash ? path : ".");
	return access(path, F_OK) < 0 && !access(dir, W_OK | X_OK);
}

/* One store: it can be written, or could be made, or another agent has it, which is no fault. */
static void check_store(const struct agent *a, const char *url, int *first)
{
	struct seam_error err = { 0 };
	struct store *s = NULL;
	int r = check_directory(url) ? 1 : store_open(&s, url, STORE_READ, &err);

	store_close(s);
	s = NULL;
	if (!r)
		r = store_open(&s, url, STORE_WRITE, &err);
	store_close(s);
	if (r < 0)
		check_wrong(a, first, r, "", &err);
	else
		log_line(a->log, LOG_PLAIN, r ? "%s: will be made" : "%s: can be written", url);
}

/* Whether another agent runs. That is told, and is right: it may be the service. */
static void check_lock(const struct agent *a)
{
	char path[4096], pid[16] = "";
	int fd;

	agent_lock_path(path, sizeof(path));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (flock(fd, LOCK_SH | LOCK_NB) < 0 && pread(fd, pid, sizeof(pid) - 1, 0) >= 0)
		log_line(a->log, LOG_PLAIN, "an agent runs already: process %.*s",
		         (int)strspn(pid, "0123456789"), pid);
	close(fd);
}

/* What it would do, in words. */
static void check_say(const struct agent *a)
{
	const struct agent_opts *o = a->o;
	char limit[64] = "no limit", memory[64] = "no limit";

	if (o->max_cpu > 0)
		snprintf(limit, sizeof(limit), "at most %g %% of one", o->max_cpu);
	if (o->memory)
		snprintf(memory, sizeof(memory), "%llu MB (at least %llu)",
		         (unsigned long long)(o->memory >> 20),
		         (unsigned long long)(agent_memory_least() >> 20));
	log_line(a->log, LOG_PLAIN,
	         "%llu samples a second and CPU, windows of %g s; CPU: %s; memory: %s; %zu rules",
	         (unsigned long long)o->rec->session.frequency, (double)o->window_ns / 1e9, limit,
	         memory, o->processes ? o->processes->rules.n : 0);
}

/* Everything is looked at, also after something was wrong. */
int agent_check(const struct agent_opts *o)
{
	struct agent a = { .o = o, .log = &o->rec->session.log, .lock = -1 };
	struct seam_error err = { 0 };
	char mode[400];
	int first = 0, r;

	check_say(&a);
	check_lock(&a);
	for (size_t i = 0; i < o->n_urls; i++)
		check_store(&a, o->urls[i], &first);
	r = o->metrics ? metrics_open(&a.metrics, o->metrics, &err) : 0;
	if (r < 0)
		check_wrong(&a, &first, r, "", &err);
	else if (o->metrics)
		log_line(a.log, LOG_PLAIN, "metrics: can be served at %s", o->metrics);
	metrics_close(a.metrics);
	err = (struct seam_error){ 0 };
	r = agent_open_recorder(&a, &err);
	if (r < 0)
		check_wrong(&a, &first, r, "sampling: ", &err);
	else
		log_line(a.log, LOG_PLAIN, "%s",
		         mode_line(session_mode(recorder_session(a.recorder)), mode, sizeof(mode)));
	recorder_free(a.recorder);
	return first;
}
