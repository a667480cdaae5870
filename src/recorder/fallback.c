// SPDX-License-Identifier: MIT
// fallback.c: see fallback.h. Knows the order of the steps and the words for them; how a step works
// is known by the step itself.
#include "recorder/fallback.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "capture/event_fit.h"
#include "capture/features.h"

/* The size of a reason in words. */
#define REASON sizeof(((struct bpf_stacks *)0)->reason)

/* Whether frame pointers would be deferred by the kernel itself: its way comes before BPF's
 * then. */
/* The kernel's own deferral comes before BPF when frame pointers were asked for. */
static bool fallback_kernel_defers(void)
{
	struct features f;

	features_init(&f, NULL);
	return features_has(&f, FEATURE_DEFER) &&
	       features_get(&f, FEATURE_DEFERS)->state != FEATURE_NO;
}

/* Whether BPF is one of the ways for what was asked for. */
static bool fallback_has_bpf(const struct recorder_opts *o)
{
	if (o->needs_bpf || o->session.callchain == SESSION_CALLCHAIN_AUTO)
		return true;
	return o->session.callchain == SESSION_CALLCHAIN_FP_DEFER && !fallback_kernel_defers();
}

/* Tries the way by BPF: loads the programs, reads what is mapped, and opens the session with them.
 * 0, or -errno with the reason in words; then nothing stays open. */
static int fallback_open_bpf(struct session **ret, struct bpf_stacks *bpf, struct recorder_opts *o,
                             char *reason)
{
	/* A copy: if the way is not open, the next one begins with the options as they were. */
	struct session_opts opened = o->session;
	struct seam_error err = { 0 };
	int r = bpf_stacks_open(bpf, o, &opened, reason);

	if (r < 0)
		return r;
	r = bpf_stacks_targets(bpf, o);
	if (r < 0)
		snprintf(reason, REASON, "what is mapped cannot be read: %s", strerror(-r));
	if (r >= 0) {
		r = session_open(ret, &opened, &err);
		snprintf(reason, REASON, "%.255s", err.text);
	}
	/* The programs are loaded, but all events are of a kind that they do not take. */
	if (r >= 0 && !session_uses_source(*ret)) {
		snprintf(reason, REASON, "no event's samples can be taken by it");
		session_close(*ret);
		r = -EOPNOTSUPP;
	}
	if (r < 0) {
		bpf_stacks_close(bpf);
		return r;
	}
	/* Those who write the head of the file must know the clock. */
	o->session.use_clockid = opened.use_clockid;
	o->session.clockid = opened.clockid;
	return 0;
}

/* Kept for the account at the end, and said now. */
static void fallback_say(struct bpf_stacks *bpf, const struct recorder_opts *o, const char *reason)
{
	snprintf(bpf->reason, sizeof(bpf->reason), "%s", reason);
	log_line(&o->session.log, LOG_PLAIN, "user stacks are not walked in the kernel by BPF: %s",
	         reason);
}

/* A way that is not open is reported, and the next one is tried. -ESRCH and -EINTR end the search:
 * no other way would do better. */
int fallback_open(struct session **ret, struct bpf_stacks *bpf, struct recorder_opts *o,
                  struct seam_error *err)
{
	char reason[REASON] = "";
	struct features features;
	bool late = false;
	int r;

	features_init(&features, NULL);
	o->runtimes_now = o->runtimes;
	if (o->session.callchain == SESSION_CALLCHAIN_AUTO)
		o->runtimes |= RUNTIMES_ALL & ~o->no_runtimes;
	o->session.no_runtimes = o->no_runtimes == RUNTIMES_ALL;
	/* Events that the machine lacks go first, so that they do not close a way for the
	 * others. */
	event_list_fit(o->events, &features, &o->session.log);
	if (fallback_has_bpf(o)) {
		r = fallback_open_bpf(ret, bpf, o, reason);
		if (r == -EINTR)
			return seam_error_set(err, EINTR, NULL, SEAM_NO_OFFSET, NULL, "%s", reason);
		if (r >= 0 || r == -ESRCH)
			return r < 0 ? seam_error_set(err, ESRCH, NULL, SEAM_NO_OFFSET, NULL,
			                              "no such process or thread: %d",
			                              o->session.n_pids ? (int)o->session.pids[0]
			                                                : 0)
			             : 0;
		if (o->needs_bpf)
			return seam_error_set(err, EOPNOTSUPP, NULL, SEAM_NO_OFFSET, NULL,
			                      "%s: BPF programs cannot be used: %s", o->needs_bpf,
			                      reason);
		/* If the event itself cannot be opened, BPF may not be the reason. */
		late = !strncmp(reason, "event '", 7);
		if (!late)
			fallback_say(bpf, o, reason);
	}
	r = session_open(ret, &o->session, err);
	/* The kernel's own way opened the event, so BPF was the reason after all. */
	if (late && r >= 0)
		fallback_say(bpf, o, reason);
	return r;
}
