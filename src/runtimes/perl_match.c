// SPDX-License-Identifier: MIT
/*
 * perl_match.c: which call of the loop runs which contexts. Both are gone through from the
 * outermost on. The contexts of calls (Perl_call_sv and its like) and the loops that these run must
 * be as many; one that is being entered or left makes one of difference at the innermost. Between
 * two of these come contexts of blocks, and loops that other functions called: one that calls
 * a block for each element is between two of them now and then, and there is no loop.
 */
#include "runtimes/perl.h"

/* Behind the next one outwards: contexts are below `contexts`, loops that were met below `met`, as
 * far inwards as `to`. */
struct perl_calls {
	struct runtime_frame *frames;
	size_t contexts, met, to, n;
	bool doubt;    /* contexts that may be of a call are */
	size_t paired; /* the innermost context that has a loop; SIZE_MAX: none yet */
	size_t idle;   /* 1 + the last one that has none, inwards of that */
};

static bool perl_is_call(const struct perl_calls *c, const struct runtime_frame *f)
{
	return f->key == PERL_BY_CALL || f->key == PERL_BY_MAIN ||
	       (f->key == PERL_BY_DOUBT && c->doubt);
}

/* How many there are, of contexts (RUNTIME_FRAME_LOOP) or of loops, of a caller. */
static size_t perl_count(const struct perl_calls *c, uint16_t what, enum perl_call by)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n; i++)
		n += c->frames[i].what == what && c->frames[i].key == by;
	return n;
}

/* Decides whether what may be of a call is. False: there are too many of one. */
static bool perl_decide(struct perl_calls *c)
{
	size_t sure = perl_count(c, RUNTIME_FRAME_LOOP, PERL_BY_CALL);
	size_t doubt = perl_count(c, RUNTIME_FRAME_LOOP, PERL_BY_DOUBT);
	size_t met = perl_count(c, RUNTIME_FRAME_MET, PERL_BY_CALL);

	c->doubt = doubt && met >= sure + doubt;
	if ((doubt && !c->doubt && met > sure) ||
	    perl_count(c, RUNTIME_FRAME_MET, PERL_BY_MAIN) > 1)
		return false;
	if (c->doubt)
		sure += doubt;
	return met + 1 >= sure && met <= sure + 1;
}

/* How many blocks of a caller come before the next call, of contexts or of loops. */
static size_t perl_blocks(const struct perl_calls *c, uint16_t what, enum perl_call by)
{
	size_t at = what == RUNTIME_FRAME_LOOP ? c->contexts : c->met;
	size_t least = what == RUNTIME_FRAME_LOOP ? 0 : c->to, n = 0;

	while (at-- > least) {
		if (c->frames[at].what != what)
			continue;
		if (perl_is_call(c, &c->frames[at]))
			break;
		n += c->frames[at].key == by;
	}
	return n;
}

/* More loops than blocks do not say which is whose. */
static bool perl_blocks_fit(const struct perl_calls *c)
{
	for (enum perl_call by = PERL_BY_INSIDE; by <= PERL_BY_OUTSIDE; by++) {
		size_t n = perl_blocks(c, RUNTIME_FRAME_LOOP, by);

		if (n && perl_blocks(c, RUNTIME_FRAME_MET, by) > n)
			return false;
	}
	return true;
}

/* The loop of the context f is the next one that was met for it; a block's is met before the next
 * call's. False: it has none. */
static bool perl_pair(struct perl_calls *c, struct runtime_frame *f)
{
	bool call = perl_is_call(c, f);

	for (size_t at = c->met; at-- > c->to;) {
		const struct runtime_frame *met = &c->frames[at];

		if (perl_is_call(c, met) != call) {
			if (!call)
				return false;
			continue;
		}
		if (!call && met->key != f->key)
			continue;
		if ((met->key == PERL_BY_MAIN) != (f->key == PERL_BY_MAIN))
			return false;
		f->native = met->native;
		c->met = at;
		return true;
	}
	return false;
}

/* Goes through the contexts. */
static bool perl_contexts(struct perl_calls *c)
{
	bool begins = true;

	while (c->contexts) {
		struct runtime_frame *f = &c->frames[--c->contexts];
		bool paired;

		if (f->what != RUNTIME_FRAME_LOOP)
			continue;
		if (begins && !perl_is_call(c, f)) {
			c->contexts++;
			if (!perl_blocks_fit(c))
				return false;
			c->contexts--;
		}
		begins = perl_is_call(c, f);
		if (f->key == PERL_BY_DOUBT && !c->doubt)
			continue;
		paired = perl_pair(c, f);
		if (paired)
			c->paired = c->contexts;
		if (paired)
			c->idle = 0;
		else if (!c->idle)
			c->idle = c->contexts + 1;
	}
	return true;
}

/* Takes out what has no loop: frames inwards of the last one that has, and contexts in between,
 * whose frames the next one outwards runs. */
static void perl_keep(const struct perl_calls *c, size_t *n)
{
	size_t kept = 0;

	if (c->paired == SIZE_MAX) {
		*n = 0;
		return;
	}
	for (size_t i = c->idle; i < c->to; i++) {
		const struct runtime_frame *f = &c->frames[i];

		if (f->what != RUNTIME_FRAME_LOOP || f->native != RUNTIME_FRAME_NOWHERE)
			c->frames[kept++] = *f;
	}
	/* The main program's own, if it does not run. */
	while (kept && c->frames[kept - 1].what != RUNTIME_FRAME_LOOP)
		kept--;
	*n = kept;
}

bool perl_match(struct runtime_frame *frames, size_t *n)
{
	struct perl_calls c = { .frames = frames, .n = *n, .met = *n, .paired = SIZE_MAX };

	while (c.to < c.n && frames[c.to].what != RUNTIME_FRAME_MET)
		c.to++;
	c.contexts = c.to;
	if (!perl_decide(&c) || !perl_contexts(&c))
		return false;
	perl_keep(&c, n);
	return true;
}
