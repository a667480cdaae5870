/* SPDX-License-Identifier: MIT */
/*
 * site.h: what a served page asks for, computed when it asks: "" the page, "data" its data (from,
 * to: of a part of the time; before_from, before_to: of the other recording's), "source" a
 * function's code (name, object; from, to; tids: spans of thread ids, "17-19.25"; side 1: of the
 * other recording).
 */
#ifndef SEAM_SERVE_SITE_H
#define SEAM_SERVE_SITE_H

#include "annotate/annotate.h"
#include "export/flame.h"
#include "serve/serve.h"

/* One page. The owner fills it, and frees what it points to. */
struct site {
	struct flame_side sides[FLAME_SIDES];
	size_t n;
	struct flame_opts opts;
	struct annotate annotate[FLAME_SIDES]; /* of each side */
};

/* As serve_opts.answer; ctx is a struct site. */
int site_answer(void *ctx, const struct serve_request *request, struct serve_answer *ret);

#endif
