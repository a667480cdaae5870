// SPDX-License-Identifier: MIT
/*
 * callgrind.c: the text format of valgrind's callgrind, version 1: a block per function with its
 * own cost, and a pair of lines per callee with the cost of what was called from here.
 *
 * A sampler counts no calls: "calls=" holds the number of samples with that call in their stack.
 * Columns of cost are the events.
 *
 * What reads this takes the calls to a function, added up, for its inclusive cost. So all stacks
 * hang below a function that is named as the thread, as a function without a caller would lose what
 * it did unless it was called; and of a function that recurs in a stack only the outermost call is
 * written with its cost, as a sample would count more than once. Of the inner ones a function's
 * call of itself is written without cost: it makes no cycle.
 *
 * KCachegrind and callgrind_annotate read it. Names are compressed ("(7) name" once, "(7)" from
 * then on). Costs stand at lines of source: a function's own at those that samples hit, a call's at
 * that of the call. 0 stands for a line that is not known, and for the callee's first.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/intern.h"
#include "base/map.h"
#include "base/shown.h"
#include "export/export.h"

/* What a line of a function cost: itself, or by a call. */
struct callgrind_call {
	uint32_t from, to; /* functions; to 0: the function's own cost */
	uint32_t line;     /* in from */
	uint32_t last;     /* row that counted it last, + 1 */
	uint64_t samples;
};

/* A function in a stack, and where in it that is. */
struct callgrind_step {
	uint32_t function, line;
};

/* What functions are told apart by: ids of the profile, and the name's. */
struct callgrind_key {
	uint32_t object, name, file;
	uint32_t thread; /* it is no function, but all that threads of this name did */
};

struct callgrind {
	const struct profile *p;
	const struct export_opts *opts;
	struct export_out *out;
	struct intern functions; /* struct callgrind_key */
	struct intern names;
	uint32_t *of_frame;
	struct map files;  /* object << 32 | name -> the file of the first frame that has one */
	uint32_t *of_task; /* the function that is named as the thread; 0: not made yet */
	struct callgrind_step *path; /* a stack, the innermost function first */
	uint32_t *seen;              /* function -> row that counted it last, + 1 */
	size_t n_functions;          /* ids 1 ... n */
	uint64_t *total;             /* of each event */
	uint64_t *nothing;           /* no cost of any event */
	struct intern places;        /* struct callgrind_step */
	struct map calls;            /* place << 32 | to -> index */
	struct callgrind_call *call;
	uint64_t *call_cost; /* call * events */
	size_t n_calls, calls_capacity, costs_capacity;
	size_t events; /* the profile's; those not wanted are not written */
	unsigned char *file_known, *object_known; /* names that were written with their number */
	unsigned char *function_known;
};

/* "(7) name" the first time, "(7)" from then on. number is the name's index; the format counts from
 * 1. */
static void callgrind_name(struct callgrind *c, const char *key, uint32_t number,
                           unsigned char *known, const char *text, size_t n)
{
	buf_printf(&c->out->buf, "%s=(%u)", key, number + 1);
	if (!known[number]) {
		buf_put(&c->out->buf, " ", 1);
		shown_put(&c->out->buf, text, n); /* an end of line would end the entry */
		known[number] = 1;
	}
	buf_put(&c->out->buf, "\n", 1);
}

/* The number of a name, made when new. INTERN_FAILED: out of memory. */
static uint32_t callgrind_text(struct callgrind *c, const struct buf *name)
{
	return name->failed ? INTERN_FAILED : intern_bytes(&c->names, name->bytes, name->n);
}

/* Notes a frame's name in its place of of_frame, and for its function in which file that is. */
static int callgrind_named(struct callgrind *c, uint32_t frame, struct buf *name)
{
	const struct profile_frame *f = profile_frame_at(c->p, frame);
	uint64_t *file;
	bool is_new;

	buf_clear(name);
	export_frame_name(c->p, frame, name);
	c->of_frame[frame] = callgrind_text(c, name);
	if (c->of_frame[frame] == INTERN_FAILED)
		return -ENOMEM;
	file = map_slot(&c->files, (uint64_t)f->object << 32 | c->of_frame[frame], &is_new);
	if (!file)
		return -ENOMEM;
	if (is_new || !*file)
		*file = f->file;
	return 0;
}

