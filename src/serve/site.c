// SPDX-License-Identifier: MIT
// site.c: see site.h. Arguments come from a browser: what is not as it must be is refused.
#include "serve/site.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SITE_TIDS 4096u
/* What a browser holds and draws at once without a wait: some 40 MB. */
static const struct flame_bounds site_bounds = { .nodes = 400000, .rows = 1000000 };

/* A whole number of at most 18 digits. False: it is none. */
static bool site_number(const char *text, uint64_t *ret)
{
	size_t n = strspn(text, "0123456789");

	if (!n || n > 18 || text[n])
		return false;
	*ret = strtoull(text, NULL, 10);
	return true;
}

/* The part of the time that is asked for, in nanoseconds since the first sample; *to_ns 0: all of
 * it. -EINVAL. */
static int site_part(const struct serve_request *request, uint64_t *from_ns, uint64_t *to_ns)
{
	const char *from = request->argument(request, "from"),
	           *to = request->argument(request, "to");

	*from_ns = *to_ns = 0;
	if (!from && !to)
		return 0;
	if (!from || !to || !site_number(from, from_ns) || !site_number(to, to_ns))
		return -EINVAL;
	return *from_ns < *to_ns ? 0 : -EINVAL;
}

static int site_data(struct site *s, const struct serve_request *request, struct serve_answer *ret)
{
	int r = site_part(request, &s->sides[0].from_ns, &s->sides[0].to_ns);

	if (!s->opts.bounds)
		s->opts.bounds = &site_bounds;
	return r < 0 ? r : flame_served_data(s->sides, s->n, &s->opts, &ret->body);
}

/* The threads that are asked for, "17.18.19". NULL and *ret_n 0: not given. -EINVAL, -ENOMEM. */
static int site_tids(const char *text, uint32_t **ret, size_t *ret_n)
{
	uint32_t *tids;
	uint64_t tid;
	char one[24];

	if (!text)
		return 0;
	tids = calloc(SITE_TIDS, sizeof(*tids));
	if (!tids)
		return -ENOMEM;
	*ret = tids;
	while (*text) {
		size_t n = strcspn(text, ".");

		if (n >= sizeof(one) || *ret_n == SITE_TIDS)
			return -EINVAL;
		memcpy(one, text, n);
		one[n] = '\0';
		/* -1: the recording does not say. */
		if (!strcmp(one, "-1"))
			tid = PROFILE_NOT_KEPT;
		else if (!site_number(one, &tid) || tid > UINT32_MAX)
			return -EINVAL;
		tids[(*ret_n)++] = (uint32_t)tid;
		text += n + (text[n] == '.');
	}
	return 0;
}

/* When the first sample was taken. */
static uint64_t site_start(const struct profile *p)
{
	uint64_t start = UINT64_MAX;

	for (size_t i = 0; i < profile_n_samples(p); i++)
		if (profile_sample_at(p, i)->time_ns < start)
			start = profile_sample_at(p, i)->time_ns;
	return start;
}

/* The code of one function, with what the chosen samples hit. */
static int site_source(struct site *s, const struct serve_request *request,
                       struct serve_answer *ret)
{
	const char *name = request->argument(request, "name");
	const char *object = request->argument(request, "object");
	const char *which = request->argument(request, "side");
	struct annotate_chosen chosen = { 0 };
	uint32_t *tids = NULL;
	uint64_t start, side = 0;
	int r = name && object ? site_part(request, &chosen.from_ns, &chosen.to_ns) : -EINVAL;

	if (r >= 0 && which && (!site_number(which, &side) || side >= s->n))
		r = -EINVAL;
	if (r >= 0)
		r = site_tids(request->argument(request, "tids"), &tids, &chosen.n_tids);
	if (r >= 0 && chosen.to_ns) {
		start = site_start(s->sides[side].profile);
		chosen.from_ns += start;
		chosen.to_ns += start;
	}
	chosen.tids = tids;
	if (r >= 0)
		r = annotate_page_function(&s->annotate[side], name, object, &chosen, &ret->body);
	ret->type = "application/json";
	free(tids);
	return r;
}

int site_answer(void *ctx, const struct serve_request *request, struct serve_answer *ret)
{
	if (!*request->path) {
		ret->type = "text/html; charset=utf-8";
		flame_served_page(&ret->body);
		return 0;
	}
	if (!strcmp(request->path, "data"))
		return site_data(ctx, request, ret);
	if (!strcmp(request->path, "source"))
		return site_source(ctx, request, ret);
	return -ENOENT;
}
