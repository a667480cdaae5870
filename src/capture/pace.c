// SPDX-License-Identifier: MIT
// pace.c: see pace.h: after an exec a process maps its libraries, so the rings are read again and
// again, ever more rarely.
#include "capture/pace.h"

#define PACE_PART 16u /* of the time between two samples */
#define PACE_LATEST_NS 5000000ull
/* An agent's rates: most programs that a build or a shell starts live for less than this, and are
 * never sampled. Those that have ended by the reading cost no look at /proc. */
#define PACE_RARE_NS 20000000ull
#define PACE_RARE_PART 1u
#define PACE_RARE_LATEST_NS 50000000ull
#define PACE_RARE_WAIT_NS 400000000ull

void pace_start(struct pace *p, uint64_t period_ns)
{
	bool rare = period_ns >= PACE_RARE_NS;
	uint64_t part = period_ns / (rare ? PACE_RARE_PART : PACE_PART);
	uint64_t latest = rare ? PACE_RARE_LATEST_NS : PACE_LATEST_NS;

	if (part > latest)
		part = latest;
	p->soon_ns = p->wait_ns = part > PACE_SOON_NS ? part : PACE_SOON_NS;
	p->most_ns = rare ? PACE_RARE_WAIT_NS : PACE_WAIT_NS;
}

bool pace_gathers(const struct pace *p)
{
	return p->soon_ns > PACE_SOON_NS;
}

/* Where news are gathered the libraries have been mapped by the first reading, as a rule. */
void pace_next(struct pace *p, bool news)
{
	if (news)
		p->wait_ns = p->soon_ns;
	else if (p->wait_ns < p->most_ns)
		p->wait_ns += p->wait_ns / (pace_gathers(p) ? 1 : 8);
	if (p->wait_ns > p->most_ns)
		p->wait_ns = p->most_ns;
}
