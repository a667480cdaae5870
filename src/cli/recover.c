// SPDX-License-Identifier: MIT
// recover.c: `seam recover IN -o OUT`: a well-formed file from a damaged one: every record that is
// sound and can be decoded, every feature that can be read, and the features that can be told from
// the records when the recorder did not live to write them.
#include <errno.h>
#include <string.h>

#include "abi/record.h"
#include "base/buf.h"
#include "cli/cmds.h"
#include "cmd/outfile.h"
#include "input/source.h"
#include "perfdata/feature.h"
#include "perfdata/fit.h"
#include <seam/writer.h>

enum {
	RECOVER_OUTPUT = 1
};

/* One command line. The output is opened when the first record comes: only then are a stream's
 * events known. */
struct recover {
	struct source source;
	const char *output;
	struct outfile file;
	struct seam_writer *writer;
	size_t events; /* that the output was opened with */
	uint64_t written, dropped, aux_records, unknown, dropped_features;
	uint64_t first_ns, last_ns; /* of samples; 0: none */
};

/* Says the failure, and gives it back as -errno. */
static int recover_fail(const struct recover *r, const struct seam_error *err)
{
	cmd_error(r->source.cmd, "%s", err->text);
	return -err->code;
}

/* -errno, which was said. */
static int recover_open_output(struct recover *r)
{
	const struct seam_events *events = seam_reader_events(r->source.reader);
	struct seam_writer_opts opts = { .sz = sizeof(opts) };
	struct seam_error err = { 0 };
	int rc = outfile_open(&r->file, r->output, 0600);

	opts.fd = outfile_is_stdout(r->output) ? 0 : r->file.fd;
	if (rc < 0)
		seam_error_set(&err, -rc, r->output, SEAM_NO_OFFSET, NULL, "%s", strerror(-rc));
	else
		rc = seam_writer_open(&r->writer, r->output, events, &opts, &err);
	if (rc < 0)
		return recover_fail(r, &err);
	r->events = seam_events_count(events);
	return 0;
}

/* Records that describe the recording are not copied: they become header and features of the
 * output. */
static bool recover_is_header(uint32_t type)
{
	return (type >= SEAM_RECORD_HEADER_ATTR && type <= SEAM_RECORD_HEADER_BUILD_ID) ||
	       type == SEAM_RECORD_HEADER_FEATURE;
}

/* AUX area data is not records, but bytes that these announce. */
static bool recover_is_aux(uint32_t type)
{
	return type == SEAM_RECORD_AUXTRACE || type == SEAM_RECORD_AUXTRACE_INFO;
}

/* Notes the first and last time of the samples. */
static void recover_time(struct recover *r, const struct seam_decoded *d)
{
	uint64_t t = d->id.time_ns;

	if (d->record->type != SEAM_RECORD_SAMPLE || !(d->id.has & SEAM_SAMPLE_TIME))
		return;
	if (!r->first_ns || t < r->first_ns)
		r->first_ns = t;
	if (t > r->last_ns)
		r->last_ns = t;
}

/* Copies one record if it is sound and perf can read its type; others are counted. Negative:
 * writing failed, or with --strict a record is unsound; it was said. */
static int recover_record(struct recover *r, const struct seam_record *record)
{
	const struct seam_events *events = seam_reader_events(r->source.reader);
	struct seam_error err = { 0 };
	struct seam_decoded decoded;
	int rc;

	if (recover_is_header(record->type))
		return 0;
	if (recover_is_aux(record->type)) {
		r->aux_records++;
		return 0;
	}
	if (!fit_type(record->type)) { /* perf gives up a file for one of them */
		r->unknown++;
		return 0;
	}
	rc = record_decode(events, record, &decoded, &err);
	if (rc < 0 && rc != -EOPNOTSUPP) {
		if (r->source.strict)
			return recover_fail(r, &err);
		r->dropped++;
		return 0;
	}
	if (rc >= 0)
		recover_time(r, &decoded);
	if (!r->writer && recover_open_output(r) < 0)
		return -1;
	/* The header with the events is written first; one that comes later would be missing
	 * there. */
	if (seam_events_count(events) != r->events) {
		cmd_error(r->source.cmd,
		          "%s: offset 0x%llx: an event appears behind the first records",
		          r->source.path, (unsigned long long)record->offset);
		return -1;
	}
	if (seam_writer_write(r->writer, record->bytes, record->size, &err) < 0)
		return recover_fail(r, &err);
	r->written++;
	return 0;
}

/* AUXTRACE's index holds offsets of the old file; the writer says itself what is compressed. A
 * feature that cannot be read to its end is not passed on. */
static bool recover_keeps(struct recover *r, unsigned feature, struct seam_bytes *ret)
{
	if (feature == SEAM_FEATURE_AUXTRACE || feature == SEAM_FEATURE_COMPRESSED ||
	    feature == SEAM_FEATURE_DIR_FORMAT ||
	    !seam_reader_feature(r->source.reader, feature, ret))
		return false;
	if (feature == SEAM_FEATURE_EVENT_DESC && !r->events)
		return false; /* perf refuses one of no events */
	if (fit_feature(feature, ret))
		return true;
	cmd_error(r->source.cmd, "%s: %s: cannot be read: left out", r->source.path,
	          feature_name(feature));
	r->dropped_features++;
	return false;
}

/* Copies the features that can be read, and makes those that the recorder did not live to write:
 * event descriptions and times. */
