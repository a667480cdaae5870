// SPDX-License-Identifier: MIT
/*
 * view_export.c: the samples that are shown, in the form of another tool: those of the scope (an
 * event, a command, a thread, marked functions) whose stack, object or command passes the pane's
 * filter. Of two sides both are in one file.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/intern.h"
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

	if (watched_stopped(&k->v->watched))
		return false;
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

/* The samples of a scope that are shown; the caller frees them. -ENOMEM. */
static int view_export_samples(struct view *v, const struct pane_scope *s, struct profile **ret)
{
	struct view_passing k = { .v = v };
	struct profile *p;
	int r = view_export_find(&k, s->profile);

	/* Without a filter all pass, also those without a stack. */
	if (r >= 0 && !v->top->filter.n)
		k.node[PROFILE_ROOT] = true;
	if (r >= 0)
		r = profile_filter(&p, s->profile, view_export_keeps, &k);
	free(k.node);
	if (r < 0)
		return r;
	r = profile_canonical(ret, p);
	profile_free(p);
	return r;
}

/* What is written, and who may stop that. */
struct view_file {
	int fd;
	struct watched *watched;
};

/* For export_out: write(2) may take a part only, and a signal may interrupt it. */
static int view_export_write(void *ctx, const void *bytes, size_t n)
{
	const struct view_file *file = ctx;
	const unsigned char *at = bytes;

	if (watched_stopped(file->watched))
		return -ECANCELED;
	while (n) {
		ssize_t done = write(file->fd, at, n);

		if (done < 0 && errno != EINTR)
			return -errno;
		at += done > 0 ? done : 0;
		n -= done > 0 ? (size_t)done : 0;
	}
	return 0;
}

bool view_exports(const struct view *v, const char *path, const char **refused)
{
	const struct export_format *f = export_by_extension(path);

	*refused = NULL;
	if (f && f->keep & PROFILE_KEEP_SAMPLES)
		*refused = "needs every sample: seam export writes it";
	else if (f && v->opts.compare && v->opts.compare->half)
		*refused = "has both sides' counts: one is still to be read";
	else if (f && v->opts.compare && f->write != export_folded)
		*refused = "has no place for two sides; .folded has, and other names get text";
	return f && !*refused;
}

/* Writes the samples of a scope. -ENODATA: there are none. */
static int view_export_scope(struct view *v, struct pane_scope *s, const struct export_format *f,
                             struct export_out *out)
{
	struct export_opts opts = { .sz = sizeof(opts) };
	struct profile *p;
	int r = view_export_samples(v, s, &p);

	if (r < 0)
		return r;
	opts.event = pane_event(p, s->event_name);
	r = opts.event == PANE_NO_EVENT ? -ENODATA : f->write(p, &opts, out);
	if (r >= 0)
		r = export_flush(out);
	profile_free(p);
	return r;
}

static int view_export_put(void *ctx, const void *bytes, size_t n)
{
	return buf_put(ctx, bytes, n);
}

/* The counts that both sides have of a stack, by its text's id. */
struct view_export_pairs {
	struct intern stacks;
	uint64_t (*counts)[2];
	size_t capacity;
};

/* Adds lines of one side: "stack count". -ENOMEM. */
static int view_export_pair(struct view_export_pairs *k, struct buf *lines, size_t side)
{
	for (const char *at = buf_text(lines); *at;) {
		size_t n = strcspn(at, "\n"), stack = n;
		uint32_t id;

		while (stack && at[stack - 1] != ' ')
			stack--;
		id = intern_bytes(&k->stacks, at, stack ? stack - 1 : 0);
		if (id == INTERN_FAILED ||
		    array_grow_zeroed(&k->counts, &k->capacity, (size_t)id + 1,
		                      sizeof(*k->counts)) < 0)
			return -ENOMEM;
		k->counts[id][side] += strtoull(at + stack, NULL, 10);
		at += n + (at[n] == '\n');
	}
	return 0;
}

/* Both sides in one file: "stack base new", as tools that draw differences of flame graphs read
 * it. */
static int view_export_both(struct view *v, const struct export_format *f, struct export_out *out)
{
	struct pane_scope *s = v->top->scope, *side[2] = { s->base, s };
	struct view_export_pairs k = { 0 };
	int r = 0;

	for (size_t i = 0; i < 2 && r >= 0; i++) {
		struct buf lines = { 0 };
		struct export_out to = { .write = view_export_put, .ctx = &lines };

		r = view_export_scope(v, side[i], f, &to);
		if (r == -ENODATA)
			r = 0;
		if (r >= 0)
			r = view_export_pair(&k, &lines, i);
		buf_free(&to.buf);
		buf_free(&lines);
	}
	for (uint32_t i = 1; i < k.stacks.n && r >= 0; i++)
		r = buf_printf(&out->buf, "%s %llu %llu\n", intern_get(&k.stacks, i),
		               (unsigned long long)k.counts[i][0],
		               (unsigned long long)k.counts[i][1]);
	free(k.counts);
	r = r >= 0 && k.stacks.n < 2 ? -ENODATA : r;
	intern_free(&k.stacks);
	return r < 0 ? r : export_flush(out);
}

/* In the format that the name of the file says. */
int view_export(struct view *v, const char *path, int fd)
{
	const struct export_format *f = export_by_extension(path);
	struct view_file file = { fd, &v->watched };
	struct export_out out = { .write = view_export_write, .ctx = &file };
	int r = v->opts.compare ? view_export_both(v, f, &out)
	                        : view_export_scope(v, v->top->scope, f, &out);

	buf_free(&out.buf);
	return r;
}
