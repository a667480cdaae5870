// SPDX-License-Identifier: MIT
// view.c: `seam view FILE...`: the page of `seam flame`, served to the user's own browser.
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/thread.h"
#include "cli/cmds.h"
#include "cli/side_code.h"
#include "input/compared.h"
#include "input/sample_filter.h"
#include "input/unpacked.h"
#include "serve/site.h"

#define VIEW_BEGIN_MS 150    /* what fails within this is shown in no page */
#define VIEW_POLL_MS 10      /* how often it is looked whether reading has ended */
#define VIEW_LEAVE_MS 300    /* how long reading may go on when nobody waits any more */
#define VIEW_FAILED_MS 10000 /* how long a page may take to show that reading failed */

enum {
	OPT_INPUT = 1,
	OPT_PORT,
	OPT_NO_BROWSER,
	OPT_EVENT,
	OPT_MAX_STACK,
};

static const struct option_def view_options[] = {
	INFILE_OPTION(OPT_INPUT),
	{ "port", 0, "N", "the port to listen at (default: one that is free)", OPT_PORT },
	{ "no-browser", 0, NULL, "print the address only", OPT_NO_BROWSER },
	{ "event", 'e', "NAME", "the event that is shown first", OPT_EVENT },
	{ "max-stack", 0, "N", "at most the N innermost frames of a stack", OPT_MAX_STACK },
	{ "comm", 0, "LIST", "the same as --comms", ID_FILTER_COMMS },
	ID_FILTER_OPTIONS,
	NAMING_SOURCE_OPTIONS,
	{ 0 },
};

/* One command line. */
struct view_run {
	const struct cmd *cmd;
	struct compared both;
	struct naming naming;
	struct id_filter take;
	struct site site;
	struct progress line; /* on the terminal */
	unsigned port;
	bool no_browser;
	pthread_t leader, reader; /* the command's own thread; the one that fills the site */
	atomic_bool is_led;     /* the user was led to the page: the terminal's line may be used */
	atomic_bool is_stopped; /* nobody waits for what is read */
	atomic_bool has_read;
	int code; /* an exit code, of the reader, when it has ended */
};

/* Takes a recording: the second makes the first the one to compare with. -EINVAL, said. */
static int view_operand(struct view_run *v, const char *path)
{
	if (v->both.n == 2 && v->both.sides[0].in.path) {
		cmd_error(v->cmd,
		          "%s: a page shows one recording, or two of which the second is compared "
		          "with the first; run seam view once for each pair (each takes a port "
		          "of its own), or compare more of them with seam diff",
		          path);
		return -EINVAL;
	}
	if (v->both.n == 1 && v->both.sides[0].in.path) {
		v->both.sides[1].in.path = v->both.sides[0].in.path;
		v->both.sides[0].in.path = NULL;
		v->both.n = 2;
	}
	return infile_set(&v->both.sides[0].in, v->cmd, path);
}

/* Takes one option of the command line. 0, or -EINVAL after saying what is wrong with its value. */
static int view_option(struct view_run *v, const struct options *o, int id)
{
	unsigned long long n;

	switch (id) {
	case OPTIONS_OPERAND:
		return view_operand(v, o->arg);
	case OPT_INPUT:
		return infile_set(&v->both.sides[0].in, v->cmd, o->arg);
	case OPT_PORT:
		if (options_u64(o, "--port", 0, 65535, &n) < 0)
			return -EINVAL;
		v->port = (unsigned)n;
		return 0;
	case OPT_NO_BROWSER:
		v->no_browser = true;
		return 0;
	case OPT_EVENT:
		v->site.opts.event = o->arg;
		return 0;
	case OPT_MAX_STACK:
		if (options_u64(o, "--max-stack", 1, UINT32_MAX, &n) < 0)
			return -EINVAL;
		v->both.max_stack = (unsigned)n;
		return 0;
	default:
		return id_filter_is_option(id) ? id_filter_option(&v->take, o, id)
		                               : naming_option(&v->naming, o, id);
	}
}

/* What the page is called before the recordings are read. */
static const char *view_path(const struct view_run *v, size_t side)
{
	const char *path = v->both.sides[side].in.path;

	return path ? path : "perf.data";
}

/* Makes of the loaded recordings what is served. */
static void view_site(struct view_run *v)
{
	struct compared_side *side = v->both.sides;

	for (size_t i = 0; i < v->both.n; i++) {
		v->site.sides[i] = (struct flame_side){ .profile = side[i].profile,
			                                .name = view_path(v, i),
			                                .builds = compared_builds(&v->both) };
		v->site.annotate[i] = side_code(&v->naming, &side[i], compared_builds(&v->both));
	}
}

