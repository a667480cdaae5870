/* SPDX-License-Identifier: MIT */
/*
 * budget.h: at which rate to sample so that the agent takes no more of a CPU than it may. It sees
 * what windows cost, and nothing else.
 */
#ifndef SEAM_AGENT_BUDGET_H
#define SEAM_AGENT_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

struct rate_budget {
	double max_cpu;       /* percent of one CPU; 0: no limit */
	uint64_t asked_hz;    /* the rate that is asked for, and never exceeded */
	uint64_t hz;          /* the rate now */
	unsigned over, under; /* windows in a row that cost too much, that left room */
	double debt; /* taken beyond the limit and not paid back, in windows at the limit */
	bool fresh;  /* the next window also paid for opening: it does not count */
	bool floor;  /* it costs too much at the least rate, too */
};

void budget_start(struct rate_budget *b, double max_cpu, uint64_t hz);
/* A window of ns took cpu_ns. True: the rate is another from now on, b->hz. */
bool budget_window(struct rate_budget *b, uint64_t cpu_ns, uint64_t ns);

/* Whether a recorder of this age keeps so many objects, or so much in files, that another one is to
 * begin. */
bool budget_is_full(uint64_t objects, uint64_t file_bytes, uint64_t age_ns);

#endif
