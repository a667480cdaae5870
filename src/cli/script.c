// SPDX-License-Identifier: MIT
// script.c: `seam script`: every sample as text, in order of time, its stack whole.
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cmds.h"
#include "input/infile.h"
#include "input/naming.h"
#include "input/sample_filter.h"
#include "script/script_text.h"
#include "samples/stream_items.h"

#define WRITE_AT (256u << 10) /* bytes of a stream's text */

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
	OPTIONS_FORCE,
	{ "fields", 'F', "LIST",
	  "what to print: comm,pid,tid,cpu,misc,time,period,event,trace,addr,data_src,weight,"
	  "ins_lat,retire_lat,cgroup,ip,sym,symoff,dso,srcline,iregs,uregs,brstack,phys_addr,"
	  "data_page_size,code_page_size,state,label; or +x,-y",
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
	{ "unwind-style", 0, "LIST", "accepted: there is one unwinder, seam's own",
	  OPTIONS_ACCEPTED },
	SAMPLE_FILTER_OPTIONS,
	{ NULL, 'c', "LIST", "as --comms", ID_FILTER_COMMS },
	NAMING_OPTIONS,
	{ 0 },
};

/* One command line, and the threads that print. */
struct script {
	const struct cmd *cmd;
	struct infile in;
	struct script_text_opts text;
	struct samples_opts samples;
	struct naming naming;
	struct sample_filter filter;
	struct recording *rec;
	bool once; /* a stream: in one pass, while it is read */
	/* A thread's printer. The first one's symbols are shared by the others. */
	struct script_thread {
		struct script *script;
		struct script_text *printer;
	} threads[SAMPLES_THREADS_MAX];
	unsigned n_threads;
	struct buf out; /* a stream's text */
};

/* -EINVAL after saying which word is no field. */
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

/* Takes one option of the command line. 0, or -EINVAL after saying what is wrong with its value. */
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
		s->text.unmerged = id == OPT_NO_MERGE;
		return 0;
	case OPT_MMAPS:
		s->samples.beside |= SAMPLES_BESIDE_MMAPS;
		return 0;
	case OPT_TASKS:
		s->samples.beside |= SAMPLES_BESIDE_TASKS;
		return 0;
	case OPT_LOST:
		s->samples.beside |= SAMPLES_BESIDE_LOSSES;
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
		if (sample_filter_is_option(id))
			return sample_filter_option(&s->filter, o, id);
		return naming_option(&s->naming, o, id);
	}
}

/* Whether a record beside samples is wanted. As in perf, such records are not picked by time and
 * event; but deferred records, which are parts of samples, are picked by time. */
static bool script_wants(const struct script *s, const struct seam_decoded *d)
{
	const char *comm;

	if (!sample_filter_any(&s->filter))
		return true;
	comm = proc_comm(s->rec->procs, d->id.pid, d->id.tid, proc_time(d));
	if (d->record->type == SEAM_RECORD_CALLCHAIN_DEFERRED)
		return samples_filter_takes(&s->samples.filter, d->event, &d->id, comm);
	return id_filter_id(&s->filter.take, &d->id, comm);
}

/* For samples_each: a thread begins. They begin one after the other. -errno. */
static int script_start(void *ctx, void **ret)
{
	struct script *s = ctx;
	struct script_thread *t = &s->threads[s->n_threads];

	t->script = s;
	*ret = t;
	s->n_threads++;
	return script_text_new(&t->printer, s->rec, &s->text,
	                       t == s->threads ? NULL : s->threads[0].printer);
}

/* For samples_each. script_text_bound keeps what the printer remembers from growing without end. */
static int script_sample(void *thread, const struct sample *sample, struct buf *out)
{
	const struct script_thread *t = thread;

	script_text_bound(t->printer);
	return script_text_sample(t->printer, sample, out);
}

/* For samples_each: a record beside samples. */
static int script_beside(void *thread, const struct seam_decoded *decoded, struct buf *out)
{
	const struct script_thread *t = thread;

	script_text_bound(t->printer);
	return script_wants(t->script, decoded) ? script_text_record(t->printer, decoded, out) : 0;
}