static int recover_features(struct recover *r)
{
	const struct seam_events *events = seam_reader_events(r->source.reader);
	struct buf b = { 0 };
	struct seam_bytes bytes;
	int rc = 0;

	for (unsigned f = 0; rc >= 0 && f < SEAM_FEATURE_MAX; f++) {
		if (recover_keeps(r, f, &bytes))
			rc = seam_writer_feature(r->writer, f, bytes.bytes, bytes.n);
	}
	if (rc >= 0 && r->events &&
	    !seam_reader_feature(r->source.reader, SEAM_FEATURE_EVENT_DESC, &bytes)) {
		rc = feature_put_event_desc(&b, events);
		if (rc >= 0)
			rc = seam_writer_feature(r->writer, SEAM_FEATURE_EVENT_DESC, b.bytes, b.n);
		buf_clear(&b);
	}
	if (rc >= 0 && r->last_ns &&
	    !seam_reader_feature(r->source.reader, SEAM_FEATURE_SAMPLE_TIME, &bytes)) {
		rc = feature_put_sample_time(&b, r->first_ns, r->last_ns);
		if (rc >= 0)
			rc = seam_writer_feature(r->writer, SEAM_FEATURE_SAMPLE_TIME, b.bytes, b.n);
	}
	buf_free(&b);
	if (rc < 0)
		cmd_error(r->source.cmd, "%s: features: %s", r->output, strerror(-rc));
	return rc;
}

/* What was written and what was left out, on stderr. */
static void recover_account(const struct recover *r)
{
	cmd_error(r->source.cmd, "%s: %llu records written", r->output,
	          (unsigned long long)r->written);
	if (r->dropped)
		cmd_error(r->source.cmd, "%s: %llu records that cannot be decoded were left out",
		          r->source.path, (unsigned long long)r->dropped);
	if (r->unknown)
		cmd_error(r->source.cmd,
		          "%s: %llu records of types that perf does not know were left out",
		          r->source.path, (unsigned long long)r->unknown);
	if (r->aux_records)
		cmd_error(r->source.cmd, "%s: %llu records of AUX area data were left out",
		          r->source.path, (unsigned long long)r->aux_records);
}

/* Warns of what an older perf will refuse to read. */
static void recover_age(const struct recover *r)
{
	const struct seam_events *events = seam_reader_events(r->source.reader);

	for (size_t i = 0; i < seam_events_count(events); i++) {
		if (!(seam_events_at(events, i)->attr.flags &
		      (SEAM_ATTR_DEFER_CALLCHAIN | SEAM_ATTR_DEFER_OUTPUT)))
			continue;
		cmd_error(r->source.cmd,
		          "%s: stacks are deferred: perf older than 6.19 reads it only after seam "
		          "convert",
		          r->output);
		return;
	}
}

/* Copies the records, then the features. A recording of the other byte order is refused, because
 * seam writes only this machine's. */
static int recover_copy(struct recover *r)
{
	struct seam_reader_info info = { .sz = sizeof(info) };
	struct seam_record record;
	int rc;

	seam_reader_info(r->source.reader, &info);
	if (info.swapped) {
		cmd_error(r->source.cmd,
		          "%s: is of the other byte order; seam writes only this machine's",
		          r->source.path);
		return -1;
	}
	while ((rc = source_next(&r->source, &record)) > 0) {
		rc = recover_record(r, &record);
		if (rc < 0)
			return rc;
	}
	/* An input without records has events nevertheless. */
	if (rc >= 0 && !r->writer)
		rc = recover_open_output(r);
	return rc < 0 ? rc : recover_features(r);
}

/* Ends the output: it gets its name, or nothing of it is left. */
static int recover_close(struct recover *r, int rc)
{
	struct seam_error err = { 0 };

	if (r->writer && seam_writer_close(r->writer, &err) < 0 && rc >= 0)
		rc = recover_fail(r, &err);
	if (rc >= 0)
		return outfile_close(&r->file, r->source.cmd, rc);
	rc = outfile_end(&r->file, rc);
	outfile_hint(&r->file, r->source.cmd, rc);
	return rc;
}

/* The exit code is EXIT_PARTIAL if anything was left out. */
static int recover_run_file(struct recover *r)
{
	int rc, code = source_open(&r->source);

	if (code != EXIT_OK)
		return code;
	rc = recover_close(r, recover_copy(r));
	if (rc >= 0) {
		code = source_verdict(&r->source);
		recover_account(r);
		recover_age(r);
		if (r->dropped || r->unknown || r->aux_records || r->dropped_features)
			code = EXIT_PARTIAL;
	} else {
		code = EXIT_FAILED;
	}
	source_close(&r->source);
	return code;
}

/* The command: reads its options, does the work, and frees everything at one place. An exit
 * code. */
static int recover_run(int argc, char **argv, const struct cmd *self)
{
	struct options o = options_start(argc, argv, self);
	struct recover r = { .source.cmd = self, .file.fd = -1 };
	int id;

	while ((id = options_next(&o)) != OPTIONS_END) {
		if (id == OPTIONS_HELP)
			return EXIT_OK;
		if (id == RECOVER_OUTPUT)
			r.output = o.arg;
		else if (source_option(&r.source, id, o.arg) != EXIT_OK)
			return EXIT_USAGE;
	}
	if (!r.output) {
		cmd_error(self, "-o FILE is needed: the input is never changed");
		return EXIT_USAGE;
	}
	if (outfile_is(r.source.path ? r.source.path : "perf.data", r.output)) {
		cmd_error(self, "-o must name another file than the input");
		return EXIT_USAGE;
	}
	return recover_run_file(&r);
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
