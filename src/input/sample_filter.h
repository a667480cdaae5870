/* SPDX-License-Identifier: MIT */
/*
 * sample_filter.h: which samples of a recording a report is about: id_filter.h's options, --time
 * and --event.
 *
 * Use: SAMPLE_FILTER_OPTIONS in the option table, sample_filter_option for their ids; then
 * sample_filter_prepare once the first pass over the recording is done; then
 * sample_filter_samples gives what load_opts and samples_opts take.
 */
#ifndef SEAM_INPUT_SAMPLE_FILTER_H
#define SEAM_INPUT_SAMPLE_FILTER_H

#include "fleet/answer.h"
#include "input/span.h"
#include "input/id_filter.h"
#include "samples/recording.h"
#include "profile/profile.h"

enum {
	SAMPLE_FILTER_TIME = 1100,
	SAMPLE_FILTER_EVENT,
	SAMPLE_FILTER_END,
};

#define SAMPLE_FILTER_TIME_OPTION                                                               \
	{                                                                                       \
		"time", 0, "SPAN", "only samples of this time: " SPANS_HELP, SAMPLE_FILTER_TIME \
	}

#define SAMPLE_FILTER_OPTIONS                                                                 \
	ID_FILTER_OPTIONS, SAMPLE_FILTER_TIME_OPTION,                                         \
	{                                                                                     \
		"event", 'e', "LIST", "only these events: as recorded, or without modifiers", \
		        SAMPLE_FILTER_EVENT                                                   \
	}

/* Zero-initialise to start: all samples. */
struct sample_filter {
	struct id_filter take;
	struct spans time;
	const char *events;                /* LIST as given */
	const char *span;                  /* time's text, as given */
	struct proc_span times[SPANS_MAX]; /* time's, prepared */
	bool *wanted;                      /* by event index; NULL: all */
	size_t n_events;
};

static inline bool sample_filter_is_option(int id)
{
	return id_filter_is_option(id) || (id >= SAMPLE_FILTER_TIME && id < SAMPLE_FILTER_END);
}

/* 0, or -EINVAL after saying why on stderr. */
int sample_filter_option(struct sample_filter *p, const struct options *o, int id);
/* The same options for another run of seam, but for those that the caller has others for: by the
 * letters c (--comms), p, t, C (--cpu), T (--time), e. texts: what they stand in. How many of
 * args, which has room for SAMPLE_FILTER_ARGS_MAX. */
#define SAMPLE_FILTER_ARGS_MAX 14
size_t sample_filter_args(const struct sample_filter *p, const char *without, struct buf texts[3],
                          const char **args);
/* 0, -ENOMEM, or -EINVAL after saying on stderr that there is no such event. May be called again,
 * for another recording. */
int sample_filter_prepare(struct sample_filter *p, const struct cmd *cmd,
                          const struct recording *rec);
/* The same of what a store answers, in which only these events are left: an exit code. */
int sample_filter_answer(struct sample_filter *p, const struct cmd *cmd, struct answer *answer);
bool sample_filter_any(const struct sample_filter *p);
/* Whether anything but events is asked for. */
bool sample_filter_any_ids(const struct sample_filter *p);
/* The same as a struct samples_filter, as long as p lives; prepared. */
struct samples_filter sample_filter_samples(const struct sample_filter *p);
void sample_filter_free(struct sample_filter *p);

/* For a command that shows one event of what it loaded: its number, or 0 after saying on stderr
 * which events there are. */
uint32_t sample_filter_profile_event(const struct profile *p, const char *name,
                                     const struct cmd *cmd);

#endif