/* For samples_each: text in its order. -errno. */
static int script_write(void *ctx, const struct buf *out)
{
	if (fwrite(out->bytes, 1, out->n, stdout) != out->n)
		return -(errno ? errno : EIO);
	return 0;
}

/* Says which samples have no text. An exit code: it is EXIT_PARTIAL only where -F asked for that
 * text. */
static int script_verdict(struct script *s)
{
	struct script_text *first = s->threads[0].printer;
	struct script_textless textless;

	if (!s->n_threads) /* an empty stream */
		return EXIT_OK;
	for (unsigned i = 1; i < s->n_threads; i++)
		script_text_join(first, s->threads[i].printer);
	textless = script_text_textless(first);
	if (textless.samples)
		cmd_error(s->cmd, "%llu samples of tracepoints have no text; the first, of %s: %s",
		          (unsigned long long)textless.samples, textless.event, textless.reason);
	return textless.samples && s->text.fields_given ? EXIT_PARTIAL : EXIT_OK;
}

/* ---- a stream, in one pass ---- */

/* For stream_items: what the recording says of itself is known. */
static int script_stream_start(void *ctx, struct recording *rec)
{
	struct script *s = ctx;
	void *thread;
	int r;

	s->rec = rec;
	r = sample_filter_prepare(&s->filter, s->cmd, rec);
	return r < 0 ? r : script_start(s, &thread);
}

/* For stream_items: formats of tracepoints are among the records. */
static int script_stream_learn(void *ctx, const struct seam_record *record)
{
	const struct script *s = ctx;

	return script_text_learn(s->threads[0].printer, record);
}

/* -errno. */
static int script_stream_flush(struct script *s)
{
	int r = s->out.n ? script_write(s, &s->out) : 0;

	buf_clear(&s->out);
	return r;
}

/* For stream_items. The text is written in large pieces. */
static int script_stream_sample(void *ctx, const struct sample *sample)
{
	struct script *s = ctx;
	int r;

	r = script_sample(&s->threads[0], sample, &s->out);
	return r >= 0 && s->out.n >= WRITE_AT ? script_stream_flush(s) : r;
}

/* At the end of a round the text is written out, so that its reader sees what is known so far. */
static int script_stream_round(void *ctx)
{
	int r = script_stream_flush(ctx);

	return r >= 0 && fflush(stdout) ? -errno : r;
}

/* Whether one pass is enough: parts of a recording, and its events, are known only at its end. */
static bool script_in_one_pass(const struct script *s)
{
	return !s->samples.beside && !s->text.unmerged && !s->filter.events &&
	       !s->filter.time.percent;
}

/* Says if the order could not be kept. */
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

/* Prints a stream as it comes. -EINVAL without a text in err: it was said. */
static int script_stream(struct script *s, struct seam_error *err)
{
	const struct stream_handler handler = { .start = script_stream_start,
		                                .learn = script_stream_learn,
		                                .each = script_stream_sample,
		                                .round = script_stream_round,
		                                .ctx = s };
	struct stream_counts counts;
	int r = stream_items(&s->rec, s->in.reader, &s->samples, &handler, &counts, err);

	script_say_order(s, &counts);
	return r;
}

/* ---- a file, in two ---- */

/* Whether any field is decoded from the samples' records. */
static bool script_needs_records(const struct script *s, const struct seam_events *events)
{
	bool traces = false;

	for (size_t i = 0; i < seam_events_count(events); i++)
		traces = traces || seam_events_at(events, i)->attr.type == SEAM_TYPE_TRACEPOINT;
	return s->text.unmerged || s->text.fields & ~(unsigned)SCRIPT_INDEXED ||
	       (traces && s->text.fields & SCRIPT_TRACE);
}

/* Prints a recording that is read twice. Threads share the work, unless shares of a group's members
 * must be counted in order. -EINVAL without a text in err: it was said. */
