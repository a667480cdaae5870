// SPDX-License-Identifier: MIT
// script.c: `seam script`: every sample as text, in order of time, its stack whole.
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "abi/members.h"
#include "cli/infile.h"
#include "cli/naming.h"
#include "cli/script_text.h"
#include "cli/take.h"
#include "pipeline/stream_items.h"

#define WRITE_AT (256u << 10)

enum {
	OPT_INPUT = 1,
	OPT_FIELDS,
	OPT_NO_MERGE,
	OPT_MERGE,
	OPT_MMAPS,
	OPT_TASKS,
	OPT_LOST,
	OPT_NS,
	OPT_MAX_STACK,
	OPT_NO_CALLCHAIN,
};

static const struct option_def script_options[] = {
	INFILE_OPTION(OPT_INPUT),
	{ "fields", 'F', "LIST",
	  "what to print: comm,pid,tid,cpu,misc,time,period,event,trace,addr,data_src,weight,"
	  "ins_lat,retire_lat,cgroup,ip,sym,symoff,dso,srcline,iregs,uregs,brstack,phys_addr,"
	  "data_page_size,code_page_size,state; or +x,-y",
	  OPT_FIELDS },
	{ "no-merge-callchains", 0, NULL, "samples and deferred records as they were recorded",
	  OPT_NO_MERGE },
	{ "merge-callchains", 0, NULL, "stitched samples (the default)", OPT_MERGE },
	{ "show-mmap-events", 0, NULL, "print MMAP and MMAP2 records, too", OPT_MMAPS },
	{ "show-task-events", 0, NULL, "print COMM, FORK and EXIT records, too", OPT_TASKS },
	{ "show-lost-events", 0, NULL, "print LOST records, too", OPT_LOST },
	{ "ns", 0, NULL, "times in nanoseconds", OPT_NS },
	{ "max-stack", 0, "N", "at most the N innermost frames of a stack", OPT_MAX_STACK },
	{ "hide-call-graph", 'G', NULL, "only where each sample hit, on its line",
	  OPT_NO_CALLCHAIN },
	TAKE_OPTIONS,
	NAMING_OPTIONS,
	{ 0 },
};

struct script {
	const struct cmd *cmd;
	struct infile in;
	struct script_text_opts text;
	struct ordered_opts order;
	struct naming naming;
	struct take take;
	struct script_text *printer;
	struct recording *rec;
	bool once; /* a stream: in one pass, while it is read */
	struct members members;
	struct buf out;
};

static int script_fields_option(struct script *s, const struct options *o)
{
	const char *bad;
	int n;

	if (script_fields(o->arg, &s->text.fields, &bad, &n) < 0) {
		cmd_error(s->cmd, "-F: '%.*s' is not a field; there are %s", n, bad,
		          script_field_names());
		return -EINVAL;
	}
	s->text.fields_given = true;
	return 0;
}

static int script_option(struct script *s, const struct options *o, int id)
{
	unsigned long long v;

	switch (id) {
	case OPTIONS_OPERAND:
	case OPT_INPUT:
		return infile_set(&s->in, s->cmd, o->arg);
	case OPT_FIELDS:
		return script_fields_option(s, o);
	case OPT_NO_MERGE:
	case OPT_MERGE:
		s->order.answers = s->text.unmerged = id == OPT_NO_MERGE;
		return 0;
	case OPT_MMAPS:
		s->order.mmaps = true;
		return 0;
	case OPT_TASKS:
		s->order.tasks = true;
		return 0;
	case OPT_LOST:
		s->order.losses = true;
		return 0;
	case OPT_NS:
		s->text.ns = true;
		return 0;
	case OPT_NO_CALLCHAIN:
		s->text.hide_chain = true;
		return 0;
	case OPT_MAX_STACK:
		if (options_u64(o, "--max-stack", 1, UINT32_MAX, &v) < 0)
			return -EINVAL;
		s->text.max_stack = (unsigned)v;
		return 0;
	default:
		if (take_is_option(id))
			return take_option(&s->take, o, id);
		return naming_option(&s->naming, o, id);
	}
}

static int script_flush(struct script *s)
{
	size_t n = s->out.n;

	s->out.n = 0;
	if (n && fwrite(s->out.bytes, 1, n, stdout) != n)
		return -(errno ? errno : EIO);
	return 0;
}

/* One text for each member of the sample's group that has a share in it, as perf does. The counters are
 * followed also where the sample is not wanted. */
static int script_members(struct script *s, const struct ordered_item *item, bool wanted)
{
	struct ordered_item one = *item;
	struct member member;
	uint64_t i = 0;
	int r;

	while ((r = members_next(&s->members, s->rec->events, &item->decoded.sample, &i, &member)) >
	       0) {
		if (!wanted)
			continue;
		one.sample.sample.event = member.event;
		one.sample.sample.id.id = member.id;
		one.sample.sample.period = member.period;
		r = script_text_put(s->printer, &one, &s->out);
		if (r < 0)
			break;
	}
	return r;
}

