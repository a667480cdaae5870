/* SPDX-License-Identifier: MIT */
/* raw.bpf.h: registers and a bounded copy of the stack, for stacks that the recorder walks. */
#ifndef SEAM_CAPTURE_BPF_RAW_BPF_H
#define SEAM_CAPTURE_BPF_RAW_BPF_H

#include "capture/bpf/maps.bpf.h"
#include "capture/bpf/owe.bpf.h"

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

INLINE void sample_raw(struct scratch *x, void *ring, const __u32 most)
{
	struct raw_copy c = { .start = x->w.user.rsp - KWALK_RAW_BELOW };
	struct kwalk_raw *raw;
	__u8 byte;

	if (bpf_probe_read_user(&byte, 1, (void *)c.start))
		c.start = x->w.user.rsp;

	raw = bpf_ringbuf_reserve(ring, __builtin_offsetof(struct kwalk_raw, stack) + most, 0);
	if (!raw) {
		COUNT(raw_full);
		return;
	}
	raw->kind = KWALK_RAW;
	raw->pid = x->sample.pid;
	raw->tid = x->sample.tid;
	raw->time_ns = x->sample.time_ns;
	walker_registers(&x->w); /* as they were before the walk */
	bpf_probe_read_kernel(raw->regs, sizeof(raw->regs), x->w.regs);
	raw->start = c.start;
	c.raw = raw;
	if (most == KWALK_RAW_STACK)
		bpf_loop(most / KWALK_RAW_PAGE + 1, raw_page_large, &c, 0);
	else
		bpf_loop(most / KWALK_RAW_PAGE + 1, raw_page_small, &c, 0);
	raw->n = c.n;
	bpf_ringbuf_submit(raw, ring_flags(ring));
}

#endif
