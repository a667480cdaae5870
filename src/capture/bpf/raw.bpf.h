/* SPDX-License-Identifier: MIT */
/* raw.bpf.h: registers and a bounded copy of the stack, for stacks that the recorder walks. */
#ifndef SEAM_CAPTURE_BPF_RAW_BPF_H
#define SEAM_CAPTURE_BPF_RAW_BPF_H

#include "capture/bpf/maps.bpf.h"

struct raw_copy {
	struct kwalk_raw *raw;
	__u64 start;
	__u32 n;
};

INLINE long raw_page(struct raw_copy *c, const __u32 most)
{
	__u32 n = c->n, size = KWALK_RAW_PAGE - ((c->start + n) & (KWALK_RAW_PAGE - 1));

	if (n > most - KWALK_RAW_PAGE || !size || size > KWALK_RAW_PAGE)
		return 1;
	if (bpf_probe_read_user(&c->raw->stack[n], size, (void *)(c->start + n)))
		return 1;
	c->n = n + size;
	return 0;
}

static long raw_page_large(__u32 i, void *c)
{
	return raw_page(c, KWALK_RAW_STACK);
}

static long raw_page_small(__u32 i, void *c)
{
	return raw_page(c, KWALK_RAW_SMALL);
}

/* The most bytes of stack that a copy has, unless every sample has one. */
INLINE __u32 raw_most(void)
{
	return config.wake >= KWALK_RAW_STACK ? KWALK_RAW_STACK : KWALK_RAW_SMALL;
}

/* w has been walked, and its registers are again what they were before. */
INLINE __u32 raw_fill(struct walker *w, struct kwalk_raw *raw, const __u32 most)
{
	struct raw_copy c = { .raw = raw, .start = w->user.rsp - KWALK_RAW_BELOW };
	__u8 byte;

	if (bpf_probe_read_user(&byte, 1, (void *)c.start))
		c.start = w->user.rsp;
	raw->kind = KWALK_RAW;
	walker_registers(w);
	bpf_probe_read_kernel(raw->regs, sizeof(raw->regs), w->regs);
	raw->start = c.start;
	if (most == KWALK_RAW_STACK)
		bpf_loop(most / KWALK_RAW_PAGE + 1, raw_page_large, &c, 0);
	else
		bpf_loop(most / KWALK_RAW_PAGE + 1, raw_page_small, &c, 0);
	raw->n = c.n;
	return c.n;
}

INLINE void raw_name(const struct kwalk_sample *s, struct kwalk_raw *raw)
{
	raw->pid = s->pid;
	raw->tid = s->tid;
	raw->time_ns = s->time_ns;
}

/* For tests, which have copies of all samples: room in the ring is taken first. */
INLINE void sample_raw_large(struct scratch *x, void *ring)
{
	struct kwalk_raw *raw =
	        ring_has_room_for_copy(ring) ? bpf_ringbuf_reserve(ring, sizeof(*raw), 0) : 0;

	if (!raw) {
		COUNT(raw_full);
		return;
	}
	raw_name(&x->sample, raw);
	raw_fill(&x->w, raw, KWALK_RAW_STACK);
	bpf_ringbuf_submit(raw, ring_flags_reserved(ring, sizeof(*raw)));
}

/* Most stacks are short, and in the first moments of a program every sample has a copy, so no room
 * is taken beyond what is there. */
INLINE void sample_raw_small(struct scratch *x, void *ring)
{
	__u32 cpu = bpf_get_smp_processor_id(), n;
	struct kwalk_raw *copy = bpf_map_lookup_elem(&copies, &cpu);

	if (!copy)
		return;
	if (!ring_has_room_for_copy(ring)) {
		COUNT(raw_full);
		return;
	}
	raw_name(&x->sample, copy);
	n = raw_fill(&x->w, copy, raw_most());
	FORGET(n);
	if (n > KWALK_RAW_STACK)
		return;
	if (bpf_ringbuf_output(ring, copy, KWALK_RAW_HEAD + (__u64)n,
	                       ring_flags(ring, KWALK_RAW_HEAD + (__u64)n)))
		COUNT(raw_full);
}

#endif