static int script_item(void *ctx, const struct ordered_item *item)
{
	const struct seam_id *id = &item->decoded.id;
	struct script *s = ctx;
	bool wanted = !take_any(&s->take) || take_id(&s->take, id,
	                                             proc_comm(s->rec->procs, id->pid, id->tid,
	                                                       proc_time(&item->decoded)));
	int r = 0;

	if (s->once)
		script_text_bound(s->printer);
	if (item->record.type == SEAM_RECORD_SAMPLE && members_of(&item->decoded.sample))
		r = script_members(s, item, wanted);
	else if (wanted)
		r = script_text_put(s->printer, item, &s->out);
	if (r >= 0 && s->out.n >= WRITE_AT)
		r = script_flush(s);
	return r;
}

static int script_start(void *ctx, struct recording *rec)
{
	struct script *s = ctx;

	s->rec = rec;
	return script_text_new(&s->printer, rec, &s->text);
}

static int script_learn(void *ctx, const struct seam_record *record)
{
	const struct script *s = ctx;

	return script_text_learn(s->printer, record);
}

/* A stream's reader sees what is known as soon as it is. */
static int script_round(void *ctx)
{
	int r = script_flush(ctx);

	return r >= 0 && fflush(stdout) ? -errno : r;
}

/* Records that are shown between samples are ordered with them by two passes. */
static bool script_in_one_pass(const struct script *s)
{
	return !s->order.answers && !s->order.mmaps && !s->order.tasks && !s->order.losses;
}

static void script_say_order(const struct script *s, const struct stream_counts *c)
{
	if (c->late)
		cmd_error(s->cmd,
		          "%s: %" PRIu64
		          " records came later than their round and stand out of order",
		          s->in.path, c->late);
	if (c->forced)
		cmd_error(s->cmd,
		          "%s: %" PRIu64 " records were let go before their order was sure: no end "
		          "of a round came within 256 MiB",
		          s->in.path, c->forced);
}

static int script_each(struct script *s, struct seam_error *err)
{
	const struct stream_handler handler = { .start = script_start,
		                                .learn = script_learn,
		                                .each = script_item,
		                                .round = script_round,
		                                .ctx = s };
	struct stream_counts counts;
	int r;

	if (s->once) {
		r = stream_items(&s->rec, s->in.reader, &s->order, &handler, &counts, err);
		script_say_order(s, &counts);
		return r;
	}
	r = recording_open(&s->rec, s->in.reader,
	                   &(struct recording_opts){ .sz = sizeof(struct recording_opts) }, err);
	if (r >= 0)
		r = script_text_new(&s->printer, s->rec, &s->text);
	return r < 0 ? r : ordered_each(s->rec, &s->order, script_item, s, err);
}

static int script_print(struct script *s)
{
	struct seam_error err = { 0 };
	int r;

	r = script_each(s, &err);
	if (r >= 0)
		r = script_flush(s);
	if (r >= 0 && fflush(stdout))
		r = -errno;
	if (r == -EPIPE)
		return EXIT_FAILED; /* the reader of our text has had enough */
	if (r < 0) {
		cmd_error(s->cmd, "%s", err.code ? err.text : strerror(-r));
		return EXIT_FAILED;
	}
	r = infile_verdict(&s->in, s->cmd, s->rec);
	if (!s->printer) /* an empty stream */
		return r;
	return script_text_verdict(s->printer, s->cmd) == EXIT_OK ? r : EXIT_PARTIAL;
}

static int script_run(int argc, char **argv, const struct cmd *cmd)
{
	struct script s = { .cmd = cmd,
		            .text = { .fields = SCRIPT_DEFAULT },
		            .order = { .sz = sizeof(s.order) } };
	struct options o = options_start(argc, argv, cmd);
	int id, r = EXIT_USAGE;

	naming_start(&s.naming);
	while ((id = options_next(&o)) != OPTIONS_END) {
		if (id == OPTIONS_HELP)
			r = EXIT_OK;
		if (id == OPTIONS_HELP || id == OPTIONS_USAGE || script_option(&s, &o, id) < 0)
			goto out;
	}
	s.text.symbols = &s.naming.symbols;
	s.text.no_inline = s.naming.no_inline;
	s.once = script_in_one_pass(&s) && infile_open_once(&s.in);
	r = s.once ? EXIT_OK : infile_open(&s.in, cmd);
	if (r == EXIT_OK)
		r = script_print(&s);
out:
	script_text_free(s.printer);
	recording_close(s.rec);
	infile_close(&s.in);
	take_free(&s.take);
	members_free(&s.members);
	buf_free(&s.out);
	return r;
}

const struct cmd cmd_script = {
	.name = "script",
	.synopsis = "[options] [FILE]",
	.summary = "Print every sample with its stack, in order of time",
	.details = "The text is that of perf script, for stackcollapse-perf.pl, the Firefox "
	           "Profiler and "
	           "your own scripts. User halves that came in a deferred record stand where they "
	           "belong; "
	           "a sample that was never answered shows only its kernel half, and -F +state "
	           "says why, and how the walk over a stack copy ended. A frame with ? before its "
	           "name "
	           "was guessed by frame pointer.",
	.options = script_options,
	.run = script_run,
};
