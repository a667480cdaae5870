// SPDX-License-Identifier: MIT
// convert.c: `seam convert IN [-o OUT]`: a classic perf.data for tools that know neither deferred
// callchains nor stack copies.
#include "convert/convert.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cmds.h"
#include "input/infile.h"
#include "input/naming.h"
#include "cmd/outfile.h"
#include "input/sample_filter.h"

enum {
	OPT_INPUT = 1,
	OPT_OUTPUT,
	OPT_KEEP_STACKS,
	OPT_STRIP_RAW,
	OPT_COMPRESS,
	OPT_NATIVE,
	OPT_QUIET,
};

static const struct option_def convert_options[] = {
	INFILE_OPTION(OPT_INPUT),
	{ "output", 'o', "FILE",
	  "where the classic recording goes (default and -: standard output, a stream)",
	  OPT_OUTPUT },
	{ "compress", 'z', "[LEVEL]", "zstd, level 1 to 22 (default: 1)", OPT_COMPRESS },
	{ "comm", 0, "LIST", "the same as --comms", ID_FILTER_COMMS },
	ID_FILTER_OPTIONS,
	SAMPLE_FILTER_TIME_OPTION,
	{ "keep-raw", 0, NULL, "leave registers and stack copies for tools that unwind themselves",
	  OPT_KEEP_STACKS },
	{ "strip-raw", 0, NULL, "no raw data of tracepoints", OPT_STRIP_RAW },
	{ "native", 0, NULL,
	  "frames of an interpreter's own loop, too, where its functions are known", OPT_NATIVE },
	NAMING_UNWIND_OPTIONS,
	{ "quiet", 'q', NULL, "say nothing unless something was left out", OPT_QUIET },
	{ 0 },
};

struct convert_run {
	const struct cmd *cmd;
	struct infile in;
	const char *output; /* "-": standard output */
	struct sample_filter filter;
	struct naming naming;
	struct convert_opts opts;
	struct buf names; /* opts.names_dir */
	bool quiet;
};

/* Takes one option of the command line. 0, or -EINVAL after saying what is wrong with its value. */
static int convert_option(struct convert_run *c, const struct options *o, int id)
{
	unsigned long long level = 1;

	switch (id) {
	case OPTIONS_OPERAND:
	case OPT_INPUT:
		return infile_set(&c->in, c->cmd, o->arg);
	case OPT_OUTPUT:
		c->output = o->arg;
		return 0;
	case OPT_COMPRESS:
		if (o->arg && options_u64(o, "-z", 1, 22, &level) < 0)
			return -EINVAL;
		c->opts.compress_level = (int)level;
		return 0;
	case OPT_KEEP_STACKS:
		c->opts.keep_stacks = true;
		return 0;
	case OPT_STRIP_RAW:
		c->opts.strip_raw = true;
		return 0;
	case OPT_NATIVE:
		c->opts.native = true;
		return 0;
	case OPT_QUIET:
		c->quiet = true;
		return 0;
	default:
		return id >= NAMING_SYMFS && id < NAMING_END
		               ? naming_option(&c->naming, o, id)
		               : sample_filter_option(&c->filter, o, id);
	}
}

/* The output, for messages. */
static const char *convert_name(const struct convert_run *c)
{
	return outfile_is_stdout(c->output) ? "standard output" : c->output;
}

/* Says a count that is not 0. */
static void convert_count(const struct convert_run *c, uint64_t n, const char *what)
{
	if (n)
		cmd_error(c->cmd, "%s: %llu %s", convert_name(c), (unsigned long long)n, what);
}

/* What was written, unless -q; what was left out always. */
static void convert_say(const struct convert_run *c, const struct convert_result *r)
{
	if (!c->quiet) {
		cmd_error(c->cmd, "%s: %llu samples written", convert_name(c),
		          (unsigned long long)r->samples);
		convert_count(c, r->not_taken, "samples not asked for");
		convert_count(c, r->merged, "user stacks stitched from deferred records");
		convert_count(c, r->unwound, "user stacks unwound from stack copies");
		convert_count(c, r->unfinished,
		              "samples have no user stack: 'seam report --stats' says why");
		if (r->names)
			cmd_error(c->cmd, "%s: names of %llu functions are in %s", convert_name(c),
			          (unsigned long long)r->names, c->opts.names_dir);
	}
	if (r->unwritten.code)
		cmd_error(c->cmd, "functions of interpreters have no names for other tools: %s",
		          cmd_reason(&r->unwritten, -r->unwritten.code));
	convert_count(c, r->cut, "stacks were cut to fit a record of 64 KiB");
	convert_count(c, r->aux, "records of AUX area data were left out");
	convert_count(c, r->features, "features of the header cannot be read and were left out");
	convert_count(c, r->vendor, "records that older tools do not know were left out");
}

/* Where the file with names of interpreters' functions goes: beside the output, or, where that is
 * no file, into the cache. Tools find it by its path, which is therefore whole. */
static void convert_names_dir(struct convert_run *c)
{
	const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME"), *file;
	char whole[PATH_MAX], *dir;

	buf_clear(&c->names);
	if (!c->opts.pipe && !outfile_is_stdout(c->output)) {
		file = strrchr(c->output, '/');
		dir = file ? strndup(c->output, (size_t)(file - c->output) + 1) : strdup(".");
		if (dir && realpath(dir, whole))
			buf_printf(&c->names, "%s/%s.names", strcmp(whole, "/") ? whole : "",
			           file ? file + 1 : c->output);
		free(dir);
	} else if (base && base[0] == '/') {
		buf_printf(&c->names, "%s/seam/names", base);
	} else if (home && home[0] == '/') {
		buf_printf(&c->names, "%s/.cache/seam/names", home);
	}
	c->opts.names_by_id = c->opts.pipe || outfile_is_stdout(c->output);
	c->opts.names_dir = c->names.n && !c->names.failed ? buf_text(&c->names) : NULL;
}

