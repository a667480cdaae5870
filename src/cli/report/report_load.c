// SPDX-License-Identifier: MIT
// report_load.c: the recording as what a report is made of: which frames and values it needs, and
// which rows the options choose.
#include <errno.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/report/report_options.h"
#include "profile/nameless.h"
#include "profile/object_name.h"
#include "view/view.h"

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

/* Whether the report is one that the view can show, and there is a terminal. Rows that are chosen
 * by options, and parents, are known of a whole profile only, not of what the view filters. */
bool report_view_fits(const struct report_cmd *r)
{
	const struct report *s = &r->show;
	enum rollup_column columns[ROLLUP_COLUMNS];

	return r->form == REPORT_TEXT && !r->stdio && !r->stats && !r->tasks && !r->header &&
	       !s->group && !s->hierarchy && !s->threads && !s->separator && !s->quiet &&
	       !s->n_widths && !r->dsos && !s->symbols && !s->symbol_filter &&
	       !(s->fields.columns & 1u << ROLLUP_PARENT) && report_view_columns(s, columns) &&
	       view_can();
}

/* A name may have commas in it, so the whole list is tried as one name, too. */
static bool report_named(const char *list, const char *text)
{
	return !strcmp(list, text) || id_filter_in_list(list, text);
}

/* Whether a frame's row is wanted: by its object, by name or path, and its function. */
static bool report_shows(const struct report_cmd *r, const struct profile_frame *f)
{
	const struct profile *p = r->show.load.profile;
	const char *path = profile_text(p, profile_object_at(p, f->object)->path);
	const char *dso = *path ? object_name(path) : SYMBOL_UNKNOWN, *name;

	if (r->dsos && !report_named(r->dsos, dso) && !report_named(r->dsos, path))
		return false;
	name = f->symbol ? profile_text(p, f->symbol) : SYMBOL_UNKNOWN;
	if (r->show.symbol_filter && !strstr(name, r->show.symbol_filter))
		return false;
	if (!r->show.symbols)
		return true;
	return report_named(r->show.symbols, name) ||
	       (nameless_is(name, NULL) && report_named(r->show.symbols, SYMBOL_UNKNOWN));
}

/* Compares each distinct frame with --dsos, --symbols and --symbol-filter, once. */
int report_mark_shown(struct report_cmd *r)
{
	const struct profile *p = r->show.load.profile;
	size_t n = profile_n_frames(p);

	if (!r->dsos && !r->show.symbols && !r->show.symbol_filter)
		return 0;
	r->show.shown = calloc(n + 1, sizeof(*r->show.shown));
	if (!r->show.shown)
		return -ENOMEM;
	for (uint32_t i = 1; i <= n; i++)
		r->show.shown[i] = report_shows(r, profile_frame_at(p, i));
	return 0;
}

/* perf's default: system calls and page faults. */
#define PARENT_DEFAULT "^sys_|^do_page_fault|^__(x64|ia32|arm64|se)_sys_|^(asm_)?exc_page_fault"

/* Marks the names that the sort key parent looks for, each distinct text once. -EINVAL after saying
 * what is wrong; -ENOMEM. */
int report_mark_parents(struct report_cmd *r)
{
	const struct profile *p = r->show.load.profile;
	size_t n = profile_n_strings(p);
	regex_t regex;

	if (!(r->show.fields.columns & 1u << ROLLUP_PARENT))
		return 0;
	if (regcomp(&regex, r->parent ? r->parent : PARENT_DEFAULT, REG_EXTENDED | REG_NOSUB)) {
		cmd_error(r->cmd, "-p: '%s' is not a regular expression", r->parent);
		return -EINVAL;
	}
	r->show.parents = calloc(n + 1, sizeof(*r->show.parents));
	for (uint32_t i = 1; r->show.parents && i <= n; i++)
		r->show.parents[i] = !regexec(&regex, profile_text(p, i), 0, NULL, 0);
	regfree(&regex);
	return r->show.parents ? 0 : -ENOMEM;
}

