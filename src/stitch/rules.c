// SPDX-License-Identifier: MIT
/*
 * rules.c: see rules.h. Pure; the table of README.md is this file in words.
 *
 * Invariant: of two claims the one that the records prove is made, and when neither is proven the
 * one that claims less. A user part is never given on anything less than cookie, task and program.
 */
#include "stitch/rules.h"

#include <string.h>

#define RULES_TASK_CLOCK 1u /* PERF_COUNT_SW_TASK_CLOCK; before it comes cpu-clock */

/* FORK and EXIT carry a time of their own. It serves where the recording has no times in its
 * records (no sample_id_all). */
uint64_t rules_task_when(const struct seam_decoded *d)
{
	if (!(d->id.has & SEAM_SAMPLE_TIME) && d->task.time_ns)
		return d->task.time_ns & ~RULES_UNTIMED;
	return rules_when(d);
}

/* The words [from, to) of an array; empty with no address if there are none. */
static struct seam_u64s rules_slice(struct seam_u64s a, uint64_t from, uint64_t to)
{
	a.bytes = to > from ? a.bytes + from * 8 : NULL;
	a.n = to > from ? to - from : 0;
	return a;
}

static inline uint64_t rules_word(const unsigned char *bytes, uint64_t i)
{
	uint64_t word;

	memcpy(&word, bytes + i * 8, sizeof(word));
	return word;
}

/* The first marker at or behind `from`. */
static uint64_t rules_marker(const struct seam_u64s *chain, uint64_t from)
{
	const unsigned char *bytes = chain->bytes;
	uint64_t any;

	for (; !chain->swap && chain->n - from >= 8; from += 8) { /* most words are none */
		any = rules_word(bytes, from) | rules_word(bytes, from + 1) |
		      rules_word(bytes, from + 2) | rules_word(bytes, from + 3) |
		      rules_word(bytes, from + 4) | rules_word(bytes, from + 5) |
		      rules_word(bytes, from + 6) | rules_word(bytes, from + 7);
		if (any >> 63) /* as a marker has it, and a kernel address */
			break;
	}
	while (from < chain->n && seam_u64s_at(chain, from) < SEAM_CONTEXT_MAX)
		from++;
	return from;
}

/* The index of the first marker of a user part or a cookie, or the chain's length. swap is a
 * constant where this is inlined: few words lie in front, but each costs five instructions. */
__attribute__((always_inline)) static inline uint64_t
rules_user_at(const unsigned char *bytes, uint64_t n, bool swap, uint64_t *marker)
{
	uint64_t at, word;

	for (at = 0; at < n; at++) {
		memcpy(&word, bytes + at * 8, 8);
		if (swap)
			word = __builtin_bswap64(word);
		if (word < SEAM_CONTEXT_MAX)
			continue;
		*marker = word;
		if (word == SEAM_CONTEXT_USER || word == SEAM_CONTEXT_USER_DEFERRED)
			break;
	}
	return at;
}

/* The last run of addresses in a chain, and what stands behind it. */
struct rules_run {
	uint64_t start, end;
	/* marker from which on there are markers alone up to the run; start: none */
	uint64_t first;
	bool user, cookie;
	uint64_t cookie_at; /* the marker in front of it */
};

/* Finds the last run of addresses in the chain and whose it is. user: to whom the addresses in
 * front of the first marker belong. */
static struct rules_run rules_last_run(const struct seam_u64s *chain, bool user)
{
	struct rules_run run = { 0 };
	bool begun = false;
	uint64_t first = 0;

	for (uint64_t i = 0; i < chain->n; i++) {
		uint64_t word = seam_u64s_at(chain, i);

		if (word == SEAM_CONTEXT_USER_DEFERRED) {
			run.cookie = true;
			run.cookie_at = i;
			break;
		}
		if (word >= SEAM_CONTEXT_MAX) {
			bool was = user;

			user = word == SEAM_CONTEXT_USER;
			/* Markers in a row count as one while they say the same. */
			if (begun || user != was)
				first = i;
			begun = false;
			continue;
		}
		if (!begun)
			run.start = i;
		begun = true;
		run.end = i + 1;
		run.first = first;
		run.user = user;
	}
	return run;
}

/*
 * A chain that names modes more often than once: some recorders pad with markers. A marker says
 * whose the next addresses are and ends nothing. The user part is the last addresses, if they are
 * the user's; all in front of them, with its markers, is the other one.
 */
