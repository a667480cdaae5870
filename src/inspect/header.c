// SPDX-License-Identifier: MIT
// header.c: see header.h. Knows the head of a file, and in which order features are told.
#include "inspect/header.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/shown.h"
#include "perfdata/feature.h"

/* When the file was written; a stream has the time of what standard input is. */
static void header_captured(const struct header_opts *o, struct buf *out)
{
	char text[64] = "unknown";
	struct stat st;
	struct tm tm;
	int rc = strcmp(o->path, "-") ? stat(o->path, &st) : fstat(0, &st);

	if (rc == 0 && localtime_r(&st.st_mtime, &tm))
		strftime(text, sizeof(text), "%a %b %e %H:%M:%S %Y", &tm);
	shown_printf(out, "# captured on    : %s\n", text);
}

/* The lines in front of the features. What perf calls version 1 is the second form of the
 * header. */
static void header_head(const struct header_opts *o, const struct seam_reader_info *info,
                        struct buf *out)
{
	bool file = !info->is_pipe;
	/* For a directory, the size of the file that has the header. */
	uint64_t size =
	        info->is_directory ? info->feature_offset - info->data_offset : info->data_size;

	buf_put_text(out, "# ========\n");
	header_captured(o, out);
	shown_printf(out, "# header version : %u\n", info->version - 1);
	shown_printf(out, "# data offset    : %llu\n",
	             file ? (unsigned long long)info->data_offset : 0);
	shown_printf(out, "# data size      : %llu%s\n", file ? (unsigned long long)size : 0,
	             info->unfinished ? " (the recorder did not finish this file)" : "");
	shown_printf(out, "# feat offset    : %llu\n", (unsigned long long)info->feature_offset);
	if (!file)
		buf_put_text(out, "# ========\n#\n");
}

/* Features that the recording could have and does not. */
static void header_missing(const struct header_opts *o, struct buf *out)
{
	struct seam_bytes bytes;
	const char *name;

	buf_put_text(out, "# missing features: ");
	for (unsigned f = 1; (name = feature_name(f)); f++) {
		if (!seam_reader_feature(o->reader, f, &bytes))
			shown_printf(out, "%s ", name);
	}
	buf_put_text(out, "\n# ========\n#\n");
}

/* How many CPUs the machine had; 0: not said. Topologies are lists of that length. */
static uint32_t header_cpus(const struct header_opts *o, bool swapped)
{
	struct seam_bytes bytes;
	uint32_t online, available = 0;

	if (seam_reader_feature(o->reader, SEAM_FEATURE_NRCPUS, &bytes))
		feature_nrcpus(&bytes, swapped, &online, &available);
	return available;
}

/* Says that a feature is damaged; the others are shown. */
static void header_unread(const struct header_opts *o, unsigned f, size_t n)
{
	struct seam_error err = { 0 };

	seam_error_set(&err, EBADMSG, o->path, SEAM_NO_OFFSET, feature_name(f),
	               "its %zu bytes cannot be read", n);
	o->say(o->ctx, err.text);
}

/* 1 when a feature's content cannot be read. -ENOMEM. */
static int header_features(const struct header_opts *o, const struct seam_reader_info *info,
                           struct buf *out)
{
	struct feature_context context = { .swap = info->swapped,
		                           .full = o->full,
		                           .events = seam_reader_events(o->reader),
		                           .cpus = header_cpus(o, info->swapped) };
	int unread = 0, r;

	for (unsigned f = 1; f < SEAM_FEATURE_MAX; f++) {
		struct seam_bytes bytes;

		if (!seam_reader_feature(o->reader, f, &bytes))
			continue;
		if (f == FEATURE_FILES || f == FEATURE_OWNERS)
			shown_printf(out, "# feature %u: %zu bytes, seam's own\n", f, bytes.n);
		else if (!feature_name(f))
			shown_printf(out, "# feature %u: %zu bytes of another writer, not known\n",
			             f, bytes.n);
		else if ((r = feature_text(f, &bytes, &context, out)) == -ENOMEM)
			return r;
		else if (r < 0) {
			header_unread(o, f, bytes.n);
			unread = 1;
		}
	}
	return unread;
}

/* A stream that ends in damage has what was read of it until there. */
static void header_read_on(const struct header_opts *o)
{
	struct seam_error err = { 0 };
	struct seam_record record;
	int r;

	while ((r = seam_reader_next(o->reader, &record, &err)) > 0)
		;
	if (r < 0)
		o->say(o->ctx, err.text);
}

/* 1: a feature could not be read, which was said; 0; -ENOMEM. */
int header_text(const struct header_opts *o, struct buf *out)
{
	struct seam_reader_info info = { .sz = sizeof(info) };
	int r;

	seam_reader_info(o->reader, &info);
	/* A stream has its features among its records, a file through a pipe behind them. */
	if (info.is_pipe || !info.file_size) {
		header_read_on(o);
		seam_reader_info(o->reader, &info);
	}
	header_head(o, &info, out);
	r = header_features(o, &info, out);
	if (r >= 0 && !info.is_pipe)
		header_missing(o, out);
	return r;
}
