// SPDX-License-Identifier: MIT
/*
 * flame_svg.c: a flame graph as a picture: for a README, a wiki, a mail. One event, no script; the
 * whole name and the figures of a cell are its tooltip. Cells that are too small a share of the
 * whole are left out, and how many is said.
 */
#include "export/flame.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/shown.h"
#include "export/flame_graph.h"
#include "profile/nameless.h"
#include "export/runtime.h"

/* In pixels: the picture's width, a row's height, and where the first row begins. */
#define SVG_WIDTH 1200.0
#define SVG_ROW 17.0
#define SVG_TOP 44.0
#define SVG_CHAR 7.0 /* a character's width at most, in the font that is asked for */
/* Deeper cells are left out: a picture of 35,000 pixels in height is of no use. */
#define SVG_DEPTH 2048u

struct svg {
	const struct flame_graph *g;
	const struct flame_opts *opts;
	struct export_out *out;
	size_t sides;
	double *totals[FLAME_SIDES];
	uint32_t *first, *next; /* children of a node, by name */
	uint32_t depth, deepest;
	uint64_t left_out;
	double least;
	enum profile_unit unit; /* of the event */
	struct buf cut;         /* what fits of a name */
};

/* A cell to be drawn: x is its left edge. */
struct svg_cell {
	uint32_t node, depth;
	double x;
};

/* Appends a text as XML's. Names are what shown_put wrote, which is UTF-8 without controls; two
 * characters of that are none of XML's. */
static void svg_text(struct buf *to, const char *text)
{
	static const struct {
		const char *is, *written;
	} special[] = { { "&", "&amp;" },
		        { "<", "&lt;" },
		        { ">", "&gt;" },
		        { "\"", "&quot;" },
		        { "\xef\xbf\xbe", "\\ufffe" },
		        { "\xef\xbf\xbf", "\\uffff" } };

	while (*text) {
		size_t n = strcspn(text, "&<>\"\xef"), i = 0;

		buf_put(to, text, n);
		text += n;
		while (i < sizeof(special) / sizeof(special[0]) &&
		       strncmp(text, special[i].is, strlen(special[i].is)))
			i++;
		if (i < sizeof(special) / sizeof(special[0])) {
			buf_put_text(to, special[i].written);
			text += strlen(special[i].is);
		} else if (*text) {
			buf_put(to, text++, 1);
		}
	}
}

/* The number of the event that was asked for; the first, if it is not there. */
static uint32_t svg_event(const struct flame_graph *g, const struct flame_opts *opts)
{
	for (uint32_t i = 0; opts->event && i + 1 < g->events.n; i++)
		if (!strcmp(flame_event(g, i), opts->event))
			return i;
	return 0;
}

/* Sums the event's weight per node, and then each node's into its parent's: a parent's number is
 * less than its child's. -ENOMEM. */
static int svg_sum(struct svg *s)
{
	uint32_t event = svg_event(s->g, s->opts);

	if (s->g->events.n > 1)
		s->unit = flame_event_unit(s->g, event);
	for (size_t i = 0; i < s->sides; i++) {
		s->totals[i] = calloc(flame_nodes(s->g), sizeof(double));
		if (!s->totals[i])
			return -ENOMEM;
	}
	for (uint32_t i = 0; i < s->g->n_keys; i++) {
		struct flame_key k = flame_key(s->g, i);

		if ((k.what & 0xffff) == event)
			s->totals[k.what >> 24][k.node] += (double)s->g->values[i].weight;
	}
	/* From the last node to the first. */
	for (size_t side = 0; side < s->sides; side++)
		for (size_t i = flame_nodes(s->g); --i;)
			s->totals[side][flame_node(s->g, i).parent] += s->totals[side][i];
	return 0;
}

static const char *svg_name(const struct svg *s, uint32_t node)
{
	return flame_text(s->g, flame_function(s->g, flame_node(s->g, node).function).name);
}

struct svg_named {
	const char *name;
	uint32_t node;
};

static int svg_compare(const void *a, const void *b)
{
	const struct svg_named *x = a, *y = b;
	int r = strcmp(x->name, y->name);

	return r ? r : (x->node > y->node) - (x->node < y->node);
}

