// SPDX-License-Identifier: MIT
// report_text.c: a report for people: per event a table and a call tree, and the account below.
#include <string.h>

#include "cli/report.h"

#define RED "\033[31m"
#define GREEN "\033[32m"
#define PLAIN "\033[0m"
#define HOT 5.0 /* percent: where perf's colours begin, too */
#define WARM 0.5

static void text_percent(const struct report *r, double percent, struct buf *out)
{
	const char *color = !r->color ? "" : percent >= HOT ? RED : percent >= WARM ? GREEN : "";

	buf_printf(out, "%s%7.2f%%%s", color, percent, *color ? PLAIN : "");
}

static const char *text_mark(const struct rollup_row *row)
{
	return row->kind == PROFILE_KERNEL ? "[k] " : "[.] ";
}

struct text_table {
	const struct report *report;
	const struct rollup *table;
	int width[ROLLUP_COLUMNS];
};

static bool text_has(const struct rollup *t, unsigned column)
{
	return t->columns & 1u << column;
}

static bool text_visible(const struct report *r, const struct rollup *t,
                         const struct rollup_row *row)
{
	uint64_t by = r->no_children ? row->self : row->total;

	/* What was only ever called has no self: without children it would be a row of zeros. */
	if (!by)
		return false;
	return report_percent(by, t->weight) >= r->percent_limit && report_shows(r, t, row);
}

static void text_widths(struct text_table *tt)
{
	const struct rollup *t = tt->table;
	char buf[16];

	for (unsigned c = 0; c < ROLLUP_COLUMNS; c++)
		tt->width[c] = (int)strlen(report_heading(c));
	for (size_t i = 0; i < t->n; i++)
		for (unsigned c = 0; c < ROLLUP_COLUMNS; c++) {
			int n;

			if (!text_has(t, c) || !text_visible(tt->report, t, &t->rows[i]))
				continue;
			n = (int)strlen(rollup_text(t, &t->rows[i], c, buf, sizeof(buf)));
			if (n > tt->width[c])
				tt->width[c] = n;
		}
}

static void text_heading(const struct text_table *tt, struct buf *out)
{
	const struct report *r = tt->report;

	buf_put_text(out, r->no_children ? "    Self" : "Children     Self");
	if (r->samples_column)
		buf_printf(out, "  %10s", "Samples");
	for (unsigned c = 0; c < ROLLUP_COLUMNS; c++)
		if (text_has(tt->table, c) && c != ROLLUP_SYMBOL)
			buf_printf(out, "  %-*s", tt->width[c], report_heading(c));
	if (text_has(tt->table, ROLLUP_SYMBOL))
		buf_put_text(out, "  Symbol");
	buf_put_text(out, "\n");
}

static void text_row(const struct text_table *tt, const struct rollup_row *row, struct buf *out)
{
	const struct report *r = tt->report;
	const struct rollup *t = tt->table;
	char text[32];

	if (!r->no_children) {
		text_percent(r, report_percent(row->total, t->weight), out);
		buf_put_text(out, " ");
	}
	text_percent(r, report_percent(row->self, t->weight), out);
	if (r->samples_column)
		buf_printf(out, "  %10llu",
		           (unsigned long long)(r->no_children ? row->self_samples
		                                               : row->total_samples));
	for (unsigned c = 0; c < ROLLUP_COLUMNS; c++) {
		const char *value;

		if (!text_has(t, c))
			continue;
		value = rollup_text(t, row, c, text, sizeof(text));
		if (c == ROLLUP_SYMBOL)
			buf_printf(out, "  %s%s", text_mark(row), value);
		else
			buf_printf(out, "  %-*s", tt->width[c], value);
	}
	while (out->n && out->bytes[out->n - 1] == ' ')
		out->n--;
	buf_put_text(out, "\n");
}

static int text_print_table(const struct report *r, uint32_t event, struct buf *out)
{
	const struct rollup_opts opts = { .columns = r->columns, .event = event };
	struct text_table tt = { .report = r };
	struct rollup t;
	uint64_t hidden = 0, hidden_self = 0;
	int rc = rollup_build(&t, r->load.profile, &opts);

	if (rc < 0)
		return rc;
	rollup_sort(&t, !r->no_children);
	tt.table = &t;
	text_widths(&tt);
	text_heading(&tt, out);
	for (size_t i = 0; i < t.n; i++) {
		if (text_visible(r, &t, &t.rows[i])) {
			text_row(&tt, &t.rows[i], out);
		} else if (report_shows(r, &t, &t.rows[i])) {
			hidden += (r->no_children ? t.rows[i].self : t.rows[i].total) != 0;
			hidden_self += t.rows[i].self;
		}
	}
	if (hidden)
		buf_printf(out, "(%llu more rows below %g %%, %.2f %% in all by self)\n",
		           (unsigned long long)hidden, r->percent_limit,
		           report_percent(hidden_self, t.weight));
	rollup_free(&t);
	return 0;
}

