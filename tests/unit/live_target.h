/* SPDX-License-Identifier: MIT */
/*
 * live_target.h: this process plays the target of a recording: its own registers, stack and
 * mappings become records, dealt out over rounds as rings would; what comes out is held against
 * backtrace(3). For x86_64.
 */
#ifndef SEAM_TESTS_LIVE_TARGET_H
#define SEAM_TESTS_LIVE_TARGET_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <execinfo.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

#include "abi/record.h"
#include "abi/encode.h"
#include "abi/record_at.h"
#include "recorder/live.h"
#include "samples/walk_result.h"

#define PID 4711u
#define STACK 16384u
#define KERNEL_IP 0xffffffff81000042ULL

static struct seam_events *events;
static const struct seam_attr *attr;
static uint64_t regs[20], expected[64], stack_copy[STACK / 8];
static size_t n_expected, n_stack;

/* PERF_REG_X86_*: ax bx cx dx si di bp sp ip flags cs ss r8-r15 */
static void take_registers(const ucontext_t *uc)
{
	static const int from[20] = { REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI, REG_RBP,
		                      REG_RSP, REG_RIP, REG_EFL, -1,      -1,      REG_R8,  REG_R9,
		                      REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15 };

	for (int i = 0; i < 20; i++)
		regs[i] = from[i] < 0 ? 0 : (uint64_t)uc->uc_mcontext.gregs[from[i]];
}

/* Of another object than this file's frames: read as plain words, whatever ASan put between
 * them. */
__attribute__((no_sanitize("address"), noinline)) static void take_stack(uint64_t from)
{
	const volatile uint64_t *p = (const uint64_t *)(uintptr_t)from;

	for (size_t i = 0; i < n_stack / 8; i++)
		stack_copy[i] = p[i];
}

static uint64_t stack_end(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[4400];
	uint64_t start, end = 0;

	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		if (strstr(line, "[stack]"))
			sscanf(line, "%" SCNx64 "-%" SCNx64, &start, &end);
	fclose(f);
	return end;
}

__attribute__((noinline)) static void take(void)
{
	uint64_t end = stack_end();
	void *frames[64];
	ucontext_t uc;
	int n, skip = 0;

	getcontext(&uc);
	n = backtrace(frames, 64);
	take_registers(&uc);
	n_stack = end - regs[7] < STACK ? (size_t)(end - regs[7]) : STACK;
	take_stack(regs[7]);
	/* Where ASan wraps backtrace its own frames stand before ours. */
	while (skip < n - 1 && (uint64_t)(uintptr_t)frames[skip] - regs[8] > 4096)
		skip++;
	for (int i = skip; i < n; i++)
		expected[i - skip] = (uintptr_t)frames[i];
	n_expected = (size_t)(n - skip);
}

static int setup(void **state)
{
	struct seam_attr sampling = {
		.type = SEAM_TYPE_SOFTWARE,
		.size = 112,
		.sample_type = SEAM_SAMPLE_IDENTIFIER | SEAM_SAMPLE_IP | SEAM_SAMPLE_TID |
		               SEAM_SAMPLE_TIME | SEAM_SAMPLE_CALLCHAIN | SEAM_SAMPLE_REGS_USER |
		               SEAM_SAMPLE_STACK_USER,
		.flags = SEAM_ATTR_SAMPLE_ID_ALL | SEAM_ATTR_EXCLUDE_CALLCHAIN_USER,
		.sample_regs_user = 0xff0fff,
		.sample_stack_user = STACK,
	};
	uint64_t id = 77;

	assert_int_equal(seam_events_new(&events), 0);
	assert_true(seam_events_add(events, &sampling, "cpu-clock", &id, 1, NULL) >= 0);
	attr = &seam_events_at(events, 0)->attr;
	take();
	return 0;
}

static int teardown(void **state)
{
	seam_events_free(events);
	return 0;
}

static struct seam_id at(uint32_t pid, uint64_t time)
{
	return (struct seam_id){ .pid = pid, .tid = pid, .time_ns = time, .id = 77 };
}

static void put_sample(struct buf *out, uint32_t pid, uint64_t time, uint16_t mode,
                       bool kernel_thread)
{
	static const uint64_t kernel[] = { SEAM_CONTEXT_KERNEL, KERNEL_IP };
	struct seam_sample s = {
		.id = at(pid, time),
		.ip = mode == SEAM_MISC_USER ? regs[8] : KERNEL_IP,
		.callchain = encode_words(kernel, mode == SEAM_MISC_USER ? 0 : 2),
		.regs_user = { .abi = 2, .mask = 0xff0fff, .values = encode_words(regs, 20) },
		.stack_user = { (const unsigned char *)stack_copy, n_stack },
		.stack_user_size = STACK,
	};

	if (kernel_thread) {
		s.regs_user = (struct seam_regs){ 0 };
		s.stack_user.n = s.stack_user_size = 0;
	}
	assert_int_equal(encode_sample(out, attr, mode, &s), 0);
}

