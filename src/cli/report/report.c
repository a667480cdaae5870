// SPDX-License-Identifier: MIT
// report.c: `seam report`: where the time went, and what became of every sample's stack.
#include "cli/report/report_options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cmds.h"
#include "cli/header.h"
#include "cli/schema.h"
#include "cmd/outfile.h"
#include "cmd/pager.h"
#include "fleet/quality.h"

/* Composes the whole report. -ENOMEM. */
static int report_write(struct report_cmd *r, struct buf *out)
{
	int rc;

	/* -w says how wide columns are; what parts fields is for programs. */
	if (r->form == REPORT_TEXT && !r->show.n_widths && !r->show.separator)
		r->show.columns = pager_columns();
	if (r->form == REPORT_JSON)
		rc = report_json(&r->show, out);
	else if (r->form == REPORT_CSV)
		rc = report_csv(&r->show, out);
	else
		rc = r->stats ? report_stats(&r->show, out) : report_text(&r->show, out);
	if (rc >= 0 && out->failed)
		rc = -ENOMEM;
	return rc;
}

/* Writes what the recording says about itself, in front of the report. The reader is behind its
 * last record then. *ret: EXIT_OK, or EXIT_PARTIAL. */
static int report_header(const struct report_cmd *r, struct buf *out, int *ret)
{
	const struct source s = { .cmd = r->cmd,
		                  .path = r->in.path ? r->in.path : "perf.data",
		                  .reader = r->in.reader };
	int rc = r->header ? seam_reader_rewind(s.reader) : 0;

	if (r->header && rc >= 0)
		*ret = header_of(&s, r->full, out);
	return rc;
}

/* Composes the whole text and prints it. loaded: what report_load returned, and err. An exit
 * code. */
static int report_print(struct report_cmd *r, int loaded, struct seam_error *err)
{
	struct buf out = { 0 };
	int rc = loaded, header = EXIT_OK, verdict;

	if (rc == -EINVAL && !err->code) /* said */
		return EXIT_USAGE;
	if (rc >= 0)
		rc = report_header(r, &out, &header);
	/* The header was read up to the end of the input, so tasks begin anew. */
	if (rc >= 0 && r->header && r->tasks)
		rc = seam_reader_rewind(r->in.reader);
	if (rc >= 0)
		rc = r->tasks ? report_tasks(r->in.reader, !r->show.quiet, &out, err)
		              : report_write(r, &out);
	if (rc < 0)
		cmd_error(r->cmd, "%s", cmd_reason(err, rc));
	else if (outfile_print(r->cmd, &out) != EXIT_OK)
		rc = -EIO;
	buf_free(&out);
	if (rc < 0)
		return EXIT_FAILED;
	verdict = infile_verdict(&r->in, r->cmd, r->show.rec);
	return verdict == EXIT_OK ? header : verdict;
}

/* Reads all, and prints it, or shows it while it is read. An exit code. */
static int report_show(struct report_cmd *r)
{
	struct profiled_opts opts = report_load_opts(r);
	struct seam_error err = { 0 };
	int loaded, rc;

	if (report_view_fits(r)) {
		rc = report_view_read(r, &loaded, &err);
		return rc == REPORT_PRINTS ? report_print(r, loaded, &err) : rc;
	}
	rc = infile_open(&r->in, r->cmd);
	if (rc != EXIT_OK)
		return rc;
	loaded = r->tasks ? 0 : report_load(r, &opts, &err);
	return report_print(r, loaded, &err);
}

/* Says why. */
static int report_fail(const struct report_cmd *r, int error)
{
	cmd_error(r->cmd, "%s", strerror(-error));
	return EXIT_FAILED;
}

/* Prints what was loaded of a store. An exit code. */
static int report_print_stored(struct report_cmd *r)
{
	struct buf out = { 0 };
	int rc = report_write(r, &out);

	if (rc >= 0 && r->form == REPORT_TEXT && !r->show.quiet)
		quality_text(&r->answer.found, &out);
	rc = rc < 0 ? report_fail(r, rc) : outfile_print(r->cmd, &out);
	buf_free(&out);
	return rc;
}

