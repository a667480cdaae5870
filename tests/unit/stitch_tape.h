/* SPDX-License-Identifier: MIT */
/*
 * stitch_tape.h: a test of the stitcher as a list of steps, each one record, with the state that
 * each sample must end in; the records made of them, and the look at what came out. Included behind
 * cmocka.h.
 */
#ifndef SEAM_TESTS_STITCH_TAPE_H
#define SEAM_TESTS_STITCH_TAPE_H

#include <string.h>

#include <seam/stitch.h>

#include "abi/record.h"
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
	uint64_t frame; /* of deferred records: the first address, 0: none; of samples: the
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

/* ---- records from steps ---- */

struct tape {
	struct seam_events *events;
	struct buf bytes;
	struct seam_record records[16];
	struct seam_decoded decoded[16];
	size_t n;
};

static inline struct seam_events *new_events(int output)
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

static inline int put_sample(struct buf *out, const struct seam_events *events,
                             const struct step *s)
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

static inline int put(struct buf *out, const struct seam_events *events, const struct step *s)
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

static inline bool is_sample(const struct step *s)
{
	return s->kind >= KERNEL && s->kind <= BARE;
}

static inline void make_tape(struct tape *t, const struct step *steps, int output)
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
		assert_int_equal(record_decode(t->events, r, &t->decoded[i], NULL), 0);
	}
}

static inline void free_tape(struct tape *t)
{
	seam_events_free(t->events);
	buf_free(&t->bytes);
}

static inline struct seam_stitch *new_stitch(const struct tape *t, int output)
{
	struct seam_stitch *st;

	assert_int_equal(seam_stitch_new(&st, NULL), 0);
	if (output != UNTOLD)
		assert_int_equal(seam_stitch_events(st, t->events), 0);
	return st;
}

static inline void check(const struct row *row, const char *way, size_t i,
                         const struct seam_stitched *out, bool stream)
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

#endif
