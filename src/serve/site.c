// SPDX-License-Identifier: MIT
// site.c: see site.h. Arguments come from a browser: what is not as it must be is refused.
#include "serve/site.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SITE_TIDS 32768u /* spans of thread ids: more than a request has room for */
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

/* The part of the time that is asked for with these arguments, in nanoseconds since the first
 * sample; *to_ns 0: all of it. -EINVAL. */
static int site_part(const struct serve_request *request, const char *from_name,
                     const char *to_name, uint64_t *from_ns, uint64_t *to_ns)
{
	const char *from = request->argument(request, from_name),
	           *to = request->argument(request, to_name);

	*from_ns = *to_ns = 0;
	if (!from && !to)
		return 0;
	if (!from || !to || !site_number(from, from_ns) || !site_number(to, to_ns))
		return -EINVAL;
	return *from_ns < *to_ns ? 0 : -EINVAL;
}

static int site_data(struct site *s, const struct serve_request *request, struct serve_answer *ret)
{
	int r = site_part(request, "from", "to", &s->sides[0].from_ns, &s->sides[0].to_ns);

	if (r >= 0)
		r = site_part(request, "before_from", "before_to", &s->sides[1].from_ns,
		              &s->sides[1].to_ns);
	if (!s->opts.bounds)
		s->opts.bounds = &site_bounds;
	return r < 0 ? r : flame_served_data(s->sides, s->n, &s->opts, &ret->body);
}

/* One span of thread ids: "17", "17-19", "-1": threads whose id is not known. False: it is none. */
static bool site_span(char *text, struct annotate_tids *ret)
{
	char *end = *text == '-' ? NULL : strchr(text, '-');
	uint64_t first, last;

	if (!strcmp(text, "-1")) {
		*ret = (struct annotate_tids){ PROFILE_NOT_KEPT, PROFILE_NOT_KEPT };
		return true;
	}
	if (end)
		*end++ = '\0';
	if (!site_number(text, &first) || !site_number(end ? end : text, &last))
		return false;
	if (first > last || last >= PROFILE_NOT_KEPT)
		return false;
	*ret = (struct annotate_tids){ (uint32_t)first, (uint32_t)last };
	return true;
}

static int site_by_tid(const void *pa, const void *pb)
{
	const struct annotate_tids *a = pa, *b = pb;

	return (a->first > b->first) - (a->first < b->first);
}

/* The threads that are asked for, "17-19.25", in any order. NULL and *ret_n 0: not given. -EINVAL,
 * also where spans overlap. -ENOMEM. */
static int site_tids(const char *text, struct annotate_tids **ret, size_t *ret_n)
{
	struct annotate_tids *tids;
	char one[48];

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
		if (!site_span(one, &tids[(*ret_n)++]))
			return -EINVAL;
		text += n + (text[n] == '.');
	}
	qsort(tids, *ret_n, sizeof(*tids), site_by_tid);
	for (size_t i = 1; i < *ret_n; i++)
		if (tids[i].first <= tids[i - 1].last)
			return -EINVAL;
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
	struct annotate_tids *tids = NULL;
	uint64_t start, side = 0;
	int r = name && object ? site_part(request, "from", "to", &chosen.from_ns, &chosen.to_ns)
	                       : -EINVAL;

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

/* Answers by the path; nothing of a recording before it is read. */
int site_answer(void *ctx, const struct serve_request *request, struct serve_answer *ret)
{
	int (*answer)(struct site *, const struct serve_request *, struct serve_answer *);
	struct site *s = ctx;
	bool seen;

	if (!*request->path) {
		ret->type = "text/html; charset=utf-8";
		flame_served_page(&ret->body);
		return 0;
	}
	if (!strcmp(request->path, "state") || !strcmp(request->path, "seen")) {
		if (!strcmp(request->path, "seen"))
			site_news_seen(&s->news);
		ret->type = "application/json";
		site_news_put(&s->news, s->opts.title, &ret->body);
		return 0;
	}
	answer = !strcmp(request->path, "data")     ? site_data
	         : !strcmp(request->path, "source") ? site_source
	                                            : NULL;
	if (!answer)
		return -ENOENT;
	return site_news_phase(&s->news, &seen) == SITE_READY ? answer(s, request, ret) : -EAGAIN;
}