/* All nodes by name, then each put in front of its parent's list, from the last to the first. */
static int svg_children(struct svg *s)
{
	size_t n = flame_nodes(s->g);
	struct svg_named *all = calloc(n, sizeof(*all));

	s->first = calloc(n, sizeof(*s->first));
	s->next = calloc(n, sizeof(*s->next));
	if (!all || !s->first || !s->next) {
		free(all);
		return -ENOMEM;
	}
	for (uint32_t i = 1; i < n; i++)
		all[i] = (struct svg_named){ svg_name(s, i), i };
	qsort(all + 1, n - 1, sizeof(*all), svg_compare);
	for (size_t i = n; --i;) {
		uint32_t node = all[i].node, parent = flame_node(s->g, node).parent;

		s->next[node] = s->first[parent];
		s->first[parent] = node;
	}
	free(all);
	return 0;
}

/* ---- cells ---- */

/* A node's share of its side's whole. */
static double svg_share(const struct svg *s, size_t side, uint32_t node)
{
	return side < s->sides && s->totals[side][0] > 0
	               ? s->totals[side][node] / s->totals[side][0]
	               : 0;
}

/* The colour of a cell: by the kind of code, with shades by name; or, with two sides, by how much
 * the share grew or shrank. */
static void svg_colour(const struct svg *s, uint32_t node, char *to, size_t n)
{
	static const int hues[FLAME_UNFINISHED + 1][2] = {
		{ 0, 0 }, { 204, 70 }, { 38, 88 }, { 168, 45 }, { 0, 0 }
	};
	struct flame_function f = flame_function(s->g, flame_node(s->g, node).function);
	const struct runtime *runtime =
	        f.kind >= FLAME_RUNTIME ? runtime_at(f.kind - FLAME_RUNTIME) : NULL;
	uint32_t kind = f.kind <= FLAME_UNFINISHED ? f.kind : 0;
	int hue = runtime ? (int)runtime->hue : hues[kind][0];
	int saturation = runtime ? (int)runtime->saturation : hues[kind][1];
	/* In percent of the whole. Ten of them give the full colour. */
	double change = 100 * (svg_share(s, 0, node) - svg_share(s, 1, node));
	double strength = fmin(1, sqrt(fabs(change) / 10));

	/* Eight shades tell neighbours apart. */
	if (s->sides < 2)
		snprintf(to, n, "hsl(%d,%d%%,%d%%)", hue, saturation,
		         66 + (int)(map_hash_bytes(&f.name, sizeof(f.name), 0) & 7));
	else if (fabs(change) < 0.005)
		snprintf(to, n, "hsl(0,0%%,84%%)");
	else
		snprintf(to, n, "hsl(%d,%d%%,%d%%)", change > 0 ? 24 : 212,
		         20 + (int)(70 * strength), 84 - (int)(16 * strength));
}

/* Draws one cell: the rectangle, its tooltip, and as much of the name as fits. */
static void svg_cell(struct svg *s, const struct svg_cell *c)
{
	double width = SVG_WIDTH * svg_share(s, 0, c->node);
	uint32_t row = s->opts->icicle ? c->depth : s->deepest - c->depth;
	const char *name = svg_name(s, c->node);
	struct flame_function f = flame_function(s->g, flame_node(s->g, c->node).function);
	size_t room = width > 3 * SVG_CHAR ? (size_t)((width - 6) / SVG_CHAR) : 0;
	struct buf *to = &s->out->buf;
	char colour[40];

	svg_colour(s, c->node, colour, sizeof(colour));
	buf_printf(to, "<g><title>");
	svg_text(to, name);
	if (f.object && *flame_text(s->g, f.object)) {
		buf_put_text(to, " (");
		svg_text(to, flame_text(s->g, f.object));
		buf_put_text(to, ")");
	}
	buf_printf(to, ", %.2f%%, ", 100 * svg_share(s, 0, c->node));
	export_amount(s->unit, s->totals[0][c->node], to);
	if (s->sides > 1)
		buf_printf(to, ", before %.2f%%", 100 * svg_share(s, 1, c->node));
	buf_printf(to,
	           "</title><rect x=\"%.2f\" y=\"%.0f\" width=\"%.2f\" height=\"%.0f\" "
	           "fill=\"%s\"%s/>",
	           c->x, SVG_TOP + row * SVG_ROW, fmax(width - 0.5, 0.2), SVG_ROW - 1, colour,
	           f.kind == FLAME_UNFINISHED ? " stroke=\"#444\" stroke-dasharray=\"3 2\"" : "");
	if (room) {
		buf_printf(to, "<text x=\"%.2f\" y=\"%.0f\">", c->x + 3,
		           SVG_TOP + row * SVG_ROW + 12);
		buf_clear(&s->cut);
		shown_cut(&s->cut, name, room, nameless_end(name));
		svg_text(to, buf_text(&s->cut));
		buf_put_text(to, "</text>");
	}
	buf_put_text(to, "</g>\n");
}

