/* SPDX-License-Identifier: MIT */
/* explain_parts.h: what the files of this room share: the sums that findings are made of, and how a
 * finding is added. */
#ifndef SEAM_EXPLAIN_EXPLAIN_PARTS_H
#define SEAM_EXPLAIN_EXPLAIN_PARTS_H

#include "abi/runtime_kind.h"
#include "explain/explain.h"

/* Adds a finding. args: the command behind "seam", its name first, ending with NULL; NULL: there is
 * none. What memory fails for is left out, and x->failed says so. */
struct explain_new {
	enum explain_section section;
	const char *id;
	double percent;
	const char *const *args;
	bool all_events; /* the command is about all of them */
};
void explain_add(struct explain *x, const struct explain_new *what, const char *fmt, ...)
        __attribute__((format(printf, 3, 4)));
#define EXPLAIN_COMMAND(...)      \
	(const char *const[])     \
	{                         \
		__VA_ARGS__, NULL \
	}

/* The account of what became of every stack: of windows that is not to be had by itself. */
const char *const *explain_account_args(const struct explain *x);
/* What stands below a report of all frames, and not in --stats. */
extern const char *const explain_below_args[];

void explain_finding_free(struct explain_finding *f);

/* ---- explain_sums.c ---- */

/* The functions of an interpreter, with the native code that they call. */
#define EXPLAIN_RUNTIME_MOST 3
struct explain_runtime {
	enum runtime_kind kind;
	uint64_t weight; /* of all of them; 0: there are none */
	struct explain_runtime_function {
		uint32_t symbol;
		uint64_t weight; /* 0: there is none */
	} most[EXPLAIN_RUNTIME_MOST];
};

/* The recording in numbers; shares are of one event. */
struct explain_sums {
	const struct report *report;
	const struct profile *profile;
	uint32_t event; /* see sums_event; 0: none */
	uint64_t weight, samples;
	uint64_t idle;                /* of weight, that of pid 0: CPUs without work */
	bool is_time;                 /* the event counts time or cycles in which tasks ran */
	bool off_cpu;                 /* it counts waiting */
	bool by_frequency;            /* what the event counts was sampled now and then */
	bool no_user, no_kernel;      /* the event leaves that out */
	bool has_tasks;               /* processes and threads are told apart */
	double seconds, cpu_seconds;  /* as struct explain_about */
	uint64_t kind[PROFILE_KINDS]; /* weight by the kind of code that was hit; inlined is user */
	struct rollup functions, objects, commands, threads; /* by self, descending */
	struct explain_runtime runtime;                      /* by explain_runtime_sum */
};
/* -ENOMEM; explain_sums_free in any case. */
int explain_sums_build(struct explain_sums *ret, const struct report *r);
void explain_sums_free(struct explain_sums *s);
/* So few samples tell hardly more than that something ran. */
#define EXPLAIN_FEW 30
/* Whether the event may only happen in the kernel, so that where it did says nothing. */
bool explain_kernel_only(const struct explain_sums *s);
/* What a row's function is called, or NULL where it has no name. */
const char *explain_function(const struct explain_sums *s, const struct rollup_row *row);
/* Percent of the event's weight. */
double explain_share(const struct explain_sums *s, uint64_t weight);
/* Fills s->runtime. -ENOMEM. explain_runtime.c */
int explain_runtime_sum(struct explain_sums *s);

/* ---- the findings: each adds those of its kind ---- */

void explain_time(struct explain *x, const struct explain_sums *s);    /* explain_time.c */
void explain_runtime(struct explain *x, const struct explain_sums *s); /* explain_runtime.c */
int explain_work(struct explain *x, const struct explain_sums *s);     /* explain_work.c; -ENOMEM */
void explain_stacks(struct explain *x, const struct explain_sums *s);  /* explain_stacks.c */

#endif
