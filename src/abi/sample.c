// SPDX-License-Identifier: MIT
/*
 * sample.c: the body of a SAMPLE, field by field in the order of the ABI, and counter values.
 *
 * The hot path of everything that reads. The part that is always there is checked once as a whole
 * (layout.fixed_size); every part that states its own length is checked against what is left of the
 * record. Nothing is copied: arrays stay where they are.
 *
 * The order of the fields is fixed by the kernel, and each of the later ones begins where the one
 * before ends. A sound record may still end early: registers of an ABI that is not known have an
 * unknown length, and what follows them is left at zero.
 *
 * The bytes belong to the reader's buffer: a decoded sample is valid as long as the record it came
 * from.
 */
#include <errno.h>

#include "abi/decode.h"
#include "abi/fixed.h"

/* Words of one value: the value itself, [id], [lost]. */
static unsigned sample_read_stride(uint64_t format)
{
	return 1 + !!(format & SEAM_FORMAT_ID) + !!(format & SEAM_FORMAT_LOST);
}

/* Words of time that stand between a single counter's value and its id, or in front of a group's
 * values. */
static unsigned sample_read_times(uint64_t format)
{
	return !!(format & SEAM_FORMAT_TOTAL_TIME_ENABLED) +
	       !!(format & SEAM_FORMAT_TOTAL_TIME_RUNNING);
}

/* Reads the values of one counter, or of a group, in the layout of the format. The values stay in
 * the record; *ret points at them. */
int decode_read(struct decode *d, uint64_t format, struct seam_read *ret)
{
	struct cursor *c = &d->body;
	struct seam_read r = { .format = format, .n = 1, .values.swap = c->swap };
	unsigned stride = sample_read_stride(format), times = sample_read_times(format);
	size_t room;

	if (format & SEAM_FORMAT_GROUP) {
		r.n = cursor_u64(c);
	} else {
		/* value, times, id, lost: values spans them all, seam_read_at steps over times. */
		r.values.bytes = c->at;
		cursor_u64(c);
	}
	if (format & SEAM_FORMAT_TOTAL_TIME_ENABLED)
		r.time_enabled = cursor_u64(c);
	if (format & SEAM_FORMAT_TOTAL_TIME_RUNNING)
		r.time_running = cursor_u64(c);
	room = cursor_left(c) / 8;
	if (format & SEAM_FORMAT_GROUP) {
		/* The product cannot overflow unnoticed: cursor_array checks it against what is
		 * left. */
		r.values.bytes = cursor_array(c, r.n, stride * 8);
		r.values.n = r.n * stride;
		if (!r.values.bytes || c->failed)
			return decode_bad(d, "read: %llu values of %u words, room for %zu words",
			                  (unsigned long long)r.n, stride, room);
	} else {
		cursor_array(c, stride - 1, 8);
		r.values.n = stride + times;
		if (c->failed)
			return decode_bad(d, "read: the values of format 0x%llx pass its end",
			                  (unsigned long long)format);
	}
	*ret = r;
	return 0;
}

/* The caller keeps i below read->n. Members that the format does not hold are 0. */
struct seam_read_value seam_read_at(const struct seam_read *read, uint64_t i)
{
	bool group = read->format & SEAM_FORMAT_GROUP;
	uint64_t at = group ? i * sample_read_stride(read->format) : 0;
	struct seam_read_value v = { .value = seam_u64s_at(&read->values, at++) };

	if (!group)
		at += sample_read_times(read->format);
	if (read->format & SEAM_FORMAT_ID)
		v.id = seam_u64s_at(&read->values, at++);
	if (read->format & SEAM_FORMAT_LOST)
		v.lost = seam_u64s_at(&read->values, at);
	return v;
}

/* The addresses stay in the record. -EBADMSG: the count passes its end. */
static int sample_callchain(struct decode *d, struct seam_u64s *ret)
{
	uint64_t n = cursor_u64(&d->body);
	size_t room = cursor_left(&d->body) / 8;

	ret->swap = d->body.swap;
	ret->bytes = cursor_array(&d->body, n, 8);
	if (__builtin_expect(!ret->bytes || d->body.failed, 0))
		return decode_bad(d, "callchain: nr is %llu, room for %zu", (unsigned long long)n,
		                  room);
	ret->n = n;
	return 0;
}

