// SPDX-License-Identifier: MIT
// top_window.c: see top.h. A refresh is a report of one interval of the window, as `seam report`
// makes it of a file.
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/shown.h"
#include "base/thread.h"
#include "cli/top/top.h"

/* How long the rings are read at a time while a refresh is made. */
#define BESIDE_MS 20

/* What the loading thread gets and gives back. Of t it may use only view and what does not change
 * after opening. */
struct top_job {
	struct top *t;
	struct window_interval interval;
	struct seam_error err;
	int rc;
	atomic_bool done;
};

/* The seconds that a refresh covers: from the last one, or the first sample, up to what was due. */
static double top_span(const struct recording *rec, const struct window_interval *due)
{
	uint64_t from = due->from_ns > rec->first_ns ? due->from_ns : rec->first_ns;
	uint64_t to = due->to_ns < rec->last_ns ? due->to_ns : rec->last_ns;

	return to > from ? (double)(to - from) / 1e9 : 0;
}

/* Writes the lines above the table: samples, their span, how many have whole stacks, what was lost,
 * and how stacks are taken. */
static void top_heading(const struct top_job *job, const struct report *r, struct buf *out)
{
	const struct bpf_stacks *bpf = recorder_bpf(job->t->recorder);
	struct profile_account a;
	char number[32], mode[400];

	profile_account(r->load.profile, 0, &a);
	shown_printf(out, "seam top: %s samples", report_number(a.samples, number, sizeof(number)));
	if (a.samples)
		shown_printf(out, " in %.1f s", top_span(r->rec, &job->interval));
	if (a.samples)
		shown_printf(out, ", %.1f %% with whole stacks",
		             report_percent(a.whole, a.samples));
	if (job->interval.lost)
		shown_printf(out, "; %s records lost since the start",
		             report_number(job->interval.lost, number, sizeof(number)));
	if (job->interval.dropped)
		shown_printf(out, "; %s samples had no room",
		             report_number(job->interval.dropped, number, sizeof(number)));
	if (r->load.stitch.duplicate_samples)
		shown_printf(out, "; %s samples were written twice and count once",
		             report_number(r->load.stitch.duplicate_samples, number,
		                           sizeof(number)));
	shown_printf(out, "\n%s",
	             mode_line(session_mode(recorder_session(job->t->recorder)), mode,
	                       sizeof(mode)));
	if (bpf->reason[0])
		shown_printf(out, "; not walked in the kernel by BPF: %s", bpf->reason);
	buf_put_text(out, "\n");
}

/* Appends the tables of a report, with the events' names where there are several. */
int top_tables(struct report *r, struct buf *out)
{
	int rc = 0;

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

/* A callback of window_profile: shows the interval's profile. */
static int top_show_profile(void *ctx, struct recording *rec, struct load *load)
{
	const struct top_job *job = ctx;
	struct report r = job->t->view;
	struct buf heading = { 0 };
	int rc;

	r.rec = rec;
	r.load = *load;
	top_heading(job, &r, &heading);
	rc = heading.failed ? -ENOMEM : job->t->show(job->t, &r, &heading);
	buf_free(&heading);
	return rc;
}

/* Names what the interval holds, and shows it. -errno. */
static int top_load(struct top_job *job)
{
	struct load_opts opts = {
		.sz = sizeof(opts),
		.keep = top_keeps(job->t),
		.slice_ns = TOP_VIEW_SLICE_NS,
		.symbols = &job->t->naming.symbols,
	};

	return window_profile(&job->interval, &opts, top_show_profile, job, &job->err);
}

/* job->done is set last: behind it the job is the caller's again. */
static void *top_thread(void *arg)
{
	struct top_job *job = arg;

	job->rc = top_load(job);
	atomic_store(&job->done, true);
	return NULL;
}

/* Loads in another thread and reads the rings meanwhile, which would overflow otherwise. 1: what is
 * recorded ended; 0; -errno of reading. */
static int top_load_beside(struct top *t, struct top_job *job, bool last)
{
	pthread_t thread;
	int r = 0;

	if (last || thread_start(&thread, top_thread, job)) {
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

/* The report is made in a thread, so that the rings are read meanwhile. 1: what is recorded ended;
 * 0; -errno, which was said. */
int top_refresh(struct top *t, bool last)
{
	struct top_job job = { .t = t };
	int r = window_cut(t->window, last, &job.interval, &job.err), read = 0;

	if (r >= 0) {
		t->refreshes++;
		read = top_load_beside(t, &job, last);
		r = job.rc;
	}
	if (r >= 0 && read < 0)
		r = read;
	if (r >= 0)
		r = window_renew(t->window, t->recorder);
	if (r < 0)
		cmd_error(t->cmd, "%s", cmd_reason(&job.err, r));
	return r < 0 ? r : read;
}
