/* SPDX-License-Identifier: MIT */
/* forecast_words.h: the words of a text for a shell or for make, command by command. */
#ifndef SEAM_RECORDER_FORECAST_WORDS_H
#define SEAM_RECORDER_FORECAST_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#define FORECAST_WORDS 32 /* of a command; those behind are left out */

/* Cuts a text, which it changes. `at` is where the next command begins. */
struct forecast_words {
	char *at;
	char *words[FORECAST_WORDS];
	size_t n;
};

/* The next command; it may have no words. False: the text is at its end. */
bool forecast_words_next(struct forecast_words *w);

#endif