/* Raw data of a tracepoint or a BPF program. Its size includes the padding, so its end is not known
 * exactly. */
static int sample_raw(struct decode *d, struct seam_bytes *ret)
{
	uint32_t n = cursor_u32(&d->body);
	size_t room = cursor_left(&d->body);

	ret->bytes = cursor_bytes(&d->body, n);
	if (!ret->bytes || d->body.failed)
		return decode_bad(d, "raw: %u bytes, room for %zu", n, room);
	if ((n + 4) % 8) /* the kernel pads it so that the next field is aligned */
		return decode_bad(d, "raw: %u bytes, which leaves the next field unaligned", n);
	ret->n = n;
	return 0;
}

/* Reads the branch stack and its counters; both stay in the record. -EBADMSG: more entries than the
 * record has room for. */
static int sample_branches(struct decode *d, const struct layout *l, bool has_hw_idx,
                           struct seam_branch_stack *ret)
{
	struct seam_branch_stack b = { .n = cursor_u64(&d->body), .has_hw_idx = has_hw_idx };
	size_t room;

	b.entries.swap = b.counters.swap = d->body.swap;
	if (has_hw_idx)
		b.hw_idx = cursor_u64(&d->body);
	/* Words of an entry: from, to, flags; its counters stand behind all entries. */
	room = cursor_left(&d->body) / (l->branch_counters ? 32 : 24);
	b.entries.bytes = cursor_array(&d->body, b.n, 24);
	if (l->branch_counters && !d->body.failed)
		b.counters.bytes = cursor_array(&d->body, b.n, 8);
	if (d->body.failed)
		return decode_bad(d, "branch stack: nr is %llu, room for %zu",
		                  (unsigned long long)b.n, room);
	b.entries.n = b.n * 3;
	b.counters.n = l->branch_counters ? b.n : 0;
	*ret = b;
	return 0;
}

/* For registers of an unknown ABI: the number of their words is unknown too, so nothing behind them
 * can be read. */
#define SAMPLE_ENDS 1

/* 0, SAMPLE_ENDS, -EBADMSG. */
static int sample_regs(struct decode *d, const char *what, uint64_t mask, unsigned n,
                       struct seam_regs *ret)
{
	size_t room;

	ret->abi = cursor_u64(&d->body);
	ret->mask = mask;
	ret->values.swap = d->body.swap;
	if (ret->abi > SEAM_REGS_ABI_MAX && !d->body.failed)
		/* Not an error: the kernel may learn a new ABI. What follows cannot be found. */
		return SAMPLE_ENDS;
	room = cursor_left(&d->body) / 8;
	if (ret->abi) {
		ret->values.bytes = cursor_array(&d->body, n, 8);
		ret->values.n = n;
	}
	if (d->body.failed)
		return decode_bad(d, "%s: %u registers, room for %zu", what, n, room);
	return 0;
}

/* Reads the stack copy. *s gets the bytes that the kernel really copied, which may be fewer than
 * the attr asked for. -EBADMSG: the sizes do not fit the record. */
static int sample_stack(struct decode *d, struct seam_sample *s)
{
	uint64_t size = cursor_u64(&d->body), copied;
	size_t room = cursor_left(&d->body);
	const unsigned char *bytes;

	s->stack_user_size = size;
	if (!size && !d->body.failed) /* then dyn_size is not there either */
		return 0;
	bytes = cursor_bytes(&d->body, size);
	copied = cursor_u64(&d->body);
	if (d->body.failed)
		return decode_bad(d, "user stack: %llu bytes, room for %zu",
		                  (unsigned long long)size, room < 8 ? 0 : room - 8);
	/* The kernel says how much of the room it filled; a larger number would read behind it. */
	if (copied > size)
		return decode_bad(d, "user stack: %llu bytes copied of %llu",
		                  (unsigned long long)copied, (unsigned long long)size);
	s->stack_user = (struct seam_bytes){ .bytes = bytes, .n = copied };
	return 0;
}

