// SPDX-License-Identifier: MIT
// self_annotate.c: see self_annotate.h. Names come from outside: each is an option's argument, and
// no shell reads it.
#include "cli/self_annotate.h"

#include <errno.h>
#include <string.h>

#include "base/shown.h"
#include "cmd/self.h"

#define TEXT_MAX (16u << 20)                   /* bytes of one function's text that are shown */
#define ARGS_MAX (40 + SAMPLE_FILTER_ARGS_MAX) /* more than are filled */
#define TEXTS_MAX 8

/* A command line, and the texts that stand in it. */
struct self_args {
	const char *args[ARGS_MAX];
	size_t n;
	struct buf text[TEXTS_MAX];
	size_t n_text;
	char without[TEXTS_MAX]; /* letters of options that are there (sample_filter_args) */
	struct buf told;         /* what the samples are of */
	struct buf untold;       /* what no option can choose */
};

static void self_put(struct self_args *a, const char *option, const char *value)
{
	a->args[a->n++] = option;
	a->args[a->n++] = value;
}

/* Notes that samples are chosen by something. */
static void self_note(struct buf *to, const char *what, const char *text)
{
	buf_put_text(to, to->n ? ", " : "");
	shown_printf(to, "%s%s", what, text);
}

/* The option for a choice, unless there is one of its kind: then the innermost zoom has less. */
static void self_choose(struct self_args *a, const struct view_choice *c)
{
	const char letter = c->column == ROLLUP_COMM  ? 'c'
	                    : c->column == ROLLUP_PID ? 'p'
	                    : c->column == ROLLUP_TID ? 't'
	                    : c->column == ROLLUP_CPU ? 'C'
	                                              : 'T';
	struct buf *text = &a->text[a->n_text];

	/* A comma would part a name. */
	if (!c->whole || (letter == 'c' && (!*c->text || strchr(c->text, ',')))) {
		self_note(&a->untold, "", c->text);
		return;
	}
	if (strchr(a->without, letter) || a->n_text == TEXTS_MAX - 1)
		return;
	if (letter == 'T')
		buf_printf(text, "%llu.%09llu,%llu.%09llu",
		           (unsigned long long)(c->start_ns / 1000000000),
		           (unsigned long long)(c->start_ns % 1000000000),
		           (unsigned long long)(c->stop_ns / 1000000000),
		           (unsigned long long)(c->stop_ns % 1000000000));
	else if (letter == 'c')
		buf_put_text(text, c->text);
	else
		buf_printf(text, "%d", (int)c->number);
	a->without[a->n_text++] = letter;
	self_put(a,
	         letter == 'T'   ? "--time"
	         : letter == 'c' ? "--comms"
	         : letter == 'p' ? "--pid"
	         : letter == 't' ? "--tid"
	                         : "--cpu",
	         buf_text(text));
	self_note(&a->told, rollup_facts[c->column].key, " ");
	shown_put_text(&a->told, c->text);
}

/* Says which samples the counts are of, where that is not all. */
static void self_say(struct self_args *a, struct buf *out)
{
	if (a->told.n)
		buf_printf(out, "Of the samples of %s.\n", buf_text(&a->told));
	if (a->untold.n)
		buf_printf(out, "Not only of '%s': the code's counts are of more samples.\n",
		           buf_text(&a->untold));
	if (a->told.n || a->untold.n)
		buf_put_text(out, "\n");
}

/* The options that choose samples: of the zooms, from the innermost on, then those that seam was
 * given. */
static void self_filter(struct self_args *a, const struct sample_filter *filter,
                        const struct view_function *f, struct buf texts[3])
{
	char without[TEXTS_MAX + 2] = "";

	for (size_t i = 0; i < f->n_choices; i++)
		self_choose(a, &f->choices[i]);
	memcpy(without, a->without, a->n_text);
	/* A comma would part it. */
	if (f->event && !strchr(f->event, ',')) {
		self_put(a, "-e", f->event);
		without[a->n_text] = 'e';
	}
	a->n += sample_filter_args(filter, without, texts, a->args + a->n);
}

/* The command line has what the view was opened with. */
int self_annotate(const char *path, struct naming *naming, const struct sample_filter *filter,
                  const struct view_function *f, int stop, struct buf *out)
{
	const char *archive = naming->archive.dir[0] ? naming->archive.dir : NULL;
	struct self_args a = { .args = { "seam", "annotate", "-i", path }, .n = 4 };
	struct buf texts[3] = { 0 };
	int r;

	a.n += naming_args(naming, archive, a.args + a.n);
	self_filter(&a, filter, f, texts);
	self_put(&a, "--symbol", f->symbol);
	self_say(&a, out);
	r = self_run(a.args, TEXT_MAX, stop, out);
	for (size_t i = 0; i < TEXTS_MAX; i++)
		buf_free(&a.text[i]);
	for (size_t i = 0; i < 3; i++)
		buf_free(&texts[i]);
	buf_free(&a.told);
	buf_free(&a.untold);
	return r < 0 && r != -ENOMEM && r != -ECANCELED
	               ? shown_printf(out, "annotate: %s\n", strerror(-r))
	               : r;
}
