// SPDX-License-Identifier: MIT
/*
 * stitch.c: the truth table of src/stitch/README.md, line by line: each case is a list of records
 * with the state that each sample must end in, run as a stream, as a file, and as a file learned and
 * resolved backwards. Then the bounds, duplicates, byte orders and misuse.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <seam/stitch.h>

#include "abi/encode.h"

enum kind {
	END,
	KERNEL,      /* a deferred sample in kernel mode */
	USER,        /* the same, in user mode: marker and cookie only */
	AT_ONCE,     /* a sample with its user part */
	NO_USER,     /* a kernel chain only */
	CUT,         /* a marker without a cookie */
	NULL_COOKIE, /* a marker and 0 */
	PLAIN,       /* user mode, of an event without callchains */
	BARE,        /* addresses without any marker, user mode */
	ANSWER,
	EXEC,
	EXIT,
	FORK, /* of the task named */
	LOST,
	LOST_OUTPUT, /* LOST_SAMPLES of the output event */
	LOST_BPF,
};

struct step {
	enum kind kind;
	uint64_t time, cookie;
	uint32_t pid, tid;
	enum seam_stitch_state state; /* of samples */
	uint64_t frame;               /* of answers: the first address, 0: none; of samples: the
	                                 first user address that is to be seen, 0: none */
	enum seam_stitch_state stream_state; /* where a stream cannot know better; 0: the same */
};

enum {
	WITH_OUTPUT,
	NO_OUTPUT,
	DEAF_OUTPUT,
	UNTOLD
};

struct row {
	const char *name;
	int output;
	struct step steps[12];
	uint64_t mismatches, unclaimed;
};

#define C1 0x100000002ULL
#define C2 0x300000002ULL
#define C3 0x500000001ULL
#define HOUR 3600000000000ULL

#define IMMEDIATE SEAM_STITCH_IMMEDIATE
#define STITCHED SEAM_STITCH_STITCHED
#define EARLIER SEAM_STITCH_STITCHED_EARLIER
#define KERNEL_ONLY SEAM_STITCH_KERNEL_ONLY
#define CROSSED SEAM_STITCH_CROSSED_EXEC
#define EXITED SEAM_STITCH_EXITED
#define RECORD_LOST SEAM_STITCH_RECORD_LOST
#define STILL SEAM_STITCH_STILL_IN_KERNEL
#define NOBODY SEAM_STITCH_NO_OUTPUT_EVENT
#define NO_COOKIE SEAM_STITCH_NO_COOKIE
#define NO_CALLCHAIN SEAM_STITCH_NO_CALLCHAIN

