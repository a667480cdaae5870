// SPDX-License-Identifier: MIT
// view_state.c: what is said in the first and in the last line, and what comes into a view.
#include "view/view_state.h"

#include <stdlib.h>

#include "base/shown.h"

void view_say(struct view *v, const char *text)
{
	buf_clear(&v->message);
	shown_put_text(&v->message, text);
}

void view_set_state(struct view *v, const char *text)
{
	buf_clear(&v->state);
	shown_put_text(&v->state, text);
}

void view_news_free(struct view_news *news)
{
	if (news->owned)
		profile_free(news->profile);
	free(news->title);
	free(news->account);
	*news = (struct view_news){ 0 };
}