/* Opens, converts and closes the output: it gets its name only when it is whole. -errno, and err
 * says why. */
static int convert_output(struct convert_run *c, struct recording *rec, struct outfile *file,
                          struct convert_result *result, struct seam_error *err)
{
	int rc = outfile_open(file, c->output, 0600);

	if (rc >= 0) {
		c->opts.fd = outfile_is_stdout(c->output) ? 0 : file->fd;
		/* A pipe cannot take a header that is written last. */
		c->opts.pipe = lseek(file->fd, 0, SEEK_CUR) < 0;
		convert_names_dir(c);
		rc = convert_recording(result, rec, c->output, &c->opts, err);
	}
	rc = outfile_end(file, rc);
	if (rc < 0 && !err->code)
		seam_error_set(err, -rc, convert_name(c), SEAM_NO_OFFSET, NULL, "%s",
		               strerror(-rc));
	return rc;
}

/* Converts an open input. The exit code is EXIT_PARTIAL if something of the recording was left
 * out. */
static int convert_file(struct convert_run *c)
{
	struct recording_opts learn = { .sz = sizeof(learn), .progress = infile_progress() };
	struct convert_result result = { 0 };
	struct seam_error err = { 0 };
	struct recording *rec = NULL;
	struct outfile file = { .fd = -1 };
	int rc = recording_open(&rec, c->in.reader, &learn, &err);

	c->opts.progress = infile_progress();
	if (rc >= 0)
		rc = sample_filter_prepare(&c->filter, c->cmd, rec);
	if (rc == -EINVAL && !err.code) { /* said */
		recording_close(rec);
		return EXIT_USAGE;
	}
	c->opts.filter = sample_filter_samples(&c->filter);
	if (rc >= 0)
		rc = convert_output(c, rec, &file, &result, &err);
	infile_progress_end();
	if (rc < 0) {
		cmd_error(c->cmd, "%s", cmd_reason(&err, rc));
		outfile_hint(&file, c->cmd, rc);
		rc = EXIT_FAILED;
	} else {
		convert_say(c, &result);
		rc = infile_verdict(&c->in, c->cmd, rec);
		/* What a classic recording cannot hold makes it one of a part only. */
		if (result.aux || result.cut || result.features)
			rc = EXIT_PARTIAL;
	}
	recording_close(rec);
	return rc;
}

/* The command: reads its options, does the work, and frees everything at one place. An exit
 * code. */
static int convert_run(int argc, char **argv, const struct cmd *cmd)
{
	struct convert_run c = { .cmd = cmd, .output = "-", .opts = { .sz = sizeof(c.opts) } };
	struct options o = options_start(argc, argv, cmd);
	int id, rc = EXIT_USAGE;

	if (naming_start(&c.naming, cmd) < 0)
		goto out;
	while ((id = options_next(&o)) != OPTIONS_END) {
		if (id == OPTIONS_HELP)
			rc = EXIT_OK;
		if (id == OPTIONS_HELP || id == OPTIONS_USAGE || convert_option(&c, &o, id) < 0)
			goto out;
	}
	if (outfile_is_stdout(c.output) && isatty(STDOUT_FILENO)) {
		cmd_error(cmd, "a recording is not for the terminal: -o FILE, or a pipe behind it");
		goto out;
	}
	if (outfile_is(c.in.path ? c.in.path : "perf.data", c.output)) {
		cmd_error(cmd, "-o must name another file than the input");
		goto out;
	}
	c.opts.tables = naming_tables(&c.naming);
	rc = infile_open(&c.in, cmd);
	if (rc == EXIT_OK)
		rc = convert_file(&c);
out:
	infile_close(&c.in);
	naming_end(&c.naming);
	buf_free(&c.names);
	sample_filter_free(&c.filter);
	return rc;
}

COMMAND(convert) = {
	.name = "convert",
	.synopsis = "[options] IN [-o OUT]",
	.summary = "Make a classic perf.data, for tools that do not know deferred callchains",
	.details = CMD_PARAGRAPHS(
	        "The output holds the same samples in order of time, each with its whole chain "
	        "where the kernel used to put it, and no trace of deferral. Tools that read "
	        "perf.data of Linux 5.2 or later read it: perf, hotspot and samply were seen to "
	        "show the same stacks; sysprof (to version 51) reads no perf.data at all. "
	        "Names, mappings and the header are carried over.",
	        "Functions of interpreters (seam record --python) become code of a small ELF file, "
	        "OUT.names/[python], with their names and lines: perf, hotspot and samply find it "
	        "at that path, which is absolute: a file that moves is converted anew. Where the "
	        "output is a stream the file is in ~/.cache/seam/names ($XDG_CACHE_HOME), which "
	        "keeps files for 30 days, and 64 MiB of them.",
	        "Without -o, or where that is no file but a pipe, a stream is written: perf "
	        "script -i -, and other readers of perf's pipes, take it.",
	        "Exit status: 0; 1: it could not be done; 2: usage; 3: done, but the input was "
	        "damaged, or held what a classic recording cannot say; stderr tells."),
	.options = convert_options,
	.run = convert_run,
};
