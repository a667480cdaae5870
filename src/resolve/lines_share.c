// SPDX-License-Identifier: MIT
/*
 * lines_share.c: how much CPU time goes into debugging information, where that is bounded
 * (lines_opts.share_ns).
 *
 * An agent meets programs that were linked a moment ago and will never be met again: reading all
 * about each costs more than everything else that it does. So there is a share for each window. It
 * is looked at before an object is opened and between pieces of its addresses, and what one took
 * too much is taken off the next windows' shares: in the long run no more is used than was given.
 */
#include <time.h>

#include "resolve/lines_object.h"

#define SHARES_KEPT 10

/* The first recording finds all that could have been kept. */
void lines_share_renew(struct lines *l)
{
	int64_t share = (int64_t)l->opts.share_ns;

	l->share_ns = l->share_begun ? l->share_ns + share : share * SHARES_KEPT;
	l->share_begun = true;
	if (l->share_ns > share * SHARES_KEPT)
		l->share_ns = share * SHARES_KEPT;
}

/* The CPU time of this thread; 0: nobody asks for it. */
uint64_t lines_share_now(const struct lines *l)
{
	struct timespec t;

	if (!l->opts.share_ns || clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) < 0)
		return 0;
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

void lines_share_take(struct lines *l, uint64_t began_ns)
{
	l->share_ns -= (int64_t)(lines_share_now(l) - began_ns);
}

bool lines_share_is_left(const struct lines *l)
{
	return !l->opts.share_ns || l->share_ns > 0;
}

/* What lasts is asked for in every window, and so comes before what is there once. */
uint64_t lines_share_weight(const struct lines_object *object)
{
	return (object->waited + 1ull) * (object->wanted.n / sizeof(uint64_t));
}
