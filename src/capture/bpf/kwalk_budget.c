// SPDX-License-Identifier: MIT
/*
 * kwalk_budget.c: how much work the mappings of one process, and of all, may be in a second.
 * Anybody can map executable pages, tens of thousands in a process, and change them as fast as
 * system calls go; each change costs the follower as much as there are. A process that costs too
 * much is left alone for a second: nothing is known of its mappings, so its stacks end at their
 * first frame, and that is counted and said. Others are followed as ever.
 *
 * Before a recording of the whole machine begins, only so many mappings are read in all, however
 * few each process has: the processes that are left are read when they are sampled, within the same
 * bounds.
 *
 * The unit is about what one mapping costs to be copied: 25 ns here.
 */
#include "capture/bpf/kwalk_parts.h"

#define BUDGET_ONE 4000000u   /* of one process: 100,000 lines of /proc/PID/maps */
#define BUDGET_ALL 8000000u   /* of all: then only those go on that cost less than */
#define BUDGET_SMALL 80000u   /* 2,000 lines */
#define BUDGET_MOST 16000000u /* and then nobody */

/* The smaller a process's own work, the later it is affected by what all together cost. */
static bool budget_is_spent(const struct budget *b, uint64_t own)
{
	uint64_t all = __atomic_load_n(&b->all, __ATOMIC_RELAXED);

	return own > BUDGET_ONE || all > BUDGET_MOST || (own > BUDGET_SMALL && all > BUDGET_ALL);
}

bool budget_waits(struct budget *b)
{
	if (__atomic_load_n(&b->all, __ATOMIC_RELAXED) <= BUDGET_ALL)
		return false;
	__atomic_fetch_add(&b->waiting, 1, __ATOMIC_RELAXED);
	return true;
}

bool budget_take(struct budget *b, uint64_t own, uint64_t work)
{
	__atomic_fetch_add(&b->all, work, __ATOMIC_RELAXED);
	return !budget_is_spent(b, own + work);
}

/* Under the lock. */
void budget_turn(struct budget *b, uint64_t now_ns)
{
	if (now_ns < b->since_ns + BUDGET_NS)
		return;
	b->since_ns = now_ns;
	__atomic_store_n(&b->all, 0, __ATOMIC_RELAXED);
}

/* Counts the follower's work for a process. False: the process is left alone from now on. */
bool budget_charge(struct kwalk *l, struct kwalk_space *s, uint64_t work)
{
	if (s->left_ns)
		return false;
	if (s->work_since_ns != l->budget.since_ns) {
		s->work_since_ns = l->budget.since_ns;
		s->work = 0;
	}
	s->work += work;
	if (budget_take(&l->budget, s->work - work, work))
		return true;
	budget_leave(l, s);
	return false;
}

/* Everything about it is forgotten, so that the programs find no mapping rather than old ones. */
void budget_leave(struct kwalk *l, struct kwalk_space *s)
{
	s->left_ns = kwalk_now_ns();
	l->budget.left++;
	kwalk_space_forget(s);
}
