// SPDX-License-Identifier: MIT
/*
 * forecast_words.c: see forecast_words.h. Knows blanks, quotes, comments and what separates
 * commands, of which shells and make have nearly the same; nothing of variables, and what is quoted
 * is one word whatever it says. So a text that it misunderstands gives words that are no programs.
 */
#include "recorder/forecast_words.h"

#include <string.h>

static bool words_separates(char c)
{
	return c && strchr("\n;|&()`", c);
}

/* Where the quoted piece that begins at `from` ends, its bytes without the quotes at *to. */
static char *words_quoted(char *from, char **to)
{
	const char quote = *from++;

	for (; *from && *from != quote; from++) {
		if (quote == '"' && *from == '\\' && from[1])
			from++;
		*(*to)++ = *from;
	}
	return *from ? from + 1 : from;
}

/* Takes one word, whose text becomes that without quotes. Returns where it ended; *end is the byte
 * that was there. */
static char *words_one(char *at, char *end)
{
	char *to = at;

	while (*at && *at != ' ' && *at != '\t' && !words_separates(*at)) {
		if (*at == '"' || *at == '\'') {
			at = words_quoted(at, &to);
			continue;
		}
		if (*at == '\\' && at[1] && at[1] != '\n')
			at++;
		*to++ = *at++;
	}
	*end = *at;
	*to = 0;
	return at;
}

/* What stands between two words of a command: blanks, and an end of a line that is none. */
static char *words_skip(char *at)
{
	while (*at == ' ' || *at == '\t' || (*at == '\\' && at[1] == '\n'))
		at += *at == '\\' ? 2 : 1;
	if (*at == '#')
		at += strcspn(at, "\n");
	return at;
}

/* Words are cut in place: a word's end is written over the byte that stood there, so that byte is
 * looked at before. */
bool forecast_words_next(struct forecast_words *w)
{
	char *at = w->at, end = *at;

	w->n = 0;
	if (!end)
		return false;
	for (;;) {
		char *word;

		at = words_skip(at);
		end = *at;
		if (!end || words_separates(end))
			break;
		word = at;
		at = words_one(at, &end);
		if (w->n < FORECAST_WORDS)
			w->words[w->n++] = word;
		if (!end || words_separates(end))
			break;
		at++;
	}
	w->at = end ? at + 1 : at;
	return true;
}