static int script_file(struct script *s, struct seam_error *err)
{
	const struct samples_consumer consumer = { .start = script_start,
		                                   .sample = script_sample,
		                                   .beside = script_beside,
		                                   .write = script_write,
		                                   .ctx = s };
	const bool records =
	        s->samples.beside || script_needs_records(s, seam_reader_events(s->in.reader));
	int r = recording_open(&s->rec, s->in.reader,
	                       &(struct recording_opts){ .sz = sizeof(struct recording_opts),
	                                                 .symbols = &s->naming.symbols,
	                                                 .names = s->text.fields & SCRIPT_SYM,
	                                                 .no_bytes = !records },
	                       err);

	if (r >= 0)
		r = sample_filter_prepare(&s->filter, s->cmd, s->rec);
	if (r < 0)
		return r;
	s->samples.filter = sample_filter_samples(&s->filter);
	if (s->text.unmerged)
		s->samples.beside |= SAMPLES_BESIDE_DEFERRED;
	if (script_needs_records(s, s->rec->events))
		s->samples.needs |= SAMPLES_RECORD;
	return samples_each(s->rec, &s->samples, &consumer, err);
}

/* Prints everything, in one pass or in two, and says what could not be printed whole. An exit
 * code. */
static int script_print(struct script *s)
{
	struct seam_error err = { 0 };
	int r = s->once ? script_stream(s, &err) : script_file(s, &err);

	if (r >= 0 && fflush(stdout))
		r = -errno;
	if (r == -EINVAL && !err.code) /* said */
		return EXIT_USAGE;
	if (r == -EPIPE)
		return EXIT_FAILED; /* the reader of our text has had enough */
	if (r < 0) {
		cmd_error(s->cmd, "%s%s", ferror(stdout) ? "standard output: " : "",
		          ferror(stdout) ? strerror(-r) : cmd_reason(&err, r));
		return EXIT_FAILED;
	}
	r = infile_verdict(&s->in, s->cmd, s->rec);
	return script_verdict(s) == EXIT_OK ? r : EXIT_PARTIAL;
}

/* The command: reads its options, does the work, and frees everything at one place. An exit
 * code. */
static int script_run(int argc, char **argv, const struct cmd *cmd)
{
	struct script s = { .cmd = cmd,
		            .text = { .fields = SCRIPT_DEFAULT },
		            .samples = { .sz = sizeof(s.samples),
		                         .order = SAMPLES_BY_TIME,
		                         .needs = SAMPLES_CALLS | SAMPLES_COPIES |
		                                  SAMPLES_MEMBERS } };
	struct options o = options_start(argc, argv, cmd);
	int id, r = EXIT_USAGE;

	if (naming_start(&s.naming, cmd) < 0)
		goto out;
	while ((id = options_next(&o)) != OPTIONS_END) {
		if (id == OPTIONS_HELP)
			r = EXIT_OK;
		if (id == OPTIONS_HELP || id == OPTIONS_USAGE || script_option(&s, &o, id) < 0)
			goto out;
	}
	s.text.symbols = &s.naming.symbols;
	s.samples.tables = naming_tables(&s.naming);
	s.samples.filter = sample_filter_samples(&s.filter);
	s.text.no_inline = s.naming.no_inline;
	s.text.native = s.naming.native;
	s.once = script_in_one_pass(&s) && infile_open_once(&s.in);
	r = s.once ? EXIT_OK : infile_open(&s.in, cmd);
	if (r == EXIT_OK)
		r = script_print(&s);
out:
	while (s.n_threads) /* the first one's symbols are the others', too */
		script_text_free(s.threads[--s.n_threads].printer);
	recording_close(s.rec);
	infile_close(&s.in);
	sample_filter_free(&s.filter);
	buf_free(&s.out);
	naming_end(&s.naming);
	return r;
}

COMMAND(script) = {
	.name = "script",
	.synopsis = "[options] [FILE]",
	.summary = "Print every sample with its stack, in order of time",
	.details = CMD_PARAGRAPHS(
	        "The text is that of perf script, for stackcollapse-perf.pl, the Firefox "
	        "Profiler and your own scripts. User halves that came in a deferred record "
	        "stand where they belong; a sample that was never answered shows only its "
	        "kernel half, and -F +state says why, and how each walk ended. A frame with ? "
	        "before its name was guessed, by frame pointer or by the rule in front of it.",
	        "Unlike perf script, a callchain ends in front of a word that lies in no "
	        "executable memory of its process, where its mappings are known: frame pointers "
	        "led into data. --no-merge-callchains shows callchains as they were recorded."),
	.options = script_options,
	.run = script_run,
};