/* A piece of the AUX area that the kernel copied into the sample. */
static int sample_aux(struct decode *d, struct seam_bytes *ret)
{
	uint64_t n = cursor_u64(&d->body);
	size_t room = cursor_left(&d->body);

	ret->bytes = cursor_bytes(&d->body, n);
	if (d->body.failed)
		return decode_bad(d, "aux: %llu bytes, room for %zu", (unsigned long long)n, room);
	ret->n = n;
	return 0;
}

/* One weight of 64 bits, or three in one word. */
static void sample_weight(struct cursor *c, uint64_t type, struct seam_sample *s)
{
	uint64_t w = cursor_u64(c);

	s->weight = w;
	if (type & SEAM_SAMPLE_WEIGHT)
		return;
	/* A struct laid out so that the word has the same value on every machine. */
	s->weight = (uint32_t)w;
	s->weight2 = (uint16_t)(w >> 32);
	s->weight3 = (uint16_t)(w >> 48);
}

/* What follows the branch stack: few samples have any of it. */
static int sample_rest(struct decode *d, const struct layout *l, struct seam_sample *s)
{
	uint64_t type = l->sample_type;
	struct cursor *c = &d->body;
	int r = 0;

	if (type & SEAM_SAMPLE_REGS_USER)
		r = sample_regs(d, "user regs", l->regs_user, l->regs_user_n, &s->regs_user);
	if (!r && type & SEAM_SAMPLE_STACK_USER)
		r = sample_stack(d, s);
	if (r)
		return r < 0 ? r : 0;
	if (type & (SEAM_SAMPLE_WEIGHT | SEAM_SAMPLE_WEIGHT_STRUCT))
		sample_weight(c, type, s);
	if (type & SEAM_SAMPLE_DATA_SRC)
		s->data_src = cursor_u64(c);
	if (type & SEAM_SAMPLE_TRANSACTION)
		s->transaction = cursor_u64(c);
	if (type & SEAM_SAMPLE_REGS_INTR)
		r = sample_regs(d, "intr regs", l->regs_intr, l->regs_intr_n, &s->regs_intr);
	if (r)
		return r < 0 ? r : 0;
	if (type & SEAM_SAMPLE_PHYS_ADDR)
		s->phys_addr = cursor_u64(c);
	if (type & SEAM_SAMPLE_CGROUP)
		s->cgroup = cursor_u64(c);
	if (type & SEAM_SAMPLE_DATA_PAGE_SIZE)
		s->data_page_size = cursor_u64(c);
	if (type & SEAM_SAMPLE_CODE_PAGE_SIZE)
		s->code_page_size = cursor_u64(c);
	if (type & SEAM_SAMPLE_AUX)
		return sample_aux(d, &s->aux);
	return c->failed ? decode_bad(d, "%u bytes, too few for its fields", d->record->size) : 0;
}

/* The branch stack and what follows, with or without the word hw_idx. */
static int sample_branched_as(struct decode *d, const struct layout *l, struct seam_sample *s,
                              bool has_hw_idx)
{
	int r = sample_branches(d, l, has_hw_idx, &s->branches);

	return r < 0 ? r : sample_rest(d, l, s);
}

/*
 * A kernel that has no branches to give writes nr = 0 and leaves hw_idx out, though the attr asked
 * for it. Only the record's size tells the two forms apart: the form that ends where the record
 * ends is the right one.
 */
static bool sample_lacks_hw_idx(const struct decode *d, const struct layout *l)
{
	struct decode with = *d, without = *d;
	struct cursor peek = d->body;
	struct seam_sample unused;

	if (!l->branch_hw_idx || cursor_u64(&peek) || peek.failed)
		return false;
	with.err = without.err = NULL;
	if (sample_branched_as(&with, l, &unused, true) >= 0 && !cursor_left(&with.body))
		return false;
	return sample_branched_as(&without, l, &unused, false) >= 0 && !cursor_left(&without.body);
}

