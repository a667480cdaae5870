/* SPDX-License-Identifier: MIT */
/*
 * stored.h: what of a store is asked for, the same way in every command: --store URL, --from and
 * --to, --where LABEL=VALUE,..., --by LABEL,...
 *
 * Use: STORED_OPTIONS in the option table, stored_option for their ids; if stored_asked, then
 * stored_load in place of reading a recording: what it gives goes the way of any loaded recording.
 */
#ifndef SEAM_INPUT_STORED_H
#define SEAM_INPUT_STORED_H

#include "cmd/cmd.h"
#include "fleet/answer.h"
#include "fleet/repeats.h"

enum {
	STORED_URL = 1300,
	STORED_FROM,
	STORED_TO,
	STORED_WHERE,
	STORED_BY,
	STORED_END,
};

#define STORED_URL_OPTION                                                                       \
	{                                                                                       \
		"store", 0, "URL", "a store in place of a recording: " STORED_KINDS, STORED_URL \
	}
#define STORED_KINDS "sqlite:FILE, clickhouse:HTTP-URL"
#define STORED_SPAN_OPTIONS                                                                        \
	{ "from", 0, "TIME", "windows from here on: -1h (the default), 14:02, 2026-11-20T14:02Z",  \
	  STORED_FROM },                                                                           \
	        { "to", 0, "TIME", "windows before this: now (the default), or as --from",         \
		  STORED_TO },                                                                     \
	{                                                                                          \
		"where", 0, "LIST", "only these series: service=checkout,host=web-7", STORED_WHERE \
	}
#define STORED_OPTIONS                                                                    \
	STORED_URL_OPTION, STORED_SPAN_OPTIONS,                                           \
	{                                                                                 \
		"by", 0, "LABELS", "rows for each value of these: version, or host,comm", \
		        STORED_BY                                                         \
	}

/* Zero-initialise to start. */
struct stored {
	const char *url, *from, *to, *where, *by; /* as given; NULL: not */
	bool also_by;                             /* --by is for recordings, too */
	struct labels_filter filter;
	struct store_query query;
};

static inline bool stored_is_option(int id)
{
	return id >= STORED_URL && id < STORED_END;
}

void stored_option(struct stored *s, const struct options *o, int id);
/* Whether a store is asked for. */
bool stored_asked(const struct stored *s);
/* To be called after the options: 0, or -EINVAL after saying which makes no sense. */
int stored_settle(struct stored *s, const struct cmd *cmd);
/* The same for a command that also reads recordings. other: what of the command line a store cannot
 * have, or NULL. False after saying that it does not go with --store. */
bool stored_ready(struct stored *s, const struct cmd *cmd, const char *other);
/* Adds what one --label gives. -EINVAL after saying what is wrong with it. */
int stored_label(struct labels *labels, const struct cmd *cmd, const char *text);
/* The URL of the store that is used where none is named: below /var/lib/seam for root, in the
 * state directory of a user. For free(); NULL: out of memory. make: its directory is made. */
char *stored_default(bool make);
/* Options for another run of seam about the same windows of the same store: how many of args. */
#define STORED_ARGS_MAX 8
size_t stored_args(const struct stored *s, const char **args);
/* Answers the query: an exit code, after saying on stderr why not, or why there is nothing. */
int stored_load(const struct stored *s, const struct cmd *cmd, unsigned keep, struct answer *ret);
/* Reads the samples that another filter lets through, too, as several measurements. option: who has
 * that filter. -EINVAL: it is none, and err says so; another -errno. repeats_free, also on
 * failure. */
int stored_repeats(const struct stored *s, struct store *store, const char *option,
                   const char *where, size_t most, struct repeats *ret, struct seam_error *err);
void stored_free(struct stored *s);

#endif
