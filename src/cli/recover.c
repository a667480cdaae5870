// SPDX-License-Identifier: MIT
// recover.c: `seam recover IN -o OUT`: a well-formed file from a damaged one (convert/recover.h).
#include "convert/recover.h"

#include <errno.h>
#include <string.h>

#include "cli/cmds.h"
#include "cmd/outfile.h"
#include "input/source.h"
#include "perfdata/feature.h"

enum {
	RECOVER_OUTPUT = 1
};

/* One command line. */
struct recover_cmd {
	struct source source;
	const char *output;
	struct outfile file;
	struct recover recover;
};

/* For recover: the output, with the events of the input. */
static int recover_open_output(void *ctx, const struct seam_events *events,
                               struct seam_writer **ret, struct seam_error *err)
{
	struct recover_cmd *c = ctx;
	struct seam_writer_opts opts = { .sz = sizeof(opts) };
	int rc = outfile_open(&c->file, c->output, 0600);

	opts.fd = outfile_is_stdout(c->output) ? 0 : c->file.fd;
	if (rc < 0)
		return seam_error_set(err, -rc, c->output, SEAM_NO_OFFSET, NULL, "%s",
		                      strerror(-rc));
	return seam_writer_open(ret, c->output, events, &opts, err);
}

/* What was written and what was left out, on stderr. True: something was left out. */
static bool recover_account(const struct recover_cmd *c)
{
	const struct recover *r = &c->recover;
	const struct cmd *cmd = c->source.cmd;
	bool features = false;

	for (unsigned f = 0; f < SEAM_FEATURE_MAX; f++) {
		if (r->left_out[f])
			cmd_error(cmd, "%s: %s: cannot be read: left out", r->name,
			          feature_name(f));
		features |= r->left_out[f];
	}
	cmd_error(cmd, "%s: %llu records written", c->output, (unsigned long long)r->written);
	if (r->dropped)
		cmd_error(cmd, "%s: %llu records that cannot be decoded were left out", r->name,
		          (unsigned long long)r->dropped);
	if (r->unknown)
		cmd_error(cmd, "%s: %llu records of types that perf does not know were left out",
		          r->name, (unsigned long long)r->unknown);
	if (r->aux_records)
		cmd_error(cmd, "%s: %llu records of AUX area data were left out", r->name,
		          (unsigned long long)r->aux_records);
	if (recover_is_deferred(r))
		cmd_error(cmd,
		          "%s: stacks are deferred: perf older than 6.19 reads it only after seam "
		          "convert",
		          c->output);
	return r->dropped || r->unknown || r->aux_records || features;
}

/* Copies the records, then the features. A recording of the other byte order is refused, because
 * seam writes only this machine's. Negative: it was said. */
static int recover_copy(struct recover_cmd *c)
{
	struct seam_reader_info info = { .sz = sizeof(info) };
	struct seam_error err = { 0 };
	struct seam_record record;
	int next, rc = 0;

	seam_reader_info(c->source.reader, &info);
	if (info.swapped) {
		cmd_error(c->source.cmd,
		          "%s: is of the other byte order; seam writes only this machine's",
		          c->source.path);
		return -EINVAL;
	}
	while (rc >= 0 && (next = source_next(&c->source, &record)) > 0)
		rc = recover_record(&c->recover, &record, &err);
	if (rc >= 0 && next < 0) /* said */
		return next;
	if (rc >= 0)
		rc = recover_features(&c->recover, &err);
	if (rc < 0)
		cmd_error(c->source.cmd, "%s", err.text);
	return rc;
}

/* Ends the output: it gets its name, or nothing of it is left. */
static int recover_close(struct recover_cmd *c, int rc)
{
	struct seam_error err = { 0 };

	if (c->recover.writer && seam_writer_close(c->recover.writer, &err) < 0 && rc >= 0) {
		cmd_error(c->source.cmd, "%s", err.text);
		rc = -err.code;
	}
	if (rc >= 0)
		return outfile_close(&c->file, c->source.cmd, rc);
	rc = outfile_end(&c->file, rc);
	outfile_hint(&c->file, c->source.cmd, rc);
	return rc;
}

/* The exit code is EXIT_PARTIAL if anything was left out. */
static int recover_run_file(struct recover_cmd *c)
{
	int code = source_open(&c->source);

	if (code != EXIT_OK)
		return code;
	c->recover.reader = c->source.reader;
	c->recover.name = c->source.path;
	c->recover.strict = c->source.strict;
	if (recover_close(c, recover_copy(c)) < 0) {
		code = EXIT_FAILED;
	} else {
		code = source_verdict(&c->source);
		if (recover_account(c))
			code = EXIT_PARTIAL;
	}
	source_close(&c->source);
	return code;
}

/* The command: reads its options, does the work, and frees everything at one place. An exit
 * code. */
static int recover_run(int argc, char **argv, const struct cmd *self)
{
	struct options o = options_start(argc, argv, self);
	struct recover_cmd c = { .source.cmd = self,
		                 .file.fd = -1,
		                 .recover.open = recover_open_output };
	int id;

	c.recover.ctx = &c;
	while ((id = options_next(&o)) != OPTIONS_END) {
		if (id == OPTIONS_HELP)
			return EXIT_OK;
		if (id == RECOVER_OUTPUT)
			c.output = o.arg;
		else if (source_option(&c.source, id, o.arg) != EXIT_OK)
			return EXIT_USAGE;
	}
	if (!c.output) {
		cmd_error(self, "-o FILE is needed: the input is never changed");
		return EXIT_USAGE;
	}
	if (outfile_is(c.source.path ? c.source.path : "perf.data", c.output)) {
		cmd_error(self, "-o must name another file than the input");
		return EXIT_USAGE;
	}
	return recover_run_file(&c);
}

static const struct option_def recover_options[] = {
	SOURCE_OPTIONS,
	{ "output", 'o', "FILE", "where the well-formed file goes", RECOVER_OUTPUT },
	{ 0 },
};

COMMAND(recover) = {
	.name = "recover",
	.synopsis = "[options] IN -o OUT",
	.summary = "Make a well-formed file of a damaged one",
	.options = recover_options,
	.run = recover_run,
};
