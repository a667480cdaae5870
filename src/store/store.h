/* SPDX-License-Identifier: MIT */
/*
 * store.h: windows of stacks in a database, and back as a profile. A store has a URL; what stands
 * in front of its colon chooses the kind: sqlite:FILE, clickhouse:HTTP-URL.
 *
 * What is put is a window of one machine: a span of time, a profile of its samples, and for each
 * row of that the labels that it has beside its comm (service, host, ...). A window is in the store
 * whole or not at all, whatever ends the program. Its natural key is the instance that took it and
 * the time at which it begins: a window that is put a second time counts once.
 *
 * What is read is a span of time, of the series that a filter lets through, as a profile, which
 * then goes the way of any profile. Addresses, processes, threads and CPUs are not kept.
 *
 * Texts are the caller's and may hold any bytes but NUL. Times are ns since the epoch. One thread
 * at a time for each struct store.
 */
#ifndef SEAM_STORE_STORE_H
#define SEAM_STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seam/error.h>

#include "profile/flat.h"
#include "profile/profile.h"
#include "base/labels.h"

struct store;

/* A count that a window has beside its samples: losses, how stacks ended, why objects have no
 * names. Names are the caller's; counts of one name are added up by store_read. */
struct store_count {
	const char *name;
	uint64_t value;
};

struct store_window {
	const char *instance;    /* who took it: one recorder that began once */
	uint64_t from_ns, to_ns; /* [from, to) */
	const struct profile *profile;
	/* By row of profile: index into series; NULL: all rows have series[0]. */
	const uint32_t *row_series;
	const struct labels *series;
	size_t n_series;
	const struct store_count *counts;
	size_t n_counts;
	/* Its `frame` says what frames are: a kind of store that can keeps sums beside the window
	 * for some time, so that answers of new windows need no stacks (struct store_query). NULL:
	 * it keeps none. */
	const struct flat *flat;
};

/* What a series is asked for: PROFILE_KEEP_LABEL's text is the value of `by`. */
struct store_query {
	uint64_t from_ns, to_ns;           /* windows that begin in [from, to) */
	const struct labels_filter *where; /* NULL: all */
	const char *by; /* labels, by commas: their values are the rows' label; NULL: none */
	/* Into how long parts the span is cut, for PROFILE_KEEP_SLICE: a row's slice is the number
	 * of the part in which its windows begin. 0: they have none. */
	uint64_t slice_ns;
	/* No caller is asked for: rows may have their innermost frame alone. */
	bool innermost;
	/* Only this function is asked for: a row may have any stack that has it innermost, further
	 * out, or not at all, as its own has. NULL: all are. */
	const char *function;
	/* No stack is asked for: a kind of store that can adds up its samples here, and leaves the
	 * profile with rows of innermost frames; others leave it as it is. NULL: stacks are. Of a
	 * roll-up: what its `frame` says of frames is kept, so that such an answer needs no stacks;
	 * NULL: nothing is. */
	struct flat *flat;
};

/* What a query found. Zero-initialise; store_found_free. */
struct store_found {
	uint64_t windows;           /* in the span, whoever has samples in them */
	uint64_t series;            /* let through */
	uint64_t first_ns, last_ns; /* from the first window's begin to the last one's end */
	/* Of all windows of the store, or of the span, if it has some; 0: the store has none. */
	uint64_t held_first_ns, held_last_ns;
	struct store_count *counts; /* of all windows in the span; names are owned */
	size_t n_counts;
};

/* A series of the store, for lists. */
struct store_series {
	struct labels labels;
	uint64_t windows, samples;
	uint64_t first_ns, last_ns;
};

struct store_listing {
	struct store_series *series; /* by their labels */
	size_t n;
	uint64_t windows, first_ns, last_ns;
	uint64_t bytes;  /* that the store takes */
	uint64_t folded; /* samples whose stacks were folded, of all around these windows */
	/* The store has made one of all series that have the same values of the query's `by`:
	 * their windows are how many series they are of. */
	bool joined;
};

enum store_mode {
	STORE_READ,
	STORE_WRITE,   /* made if it is not there; others may read and write beside */
	STORE_AGENT,   /* likewise, and there is no second agent on it */
	STORE_COMPACT, /* it must be there, and no agent on it */
	STORE_ROLL_UP, /* it must be there; others may read and write beside */
};

/* A function of the roll-up by hour. */
struct store_function {
	uint64_t id;
	char *name, *object;  /* NULL: the store has lost it; "": it has no name */
	uint64_t self, total; /* weights */
};