/* ---- the thread that reads ---- */

static void view_report(void *ctx, const char *step, uint64_t done, uint64_t total)
{
	struct view_run *v = ctx;

	site_news_progress(&v->site.news, step, done, total);
	if (v->line.report && atomic_load(&v->is_led))
		v->line.report(v->line.ctx, step, done, total);
}

static bool view_stopped(void *ctx)
{
	struct view_run *v = ctx;

	return atomic_load(&v->is_stopped);
}

/* What is said of the way to the page is not for the page. */
static void view_heard(void *ctx, const char *text)
{
	struct view_run *v = ctx;

	if (!pthread_equal(pthread_self(), v->leader))
		site_news_say(&v->site.news, text);
}

/* Loads all sides, and makes the site of them. An exit code. */
static int view_load(struct view_run *v)
{
	for (size_t i = 0; i < v->both.n; i++) {
		int code = compared_load(&v->both, i);

		/* What was damaged was said; the rest is shown. */
		if (code != EXIT_OK && code != EXIT_PARTIAL)
			return code;
	}
	if (compared_settle(&v->both) < 0)
		return EXIT_FAILED;
	view_site(v);
	if (v->site.opts.event &&
	    !sample_filter_profile_event(v->both.sides[0].profile, v->site.opts.event, v->cmd))
		return EXIT_USAGE;
	return EXIT_OK;
}

/* A thread: reads, and tells the page and the terminal how it ended. */
static void *view_read(void *ctx)
{
	struct view_run *v = ctx;

	v->code = view_load(v);
	site_news_end(&v->site.news, v->code == EXIT_OK ? SITE_READY : SITE_FAILED);
	atomic_store(&v->has_read, true);
	return NULL;
}

/* Waits until one of the signals comes: true; or for so long. */
static bool view_signalled(const sigset_t *ends, long ms)
{
	const struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	return sigtimedwait(ends, NULL, &t) > 0;
}

/* Waits until it is read, or for so long. True: a signal came first. */
static bool view_await(struct view_run *v, const sigset_t *ends, long ms)
{
	for (; ms > 0 && !atomic_load(&v->has_read); ms -= VIEW_POLL_MS)
		if (view_signalled(ends, VIEW_POLL_MS))
			return true;
	return false;
}

/* Waits until a page shows why there is nothing to show: not for ever, as there may be none. */
static void view_show_failure(struct view_run *v, const sigset_t *ends)
{
	bool seen = false;

	for (long ms = 0; ms < VIEW_FAILED_MS && !seen; ms += VIEW_POLL_MS) {
		if (view_signalled(ends, VIEW_POLL_MS))
			return;
		site_news_phase(&v->site.news, &seen);
	}
}

/* Ends the thread; if it is in the middle of what cannot be stopped, the program. file: to be
 * removed. */
static void view_stop(struct view_run *v, const sigset_t *ends, struct buf *file)
{
	atomic_store(&v->is_stopped, true);
	view_await(v, ends, VIEW_LEAVE_MS);
	if (atomic_load(&v->has_read)) {
		pthread_join(v->reader, NULL);
		return;
	}
	if (file->n)
		unlink(buf_text(file));
	unpacked_remove();
	fflush(stdout);
	_exit(EXIT_OK);
}

/* ---- the page ---- */

/* Prints the address, and leads the user to it. file: to be removed at the end. */
static void view_lead(struct view_run *v, const struct serve *s, struct buf *file)
{
	struct buf text = { 0 };
	char url[128];
	int r;

	snprintf(url, sizeof(url), "http://127.0.0.1:%u/%s/", serve_port(s), serve_token(s));
	cmd_print(stdout, "%s\n", url);
	fflush(stdout);
	switch (serve_way()) {
	case SERVE_FORWARD:
		serve_forward_command(serve_port(s), &text);
		cmd_error(v->cmd,
		          "on your machine, forward the port and open that address there:\n    %s",
		          buf_text(&text));
		break;
	case SERVE_BROWSER:
		r = v->no_browser ? 0 : serve_open_browser(url, file);
		if (r < 0)
			cmd_error(v->cmd, "xdg-open: %s; open the address in a browser",
			          strerror(-r));
		break;
	case SERVE_NONE:
		break;
	}
	cmd_error(v->cmd, "Ctrl-C ends it");
	buf_free(&text);
}

/* Leads to the page as soon as it is known that there is one, and waits for a signal. An exit
 * code. */
