// SPDX-License-Identifier: MIT
// view_draw.c: the whole screen. Drawing changes nothing but the scroll position.
#include <stdio.h>
#include <string.h>

#include "base/shown.h"
#include "view/view_made.h"

/* Less has no room for a list. */
#define ROWS_LEAST 5
#define COLUMNS_LEAST 20
#define TITLE_LEAST 8 /* columns of what the recording is called */
#define ABOVE 3       /* rows: the bar, the sections, the heading */
#define BELOW 1       /* keys */
/* Before anything is typed. */
#define WRITE_HINT "  (.folded .pb.gz .callgrind .json: samples, for other tools)"
#define SORT_HINT "  (Enter: which there are)"

/* A whole row in one style. */
static void view_bar(const struct view_screen *s, unsigned row, const char *text)
{
	struct buf line = { 0 };
	size_t n;

	shown_cut(&line, text, s->columns, 0);
	n = shown_columns(buf_text(&line), line.n);
	buf_printf(&line, "%*s", n < s->columns ? (int)(s->columns - n) : 0, "");
	s->put(s->ctx, row, 0, VIEW_BAR, buf_text(&line));
	buf_free(&line);
}

/* The end of the first line: whether what is shown moves, or is held. How many columns it takes. */
static unsigned view_state_text(struct view *v, const struct view_screen *s, struct buf *to)
{
	unsigned n;

	if (v->made && v->made->step)
		buf_printf(to, " [%zu lines, Esc: no more] ", v->top->n);
	else if (v->made && !v->made->renews)
		buf_printf(to, " [%s %u %%, Esc: not] ", v->made->what,
		           atomic_load(&v->watched.done));
	else if (v->frozen || v->state.n)
		buf_printf(to, " [%s] ", v->frozen ? "held: p goes on" : buf_text(&v->state));
	n = (unsigned)shown_columns(buf_text(to), to->n);
	return n < s->columns ? n : 0;
}

/* How many samples there are, of what; with the event's name, where there is room. */
static void view_title_samples(struct view *v, bool event, struct buf *to)
{
	const struct pane *p = v->top;

	if (p->all_events)
		return;
	if (event)
		shown_printf(to, "  %s", p->scope->event_name);
	buf_put_text(to, "  ");
	if (p->scope->compare && p->scope->compare->half) {
		buf_printf(to, "%llu -> ...", (unsigned long long)p->scope->base->samples);
		return;
	}
	if (v->opts.compare)
		buf_printf(to, "%llu -> ", (unsigned long long)p->scope->base->samples);
	buf_printf(to, "%llu sample%s", (unsigned long long)p->scope->samples,
	           p->scope->samples == 1 && !v->opts.compare ? "" : "s");
}

/* How to come to the other events, which are not seen otherwise. */
static void view_title_events(const struct view *v, struct buf *to)
{
	size_t place, n = view_events(v, &place);

	if (!v->opts.compare && !v->top->all_events && n > 1 && place)
		buf_printf(to, "  (event %zu of %zu: >)", place, n);
}

/* The first line: which recording, event and samples. Where it is too long the event goes first,
 * then the middle of what the recording is called. */
static void view_draw_title(struct view *v, const struct view_screen *s)
{
	const struct pane *p = v->top;
	struct buf title = { 0 }, behind = { 0 }, samples = { 0 }, text = { 0 }, state = { 0 };
	struct buf events = { 0 };
	unsigned end = view_state_text(v, s, &state);
	size_t room = s->columns - end, taken;

	if (p->scope->label.n)
		buf_printf(&behind, "  of %s", buf_text(&v->top->scope->label));
	if (p->filter.n)
		shown_printf(&behind, "  with '%s'", buf_text(&v->top->filter));
	shown_printf(&title, " %s", v->opts.title);
	view_title_samples(v, true, &samples);
	taken = shown_columns(buf_text(&samples), samples.n) +
	        shown_columns(buf_text(&behind), behind.n);
	view_title_events(v, &events);
	if (shown_columns(buf_text(&title), title.n) + taken + events.n <= room) {
		buf_put(&behind, buf_text(&events), events.n);
		taken += events.n;
	}
	if (shown_columns(buf_text(&title), title.n) + taken > room) {
		buf_clear(&samples);
		view_title_samples(v, false, &samples);
		taken = shown_columns(buf_text(&samples), samples.n) +
		        shown_columns(buf_text(&behind), behind.n);
	}
	shown_cut(&text, buf_text(&title), room > taken + TITLE_LEAST ? room - taken : TITLE_LEAST,
	          0);
	buf_put(&text, buf_text(&samples), samples.n);
	buf_put(&text, buf_text(&behind), behind.n);
	buf_clear(&title);
	shown_cut(&title, buf_text(&text), room, 0);
	view_bar(s, 0, buf_text(&title));
	if (end)
		s->put(s->ctx, 0, s->columns - end, VIEW_BAR, buf_text(&state));
	buf_free(&events);
	buf_free(&state);
	buf_free(&title);
	buf_free(&behind);
	buf_free(&samples);
	buf_free(&text);
}

/* "3 called by". How many columns. */
static unsigned view_section_label(const struct view *v, unsigned i, char text[32])
{
	return (unsigned)snprintf(text, 32, "%u %s", i + 1, view_section_name(v, i));
}

