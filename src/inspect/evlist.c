// SPDX-License-Identifier: MIT
// evlist.c: `seam evlist`: the events of a recording and how they were opened, in perf's spelling.
#include <string.h>

#include "base/buf.h"
#include "base/cursor.h"
#include "base/shown.h"
#include "cli/cmds.h"
#include "input/source.h"
#include "perfdata/event_name.h"
#include "perfdata/feature.h"

enum {
	EVLIST_VERBOSE = 1,
	EVLIST_FREQ,
	EVLIST_GROUP
};

struct evlist {
	struct source source;
	bool verbose, freq, group;
};

static void evlist_event(const struct evlist *l, const struct seam_event *e, struct buf *out)
{
	const char *term = e->attr.flags & SEAM_ATTR_FREQ ? "sample_freq" : "sample_period";

	shown_put_text(out, e->name);
	if (l->verbose) {
		buf_put_text(out, ": ");
		event_attr_text(&e->attr, ": ", out);
	} else if (l->freq) {
		shown_printf(out, ": %s=%llu", term, (unsigned long long)e->attr.sample_period);
	}
}

/* The number of events, from this one on, that GROUP_DESC puts into one group; 1: none. */
static uint32_t evlist_members(const struct evlist *l, size_t index)
{
	struct seam_reader_info info = { .sz = sizeof(info) };
	struct seam_bytes bytes;
	struct cursor c;

	if (!l->group || !seam_reader_feature(l->source.reader, SEAM_FEATURE_GROUP_DESC, &bytes))
		return 1;
	seam_reader_info(l->source.reader, &info);
	c = cursor_of(bytes.bytes, bytes.n, info.swapped);
	for (uint32_t n = cursor_u32(&c); n && !c.failed; n--) {
		uint32_t leader, members;

		feature_string(&c);
		leader = cursor_u32(&c);
		members = cursor_u32(&c);
		if (!c.failed && leader == index && members)
			return members;
	}
	return 1;
}

static void evlist_text(const struct evlist *l, struct buf *out)
{
	const struct seam_events *events = seam_reader_events(l->source.reader);
	size_t n = seam_events_count(events);

	for (size_t i = 0; i < n;) {
		size_t members = evlist_members(l, i), end = members < n - i ? i + members : n;
		bool braces = end - i > 1;

		buf_put_text(out, braces ? "{" : "");
		for (size_t first = i; i < end; i++) {
			buf_put_text(out, i > first ? "," : "");
			evlist_event(l, seam_events_at(events, i), out);
		}
		buf_put_text(out, braces ? "}\n" : "\n");
	}
}

/* A file names its events at the beginning; a stream, and a file that was not finished, among the
 * records. */
static int evlist_learn(struct evlist *l)
{
	struct seam_reader_info info = { .sz = sizeof(info) };
	struct seam_record record;
	int rc;

	seam_reader_info(l->source.reader, &info);
	if (!info.is_pipe && !info.unfinished && info.file_size)
		return 0;
	while ((rc = source_next(&l->source, &record)) > 0)
		;
	return rc;
}

static int evlist_print(struct evlist *l)
{
	struct buf out = { 0 };
	int code = source_open(&l->source), verdict;

	if (code != EXIT_OK)
		return code;
	if (evlist_learn(l) < 0) {
		source_close(&l->source);
		return EXIT_FAILED;
	}
	evlist_text(l, &out);
	code = source_print(&l->source, &out);
	verdict = source_verdict(&l->source);
	buf_free(&out);
	source_close(&l->source);
	return code == EXIT_OK ? verdict : code;
}

/* The command: reads its options, prints the events, and frees everything at one place. An exit
 * code. */
static int evlist_run(int argc, char **argv, const struct cmd *self)
{
	struct options o = options_start(argc, argv, self);
	struct evlist l = { .source.cmd = self };
	int id, code;

	while ((id = options_next(&o)) != OPTIONS_END) {
		switch (id) {
		case EVLIST_VERBOSE:
			l.verbose = true;
			break;
		case EVLIST_FREQ:
			l.freq = true;
			break;
		case EVLIST_GROUP:
			l.group = true;
			break;
		case OPTIONS_HELP:
			return EXIT_OK;
		default:
			code = source_option(&l.source, id, o.arg);
			if (code != EXIT_OK)
				return EXIT_USAGE;
		}
	}
	return evlist_print(&l);
}

static const struct option_def evlist_options[] = {
	SOURCE_OPTIONS,
	{ "verbose", 'v', NULL, "all fields that are not zero", EVLIST_VERBOSE },
	{ "freq", 'F', NULL, "the sampling frequency or period", EVLIST_FREQ },
	{ "group", 'g', NULL, "groups in braces", EVLIST_GROUP },
	{ 0 },
};

const struct cmd cmd_evlist = {
	.name = "evlist",
	.synopsis = "[options] [FILE]",
	.summary = "List the events of a recording",
	.options = evlist_options,
	.run = evlist_run,
};