static const struct row rows[] = {
	{ "answered later",
	  .steps = { { KERNEL, 10, C1, 7, 7, STITCHED, 0xa }, { ANSWER, 20, C1, 7, 7, 0, 0xa } } },
	{ "a sample in user mode is deferred too",
	  .steps = { { USER, 10, C1, 7, 7, STITCHED, 0xa }, { ANSWER, 20, C1, 7, 7, 0, 0xa } } },
	{ "one answer serves two samples", .steps = { { KERNEL, 10, C1, 7, 7, STITCHED, 0xa },
	                                              { KERNEL, 11, C1, 7, 7, STITCHED, 0xa },
	                                              { ANSWER, 20, C1, 7, 7, 0, 0xa } } },
	{ "the same moment is not earlier",
	  .steps = { { KERNEL, 10, C1, 7, 7, STITCHED, 0xa }, { ANSWER, 10, C1, 7, 7, 0, 0xa } } },
	{ "answered earlier", .steps = { { KERNEL, 10, C1, 7, 7, STITCHED, 0xa },
	                                 { ANSWER, 20, C1, 7, 7, 0, 0xa },
	                                 { KERNEL, 30, C1, 7, 7, EARLIER, 0xa },
	                                 { KERNEL, 3000000000, C1, 7, 7, EARLIER, 0xa } } },
	{ "answered earlier, no sample before",
	  .steps = { { ANSWER, 20, C1, 7, 7, 0, 0xa }, { KERNEL, 30, C1, 7, 7, EARLIER, 0xa } } },
	{ "an empty answer is an answer",
	  .steps = { { KERNEL, 10, C1, 7, 7, STITCHED }, { ANSWER, 20, C1, 7, 7 } } },
	{ "two entries of one task, answered behind the second",
	  .steps = { { KERNEL, 10, C1, 7, 7, STITCHED, 0xa },
	             { KERNEL, 20, C2, 7, 7, STITCHED, 0xb },
	             { ANSWER, 30, C1, 7, 7, 0, 0xa },
	             { ANSWER, 40, C2, 7, 7, 0, 0xb } } },
	{ "the same, the other way round", .steps = { { KERNEL, 10, C1, 7, 7, STITCHED, 0xa },
	                                              { KERNEL, 20, C2, 7, 7, STITCHED, 0xb },
	                                              { ANSWER, 30, C2, 7, 7, 0, 0xb },
	                                              { ANSWER, 40, C1, 7, 7, 0, 0xa } } },
	{ "another recording's answers",
	  .steps = { { ANSWER, 5, C3, 7, 7, 0, 0xc },
	             { KERNEL, 10, C1, 7, 7, STITCHED, 0xa },
	             { ANSWER, 20, C1, 7, 7, 0, 0xa },
	             { ANSWER, 25, C2, 9, 9, 0, 0xc } },
	  .unclaimed = 2 },
	{ "the tid guards",
	  .steps = { { KERNEL, 10, C1, 7, 7, STILL }, { ANSWER, 20, C1, 9, 9, 0, 0xa } },
	  .mismatches = 1 },
	{ "the tid guards, answer first",
	  .steps = { { ANSWER, 5, C1, 9, 9, 0, 0xa }, { KERNEL, 10, C1, 7, 7, STILL } },
	  .mismatches = 1 },
	{ "the wrong task's answer, then the right one",
	  .steps = { { KERNEL, 10, C1, 7, 7, STITCHED, 0xa },
	             { ANSWER, 20, C1, 9, 9, 0, 0xb },
	             { ANSWER, 30, C1, 7, 7, 0, 0xa } } },
	{ "one cookie, two tasks (a counter wrapped)",
	  .steps = { { KERNEL, 10, C1, 7, 7, STITCHED, 0xa },
	             { KERNEL, 11, C1, 9, 9, STITCHED, 0xb },
	             { ANSWER, 20, C1, 9, 9, 0, 0xb },
	             { ANSWER, 30, C1, 7, 7, 0, 0xa } } },
	{ "one cookie and task, hours apart: the nearest answer",
	  .steps = { { KERNEL, 10, C1, 7, 7, STITCHED, 0xa },
	             { ANSWER, 20, C1, 7, 7, 0, 0xa },
	             { KERNEL, 60 * HOUR, C1, 7, 7, STITCHED, 0xb, EARLIER },
	             { ANSWER, 60 * HOUR + 9, C1, 7, 7, 0, 0xb } } },
	{ "no tid in the answers: the cookie alone",
	  .steps = { { KERNEL, 10, C1, 7, 7, STITCHED, 0xa },
	             { ANSWER, 20, C1, UINT32_MAX, UINT32_MAX, 0, 0xa } } },
	{ "a reused tid: the dead task's sample is not the new one's",
	  .steps = { { KERNEL, 10, C1, 7, 7, EXITED },
	             { EXIT, 15, 0, 7, 7 },
	             { FORK, 16, 0, 7, 7 },
	             { ANSWER, 20, C1, 7, 7, 0, 0xa } },
	  .mismatches = 1 },
	{ "a reused tid: the new one's sample is not answered by the dead one",
	  .steps = { { ANSWER, 10, C1, 7, 7, 0, 0xa },
	             { EXIT, 15, 0, 7, 7 },
	             { FORK, 16, 0, 7, 7 },
	             { KERNEL, 20, C1, 7, 7, STILL } },
	  .mismatches = 1 },

	{ "crossed exec", .steps = { { KERNEL, 10, C1, 7, 7, CROSSED },
	                             { EXEC, 15, 0, 7, 7 },
	                             { KERNEL, 17, C1, 7, 7, STITCHED, 0xa },
	                             { ANSWER, 20, C1, 7, 7, 0, 0xa } } },
	{ "crossed exec, answered before it", .steps = { { KERNEL, 10, C1, 7, 7, STITCHED, 0xa },
	                                                 { ANSWER, 12, C1, 7, 7, 0, 0xa },
	                                                 { EXEC, 15, 0, 7, 7 },
	                                                 { KERNEL, 20, C1, 7, 7, CROSSED } } },
	{ "exec at the very moment of the sample: not merged",
	  .steps = { { KERNEL, 15, C1, 7, 7, CROSSED },
	             { EXEC, 15, 0, 7, 7 },
	             { ANSWER, 20, C1, 7, 7, 0, 0xa } } },
	{ "another process's exec", .steps = { { KERNEL, 10, C1, 7, 7, STITCHED, 0xa },
	                                       { EXEC, 15, 0, 8, 8 },
	                                       { ANSWER, 20, C1, 7, 7, 0, 0xa } } },
	{ "exec before and behind, not between", .steps = { { EXEC, 5, 0, 7, 7 },
	                                                    { KERNEL, 10, C1, 7, 7, STITCHED, 0xa },
	                                                    { ANSWER, 20, C1, 7, 7, 0, 0xa },
	                                                    { EXEC, 25, 0, 7, 7 } } },
	{ "a thread's exec: it answers under the leader's tid",
	  .steps = { { KERNEL, 10, C1, 7, 8, CROSSED },
	             { KERNEL, 11, C2, 7, 7, EXITED },
	             { EXIT, 12, 0, 7, 7 },
	             { EXEC, 15, 0, 7, 7 },
	             { KERNEL, 17, C1, 7, 7, STITCHED, 0xa },
	             { ANSWER, 20, C1, 7, 7, 0, 0xa } } },
	{ "a thread's exec, answered before it", .steps = { { ANSWER, 10, C1, 7, 8, 0, 0xa },
	                                                    { EXEC, 15, 0, 7, 7 },
	                                                    { KERNEL, 17, C1, 7, 7, CROSSED } } },

	{ "exited", .steps = { { KERNEL, 10, C1, 7, 7, EXITED }, { EXIT, 20, 0, 7, 7 } } },
	{ "a dying task answers behind its EXIT record",
	  .steps = { { KERNEL, 10, C1, 7, 7, STITCHED, 0xa },
	             { EXIT, 20, 0, 7, 7 },
	             { ANSWER, 30, C1, 7, 7, 0, 0xa },
	             { KERNEL, 40, C1, 7, 7, EARLIER, 0xa } } },
	{ "the same, with a sample in between", .steps = { { KERNEL, 10, C1, 7, 7, STITCHED, 0xa },
	                                                   { EXIT, 20, 0, 7, 7 },
	                                                   { KERNEL, 25, C1, 7, 7, STITCHED, 0xa },
	                                                   { ANSWER, 30, C1, 7, 7, 0, 0xa } } },
	{ "exited, its tid used again without a FORK record",
	  .steps = { { KERNEL, 10, C1, 7, 7, EXITED },
	             { EXIT, 20, 0, 7, 7 },
	             { AT_ONCE, 25, 0, 7, 7, IMMEDIATE, 0x401000 },
	             { KERNEL, 30, C2, 7, 7, STITCHED, 0xb },
	             { ANSWER, 35, C2, 7, 7, 0, 0xb } } },
	{ "exited, long ago for a stream", .steps = { { KERNEL, 10, C1, 7, 7, EXITED },
	                                              { EXIT, 20, 0, 7, 7 },
	                                              { KERNEL, 900000000, C2, 8, 8, STILL } } },
	{ "exited, and a loss was counted: the exit is proven",
	  .steps = { { KERNEL, 10, C1, 7, 7, EXITED },
	             { LOST, 15, 0, 0, 0 },
	             { EXIT, 20, 0, 7, 7 } } },
	{ "exited, though unseen: its tid has a new owner",
	  .steps = { { KERNEL, 10, C1, 7, 7, EXITED }, { FORK, 20, 0, 7, 7 } } },
	{ "seen past the entry, then exited", .steps = { { KERNEL, 10, C1, 7, 7, RECORD_LOST },
	                                                 { KERNEL, 15, C2, 7, 7, EXITED },
	                                                 { EXIT, 20, 0, 7, 7 } } },
	{ "exited, then the tid's next owner is seen",
	  .steps = { { KERNEL, 10, C1, 7, 7, EXITED },
	             { EXIT, 20, 0, 7, 7 },
	             { FORK, 25, 0, 7, 7 },
	             { KERNEL, 30, C2, 7, 7, STILL } } },
	{ "an exit before the sample is not its own",
	  .steps = { { EXIT, 5, 0, 7, 7 },
	             { FORK, 6, 0, 7, 7 },
	             { KERNEL, 10, C1, 7, 7, STILL } } },
	{ "another thread's exit",
	  .steps = { { KERNEL, 10, C1, 7, 7, STILL }, { EXIT, 20, 0, 7, 8 } } },

	{ "seen past the entry: another cookie", .steps = { { KERNEL, 10, C1, 7, 7, RECORD_LOST },
	                                                    { KERNEL, 20, C2, 7, 7, STITCHED, 0xb },
	                                                    { ANSWER, 30, C2, 7, 7, 0, 0xb } } },
	{ "seen past the entry: in user mode",
	  .steps = { { KERNEL, 10, C1, 7, 7, RECORD_LOST },
	             { AT_ONCE, 20, 0, 7, 7, IMMEDIATE, 0x401000 } } },
	{ "seen past the entry: in user mode, by an event without callchains",
	  .steps = { { KERNEL, 10, C1, 7, 7, RECORD_LOST },
	             { PLAIN, 20, 0, 7, 7, NO_CALLCHAIN } } },
	{ "two in user mode may be one interrupt: no sign",
	  .steps = { { USER, 10, C1, 7, 7, STILL }, { PLAIN, 11, 0, 7, 7, NO_CALLCHAIN } } },
	{ "in user mode, later in the kernel, then in user mode: a sign",
	  .steps = { { USER, 10, C1, 7, 7, RECORD_LOST },
	             { KERNEL, 11, C1, 7, 7, RECORD_LOST },
	             { PLAIN, 12, 0, 7, 7, NO_CALLCHAIN } } },
	{ "in user mode twice, then the same entry in the kernel: no sign",
	  .steps = { { USER, 10, C1, 7, 7, STILL },
	             { PLAIN, 11, 0, 7, 7, NO_CALLCHAIN },
	             { KERNEL, 12, C1, 7, 7, STILL } } },
	{ "in user mode between two of one entry: a sign for the first",
	  .steps = { { KERNEL, 10, C1, 7, 7, RECORD_LOST },
	             { PLAIN, 11, 0, 7, 7, NO_CALLCHAIN },
	             { KERNEL, 12, C1, 7, 7, STILL } } },
	{ "the kernel alone is no sign",
	  .steps = { { KERNEL, 10, C1, 7, 7, STILL }, { NO_USER, 20, 0, 7, 7, KERNEL_ONLY } } },
	{ "another task is no sign", .steps = { { KERNEL, 10, C1, 7, 7, STILL },
	                                        { AT_ONCE, 20, 0, 8, 8, IMMEDIATE, 0x401000 } } },
	{ "a loss was counted later",
	  .steps = { { KERNEL, 10, C1, 7, 7, RECORD_LOST }, { LOST, 20, 0, 0, 0 } } },
	{ "a loss was counted before the sample",
	  .steps = { { LOST, 5, 0, 0, 0 }, { KERNEL, 10, C1, 7, 7, STILL } } },
	{ "the output event lost some, nobody knows when",
	  .steps = { { LOST_OUTPUT, 5, 0, 0, 0 }, { KERNEL, 10, C1, 7, 7, RECORD_LOST } } },
	{ "what a filter dropped is no loss",
	  .steps = { { KERNEL, 10, C1, 7, 7, STILL }, { LOST_BPF, 20, 0, 0, 0 } } },
	{ "still in the kernel", .steps = { { KERNEL, 10, C1, 7, 7, STILL } } },

	{ "no output event", NO_OUTPUT,
	  .steps = { { KERNEL, 10, C1, 7, 7, NOBODY }, { EXIT, 20, 0, 7, 7 } } },
	{ "an output event that hears nothing", DEAF_OUTPUT,
	  .steps = { { KERNEL, 10, C1, 7, 7, NOBODY } } },
	{ "an output event that hears all the same (of one task)", DEAF_OUTPUT,
	  .steps = { { KERNEL, 10, C1, 7, 7, STITCHED, 0xa },
	             { ANSWER, 20, C1, 7, 7, 0, 0xa },
	             { KERNEL, 30, C2, 7, 7, STILL } } },
	{ "nobody said which events there are", UNTOLD,
	  .steps = { { KERNEL, 10, C1, 7, 7, STILL } } },

	{ "taken at once", .steps = { { AT_ONCE, 10, 0, 7, 7, IMMEDIATE, 0x401000 } } },
	{ "addresses without a marker, in user mode",
	  .steps = { { BARE, 10, 0, 7, 7, IMMEDIATE, 0x401000 } } },
	{ "no user part", .steps = { { NO_USER, 10, 0, 7, 7, KERNEL_ONLY } } },
	{ "no callchain", .steps = { { PLAIN, 10, 0, 7, 7, NO_CALLCHAIN } } },
	{ "a marker whose cookie was cut off",
	  .steps = { { CUT, 10, 0, 7, 7, NO_COOKIE }, { ANSWER, 20, C1, 7, 7, 0, 0xa } },
	  .unclaimed = 1 },
	{ "a cookie is never 0",
	  .steps = { { NULL_COOKIE, 10, 0, 7, 7, NO_COOKIE }, { ANSWER, 20, 0, 7, 7, 0, 0xa } },
	  .unclaimed = 1 },
};