/* ---- the tree ---- */

static const char *text_object(const struct profile *p, uint32_t object)
{
	const char *path = profile_text(p, profile_object_at(p, object)->path);
	const char *slash = path[0] == '/' ? strrchr(path, '/') : NULL;

	return !*path ? SYMBOL_UNKNOWN : slash ? slash + 1 : path;
}

static void text_node(const struct report *r, const struct tree *t, uint32_t node, int depth,
                      struct buf *out)
{
	const struct tree_node *n = &t->nodes[node];
	uint64_t whole = t->nodes[0].total;

	text_percent(r, report_percent(n->total, whole), out);
	buf_put_text(out, " ");
	text_percent(r, report_percent(n->self, whole), out);
	buf_printf(out, "  %*s%s (%s)\n", depth * 2, "",
	           n->symbol ? profile_text(t->profile, n->symbol) : SYMBOL_UNKNOWN,
	           text_object(t->profile, n->object));
}

static bool text_branch(const struct report *r, const struct tree *t, uint32_t node)
{
	double percent = report_percent(t->nodes[node].total, t->nodes[0].total);

	return node && t->nodes[node].total && percent >= r->percent_limit;
}

static uint32_t text_next(const struct report *r, const struct tree *t, uint32_t node)
{
	while (node && !text_branch(r, t, node))
		node = t->nodes[node].next_sibling;
	return node;
}

/* A frame that calls one function only does not indent it: deep stacks stay on the screen. */
static int text_step(const struct tree *t, uint32_t parent)
{
	uint32_t child = t->nodes[parent].first_child;

	return parent && child && t->nodes[child].next_sibling ? 1 : 0;
}

/* Depth first without recursion: stacks can be as deep as a file says. */
static void text_walk(const struct report *r, const struct tree *t, struct buf *out)
{
	uint32_t at = text_next(r, t, t->nodes[0].first_child);
	int depth = 0;

	while (at) {
		uint32_t next;

		text_node(r, t, at, depth, out);
		next = text_next(r, t, t->nodes[at].first_child);
		if (next) {
			depth += text_step(t, at);
			at = next;
			continue;
		}
		while (at && !(next = text_next(r, t, t->nodes[at].next_sibling))) {
			at = t->nodes[at].parent;
			depth -= text_step(t, at);
		}
		at = at ? next : 0;
	}
}

static int text_print_tree(const struct report *r, uint32_t event, struct buf *out)
{
	bool callee = r->graph == REPORT_GRAPH_CALLEE;
	struct tree t;
	int rc = tree_build(&t, r->load.profile, callee ? TREE_CALLEE : TREE_CALLER, event);

	if (rc < 0)
		return rc;
	buf_printf(out, "\n   Total     Self  %s\n",
	           callee ? "Callees, and below each who called it"
	                  : "Callers, and below each what it called");
	text_walk(r, &t, out);
	if (t.nodes[0].self) {
		text_percent(r, report_percent(t.nodes[0].self, t.nodes[0].total), out);
		buf_put_text(out, "           (no stack at all)\n");
	}
	tree_free(&t);
	return 0;
}

static int text_print_event(const struct report *r, uint32_t event, struct buf *out)
{
	struct profile_account account;
	char number[32];
	int rc;

	profile_account(r->load.profile, event, &account);
	if (!account.samples)
		return 0;
	if (event)
		buf_printf(out, "%s: %s samples", profile_event_name(r->load.profile, event),
		           report_number(account.samples, number, sizeof(number)));
	else
		buf_printf(out, "all events: %s samples",
		           report_number(account.samples, number, sizeof(number)));
	buf_printf(out, ", count %s\n\n", report_number(account.weight, number, sizeof(number)));
	rc = text_print_table(r, event, out);
	if (rc >= 0 && r->graph != REPORT_GRAPH_NONE)
		rc = text_print_tree(r, event, out);
	buf_put_text(out, "\n");
	return rc;
}

int report_text(const struct report *r, struct buf *out)
{
	int rc = r->threads ? report_threads(r, out) : 0;

	if (rc < 0)
		return rc;
	if (r->columns & 1u << ROLLUP_EVENT)
		rc = text_print_event(r, 0, out);
	else
		for (uint32_t e = 1; e <= profile_n_events(r->load.profile) && rc >= 0; e++)
			rc = text_print_event(r, e, out);
	if (rc >= 0)
		report_account(r, out);
	return rc;
}
