// SPDX-License-Identifier: MIT
/*
 * preface.c: knows the form of the records by which perf opens a file. Readers that only want
 * samples pass them over.
 *
 * They are written once, after the rings are mapped and before the first round. The forms are
 * perf's own (types from 64 on, PERF_RECORD_USER_TYPE_START): no kernel writes them.
 */
#include <linux/perf_event.h>

#include "abi/encode.h"
#include "capture/preface.h"

/* How the kernel turns the time stamp counter into its clock: readers of jitdump files need it. */
static void preface_time_conv(const struct session *session, struct buf *out)
{
	const struct perf_event_mmap_page *page;
	size_t start;

	/* Without rings nobody has told the conversion. */
	if (!session_rings(session))
		return;
	page = (const void *)session_ring(session, 0)->page;
	/* The kernel sets this bit where the fields hold a conversion. */
	if (!page->cap_user_time_zero)
		return;
	start = encode_begin(out, SEAM_RECORD_TIME_CONV, 0);
	buf_put_u64(out, page->time_shift);
	buf_put_u64(out, page->time_mult);
	buf_put_u64(out, page->time_zero);
	buf_put_u64(out, 0); /* time_cycles and time_mask: of short counters */
	buf_put_u64(out, UINT64_MAX);
	buf_put(out, "\1\0\0\0\0\0\0", 8); /* cap_user_time_zero, cap_user_time_short */
	encode_end(out, start);
}

/* THREAD_MAP: u64 nr, then u64 pid and 16 bytes of name each; the names stay empty. */
static void preface_thread_map(const pid_t *pids, size_t n, struct buf *out)
{
	size_t start;

	/* One entry with pid -1 means all processes. A record has room for 2,700 entries; more than
	 * 1,000 are not listed, because they would tell a reader nothing more. */
	if (n > 1000)
		return;
	start = encode_begin(out, SEAM_RECORD_THREAD_MAP, 0);
	buf_put_u64(out, n ? n : 1);
	for (size_t i = 0; i < (n ? n : 1); i++) {
		buf_put_u64(out, n ? (uint64_t)pids[i] : UINT64_MAX);
		buf_put_zeros(out, 16);
	}
	encode_end(out, start);
}

/* CPU_MAP: u16 type, u16 nr, u16 CPU each. One ring is one CPU. */
static void preface_cpu_map(const struct session *session, struct buf *out)
{
	size_t n = session_rings(session), start = encode_begin(out, SEAM_RECORD_CPU_MAP, 0);

	buf_put_u16(out, 0); /* a list of numbers */
	buf_put_u16(out, (uint16_t)n);
	for (size_t i = 0; i < n; i++)
		buf_put_u16(out, (uint16_t)session_ring(session, i)->cpu);
	encode_end(out, start);
}

void preface_put(const struct session *session, const pid_t *pids, size_t n_pids, struct buf *out)
{
	preface_time_conv(session, out);
	preface_thread_map(pids, n_pids, out);
	preface_cpu_map(session, out);
}

/* FINISHED_INIT: what was running already has been told; what follows happens while recording. */
void preface_put_finished(struct buf *out)
{
	encode_end(out, encode_begin(out, SEAM_RECORD_FINISHED_INIT, 0));
}
