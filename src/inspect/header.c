// SPDX-License-Identifier: MIT
// header.c: `seam header`: what a recording says about itself, in the form of perf report
// --header-only.
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/shown.h"
#include "cli/cmds.h"
#include "inspect/header.h"
#include "perfdata/feature.h"

enum {
	HEADER_FULL = 1
};

struct header_cmd {
	struct source source;
	bool full;
};

static void header_captured(const struct source *s, struct buf *out)
{
	char text[64] = "unknown";
	struct stat st;
	struct tm tm;
	int rc = strcmp(s->path, "-") ? stat(s->path, &st) : fstat(0, &st);

	if (rc == 0 && localtime_r(&st.st_mtime, &tm))
		strftime(text, sizeof(text), "%a %b %e %H:%M:%S %Y", &tm);
	shown_printf(out, "# captured on    : %s\n", text);
}

static void header_head(const struct source *s, const struct seam_reader_info *info,
                        struct buf *out)
{
	bool file = !info->is_pipe;
	/* For a directory, the size of the file that has the header. */
	uint64_t size =
	        info->is_directory ? info->feature_offset - info->data_offset : info->data_size;

	buf_put_text(out, "# ========\n");
	header_captured(s, out);
	shown_printf(out, "# header version : %u\n", info->version - 1);
	shown_printf(out, "# data offset    : %llu\n",
	             file ? (unsigned long long)info->data_offset : 0);
	shown_printf(out, "# data size      : %llu%s\n", file ? (unsigned long long)size : 0,
	             info->unfinished ? " (the recorder did not finish this file)" : "");
	shown_printf(out, "# feat offset    : %llu\n", (unsigned long long)info->feature_offset);
	if (!file)
		buf_put_text(out, "# ========\n#\n");
}

static void header_missing(const struct source *s, struct buf *out)
{
	struct seam_bytes bytes;
	const char *name;

	buf_put_text(out, "# missing features: ");
	for (unsigned f = 1; (name = feature_name(f)); f++) {
		if (!seam_reader_feature(s->reader, f, &bytes))
			shown_printf(out, "%s ", name);
	}
	buf_put_text(out, "\n# ========\n#\n");
}

static uint32_t header_cpus(const struct source *s, bool swapped)
{
	struct seam_bytes bytes;
	uint32_t online, available = 0;

	if (seam_reader_feature(s->reader, SEAM_FEATURE_NRCPUS, &bytes))
		feature_nrcpus(&bytes, swapped, &online, &available);
	return available;
}

/* EXIT_PARTIAL when a feature's content cannot be read. */
static int header_features(const struct source *s, bool full, const struct seam_reader_info *info,
                           struct buf *out)
{
	struct feature_context context = { .swap = info->swapped,
		                           .full = full,
		                           .events = seam_reader_events(s->reader),
		                           .cpus = header_cpus(s, info->swapped) };
	int code = EXIT_OK, r;

	for (unsigned f = 1; f < SEAM_FEATURE_MAX; f++) {
		struct seam_bytes bytes;

		if (!seam_reader_feature(s->reader, f, &bytes))
			continue;
		if (f == FEATURE_FILES || f == FEATURE_OWNERS)
			shown_printf(out, "# feature %u: %zu bytes, seam's own\n", f, bytes.n);
		else if (!feature_name(f))
			shown_printf(out, "# feature %u: %zu bytes of another writer, not known\n",
			             f, bytes.n);
		else if ((r = feature_text(f, &bytes, &context, out)) == -ENOMEM) {
			cmd_error(s->cmd, "%s", strerror(ENOMEM));
			return EXIT_FAILED;
		} else if (r < 0) {
			cmd_error(s->cmd, "%s: %s: its %zu bytes cannot be read", s->path,
			          feature_name(f), bytes.n);
			code = EXIT_PARTIAL;
		}
	}
	return code;
}

/* Prints nothing itself. */
int header_text(const struct source *s, bool full, struct buf *out)
{
	struct seam_reader_info info = { .sz = sizeof(info) };
	struct seam_record record;
	int code;

	seam_reader_info(s->reader, &info);
	/* A stream has its features among its records, a file through a pipe behind them. */
	if (info.is_pipe || !info.file_size) {
		while (source_next(s, &record) > 0)
			;
		seam_reader_info(s->reader, &info);
	}
	header_head(s, &info, out);
	code = header_features(s, full, &info, out);
	if (!info.is_pipe)
		header_missing(s, out);
	return code;
}

int header_print(struct source *s, bool full)
{
	struct buf out = { 0 };
	int code, features, verdict;

	code = source_open(s);
	if (code != EXIT_OK)
		return code;
	features = header_text(s, full, &out);
	code = source_print(s, &out);
	verdict = source_verdict(s);
	buf_free(&out);
	source_close(s);
	if (code != EXIT_OK)
		return code;
	return features != EXIT_OK ? features : verdict;
}

/* The command: reads its options, prints the header's text, and frees everything at one place. An
 * exit code. */
static int header_run(int argc, char **argv, const struct cmd *self)
{
	struct options o = options_start(argc, argv, self);
	struct header_cmd h = { .source.cmd = self };
	int id;

	while ((id = options_next(&o)) != OPTIONS_END) {
		if (id == OPTIONS_HELP)
			return EXIT_OK;
		if (id == HEADER_FULL)
			h.full = true;
		else if (source_option(&h.source, id, o.arg) != EXIT_OK)
			return EXIT_USAGE;
	}
	return header_print(&h.source, h.full);
}

static const struct option_def header_options[] = {
	SOURCE_OPTIONS,
	{ "header", 'I', NULL, "topologies, caches and memory too", HEADER_FULL },
	{ 0 },
};

const struct cmd cmd_header = {
	.name = "header",
	.synopsis = "[options] [FILE]",
	.summary = "Show what a recording says about itself",
	.options = header_options,
	.run = header_run,
};
