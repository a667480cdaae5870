// SPDX-License-Identifier: MIT
// splice.c: see splice.h. Where a call of the loop has no place, nothing outwards of it is put:
// a wrong frame is worse than a missing one.
#include "runtimes/splice.h"

#define SPLICE_RED_ZONE 128u /* below the stack pointer a function may have data */

#define SPLICE_CHAINS (2 * SPLICES_MOST)

/* Frames of one interpreter that have not been put yet. */
struct splice_chain {
	const struct runtime_frame *frames;
	size_t at, end;
};

/* Both interpreters' frames; the second has none if there is one only. */
static void splice_chains(const struct splice *s, struct splice_chain chains[2])
{
	size_t other = s->other && s->other < s->n ? s->other : s->n;

	chains[0] = (struct splice_chain){ s->frames, 0, other };
	chains[1] = (struct splice_chain){ s->frames, other, s->n };
}

/* The last call has no frames before it then. */
void splice_shift(struct splice *s)
{
	struct runtime_frame *last = NULL;

	for (size_t i = 0; i < s->n; i++) {
		if (s->frames[i].what != RUNTIME_FRAME_LOOP)
			continue;
		if (last)
			last->native = s->frames[i].native;
		last = &s->frames[i];
	}
	s->n -= last != NULL;
}

/* Marks of one interpreter's calls, innermost first: each stands in a native frame outwards of the
 * last one's. */
static void splice_place_chain(struct runtime_frame *frames, struct splice_chain c,
                               const uint64_t *sps, size_t n)
{
	size_t at = 0;

	for (; c.at < c.end; c.at++) {
		struct runtime_frame *f = &frames[c.at];
		uint64_t low;

		if (f->what != RUNTIME_FRAME_LOOP)
			continue;
		while (at < n && f->key >= sps[at + 1])
			at++;
		low = at ? sps[at] : sps[0] - SPLICE_RED_ZONE;
		f->native = at < n && f->key >= low ? (uint16_t)at : RUNTIME_FRAME_NOWHERE;
		/* What is outwards of a call without a place has none either. */
		at = f->native == RUNTIME_FRAME_NOWHERE ? n : at + 1;
	}
}

void splice_place(struct splice *s, const uint64_t *sps, size_t n)
{
	struct splice_chain chains[2];

	splice_chains(s, chains);
	splice_place_chain(s->frames, chains[0], sps, n);
	splice_place_chain(s->frames, chains[1], sps, n);
}

bool splice_is_apart(const struct splice *s, size_t n)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->frames[i].what == RUNTIME_FRAME_LOOP && s->frames[i].native >= n)
			return true;
	return false;
}

/* The next call of the loop of a chain; the chain's end: there is none. */
static size_t splice_call(const struct splice_chain *c)
{
	size_t i = c->at;

	while (i < c->end && c->frames[i].what != RUNTIME_FRAME_LOOP)
		i++;
	return i;
}

/* The chain whose next call is the innermost native frame; NULL: none has one among the n that
 * there are, from native on. */
static struct splice_chain *splice_next(struct splice_chain *chains, size_t n_chains, size_t native,
                                        size_t n)
{
	struct splice_chain *next = NULL;

	for (struct splice_chain *c = chains; c < chains + n_chains; c++) {
		size_t i = splice_call(c);

		if (i < c->end && c->frames[i].native >= native && c->frames[i].native < n) {
			n = c->frames[i].native;
			next = c;
		}
	}
	return next;
}

/* The frames from..end of one call of the loop, innermost first. Returns how many were put. *more
 * is how many more than frames there may be, for what is inlined. */
static size_t splice_put(const struct runtime_frame *from, const struct runtime_frame *end,
                         struct codes *codes, uint64_t *to, size_t *more, uint64_t *unnamed)
{
	size_t n = 0;

	for (; from < end; from++) {
		size_t put =
		        codes_addresses(codes, from->key, from->at, to + n, 1 + *more, unnamed);

		*more -= put ? put - 1 : 0;
		n += put;
	}
	return n;
}

/* All chains are put in the order of the native frames; a cut stack has one interpreter's only. */
size_t splice_stack(const struct splice *splices, size_t n_splices, struct codes *codes,
                    const uint64_t *ips, size_t n, bool cut, uint64_t *to, uint64_t *unnamed)
{
	struct splice_chain chains[SPLICE_CHAINS] = { { 0 } }, *c;
	size_t put = 0, native = 0, more = SPLICE_INLINED, call, n_chains = 0;

	for (size_t i = 0; i < n_splices && i < SPLICES_MOST; i++, n_chains += 2)
		splice_chains(&splices[i], chains + n_chains);
	while ((c = splice_next(chains, n_chains, native, n))) {
		call = splice_call(c);
		while (native < c->frames[call].native)
			to[put++] = ips[native++];
		put += splice_put(c->frames + c->at, c->frames + call, codes, to + put, &more,
		                  unnamed);
		c->at = call + 1;
	}
	while (native < n)
		to[put++] = ips[native++];
	if (!cut || n_splices != 1 || !splices->whole || splices->other)
		return put;
	for (c = chains; c->at < c->end; c->at = call + 1) {
		call = splice_call(c);
		put += splice_put(c->frames + c->at, c->frames + call, codes, to + put, &more,
		                  unnamed);
	}
	return put;
}
