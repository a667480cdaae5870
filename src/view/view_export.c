// SPDX-License-Identifier: MIT
/*
 * view_export.c: the samples that are shown, in the form of another tool: those of the scope (an
 * event, a command, a thread, marked functions) whose stack, object or command passes the pane's
 * filter.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/shown.h"
#include "export/export.h"
#include "view/view_state.h"

/* What is kept of a scope's samples. */
struct view_passing {
	struct view *v;
	bool *node; /* by node: it, or one it was called from, passes */
};

/* For profile_filter. */
static bool view_export_keeps(const struct profile *p, const struct profile_row *row, void *ctx)
{
	const struct view_passing *k = ctx;
	uint32_t comm = profile_task_at(p, row->key.task)->comm;

	return k->node[row->key.node] || (comm && pane_passes(k->v->top, profile_text(p, comm)));
}

/* Finds the stacks with a function, or an object, that passes. A parent's number is less than its
 * children's. -ENOMEM. */
static int view_export_find(struct view_passing *k, const struct profile *p)
{
	size_t n = profile_n_nodes(p), frames = profile_n_frames(p);
	bool *frame = calloc(frames + 1, sizeof(*frame));

	k->node = calloc(n + 1, sizeof(*k->node));
	for (uint32_t i = 1; frame && k->node && i <= frames; i++) {
		const struct profile_frame *f = profile_frame_at(p, i);

		frame[i] = pane_passes(k->v->top, pane_symbol(p, f->symbol)) ||
		           pane_passes(k->v->top, pane_object(p, f->object));
	}
	for (uint32_t i = 1; frame && k->node && i <= n; i++) {
		const struct profile_node node = profile_node_at(p, i);

		k->node[i] = k->node[node.parent] || frame[node.frame];
	}
	free(frame);
	return frame && k->node ? 0 : -ENOMEM;
}

/* The samples that are shown; the caller frees them. -ENOMEM. */
static int view_export_samples(struct view *v, struct profile **ret)
{
	struct view_passing k = { .v = v };
	struct profile *p;
	int r = view_export_find(&k, v->top->scope->profile);

	/* Without a filter all pass, also those without a stack. */
	if (r >= 0 && !v->top->filter.n)
		k.node[PROFILE_ROOT] = true;
	if (r >= 0)
		r = profile_filter(&p, v->top->scope->profile, view_export_keeps, &k);
	free(k.node);
	if (r < 0)
		return r;
	r = profile_canonical(ret, p);
	profile_free(p);
	return r;
}

/* For export_out: write(2) may take a part only, and a signal may interrupt it. */
static int view_export_write(void *ctx, const void *bytes, size_t n)
{
	const unsigned char *at = bytes;
	int fd = *(const int *)ctx;

	while (n) {
		ssize_t done = write(fd, at, n);

		if (done < 0 && errno != EINTR)
			return -errno;
		at += done > 0 ? done : 0;
		n -= done > 0 ? (size_t)done : 0;
	}
	return 0;
}

bool view_can_export(const char *path)
{
	const struct export_format *f = export_by_extension(path);

	/* The view has no single samples. */
	return f && !(f->keep & PROFILE_KEEP_SAMPLES);
}

/* In the format that the name of the file says. */
int view_export(struct view *v, const char *path, int fd)
{
	const struct export_format *f = export_by_extension(path);
	struct export_opts opts = { .sz = sizeof(opts) };
	struct export_out out = { .write = view_export_write, .ctx = &fd };
	struct profile *p;
	int r = view_export_samples(v, &p);

	if (r < 0)
		return r;
	opts.event = pane_event(p, buf_text(&v->top->scope->event_name));
	r = opts.event == PANE_NO_EVENT ? -ENODATA : f->write(p, &opts, &out);
	if (r >= 0)
		r = export_flush(&out);
	buf_free(&out.buf);
	profile_free(p);
	return r;
}
