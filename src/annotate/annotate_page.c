// SPDX-License-Identifier: MIT
/*
 * annotate_page.c: functions for the page of export/flame, which shows source and instructions
 * beside its other panes.
 *
 * A function is meant by name and object, as the page shows them. Its samples are those in its
 * code: its own, and those of what was inlined into it. A function that was itself inlined has a
 * part for each function that it is in.
 *
 * JSON of a function: "name", "object", "more" (parts that are left out), "parts": "in" (who has
 * the code), "build_id", "reason" (why there are no instructions; null), "lines_reason", "source"
 * (its instructions are lines of source), "start" (hexadecimal), "cut" (instructions that are left
 * out), "files", "events" (names), "insns" [offset, text, file or -1, line], "hits" [event,
 * instruction or -1, samples, weight], "lines" [file, line, text],
 * "refused" [file, why it is not shown].
 *
 * Invariant: every sample of the function's parts is in exactly one of "hits".
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "annotate/annotate.h"
#include "base/array.h"
#include "base/json.h"
#include "base/pool.h"
#include "base/shown.h"
#include "profile/builds.h"

#define PAGE_PARTS 4u
#define PAGE_INSNS 2000u /* of a part; more are shown only near those that were hit */
#define PAGE_NEAR 8u
#define PAGE_CONTEXT 2u /* lines around those that have instructions */
#define PAGE_LINES 4000u
#define PAGE_TEXT 400u /* bytes of a line */

/* The code of one function that has samples of the one that is meant. */
struct page_part {
	uint32_t symbol;
	struct annotate_function f;
};

struct page_hit {
	uint32_t event, part;
	uint64_t vaddr;
};

struct page_count {
	uint64_t samples, weight;
};

/* One question. */
struct page {
	struct annotate *a;
	const char *name, *object;
	const struct annotate_chosen *chosen;
	bool *is_meant; /* by frame of the profile */
	struct page_part *parts;
	size_t n_parts, parts_capacity;
	struct pool hits; /* of struct page_hit */
	struct page_count *counts;
	size_t counts_capacity;
};

/* Whether a text is shown as another. */
static bool page_shows(const char *text, const char *as)
{
	struct buf shown = { 0 };
	bool is;

	/* Only what has an escape looks unlike itself. */
	if (strcmp(text, as) != 0 && !strchr(as, '\\'))
		return false;
	shown_put_text(&shown, text);
	is = !shown.failed && !strcmp(buf_text(&shown), as);
	buf_free(&shown);
	return is;
}

/* What the page knows an object by. */
static const char *page_object(const struct annotate *a, uint32_t object)
{
	const struct profile *p = a->load.profile;
	const char *path = profile_text(p, profile_object_at(p, object)->path);

	return a->builds ? builds_known(a->builds, path) : path;
}

/* Marks the frames that are the function that is meant. -ENOMEM. */
static int page_mark(struct page *q)
{
	const struct profile *p = q->a->load.profile;
	size_t n = profile_n_strings(p);
	signed char *known = calloc(n + 1, 1); /* of a string: 1 is the name, -1 is not */

	q->is_meant = calloc(profile_n_frames(p) + 1, sizeof(*q->is_meant));
	if (!known || !q->is_meant) {
		free(known);
		return -ENOMEM;
	}
	for (uint32_t i = 1; i <= profile_n_frames(p); i++) {
		const struct profile_frame *f = profile_frame_at(p, i);

		if (!f->symbol)
			continue;
		if (!known[f->symbol])
			known[f->symbol] = page_shows(profile_text(p, f->symbol), q->name) ? 1 : -1;
		q->is_meant[i] =
		        known[f->symbol] > 0 && page_shows(page_object(q->a, f->object), q->object);
	}
	free(known);
	return 0;
}

/* The function that has the code of a stack's innermost frame, which may be inlined; NULL: the
 * stack is empty. *meant: it, or one that is inlined there, is the one. */
static const struct profile_frame *page_code(const struct page *q, uint32_t node, bool *meant)
{
	const struct profile *p = q->a->load.profile;
	const struct profile_frame *f = NULL;

	*meant = false;
	while (node != PROFILE_ROOT) {
		struct profile_node at = profile_node_at(p, node);

		f = profile_frame_at(p, at.frame);
		*meant |= q->is_meant[at.frame];
		if (f->kind != PROFILE_INLINED)
			break;
		node = at.parent;
	}
	return f;
}

