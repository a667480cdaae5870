// SPDX-License-Identifier: MIT
// explain_finding.c: one finding: its sentence and its command.
#include <stdlib.h>
#include <string.h>

#include "explain/explain_parts.h"

const char *const explain_below_args[] = { "report", "--stdio", "-s", "dso", "-g", "none", NULL };

const char *const *explain_account_args(const struct explain *x)
{
	static const char *const stats[] = { "report", "--stats", NULL };

	return x->from->stored ? explain_below_args : stats;
}

static size_t args_count(const char *const *args)
{
	size_t n = 0;

	while (args && args[n])
		n++;
	return n;
}

static void command_free(char **command)
{
	for (size_t i = 0; command && command[i]; i++)
		free(command[i]);
	free(command);
}

/* A command in the making. */
struct command {
	char **arg;
	size_t n;
	bool ok;
};

static void command_add(struct command *c, const char *const *args)
{
	for (size_t i = 0; c->ok && args && args[i]; i++)
		c->ok = (c->arg[c->n++] = strdup(args[i]));
}

static bool args_have(const char *const *args, const char *arg)
{
	while (*args && strcmp(*args, arg))
		args++;
	return *args;
}

/* "seam", the command, what says which recording and which samples, the rest. report and explain
 * take all that says which samples, flame a part, stat nothing of it. What names its own event is
 * left so. NULL: out of memory. */
static char **command_new(const struct explain *x, const char *const *args, bool all_events)
{
	const struct explain_from *from = x->from;
	bool some = !strcmp(args[0], "report") || !strcmp(args[0], "explain");
	bool tasks = some || !strcmp(args[0], "flame");
	const char *name[] = { "seam", args[0], NULL };
	const char *event[] = { "-e", all_events || !x->event ? from->events : x->event, NULL };
	struct command c = { .ok = true };

	c.arg = calloc(args_count(args) + args_count(from->input) + args_count(from->names) +
	                       args_count(from->tasks) + args_count(from->time) + 4,
	               sizeof(*c.arg));
	c.ok = c.arg;
	command_add(&c, name);
	command_add(&c, from->input);
	command_add(&c, tasks ? from->names : NULL);
	command_add(&c, tasks ? from->tasks : NULL);
	command_add(&c, some ? from->time : NULL);
	if (tasks && !some && from->events)
		event[1] = x->about.event;
	if ((some || (tasks && from->events)) && event[1] && !args_have(args, "-e"))
		command_add(&c, event);
	command_add(&c, args + 1);
	if (c.ok)
		return c.arg;
	command_free(c.arg);
	return NULL;
}

void explain_finding_free(struct explain_finding *f)
{
	free(f->text);
	command_free(f->command);
}

/* Makes the sentence and the command, and puts them behind the others. What reads a file alone has
 * nothing to read of a store. */
void explain_add(struct explain *x, const struct explain_new *what, const char *fmt, ...)
{
	struct explain_finding f = { .section = what->section,
		                     .id = what->id,
		                     .percent = what->percent };
	const char *const *args = what->args;
	struct buf text = { 0 };
	va_list ap;

	if (x->from->stored && args && !strcmp(args[0], "stat"))
		args = NULL;
	if (x->n >= EXPLAIN_LINES)
		return;
	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	if (!text.failed)
		f.text = strdup(buf_text(&text));
	buf_free(&text);
	if (args)
		f.command = command_new(x, args, what->all_events);
	if (!f.text || (args && !f.command)) {
		explain_finding_free(&f);
		x->failed = true;
		return;
	}
	x->finding[x->n++] = f;
}
