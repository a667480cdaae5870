/* SPDX-License-Identifier: MIT */
/*
 * explain.h: a recording in twenty lines: where the time goes, what stands out, how good the stacks
 * are, what to try next; each with the command that shows it.
 */
#ifndef SEAM_EXPLAIN_EXPLAIN_H
#define SEAM_EXPLAIN_EXPLAIN_H

#include "report/report.h"

/* More findings than a recording has by itself; a file may name any number of events. */
#define EXPLAIN_LINES 48

enum explain_section {
	EXPLAIN_TIME,   /* where the time goes */
	EXPLAIN_WORK,   /* what stands out */
	EXPLAIN_STACKS, /* how good the stacks are */
	EXPLAIN_NEXT,   /* what to try */
	EXPLAIN_SECTIONS,
};

struct explain_finding {
	enum explain_section section;
	const char *id; /* for programs; does not change */
	double percent; /* of the event's weight, or what the sentence says; negative: none */
	char *text;     /* a sentence; names in it are as they were recorded, not escaped */
	char **command; /* "seam", its arguments, NULL; or NULL. Not escaped */
};

/* What stands before the findings. */
struct explain_about {
	const char *recording; /* as it was asked for */
	const char *event;     /* of the profile; "" where nothing was sampled */
	uint64_t samples;      /* of that event */
	double seconds;        /* from the first sample to the last; 0: not known */
	double cpu_seconds;    /* of all tasks, of events that count time; 0: not known */
};

struct explain {
	struct explain_about about;
	struct explain_finding *finding; /* n, by section, then by share */
	size_t n;
	/* Of the commands that are shown. event: for those about one event; NULL where there is but
	 * one. */
	const struct explain_from *from;
	const char *event;
	bool by_event;  /* what is counted is no time on CPUs: the first section's title names it */
	bool waits;     /* but waiting */
	bool failed;    /* for want of memory */
	size_t columns; /* of the terminal that the text is for; 0: no limit */
};

/* What the commands that are shown have behind their names: arguments, each list ends with NULL. */
struct explain_from {
	const char *const *input; /* -i FILE, or --store URL and what is asked of it */
	const char *const *names; /* where names come from */
	const char *const
	        *tasks; /* which samples, in options that seam flame takes, too; NULL: all */
	const char *const *time; /* of which time; NULL: all */
	const char *events;      /* which events, as -e takes them; NULL: all */
	bool stored;             /* of windows of a store */
};

/* Fills ret from the report of a recording, whose profile must keep what EXPLAIN_KEEPS says.
 * from lives as long as ret. -ENOMEM. */
#define EXPLAIN_KEEPS (PROFILE_KEEP_PID | PROFILE_KEEP_TID)
int explain_find(struct explain *ret, const struct report *r, const char *recording,
                 const struct explain_from *from);
void explain_free(struct explain *x);

/* Each adds to out; -ENOMEM. */
int explain_text(const struct explain *x, bool color, struct buf *out);
int explain_json(const struct explain *x, struct buf *out);

#endif
