// SPDX-License-Identifier: MIT
// explain_finding.c: one finding: its sentence and its command.
#include <stdlib.h>
#include <string.h>

#include "explain/explain_parts.h"

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

/* "seam", the command, what says which recording, the rest. NULL: out of memory. */
static char **command_new(const char *const *args, const char *const *input)
{
	size_t n = args_count(args), n_input = args_count(input), at = 0;
	char **ret = calloc(n + n_input + 2, sizeof(*ret));
	bool ok = ret && (ret[at++] = strdup("seam"));

	ok = ok && (ret[at++] = strdup(args[0]));
	for (size_t i = 0; ok && i < n_input; i++)
		ok = (ret[at++] = strdup(input[i]));
	for (size_t i = 1; ok && i < n; i++)
		ok = (ret[at++] = strdup(args[i]));
	if (ok)
		return ret;
	command_free(ret);
	return NULL;
}

void explain_finding_free(struct explain_finding *f)
{
	free(f->text);
	command_free(f->command);
}

/* Makes the sentence and the command, and puts them behind the others. */
void explain_add(struct explain *x, const struct explain_new *what, const char *fmt, ...)
{
	struct explain_finding f = { what->section, what->id, what->percent, NULL, NULL };
	struct buf text = { 0 };
	va_list ap;

	if (x->n >= EXPLAIN_LINES)
		return;
	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	if (!text.failed)
		f.text = strdup(buf_text(&text));
	buf_free(&text);
	if (what->args)
		f.command = command_new(what->args, x->input);
	if (!f.text || (what->args && !f.command)) {
		explain_finding_free(&f);
		x->failed = true;
		return;
	}
	x->finding[x->n++] = f;
}