/* Numbers the functions, which are told apart by object, name and file. The functions without a
 * name in an object are one. Where some frames of a function have no file, they are not another
 * function. Then come the threads that have samples. */
static int callgrind_functions(struct callgrind *c)
{
	struct buf name = { 0 };
	size_t n = profile_n_frames(c->p);
	int r = 0;

	for (uint32_t i = 1; i <= n && r >= 0; i++)
		r = callgrind_named(c, i, &name);
	for (uint32_t i = 1; i <= n && r >= 0; i++) {
		const struct profile_frame *f = profile_frame_at(c->p, i);
		struct callgrind_key key = { .object = f->object, .name = c->of_frame[i] };
		uint64_t file = f->file;

		if (!file)
			map_get(&c->files, (uint64_t)key.object << 32 | key.name, &file);
		key.file = (uint32_t)file;
		c->of_frame[i] = intern_bytes(&c->functions, &key, sizeof(key));
		if (c->of_frame[i] == INTERN_FAILED)
			r = -ENOMEM;
	}
	for (size_t i = 0; i < profile_n_rows(c->p) && r >= 0; i++) {
		uint32_t task = profile_row_at(c->p, i)->key.task;
		const char *comm = profile_text(c->p, profile_task_at(c->p, task)->comm);
		struct callgrind_key key = { .thread = 1 };

		if (c->of_task[task])
			continue;
		buf_clear(&name);
		buf_put_text(&name, *comm ? comm : "[unknown]");
		key.name = callgrind_text(c, &name);
		c->of_task[task] = key.name == INTERN_FAILED
		                           ? INTERN_FAILED
		                           : intern_bytes(&c->functions, &key, sizeof(key));
		if (c->of_task[task] == INTERN_FAILED)
			r = -ENOMEM;
	}
	buf_free(&name);
	c->n_functions = c->functions.n ? c->functions.n - 1 : 0;
	return r;
}

/* The call from a line of one function to another, or the line's own cost (to 0), made when new;
 * NULL: out of memory. The pointer is valid until the next call. */
static struct callgrind_call *callgrind_call(struct callgrind *c, struct callgrind_step from,
                                             uint32_t to)
{
	uint32_t place = intern_bytes(&c->places, &from, sizeof(from));
	bool is_new;
	uint64_t *slot;

	if (place == INTERN_FAILED)
		return NULL;
	if (ARRAY_ROOM(&c->call, &c->calls_capacity, c->n_calls + 1) < 0 ||
	    ARRAY_ROOM(&c->call_cost, &c->costs_capacity, (c->n_calls + 1) * c->events) < 0)
		return NULL;
	slot = map_slot(&c->calls, (uint64_t)place << 32 | to, &is_new);
	if (!slot)
		return NULL;
	if (is_new) {
		*slot = c->n_calls++;
		c->call[*slot] = (struct callgrind_call){ .from = from.function,
			                                  .to = to,
			                                  .line = from.line };
		memset(&c->call_cost[*slot * c->events], 0, c->events * sizeof(uint64_t));
	}
	return &c->call[*slot];
}

/* Counts a call of one stack. -ENOMEM. */
static int callgrind_count(struct callgrind *c, const struct profile_row *row, uint32_t serial,
                           struct callgrind_step from, uint32_t to)
{
	bool inner = to && c->seen[to] == serial;
	struct callgrind_call *call;

	if (inner && from.function != to)
		return 0;
	call = callgrind_call(c, from, to);
	if (!call)
		return -ENOMEM;
	if (call->last != serial) {
		call->last = serial;
		call->samples += row->samples;
	}
	if (!inner)
		c->call_cost[(size_t)(call - c->call) * c->events + row->key.event - 1] +=
		        row->weight;
	c->seen[to] = serial;
	return 0;
}

/* Counts one stack: its weight as self cost of the innermost function, and as the cost of every
 * function's outermost call in it. serial: the row's number + 1. -ENOMEM. */
