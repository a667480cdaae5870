// SPDX-License-Identifier: MIT
// walk_result.c: see walk_result.h. The numbers here stand in files: numbers are added, and none
// ever changes.
#include "samples/walk_result.h"

#include "abi/stack_end.h"

#define SHIFT_DETAIL 3u /* 3 bits: the class of what was needed, or why */
#define SHIFT_GUESSED 6u
/* 5 bits; 0: nothing is said; 1 + n: walked, and it ended so; from 16 on: other kinds. */
#define SHIFT_CODE 7u
#define MASK_DETAIL 7u
#define MASK_CODE 31u
#define MARKS ((uint16_t)((1u << 12) - (1u << SHIFT_DETAIL)))
#define CODE_WALKED 1u
#define CODE_KINDS 16u /* WALK_RESULT_LATE */
#define DETAIL_UNREADABLE 0u
#define DETAIL_UNMAPPED 1u

_Static_assert(WALK_COMPLETE == 0 && WALK_TRUNCATED == 1 && WALK_NO_INFO == 2 &&
                       WALK_BAD_RULE == 3 && WALK_BAD_MEMORY == 4 && WALK_BELOW_SP == 5 &&
                       WALK_OTHER_STACK == 6 && WALK_NO_PROGRESS == 7 && WALK_LIMIT == 8 &&
                       WALK_WATCHED == 9,
               "these numbers are in files");
_Static_assert(WALK_RESULT_LATE == 2 && WALK_RESULT_IN_EXEC == 3 && WALK_RESULT_NO_REGISTERS == 4 &&
                       WALK_RESULT_NO_STACK == 5 && WALK_RESULT_TOO_LONG == 6,
               "these numbers are in files");

bool walk_result_said(const struct seam_attr *attr)
{
	return attr->sample_stack_user && !(attr->sample_type & SEAM_SAMPLE_STACK_USER) &&
	       attr->sample_type & SEAM_SAMPLE_CALLCHAIN;
}

/* The next class holds twice as much; the first is up to 1 KiB. */
unsigned walk_result_needed_class(uint64_t bytes)
{
	unsigned n = 1;

	while (n < WALK_RESULT_NEEDED - 1 && bytes > 512u << n)
		n++;
	return n;
}

/* A copy is short because it ended, or because the kernel could not read on: then it gave less than
 * it was asked for. */
struct walk_result walk_result_of_walk(const struct walk *walk, const struct seam_sample *s,
                                       uint64_t sp, bool unmapped)
{
	struct walk_result o = { .kind = WALK_RESULT_WALKED,
		                 .end = walk->end,
		                 .guessed = walk->n_sure < walk->n };

	if (o.end == WALK_TRUNCATED) {
		o.unreadable = s->stack_user.n + 8 <= s->stack_user_size;
		o.needed = o.unreadable ? 0 : walk_result_needed_class(walk->needed - sp + 8);
	}
	o.unmapped = o.end == WALK_NO_INFO && unmapped;
	return o;
}

/* A guess that led to a place where threads begin was right. */
size_t walk_result_keeps(const struct walk *walk)
{
	return walk->end == WALK_COMPLETE ? walk->n : walk->n_sure;
}

/* The three bits beside the end: their meaning depends on it. */
static unsigned walk_result_detail(const struct walk_result *o)
{
	if (o->kind != WALK_RESULT_WALKED)
		return 0;
	if (o->end == WALK_TRUNCATED)
		return o->unreadable ? DETAIL_UNREADABLE : o->needed & MASK_DETAIL;
	return o->end == WALK_NO_INFO && o->unmapped ? DETAIL_UNMAPPED : 0;
}

/* Bits that are not marks stay as they are. */
uint16_t walk_result_put(const struct seam_attr *attr, uint16_t misc, const struct walk_result *o)
{
	unsigned code = o->kind == WALK_RESULT_NOT_SAID ? 0
	                : o->kind == WALK_RESULT_WALKED ? CODE_WALKED + o->end
	                                                : CODE_KINDS + o->kind - WALK_RESULT_LATE;
	unsigned guessed = o->kind == WALK_RESULT_WALKED && o->guessed;

	if (!walk_result_said(attr))
		return misc;
	misc &= (uint16_t)~MARKS;
	return (uint16_t)(misc | code << SHIFT_CODE | guessed << SHIFT_GUESSED |
	                  walk_result_detail(o) << SHIFT_DETAIL);
}

