/* SPDX-License-Identifier: MIT */
/*
 * aside.h: a function's text that a thread makes, while keys are answered. Signals are for the
 * thread that has the screen.
 */
#ifndef SEAM_VIEW_ASIDE_H
#define SEAM_VIEW_ASIDE_H

#include "view/view.h"

struct aside;

/* Begins with opts->annotate; what f has is copied. -ENOMEM; -errno. */
int aside_start(struct aside **ret, const struct view_opts *opts, const struct view_function *f);
/* Readable when it is made. */
int aside_fd(const struct aside *l);
/* Waits for it, if need be, and takes it. -ENOMEM. */
int aside_take(struct aside *l, struct buf *text);
/* Gives it up, if it is not made yet. NULL is allowed. */
void aside_free(struct aside *l);

#endif
