// SPDX-License-Identifier: MIT
// report_view.c: the report on a terminal, to be walked through by keys (view/), and the function
// that a person asks for in it, annotated by a run of `seam annotate` beside.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/shown.h"
#include "cli/fed_view.h"
#include "cli/report/report_options.h"
#include "cli/self_annotate.h"
#include "fleet/quality.h"

static int view_annotate(void *ctx, const struct view_function *f, int stop, struct buf *out)
{
	struct report_cmd *r = ctx;

	return self_annotate(r->in.path ? r->in.path : "perf.data", &r->naming, &r->filter, f, stop,
	                     out);
}

/* What is shown. */
static const char *view_name(const struct report_cmd *r)
{
	return stored_asked(&r->stored) ? r->stored.url : r->in.path ? r->in.path : "perf.data";
}

/* What the view is to show, but for a profile. columns: room for them. */
static struct view_opts view_options(struct report_cmd *r, enum rollup_column *columns)
{
	bool stored = stored_asked(&r->stored);

	return (struct view_opts){
		.sz = sizeof(struct view_opts),
		.title = view_name(r),
		.columns = columns,
		.n_columns = report_view_columns(&r->show, columns),
		.by_self = r->show.no_children,
		.lines = !stored && report_load_opts(r).load.lines,
		.percent_limit = r->limit_given ? r->show.percent_limit : 0,
		/* A store has no code. */
		.annotate = stored ? NULL : view_annotate,
		.ctx = r,
	};
}

/* What became of the samples. NULL: out of memory. */
static char *view_account(const struct report_cmd *r, const struct report *show)
{
	struct report plain = *show;
	struct buf account = { 0 };
	char *text;

	plain.color = false;
	report_account(&plain, &account);
	if (stored_asked(&r->stored))
		quality_text(&r->answer.found, &account);
	text = account.failed ? NULL : strdup(buf_text(&account));
	buf_free(&account);
	return text;
}

/* ---- while it is read ---- */

/* The thread that reads. */
struct view_reading {
	struct report_cmd *r;
	struct feed *feed;
	struct fed_first first;
	struct seam_error *err;
	int opened; /* exit code */
	int loaded;
	bool shown;
};

/* Gives what is loaded to the view; the profile stays. percent: of the file. -ENOMEM. */
static int view_put(struct view_reading *w, const struct report *show, double percent)
{
	struct view_news news = { .profile = show->load.profile,
		                  .account = view_account(w->r, show) };
	struct buf title = { 0 };

	buf_put_text(&title, view_name(w->r));
	if (percent < 100)
		buf_printf(&title, " (its first %.*f %%)", percent < 1, percent);
	else if (!stored_asked(&w->r->stored) && seam_reader_damaged(w->r->in.reader))
		buf_put_text(&title, " (damaged)");
	news.title = title.failed ? NULL : strdup(buf_text(&title));
	buf_free(&title);
	if (!news.account || !news.title) {
		view_news_free(&news);
		return -ENOMEM;
	}
	feed_put(w->feed, &news);
	return 0;
}

/* Shows the first part of a large file. What cannot be done is left to the reading of the whole. */
static void view_first(struct view_reading *w, const struct profiled_opts *all)
{
	struct profiled_opts opts = *all;
	struct report show = w->r->show;

	opts.load.lines = report_needs(&w->r->show, ROLLUP_NEEDS_LINES);
	if (fed_view_first(&w->r->in, &w->r->naming, &opts, &w->first)) {
		show.rec = w->first.rec;
		show.load = w->first.load;
		view_put(w, &show, w->first.percent);
	}
	fed_view_first_end(&w->r->in, &w->first);
}

/* Opens and reads the recording. False: there is none. */
static bool view_load(struct view_reading *w, struct feed *f)
{
	struct report_cmd *r = w->r;
	struct profiled_opts opts = report_load_opts(r);

	opts.progress = fed_view_progress(f);
	feed_state(f, "reading");
	w->opened = infile_open(&r->in, r->cmd);
	if (w->opened != EXIT_OK)
		return false;
	view_first(w, &opts);
	w->loaded = feed_stopped(f) ? -ECANCELED : report_load(r, &opts, w->err);
	return w->loaded >= 0;
}

/* Reads what is asked for. What cannot be shown leaves the view. */
static int view_read(void *ctx, struct feed *f)
{
	struct view_reading *w = ctx;
	struct report_cmd *r = w->r;

	w->feed = f;
	if (stored_asked(&r->stored)) {
		feed_state(f, "asking the store");
		w->opened = report_load_stored(r);
		if (w->opened != EXIT_OK)
			return FEED_LEAVES;
	} else if (!view_load(w, f)) {
		return FEED_LEAVES;
	}
	if (!profile_n_events(r->show.load.profile))
		return FEED_LEAVES;
	if (view_put(w, &r->show, 100) < 0)
		return -ENOMEM;
	w->shown = true;
	feed_state(f, "");
	return FEED_STAYS;
}

/* The exit code when the user has left. */
static int view_left(struct view_reading *w, int rc)
{
	struct report_cmd *r = w->r;

	if (w->opened != EXIT_OK)
		return w->opened;
	/* Whoever leaves early does not ask whether the rest is damaged. */
	if (w->loaded == -ECANCELED)
		return EXIT_OK;
	if (rc < 0 && rc != -ENOTTY) {
		cmd_error(r->cmd, "%s", strerror(-rc));
		return EXIT_FAILED;
	}
	if (rc < 0 || !w->shown)
		return REPORT_PRINTS;
	return stored_asked(&r->stored) ? EXIT_OK : infile_verdict(&r->in, r->cmd, r->show.rec);
}

/* A thread reads, this one has the screen. */
int report_view_read(struct report_cmd *r, int *loaded, struct seam_error *err)
{
	struct view_reading w = { .r = r, .err = err };
	enum rollup_column columns[ROLLUP_COLUMNS];
	struct view_opts opts = view_options(r, columns);
	int rc = fed_view(&opts, r->naming.color, view_read, &w);

	rc = view_left(&w, rc);
	load_free(&w.first.load);
	*loaded = w.loaded;
	return rc;
}
