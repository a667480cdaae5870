/* SPDX-License-Identifier: MIT */
/*
 * script_text.h: samples as the text of perf script, into a buffer.
 *
 * The form is perf's to the blank, because stackcollapse-perf.pl and the Firefox Profiler's
 * importer read it by column and expression.
 */
#ifndef SEAM_SCRIPT_SCRIPT_TEXT_H
#define SEAM_SCRIPT_SCRIPT_TEXT_H

#include "base/buf.h"
#include "samples/samples.h"
#include "resolve/resolver.h"

enum script_field {
	SCRIPT_COMM = 1u << 0,
	SCRIPT_PID = 1u << 1,
	SCRIPT_TID = 1u << 2,
	SCRIPT_CPU = 1u << 3,
	SCRIPT_TIME = 1u << 4,
	SCRIPT_PERIOD = 1u << 5,
	SCRIPT_EVENT = 1u << 6,
	SCRIPT_ADDR = 1u << 7,
	SCRIPT_IP = 1u << 8,
	SCRIPT_SYM = 1u << 9,
	SCRIPT_SYMOFF = 1u << 10,
	SCRIPT_DSO = 1u << 11,
	SCRIPT_STATE = 1u << 12, /* seam's own: what became of the user stack */
	SCRIPT_TRACE = 1u << 13,
	SCRIPT_MISC = 1u << 14,
	SCRIPT_DATA_SRC = 1u << 15,
	SCRIPT_WEIGHT = 1u << 16,
	SCRIPT_INS_LAT = 1u << 17,
	SCRIPT_RETIRE_LAT = 1u << 18,
	SCRIPT_CGROUP = 1u << 19,
	SCRIPT_IREGS = 1u << 20,
	SCRIPT_UREGS = 1u << 21,
	SCRIPT_BRSTACK = 1u << 22,
	SCRIPT_PHYS_ADDR = 1u << 23,
	SCRIPT_DATA_PAGE = 1u << 24,
	SCRIPT_CODE_PAGE = 1u << 25,
	SCRIPT_SRCLINE = 1u << 26,
	SCRIPT_LABEL = 1u << 27, /* seam's own: for whom the thread worked */
};
/* The fields without -F. As in perf, only tracepoints have the trace, and they leave out the
 * period, and the place if there is no stack. */
#define SCRIPT_DEFAULT                                                                        \
	(SCRIPT_COMM | SCRIPT_TID | SCRIPT_CPU | SCRIPT_TIME | SCRIPT_PERIOD | SCRIPT_EVENT | \
	 SCRIPT_IP | SCRIPT_SYM | SCRIPT_SYMOFF | SCRIPT_DSO | SCRIPT_TRACE)

/* Those of samples that are indexed (samples/sample_index.h); the trace of those that have none. */
#define SCRIPT_INDEXED                                                                        \
	(SCRIPT_COMM | SCRIPT_PID | SCRIPT_TID | SCRIPT_CPU | SCRIPT_MISC | SCRIPT_TIME |     \
	 SCRIPT_PERIOD | SCRIPT_EVENT | SCRIPT_IP | SCRIPT_SYM | SCRIPT_SYMOFF | SCRIPT_DSO | \
	 SCRIPT_SRCLINE | SCRIPT_STATE | SCRIPT_TRACE | SCRIPT_LABEL)

/* "comm,tid,ip" or "+state,-dso" on top of *fields. 0, or -EINVAL with the name that is not known
 * in *bad (n bytes). */
int script_fields(const char *text, unsigned *fields, const char **bad, int *n);
/* The names, separated by commas, for messages. */
const char *script_field_names(void);

struct script_text;

struct script_text_opts {
	unsigned fields;
	bool fields_given;
	bool ns;            /* nanoseconds in times */
	bool unmerged;      /* samples as recorded, with the cookie where perf prints it */
	bool native;        /* lines for calls of interpreters' loops */
	bool no_inline;     /* no lines for inlined calls */
	bool hide_chain;    /* only where each sample hit */
	unsigned max_stack; /* 0: all */
	const struct symbol_opts *symbols;
};

/* One thread each. with: another one of the same recording, whose symbols are used and which
 * outlives it; or NULL. */
int script_text_new(struct script_text **ret, struct recording *rec,
                    const struct script_text_opts *opts, const struct script_text *with);
void script_text_free(struct script_text *t);
/* Between items: forgets lines when they are many. */
void script_text_bound(struct script_text *t);
/* To be called for each record of a stream that is no sample. -ENOMEM. */
int script_text_learn(struct script_text *t, const struct seam_record *record);
/* Adds what another one has counted to this one's counts. */
void script_text_join(struct script_text *t, const struct script_text *other);
/* Samples of tracepoints that could not be shown as text, with the first of them. */
struct script_textless {
	uint64_t samples;
	const char *event, *reason; /* live as long as the printer */
};
/* To be called after the last item. */
struct script_textless script_text_textless(const struct script_text *t);
/* Appends a sample. -ENOMEM. */
int script_text_sample(struct script_text *t, const struct sample *sample, struct buf *out);
/* The same of another record. */
int script_text_record(struct script_text *t, const struct seam_decoded *decoded, struct buf *out);

#endif
