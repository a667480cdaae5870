// SPDX-License-Identifier: MIT
/*
 * points.c: see points.h.
 *
 * The share of one function over time: the span of a query is cut into steps, by which the store
 * adds up.
 */
#include "fleet/points.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/trie.h"
#include "fleet/answer.h"
#include "base/when.h"

/* Points where no step is given. */
#define POINTS 60u
#define BAR 40u /* columns of the longest bar */

/* Which frames are of the function, and which nodes have one on their path. */
struct points_marks {
	unsigned char *frames, *nodes;
};

/* A parent's number is less than its child's. -ENOMEM. */
static int points_mark(struct points_marks *m, const struct profile *p, const char *function)
{
	const struct trie *tree = profile_tree(p);
	const size_t n_frames = profile_n_frames(p);

	m->frames = calloc(n_frames + 1, 1);
	m->nodes = calloc((size_t)tree->n + 1, 1);
	if (!m->frames || !m->nodes)
		return -ENOMEM;
	for (uint32_t f = 1; f <= n_frames; f++) {
		const uint32_t symbol = profile_frame_at(p, f)->symbol;

		m->frames[f] = symbol && !strcmp(profile_text(p, symbol), function);
	}
	for (uint32_t id = 1, end; id <= tree->n;) {
		const uint32_t *entry = trie_run(tree, id, &end);

		for (; id < end; id++, entry++) {
			const struct trie_node node = trie_of(tree, id, *entry);

			m->nodes[id] = m->nodes[node.parent] | m->frames[node.key];
		}
	}
	return 0;
}

/* The weights of all functions of this name, and of all samples, by slice; of the first event. */
static int points_sum(struct points *points, const struct profile *p, const char *function)
{
	struct points_marks m = { 0 };
	int r = points_mark(&m, p, function);

	for (size_t i = 0; i < profile_n_rows(p) && r >= 0; i++) {
		const struct profile_row *row = profile_row_at(p, i);
		const uint32_t node = row->key.node;
		struct point *at;

		if (row->key.event != 1 || row->key.slice >= points->n)
			continue;
		at = &points->at[row->key.slice];
		at->all += row->weight;
		at->total += m.nodes[node] ? row->weight : 0;
		at->self += node && m.frames[profile_node_at(p, node).frame] ? row->weight : 0;
	}
	free(m.frames);
	free(m.nodes);
	return r;
}

/* In percent; 0 of nothing. */
static double points_share(uint64_t part, uint64_t all)
{
	return all ? 100.0 * (double)part / (double)all : 0;
}

/* The bar has BAR columns for the largest share. */
void points_text(const struct points *p, struct buf *out)
{
	char at[WHEN_TEXT_MAX];
	double most = 0;

	for (size_t i = 0; i < p->n; i++)
		most = points_share(p->at[i].total, p->at[i].all) > most
		               ? points_share(p->at[i].total, p->at[i].all)
		               : most;
	for (size_t i = 0; i < p->n; i++) {
		double share = points_share(p->at[i].total, p->at[i].all);
		unsigned bar = most > 0 ? (unsigned)(share / most * BAR + 0.5) : 0;

		buf_printf(out, "%s ", when_text(p->at[i].from_ns, at));
		if (p->at[i].all)
			buf_printf(out, "%7.2f%% ", share);
		else
			buf_put_text(out, "       - ");
		while (bar--)
			buf_put_text(out, "#");
		buf_put_text(out, "\n");
	}
}

/* A line a point; times in nanoseconds since 1970. */
void points_csv(const struct points *p, struct buf *out)
{
	buf_put_text(out, "time_ns,share_percent,total,self,all\n");
	for (size_t i = 0; i < p->n; i++)
		buf_printf(out, "%llu,%.4f,%llu,%llu,%llu\n", (unsigned long long)p->at[i].from_ns,
		           points_share(p->at[i].total, p->at[i].all),
		           (unsigned long long)p->at[i].total, (unsigned long long)p->at[i].self,
		           (unsigned long long)p->at[i].all);
}

/* Weights are written as they are; a share is for the reader to compute. */
void points_json(const struct points *p, struct buf *out)
{
	struct json j = { .out = out };

	json_open(&j, '{');
	json_key(&j, "version");
	json_u64(&j, 1);
	json_key(&j, "function");
	json_string(&j, p->function);
	json_key(&j, "points");
	json_open(&j, '[');
	for (size_t i = 0; i < p->n; i++) {
		json_open(&j, '{');
		json_key(&j, "time_ns");
		json_u64(&j, p->at[i].from_ns);
		json_key(&j, "total");
		json_u64(&j, p->at[i].total);
		json_key(&j, "self");
		json_u64(&j, p->at[i].self);
		json_key(&j, "all");
		json_u64(&j, p->at[i].all);
		json_close(&j, '}');
	}
	json_close(&j, ']');
	json_close(&j, '}');
	buf_put_text(out, "\n");
}

/* How long a step is: as asked, or so that there are POINTS of them. */
static uint64_t points_step(const struct store_query *q, uint64_t step_ns)
{
	return step_ns ? step_ns : (q->to_ns - q->from_ns + POINTS - 1) / POINTS;
}

/* How many steps that makes. */
uint64_t points_count(const struct store_query *q, uint64_t step_ns)
{
	uint64_t step = points_step(q, step_ns);

	return (q->to_ns - q->from_ns + step - 1) / step;
}

/* A point that no window is in has no weights, and is a point nevertheless. -E2BIG: more than
 * POINTS_MAX; -ENOMEM. */
int points_load(struct points *ret, struct store *store, const struct store_query *q,
                const char *function, uint64_t step_ns, struct seam_error *err)
{
	struct store_query sliced = *q;
	uint64_t n = points_count(q, step_ns);
	struct answer a = { 0 };
	int r;

	*ret = (struct points){ .function = function };
	if (n > POINTS_MAX)
		return -E2BIG;
	ret->at = calloc(n + 1, sizeof(*ret->at));
	if (!ret->at)
		return -ENOMEM;
	sliced.slice_ns = points_step(q, step_ns);
	sliced.function = function;
	for (ret->n = 0; ret->n < n; ret->n++)
		ret->at[ret->n].from_ns = q->from_ns + ret->n * sliced.slice_ns;
	r = answer_load(&a, store, &sliced, PROFILE_KEEP_SLICE, err);
	if (r >= 0)
		r = points_sum(ret, a.load.profile, function);
	answer_free(&a);
	return r;
}

void points_free(struct points *p)
{
	free(p->at);
	*p = (struct points){ 0 };
}