/* ---- records from steps ---- */

struct tape {
	struct seam_events *events;
	struct buf bytes;
	struct seam_record records[16];
	struct seam_decoded decoded[16];
	size_t n;
};

static struct seam_events *new_events(int output)
{
	struct seam_attr a = { .size = 144,
		               .type = SEAM_TYPE_SOFTWARE,
		               .sample_period = 1,
		               .sample_type = SEAM_SAMPLE_IDENTIFIER | SEAM_SAMPLE_IP |
		                              SEAM_SAMPLE_TID | SEAM_SAMPLE_TIME,
		               .flags = SEAM_ATTR_SAMPLE_ID_ALL };
	struct seam_events *events;
	uint64_t id = 1;

	assert_int_equal(seam_events_new(&events), 0);
	assert_int_equal(seam_events_add(events, &a, "plain", &id, 1, NULL), 0);
	a.sample_type |= SEAM_SAMPLE_CALLCHAIN;
	a.flags |= SEAM_ATTR_DEFER_CALLCHAIN;
	id = 2;
	assert_int_equal(seam_events_add(events, &a, "chains", &id, 1, NULL), 1);
	a.flags = SEAM_ATTR_SAMPLE_ID_ALL | (output != DEAF_OUTPUT ? SEAM_ATTR_TASK : 0) |
	          (output != NO_OUTPUT ? SEAM_ATTR_DEFER_OUTPUT : 0);
	id = 3;
	assert_int_equal(seam_events_add(events, &a, "side", &id, 1, NULL), 2);
	return events;
}

