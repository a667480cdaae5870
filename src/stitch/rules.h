/* SPDX-License-Identifier: MIT */
/*
 * rules.h: the rules of stitching as pure functions: facts in, a state out. Both ways of use (a
 * file by index.h, a stream by stream.h) only gather the facts; what they mean is said here alone.
 */
#ifndef SEAM_STITCH_RULES_H
#define SEAM_STITCH_RULES_H

#include <seam/stitch.h>

#define RULES_NEVER UINT64_MAX
#define RULES_UNTIMED (1ULL << 63)
/* Two deferred records with one cookie and task that are closer than this are the same one, written
 * twice. If they are further apart, the counter wrapped: a CPU would have to enter the kernel
 * 600,000 times a second to wrap its 31 bits within an hour. */
#define RULES_REUSE_NS 3600000000000ULL

/* A moment: ns of the recording's clock, or RULES_UNTIMED + the record's index where it has no
 * time. Moments of the two kinds cannot be compared; where that matters, the careful answer is
 * given. */
static inline uint64_t rules_when(const struct seam_decoded *d)
{
	if (d->id.has & SEAM_SAMPLE_TIME)
		return d->id.time_ns & ~RULES_UNTIMED;
	return RULES_UNTIMED | d->record->index;
}

struct rules_who {
	uint64_t when;
	uint32_t pid, tid; /* UINT32_MAX: not known */
};
static inline struct rules_who rules_who(const struct seam_decoded *d)
{
	struct rules_who who = { .when = rules_when(d), .pid = UINT32_MAX, .tid = UINT32_MAX };

	if (d->id.has & SEAM_SAMPLE_TID) {
		who.pid = d->id.pid;
		who.tid = d->id.tid;
	}
	return who;
}
/* The moment at which a task began (FORK) or ended (EXIT). */
uint64_t rules_task_when(const struct seam_decoded *d);

/* What a sample's own chain says. */
enum rules_kind {
	RULES_NO_CHAIN,   /* the event has none */
	RULES_STACK_COPY, /* no user part, but registers and a copy of the stack */
	RULES_NO_USER,    /* no user part and no marker */
	RULES_AT_ONCE,    /* a user part */
	RULES_DEFERRED,   /* a marker and a cookie */
	RULES_CUT_COOKIE  /* a marker and no cookie behind it */
};
struct rules_parts {
	enum rules_kind kind;
	uint64_t cookie;               /* of RULES_DEFERRED, never 0 */
	struct seam_u64s kernel, user; /* as in struct seam_stitched; user only of RULES_AT_ONCE */
};
void rules_split(const struct seam_sample *sample, uint16_t misc, struct rules_parts *ret);
static inline bool rules_user_mode(uint16_t misc)
{
	return (misc & SEAM_MISC_CPUMODE_MASK) == SEAM_MISC_USER;
}
/*
 * Whether a sample that is equal to this one in every byte must be this one written again. The
 * kernel itself writes n equal samples where a count grows by n periods at once
 * (sched_stat_runtime), and decoders of traces write many with one address and time: each of these
 * is a sample of its own. But a cookie comes from the kernel and is of one kernel entry, and an
 * event that counts by interrupts does not interrupt one task twice in one entry within a
 * nanosecond. perf does write such copies: the end of what it read from a ring comes once more in
 * front of what it reads next (five records of tests/data/kill9_z).
 */
bool rules_again(const struct seam_decoded *d, const struct rules_parts *parts);
/* The addresses of a deferred record: up to its first marker (there is none, says the ABI). */
struct seam_u64s rules_addresses(struct seam_u64s ips);

/* A sample and a deferred record with its cookie. */
enum rules_match {
	RULES_MISMATCH,
	RULES_LATER,   /* the deferred record came at or after the sample */
	RULES_EARLIER, /* the deferred record came before it */
	RULES_CROSSED
};
/* exec: the process of the sample had one between the two moments; reborn: the task's tid was given
 * to a new task between them. */
enum rules_match rules_match(const struct rules_who *sample, const struct rules_who *deferred,
                             bool exec, bool reborn);
/* The same where it is known that both are of one task and that nothing lies between them. */
static inline enum rules_match rules_in_turn(uint64_t sample, uint64_t deferred)
{
	return deferred < sample ? RULES_EARLIER : RULES_LATER;
}

static inline enum seam_stitch_state rules_matched(enum rules_match match)
{
	return match == RULES_EARLIER   ? SEAM_STITCH_STITCHED_EARLIER
	       : match == RULES_CROSSED ? SEAM_STITCH_CROSSED_EXEC
	                                : SEAM_STITCH_STITCHED;
}

/* Whether two deferred records are the same one, written by two output events or twice by the
 * recorder. */
bool rules_same_deferred(const struct rules_who *a, const struct rules_who *b);

/* A deferred sample without a deferred record. */
struct rules_unanswered {
	bool no_output;     /* nobody was asked for the deferred records */
	uint64_t when;      /* of the sample */
	uint64_t seen_past; /* first sign after it that the task left this kernel entry, or NEVER */
	uint64_t ended;     /* when the task was gone, first after the sample, or NEVER */
	uint64_t last_lost; /* last moment of a counted loss; 0: no loss */
};
enum seam_stitch_state rules_unanswered(const struct rules_unanswered *facts);

/* Which events give answers. */
enum rules_output {
	RULES_OUTPUT_UNTOLD,
	RULES_OUTPUT_NONE, /* no event has defer_output */
	/* those that have it lack a side-band bit: system-wide they get nothing */
	RULES_OUTPUT_DEAF,
	RULES_OUTPUT_YES,
};
enum rules_output rules_output(const struct seam_events *events);
bool rules_no_output(enum rules_output output, uint64_t deferred);

struct rules_losses {
	uint64_t lost, lost_samples; /* as in struct seam_stitch_counts */
	uint64_t last;
};
/* Takes LOST and LOST_SAMPLES records. */
void rules_lose(struct rules_losses *losses, const struct seam_decoded *d);

#endif
