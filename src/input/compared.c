// SPDX-License-Identifier: MIT
// compared.c: see compared.h.
#include "input/compared.h"

#include <string.h>

#include "input/profiled.h"

/* Opens, loads and names; the recording stays open only where somebody will ask it more. */
int compared_load(struct compared *c, size_t side)
{
	struct compared_side *s = &c->sides[side];
	const struct profiled_opts opts = {
		.cmd = c->cmd,
		.names = true,
		.progress = c->progress,
		.load = { .keep = PROFILE_KEEP_PID | PROFILE_KEEP_TID | PROFILE_KEEP_SAMPLES,
		          .max_stack = c->max_stack,
		          .functions = !c->keeps,
		          .starts = !c->keeps,
		          .lines = !c->naming->no_inline,
		          .filter = c->filter },
	};
	struct seam_error err = { 0 };
	int code = infile_open(&s->in, c->cmd), r;

	if (code != EXIT_OK)
		return code;
	r = profiled_load(&s->in, c->naming, &opts, &s->rec, &s->load, &err);
	if (r < 0) {
		cmd_error(c->cmd, "%s", cmd_reason(&err, r));
		code = EXIT_FAILED;
	} else {
		code = infile_verdict(&s->in, c->cmd, s->rec);
	}
	if (!c->keeps) {
		recording_close(s->rec);
		s->rec = NULL;
	}
	return code;
}

/* Functions without a name are the same on both sides only if their objects are. -errno. */
static int compared_fold(struct compared *c)
{
	int r = 0;

	for (size_t i = 0; i < c->n && r >= 0; i++)
		r = builds_add(&c->builds, c->sides[i].load.profile);
	for (size_t i = 0; i < c->n && r >= 0; i++)
		r = builds_fold(&c->sides[i].load.profile, &c->builds);
	return r;
}

int compared_settle(struct compared *c)
{
	int r = c->n > 1 ? compared_fold(c) : 0;

	for (size_t i = 0; i < c->n && r >= 0; i++)
		r = profile_canonical(&c->sides[i].profile, c->sides[i].load.profile);
	if (r < 0)
		cmd_error(c->cmd, "%s", strerror(-r));
	return r;
}

struct builds *compared_builds(struct compared *c)
{
	return c->n > 1 ? &c->builds : NULL;
}

void compared_free(struct compared *c)
{
	builds_free(&c->builds);
	for (size_t i = 0; i < COMPARED_SIDES; i++) {
		profile_free(c->sides[i].profile);
		load_free(&c->sides[i].load);
		recording_close(c->sides[i].rec);
		infile_close(&c->sides[i].in);
	}
}
