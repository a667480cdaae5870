// SPDX-License-Identifier: MIT
// report_tree.c: the call tree below a report's table. Knows lines and depths; the tree itself is
// profile/tree.h's.
#include <string.h>

#include "base/shown.h"
#include "profile/elided.h"
#include "profile/nameless.h"
#include "profile/object_name.h"
#include "report/report.h"

static const char *tree_object(const struct profile *p, uint32_t object)
{
	const char *path = profile_text(p, profile_object_at(p, object)->path);

	return *path ? object_name(path) : SYMBOL_UNKNOWN;
}

#define NAMES_AT 19        /* columns in front of a name that is not indented */
#define NAMES_AT_CALLEE 10 /* the same without self */
#define NAME_LEAST 8       /* columns that a name may always take */

/* What a walk of the tree needs to write a line. */
struct tree_view {
	const struct report *report;
	const struct tree *tree;
	bool callee;    /* who called comes below */
	uint64_t whole; /* of which percentages are: the event's weight, in the tree or not */
};

/* How far a name is indented: on a terminal so far that it keeps half of what there is. */
static size_t tree_indent(const struct tree_view *v, size_t names_at, size_t depth)
{
	size_t columns = v->report->columns, room = columns > names_at ? columns - names_at : 0;

	return columns && depth * 2 > room / 2 ? room / 2 : depth * 2;
}

/* A function, and the object that it is in (NULL: none), so that they fit the terminal behind so
 * many columns. */
static void tree_name(const struct report *r, const char *name, const char *in, size_t taken,
                      struct buf *out)
{
	size_t room = r->columns > taken + NAME_LEAST ? r->columns - taken : NAME_LEAST;
	struct buf text = { 0 }, object = { 0 };

	shown_put_text(&text, name);
	shown_put_text(&object, in ? in : "");
	elided_fit_in(out, buf_text(&text), in ? buf_text(&object) : NULL,
	              r->columns ? room : SIZE_MAX / 2, nameless_end(name));
	out->failed |= text.failed | object.failed;
	buf_free(&text);
	buf_free(&object);
}

/* One node: its shares, its name, and the object it is of. By callee it has no self: samples end
 * where the stack begins, whose function did not take them. */
static void tree_line(const struct tree_view *v, uint32_t node, int depth, struct buf *out)
{
	const struct report *r = v->report;
	const struct tree *t = v->tree;
	const struct tree_node *n = &t->nodes[node];
	const char *name = n->symbol ? profile_text(t->profile, n->symbol) : SYMBOL_UNKNOWN;
	const size_t names_at = v->callee ? NAMES_AT_CALLEE : NAMES_AT;
	const size_t indent = tree_indent(v, names_at, (size_t)depth);

	report_share(r, report_percent(n->total, v->whole), out);
	if (!v->callee) {
		buf_put_text(out, " ");
		report_share(r, report_percent(n->self, v->whole), out);
	}
	buf_printf(out, "  %*s", (int)indent, "");
	tree_name(r, name,
	          n->kind == PROFILE_MISSING   ? NULL
	          : n->kind == PROFILE_INLINED ? "inlined"
	                                       : tree_object(t->profile, n->object),
	          names_at + indent, out);
	buf_put_text(out, "\n");
}

/* The first of node and its siblings that is large enough to be shown; 0: none. */
static uint32_t tree_next(const struct tree_view *v, uint32_t node)
{
	const struct tree_node *nodes = v->tree->nodes;

	while (node && (!nodes[node].total ||
	                report_percent(nodes[node].total, v->whole) < v->report->percent_limit))
		node = nodes[node].next_sibling;
	return node;
}

/* A frame that calls one function only does not indent it: deep stacks stay on the screen. */
static int tree_step(const struct tree *t, uint32_t parent)
{
	uint32_t child = t->nodes[parent].first_child;

	return parent && child && t->nodes[child].next_sibling ? 1 : 0;
}

/* Walks depth first and without recursion, because stacks can be as deep as a file says. */
static void tree_walk(const struct tree_view *v, struct buf *out)
{
	const struct tree *t = v->tree;
	uint32_t at = tree_next(v, t->nodes[0].first_child);
	int depth = 0;

	while (at) {
		uint32_t next;

		tree_line(v, at, depth, out);
		next = tree_next(v, t->nodes[at].first_child);
		if (next) {
			depth += tree_step(t, at);
			at = next;
			continue;
		}
		while (at && !(next = tree_next(v, t->nodes[at].next_sibling))) {
			at = t->nodes[at].parent;
			depth -= tree_step(t, at);
		}
		at = at ? next : 0;
	}
}

/* What is less than this is surely not shown (tree_next): something below the limit. */
static uint64_t tree_least(const struct report *r, uint64_t whole)
{
	double least = (double)whole * r->percent_limit / 100 * (1 - 1e-9);

	return least < 1 ? 0 : least >= 1e18 ? (uint64_t)1e18 : (uint64_t)least;
}

/* What stands above the lines, as far as the terminal is wide. */
static void tree_heading(const struct report *r, bool callee, struct buf *out)
{
	const char *text = callee ? "   Total  Callees, and below each who called it"
	                          : "   Total     Self  Callers, and below each what it called";

	buf_put_text(out, "\n");
	shown_cut(out, text, r->columns ? r->columns : strlen(text), 0);
	buf_put_text(out, "\n");
}

/* Percentages are of all that the event counted, also where a filter leaves a part out. -ENOMEM. */
int report_tree(const struct report *r, uint32_t event, struct buf *out)
{
	bool callee = r->graph == REPORT_GRAPH_CALLEE;
	struct tree_opts opts = { .order = callee ? TREE_CALLEE : TREE_CALLER,
		                  .event = event,
		                  .focus = r->symbols || r->symbol_filter ? r->shown : NULL };
	struct tree_view v = { .report = r, .callee = callee };
	struct profile_account account;
	struct tree t;
	int rc;

	profile_account(r->load.profile, event, &account);
	opts.least = tree_least(r, account.weight);
	rc = tree_build(&t, r->load.profile, &opts);
	if (rc < 0)
		return rc;
	v.tree = &t;
	v.whole = account.weight;
	if (!r->quiet)
		tree_heading(r, callee, out);
	tree_walk(&v, out);
	if (t.nodes[0].self) {
		report_share(r, report_percent(t.nodes[0].self, v.whole), out);
		buf_put_text(out,
		             callee ? "  (no stack at all)\n" : "           (no stack at all)\n");
	}
	tree_free(&t);
	return 0;
}