/* Numbers of a newer version read as if nothing was said. */
bool walk_result_get(const struct seam_attr *attr, uint16_t misc, struct walk_result *ret)
{
	unsigned code = misc >> SHIFT_CODE & MASK_CODE, detail = misc >> SHIFT_DETAIL & MASK_DETAIL;

	*ret = (struct walk_result){ 0 };
	if (!walk_result_said(attr) || !code)
		return false;
	if (code >= CODE_KINDS) {
		ret->kind = WALK_RESULT_LATE + (code - CODE_KINDS);
		if (ret->kind >= WALK_RESULT_KINDS)
			ret->kind = WALK_RESULT_NOT_SAID;
		return ret->kind != WALK_RESULT_NOT_SAID;
	}
	if (code - CODE_WALKED >= WALK_ENDS)
		return false;
	ret->kind = WALK_RESULT_WALKED;
	ret->end = code - CODE_WALKED;
	ret->guessed = misc >> SHIFT_GUESSED & 1;
	ret->unreadable = ret->end == WALK_TRUNCATED && detail == DETAIL_UNREADABLE;
	ret->unmapped = ret->end == WALK_NO_INFO && detail == DETAIL_UNMAPPED;
	ret->needed = ret->end == WALK_TRUNCATED ? detail : 0;
	return true;
}

/* state and deferred_misc: what the stitcher says of the sample, and the misc of its deferred
 * record. */
bool walk_result_by_tables_of(const struct seam_event *event, enum seam_stitch_state state,
                              uint16_t misc, uint16_t deferred_misc)
{
	enum stack_end end = stack_end_of(misc);
	struct walk_result o;

	if (!event || state == SEAM_STITCH_STACK_COPY)
		return false;
	if (walk_result_said(&event->attr))
		return walk_result_get(&event->attr, misc, &o) && o.kind == WALK_RESULT_WALKED;
	/* A conversion put the deferred record's words into the sample. */
	if (end == STACK_END_DEFERRED && state != SEAM_STITCH_IMMEDIATE)
		end = stack_end_of(deferred_misc);
	return end != STACK_END_NOT_SAID;
}

bool walk_result_by_tables(const struct callchain *s)
{
	return walk_result_by_tables_of(s->event, s->state, s->misc, s->deferred_misc);
}

/* What walk_result.def says of each kind. */
static const struct {
	const char *name, *text;
} walk_result_kinds[WALK_RESULT_KINDS] = {
#define WALK_RESULT(id, name, text) [WALK_RESULT_##id] = { name, text },
#include "samples/walk_results.def"
};

const char *walk_result_name(const struct walk_result *o)
{
	return o->kind == WALK_RESULT_WALKED ? walk_end_name(o->end)
	                                     : walk_result_kinds[o->kind].name;
}

const char *walk_result_kind_text(enum walk_result_kind kind)
{
	return walk_result_kinds[kind].text;
}

/* c->copy_bytes becomes the largest copy that any event asked for. */
void walk_result_count(struct walk_result_counts *c, const struct seam_attr *attr, uint16_t misc)
{
	struct walk_result o;

	if (!walk_result_said(attr))
		return;
	c->samples++;
	if (attr->sample_stack_user > c->copy_bytes)
		c->copy_bytes = attr->sample_stack_user;
	walk_result_get(attr, misc, &o);
	c->kind[o.kind]++;
	if (o.kind != WALK_RESULT_WALKED)
		return;
	c->end[o.end]++;
	c->guessed += o.guessed;
	c->unreadable += o.unreadable;
	c->unmapped += o.unmapped;
	if (o.needed)
		c->needed[o.needed]++;
}

/* Adds one thread's counts to others. */
void walk_result_add(struct walk_result_counts *to, const struct walk_result_counts *from)
{
	to->samples += from->samples;
	for (unsigned i = 0; i < WALK_RESULT_KINDS; i++)
		to->kind[i] += from->kind[i];
	for (unsigned i = 0; i < WALK_ENDS; i++)
		to->end[i] += from->end[i];
	to->guessed += from->guessed;
	to->unreadable += from->unreadable;
	to->unmapped += from->unmapped;
	for (unsigned i = 0; i < WALK_RESULT_NEEDED; i++)
		to->needed[i] += from->needed[i];
	if (from->copy_bytes > to->copy_bytes)
		to->copy_bytes = from->copy_bytes;
}