static int put_sample(struct buf *out, const struct seam_events *events, const struct step *s)
{
	uint64_t kernel[] = { SEAM_CONTEXT_KERNEL, 0xffffffff81000000ULL,
		              SEAM_CONTEXT_USER_DEFERRED, s->cookie };
	uint64_t user[] = { SEAM_CONTEXT_USER, 0x401000, 0x402000 };
	unsigned event = s->kind == PLAIN ? 0 : 1;
	struct seam_sample sample = {
		.id = { .pid = s->pid, .tid = s->tid, .time_ns = s->time, .id = event + 1 },
	};
	bool user_mode =
	        s->kind == USER || s->kind == AT_ONCE || s->kind == PLAIN || s->kind == BARE;

	switch (s->kind) {
	case KERNEL:
	case NULL_COOKIE:
		sample.callchain = encode_words(kernel, 4);
		break;
	case USER:
		sample.callchain = encode_words(kernel + 2, 2);
		break;
	case CUT:
		sample.callchain = encode_words(kernel, 3);
		break;
	case NO_USER:
		sample.callchain = encode_words(kernel, 2);
		break;
	case AT_ONCE:
		sample.callchain = encode_words(user, 3);
		break;
	case BARE:
		sample.callchain = encode_words(user + 1, 2);
		break;
	default:
		break;
	}
	return encode_sample(out, &seam_events_at(events, event)->attr,
	                     user_mode ? SEAM_MISC_USER : SEAM_MISC_KERNEL, &sample);
}

static int put(struct buf *out, const struct seam_events *events, const struct step *s)
{
	const struct seam_attr *side = &seam_events_at(events, 2)->attr;
	struct seam_id id = { .pid = s->pid, .tid = s->tid, .time_ns = s->time, .id = 3 };
	struct seam_task task = {
		.pid = s->pid, .tid = s->tid, .ppid = 1, .ptid = 1, .time_ns = s->time
	};
	struct seam_comm comm = { .pid = s->pid, .tid = s->tid, .exec = true, .comm = "x" };
	struct seam_lost lost = { .id = 3, .lost = 4 };
	uint64_t ips[] = { s->frame, 0x11, 0x22 };
	struct seam_callchain_deferred d = { .cookie = s->cookie,
		                             .ips = encode_words(ips, s->frame ? 3 : 0) };

	switch (s->kind) {
	case ANSWER:
		return encode_deferred(out, side, SEAM_MISC_USER, &d, &id);
	case EXEC:
		return encode_comm(out, side, 0, &comm, &id);
	case EXIT:
		return encode_task(out, side, SEAM_RECORD_EXIT, 0, &task, &id);
	case FORK:
		return encode_task(out, side, SEAM_RECORD_FORK, 0, &task, &id);
	case LOST:
		return encode_lost(out, side, SEAM_RECORD_LOST, 0, &lost, &id);
	case LOST_OUTPUT:
		return encode_lost(out, side, SEAM_RECORD_LOST_SAMPLES, 0, &lost, &id);
	case LOST_BPF:
		return encode_lost(out, side, SEAM_RECORD_LOST_SAMPLES, SEAM_MISC_LOST_SAMPLES_BPF,
		                   &lost, &id);
	default:
		return put_sample(out, events, s);
	}
}

static bool is_sample(const struct step *s)
{
	return s->kind >= KERNEL && s->kind <= BARE;
}

static void make_tape(struct tape *t, const struct step *steps, int output)
{
	size_t at[17];

	memset(t, 0, sizeof(*t));
	t->events = new_events(output);
	for (t->n = 0; t->n < 12 && steps[t->n].kind != END; t->n++) {
		at[t->n] = t->bytes.n;
		assert_int_equal(put(&t->bytes, t->events, &steps[t->n]), 0);
	}
	at[t->n] = t->bytes.n;
	for (size_t i = 0; i < t->n; i++) {
		struct seam_record *r = &t->records[i];

		*r = (struct seam_record){ .bytes = t->bytes.bytes + at[i],
			                   .size = (uint32_t)(at[i + 1] - at[i]),
			                   .offset = at[i],
			                   .stable = true };
		memcpy(&r->type, r->bytes, 4);
		memcpy(&r->misc, r->bytes + 4, 2);
		assert_int_equal(seam_record_decode(t->events, r, &t->decoded[i], NULL), 0);
	}
}

static void free_tape(struct tape *t)
{
	seam_events_free(t->events);
	buf_free(&t->bytes);
}

static struct seam_stitch *new_stitch(const struct tape *t, int output)
{
	struct seam_stitch *st;

	assert_int_equal(seam_stitch_new(&st, NULL), 0);
	if (output != UNTOLD)
		assert_int_equal(seam_stitch_events(st, t->events), 0);
	return st;
}

