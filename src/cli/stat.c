// SPDX-License-Identifier: MIT
// stat.c: `seam stat FILE`: what is in a recording, and what was lost, where and when.
#include "inspect/stat.h"

#include <errno.h>
#include <sys/stat.h>

#include "cli/cmds.h"
#include "input/infile.h"
#include "input/source.h"

enum {
	STAT_CHECK = 1,
	STAT_STACKS
};

struct stat_cmd {
	struct source source;
	struct stat_counts counts;
};

/* Says what could not be decoded. An exit code. */
static int stat_verdict(const struct stat_cmd *s)
{
	int code = source_verdict(&s->source);

	infile_say_copies(s->source.cmd, s->source.path, stat_stitch_copies(&s->counts.stitch));
	if (!s->counts.undecodable)
		return s->counts.no_event ? EXIT_PARTIAL : code;
	cmd_error(s->source.cmd, "%s: %s: the first of %llu records that cannot be decoded",
	          s->source.path, s->counts.first_undecodable.text,
	          (unsigned long long)s->counts.undecodable);
	return EXIT_PARTIAL;
}

/* With --strict the first record that belongs to no event or cannot be decoded ends the run. */
static int stat_stop(const struct stat_cmd *s, const struct seam_record *record, int rc)
{
	if (rc == -ENOMEM)
		cmd_error(s->source.cmd, "out of memory");
	else if (s->counts.undecodable)
		cmd_error(s->source.cmd, "%s: %s", s->source.path,
		          s->counts.first_undecodable.text);
	else
		cmd_error(s->source.cmd, "%s: offset 0x%llx: SAMPLE: belongs to no event",
		          s->source.path, (unsigned long long)record->offset);
	return EXIT_FAILED;
}

/* Reads the whole input once, then prints. An exit code. */
static int stat_print(struct stat_cmd *s)
{
	struct seam_record record;
	struct buf out = { 0 };
	int rc, code, verdict;
	struct stat st;

	code = source_open(&s->source);
	if (code != EXIT_OK) {
		/* A program's name in place of a recording is a mistake of those who know perf
		 * stat. */
		if (!stat(s->source.path, &st) && S_ISREG(st.st_mode) && st.st_mode & 0111)
			cmd_error(s->source.cmd,
			          "a recording is what is counted here; to count the "
			          "events of a program is 'perf stat'");
		return code;
	}
	s->counts.reader = s->source.reader;
	s->counts.strict = s->source.strict;
	while ((rc = source_next(&s->source, &record)) > 0) {
		rc = stat_record(&s->counts, &record);
		if (rc < 0)
			return stat_stop(s, &record, rc);
	}
	if (rc < 0)
		return EXIT_FAILED;
	if (stat_finish(&s->counts) < 0)
		return stat_stop(s, &record, -ENOMEM);
	stat_text(&s->counts, &out);
	code = source_print(&s->source, &out);
	verdict = stat_verdict(s);
	buf_free(&out);
	return code == EXIT_OK ? verdict : code;
}

/* The command: reads its options, does the work, and frees everything at one place. An exit
 * code. */
static int stat_run(int argc, char **argv, const struct cmd *self)
{
	struct options o = options_start(argc, argv, self);
	struct stat_cmd s = { .source.cmd = self };
	int id, code;

	while ((id = options_next(&o)) != OPTIONS_END) {
		if (id == OPTIONS_HELP)
			return EXIT_OK;
		if (id == STAT_CHECK)
			s.counts.check = true;
		else if (id == STAT_STACKS)
			s.counts.stacks = true;
		else if (source_option(&s.source, id, o.arg) != EXIT_OK)
			return EXIT_USAGE;
	}
	code = stat_print(&s);
	source_close(&s.source);
	stat_free(&s.counts);
	return code;
}

static const struct option_def stat_options[] = {
	SOURCE_OPTIONS,
	{ "stacks", 0, NULL, "say what became of deferred user stacks, too (slower)", STAT_STACKS },
	{ "check", 0, NULL, "decode every record, and say how many cannot be", STAT_CHECK },
	{ 0 },
};

COMMAND(stat) = {
	.name = "stat",
	.synopsis = "[options] [FILE]",
	.summary = "Count what is in a recording, and what was lost",
	.options = stat_options,
	.run = stat_run,
};