/* The same of a store. An exit code. */
static int report_show_stored(struct report_cmd *r)
{
	struct seam_error err = { 0 };
	int loaded, rc;

	if (report_view_fits(r)) {
		rc = report_view_read(r, &loaded, &err);
		return rc == REPORT_PRINTS ? report_print_stored(r) : rc;
	}
	rc = report_load_stored(r);
	return rc == EXIT_OK ? report_print_stored(r) : rc;
}

/* Prints what seam dump prints of the same recording. The options other than these would mean
 * something else there. */
static int report_dump(const struct report_cmd *r)
{
	char *argv[] = { (char *)"dump", (char *)"--input",
		         (char *)(r->in.path ? r->in.path : "perf.data"), (char *)"--header",
		         NULL };

	return cmd_dump.run(r->header ? 4 : 3, argv, &cmd_dump);
}

/* Makes the report, or what was asked for in its place, when the options are known. */
static int report_do(struct report_cmd *r)
{
	struct source source = { .cmd = r->cmd, .path = r->in.path };

	if (r->schema)
		return schema_print(r->cmd);
	if (stored_asked(&r->stored))
		return report_show_stored(r);
	if (r->header_only)
		return header_print(&source, r->full);
	if (r->dump)
		return report_dump(r);
	return report_show(r);
}

/* The command: reads the config file, then its options, does the work, and frees everything at one
 * place. An exit code. */
static int report_run(int argc, char **argv, const struct cmd *cmd)
{
	struct report_cmd r = {
		.cmd = cmd,
		.show.percent_limit = 0.5,
		.slice_ns = 100000000,
		.stored.also_by = true,
	};
	struct options o = options_start(argc, argv, cmd);
	int id, rc = EXIT_USAGE;

	if (naming_start(&r.naming, cmd) < 0 || report_config(&r) < 0)
		goto out;
	r.show.color = r.naming.color;
	while ((id = options_next(&o)) != OPTIONS_END) {
		if (id == OPTIONS_HELP)
			rc = EXIT_OK;
		if (id == OPTIONS_HELP || id == OPTIONS_USAGE || report_option(&r, &o, id) < 0)
			goto out;
	}
	if (report_options_by(&r) >= 0 && report_options_fields(&r.show, cmd) >= 0 &&
	    report_options_end(&r) >= 0)
		rc = report_do(&r);
out:
	free(r.show.shown);
	free(r.show.parents);
	load_free(&r.show.load);
	answer_free(&r.answer);
	flat_free(&r.flat);
	stored_free(&r.stored);
	buf_free(&r.sort_list);
	recording_close(r.show.rec);
	infile_close(&r.in);
	sample_filter_free(&r.filter);
	naming_end(&r.naming);
	return rc;
}

