// SPDX-License-Identifier: MIT
// outcome.c: see outcome.h. The numbers here are those of files: they only ever get more.
#include "samples/outcome.h"

#include "abi/stack_end.h"

#define SHIFT_DETAIL 3u /* 3 bits: the class of what was needed, or why */
#define SHIFT_GUESSED 6u
/* 5 bits; 0: nothing is said; 1 + n: walked, and it ended so; from 16 on: other kinds. */
#define SHIFT_CODE 7u
#define MASK_DETAIL 7u
#define MASK_CODE 31u
#define MARKS ((uint16_t)((1u << 12) - (1u << SHIFT_DETAIL)))
#define CODE_WALKED 1u
#define CODE_KINDS 16u /* OUTCOME_LATE */
#define DETAIL_UNREADABLE 0u
#define DETAIL_UNMAPPED 1u

_Static_assert(WALK_COMPLETE == 0 && WALK_TRUNCATED == 1 && WALK_NO_INFO == 2 &&
                       WALK_BAD_RULE == 3 && WALK_BAD_MEMORY == 4 && WALK_BELOW_SP == 5 &&
                       WALK_OTHER_STACK == 6 && WALK_NO_PROGRESS == 7 && WALK_LIMIT == 8,
               "these numbers are in files");
_Static_assert(OUTCOME_LATE == 2 && OUTCOME_IN_EXEC == 3 && OUTCOME_NO_REGISTERS == 4 &&
                       OUTCOME_NO_STACK == 5 && OUTCOME_TOO_LONG == 6,
               "these numbers are in files");

bool outcome_said(const struct seam_attr *attr)
{
	return attr->sample_stack_user && !(attr->sample_type & SEAM_SAMPLE_STACK_USER) &&
	       attr->sample_type & SEAM_SAMPLE_CALLCHAIN;
}

unsigned outcome_needed_class(uint64_t bytes)
{
	unsigned n = 1;

	while (n < OUTCOME_NEEDED - 1 && bytes > 512u << n)
		n++;
	return n;
}

struct outcome outcome_of_walk(const struct walk *walk, const struct seam_sample *s, uint64_t sp,
                               bool unmapped)
{
	struct outcome o = { .kind = OUTCOME_WALKED,
		             .end = walk->end,
		             .guessed = walk->n_sure < walk->n };

	if (o.end == WALK_TRUNCATED) {
		o.unreadable = s->stack_user.n + 8 <= s->stack_user_size;
		o.needed = o.unreadable ? 0 : outcome_needed_class(walk->needed - sp + 8);
	}
	o.unmapped = o.end == WALK_NO_INFO && unmapped;
	return o;
}

size_t outcome_keeps(const struct walk *walk)
{
	return walk->end == WALK_COMPLETE ? walk->n : walk->n_sure;
}

static unsigned outcome_detail(const struct outcome *o)
{
	if (o->kind != OUTCOME_WALKED)
		return 0;
	if (o->end == WALK_TRUNCATED)
		return o->unreadable ? DETAIL_UNREADABLE : o->needed & MASK_DETAIL;
	return o->end == WALK_NO_INFO && o->unmapped ? DETAIL_UNMAPPED : 0;
}

uint16_t outcome_put(const struct seam_attr *attr, uint16_t misc, const struct outcome *o)
{
	unsigned code = o->kind == OUTCOME_NOT_SAID ? 0
	                : o->kind == OUTCOME_WALKED ? CODE_WALKED + o->end
	                                            : CODE_KINDS + o->kind - OUTCOME_LATE;
	unsigned guessed = o->kind == OUTCOME_WALKED && o->guessed;

	if (!outcome_said(attr))
		return misc;
	misc &= (uint16_t)~MARKS;
	return (uint16_t)(misc | code << SHIFT_CODE | guessed << SHIFT_GUESSED |
	                  outcome_detail(o) << SHIFT_DETAIL);
}

