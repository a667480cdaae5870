/* SPDX-License-Identifier: MIT */
/*
 * pick.h: which samples of a recording a report is about: take.h's options, --time and --event.
 *
 * Use: PICK_OPTIONS in the option table, pick_option for their ids; then pick_prepare once the
 * first pass over the recording is done; then pick_sample is a load_opts.take.
 */
#ifndef SEAM_CLI_PICK_H
#define SEAM_CLI_PICK_H

#include "cli/span.h"
#include "cli/take.h"
#include "samples/recording.h"
#include "profile/profile.h"

enum {
	PICK_TIME = 1100,
	PICK_EVENT,
	PICK_END,
};

#define PICK_TIME_OPTION                                                               \
	{                                                                              \
		"time", 0, "SPAN", "only samples of this time: " SPANS_HELP, PICK_TIME \
	}

#define PICK_OPTIONS                                                                          \
	TAKE_OPTIONS, PICK_TIME_OPTION,                                                       \
	{                                                                                     \
		"event", 'e', "LIST", "only these events: as recorded, or without modifiers", \
		        PICK_EVENT                                                            \
	}

/* Zero-initialise to start: all samples. */
struct pick {
	struct take take;
	struct spans time;
	const char *events; /* LIST as given */
	bool *wanted;       /* by event index; NULL: all */
	size_t n_events;
};

static inline bool pick_is_option(int id)
{
	return take_is_option(id) || (id >= PICK_TIME && id < PICK_END);
}

/* 0, or -EINVAL after saying why on stderr. */
int pick_option(struct pick *p, const struct options *o, int id);
/* 0, -ENOMEM, or -EINVAL after saying on stderr that there is no such event. May be called again,
 * for another recording. */
int pick_prepare(struct pick *p, const struct cmd *cmd, const struct recording *rec);
bool pick_any(const struct pick *p);
/* A load_opts.take; ctx is the struct pick. Any thread. */
bool pick_sample(void *ctx, const struct seam_stitched *sample, const char *comm);
void pick_free(struct pick *p);
/* True when an event's name is this one, or is it with modifiers behind: "cycles:u" is "cycles". */
bool pick_is_event(const char *name, const char *wanted, size_t n);

/* For a command that shows one event of what it loaded: its number, or 0 after saying on stderr
 * which events there are. */
uint32_t pick_profile_event(const struct profile *p, const char *name, const struct cmd *cmd);

#endif