/* Everything that is executable here, mapped by pid at a time. */
static void put_maps(struct buf *out, uint32_t pid, uint64_t time)
{
	FILE *f = fopen("/proc/self/maps", "r");
	struct seam_id id = at(pid, time);
	char line[4400], perms[8], path[4200];

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		struct seam_mmap m = { .pid = pid, .tid = pid, .has_prot = true, .prot = 5 };
		uint64_t end;

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %4199s", &m.addr,
		           &end, perms, &m.pgoff, path) < 5 ||
		    perms[2] != 'x')
			continue;
		m.len = end - m.addr;
		m.filename = path;
		assert_int_equal(encode_mmap2(out, attr, SEAM_MISC_USER, &m, &id), 0);
	}
	fclose(f);
}

/* Data over the code of this program: who looks there after it finds nothing to unwind by. */
static void put_cover(struct buf *out, uint32_t pid, uint64_t time)
{
	struct seam_id id = at(pid, time);
	struct seam_mmap m = { .pid = pid,
		               .tid = pid,
		               .has_prot = true,
		               .prot = 5,
		               .addr = regs[8] & ~0xfffULL,
		               .len = 4096,
		               .filename = "/no/such/file" };

	assert_int_equal(encode_mmap2(out, attr, SEAM_MISC_USER, &m, &id), 0);
}

static void put_exec(struct buf *out, uint32_t pid, uint64_t time)
{
	struct seam_id id = at(pid, time);
	struct seam_comm c = { .pid = pid, .tid = pid, .exec = true, .comm = "new" };

	assert_int_equal(encode_comm(out, attr, 0, &c, &id), 0);
}

static void put_fork(struct buf *out, uint32_t parent, uint32_t child, uint64_t time)
{
	struct seam_id id = at(parent, time);
	struct seam_task t = {
		.pid = child, .tid = child, .ppid = parent, .ptid = parent, .time_ns = time
	};

	assert_int_equal(encode_task(out, attr, SEAM_RECORD_FORK, 0, &t, &id), 0);
}

static void put_exit(struct buf *out, uint32_t pid, uint64_t time)
{
	struct seam_id id = at(pid, time);
	struct seam_task t = { .pid = pid, .tid = pid, .ppid = 1, .ptid = 1, .time_ns = time };

	assert_int_equal(encode_task(out, attr, SEAM_RECORD_EXIT, 0, &t, &id), 0);
}

/* A recorder with this process as the target: what is written to it next, what came out, what it
 * counted. */
struct run {
	struct live *l;
	struct buf in, out;
	struct live_counts c;
};

/* 0: as by default. */
static struct run begin(unsigned threads, size_t queue, size_t renew)
{
	struct live_opts opts = { .sz = sizeof(opts),
		                  .events = events,
		                  .machine = FRAMETAB_X86_64,
		                  .threads = threads,
		                  .renew_bytes = renew,
		                  .queue_bytes = queue,
		                  .tables = { .sz = sizeof(opts.tables), .no_cache = true } };
	struct run r = { 0 };

	assert_int_equal(live_new(&r.l, &opts), 0);
	return r;
}

static void end(struct run *r)
{
	live_free(r->l);
	buf_free(&r->in);
	buf_free(&r->out);
}

static void round_of(struct run *r)
{
	if (r->in.n)
		assert_int_equal(live_write(r->l, r->in.bytes, r->in.n), 0);
	assert_int_equal(live_round(r->l), 0);
	buf_clear(&r->in);
}

static int gather(void *ctx, const void *bytes, size_t n)
{
	return buf_put(ctx, bytes, n);
}

/* The end of a recording. */
static void finish_in(struct run *r, unsigned timeout_ms)
{
	assert_int_equal(live_finish(r->l, timeout_ms), 0);
	assert_int_equal(live_collect(r->l, gather, &r->out), 0);
	live_count(r->l, &r->c);
}

static void finish(struct run *r)
{
	finish_in(r, LIVE_NO_LIMIT);
}

/* The i-th sample of what came out; false past the end. */
static bool sample_at(const struct run *r, size_t i, struct seam_decoded *ret)
{
	static struct seam_record record;

	for (size_t at = 0; at < r->out.n; at += record.size) {
		assert_true(record_at(r->out.bytes + at, r->out.n - at, &record));
		if (record.type != SEAM_RECORD_SAMPLE || i--)
			continue;
		assert_int_equal(record_decode(live_events(r->l), &record, ret, NULL), 0);
		return true;
	}
	return false;
}

/* kernel words, the marker, the ip, and the callers that backtrace(3) found. */
static void assert_whole(const struct seam_decoded *d, size_t n_kernel)
{
	const struct seam_u64s *chain = &d->sample.callchain;

	assert_int_equal(chain->n, n_kernel + 1 + n_expected);
	assert_true(seam_u64s_at(chain, n_kernel) == SEAM_CONTEXT_USER);
	assert_true(seam_u64s_at(chain, n_kernel + 1) == regs[8]);
	for (size_t i = 1; i < n_expected; i++)
		assert_true(seam_u64s_at(chain, n_kernel + 1 + i) == expected[i]);
}

/* What the file says of a sample's walk. */
static void assert_walk_result(const struct seam_decoded *d, enum walk_result_kind kind,
                               enum walk_end end)
{
	struct walk_result o;

	assert_true(walk_result_get(&d->event->attr, d->record->misc, &o));
	assert_int_equal(o.kind, kind);
	assert_int_equal(o.end, end);
}

static void assert_sum(const struct live_counts *c)
{
	assert_true(c->samples == c->walks.samples + c->walks.unusable + c->kernel_only +
	                                  c->not_unwound + c->in_exec);
}

#endif