bool outcome_get(const struct seam_attr *attr, uint16_t misc, struct outcome *ret)
{
	unsigned code = misc >> SHIFT_CODE & MASK_CODE, detail = misc >> SHIFT_DETAIL & MASK_DETAIL;

	*ret = (struct outcome){ 0 };
	if (!outcome_said(attr) || !code)
		return false;
	if (code >= CODE_KINDS) {
		ret->kind = OUTCOME_LATE + (code - CODE_KINDS);
		if (ret->kind >= OUTCOME_KINDS)
			ret->kind = OUTCOME_NOT_SAID;
		return ret->kind != OUTCOME_NOT_SAID;
	}
	if (code - CODE_WALKED >= WALK_ENDS)
		return false;
	ret->kind = OUTCOME_WALKED;
	ret->end = code - CODE_WALKED;
	ret->guessed = misc >> SHIFT_GUESSED & 1;
	ret->unreadable = ret->end == WALK_TRUNCATED && detail == DETAIL_UNREADABLE;
	ret->unmapped = ret->end == WALK_NO_INFO && detail == DETAIL_UNMAPPED;
	ret->needed = ret->end == WALK_TRUNCATED ? detail : 0;
	return true;
}

bool outcome_by_tables_of(const struct seam_event *event, enum seam_stitch_state state,
                          uint16_t misc, uint16_t answer_misc)
{
	enum stack_end end = stack_end_of(misc);
	struct outcome o;

	if (!event || state == SEAM_STITCH_STACK_COPY)
		return false;
	if (outcome_said(&event->attr))
		return outcome_get(&event->attr, misc, &o) && o.kind == OUTCOME_WALKED;
	/* A conversion has put the answer into its sample. */
	if (end == STACK_END_DEFERRED && state != SEAM_STITCH_IMMEDIATE)
		end = stack_end_of(answer_misc);
	return end != STACK_END_NOT_SAID;
}

bool outcome_by_tables(const struct seam_stitched *s)
{
	return outcome_by_tables_of(s->sample.event, s->state, s->misc, s->answer_misc);
}

const char *outcome_name(const struct outcome *o)
{
	static const char *const names[OUTCOME_KINDS] = { "not_said", "walked",       "late",
		                                          "in_exec",  "no_registers", "no_stack",
		                                          "too_long" };

	return o->kind == OUTCOME_WALKED ? walk_end_name(o->end) : names[o->kind];
}

const char *outcome_kind_text(enum outcome_kind kind)
{
	static const char *const texts[OUTCOME_KINDS] = {
		[OUTCOME_NOT_SAID] = "nothing is said of their stack",
		[OUTCOME_WALKED] = "walked",
		[OUTCOME_LATE] = "not unwound: the recorder could not keep up",
		[OUTCOME_IN_EXEC] = "taken inside execve: no user stack",
		[OUTCOME_NO_REGISTERS] = "not unwound: registers of an unknown kind",
		[OUTCOME_NO_STACK] = "without a user stack",
		[OUTCOME_TOO_LONG] = "too long for a record: user address only",
	};

	return texts[kind];
}

void outcome_count(struct outcome_counts *c, const struct seam_attr *attr, uint16_t misc)
{
	struct outcome o;

	if (!outcome_said(attr))
		return;
	c->samples++;
	if (attr->sample_stack_user > c->copy_bytes)
		c->copy_bytes = attr->sample_stack_user;
	outcome_get(attr, misc, &o);
	c->kind[o.kind]++;
	if (o.kind != OUTCOME_WALKED)
		return;
	c->end[o.end]++;
	c->guessed += o.guessed;
	c->unreadable += o.unreadable;
	c->unmapped += o.unmapped;
	if (o.needed)
		c->needed[o.needed]++;
}

void outcome_add(struct outcome_counts *to, const struct outcome_counts *from)
{
	to->samples += from->samples;
	for (unsigned i = 0; i < OUTCOME_KINDS; i++)
		to->kind[i] += from->kind[i];
	for (unsigned i = 0; i < WALK_ENDS; i++)
		to->end[i] += from->end[i];
	to->guessed += from->guessed;
	to->unreadable += from->unreadable;
	to->unmapped += from->unmapped;
	for (unsigned i = 0; i < OUTCOME_NEEDED; i++)
		to->needed[i] += from->needed[i];
	if (from->copy_bytes > to->copy_bytes)
		to->copy_bytes = from->copy_bytes;
}
