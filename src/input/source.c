// SPDX-License-Identifier: MIT
/*
 * source.c: see source.h.
 *
 * For commands that walk over records and count nothing (dump, evlist): they need no first pass,
 * and read a stream as it comes.
 */
#include "input/source.h"

#include <errno.h>
#include <string.h>

#include "input/infile.h"
#include "perfdata/window.h"
#include "cmd/outfile.h"

/* EXIT_OK, EXIT_USAGE, or -1: the option is not one of these. */
int source_option(struct source *s, int id, const char *arg)
{
	switch (id) {
	case SOURCE_STRICT:
		s->strict = true;
		return EXIT_OK;
	case OPTIONS_OPERAND:
	case SOURCE_INPUT:
		if (s->path) {
			cmd_error(s->cmd, "one recording at a time: '%s' or '%s'", s->path, arg);
			return EXIT_USAGE;
		}
		s->path = arg;
		return EXIT_OK;
	default:
		return -1;
	}
}

/* Without a path, perf.data of this directory. */
int source_open(struct source *s)
{
	struct seam_reader_opts opts = { .sz = sizeof(opts), .strict = s->strict };
	struct seam_error err = { 0 };

	if (!s->path)
		s->path = "perf.data";
	infile_raise_limit(s->path);
	if (seam_reader_open(&s->reader, s->path, &opts, &err) >= 0) {
		window_once(s->reader);
		return EXIT_OK;
	}
	cmd_error(s->cmd, "%s", err.text);
	return EXIT_FAILED;
}

/* 1 and *ret; 0 at the end; -1, after saying why. */
int source_next(const struct source *s, struct seam_record *ret)
{
	struct seam_error err; /* filled on failure only; too large to clear for every record */
	int rc = seam_reader_next(s->reader, ret, &err);

	if (rc >= 0)
		return rc;
	cmd_error(s->cmd, "%s", err.text);
	return -1;
}

/* Says everything that was wrong. EXIT_PARTIAL: something was. */
int source_verdict(const struct source *s)
{
	struct seam_reader_info info = { .sz = sizeof(info) };
	const struct seam_error *damage;

	if (!seam_reader_damaged(s->reader))
		return EXIT_OK;
	for (size_t i = 0; (damage = seam_reader_damage(s->reader, i)); i++)
		cmd_error(s->cmd, "%s", damage->text);
	seam_reader_info(s->reader, &info);
	cmd_error(s->cmd,
	          "%s: partial: %llu records read; skipped: %llu records, %llu bytes; "
	          "cut: %llu bytes; features unreadable: %llu",
	          s->path, (unsigned long long)info.records,
	          (unsigned long long)info.skipped_records, (unsigned long long)info.skipped_bytes,
	          (unsigned long long)info.truncated_bytes, (unsigned long long)info.bad_features);
	return EXIT_PARTIAL;
}

int source_print(const struct source *s, const struct buf *text)
{
	return outfile_print(s->cmd, text);
}

void source_close(struct source *s)
{
	seam_reader_close(s->reader);
	s->reader = NULL;
}
