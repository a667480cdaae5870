// SPDX-License-Identifier: MIT
// explain_text.c: findings for people, and as JSON.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/shown.h"
#include "base/shown_wrap.h"
#include "explain/explain.h"

static const char *const section_titles[EXPLAIN_SECTIONS] = {
	[EXPLAIN_TIME] = "Where the time goes",
	[EXPLAIN_WORK] = "What stands out (kinds of work may overlap)",
	[EXPLAIN_STACKS] = "How good the stacks are",
	[EXPLAIN_NEXT] = "What to try next",
};

static const char *const section_names[EXPLAIN_SECTIONS] = {
	[EXPLAIN_TIME] = "time",
	[EXPLAIN_WORK] = "work",
	[EXPLAIN_STACKS] = "stacks",
	[EXPLAIN_NEXT] = "next",
};

#define PLAIN                                                  \
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" \
	"0123456789_./,:=@%+-"

/* Whether a person can type it: what is shown is what is meant. */
static bool command_typed(char *const *command)
{
	for (; *command; command++) {
		struct buf shown = { 0 };
		bool same = shown_put_text(&shown, *command) >= 0 &&
		            !strcmp(buf_text(&shown), *command);

		buf_free(&shown);
		if (!same)
			return false;
	}
	return true;
}

/* An argument as a shell takes it. */
static void text_argument(const char *arg, struct buf *out)
{
	if (*arg && strspn(arg, PLAIN) == strlen(arg)) {
		buf_put_text(out, arg);
		return;
	}
	buf_put_text(out, "'");
	for (; *arg; arg++)
		if (*arg == '\'')
			buf_put_text(out, "'\\''");
		else
			buf_put(out, arg, 1);
	buf_put_text(out, "'");
}

static bool command_equal(char *const *a, char *const *b)
{
	for (; *a && *b; a++, b++)
		if (strcmp(*a, *b))
			return false;
	return !*a && !*b;
}

/* The share stands in front of the sentence, which is as wide as the terminal. */
static void text_sentence(const struct explain_finding *f, size_t columns, struct buf *out)
{
	struct buf line = { 0 };
	char share[32];
	size_t at = out->n;
	int n = snprintf(share, sizeof(share), "  %5.1f %%  ", f->percent);

	if (f->percent > 0 && f->percent < 0.05)
		n = snprintf(share, sizeof(share), "   <0.1 %%  ");

	buf_printf(&line, "%*s", n, "");
	shown_put_text(&line, f->text);
	buf_put_text(&line, "\n");
	shown_wrap(out, buf_text(&line), columns);
	out->failed |= line.failed;
	if (f->percent >= 0 && !out->failed)
		memcpy(out->bytes + at, share, (size_t)n);
	buf_free(&line);
}

/* The share, the sentence, and below it the command, unless the next one of the section has the
 * same. */
static void text_finding(const struct explain_finding *f, const struct explain_finding *next,
                         size_t columns, bool color, struct buf *out)
{
	text_sentence(f, columns, out);
	if (!f->command)
		return;
	if (next && next->section == f->section && next->command &&
	    command_equal(f->command, next->command))
		return;
	if (!command_typed(f->command)) {
		buf_put_text(out, "             (a name in it cannot be typed)\n");
		return;
	}
	buf_put_text(out, color ? "             \033[2m$" : "             $");
	for (char **arg = f->command; *arg; arg++) {
		buf_put_text(out, " ");
		text_argument(*arg, out);
	}
	buf_put_text(out, color ? "\033[0m\n" : "\n");
}

/* "perf.data: 37,316 samples of cpu-clock in 5.21 s; 9.33 s of CPU time, 1.79 CPUs" */
static void text_about(const struct explain_about *a, struct buf *out)
{
	char number[32];

	shown_printf(out, "%s: %s sample%s", a->recording,
	             report_number(a->samples, number, sizeof(number)), a->samples == 1 ? "" : "s");
	if (*a->event)
		shown_printf(out, " of %s", a->event);
	if (a->seconds > 0)
		shown_printf(out, " in %.2f s", a->seconds);
	if (a->cpu_seconds > 0)
		shown_printf(out, "; %.2f s of CPU time", a->cpu_seconds);
	if (a->cpu_seconds > 0 && a->seconds > 0)
		shown_printf(out, ", %.2f CPUs in use", a->cpu_seconds / a->seconds);
	buf_put_text(out, "\n");
}

/* All findings by section, each under its title. */
int explain_text(const struct explain *x, bool color, struct buf *out)
{
	struct buf about = { 0 };

	text_about(&x->about, &about);
	shown_wrap(out, buf_text(&about), x->columns);
	out->failed |= about.failed;
	buf_free(&about);
	for (unsigned section = 0; section < EXPLAIN_SECTIONS; section++) {
		bool first = true;

		for (size_t i = 0; i < x->n; i++) {
			if (x->finding[i].section != section)
				continue;
			if (first && section == EXPLAIN_TIME && x->by_event)
				shown_printf(out, "\nWhere %s (%s)\n",
				             x->waits ? "it waits" : "the events are",
				             x->about.event);
			else if (first)
				buf_printf(out, "\n%s\n", section_titles[section]);
			first = false;
			text_finding(&x->finding[i], i + 1 < x->n ? &x->finding[i + 1] : NULL,
			             x->columns, color, out);
		}
	}
	return out->failed ? -ENOMEM : 0;
}

/* One finding: the keys that docs/json.md has. */
static void json_finding(const struct explain_finding *f, struct json *j)
{
	json_open(j, '{');
	json_key(j, "section");
	json_string(j, section_names[f->section]);
	json_key(j, "id");
	json_string(j, f->id);
	json_key(j, "percent");
	if (f->percent >= 0)
		json_double(j, f->percent, 2);
	else
		json_null(j);
	json_key(j, "text");
	json_string(j, f->text);
	json_key(j, "command");
	json_open(j, '[');
	for (char **arg = f->command; arg && *arg; arg++)
		json_string(j, *arg);
	json_close(j, ']');
	json_close(j, '}');
}

/* One object, whose keys are documented in docs/json.md and stay. */
int explain_json(const struct explain *x, struct buf *out)
{
	struct json j = { .out = out };

	json_open(&j, '{');
	json_key(&j, "version");
	json_u64(&j, 1);
	json_key(&j, "recording");
	json_string(&j, x->about.recording);
	json_key(&j, "event");
	json_string(&j, x->about.event);
	json_key(&j, "samples");
	json_u64(&j, x->about.samples);
	json_key(&j, "seconds");
	json_double(&j, x->about.seconds, 6);
	json_key(&j, "cpu_seconds");
	json_double(&j, x->about.cpu_seconds, 6);
	json_key(&j, "findings");
	json_open(&j, '[');
	for (size_t i = 0; i < x->n; i++)
		json_finding(&x->finding[i], &j);
	json_close(&j, ']');
	json_close(&j, '}');
	buf_put_text(out, "\n");
	return out->failed ? -ENOMEM : 0;
}