/* The part of an object's function, made when new; POOL_FAILED: out of memory. */
static uint32_t page_part_of(struct page *q, uint32_t object, uint32_t symbol)
{
	for (uint32_t i = 0; i < q->n_parts; i++)
		if (q->parts[i].f.object == object && q->parts[i].symbol == symbol)
			return i;
	if (ARRAY_ROOM(&q->parts, &q->parts_capacity, q->n_parts + 1) < 0)
		return POOL_FAILED;
	q->parts[q->n_parts] = (struct page_part){ .symbol = symbol, .f.object = object };
	return (uint32_t)q->n_parts++;
}

/* Counts samples with one stack, if they are in the code of the function that is meant. -ENOMEM. */
static int page_count_one(struct page *q, const struct profile_key *key, uint64_t samples,
                          uint64_t weight)
{
	bool meant;
	const struct profile_frame *code = page_code(q, key->node, &meant);
	struct page_hit hit = { .event = key->event };
	uint32_t id;

	if (!code || !meant)
		return 0;
	hit.vaddr = code->address;
	hit.part = page_part_of(q, code->object, code->symbol);
	if (hit.part == POOL_FAILED ||
	    annotate_count_at(&q->parts[hit.part].f, hit.vaddr, samples, weight) < 0)
		return -ENOMEM;
	id = pool_put(&q->hits, &hit);
	if (id == POOL_FAILED ||
	    ARRAY_ROOM_ZEROED(&q->counts, &q->counts_capacity, (size_t)id + 1) < 0)
		return -ENOMEM;
	q->counts[id].samples += samples;
	q->counts[id].weight += weight;
	return 0;
}

/* Whether a sample is of the span and the threads that are asked for. */
static bool page_is_chosen(const struct page *q, const struct profile_sample *s)
{
	const struct annotate_chosen *c = q->chosen;
	const struct profile *p = q->a->load.profile;
	size_t low = 0, high = c->n_tids;
	uint32_t tid = profile_task_at(p, profile_key_of(p, s)->task)->tid;

	if (c->to_ns && (s->time_ns < c->from_ns || s->time_ns > c->to_ns))
		return false;
	if (!c->tids)
		return true;
	/* The first span that does not end before it. */
	while (low < high) {
		size_t middle = (low + high) / 2;

		if (c->tids[middle].last < tid)
			low = middle + 1;
		else
			high = middle;
	}
	return low < c->n_tids && c->tids[low].first <= tid;
}

/* Counts everything. -ENOMEM. */
static int page_count(struct page *q)
{
	const struct profile *p = q->a->load.profile;
	int r = 0;

	if (!q->chosen || (!q->chosen->to_ns && !q->chosen->tids)) {
		for (size_t i = 0; i < profile_n_rows(p) && r >= 0; i++) {
			const struct profile_row *row = profile_row_at(p, i);

			r = page_count_one(q, &row->key, row->samples, row->weight);
		}
		return r;
	}
	for (size_t i = 0; i < profile_n_samples(p) && r >= 0; i++) {
		const struct profile_sample *s = profile_sample_at(p, i);

		if (page_is_chosen(q, s))
			r = page_count_one(q, profile_key_of(p, s), 1, s->weight);
	}
	return r;
}

/* Writes a text as people are shown it; null where there is none. */
static void page_shown(struct json *j, const char *text)
{
	struct buf shown = { 0 };

	shown_put_text(&shown, text);
	json_string(j, shown.failed || !*text ? NULL : buf_text(&shown));
	buf_free(&shown);
}

/* ---- one part ---- */

/* Which instructions are written: all, or where there are many or the function is inlined there,
 * those near one that was hit. to: their places in the JSON, or -1. Returns how many. */
static size_t page_keep(const struct annotate_function *f, bool is_inlined, int32_t *to)
{
	bool all = !is_inlined && f->n_insns <= PAGE_INSNS;
	size_t n = 0, until = 0;

	for (size_t i = 0; i < f->n_insns; i++) {
		bool keep = all || i < until;

		if (f->insns[i].count.samples)
			until = i + PAGE_NEAR + 1;
		for (size_t k = 0; k <= PAGE_NEAR && i + k < f->n_insns && !keep; k++)
			keep = f->insns[i + k].count.samples != 0;
		to[i] = keep && n < 2 * PAGE_INSNS ? (int32_t)n++ : -1;
	}
	return n;
}

