// SPDX-License-Identifier: MIT
// options.c: walks an argv by a command's option table. Long options may be shortened while they
// are unambiguous.
#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/shown.h"
#include "cmd/cmd.h"
#include "cmd/habit.h"

/* How wide the help is, whatever the terminal is: it is read in pagers, too. */
#define HELP_WIDTH 100 /* columns */
#define HELP_INDENT 31 /* where the text of an option begins */

/* Set if memory was out for something that was to be printed: then the program must not end with
 * success. */
static atomic_bool print_failed; /* messages may come from several threads */

/* Asked at the end of the program. */
bool cmd_print_failed(void)
{
	return print_failed;
}

/* Writes a text, or says that it is missing if there was no memory to make it. */
static void cmd_put(FILE *to, struct buf *text)
{
	if (text->failed) {
		print_failed = true;
		fputs("seam: out of memory: a part of what was to be printed is missing\n", stderr);
	} else {
		fwrite(text->bytes, 1, text->n, to);
	}
	buf_free(text);
}

/* printf to a stream, with everything escaped that a terminal would obey. */
void cmd_print(FILE *to, const char *fmt, ...)
{
	struct buf text = { 0 };
	va_list ap;

	va_start(ap, fmt);
	shown_vprintf(&text, fmt, ap);
	va_end(ap);
	cmd_put(to, &text);
}

static struct {
	void (*heard)(void *ctx, const char *text);
	void *ctx;
} options_hearer;

void cmd_error_heard(void (*heard)(void *ctx, const char *text), void *ctx)
{
	options_hearer.heard = heard;
	options_hearer.ctx = ctx;
}

/* "seam NAME: ..." on standard error. What was printed before comes first. */
void cmd_error(const struct cmd *cmd, const char *fmt, ...)
{
	struct buf text = { 0 };
	size_t head;
	va_list ap;

	fflush(stdout);
	shown_printf(&text, "seam %s: ", cmd->name);
	head = text.n;
	va_start(ap, fmt);
	shown_vprintf(&text, fmt, ap);
	va_end(ap);
	if (options_hearer.heard)
		options_hearer.heard(options_hearer.ctx,
		                     text.failed ? "out of memory" : buf_text(&text) + head);
	buf_put(&text, "\n", 1);
	if (text.failed) /* then nothing but this is to be said, and no memory is needed for it */
		fprintf(stderr, "seam %s: out of memory\n", cmd->name);
	else
		fwrite(text.bytes, 1, text.n, stderr);
	if (text.failed)
		print_failed = true;
	buf_free(&text);
}

/* Why something failed, in words: err's, else those of the error number. */
const char *cmd_reason(const struct seam_error *err, int r)
{
	return error_reason(err, r);
}

/* Begins a walk over argv, behind the command's name. */
struct options options_start(int argc, char **argv, const struct cmd *cmd)
{
	return (struct options){ .cmd = cmd, .argc = argc, .argv = argv, .at = 1 };
}

/* An optional argument is only taken with '=' (or digits behind a short option). */
static bool options_arg_optional(const struct option_def *d)
{
	return d->arg && d->arg[0] == '[';
}

/* The option of a name, or of the beginning of one. *ambiguous: several begin so. */
static const struct option_def *options_find_long(const struct options *o, const char *name,
                                                  size_t n, bool *ambiguous)
{
	const struct option_def *found = NULL;

	*ambiguous = false;
	for (const struct option_def *d = o->cmd->options; d && d->id; d++) {
		if (!d->long_name || strncmp(d->long_name, name, n))
			continue;
		if (!d->long_name[n])
			return d;
		/* Two spellings of one option are one. */
		*ambiguous = found && found->id != d->id;
		found = d;
	}
	return found;
}