static void check(const struct row *row, const char *way, size_t i, const struct seam_stitched *out,
                  bool stream)
{
	const struct step *s = &row->steps[i];
	enum seam_stitch_state state = stream && s->stream_state ? s->stream_state : s->state;
	uint64_t frame = s->frame;

	if (out->state != state)
		fail_msg("%s (%s): record %zu is %s, not %s", row->name, way, i,
		         seam_stitch_state_name(out->state), seam_stitch_state_name(state));
	if (stream && s->stream_state)
		return;
	if ((out->user.n ? seam_u64s_at(&out->user, 0) : 0) != frame)
		fail_msg("%s (%s): record %zu has %llu user frames", row->name, way, i,
		         (unsigned long long)out->user.n);
	if (state == STITCHED && frame)
		assert_int_equal(seam_u64s_at(&out->user, 2), 0x22);
	assert_int_equal(out->kernel.n, s->kind == KERNEL || s->kind == CUT ||
	                                                s->kind == NULL_COOKIE || s->kind == NO_USER
	                                        ? 2
	                                        : 0);
	assert_int_equal(out->cookie, s->cookie);
	assert_int_equal(out->misc & SEAM_MISC_CPUMODE_MASK,
	                 row->steps[i].kind == USER || s->kind == AT_ONCE || s->kind == PLAIN ||
	                                 s->kind == BARE
	                         ? SEAM_MISC_USER
	                         : SEAM_MISC_KERNEL);
}

static void check_row_counts(const struct row *row, const struct seam_stitch_counts *c)
{
	uint64_t samples = 0, states = 0;

	for (size_t i = 0; i < 12; i++)
		samples += is_sample(&row->steps[i]);
	for (int i = 0; i < SEAM_STITCH_STATES; i++)
		states += c->state[i];
	assert_int_equal(c->samples, samples);
	assert_int_equal(states, samples);
	if (c->tid_mismatches != row->mismatches || c->unclaimed_records != row->unclaimed)
		fail_msg("%s: %llu tid mismatches, %llu unclaimed", row->name,
		         (unsigned long long)c->tid_mismatches,
		         (unsigned long long)c->unclaimed_records);
}

static void run_stream(const struct row *row)
{
	struct seam_stitch_counts c = { .sz = sizeof(c) };
	struct seam_stitched out;
	struct seam_stitch *st;
	struct tape t;
	size_t at = 0;
	bool differs = false;

	make_tape(&t, row->steps, row->output);
	st = new_stitch(&t, row->output);
	for (size_t i = 0; i < t.n; i++) {
		t.records[i].index = i;
		differs |= row->steps[i].stream_state != 0;
		assert_int_equal(seam_stitch_feed(st, &t.decoded[i], NULL), 0);
	}
	assert_int_equal(seam_stitch_finish(st), 0);
	while (seam_stitch_next(st, &out) > 0) {
		while (at < t.n && !is_sample(&row->steps[at]))
			at++;
		assert_true(at < t.n);
		assert_int_equal(out.sample.id.time_ns, row->steps[at].time);
		check(row, "stream", at++, &out, true);
	}
	assert_int_equal(seam_stitch_counts(st, &c), 0);
	/* A stream decides at the exit; that the tid's next owner answers comes too late. */
	if (row->mismatches && c.tid_mismatches != row->mismatches) {
		assert_string_equal(row->name,
		                    "a reused tid: the dead task's sample is not the new one's");
		c.tid_mismatches = row->mismatches;
		c.unclaimed_records = row->unclaimed;
	}
	if (!differs)
		check_row_counts(row, &c);
	seam_stitch_free(st);
	free_tape(&t);
}

static void run_file(const struct row *row, bool backwards)
{
	struct seam_stitch_counts c = { .sz = sizeof(c) }, all = { .sz = sizeof(all) };
	struct seam_stitched out;
	struct seam_stitch *st;
	struct tape t;

	make_tape(&t, row->steps, row->output);
	st = new_stitch(&t, row->output);
	for (size_t k = 0; k < t.n; k++) {
		size_t i = backwards ? t.n - 1 - k : k;

		t.records[i].index = k;
		assert_int_equal(seam_stitch_learn(st, &t.decoded[i], NULL), 0);
	}
	assert_int_equal(seam_stitch_seal(st), 0);
	for (size_t i = 0; i < t.n; i++) {
		if (!is_sample(&row->steps[i]))
			continue;
		assert_int_equal(seam_stitch_resolve(st, &t.decoded[i], &c, &out), 1);
		check(row, backwards ? "file, backwards" : "file", i, &out, false);
	}
	assert_int_equal(seam_stitch_counts(st, &all), 0);
	seam_stitch_counts_add(&all, &c);
	check_row_counts(row, &all);
	seam_stitch_free(st);
	free_tape(&t);
}

static void test_truth_table_stream(void **state)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		run_stream(&rows[i]);
}

static void test_truth_table_file(void **state)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		run_file(&rows[i], false);
		run_file(&rows[i], true);
	}
}

/* ---- what the table cannot say ---- */

/* Turns the words at p round, as a file of the other byte order has them. */
static void turn(struct seam_u64s *words)
{
	for (uint64_t i = 0; i < words->n; i++) {
		uint64_t v = __builtin_bswap64(seam_u64s_at(words, i));

		memcpy((unsigned char *)words->bytes + i * 8, &v, 8);
	}
	words->swap = true;
}

static void test_other_byte_order(void **state)
{
	const struct row row = { "other byte order",
		                 .steps = { { KERNEL, 10, C1, 7, 7, STITCHED, 0xa },
		                            { ANSWER, 20, C1, 7, 7, 0, 0xa } } };
	struct seam_stitch *stream, *file;
	struct seam_stitched out;
	struct tape t;

	make_tape(&t, row.steps, WITH_OUTPUT);
	turn(&t.decoded[0].sample.callchain);
	turn(&t.decoded[1].deferred.ips);
	stream = new_stitch(&t, WITH_OUTPUT);
	file = new_stitch(&t, WITH_OUTPUT);
	for (size_t i = 0; i < 2; i++) {
		t.records[i].index = i;
		assert_int_equal(seam_stitch_feed(stream, &t.decoded[i], NULL), 0);
		assert_int_equal(seam_stitch_learn(file, &t.decoded[i], NULL), 0);
	}
	assert_int_equal(seam_stitch_seal(file), 0);
	assert_int_equal(seam_stitch_next(stream, &out), 1);
	check(&row, "stream", 0, &out, true);
	assert_int_equal(seam_stitch_resolve(file, &t.decoded[0], NULL, &out), 1);
	check(&row, "file", 0, &out, false);
	seam_stitch_free(stream);
	seam_stitch_free(file);
	free_tape(&t);
}