/* The instruction that holds an address; -1: none. */
static int32_t page_insn_at(const struct annotate_function *f, uint64_t vaddr, const int32_t *to)
{
	size_t low = 0, high = f->n_insns;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (f->insns[middle].address <= vaddr)
			low = middle + 1;
		else
			high = middle;
	}
	if (low && vaddr - f->insns[low - 1].address < f->insns[low - 1].size)
		return to[low - 1];
	return -1;
}

/* Where no code is to be had the addresses that were hit stand for it. -ENOMEM. */
static int page_addresses(struct annotate_function *f)
{
	size_t n = f->n < PAGE_INSNS ? f->n : PAGE_INSNS;

	f->insns = calloc(n + 1, sizeof(*f->insns));
	if (!f->insns)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		f->insns[i] = (struct annotate_insn){ .address = f->vaddrs[i],
			                              .size = 1,
			                              .count = f->counts[i] };
	f->n_insns = n;
	return 0;
}

static int page_by_address(const void *pa, const void *pb)
{
	const struct annotate_insn *a = pa, *b = pb;

	return (a->address > b->address) - (a->address < b->address);
}

/* Writes a line of source as people are shown it, its tabs kept. */
static void page_line(struct json *j, const char *text, size_t n)
{
	struct buf shown = { 0 };

	for (n = n < PAGE_TEXT ? n : PAGE_TEXT; n;) {
		const char *tab = memchr(text, '\t', n);
		size_t run = tab ? (size_t)(tab - text) : n;

		shown_put(&shown, text, run);
		if (tab)
			buf_put(&shown, "\t", 1);
		text += run + (tab != NULL);
		n -= run + (tab != NULL);
	}
	if (shown.failed)
		json_null(j);
	else
		json_bytes(j, shown.n ? (const char *)shown.bytes : "", shown.n);
	buf_free(&shown);
}

static int page_by_line(const void *pa, const void *pb)
{
	const uint64_t *a = pa, *b = pb;

	return (*a > *b) - (*a < *b);
}

/* Writes the lines that the written instructions have, with some around them. files: file of the
 * annotate -> place in the JSON, plus one. -ENOMEM. */
static int page_lines(struct page *q, const struct annotate_function *f, const int32_t *to,
                      const struct map *files, struct json *j)
{
	struct map seen = { 0 };
	uint64_t *lines = calloc(PAGE_LINES, sizeof(*lines)), place;
	size_t n = 0;
	int r = lines ? 0 : -ENOMEM;

	for (size_t i = 0; i < f->n_insns && r >= 0; i++) {
		const struct annotate_insn *insn = &f->insns[i];
		uint32_t first = insn->line > PAGE_CONTEXT ? insn->line - PAGE_CONTEXT : 1;
		bool is_new = false;

		for (uint32_t at = first; to[i] >= 0 && insn->line && r >= 0; at++) {
			if (at > insn->line && at - insn->line > PAGE_CONTEXT)
				break;
			if (!map_slot(&seen, (uint64_t)insn->file << 32 | at, &is_new))
				r = -ENOMEM;
			else if (is_new && n < PAGE_LINES)
				lines[n++] = (uint64_t)insn->file << 32 | at;
			if (at == UINT32_MAX)
				break;
		}
	}
	if (r >= 0)
		qsort(lines, n, sizeof(*lines), page_by_line);
	for (size_t i = 0; i < n && r >= 0; i++) {
		size_t length;
		const char *text = annotate_source(q->a, (uint32_t)(lines[i] >> 32),
		                                   (uint32_t)lines[i], &length);

		if (!text || !map_get(files, lines[i] >> 32, &place))
			continue;
		json_open(j, '[');
		json_u64(j, place - 1);
		json_u64(j, (uint32_t)lines[i]);
		page_line(j, text, length);
		json_close(j, ']');
	}
	map_free(&seen);
	free(lines);
	return r;
}