/* Which frames of stacks are shown: of a table of functions alone, without what they call, those
 * that samples hit. */
static enum load_frames report_frames(const struct report_cmd *r)
{
	const struct report *show = &r->show;
	const struct report_fields *f = &show->fields;
	bool others = !show->no_children || show->max_stack || r->dsos || show->symbols ||
	              show->symbol_filter || f->columns & 1u << ROLLUP_PARENT;

	if (r->form != REPORT_TEXT)
		return LOAD_FRAMES_ALL;
	if (r->stats)
		return LOAD_FRAMES_NONE;
	for (size_t i = 0; i < f->n; i++)
		others |= f->field[i] == REPORT_TOTAL;
	return others || report_has_tree(show) ? LOAD_FRAMES_ALL : LOAD_FRAMES_INNERMOST;
}

/* How the recording is to be loaded: with what the columns need. */
struct profiled_opts report_load_opts(struct report_cmd *r)
{
	bool calls =
	        report_needs(&r->show, ROLLUP_NEEDS_CALLS) || r->show.graph != REPORT_GRAPH_NONE;
	bool asked = r->slice_asked || report_keeps(&r->show) & PROFILE_KEEP_SLICE;

	return (struct profiled_opts){
		.cmd = r->cmd,
		.filter = &r->filter,
		.names = !r->stats,
		.load = { .frames = report_frames(r),
		          .keep = report_keeps(&r->show) | (report_view_fits(r) ? VIEW_KEEPS : 0),
		          .max_stack = r->show.max_stack,
		          .slice_ns = r->slice_ns,
		          .rows_most = report_view_fits(r) && !asked ? REPORT_VIEW_ROWS : 0,
		          .by = r->stored.by,
		          .functions = !report_view_fits(r),
		          .lines = report_needs(&r->show, ROLLUP_NEEDS_LINES) ||
		                   (calls && !r->naming.no_inline && !r->stats),
		          .no_inline = r->naming.no_inline },
	};
}

/* Makes a profile of the recording, and marks the frames that filters pick. */
int report_load(struct report_cmd *r, const struct profiled_opts *opts, struct seam_error *err)
{
	int rc = profiled_load(&r->in, &r->naming, opts, &r->show.rec, &r->show.load, err);

	if (rc >= 0)
		rc = report_mark_shown(r);
	return rc < 0 ? rc : report_mark_parents(r);
}

/* Whether nothing that is shown of a store depends on whole stacks: sums will do. */
static bool report_is_flat(const struct report_cmd *r)
{
	const struct report *show = &r->show;

	if (r->form == REPORT_TEXT && (r->stats || report_has_tree(show) || report_view_fits(r)))
		return false;
	return !show->group && !show->hierarchy && !show->threads && !show->max_stack && !r->dsos &&
	       !show->symbols && !show->symbol_filter && !sample_filter_any(&r->filter) &&
	       !(show->fields.columns & 1u << ROLLUP_PARENT);
}

/* The same of a store. */
int report_load_stored(struct report_cmd *r)
{
	int rc;

	if (report_is_flat(r)) {
		r->flat.columns = r->show.fields.columns;
		r->flat.says = flat_python_says;
		r->stored.query.flat = &r->flat;
	}
	rc = stored_load(&r->stored, r->cmd, report_keeps(&r->show), &r->answer);

	if (rc == EXIT_OK)
		rc = sample_filter_answer(&r->filter, r->cmd, &r->answer);
	if (rc != EXIT_OK)
		return rc;
	/* The report takes over what the answer loaded. */
	r->show.load = r->answer.load;
	r->answer.load = (struct load){ 0 };
	rc = report_mark_shown(r);
	if (rc >= 0)
		rc = report_mark_parents(r);
	if (rc == -ENOMEM)
		cmd_error(r->cmd, "out of memory");
	return rc == -EINVAL ? EXIT_USAGE : rc < 0 ? EXIT_FAILED : EXIT_OK;
}