static int callgrind_row(struct callgrind *c, const struct profile_row *row, uint32_t serial)
{
	struct callgrind_step from = { c->of_task[row->key.task], 0 };
	uint32_t node = row->key.node;
	size_t depth = 0;
	int r = 0;

	while (node != PROFILE_ROOT) {
		struct profile_node at = profile_node_at(c->p, node);

		c->path[depth++] =
		        (struct callgrind_step){ c->of_frame[at.frame],
			                         profile_frame_at(c->p, at.frame)->line };
		node = at.parent;
	}
	while (depth && r >= 0) {
		r = callgrind_count(c, row, serial, from, c->path[--depth].function);
		from = c->path[depth];
	}
	c->total[row->key.event - 1] += row->weight;
	return r < 0 ? r : callgrind_count(c, row, serial, from, 0);
}

/* One line of costs: a line number, and a number for each wanted event. */
static void callgrind_costs(struct callgrind *c, uint32_t line, const uint64_t *cost)
{
	buf_printf(&c->out->buf, "%u", line);
	for (uint32_t e = 1; e <= c->events; e++)
		if (export_wants(c->opts, e))
			buf_printf(&c->out->buf, " %llu", (unsigned long long)cost[e - 1]);
	buf_put(&c->out->buf, "\n", 1);
}

/* ob=, fl= and fn=, or for a callee cob=, cfi= and cfn=. */
static void callgrind_function(struct callgrind *c, uint32_t function, bool callee)
{
	struct callgrind_key key;
	const char *path, *file;

	memcpy(&key, intern_get(&c->functions, function), sizeof(key));
	path = key.object ? profile_text(c->p, profile_object_at(c->p, key.object)->path) : "???";
	file = key.file ? profile_text(c->p, key.file) : "???";
	callgrind_name(c, callee ? "cob" : "ob", key.object, c->object_known, path, strlen(path));
	callgrind_name(c, callee ? "cfi" : "fl", key.file, c->file_known, file, strlen(file));
	callgrind_name(c, callee ? "cfn" : "fn", function, c->function_known,
	               intern_get(&c->names, key.name), intern_length(&c->names, key.name));
}

/* By function: first its own cost by line, then its calls by callee and line. */
static int callgrind_order(const void *pa, const void *pb)
{
	const struct callgrind_call *a = *(const struct callgrind_call *const *)pa;
	const struct callgrind_call *b = *(const struct callgrind_call *const *)pb;

	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	if (a->to != b->to)
		return a->to < b->to ? -1 : 1;
	return a->line < b->line ? -1 : a->line > b->line;
}

/* Writes what a line of a function cost. */
static void callgrind_line(struct callgrind *c, const struct callgrind_call *call)
{
	if (call->to) {
		callgrind_function(c, call->to, true);
		buf_printf(&c->out->buf, "calls=%llu 0\n", (unsigned long long)call->samples);
	}
	callgrind_costs(c, call->line, &c->call_cost[(size_t)(call - c->call) * c->events]);
}

/* Writes each function with its own cost and its calls, in the order of their numbers, so that
 * equal profiles give equal files. */
static int callgrind_blocks(struct callgrind *c)
{
	struct callgrind_call **sorted = calloc(c->n_calls + 1, sizeof(struct callgrind_call *));
	size_t at = 0;
	int r = sorted ? 0 : -ENOMEM;

	for (size_t i = 0; sorted && i < c->n_calls; i++)
		sorted[i] = &c->call[i];
	if (sorted)
		qsort(sorted, c->n_calls, sizeof(struct callgrind_call *), callgrind_order);
	for (uint32_t f = 1; f <= c->n_functions && r >= 0; f++) {
		callgrind_function(c, f, false);
		/* A function that no sample hit itself cost nothing. */
		if (at >= c->n_calls || sorted[at]->from != f || sorted[at]->to)
			callgrind_costs(c, 0, c->nothing);
		for (; at < c->n_calls && sorted[at]->from == f; at++)
			callgrind_line(c, sorted[at]);
		buf_put(&c->out->buf, "\n", 1);
		r = export_step(c->out);
	}
	free(sorted);
	return r;
}