/* Writes the names of the files that the instructions are from. -ENOMEM. */
static int page_files(const struct page *q, const struct annotate_function *f, struct map *files,
                      struct json *j)
{
	json_key(j, "files");
	json_open(j, '[');
	for (size_t i = 0; i < f->n_insns; i++) {
		bool is_new;
		uint64_t *slot;

		if (!f->insns[i].line || !f->insns[i].file)
			continue;
		slot = map_slot(files, f->insns[i].file, &is_new);
		if (!slot)
			return -ENOMEM;
		if (is_new) {
			*slot = files->n;
			page_shown(j, intern_get(&q->a->files, f->insns[i].file));
		}
	}
	json_close(j, ']');
	return 0;
}

/* Writes the instructions that are kept, with their lines. */
static void page_insns(const struct annotate_function *f, const int32_t *to, size_t kept,
                       const struct map *files, struct json *j)
{
	uint64_t start = f->n_insns ? f->insns[0].address : 0, file;

	json_key(j, "start");
	json_hex(j, start);
	json_key(j, "cut");
	json_u64(j, f->n_insns - kept);
	json_key(j, "insns");
	json_open(j, '[');
	for (size_t i = 0; i < f->n_insns; i++) {
		const struct annotate_insn *insn = &f->insns[i];

		if (to[i] < 0)
			continue;
		json_open(j, '[');
		json_u64(j, insn->address - start);
		json_string(j, insn->text ? insn->text : "");
		json_i64(j, map_get(files, insn->file, &file) ? (int64_t)file - 1 : -1);
		json_u64(j, insn->line);
		json_close(j, ']');
	}
	json_close(j, ']');
}

/* Writes which events hit the part where. -ENOMEM. */
static int page_hits(const struct page *q, uint32_t part, const int32_t *to, struct json *j)
{
	const struct profile *p = q->a->load.profile;
	uint32_t *events = calloc(profile_n_events(p) + 1, sizeof(*events)), n = 0;

	if (!events)
		return -ENOMEM;
	json_key(j, "events");
	json_open(j, '[');
	for (uint32_t i = 1; i <= q->hits.n; i++) {
		const struct page_hit *hit = pool_at(&q->hits, i);

		if (hit->part == part && !events[hit->event]) {
			events[hit->event] = ++n;
			page_shown(j, profile_event_name(p, hit->event));
		}
	}
	json_close(j, ']');
	json_key(j, "hits");
	json_open(j, '[');
	for (uint32_t i = 1; i <= q->hits.n; i++) {
		const struct page_hit *hit = pool_at(&q->hits, i);

		if (hit->part != part)
			continue;
		json_open(j, '[');
		json_u64(j, events[hit->event] - 1);
		json_i64(j, page_insn_at(&q->parts[part].f, hit->vaddr, to));
		json_u64(j, q->counts[i].samples);
		json_u64(j, q->counts[i].weight);
		json_close(j, ']');
	}
	json_close(j, ']');
	free(events);
	return 0;
}

/* Writes which of the part's source files are there and not shown. */
static void page_refused(const struct page *q, const struct map *files, struct json *j)
{
	uint64_t place;

	json_key(j, "refused");
	json_open(j, '[');
	for (uint32_t i = 1; i < q->a->texts_capacity; i++) {
		const char *reason = annotate_source_reason(q->a, i);

		if (!reason || !map_get(files, i, &place))
			continue;
		json_open(j, '[');
		json_u64(j, place - 1);
		json_string(j, reason);
		json_close(j, ']');
	}
	json_close(j, ']');
}

