// SPDX-License-Identifier: MIT
// archive.c: `seam archive`: the files that another machine needs to read a recording.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cmds.h"
#include "input/profiled.h"
#include "cmd/outfile.h"
#include "convert/pack.h"

enum {
	OPT_INPUT = 1,
	OPT_OUTPUT,
	OPT_ALL,
	OPT_WITH_RECORDING,
	OPT_SOURCES,
	OPT_QUIET,
};

static const struct option_def archive_options[] = {
	INFILE_OPTION(OPT_INPUT),
	{ "output", 'o', "FILE",
	  "where it goes (default: the recording's name and " PACK_ENDING "; -: standard output)",
	  OPT_OUTPUT },
	{ "all", 'a', NULL, "all that was mapped, also what no sample hit", OPT_ALL },
	{ "with-recording", 0, NULL, "the recording, too", OPT_WITH_RECORDING },
	{ "sources", 0, NULL, "the source files of the lines that samples hit, too, for annotate",
	  OPT_SOURCES },
	{ "quiet", 'q', NULL, "do not say what went in", OPT_QUIET },
	NAMING_SOURCE_OPTIONS,
	{ 0 },
};

/* One command line, and what the steps hand on. */
struct archive {
	const struct cmd *cmd;
	struct infile in;
	const char *output;
	struct buf name; /* of the output */
	bool all, with_recording, sources, quiet;
	struct naming naming;
	struct recording *rec;
	struct load load;
	struct pack_counts counts;
};

/* Takes one option of the command line. 0, or -EINVAL after saying what is wrong with its value. */
static int archive_option(struct archive *a, const struct options *o, int id)
{
	switch (id) {
	case OPTIONS_OPERAND:
	case OPT_INPUT:
		return infile_set(&a->in, a->cmd, o->arg);
	case OPT_OUTPUT:
		a->output = o->arg;
		return 0;
	case OPT_ALL:
		a->all = true;
		return 0;
	case OPT_WITH_RECORDING:
		a->with_recording = true;
		return 0;
	case OPT_SOURCES:
		a->sources = true;
		return 0;
	case OPT_QUIET:
		a->quiet = true;
		return 0;
	default:
		return naming_option(&a->naming, o, id);
	}
}

/* Makes a profile only so that names are asked of the objects that the samples hit: their files are
 * archived. */
static int archive_load(struct archive *a, struct seam_error *err)
{
	const struct profiled_opts opts = { .cmd = a->cmd, .load.lines = a->sources };
	int r = profiled_load(&a->in, &a->naming, &opts, &a->rec, &a->load, err);

	a->naming.symbols.search.kernel_release =
	        seam_reader_feature_string(a->in.reader, SEAM_FEATURE_OSRELEASE);
	if (r >= 0 && a->all)
		r = pack_all(a->load.symbols, a->rec);
	return r;
}

/* For pack_write: says what is not in the archive. Some reasons begin with the object's name
 * already. */
static void archive_missing(void *ctx, const char *object, const char *reason)
{
	const struct archive *a = ctx;

	size_t n = strlen(object);

	infile_progress_end();
	if (!strncmp(reason, object, n) && reason[n] == ':')
		cmd_error(a->cmd, "left out: %s", reason);
	else
		cmd_error(a->cmd, "left out: %s%s%s", object, *reason ? ": " : "", reason);
}

/* With --with-recording, adds the recording itself, from where it was read: a pipe cannot be read
 * again. 0 or -errno, and err says why. */
static int archive_put_recording(struct archive *a, struct tar_writer *tar, struct seam_error *err)
{
	int fd, r;

	if (!a->with_recording)
		return 0;
	if (a->in.spool > 0)
		r = lseek(a->in.spool, 0, SEEK_SET) < 0
		            ? -errno
		            : tar_put_file(tar, PACK_RECORDING, a->in.spool);
	else if (a->in.stream.n)
		r = tar_put(tar, PACK_RECORDING, a->in.stream.bytes, a->in.stream.n);
	else {
		fd = open(a->in.path, O_RDONLY | O_CLOEXEC);
		r = fd < 0 ? -errno : tar_put_file(tar, PACK_RECORDING, fd);
		if (fd >= 0)
			close(fd);
	}
	if (r < 0)
		seam_error_set(err, -r, a->in.path, SEAM_NO_OFFSET, NULL, "%s", strerror(-r));
	return r;
}

/* Writes the archive into fd: the files, then the recording. 0 or -errno. */
static int archive_fill(struct archive *a, int fd, struct seam_error *err)
{
	struct image_search search = a->naming.symbols.search;
	struct pack_opts opts = {
		.sz = sizeof(opts),
		.search = &search,
		.foreign = a->rec->foreign,
		.sources = a->sources ? a->load.profile : NULL,
		.dirs = naming_source_dirs(&a->naming),
		.missing = archive_missing,
		.ctx = a,
		.progress = infile_progress(),
	};
	struct tar_writer *tar = NULL;
	int r = tar_create(&tar, fd);

	/* By what the recording says of its files, one that was changed since is left out. */
	search.file_identity = &a->rec->identity;
	if (r >= 0)
		r = pack_write(tar, a->load.symbols, &opts, &a->counts, err);
	if (r >= 0)
		r = archive_put_recording(a, tar, err);
	if (r >= 0)
		r = tar_finish(tar);
	tar_writer_free(tar);
	infile_progress_end();
	return r;
}