/* Byte-identical samples count once; two samples that differ in nothing but their address twice. */
static void test_duplicates(void **state)
{
	const struct step steps[] = { { KERNEL, 10, C1, 7, 7 },
		                      { KERNEL, 10, C1, 7, 7 },
		                      { KERNEL, 10, C1, 7, 7 },
		                      { ANSWER, 20, C1, 7, 7, 0, 0xa },
		                      { ANSWER, 20, C1, 7, 7, 0, 0xa },
		                      { ANSWER, 21, C1, 7, 7, 0, 0xb },
		                      { END } };
	struct seam_stitch_counts c = { .sz = sizeof(c) }, mine = { .sz = sizeof(mine) };
	struct seam_stitch *stream, *file;
	struct seam_stitched out;
	struct tape t;
	uint64_t ip = 0x99;

	make_tape(&t, steps, WITH_OUTPUT);
	memcpy((unsigned char *)t.records[1].bytes + 16, &ip, 8); /* behind header and IDENTIFIER */
	stream = new_stitch(&t, WITH_OUTPUT);
	file = new_stitch(&t, WITH_OUTPUT);
	for (size_t i = 0; i < t.n; i++) {
		t.records[i].index = i;
		assert_int_equal(seam_stitch_feed(stream, &t.decoded[i], NULL), 0);
		assert_int_equal(seam_stitch_learn(file, &t.decoded[i], NULL), 0);
	}
	assert_int_equal(seam_stitch_finish(stream), 0);
	assert_int_equal(seam_stitch_counts(stream, &c), 0);
	assert_int_equal(c.samples, 2);
	assert_int_equal(c.state[STITCHED], 2);
	assert_int_equal(c.duplicate_samples, 1);
	assert_int_equal(c.deferred_records, 1);
	assert_int_equal(c.duplicate_records, 2);
	assert_int_equal(c.deferred_samples, 2);

	assert_int_equal(seam_stitch_seal(file), 0);
	assert_int_equal(seam_stitch_resolve(file, &t.decoded[2], &mine, &out), 0);
	assert_int_equal(seam_stitch_resolve(file, &t.decoded[1], &mine, &out), 1);
	assert_int_equal(seam_stitch_resolve(file, &t.decoded[0], &mine, &out), 1);
	assert_int_equal(seam_u64s_at(&out.user, 0), 0xa); /* the first of the answers */
	assert_int_equal(mine.duplicate_samples, 1);
	assert_int_equal(mine.samples, 2);
	assert_int_equal(seam_stitch_counts(file, &c), 0);
	assert_int_equal(c.duplicate_records, 2);
	assert_int_equal(c.deferred_records, 1);
	seam_stitch_free(stream);
	seam_stitch_free(file);
	free_tape(&t);
}

/* Without times two equal samples may be two, and positions tell the order. */
static void test_without_times(void **state)
{
	const struct step steps[] = { { KERNEL, 0, C1, 7, 7 },
		                      { KERNEL, 0, C1, 7, 7 },
		                      { ANSWER, 0, C1, 7, 7, 0, 0xa },
		                      { KERNEL, 0, C1, 7, 7 },
		                      { END } };
	const enum seam_stitch_state expected[] = { STITCHED, STITCHED, 0, EARLIER };
	struct seam_stitch *stream, *file;
	struct seam_stitched out;
	struct tape t;

	make_tape(&t, steps, WITH_OUTPUT);
	stream = new_stitch(&t, WITH_OUTPUT);
	file = new_stitch(&t, WITH_OUTPUT);
	for (size_t i = 0; i < t.n; i++) {
		t.records[i].index = i;
		t.decoded[i].id.has &= ~SEAM_SAMPLE_TIME;
		t.decoded[i].sample.id.has &= ~SEAM_SAMPLE_TIME;
		assert_int_equal(seam_stitch_feed(stream, &t.decoded[i], NULL), 0);
		assert_int_equal(seam_stitch_learn(file, &t.decoded[i], NULL), 0);
	}
	assert_int_equal(seam_stitch_seal(file), 0);
	for (size_t i = 0; i < t.n; i++) {
		if (i == 2)
			continue;
		assert_int_equal(seam_stitch_next(stream, &out), 1);
		assert_int_equal(out.state, expected[i]);
		assert_int_equal(out.answer_time_ns, 0);
		assert_int_equal(seam_stitch_resolve(file, &t.decoded[i], NULL, &out), 1);
		assert_int_equal(out.state, expected[i]);
	}
	seam_stitch_free(stream);
	seam_stitch_free(file);
	free_tape(&t);
}

/* An answer that is no answer: markers inside are cut, they are not addresses. */
static void test_markers_in_an_answer(void **state)
{
	const struct step steps[] = { { KERNEL, 10, C1, 7, 7 },
		                      { ANSWER, 20, C1, 7, 7, 0, 0xa },
		                      { END } };
	const uint64_t marker = SEAM_CONTEXT_USER_DEFERRED;
	struct seam_stitch *stream, *file;
	struct seam_stitched out;
	struct tape t;

	make_tape(&t, steps, WITH_OUTPUT);
	memcpy((unsigned char *)t.decoded[1].deferred.ips.bytes + 8, &marker, 8);
	stream = new_stitch(&t, WITH_OUTPUT);
	file = new_stitch(&t, WITH_OUTPUT);
	for (size_t i = 0; i < t.n; i++) {
		t.records[i].index = i;
		assert_int_equal(seam_stitch_feed(stream, &t.decoded[i], NULL), 0);
		assert_int_equal(seam_stitch_learn(file, &t.decoded[i], NULL), 0);
	}
	assert_int_equal(seam_stitch_seal(file), 0);
	assert_int_equal(seam_stitch_next(stream, &out), 1);
	assert_int_equal(out.user.n, 1);
	assert_int_equal(seam_stitch_resolve(file, &t.decoded[0], NULL, &out), 1);
	assert_int_equal(out.user.n, 1);
	seam_stitch_free(stream);
	seam_stitch_free(file);
	free_tape(&t);
}

