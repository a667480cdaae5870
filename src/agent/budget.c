// SPDX-License-Identifier: MIT
/*
 * budget.c: see budget.h.
 *
 * What an agent costs has a part that goes with the rate (walking, naming, storing) and one that
 * does not (programs that start). The first is not known apart from the second, so the rate is
 * lowered in proportion to what was too much, and again if that was not enough. Changing the rate
 * means to begin a recording anew; so it takes more than one window to move it, and up it goes
 * slower than down.
 *
 * What counts is the average: windows may cost too much and leave room in turn. So what each takes
 * beyond the limit is a debt, which those pay back that take less; one that is not paid back lowers
 * the rate.
 */
#include "agent/budget.h"

#define OVER_WINDOWS 2u  /* that cost too much, before the rate goes down */
#define UNDER_WINDOWS 6u /* that left room, before it goes up */
#define ROOM 0.6         /* of the limit: less leaves room */
#define DOWN_LEAST 0.75  /* a change is worth its cost */
#define DOWN_MOST 0.25   /* one window of much work is no reason to stop */
#define UP 1.5
#define DEBT_MOST 6.0   /* windows' worth of the limit that may be owed */
#define DEBT_WINDOW 5.0 /* of it one window can make: it alone is no reason */

/* A recorder forgets no table that it made, so that nobody's is gone: where programs are linked all
 * day it begins anew when there are so many, or so much of them on disk, but not each time if there
 * is that much to be had. */
#define OBJECTS_MOST 8192u
#define TABLES_MOST (512u << 20) /* bytes */
#define ANEW_NS (3600ull * 1000000000)

bool budget_is_full(uint64_t objects, uint64_t file_bytes, uint64_t age_ns)
{
	return (objects > OBJECTS_MOST || file_bytes > TABLES_MOST) && age_ns > ANEW_NS;
}

void budget_start(struct rate_budget *b, double max_cpu, uint64_t hz)
{
	*b = (struct rate_budget){ .max_cpu = max_cpu, .asked_hz = hz, .hz = hz, .fresh = true };
}

/* What is owed after a window that took so many times the limit. Nothing is saved up: what was not
 * taken for hours is no leave to take it now. Nor is more owed than changes the rate: what cannot
 * be mended at the least rate is forgotten soon. */
static double budget_owed(double debt, double times)
{
	debt += times - 1 > DEBT_WINDOW ? DEBT_WINDOW : times - 1;
	return debt > DEBT_MOST + 1 ? DEBT_MOST + 1 : debt > 0 ? debt : 0;
}

/* The rate by which used percent would have been the limit, within bounds. */
static uint64_t budget_down(const struct rate_budget *b, double used)
{
	double factor = b->max_cpu / used;
	uint64_t hz;

	factor = factor > DOWN_LEAST ? DOWN_LEAST : factor < DOWN_MOST ? DOWN_MOST : factor;
	hz = (uint64_t)((double)b->hz * factor);
	return hz ? hz : 1;
}

/* Sums stay true whatever the rate: a sample's weight is the time that it stands for. */
bool budget_window(struct rate_budget *b, uint64_t cpu_ns, uint64_t ns)
{
	double used = ns ? 100.0 * (double)cpu_ns / (double)ns : 0;
	uint64_t hz = b->hz;
	bool down;

	if (b->max_cpu <= 0 || b->fresh) {
		b->fresh = false;
		return false;
	}
	b->over = used > b->max_cpu ? b->over + 1 : 0;
	b->under = used < b->max_cpu * ROOM && hz < b->asked_hz ? b->under + 1 : 0;
	b->debt = budget_owed(b->debt, used / b->max_cpu);
	down = b->over >= OVER_WINDOWS || b->debt > DEBT_MOST;
	b->floor = down && hz == 1;
	if (down) {
		/* How much too much it is by one window is not what it is by the average. */
		hz = budget_down(b, b->over >= OVER_WINDOWS ? used : b->max_cpu);
	} else if (b->under >= UNDER_WINDOWS) {
		hz = (uint64_t)((double)hz * UP) + 1;
		hz = hz > b->asked_hz ? b->asked_hz : hz;
	}
	if (hz == b->hz)
		return false;
	b->hz = hz;
	b->over = b->under = 0;
	b->debt = 0;
	b->fresh = true;
	return true;
}