static int view_wait(struct view_run *v, const struct serve *s, const sigset_t *ends,
                     struct buf *file)
{
	int ended;

	if (view_await(v, ends, VIEW_BEGIN_MS))
		return EXIT_OK;
	if (atomic_load(&v->has_read) && v->code != EXIT_OK)
		return v->code;
	view_lead(v, s, file);
	atomic_store(&v->is_led, true);
	if (view_await(v, ends, LONG_MAX))
		return EXIT_OK;
	if (v->code != EXIT_OK)
		view_show_failure(v, ends);
	else
		sigwait(ends, &ended);
	return v->code;
}

/* Serves until a signal ends it, from before the recordings are read. An exit code. */
static int view_serve(struct view_run *v)
{
	const struct serve_opts opts = {
		.sz = sizeof(opts), .port = v->port, .answer = site_answer, .ctx = &v->site
	};
	struct seam_error err = { 0 };
	struct buf file = { 0 };
	struct serve *s = NULL;
	int r, code = EXIT_FAILED;
	sigset_t ends, before;

	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	/* Threads that read and answer inherit it: the signal comes to this one. */
	pthread_sigmask(SIG_BLOCK, &ends, &before);
	r = serve_open(&s, &opts, &err);
	if (r >= 0)
		r = thread_start(&v->reader, view_read, v);
	if (r < 0) {
		cmd_error(v->cmd, "%s", cmd_reason(&err, r));
	} else {
		code = view_wait(v, s, &ends, &file);
		view_stop(v, &ends, &file);
	}
	/* A second one ends it at once, whatever is still computed. */
	if (file.n)
		unlink(buf_text(&file));
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	serve_close(s);
	buf_free(&file);
	return code;
}

/* Prepares what the thread and the page need. An exit code. */
static int view_main(struct view_run *v)
{
	int code;

	v->both.keeps = true;
	v->both.filter = id_filter_samples(&v->take);
	v->both.progress = (struct progress){ view_report, view_stopped, v };
	v->line = infile_progress();
	v->site.n = v->both.n;
	v->site.opts.sz = sizeof(v->site.opts);
	v->site.opts.title = export_base_name(view_path(v, 0));
	site_news_start(&v->site.news);
	v->leader = pthread_self();
	cmd_error_heard(view_heard, v);
	code = view_serve(v);
	cmd_error_heard(NULL, NULL);
	site_news_free(&v->site.news);
	return code;
}

/* The command: reads its options, does the work, and frees everything at one place. An exit
 * code. */
static int view_run(int argc, char **argv, const struct cmd *cmd)
{
	struct view_run v = { .cmd = cmd, .both = { .cmd = cmd, .n = 1 } };
	struct options o = options_start(argc, argv, cmd);
	int id, rc = EXIT_USAGE;

	v.both.naming = &v.naming;
	if (naming_start(&v.naming, cmd) < 0)
		goto out;
	while ((id = options_next(&o)) != OPTIONS_END) {
		if (id == OPTIONS_HELP)
			rc = EXIT_OK;
		if (id == OPTIONS_HELP || id == OPTIONS_USAGE || view_option(&v, &o, id) < 0)
			goto out;
	}
	rc = view_main(&v);
out:
	for (size_t i = 0; i < FLAME_SIDES; i++)
		side_code_end(&v.site.annotate[i]);
	compared_free(&v.both);
	id_filter_free(&v.take);
	naming_end(&v.naming);
	return rc;
}

COMMAND(view) = {
	.name = "view",
	.lasts = true,
	.synopsis = "[options] [FILE | BASELINE NEW]",
	.summary = "The page of seam flame in a browser, computed as it is looked at",
	.details = CMD_PARAGRAPHS(
	        "The page is served to this machine (127.0.0.1 and ::1) until Ctrl-C, at an "
	        "address "
	        "with a secret in it: who does not know the address gets nothing. It is printed, "
	        "and opened with xdg-open where there is a display. Over ssh the command is "
	        "printed "
	        "that forwards the port: it is given on the machine with the browser, which then "
	        "opens the same address. The page is there before the recordings are read, and "
	        "shows how "
	        "far that is, and what was wrong with them.",
	        "What the page of seam flame has in its file is asked for here when it is looked "
	        "at: "
	        "source and instructions of every function, of the chosen span and threads; and a "
	        "span of time in 1,024 parts of its own ('finer', or +), as often as there are "
	        "samples to tell apart. With two recordings the second is shown, compared with the "
	        "first.",
	        "Exit status: 0, also when a signal ended it; 1: it could not be done; 2: usage."),
	.options = view_options,
	.run = view_run,
};
