// SPDX-License-Identifier: MIT
// top_view.c: see top.h. A refresh as what the view takes: its profile, a title, and the lines that
// say what became of its samples.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/shown.h"
#include "cli/top/top.h"

/* In text no more is kept than columns need; a store has no more. */
unsigned top_keeps(const struct top *t)
{
	unsigned keep = report_keeps(&t->view);

	return t->feed && !stored_asked(&t->stored) ? keep | VIEW_KEEPS : keep;
}

/* How good this refresh is, for the first line. A text of malloc. */
static char *top_view_title(const struct report *r)
{
	const struct profile_counts *counts = profile_counts_of(r->load.profile);
	const uint64_t lost = profile_lost(counts);
	char number[32];
	struct profile_account a;
	struct buf title = { 0 };
	char *text;

	profile_account(r->load.profile, 0, &a);
	buf_put_text(&title, "seam top");
	if (a.samples)
		shown_printf(&title, ", %.1f %% whole stacks", report_percent(a.whole, a.samples));
	if (lost)
		shown_printf(&title, ", %s lost", report_number(lost, number, sizeof(number)));
	text = strdup(buf_text(&title));
	buf_free(&title);
	return text;
}

/* Takes the profile out of the report, in the order that the view needs. */
int top_view_show(void *top, struct report *r, struct buf *heading)
{
	struct top *t = top;
	struct view_news news = { .owned = true };
	int rc = profile_canonical(&news.profile, r->load.profile);

	if (rc < 0)
		return rc;
	r->color = false;
	news.title = top_view_title(r);
	buf_put_text(heading, "\n");
	report_account(r, heading);
	news.account = strdup(buf_text(heading));
	if (!news.title || !news.account || heading->failed) {
		view_news_free(&news);
		return -ENOMEM;
	}
	feed_put(t->feed, &news);
	return 0;
}