/* Why a sample belongs to no event. -ENOENT, or -EBADMSG if the record is too short to hold the
 * id. */
static int sample_unknown(struct decode *d)
{
	const char *why = "its id matches no event";

	if (!d->events->n)
		why = "there are no events";
	else if (d->events->sample_id_at == EVENTS_NO_ID)
		why = "several events, and no place where all their samples carry an id";
	else if (d->record->size - 8 < d->events->sample_id_at)
		return decode_bad(d, "%u bytes, too few for its id", d->record->size);
	return seam_error_set(d->err, ENOENT, NULL, d->record->offset, "SAMPLE", "%s", why);
}

/* Fields behind the branch stack: sample_rest is called only for samples that have one of them. */
#define SAMPLE_REST                                                                   \
	(SEAM_SAMPLE_REGS_USER | SEAM_SAMPLE_STACK_USER | SEAM_SAMPLE_WEIGHT |        \
	 SEAM_SAMPLE_WEIGHT_STRUCT | SEAM_SAMPLE_DATA_SRC | SEAM_SAMPLE_TRANSACTION | \
	 SEAM_SAMPLE_REGS_INTR | SEAM_SAMPLE_PHYS_ADDR | SEAM_SAMPLE_CGROUP |         \
	 SEAM_SAMPLE_DATA_PAGE_SIZE | SEAM_SAMPLE_CODE_PAGE_SIZE | SEAM_SAMPLE_AUX)

/* Decodes a whole sample into d->ret. The parts must be read in this order, because only the sizes
 * of the earlier ones tell where the later ones start. -ENOENT: no event has its id. */
int sample_record(struct decode *d)
{
	const struct seam_event *event = events_of_sample(d->events, d->record);
	struct seam_sample *s = &d->ret->sample;
	const struct layout *l;
	int r = 0;

	if (!event)
		return sample_unknown(d);
	l = events_layout(event);
	if (d->record->size < l->fixed_size)
		return decode_bad(d, "%u bytes, need %u", d->record->size, l->fixed_size);
	s->event = d->ret->event = event;
	s->id = d->ret->id = (struct seam_id){
		.has = l->id_has, .pid = UINT32_MAX, .tid = UINT32_MAX, .cpu = UINT32_MAX
	};
	fixed_sample(l, l->sample_type, d->body.at, d->body.swap, s, &d->ret->id);
	d->body.at += l->fixed_size - 8;
	if (l->sample_type & SEAM_SAMPLE_READ)
		r = decode_read(d, l->read_format, &s->read);
	if (r >= 0 && l->sample_type & SEAM_SAMPLE_CALLCHAIN)
		r = sample_callchain(d, &s->callchain);
	if (r >= 0 && l->sample_type & SEAM_SAMPLE_RAW)
		r = sample_raw(d, &s->raw);
	/* What follows the branches is read by the same call, because finding out whether hw_idx is
	 * there reads to the record's end anyway. */
	if (r >= 0 && l->sample_type & SEAM_SAMPLE_BRANCH_STACK)
		return sample_branched_as(d, l, s, l->branch_hw_idx && !sample_lacks_hw_idx(d, l));
	if (r >= 0 && l->sample_type & SAMPLE_REST)
		r = sample_rest(d, l, s);
	return r;
}

/* The time alone, for those that order records before they decode them. */
uint64_t events_sample_time(const struct seam_events *events, const struct seam_record *record)
{
	const struct seam_event *event = events_of_sample(events, record);
	const struct layout *l = event ? events_layout(event) : NULL;
	const unsigned char *p = record->bytes + 8;

	if (!l || record->size < l->fixed_size || !(l->sample_type & SEAM_SAMPLE_TIME))
		return 0;
	/* The fields in front of TIME are of one word each. */
	p += 8 * __builtin_popcountll(l->sample_type &
	                              (SEAM_SAMPLE_IDENTIFIER | SEAM_SAMPLE_IP | SEAM_SAMPLE_TID));
	return fixed_word(&p, record->swap);
}
