/* SPDX-License-Identifier: MIT */
/*
 * window.h: what was recorded lately, as profiles: a sink of the recorder (window_write) that keeps
 * records in memory. Time is cut into intervals; each sample is in exactly one, by its time.
 *
 *	window_new(&w, &opts, recorder_events(r))
 *	... records come: recorder_begin(r, sink of w), recorder_read(r) ...
 *	window_cut(w, false, &interval, &err)                  ends an interval
 *	window_profile(&interval, &load_opts, fn, ctx, &err)   the interval's samples; any thread
 *	window_free(w)
 *
 * An interval is a recording in memory, read by the same code as a file: the samples and deferred
 * stacks of the last while, and the side-band records of who was sampled in it. So stacks are
 * merged by the rules of any report. A sample waits WINDOW_GRACE_NS for its user part before it is
 * due.
 *
 * Memory is bounded: WINDOW_SAMPLES_MAX of samples in an interval, or window_limit, the rest is
 * counted as dropped.
 * Side-band records of processes that are gone are let go (window_side.h), at the latest when there
 * are twice as many as before; at WINDOW_SIDE_MAX window_renew reads /proc anew.
 *
 * One thread at a time, but window_profile may run beside all other functions than window_cut and
 * window_free.
 */
#ifndef SEAM_RECORDER_WINDOW_H
#define SEAM_RECORDER_WINDOW_H

#include "aggregate/load.h"
#include "recorder/datafile.h"
#include "recorder/recorder.h"

#define WINDOW_GRACE_NS 300000000ULL
#define WINDOW_SIDE_LEAST (1u << 20) /* less is not worth the looking */
#define WINDOW_SIDE_MAX (8u << 20)
#define WINDOW_SAMPLES_MAX (64u << 20)

struct window;

struct window_interval {
	uint64_t from_ns, to_ns; /* [from, to) */
	uint64_t dropped;        /* samples that had no room, in it */
	uint64_t lost;           /* records that the kernel lost, since the beginning */
	uint64_t skipped;        /* of them, samples that it skipped: SEAM_MISC_LOST_SKIPPED */
	char path[32];           /* of the recording in memory; valid until the next window_cut */
};

/* head: what the recording says of itself; it and events live as long as the window. */
int window_new(struct window **ret, const struct datafile_opts *head,
               const struct seam_events *events);
/* What records say of processes, as they come: one was sampled; it is another program from now on;
 * it began, and whoever had its number before has ended. */
enum window_news {
	WINDOW_SAMPLED,
	WINDOW_REPLACED,
	WINDOW_BEGAN
};
struct window_watch {
	void (*tell)(void *ctx, enum window_news news, uint32_t pid);
	void *ctx;
};
void window_watch(struct window *w, const struct window_watch *watch);
/* Samples that are kept, in bytes, instead of WINDOW_SAMPLES_MAX: the rest is dropped. */
void window_limit(struct window *w, size_t samples);
void window_free(struct window *w);

/* A capture_write: whole records, as recorder_events describes them. */
int window_write(void *w, const void *bytes, size_t n);
/* Makes an interval of what is due. last: nothing more will come, so all that came is due. -errno:
 * the window is as before. */
int window_cut(struct window *w, bool last, struct window_interval *ret, struct seam_error *err);
/* Calls fn with the profile of the interval's samples; the filter of opts is not used. What
 * fn returns is returned. */
int window_profile(const struct window_interval *interval, const struct load_opts *opts,
                   int (*fn)(void *ctx, struct recording *rec, struct load *load), void *ctx,
                   struct seam_error *err);
/* If side-band records take too much memory, it forgets them and reads what is running now from
 * /proc. */
int window_renew(struct window *w, struct recorder *r);

#endif
