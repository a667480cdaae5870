// SPDX-License-Identifier: MIT
// report_view.c: the report on a terminal, to be walked through by keys (view/), and the function
// that a person asks for in it, annotated by a run of `seam annotate` beside.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/shown.h"
#include "cli/report/report_options.h"
#include "fleet/quality.h"
#include "view/view.h"

#define ANNOTATED_MAX (16u << 20) /* bytes of one function's text that are shown */
/* More than view_annotate_args fills. */
#define ARGS_MAX 24

/* Whether the report is one that the view can show, and there is a terminal. */
bool report_view_fits(const struct report_cmd *r)
{
	const struct report *s = &r->show;

	return r->form == REPORT_TEXT && !r->stdio && !r->stats && !r->tasks && !r->header &&
	       !s->group && !s->hierarchy && !s->threads && !s->separator && !s->quiet &&
	       !s->n_widths && view_can();
}

/* The command line that annotates a function of the same recording with the same files. Names come
 * from outside: the symbol is an option's argument, and no shell reads it. */
static void view_annotate_args(const struct report_cmd *r, const char *symbol, const char **args)
{
	const char *archive = r->naming.archive.dir[0] ? r->naming.archive.dir : NULL;
	size_t n = 0;

	args[n++] = "seam";
	args[n++] = "annotate";
	args[n++] = "-i";
	args[n++] = r->in.path ? r->in.path : "perf.data";
	n += naming_args(&r->naming, archive, args + n);
	args[n++] = "--symbol";
	args[n++] = symbol;
	args[n] = NULL;
}

/* In the child: its text goes into the pipe, without colours, and no progress over the screen. */
static void view_annotate_child(const char *const *args, int to)
{
	setenv("NO_COLOR", "1", 1);
	if (dup2(to, STDOUT_FILENO) >= 0 && dup2(to, STDERR_FILENO) >= 0)
		execv("/proc/self/exe", (char *const *)args);
	_exit(127);
}

/* Reads all that the child says. -ENOMEM, or how reading failed. */
static int view_annotate_read(int from, struct buf *out)
{
	for (;;) {
		void *at = buf_reserve(out, 65536);
		ssize_t n = at ? read(from, at, 65536) : 0;

		if (!at)
			return -ENOMEM;
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : 0;
		out->n += (size_t)n;
		if (out->n > ANNOTATED_MAX) {
			out->n = ANNOTATED_MAX;
			return buf_put_text(out, "\n(the rest is not shown)\n");
		}
	}
}

/* The text of a function: what `seam annotate` prints of it. What it could not do is in the text,
 * too. */
static int view_annotate(void *ctx, const char *object, const char *symbol, struct buf *out)
{
	const struct report_cmd *r = ctx;
	const char *args[ARGS_MAX];
	int ends[2], rc;
	pid_t child;

	(void)object;
	view_annotate_args(r, symbol, args);
	if (pipe2(ends, O_CLOEXEC) < 0)
		return shown_printf(out, "annotate: %s\n", strerror(errno));
	child = fork();
	if (!child)
		view_annotate_child(args, ends[1]);
	close(ends[1]);
	rc = child < 0 ? -errno : view_annotate_read(ends[0], out);
	close(ends[0]); /* a child that still writes ends by SIGPIPE */
	while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	return rc < 0 && rc != -ENOMEM ? shown_printf(out, "annotate: %s\n", strerror(-rc)) : rc;
}

/* The columns of the table: those that tell rows apart, in the order that was asked for. */
size_t report_view_columns(const struct report *show, enum rollup_column *columns)
{
	size_t n = 0;

	for (size_t i = 0; i < show->fields.n; i++) {
		enum rollup_column c = (enum rollup_column)show->fields.field[i];
		bool is_new = show->fields.field[i] < ROLLUP_COLUMNS;

		for (size_t k = 0; k < n && is_new; k++)
			is_new = columns[k] != c;
		if (is_new)
			columns[n++] = c;
	}
	return n;
}

/* The account is made as text first, and is one of the view's panes. */
int report_view(struct report_cmd *r)
{
	enum rollup_column columns[ROLLUP_COLUMNS];
	struct view_opts opts = { .sz = sizeof(opts),
		                  .profile = r->show.load.profile,
		                  .title = stored_asked(&r->stored) ? r->stored.url
		                           : r->in.path             ? r->in.path
		                                                    : "perf.data",
		                  .columns = columns,
		                  .n_columns = report_view_columns(&r->show, columns),
		                  .by_self = r->show.no_children,
		                  .percent_limit = r->limit_given ? r->show.percent_limit : 0,
		                  /* A store has no code. */
		                  .annotate = stored_asked(&r->stored) ? NULL : view_annotate,
		                  .ctx = r };
	struct buf account = { 0 };
	struct report plain = r->show;
	int rc;

	if (!opts.n_columns || !profile_n_events(r->show.load.profile))
		return -EINVAL;
	plain.color = false;
	report_account(&plain, &account);
	if (stored_asked(&r->stored))
		quality_text(&r->answer.found, &account);
	opts.account = buf_text(&account);
	rc = account.failed ? -ENOMEM : view_terminal(&opts, r->naming.color);
	buf_free(&account);
	return rc;
}