__attribute__((noinline)) static void rules_mixed(const struct seam_u64s *chain, bool user,
                                                  struct rules_parts *ret)
{
	struct rules_run run = rules_last_run(chain, user);

	ret->kind = RULES_AT_ONCE;
	if (run.cookie) {
		ret->kernel = rules_slice(*chain, 0, run.cookie_at);
		ret->cookie =
		        run.cookie_at + 1 < chain->n ? seam_u64s_at(chain, run.cookie_at + 1) : 0;
		ret->kind = ret->cookie ? RULES_DEFERRED : RULES_CUT_COOKIE;
	} else if (run.user) {
		ret->kernel = rules_slice(*chain, 0, run.first);
		ret->user = rules_slice(*chain, run.start, run.end);
	} else {
		ret->kernel = rules_slice(*chain, 0, run.end);
	}
}

/* For a chain that holds its user part, from one word on. It is not inlined: the other samples
 * would pay for its registers. */
__attribute__((noinline)) static void rules_at_once(const struct seam_u64s *chain, uint64_t from,
                                                    bool user, struct rules_parts *ret)
{
	uint64_t marker = rules_marker(chain, from);

	if (marker < chain->n) {
		rules_mixed(chain, user, ret);
		return;
	}
	ret->kind = RULES_AT_ONCE;
	ret->user = rules_slice(*chain, from, chain->n);
}

/* The stack copy counts only where there is nothing better: where the chain has no user part. */
static enum rules_kind rules_copy_or(const struct seam_sample *sample, enum rules_kind kind)
{
	return sample->regs_user.abi && sample->stack_user_size ? RULES_STACK_COPY : kind;
}

/* Divides a callchain into its kernel and its user part, or the cookie that stands for the user
 * part, and says in ret->kind which of these it has. Nothing is copied. */
void rules_split(const struct seam_sample *sample, uint16_t misc, struct rules_parts *ret)
{
	const struct seam_u64s *chain = &sample->callchain;
	uint64_t marker = 0, at;

	*ret = (struct rules_parts){ .kind = RULES_CUT_COOKIE };
	if (!(sample->event ? sample->event->attr.sample_type & SEAM_SAMPLE_CALLCHAIN : chain->n)) {
		ret->kind = rules_copy_or(sample, RULES_NO_CHAIN);
		return;
	}
	/* Addresses in front of any marker belong to the mode that the record's header names. */
	if (rules_user_mode(misc) && chain->n && seam_u64s_at(chain, 0) < SEAM_CONTEXT_MAX) {
		rules_at_once(chain, 0, true, ret);
		return;
	}
	at = chain->swap ? rules_user_at(chain->bytes, chain->n, true, &marker)
	                 : rules_user_at(chain->bytes, chain->n, false, &marker);
	ret->kernel = rules_slice(*chain, 0, at);
	if (at == chain->n) {
		ret->kind = rules_copy_or(sample, RULES_NO_USER);
	} else if (marker == SEAM_CONTEXT_USER) {
		rules_at_once(chain, at + 1, rules_user_mode(misc), ret);
	} else if (at + 1 < chain->n) {
		ret->cookie = seam_u64s_at(chain, at + 1);
		if (ret->cookie)
			ret->kind = RULES_DEFERRED;
	}
}

/* The types are those whose counters interrupt: hardware events under three types, and the two
 * clocks among the software events. */
bool rules_again(const struct seam_decoded *d, const struct rules_parts *parts)
{
	if (parts->kind != RULES_DEFERRED || !d->event || !(d->id.has & SEAM_SAMPLE_TIME) ||
	    !(d->id.has & SEAM_SAMPLE_TID))
		return false;
	switch (d->event->attr.type) {
	case SEAM_TYPE_HARDWARE:
	case SEAM_TYPE_HW_CACHE:
	case SEAM_TYPE_RAW:
		return true;
	case SEAM_TYPE_SOFTWARE:
		return d->event->attr.config <= RULES_TASK_CLOCK;
	default:
		return false;
	}
}

struct seam_u64s rules_addresses(struct seam_u64s ips)
{
	return rules_slice(ips, 0, rules_marker(&ips, 0));
}

/* The order of the tests is the order of proof: another task, then another owner of the tid, then
 * another program, then which of the two came first. */