/* Writes the code of one part. -ENOMEM. */
static int page_write_part(struct page *q, uint32_t part, struct json *j)
{
	const struct profile *p = q->a->load.profile;
	struct page_part *at = &q->parts[part];
	const char *name = profile_text(p, at->symbol);
	struct annotate_function *f = &at->f;
	struct map files = { 0 };
	int32_t *to = NULL;
	size_t kept;
	int r;

	q->a->name = name;
	r = annotate_code(q->a, f);
	if (r >= 0 && !f->n_insns)
		r = page_addresses(f);
	if (r >= 0 && f->n_insns)
		qsort(f->insns, f->n_insns, sizeof(*f->insns), page_by_address);
	if (r >= 0 && !(to = calloc(f->n_insns + 1, sizeof(*to))))
		r = -ENOMEM;
	if (r < 0)
		return r;
	kept = page_keep(f, !page_shows(name, q->name), to);
	json_open(j, '{');
	json_key(j, "in");
	page_shown(j, name);
	json_key(j, "build_id");
	json_string(j, profile_text(p, profile_object_at(p, f->object)->build_id));
	json_key(j, "reason");
	page_shown(j, f->reason);
	json_key(j, "lines_reason");
	page_shown(j, f->lines_reason);
	json_key(j, "source");
	json_bool(j, f->is_source);
	r = page_files(q, f, &files, j);
	page_insns(f, to, kept, &files, j);
	if (r >= 0)
		r = page_hits(q, part, to, j);
	json_key(j, "lines");
	json_open(j, '[');
	if (r >= 0)
		r = page_lines(q, f, to, &files, j);
	json_close(j, ']');
	page_refused(q, &files, j);
	json_close(j, '}');
	map_free(&files);
	free(to);
	return r;
}

/* The places of the parts with most weight, the most first. Returns how many they are. */
static size_t page_order(const struct page *q, uint32_t *order)
{
	size_t n = 0;

	for (uint32_t i = 0; i < q->n_parts; i++) {
		size_t at = n < PAGE_PARTS ? n++ : PAGE_PARTS;

		while (at && q->parts[order[at - 1]].f.all.weight < q->parts[i].f.all.weight) {
			if (at < PAGE_PARTS)
				order[at] = order[at - 1];
			at--;
		}
		if (at < PAGE_PARTS)
			order[at] = i;
	}
	return n;
}

/* Counts, finds the code of the parts with most weight, and writes them. */
int annotate_page_function(struct annotate *a, const char *name, const char *object,
                           const struct annotate_chosen *chosen, struct buf *out)
{
	struct page q = { .a = a,
		          .name = name,
		          .object = object,
		          .chosen = chosen,
		          .hits = { .size = sizeof(struct page_hit) } };
	struct json j = { .out = out };
	uint32_t order[PAGE_PARTS];
	size_t n;
	int r = page_mark(&q);

	if (a->texts_bytes > ANNOTATE_SOURCES_MAX)
		annotate_source_free(a);
	if (r >= 0)
		r = page_count(&q);
	n = page_order(&q, order);
	json_open(&j, '{');
	json_key(&j, "name");
	json_string(&j, name);
	json_key(&j, "object");
	json_string(&j, object);
	json_key(&j, "more");
	json_u64(&j, q.n_parts - n);
	json_key(&j, "parts");
	json_open(&j, '[');
	for (size_t i = 0; i < n && r >= 0; i++)
		r = page_write_part(&q, order[i], &j);
	json_close(&j, ']');
	json_close(&j, '}');
	for (size_t i = 0; i < q.n_parts; i++)
		annotate_function_free(&q.parts[i].f);
	free(q.parts);
	free(q.is_meant);
	free(q.counts);
	pool_free(&q.hits);
	return r >= 0 && out->failed ? -ENOMEM : r;
}

/* ---- the hottest functions ---- */

/* What samples hit: a function with a name, inlined or not. */
struct page_hot {
	uint32_t symbol, object; /* the first that the page knows by the same name */
	double share;            /* the most that it has of an event */
};

struct page_hot_key {
	uint32_t symbol, object, event, zero;
};

static int page_hottest_order(const void *pa, const void *pb)
{
	const struct page_hot *a = pa, *b = pb;

	if (a->share != b->share)
		return a->share > b->share ? -1 : 1;
	if (a->symbol != b->symbol)
		return a->symbol < b->symbol ? -1 : 1;
	return a->object < b->object ? -1 : a->object > b->object;
}

/* By object of the profile: the first one that the page knows by the same name. NULL: out of
 * memory. */
static uint32_t *page_first_objects(const struct annotate *a)
{
	size_t n = profile_n_objects(a->load.profile);
	uint32_t *first = calloc(n + 1, sizeof(*first)), *of = calloc(n + 2, sizeof(*of));
	struct intern names = { 0 };

	for (uint32_t i = 1; i <= n && first && of; i++) {
		uint32_t name = intern_text(&names, page_object(a, i));

		if (name == INTERN_FAILED) {
			free(first);
			first = NULL;
			break;
		}
		if (!of[name])
			of[name] = i;
		first[i] = of[name];
	}
	if (!of) {
		free(first);
		first = NULL;
	}
	intern_free(&names);
	free(of);
	return first;
}