/* An option that is not known: says what to use instead, if perf has it. */
static int options_unknown(const struct options *o, const char *dashes, const char *name, size_t n)
{
	const char *instead = habit_instead(o->cmd->name, name, n);

	if (instead)
		cmd_error(o->cmd, "there is no option '%s%.*s': %s", dashes, (int)n, name, instead);
	else
		cmd_error(o->cmd, "unknown option '%s%.*s'; 'seam %s --help' lists them", dashes,
		          (int)n, name, o->cmd->name);
	return OPTIONS_USAGE;
}

/* Takes a long option, which may be shortened while it is unambiguous, and its argument. Its id, or
 * OPTIONS_HELP or OPTIONS_USAGE after printing. */
static int options_long(struct options *o, const char *text)
{
	const char *eq = strchr(text, '=');
	size_t n = eq ? (size_t)(eq - text) : strlen(text);
	const struct option_def *d;
	bool ambiguous;

	if (n == 4 && !memcmp(text, "help", 4)) {
		cmd_print_help(o->cmd);
		return OPTIONS_HELP;
	}
	d = options_find_long(o, text, n, &ambiguous);
	if (!d)
		return options_unknown(o, "--", text, n);
	if (ambiguous) {
		cmd_error(o->cmd, "ambiguous option '--%.*s'; 'seam %s --help' lists them", (int)n,
		          text, o->cmd->name);
		return OPTIONS_USAGE;
	}
	o->arg = eq ? eq + 1 : NULL;
	if (eq && !d->arg) {
		cmd_error(o->cmd, "--%s takes no argument", d->long_name);
		return OPTIONS_USAGE;
	}
	if (!eq && d->arg && !options_arg_optional(d)) {
		if (o->at >= o->argc) {
			cmd_error(o->cmd, "--%s needs an argument: %s", d->long_name, d->arg);
			return OPTIONS_USAGE;
		}
		o->arg = o->argv[o->at++];
	}
	return d->id;
}

/* Takes the next letter of a word such as -ag, and its argument, which may stand in the same word.
 * As options_long. */
static int options_short(struct options *o)
{
	char c = *o->pack++;
	const struct option_def *d = o->cmd->options;

	while (d && d->id && d->short_name != c)
		d++;
	/* -h is help only in commands that have no -h of their own. */
	if (!d || !d->id) {
		if (c == 'h') {
			cmd_print_help(o->cmd);
			return OPTIONS_HELP;
		}
		return options_unknown(o, "-", &c, 1);
	}
	o->arg = NULL;
	if (d->arg && options_arg_optional(d) && *o->pack >= '0' && *o->pack <= '9') { /* -z3 */
		o->arg = o->pack;
		o->pack = NULL;
		return d->id;
	}
	if (!d->arg || options_arg_optional(d)) {
		if (!*o->pack)
			o->pack = NULL;
		return d->id;
	}
	if (*o->pack) {
		o->arg = o->pack;
	} else if (o->at < o->argc) {
		o->arg = o->argv[o->at++];
	} else {
		cmd_error(o->cmd, "-%c needs an argument: %s", c, d->arg);
		return OPTIONS_USAGE;
	}
	o->pack = NULL;
	return d->id;
}

/* The next option or operand as it stands in argv; options_next passes over those that are only
 * accepted. */
static int options_next_given(struct options *o)
{
	const char *text;

	/* In the midst of a word such as -ag. */
	if (o->pack)
		return options_short(o);
	if (o->at >= o->argc)
		return OPTIONS_END;
	text = o->argv[o->at];
	/* "-" alone is an operand: standard input. */
	if (text[0] != '-' || !text[1]) {
		if (o->cmd->stops_at_operand)
			return OPTIONS_END;
		o->at++;
		o->arg = text;
		return OPTIONS_OPERAND;
	}
	o->at++;
	if (!strcmp(text, "--"))
		return OPTIONS_END;
	if (text[1] == '-')
		return options_long(o, text + 2);
	o->pack = text + 1;
	return options_short(o);
}

/* OPTIONS_ACCEPTED: taken and without effect, so that perf's command lines work. */
int options_next(struct options *o)
{
	int id;

	do
		id = options_next_given(o);
	while (id == OPTIONS_ACCEPTED);
	return id;
}