/* The second line: the sections. Where there is no room for all, those around the one that is
 * shown, and a mark for the others. */
static void view_draw_sections(struct view *v, const struct view_screen *s)
{
	unsigned n = view_n_sections(v), here = v->top->section, gap = 2, sum = 1, first = 0;
	unsigned column = 1;
	char text[32];

	for (unsigned i = 0; i < n; i++)
		sum += view_section_label(v, i, text) + gap;
	if (sum > s->columns)
		gap = 1;
	sum = 1;
	for (unsigned i = 0; i <= here && i < n; i++)
		sum += view_section_label(v, i, text) + gap;
	/* In front of the first one is room for the mark, and behind the last one. */
	for (; sum > s->columns && first < here; first++)
		sum -= view_section_label(v, first, text) + gap;
	if (first)
		s->put(s->ctx, 1, 0, VIEW_DIM, "<");
	for (unsigned i = first; i < n; i++) {
		unsigned width = view_section_label(v, i, text);

		if (column + width >= s->columns) {
			s->put(s->ctx, 1, s->columns - 1, VIEW_DIM, ">");
			break;
		}
		s->put(s->ctx, 1, column, i == here ? VIEW_HEADING : VIEW_DIM, text);
		column += width + gap;
	}
}

/* Appends as many of a pane's keys that do something, which two blanks part, as there is room for;
 * the last one, which is how to get help, in any case. */
static void view_put_keys(const struct view *v, struct buf *to, size_t room)
{
	const char *at = v->top->kind->keys, *last = strrchr(at, ' '), *end;
	const char *hold = v->opts.live ? "p hold  " : "";

	/* "? help" has a blank in itself. */
	last = last && last - at > 1 ? last - 1 : at;
	if (strlen(hold) + strlen(last) > room)
		hold = "";
	for (; at < last; at = end + strspn(end, " ")) {
		size_t n;

		end = strstr(at, "  ");
		n = end ? (size_t)(end - at) + 2 : strlen(at);
		if (!view_has_key_named(v, at, strcspn(at, " ,")))
			continue;
		if (!end || to->n + n + strlen(hold) + strlen(last) > room)
			break;
		buf_put(to, at, n);
	}
	buf_printf(to, "%s%s", hold, last);
}

/* The last line: a message, the text that is typed, or the keys; and the place in the list. */
static void view_draw_keys(struct view *v, const struct view_screen *s)
{
	struct pane *p = v->top;
	struct buf text = { 0 };
	char place[48];
	int n = snprintf(place, sizeof(place), " %zu/%zu%s", p->n ? p->at + 1 : 0, p->n,
	                 p->more ? "+" : "");

	if (v->mode == VIEW_FILTERING)
		shown_printf(&text, "/%s_", buf_text(&p->filter));
	else if (v->mode == VIEW_NAMING)
		shown_printf(&text, "write to: %s_%s", buf_text(&v->typed),
		             v->typed.n ? "" : WRITE_HINT);
	else if (v->mode == VIEW_SORTING)
		shown_printf(&text, "sort keys: %s_%s", buf_text(&v->typed),
		             v->typed.n ? "" : SORT_HINT);
	else if (v->message.n)
		buf_put(&text, buf_text(&v->message), v->message.n);
	else
		view_put_keys(v, &text, s->columns > (unsigned)n ? s->columns - (unsigned)n : 0);
	view_bar(s, s->rows - 1, buf_text(&text));
	if (n > 0 && (unsigned)n < s->columns)
		s->put(s->ctx, s->rows - 1, s->columns - (unsigned)n, VIEW_BAR, place);
	buf_free(&text);
}

/* Keeps the cursor on the list and on the screen. */
static void view_scroll(struct view *v)
{
	struct pane *p = v->top;

	if (p->at >= p->n)
		p->at = p->n ? p->n - 1 : 0;
	if (p->top > p->at)
		p->top = p->at;
	if (p->at - p->top >= v->rows)
		p->top = p->at - v->rows + 1;
}

/* Draws from the top: the bar, the sections, the heading, as much of the list as fits, the keys. */
void view_draw(struct view *v, const struct view_screen *s)
{
	struct pane *p = v->top;

	if (s->columns < COLUMNS_LEAST || s->rows < ROWS_LEAST) {
		if (s->columns >= 8 && s->rows)
			s->put(s->ctx, 0, 0, VIEW_PLAIN, "no room");
		return;
	}
	v->rows = s->rows - ABOVE - BELOW;
	/* What has no memory for other lines shows those that it has. */
	if (p->kind->layout)
		(void)p->kind->layout(p, s->columns);
	view_scroll(v);
	view_draw_title(v, s);
	view_draw_sections(v, s);
	p->kind->heading(p, s, 2);
	for (unsigned i = 0; i < v->rows && p->top + i < p->n; i++)
		p->kind->line(p, s, ABOVE + i, p->top + i,
		              p->top + i == p->at ? VIEW_PLAIN | VIEW_CURSOR : VIEW_PLAIN);
	if (!p->n)
		s->put(s->ctx, ABOVE, 1, VIEW_DIM,
		       p->filter.n  ? "nothing with this text"
		       : v->state.n ? "nothing yet"
		                    : "nothing");
	view_draw_keys(v, s);
}