COMMAND(report) = {
	.name = "report",
	.synopsis = "[options] [FILE]",
	.summary = "Show where the time went, and what became of every stack",
	.details = CMD_PARAGRAPHS(
	        "A table of functions (children: in it or in what it called; self: in it "
	        "alone), a call tree, and an account of every sample's stack. Percentages are "
	        "of the event's count, not of the number of samples; of the samples that the "
	        "filters let through.",
	        "Rows are told apart by the sort keys (-s) and shown in their order. Keys that "
	        "stand before 'overhead' in -s also order the rows: -s time,overhead,sym lists "
	        "each slice of time by itself. On a terminal the section of time has longer "
	        "slices than 100 ms where a long recording needs them, unless --time-quantum "
	        "says how long. --dsos and --symbols choose rows, not samples: "
	        "the percentages stay those of the whole; with --symbols the call tree shows "
	        "what these functions called, or, with -g callee, who called them. 'parent' is "
	        "the innermost function of the stack that -p matches, by default the system "
	        "call or page fault. --group needs a recording of several events and shows "
	        "their shares side by side, in the order of 'seam evlist'.",
	        "A stack that filled the room for its frames hangs below '[unfinished: cut at N "
	        "frames]': 127 or --call-graph fp,DEPTH in the kernel's callchains, 510 where "
	        "it was deferred or walked by BPF, 1024 out of a stack copy. With another "
	        "kernel.perf_event_max_stack than 127, and no DEPTH, a cut cannot be told. So "
	        "does a kernel half whose user half never came, with its reason: '[unfinished: "
	        "still in the kernel at the end]'; and a stack whose walk by unwind tables "
	        "ended early: '[unfinished: the stack copy ended]'.",
	        "--hierarchy shows a row for each value of the first sort key, below it one for "
	        "each of the second, and so on; all keys but the row's own are those of the "
	        "rows above it. Unlike perf's, it counts callees too, unless --no-children is "
	        "given. -t and -q are for programs and for grep: the rows, each on its line "
	        "(with -t behind comments that begin with #), and the call tree only with -g. "
	        "--symbol-filter chooses rows as --symbols does, by a part of the name. --tasks "
	        "reads COMM and FORK records, no samples: pid, tid, the parent's pid (-1: no "
	        "record says it) and the last name. Of the options, -D heeds --input, --header "
	        "and -I alone.",
	        "A function without a name is told apart by where it begins, where the object's "
	        "unwind information (.eh_frame) says that: [unknown libfoo.so+0x12340]. The "
	        "number is its address as objdump and addr2line count, the same in every run of "
	        "a build; seam annotate takes it. Parts that the compiler put aside (.cold) "
	        "count as functions. What no function's range holds is [unknown]; -S "
	        "'[unknown]' means both. Neither is a name: the account counts them by object, "
	        "with the file or package that would help.",
	        "Behind the tables stands what the stacks are worth: which share is whole, why "
	        "the others are not, in which objects they end, and what would mend it. "
	        "--no-children -g none looks up no caller, --stats no name.",
	        "--json writes one object: version (1), samples, not_taken, lost, lost_samples, "
	        "lost_beside, skipped_samples, lost_tasks, duplicate_samples, undecoded_samples; "
	        "ended_at_data (samples whose callchain "
	        "was ended in front of a word that lies in no executable memory); "
	        "uretprobe_callers (samples in which [uprobes] stands for a caller); states "
	        "(name: samples); stitch (counters of deferred records); ends (why stacks that "
	        "were walked while recording ended: stacks); events (name, samples, weight); "
	        "columns; rows (event, then a value per column, self, total, self_samples, "
	        "total_samples), by falling total: sym is null for [unknown]; unnamed (object, "
	        "state, samples, reason); partial (object, file, samples: through code of which "
	        "file would tell more, that was not found); stops (object, samples: user stacks "
	        "that end in it, where nothing begins). Keys may be added, none is taken away.",
	        "--csv writes a line of names and a line per row: event, a value per column, "
	        "then self_percent, total_percent, self, total, self_samples, total_samples, "
	        "unit (of self and total: nanoseconds or count).",
	        "On a terminal the report is walked through by keys (? lists them); --stdio, or "
	        "a pipe, prints text. Text on a terminal is fitted to its width: long names lose "
	        "their arguments, then their middle (-w 0 keeps them whole), and what is longer "
	        "than the screen goes through $SEAM_PAGER, else $PAGER, else less "
	        "(not where TERM is dumb, or not set).",
	        "Defaults are read from the config file (see seam record): [report] sort, "
	        "children, percent-limit; [ui] color, of all commands: auto, always, never.",
	        "Exit status: 0; 1: the recording cannot be read; 2: usage; 3: it was damaged "
	        "and the report is of what was left."),
	.options = report_options,
	.words = report_words,
	.run = report_run,
};