/* The option's argument as a number between two bounds. -EINVAL, after saying so. 0x and 0 prefixes
 * count. */
int options_u64(const struct options *o, const char *what, unsigned long long least,
                unsigned long long most, unsigned long long *ret)
{
	char *end = NULL;
	unsigned long long v;

	errno = 0;
	v = o->arg && o->arg[0] >= '0' && o->arg[0] <= '9' ? strtoull(o->arg, &end, 0) : 0;
	if (!end || *end || errno || v < least || v > most) {
		cmd_error(o->cmd, "%s: '%s' is not a number from %llu to %llu", what,
		          o->arg ? o->arg : "", least, most);
		return -EINVAL;
	}
	*ret = v;
	return 0;
}

/* Text in lines of at most HELP_WIDTH columns, of which the first began at `column`, and others at
 * `indent`. A line is broken at a space, or behind a comma of a list. */
static void options_help_text(const char *text, size_t column, size_t indent)
{
	while (*text) {
		size_t n = strcspn(text, " ,\n"), space = *text == ' ';

		if (space)
			n = 1 + strcspn(text + 1, " ,\n");
		n += text[n] == ',';
		if (*text == '\n') {
			column = 0;
			n = 1;
		} else if (column + n > HELP_WIDTH && column > indent) {
			printf("\n%*s", (int)indent, "");
			column = indent;
			text += space;
			n -= space;
		}
		printf("%.*s", (int)n, text);
		column += *text == '\n' ? 0 : n;
		text += n;
	}
	putchar('\n');
}

/* Prints one option of the help: its names at the left, its text beside them or on the next
 * line. */
static void options_help_option(const struct option_def *d)
{
	char left[64];
	int n = 0;

	n += snprintf(left, sizeof(left), "%c%c%s", d->short_name ? '-' : ' ',
	              d->short_name ? d->short_name : ' ',
	              d->long_name ? (d->short_name ? ", " : "  ") : "");
	if (d->long_name)
		n += snprintf(left + n, sizeof(left) - (size_t)n, "--%s", d->long_name);
	if (d->arg && options_arg_optional(d))
		n += snprintf(left + n, sizeof(left) - (size_t)n, "[=%.*s]",
		              (int)strlen(d->arg) - 2, d->arg + 1);
	else if (d->arg)
		n += snprintf(left + n, sizeof(left) - (size_t)n, " %s", d->arg);
	if (n > HELP_INDENT - 3) /* too long to stand beside its text */
		printf("  %s\n%*s", left, HELP_INDENT, "");
	else
		printf("  %-*s", HELP_INDENT - 2, left);
	options_help_text(d->help, HELP_INDENT, HELP_INDENT);
}

/* "Sort keys (-s, --sort):", and a line each. */
static void options_help_words(const struct cmd_words *w)
{
	printf("\n%s (", w->title);
	for (const char *p = w->options; *p; p++)
		printf(*p == '|' ? ", " : "%c", *p);
	puts("):");
	for (const struct cmd_word *word = w->words; word->name; word++) {
		printf("  %-*s", HELP_INDENT - 2, word->name);
		options_help_text(word->help, HELP_INDENT, HELP_INDENT);
	}
}

/* The whole help of a command, on standard output. */
void cmd_print_help(const struct cmd *cmd)
{
	printf("Usage: seam %s %s\n\n%s.\n", cmd->name, cmd->synopsis, cmd->summary);
	if (cmd->options && cmd->options->id)
		printf("\nOptions:\n");
	for (const struct option_def *d = cmd->options; d && d->id; d++)
		options_help_option(d);
	for (const struct cmd_words *w = cmd->words; w && w->title; w++)
		options_help_words(w);
	for (const char *const *paragraph = cmd->details; paragraph && *paragraph; paragraph++) {
		putchar('\n');
		options_help_text(*paragraph, 0, 0);
	}
}
