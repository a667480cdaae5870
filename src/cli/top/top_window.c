// SPDX-License-Identifier: MIT
// top_window.c: a refresh: what is in the bufs becomes a recording, a profile, a report; then what
// was shown is let go. The rings are read on while a thread loads. Knows times: which samples are
// due, and which records are still needed.
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "abi/record_at.h"
#include "base/shown.h"
#include "cli/record/record_head.h"
#include "cli/top/top.h"

#define BESIDE_MS 20

struct top_due {
	uint64_t from_ns, to_ns; /* [from, to) */
};

/* What the thread that loads is given, and gives. Of t only view and what stays as it was opened:
 * the rest goes on changing. */
struct top_job {
	struct top *t;
	struct top_due due;
	char path[64];
	uint64_t lost, dropped;
	struct buf *out;
	struct seam_error err;
	int rc;
	atomic_bool done;
};

static bool top_is_due(void *ctx, const struct seam_stitched *sample, const char *comm)
{
	const struct top_due *due = ctx;
	uint64_t time_ns = sample->sample.id.time_ns;

	(void)comm;
	return time_ns >= due->from_ns && time_ns < due->to_ns;
}

/* The bufs as a recording in the memory file; *path is where a reader finds it. */
static int top_write_file(struct top *t, char *path, size_t n, struct seam_error *err)
{
	struct seam_writer_opts opts = { .sz = sizeof(opts) };
	struct seam_writer *writer;
	int r;

	if (t->file < 0)
		t->file = memfd_create("seam-top", MFD_CLOEXEC);
	if (t->file < 0)
		return -errno;
	snprintf(path, n, "/proc/self/fd/%d", t->file);
	r = seam_writer_open(&writer, path, t->events, &opts, err);
	if (r < 0)
		return r;
	r = record_head_features(writer, &t->o, t->events, err);
	if (r >= 0)
		r = seam_writer_write(writer, t->side.bytes, t->side.n, err);
	if (r >= 0)
		r = seam_writer_write(writer, t->window.bytes, t->window.n, err);
	if (r < 0) {
		seam_writer_close(writer, NULL);
		return r;
	}
	return seam_writer_close(writer, err);
}

/* Keeps the records from `from_ns` on: the samples that wait, and answers that may be theirs. */
static void top_forget(struct top *t, uint64_t from_ns)
{
	unsigned char *bytes = t->window.bytes;
	struct seam_record record;
	size_t to = 0;

	for (size_t at = 0; record_at(bytes + at, t->window.n - at, &record); at += record.size) {
		struct seam_decoded d;

		if (seam_record_decode(t->events, &record, &d, NULL) >= 0 &&
		    d.id.time_ns >= from_ns) {
			memmove(bytes + to, bytes + at, record.size);
			to += record.size;
		}
	}
	t->window.n = to;
}

/* Seconds that a refresh is of: from the last one, or the first sample, to what was due. */
static double top_span(const struct recording *rec, const struct top_due *due)
{
	uint64_t from = due->from_ns > rec->first_ns ? due->from_ns : rec->first_ns;
	uint64_t to = due->to_ns < rec->last_ns ? due->to_ns : rec->last_ns;

	return to > from ? (double)(to - from) / 1e9 : 0;
}

static void top_heading(const struct top_job *job, const struct report *r, struct buf *out)
{
	struct profile_account a;
	uint64_t whole;
	char number[32], mode[400];

	profile_account(r->load.profile, 0, &a);
	whole = a.state[SEAM_STITCH_IMMEDIATE] + a.state[SEAM_STITCH_STITCHED] +
	        a.state[SEAM_STITCH_STITCHED_EARLIER] + a.state[SEAM_STITCH_STACK_COPY] +
	        a.state[SEAM_STITCH_KERNEL_ONLY];
	shown_printf(out, "seam top: %s samples", report_number(a.samples, number, sizeof(number)));
	if (a.samples)
		shown_printf(out, " in %.1f s", top_span(r->rec, &job->due));
	if (a.samples)
		shown_printf(out, ", %.1f %% with whole stacks", report_percent(whole, a.samples));
	if (job->lost)
		shown_printf(out, "; %s records lost since the start",
		             report_number(job->lost, number, sizeof(number)));
	if (job->dropped)
		shown_printf(out, "; %s samples had no room",
		             report_number(job->dropped, number, sizeof(number)));
	if (r->load.stitch.duplicate_samples)
		shown_printf(out, "; %s samples were written twice and count once",
		             report_number(r->load.stitch.duplicate_samples, number,
		                           sizeof(number)));
	shown_printf(out, "\n%s", mode_line(session_mode(job->t->session), mode, sizeof(mode)));
	if (job->t->bpf.reason[0])
		shown_printf(out, "; not walked in the kernel by BPF: %s", job->t->bpf.reason);
	buf_put_text(out, "\n\n");
}