/* An event's name as one word: callgrind separates them by blanks. */
static void callgrind_event(struct callgrind *c, uint32_t event)
{
	struct buf *out = &c->out->buf;

	for (const char *name = profile_event_name(c->p, event); *name; name++) {
		bool plain = (*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z') ||
		             (*name >= '0' && *name <= '9') || *name == '_' || *name == '-';

		buf_put(out, plain ? name : "_", 1);
	}
}

/* A long name for each event that is counted in something, which is the only place for a unit.
 * These lines stand in front of "events:", with which the head ends for callgrind_annotate. */
static void callgrind_units(struct callgrind *c)
{
	struct buf *out = &c->out->buf;

	for (uint32_t e = 1; e <= c->events; e++) {
		const char *name = profile_event_name(c->p, e);

		if (!export_wants(c->opts, e) || profile_event_unit(c->p, e) == PROFILE_COUNT)
			continue;
		buf_put_text(out, "event: ");
		callgrind_event(c, e);
		buf_put_text(out, " : ");
		shown_put_text(out, name);
		buf_put_text(out, " (ns)\n");
	}
}

/* What stands in front of the functions: which events the costs are of, and all of each. */
static void callgrind_head(struct callgrind *c)
{
	struct buf *out = &c->out->buf;

	buf_put_text(out, "# callgrind format\nversion: 1\ncreator: seam\npositions: line\n");
	callgrind_units(c);
	buf_put_text(out, "events:");
	for (uint32_t e = 1; e <= c->events; e++) {
		if (!export_wants(c->opts, e))
			continue;
		buf_put(out, " ", 1);
		callgrind_event(c, e);
	}
	/* Without a sum, callgrind_annotate would take all functions' costs for it, the inclusive
	 * ones, too. */
	buf_put_text(out, "\nsummary:");
	for (uint32_t e = 1; e <= c->events; e++)
		if (export_wants(c->opts, e))
			buf_printf(out, " %llu", (unsigned long long)c->total[e - 1]);
	buf_put_text(out, "\n");
	/* A blank line ends the head. */
	buf_put_text(out, "\n");
}

/* Collects all costs first, because a function's block has the costs of all its calls. */
static int callgrind_write(struct callgrind *c)
{
	int r = callgrind_functions(c);

	c->nothing = calloc(c->events + 1, sizeof(*c->nothing));
	c->function_known = calloc(c->n_functions + 1, 1);
	c->seen = calloc(c->n_functions + 1, sizeof(*c->seen));
	if (r >= 0 && (!c->nothing || !c->function_known || !c->seen))
		r = -ENOMEM;
	for (size_t i = 0; i < profile_n_rows(c->p) && r >= 0; i++)
		if (export_wants(c->opts, profile_row_at(c->p, i)->key.event))
			r = callgrind_row(c, profile_row_at(c->p, i), (uint32_t)i + 1);
	if (r < 0)
		return r;
	callgrind_head(c);
	r = callgrind_blocks(c);
	return r < 0 ? r : export_flush(c->out);
}

/* The largest string id that names a file, for the table of those written. Ids that name no file
 * are never looked up. */
static uint32_t callgrind_last_file(const struct profile *p)
{
	uint32_t last = 0;

	for (uint32_t i = 1; i <= profile_n_frames(p); i++)
		if (profile_frame_at(p, i)->file > last)
			last = profile_frame_at(p, i)->file;
	return last;
}

/* Needs no samples, only rows: times are not part of the format. */
int export_callgrind(const struct profile *p, const struct export_opts *opts,
                     struct export_out *out)
{
	struct callgrind c = { .p = p, .opts = opts, .out = out, .events = profile_n_events(p) };
	int r = -ENOMEM;

	/* An array of no events would have no size. */
	c.events = c.events ? c.events : 1;
	c.of_frame = calloc(profile_n_frames(p) + 1, sizeof(*c.of_frame));
	c.object_known = calloc(profile_n_objects(p) + 1, 1);
	c.file_known = calloc((size_t)callgrind_last_file(p) + 1, 1);
	c.of_task = calloc(profile_n_tasks(p) + 1, sizeof(*c.of_task));
	c.path = calloc(profile_n_nodes(p) + 1, sizeof(*c.path));
	c.total = calloc(c.events, sizeof(*c.total));
	if (c.of_frame && c.object_known && c.file_known && c.of_task && c.path && c.total)
		r = callgrind_write(&c);
	intern_free(&c.functions);
	intern_free(&c.names);
	intern_free(&c.places);
	map_free(&c.calls);
	map_free(&c.files);
	free(c.of_frame);
	free(c.of_task);
	free(c.path);
	free(c.seen);
	free(c.nothing);
	free(c.total);
	free(c.call);
	free(c.call_cost);
	free(c.file_known);
	free(c.object_known);
	free(c.function_known);
	return r;
}