/* Sums what was hit, by function and event; a function's share is its largest. -ENOMEM. */
static int page_sum_hot(const struct annotate *a, struct page_hot **ret, size_t *ret_n)
{
	const struct profile *p = a->load.profile;
	uint32_t *first = page_first_objects(a);
	struct pool keys = { .size = sizeof(struct page_hot_key) };
	double *weights = NULL, *whole = calloc(profile_n_events(p) + 1, sizeof(*whole));
	struct map of = { 0 };
	size_t capacity = 0, hot_capacity = 0;
	int r = whole && first ? 0 : -ENOMEM;

	for (size_t i = 0; i < profile_n_rows(p) && r >= 0; i++) {
		const struct profile_row *row = profile_row_at(p, i);
		const struct profile_frame *f =
		        row->key.node == PROFILE_ROOT
		                ? NULL
		                : profile_frame_at(p, profile_node_at(p, row->key.node).frame);
		struct page_hot_key key = { .event = row->key.event };
		uint32_t id;

		whole[row->key.event] += (double)row->weight;
		if (!f || !f->symbol)
			continue;
		key.symbol = f->symbol;
		key.object = first[f->object];
		id = pool_put(&keys, &key);
		if (id == POOL_FAILED || ARRAY_ROOM_ZEROED(&weights, &capacity, (size_t)id + 1) < 0)
			r = -ENOMEM;
		else
			weights[id] += (double)row->weight;
	}
	for (uint32_t i = 1; i <= keys.n && r >= 0; i++) {
		const struct page_hot_key *key = pool_at(&keys, i);
		double share = whole[key->event] > 0 ? weights[i] / whole[key->event] : 0;
		bool is_new;
		uint64_t *slot = map_slot(&of, (uint64_t)key->symbol << 32 | key->object, &is_new);

		if (!slot || ARRAY_ROOM(ret, &hot_capacity, *ret_n + 1) < 0) {
			r = -ENOMEM;
			break;
		}
		if (is_new) {
			*slot = *ret_n;
			(*ret)[(*ret_n)++] = (struct page_hot){ key->symbol, key->object, share };
		} else if (share > (*ret)[*slot].share) {
			(*ret)[*slot].share = share;
		}
	}
	map_free(&of);
	pool_free(&keys);
	free(weights);
	free(whole);
	free(first);
	return r;
}

/* Makes the JSON of one hot function. -ENOMEM. */
static int page_one_hot(struct annotate *a, const struct page_hot *hot, struct buf *one)
{
	const struct profile *p = a->load.profile;
	struct buf name = { 0 }, object = { 0 };
	int r = -ENOMEM;

	shown_put_text(&name, profile_text(p, hot->symbol));
	shown_put_text(&object, page_object(a, hot->object));
	if (!name.failed && !object.failed)
		r = annotate_page_function(a, buf_text(&name), buf_text(&object), NULL, one);
	buf_free(&name);
	buf_free(&object);
	return r;
}

/* JSON: "functions", the hottest first, and "left", how many are not among them. */
int annotate_page_hottest(struct annotate *a, size_t bytes, struct buf *out)
{
	struct page_hot *hot = NULL;
	struct json j = { .out = out };
	size_t n = 0, written = 0, room = bytes;
	int r = page_sum_hot(a, &hot, &n);

	if (r >= 0 && n)
		qsort(hot, n, sizeof(*hot), page_hottest_order);
	json_open(&j, '{');
	json_key(&j, "functions");
	json_open(&j, '[');
	for (; written < n && written < ANNOTATE_PAGE_FUNCTIONS && r >= 0; written++) {
		struct buf one = { 0 };

		r = page_one_hot(a, &hot[written], &one);
		if (r >= 0 && one.n <= room)
			json_raw(&j, (const char *)one.bytes, one.n);
		if (one.n > room) {
			buf_free(&one);
			break;
		}
		room -= one.n;
		buf_free(&one);
	}
	json_close(&j, ']');
	json_key(&j, "left");
	json_u64(&j, n - written);
	json_close(&j, '}');
	free(hot);
	return r >= 0 && out->failed ? -ENOMEM : r;
}