static int top_report(const struct top_job *job, struct report *r, struct buf *out)
{
	int rc = 0;

	top_heading(job, r, out);
	for (uint32_t e = 1; e <= profile_n_events(r->load.profile) && rc >= 0; e++) {
		struct profile_account a;

		profile_account(r->load.profile, e, &a);
		if (!a.samples)
			continue;
		if (profile_n_events(r->load.profile) > 1)
			shown_printf(out, "%s\n", profile_event_name(r->load.profile, e));
		rc = report_table(r, e, out);
		buf_put_text(out, "\n");
	}
	return rc;
}

static int top_load(struct top_job *job)
{
	struct report r = job->t->view;
	struct load_opts opts = {
		.sz = sizeof(opts),
		.keep = report_keeps(&job->t->view),
		.symbols = &job->t->view.naming.symbols,
		.take = top_is_due,
		.take_ctx = &job->due,
	};
	struct recording_opts learn = { .sz = sizeof(learn) };
	struct seam_reader *reader;
	int rc = seam_reader_open(&reader, job->path, NULL, &job->err);

	if (rc < 0)
		return rc;
	rc = recording_open(&r.rec, reader, &learn, &job->err);
	if (rc >= 0)
		rc = load_recording(&r.load, r.rec, &opts, &job->err);
	if (rc >= 0)
		rc = top_report(job, &r, job->out);
	load_free(&r.load);
	recording_close(r.rec);
	seam_reader_close(reader);
	return rc;
}

static void *top_thread(void *arg)
{
	struct top_job *job = arg;

	job->rc = top_load(job);
	atomic_store(&job->done, true);
	return NULL;
}

/* Loads in a thread, so that the rings are read meanwhile: they would overflow. 1: what is recorded
 * ended; 0; -errno of reading. */
static int top_load_beside(struct top *t, struct top_job *job, bool last)
{
	pthread_t thread;
	int r = 0;

	if (last || pthread_create(&thread, NULL, top_thread, job)) {
		job->rc = top_load(job);
		return 0;
	}
	while (!atomic_load(&job->done)) {
		int rc = top_read(t, BESIDE_MS);

		if (rc)
			r = rc;
		if (rc)
			break;
	}
	pthread_join(thread, NULL);
	return r;
}

/* Which samples are due: what is younger than TOP_GRACE_NS waits for its user part. */
static struct top_due top_decide(const struct top *t, bool last)
{
	struct top_due due = { .from_ns = t->shown_ns, .to_ns = t->newest_ns + 1 };

	/* When nothing came, nothing that came would be waited for. */
	if (!last && t->grew)
		due.to_ns = t->newest_ns > TOP_GRACE_NS ? t->newest_ns - TOP_GRACE_NS : 0;
	if (due.to_ns < due.from_ns)
		due.to_ns = due.from_ns;
	return due;
}

int top_refresh(struct top *t, bool last, size_t lines, struct buf *out)
{
	struct top_job job = { .t = t,
		               .due = top_decide(t, last),
		               .out = out,
		               .lost = t->lost,
		               .dropped = t->dropped };
	int r = top_write_file(t, job.path, sizeof(job.path), &job.err), read = 0;

	t->view.rows_max = lines;
	if (r >= 0) {
		top_forget(t, job.due.to_ns);
		t->shown_ns = job.due.to_ns;
		t->grew = false;
		t->dropped = 0;
		t->refreshes++;
		read = top_load_beside(t, &job, last);
		r = job.rc;
	}
	if (r >= 0 && read < 0)
		r = read;
	if (r >= 0 && t->side.n > TOP_SIDE_MAX)
		r = top_resynthesize(t);
	if (r < 0)
		cmd_error(t->cmd, "%s", cmd_reason(&job.err, r));
	return r < 0 ? r : read;
}