enum rules_match rules_match(const struct rules_who *sample, const struct rules_who *deferred,
                             bool exec, bool reborn)
{
	bool known = sample->tid != UINT32_MAX && deferred->tid != UINT32_MAX;

	/* A thread that is not the leader takes the leader's tid when it execs. */
	if (known && sample->tid != deferred->tid)
		return exec && sample->pid == deferred->pid &&
		                       (deferred->tid == deferred->pid ||
		                        sample->tid == sample->pid)
		               ? RULES_CROSSED
		               : RULES_MISMATCH;
	if (reborn)
		return RULES_MISMATCH;
	if (exec)
		return RULES_CROSSED;
	return rules_in_turn(sample->when, deferred->when);
}

/* Two output events write one record at nearly the same time: see RULES_REUSE_NS. */
bool rules_same_deferred(const struct rules_who *a, const struct rules_who *b)
{
	uint64_t apart = a->when > b->when ? a->when - b->when : b->when - a->when;

	return a->tid == b->tid && a->pid == b->pid && apart < RULES_REUSE_NS;
}

/* The order of README.md's table. Signs are compared with the end, because a task that was seen in
 * a later kernel entry returned to user mode and should have written its record. */
enum seam_stitch_state rules_unanswered(const struct rules_unanswered *f)
{
	if (f->no_output)
		return SEAM_STITCH_NO_OUTPUT_EVENT;
	/* It went on to run: the record was written, and is not here. */
	if (f->seen_past != RULES_NEVER && f->seen_past <= f->ended)
		return SEAM_STITCH_RECORD_LOST;
	/* It died before it came back to user mode. The end is proven; that a record was lost is
	 * not. */
	if (f->ended != RULES_NEVER)
		return SEAM_STITCH_EXITED;
	if (f->last_lost && f->last_lost >= f->when)
		return SEAM_STITCH_RECORD_LOST;
	return SEAM_STITCH_STILL_IN_KERNEL;
}

/* Says whether the kernel could write deferred records at all: no event asks for them, an event
 * does, or the event that asks gets no side-band records, through which the kernel finds it. */
enum rules_output rules_output(const struct seam_events *events)
{
	/* Any of these bits makes the kernel put an event on a CPU's side-band list, through which
	 * deferred records are sent. */
	const uint64_t sideband = SEAM_ATTR_MMAP | SEAM_ATTR_MMAP_DATA | SEAM_ATTR_MMAP2 |
	                          SEAM_ATTR_COMM | SEAM_ATTR_COMM_EXEC | SEAM_ATTR_TASK |
	                          SEAM_ATTR_KSYMBOL | SEAM_ATTR_CONTEXT_SWITCH |
	                          SEAM_ATTR_TEXT_POKE | SEAM_ATTR_BPF_EVENT;
	enum rules_output output = RULES_OUTPUT_NONE;

	for (size_t i = 0; i < seam_events_count(events); i++) {
		uint64_t flags = seam_events_at(events, i)->attr.flags;

		if (!(flags & SEAM_ATTR_DEFER_OUTPUT))
			continue;
		if (flags & sideband)
			return RULES_OUTPUT_YES;
		output = RULES_OUTPUT_DEAF;
	}
	return output;
}

/* An event that has defer_output and no side-band bit still receives records where it is of a task.
 * A record that is there proves it. */
bool rules_no_output(enum rules_output output, uint64_t deferred)
{
	return output == RULES_OUTPUT_NONE || (output == RULES_OUTPUT_DEAF && !deferred);
}

/* Adds up what was lost, and notes until when: a sample before that moment may have lost its user
 * part. */
void rules_lose(struct rules_losses *losses, const struct seam_decoded *d)
{
	uint64_t when = rules_when(d);

	if (!d->lost.lost)
		return;
	if (d->record->type == SEAM_RECORD_LOST) {
		losses->lost += d->lost.lost;
	} else if (!(d->record->misc & (SEAM_MISC_LOST_SAMPLES_BPF | SEAM_MISC_LOST_TASKS))) {
		losses->lost_samples += d->lost.lost;
		/* A sample that was never taken takes no answer away. */
		if (d->record->misc & SEAM_MISC_LOST_SKIPPED)
			return;
		/* This is the count of the output event: deferred or side-band records were lost,
		 * at a time that is not known. */
		if (!d->event || !(d->event->attr.flags & SEAM_ATTR_DEFER_OUTPUT))
			return;
		when = RULES_NEVER;
	} else {
		return;
	}
	if (when > losses->last)
		losses->last = when;
}