/* An event, with the functions that have most of it. */
struct store_event {
	char *type;
	unsigned unit; /* enum profile_unit */
	uint64_t all;
	struct store_function *functions; /* by self, the most first */
	size_t n;
};

struct store_functions {
	struct store_event *events;
	size_t n;
	/* Of the span: hours that these are of; that have windows which are not rolled up. */
	uint64_t hours, missing;
};

/* How many hours were rolled up, were so before, and are not over yet. */
struct store_rolled {
	uint64_t made, there, open;
	uint64_t parts; /* so many parts of time were summed up by frame */
};

/* What compaction did. */
struct store_compacted {
	uint64_t windows, into; /* so many windows became so many longer ones */
	uint64_t folded;        /* samples */
};

/* The count of an answer's samples whose innermost functions the store has let go: a frame
 * "[folded]" stands for them. */
#define STORE_FOLDED "store.folded_samples"

/* How a store is made on a server. */
struct store_init {
	const char *cluster; /* of servers, as their configuration calls it; NULL: one server */
	bool replicated;     /* the cluster's servers are copies of each other, and keep order */
	unsigned keep_days;  /* windows that are older go; 0: none */
	bool only_say;       /* nothing is done */
	/* Is told each statement. */
	void (*say)(void *ctx, const char *text);
	void *ctx;
};

/* Makes what a store needs, or brings it to this version; what is there stays. -EPROTO: it is of a
 * newer version. */
int store_make(const char *url, const struct store_init *o, struct seam_error *err);

/* -EINVAL: the URL is of no kind that is known; -EEXIST: another agent has it; -EPROTO: the store
 * is of a newer version; -ENOSYS: this build has not that kind; -ENOENT: the server has no
 * store. */
int store_open(struct store **ret, const char *url, enum store_mode mode, struct seam_error *err);
void store_close(struct store *s);

/* Of a store behind a network that is opened as STORE_AGENT: what is to be told to people since the
 * last call, as a line. False: nothing. What such a store put waits in a spool on disk until the
 * server has it: store_put says that it is safe there. */
bool store_news(struct store *s, char *text, size_t room);

/* 1; 0: it was there before. On failure nothing of it is in the store, and others may be put. */
int store_put(struct store *s, const struct store_window *w, struct seam_error *err);
/* Lets go of windows that are over before from_ns, and of the oldest until the store takes at most
 * so many bytes; 0: no such limit. Returns how many went, or -errno. */
int64_t store_forget(struct store *s, uint64_t from_ns, uint64_t bytes, struct seam_error *err);

/* Makes less of windows that are old at now_ns, a bounded piece at a time: they are merged into
 * longer ones, and their stacks are packed anew. Answers stay what they were, but for the times at
 * which windows begin. day_bytes: where a day would take more, stacks that were met once, or as
 * rarely as it needs, are folded into their callers, but for those of imported recordings; 0:
 * never. Adds to *ret. 1: there may be more to do; 0: there is nothing; -EOPNOTSUPP: the kind of
 * store does that by itself. */
int store_compact(struct store *s, uint64_t now_ns, uint64_t day_bytes, struct store_compacted *ret,
                  struct seam_error *err);

/* Adds to `into`, a profile that keeps PROFILE_KEEP_LABEL and _SLICE or not, in whose states those
 * of the store are looked up by name; more are added behind them. */
int store_read(struct store *s, const struct store_query *q, struct profile *into,
               struct store_found *ret, struct seam_error *err);
void store_found_free(struct store_found *f);
/* The count of this name; 0: there is none. */
uint64_t store_found_count(const struct store_found *f, const char *name);

/* Of the windows of a query; NULL: of all. Only its span and its filter are asked. */
int store_list(struct store *s, const struct store_query *q, struct store_listing *ret,
               struct seam_error *err);
void store_listing_free(struct store_listing *l);

/* Adds up by function what the hours of the query's span have that are over at now_ns, and were not
 * rolled up before, or had other windows then; of a store that is opened to be written. most: after
 * so many hours it ends; 0: never. *ret is zero before. -EOPNOTSUPP: such a store has no
 * roll-up. */
int store_roll_up(struct store *s, const struct store_query *q, uint64_t now_ns, unsigned most,
                  struct store_rolled *ret, struct seam_error *err);
/* At most `limit` functions for each event, of what is rolled up in the hours of the span; of the
 * filter's labels service and version are known. *ret is zero before. */
int store_functions(struct store *s, const struct store_query *q, unsigned limit,
                    struct store_functions *ret, struct seam_error *err);
void store_functions_free(struct store_functions *f);

#endif