/* ---- long streams ---- */

/* One sample or answer after the other, without end. */
struct source {
	struct seam_events *events;
	struct buf bytes;
	struct seam_record record;
	struct seam_decoded decoded;
	uint64_t index;
};

static const struct seam_decoded *source_next(struct source *s, struct step step)
{
	buf_clear(&s->bytes);
	assert_int_equal(put(&s->bytes, s->events, &step), 0);
	s->record = (struct seam_record){ .bytes = s->bytes.bytes,
		                          .size = (uint32_t)s->bytes.n,
		                          .index = s->index++ };
	memcpy(&s->record.type, s->bytes.bytes, 4);
	memcpy(&s->record.misc, s->bytes.bytes + 4, 2);
	assert_int_equal(seam_record_decode(s->events, &s->record, &s->decoded, NULL), 0);
	return &s->decoded;
}

static uint64_t cookie_of(uint64_t i)
{
	return (2 * i + 1) << 32 | (i % 4 + 1);
}

/* The memory of a stream does not grow with its length: some answers lost, some foreign, tasks that
 * come and go without a word. */
static void test_endless_stream(void **state)
{
	struct seam_stitch_opts opts = { .sz = sizeof(opts), .max_bytes = 16 << 20 };
	struct seam_stitch_counts c = { .sz = sizeof(c) };
	struct source s = { .events = new_events(WITH_OUTPUT) };
	struct seam_stitched out;
	struct seam_stitch *st;
	uint64_t peak_early = 0, taken = 0;

	assert_int_equal(seam_stitch_new(&st, &opts), 0);
	assert_int_equal(seam_stitch_events(st, s.events), 0);
	for (uint64_t i = 0; i < 200000; i++) {
		uint64_t time = 1000 + i * 20000;
		uint32_t tid = 10 + i % 50;
		struct step sample = { KERNEL, time, cookie_of(i), tid, tid };
		struct step answer = { ANSWER, time + 10, cookie_of(i), tid, tid, 0, 0xa };

		assert_int_equal(seam_stitch_feed(st, source_next(&s, sample), NULL), 0);
		if (i % 1000 == 7) /* foreign, of a task that is never seen again */
			answer.tid = 100000 + (uint32_t)i;
		if (i % 500 != 3)
			assert_int_equal(seam_stitch_feed(st, source_next(&s, answer), NULL), 0);
		for (; seam_stitch_next(st, &out) > 0; taken++)
			assert_int_not_equal(out.state, SEAM_STITCH_GAVE_UP);
		if (i == 40000) {
			assert_int_equal(seam_stitch_counts(st, &c), 0);
			peak_early = c.peak_bytes;
		}
	}
	assert_int_equal(seam_stitch_counts(st, &c), 0);
	assert_true(c.peak_bytes < peak_early * 2);
	assert_true(c.peak_bytes < 2 * opts.max_bytes + (2 << 20));
	assert_true(taken > 190000);
	assert_int_equal(seam_stitch_finish(st), 0);
	while (seam_stitch_next(st, &out) > 0)
		taken++;
	assert_int_equal(taken, 200000);
	assert_int_equal(seam_stitch_counts(st, &c), 0);
	assert_int_equal(c.state[RECORD_LOST] + c.state[STITCHED] + c.state[STILL], 200000);
	/* 400 without an answer, 200 answered by a stranger; the last of a task may be either. */
	assert_in_range(c.state[RECORD_LOST] + c.state[STILL], 600, 600);
	assert_int_equal(c.tid_mismatches, 200);
	seam_stitch_free(st);
	seam_events_free(s.events);
	buf_free(&s.bytes);
}

/* At the limit the oldest go first, each sample still comes out once and in order. */
static void test_memory_limit(void **state)
{
	struct seam_stitch_opts opts = { .sz = sizeof(opts), .max_bytes = 200000 };
	struct seam_stitch_counts c = { .sz = sizeof(c) };
	struct source s = { .events = new_events(WITH_OUTPUT) };
	struct seam_stitched out;
	struct seam_stitch *st;
	uint64_t taken = 0;

	assert_int_equal(seam_stitch_new(&st, &opts), 0);
	assert_int_equal(seam_stitch_events(st, s.events), 0);
	for (uint64_t i = 0; i < 20000; i++) { /* each its own task, asleep for ever */
		struct step sample = { KERNEL, 1000 + i, cookie_of(i), 10 + (uint32_t)i,
			               10 + (uint32_t)i };

		assert_int_equal(seam_stitch_feed(st, source_next(&s, sample), NULL), 0);
		for (; seam_stitch_next(st, &out) > 0; taken++) {
			assert_int_equal(out.state, SEAM_STITCH_GAVE_UP);
			assert_int_equal(out.sample.id.time_ns, 1000 + taken);
		}
	}
	assert_true(taken > 19000);
	assert_int_equal(seam_stitch_finish(st), 0);
	for (; seam_stitch_next(st, &out) > 0; taken++)
		assert_int_equal(out.state, STILL);
	assert_int_equal(taken, 20000);
	assert_int_equal(seam_stitch_counts(st, &c), 0);
	assert_int_equal(c.state[SEAM_STITCH_GAVE_UP] + c.state[STILL], 20000);
	assert_true(c.peak_bytes < 2000000);
	seam_stitch_free(st);
	seam_events_free(s.events);
	buf_free(&s.bytes);
}

/* A caller that never takes samples is told to, and loses none. */
static void test_caller_that_does_not_take(void **state)
{
	struct seam_stitch_opts opts = { .sz = sizeof(opts), .max_bytes = 50000 };
	struct source s = { .events = new_events(WITH_OUTPUT) };
	struct seam_stitched out;
	struct seam_stitch *st;
	uint64_t fed = 0, taken = 0;
	int r = 0;

	assert_int_equal(seam_stitch_new(&st, &opts), 0);
	while (r == 0 && fed < 10000) {
		struct step sample = { AT_ONCE, 1000 + fed, 0, 7, 7 };

		r = seam_stitch_feed(st, source_next(&s, sample), NULL);
		fed += r == 0;
	}
	assert_int_equal(r, -EAGAIN);
	while (seam_stitch_next(st, &out) > 0)
		taken++;
	assert_int_equal(taken, fed);
	assert_int_equal(seam_stitch_feed(st, &s.decoded, NULL), 0);
	seam_stitch_free(st);
	seam_events_free(s.events);
	buf_free(&s.bytes);
}

