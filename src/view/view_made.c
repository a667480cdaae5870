// SPDX-License-Identifier: MIT
/*
 * view_made.c: see view_made.h. Knows when a thread is worth it, what becomes of keys while it
 * works, and how it ends. Keys that come meanwhile are for what is made, so they are done after it,
 * in their order: typed fast or slowly, they do the same.
 */
#include "view/view_made.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "view/job.h"

#define HERE_ROWS 20000 /* what is made of so many rows takes less than a person sees */
#define AHEAD_MAX 256   /* keys */

static void view_made_free(struct view_made *m)
{
	for (size_t i = 0; i < m->n; i++)
		pane_free(m->again[i]);
	free(m->again);
	if (m->step && m->ready >= 0)
		close(m->ready);
	pane_free(m->pane);
	pane_scope_free(m->scope);
	buf_free(&m->like.value);
	buf_free(&m->like.label);
	buf_free(&m->text);
	view_news_free(&m->news);
	free(m);
}

/* For job_start. */
static int view_made_work(void *ctx)
{
	struct view *v = ctx;

	return v->made->make(v, v->made);
}

/* Shows what was made, or says why it was not. -ENOMEM. */
static int view_made_end(struct view *v, int result)
{
	struct view_made *m = v->made;
	int r = 0;

	v->made = NULL;
	if (watched_stopped(&v->watched)) {
		if (m->stopped)
			m->stopped(v, m);
	} else if (result == -ENOMEM) {
		view_say(v, "there is no memory for that");
	} else {
		r = m->put(v, m);
	}
	view_made_free(m);
	return r;
}

/* Of the samples of which something is made. */
static size_t view_made_rows(const struct view *v, const struct view_made *m)
{
	const struct profile *p = m->news.profile ? m->news.profile : v->top->scope->profile;

	return profile_n_rows(p);
}

/* Makes a first step, which often is the last one. -ENOMEM. */
static int view_make_steps(struct view *v, struct view_made *m)
{
	int r = m->step(v, m);

	m->ready = r ? -1 : eventfd(1, EFD_CLOEXEC);
	/* Without a descriptor all steps are made at once. */
	while (!r && m->ready < 0)
		r = m->step(v, m);
	return r ? view_made_end(v, r) : 0;
}

int view_make(struct view *v, struct view_made *m)
{
	size_t most = v->opts.aside_rows ? v->opts.aside_rows : HERE_ROWS;
	int r;

	if (!m)
		return -ENOMEM;
	v->made = m;
	atomic_store(&v->watched.stopped, false);
	atomic_store(&v->watched.done, 0);
	if (m->step)
		return view_make_steps(v, m);
	if (m->here || view_made_rows(v, m) < most)
		return view_made_end(v, m->make(v, m));
	r = job_start(&v->job, view_made_work, v);
	/* Without a thread it takes its time here. */
	return r < 0 ? view_made_end(v, m->make(v, m)) : 0;
}

static void view_made_stop(struct view *v)
{
	atomic_store(&v->watched.stopped, true);
}

void view_made_drop(struct view *v)
{
	if (!v->made)
		return;
	view_made_stop(v);
	if (v->job)
		job_end(v->job);
	v->job = NULL;
	view_made_free(v->made);
	v->made = NULL;
}

/* Whether a key says, as Escape does, that what is made is not wanted; behind others it may be a
 * part of what they type. */
static bool view_gives_up(int key)
{
	return key == VIEW_KEY_LEFT || key == VIEW_KEY_ERASE || key == 'h';
}

/* Keys that come while more is typed ahead than a person does are lost. */
int view_key_meanwhile(struct view *v, int key)
{
	const struct view_made *m = v->made;
	/* What is behind others may be a part of a text that they type. */
	bool types = v->ahead.n;
	bool section = key >= '1' && key < '1' + (int)m->sections;

	if (m->renews) {
		view_made_stop(v);
	} else if (!types && key == 'q') {
		view_made_stop(v);
		return 1;
	} else if (key == VIEW_KEY_ESCAPE || (!types && view_gives_up(key))) {
		view_made_stop(v);
		buf_clear(&v->ahead);
		view_say(v, "given up");
		return 0;
	} else if (section && !v->ahead.n) {
		view_made_stop(v);
	}
	if (v->ahead.n < AHEAD_MAX * sizeof(key))
		buf_put(&v->ahead, &key, sizeof(key));
	return v->ahead.failed ? -ENOMEM : 0;
}

int view_made_take(struct view *v)
{
	int r;

	if (v->job)
		r = job_end(v->job);
	else if (!(r = watched_stopped(&v->watched) ? 1 : v->made->step(v, v->made)))
		return 0;
	v->job = NULL;
	return view_made_end(v, r);
}

int view_made_fd(const struct view *v)
{
	return v->job ? job_fd(v->job) : v->made->ready;
}
