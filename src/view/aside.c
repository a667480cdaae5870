// SPDX-License-Identifier: MIT
// aside.c: see aside.h. What the thread fills is read when it has ended, so there is no lock.
#include "view/aside.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/thread.h"

struct aside {
	const struct view_opts *opts;
	char *object, *symbol, *event;
	struct view_choice *choices; /* their texts are copies */
	size_t n_choices;
	int done, stop; /* eventfd */
	pthread_t thread;
	bool started;
	struct buf text;
	int result;
};

static void *aside_thread(void *arg)
{
	struct aside *l = arg;
	const struct view_function f = { l->object, l->symbol, l->event, l->choices, l->n_choices };

	l->result = l->opts->annotate(l->opts->ctx, &f, l->stop, &l->text);
	/* Fails only when the counter is full: then it is readable anyway. */
	(void)!eventfd_write(l->done, 1);
	return NULL;
}

/* Copies what is asked for, and makes the descriptors. -ENOMEM; -errno. */
static int aside_prepare(struct aside *l, const struct view_function *f)
{
	l->object = strdup(f->object);
	l->symbol = strdup(f->symbol);
	l->event = f->event ? strdup(f->event) : NULL;
	l->choices = calloc(f->n_choices + 1, sizeof(*l->choices));
	for (; l->choices && l->n_choices < f->n_choices; l->n_choices++) {
		char *text = strdup(f->choices[l->n_choices].text);

		if (!text)
			return -ENOMEM;
		l->choices[l->n_choices] = f->choices[l->n_choices];
		l->choices[l->n_choices].text = text;
	}
	l->done = eventfd(0, EFD_CLOEXEC);
	l->stop = eventfd(0, EFD_CLOEXEC);
	if (l->done < 0 || l->stop < 0)
		return -errno;
	return l->object && l->symbol && l->choices && (l->event || !f->event) ? 0 : -ENOMEM;
}

/* Copies what is needed and starts the thread; a failure leaves nothing behind. */
int aside_start(struct aside **ret, const struct view_opts *opts, const struct view_function *f)
{
	struct aside *l = calloc(1, sizeof(*l));
	int r;

	if (!l)
		return -ENOMEM;
	l->opts = opts;
	l->done = l->stop = -1;
	r = aside_prepare(l, f);
	if (r >= 0) {
		r = thread_start(&l->thread, aside_thread, l);
		l->started = r >= 0;
	}
	if (r < 0) {
		aside_free(l);
		return r;
	}
	*ret = l;
	return 0;
}

int aside_fd(const struct aside *l)
{
	return l->done;
}

static void aside_join(struct aside *l)
{
	if (l->started)
		pthread_join(l->thread, NULL);
	l->started = false;
}

int aside_take(struct aside *l, struct buf *text)
{
	aside_join(l);
	*text = l->text;
	l->text = (struct buf){ 0 };
	return l->result;
}

/* The thread is asked to stop, and waited for. */
void aside_free(struct aside *l)
{
	if (!l)
		return;
	if (l->stop >= 0)
		(void)!eventfd_write(l->stop, 1);
	aside_join(l);
	if (l->done >= 0)
		close(l->done);
	if (l->stop >= 0)
		close(l->stop);
	for (size_t i = 0; i < l->n_choices; i++)
		free((char *)l->choices[i].text);
	free(l->choices);
	free(l->object);
	free(l->symbol);
	free(l->event);
	buf_free(&l->text);
	free(l);
}