/* ---- threads, misuse, names ---- */

struct part {
	pthread_t thread;
	const struct seam_stitch *st;
	const struct tape *tape;
	struct seam_stitch_counts counts;
};

static void *resolve_part(void *arg)
{
	struct part *p = arg;
	struct seam_stitched out;

	for (int i = 0; i < 20000; i++)
		seam_stitch_resolve(p->st, &p->tape->decoded[i % 3], &p->counts, &out);
	return NULL;
}

static void test_threads_share_a_sealed_stitcher(void **state)
{
	const struct step steps[] = { { KERNEL, 10, C1, 7, 7 }, { KERNEL, 11, C2, 8, 8 },
		                      { KERNEL, 30, C1, 7, 7 }, { ANSWER, 20, C1, 7, 7, 0, 0xa },
		                      { EXIT, 40, 0, 8, 8 },    { END } };
	struct part parts[4];
	struct seam_stitch *st;
	struct tape t;

	make_tape(&t, steps, WITH_OUTPUT);
	st = new_stitch(&t, WITH_OUTPUT);
	for (size_t i = 0; i < t.n; i++) {
		t.records[i].index = i;
		assert_int_equal(seam_stitch_learn(st, &t.decoded[i], NULL), 0);
	}
	assert_int_equal(seam_stitch_seal(st), 0);
	for (size_t i = 0; i < 4; i++) {
		parts[i] =
		        (struct part){ .st = st, .tape = &t, .counts.sz = sizeof(parts->counts) };
		assert_int_equal(pthread_create(&parts[i].thread, NULL, resolve_part, &parts[i]),
		                 0);
	}
	for (size_t i = 0; i < 4; i++) {
		pthread_join(parts[i].thread, NULL);
		assert_int_equal(parts[i].counts.samples, 20000);
		assert_int_equal(parts[i].counts.state[STITCHED], 6667);
		assert_int_equal(parts[i].counts.state[EXITED], 6667);
		assert_int_equal(parts[i].counts.state[EARLIER], 6666);
	}
	seam_stitch_free(st);
	free_tape(&t);
}

static void test_misuse(void **state)
{
	const struct step steps[] = { { KERNEL, 10, C1, 7, 7 },
		                      { ANSWER, 20, C1, 7, 7, 0, 0xa },
		                      { END } };
	struct seam_stitch_counts c = { 0 };
	struct seam_error err = { 0 };
	struct seam_stitched out;
	struct seam_stitch *st;
	struct seam_decoded d;
	struct tape t;
	uint64_t elsewhere[4] = { 0 };

	make_tape(&t, steps, WITH_OUTPUT);
	st = new_stitch(&t, WITH_OUTPUT);
	assert_int_equal(seam_stitch_counts(st, &c), -EINVAL);
	assert_int_equal(seam_stitch_resolve(st, &t.decoded[0], NULL, &out), -EINVAL);
	assert_int_equal(seam_stitch_next(st, &out), 0);
	assert_int_equal(seam_stitch_learn(st, &t.decoded[0], NULL), 0);
	assert_int_equal(seam_stitch_feed(st, &t.decoded[0], &err), -EINVAL);
	assert_int_equal(err.code, EINVAL);
	assert_int_equal(seam_stitch_finish(st), -EINVAL);
	assert_int_equal(seam_stitch_seal(st), 0);
	assert_int_equal(seam_stitch_learn(st, &t.decoded[0], NULL), -EINVAL);
	assert_int_equal(seam_stitch_resolve(st, &t.decoded[1], NULL, &out), -EINVAL);
	seam_stitch_free(st);

	st = new_stitch(&t, WITH_OUTPUT);
	d = t.decoded[0];
	d.sample.callchain = encode_words(elsewhere, 4); /* not in its record: would dangle */
	assert_int_equal(seam_stitch_feed(st, &d, &err), -EINVAL);
	assert_int_equal(seam_stitch_feed(st, &t.decoded[0], NULL), 0);
	assert_int_equal(seam_stitch_learn(st, &t.decoded[0], NULL), -EINVAL);
	assert_int_equal(seam_stitch_seal(st), -EINVAL);
	assert_int_equal(seam_stitch_finish(st), 0);
	assert_int_equal(seam_stitch_feed(st, &t.decoded[1], NULL), -EINVAL);
	assert_int_equal(seam_stitch_next(st, &out), 1);
	assert_int_equal(seam_stitch_next(st, &out), 0);
	seam_stitch_free(st);

	st = new_stitch(&t, WITH_OUTPUT);
	t.records[0].index = 1ULL << 32;
	assert_int_equal(seam_stitch_learn(st, &t.decoded[0], &err), -EOVERFLOW);
	seam_stitch_free(st);
	seam_stitch_free(NULL);
	free_tape(&t);
}

static void test_state_names(void **state)
{
	for (int i = 0; i < SEAM_STITCH_STATES; i++) {
		const char *name = seam_stitch_state_name(i);

		assert_true(name[0] && seam_stitch_state_text(i)[0]);
		assert_string_not_equal(name, "unknown");
		for (int k = 0; k < i; k++)
			assert_string_not_equal(name, seam_stitch_state_name(k));
	}
	assert_string_equal(seam_stitch_state_name(SEAM_STITCH_STATES), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_truth_table_stream),
		cmocka_unit_test(test_truth_table_file),
		cmocka_unit_test(test_other_byte_order),
		cmocka_unit_test(test_duplicates),
		cmocka_unit_test(test_without_times),
		cmocka_unit_test(test_markers_in_an_answer),
		cmocka_unit_test(test_endless_stream),
		cmocka_unit_test(test_memory_limit),
		cmocka_unit_test(test_caller_that_does_not_take),
		cmocka_unit_test(test_threads_share_a_sealed_stitcher),
		cmocka_unit_test(test_misuse),
		cmocka_unit_test(test_state_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