/* The archive gets its name only when it is whole. What failed was said; -errno. */
static int archive_write(struct archive *a, struct seam_error *err)
{
	struct outfile file;
	int r = outfile_open(&file, buf_text(&a->name), 0600);

	if (r >= 0)
		r = archive_fill(a, file.fd, err);
	if (r == -ENOSPC || r == -EDQUOT) /* of the archive, whatever was being put there */
		err->code = 0;
	if (!err->code)
		return outfile_close(&file, a->cmd, r);
	r = outfile_end(&file, r);
	cmd_error(a->cmd, "%s", err->text);
	outfile_hint(&file, a->cmd, r);
	return r;
}

/* What went in, on stderr: standard output may be the archive. */
static void archive_say(struct archive *a)
{
	bool to_stdout = outfile_is_stdout(buf_text(&a->name));
	struct stat st = { 0 };

	cmd_print(stderr,
	          "[ seam archive: %llu objects, %llu debug files, %llu source files, %.1f MB, in "
	          "%s",
	          (unsigned long long)a->counts.objects, (unsigned long long)a->counts.debug_files,
	          (unsigned long long)a->counts.sources, (double)a->counts.bytes / 1e6,
	          to_stdout ? "standard output" : buf_text(&a->name));
	if (!to_stdout && !stat(buf_text(&a->name), &st) && S_ISREG(st.st_mode))
		cmd_print(stderr, ": %.1f MB", (double)st.st_size / 1e6);
	cmd_print(stderr, "; %llu left out ]\n", (unsigned long long)a->counts.missing);
}

/* Chooses the output's name, loads the recording and writes the archive. An exit code; what failed
 * was said. */
static int archive_make(struct archive *a)
{
	struct seam_error err = { 0 };
	int r;

	if (a->output)
		buf_put_text(&a->name, a->output);
	else if (strcmp(a->in.path, "-"))
		buf_printf(&a->name, "%s" PACK_ENDING, a->in.path);
	else {
		cmd_error(a->cmd, "-o is needed: standard input has no name");
		return EXIT_USAGE;
	}
	if (outfile_is(a->in.path, buf_text(&a->name))) {
		cmd_error(a->cmd, "-o must name another file than the recording");
		return EXIT_USAGE;
	}
	r = archive_load(a, &err);
	if (r < 0) {
		cmd_error(a->cmd, "%s", cmd_reason(&err, r));
		return EXIT_FAILED;
	}
	if (archive_write(a, &err) < 0)
		return EXIT_FAILED;
	if (!a->quiet)
		archive_say(a);
	return infile_verdict(&a->in, a->cmd, a->rec);
}

/* The command: reads its options, does the work, and frees everything at one place. An exit
 * code. */
static int archive_run(int argc, char **argv, const struct cmd *cmd)
{
	struct archive a = { .cmd = cmd };
	struct options o = options_start(argc, argv, cmd);
	int id, r = EXIT_USAGE;

	if (naming_start(&a.naming, cmd) < 0)
		goto out;
	while ((id = options_next(&o)) != OPTIONS_END) {
		if (id == OPTIONS_HELP)
			r = EXIT_OK;
		if (id == OPTIONS_HELP || id == OPTIONS_USAGE || archive_option(&a, &o, id) < 0)
			goto out;
	}
	r = infile_open(&a.in, cmd);
	if (r == EXIT_OK)
		r = archive_make(&a);
out:
	load_free(&a.load);
	recording_close(a.rec);
	infile_close(&a.in);
	buf_free(&a.name);
	naming_end(&a.naming);
	return r;
}

COMMAND(archive) = {
	.name = "archive",
	.synopsis = "[options] [FILE]",
	.summary = "Pack the files by which another machine names and unwinds a recording",
	.details = CMD_PARAGRAPHS(
	        "Of every object that a sample's stack touches: the file itself, its separate "
	        "debug file and what was split from that (.dwo, .dwp), the kernel's list of "
	        "symbols and its vmlinux where that is here, perf maps and jitdumps; each only "
	        "if it proved to be the one that was recorded. A .dwp is read where libdw is "
	        "0.191 or newer. --sources takes the sources of what was hit, which seam "
	        "annotate shows then. Every command that names takes it with --archive FILE.",
	        "It is a tar inside zstd in the layout of perf's cache: tar --zstd -xf FILE -C "
	        "~/.debug makes it known to perf, too.",
	        "Exit status: 0; 1: it could not be made; 2: usage; 3: the recording was "
	        "damaged and the archive is of what was left. What was left out is on stderr."),
	.options = archive_options,
	.run = archive_run,
};