/* Each cell that is shown, from the root on; draw says whether it is drawn or only measured. */
static int svg_walk(struct svg *s, bool draw)
{
	struct svg_cell *stack = malloc((flame_nodes(s->g) + 1) * sizeof(*stack));
	size_t n = 0;
	int r = stack ? 0 : -ENOMEM;

	if (stack)
		stack[n++] = (struct svg_cell){ 0 };
	s->left_out = 0;
	while (n && r >= 0) {
		struct svg_cell c = stack[--n];
		double x = c.x;

		if (c.depth > s->deepest)
			s->deepest = c.depth;
		/* x is that of the next child: each takes its share of the width, shown or not. */
		if (draw) {
			svg_cell(s, &c);
			r = export_step(s->out);
		}
		for (uint32_t i = s->first[c.node]; i; i = s->next[i]) {
			double share = svg_share(s, 0, i);

			if (share >= s->least && c.depth < SVG_DEPTH)
				stack[n++] = (struct svg_cell){ i, c.depth + 1, x };
			else
				/* All that stands on a cell that is too small is left out with
				 * it. */
				s->left_out += share > 0;
			x += SVG_WIDTH * share;
		}
	}
	free(stack);
	return r;
}

/* Measures first, then draws, because the height of the picture stands in its head. */
static int svg_write(struct svg *s)
{
	struct buf *to = &s->out->buf;
	int r = svg_walk(s, false);
	double height = SVG_TOP + (s->deepest + 1) * SVG_ROW + 8;

	buf_printf(to,
	           "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	           "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
	           "viewBox=\"0 0 %.0f %.0f\">\n"
	           "<style>text{font:11px ui-monospace,Menlo,Consolas,monospace;fill:#000}"
	           "text.t{font:bold 14px system-ui,sans-serif}</style>\n"
	           "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
	           "<text class=\"t\" x=\"6\" y=\"20\">",
	           SVG_WIDTH, height, SVG_WIDTH, height);
	buf_clear(&s->cut);
	shown_put_text(&s->cut, s->opts->title ? s->opts->title : "");
	svg_text(to, buf_text(&s->cut));
	buf_printf(
	        to,
	        "</text>\n<text x=\"6\" y=\"37\">%llu cells below %.3g %% are not shown</text>\n",
	        (unsigned long long)s->left_out, 100 * s->least);
	if (r >= 0)
		r = svg_walk(s, true);
	buf_put_text(to, "</svg>\n");
	return r < 0 ? r : export_flush(s->out);
}

/* Writes the picture of one event. Cells below opts->least of the whole (0: 0.05 %) are left out,
 * and how many is said in the picture. */
int flame_svg(const struct flame_side *sides, size_t n, const struct flame_opts *opts,
              struct export_out *out)
{
	struct flame_graph g;
	struct svg s = { .g = &g, .opts = opts, .out = out, .sides = n };
	int r = flame_graph_build(&g, sides, n);

	s.least = opts->least > 0 ? opts->least : 0.0005;
	if (r >= 0)
		r = svg_sum(&s);
	if (r >= 0)
		r = svg_children(&s);
	if (r >= 0)
		r = svg_write(&s);
	for (size_t i = 0; i < FLAME_SIDES; i++)
		free(s.totals[i]);
	r = r >= 0 && s.cut.failed ? -ENOMEM : r;
	buf_free(&s.cut);
	free(s.first);
	free(s.next);
	flame_graph_free(&g);
	return r;
}
