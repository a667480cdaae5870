// SPDX-License-Identifier: MIT
/*
 * dump.c: seam dump: every record of a file, raw and decoded, in the order of the file.
 *
 * It formats nothing itself (abi/print) and keeps nothing from one record to the next, so a record
 * reads the same wherever it stands, and memory does not grow with the file.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <seam/reader.h>

#include "abi/record.h"
#include "abi/print.h"
#include "base/shown.h"
#include "cli/cmds.h"
#include "cli/header.h"
#include "input/infile.h"
#include "input/span.h"
#include "perfdata/window.h"
#include "tracepoint/tracepoint.h"

/* Text is written in pieces of this size. */
#define DUMP_FLUSH (1u << 20)
/* A record's type is 32 bits, but the kernel's and perf's are small numbers; -t takes those below
 * this. */
#define DUMP_TYPES 65536u

enum {
	DUMP_INPUT = 1,
	DUMP_JSON,
	DUMP_TYPE,
	DUMP_STRICT,
	DUMP_HEADER,
	DUMP_TIME
};

struct dump {
	const struct cmd *cmd;
	const char *path;
	bool json, strict, some_types, header;
	struct spans time;    /* asked for with --time */
	unsigned char *types; /* one byte per type asked for with -t */
	struct seam_reader *reader;
	struct print_opts print;
	struct tracepoints *tracepoints; /* NULL: none was seen so far */
	struct buf shown;                /* the path */
	struct buf out;
	uint64_t undecoded;
	struct seam_error first; /* the first record that could not be decoded */
};

/* Writes what was composed so far. -EIO after saying so. */
static int dump_flush(struct dump *d)
{
	if (d->out.n && fwrite(d->out.bytes, 1, d->out.n, stdout) != d->out.n) {
		cmd_error(d->cmd, "standard output: %s", strerror(errno));
		return -EIO;
	}
	buf_clear(&d->out);
	return 0;
}

/* Prints the fields of a tracepoint's sample. A stream brings their formats among its records. */
static int dump_trace(void *ctx, const struct seam_sample *s, struct buf *out)
{
	struct dump *d = ctx;
	struct seam_bytes bytes;
	const char *reason = "the recording has no formats of tracepoints";
	int r = 0;

	if (!d->tracepoints &&
	    seam_reader_feature(d->reader, SEAM_FEATURE_TRACING_DATA, &bytes) > 0)
		r = tracepoint_new(&d->tracepoints, bytes.bytes, bytes.n, NULL, NULL);
	if (r >= 0 && d->tracepoints)
		r = tracepoint_text(d->tracepoints, s->event->attr.config, s->id.cpu, s->raw.bytes,
		                    s->raw.n, out, &reason);
	if (r < 0)
		reason = strerror(-r);
	if (r <= 0)
		buf_put_text(out, reason);
	return r > 0;
}

/* Turns parts of the recording into times, from its first sample to its last; the file is read once
 * for that. 0; -ESPIPE: a stream, which cannot be read twice; else as the reader says. */
static int dump_find_parts(struct dump *d, struct seam_error *err)
{
	uint64_t first_ns = UINT64_MAX, last_ns = 0;
	struct seam_record record;
	struct seam_decoded decoded;
	int r = d->time.percent ? seam_reader_rewind(d->reader) : 0;

	/* A stream cannot be read twice: that is refused before anything is read of it. */
	if (!d->time.percent || r < 0)
		return r;
	while ((r = seam_reader_next(d->reader, &record, err)) > 0) {
		if (record.type != SEAM_RECORD_SAMPLE ||
		    record_decode(seam_reader_events(d->reader), &record, &decoded, NULL) < 0 ||
		    !(decoded.id.has & SEAM_SAMPLE_TIME))
			continue;
		if (decoded.id.time_ns < first_ns)
			first_ns = decoded.id.time_ns;
		if (decoded.id.time_ns > last_ns)
			last_ns = decoded.id.time_ns;
	}
	if (r < 0)
		return r;
	spans_resolve(&d->time, first_ns < last_ns ? first_ns : last_ns, last_ns);
	return seam_reader_rewind(d->reader);
}

/* A record that cannot be decoded may be of any time, so it is printed. */
static bool dump_is_in_time(const struct dump *d, const struct seam_record *record)
{
	struct seam_decoded decoded;

	if (record_decode(seam_reader_events(d->reader), record, &decoded, NULL) < 0)
		return true;
	if (decoded.id.has & SEAM_SAMPLE_TIME)
		return spans_have(&d->time, decoded.id.time_ns);
	/* In records of the first kernels these two have their time only inside. */
	if (record->type == SEAM_RECORD_FORK || record->type == SEAM_RECORD_EXIT)
		return spans_have(&d->time, decoded.task.time_ns);
	return false;
}

/* Prints one record if its type and time are wanted. One that cannot be decoded is printed raw, and
 * counted. Negative: writing failed, or memory is out. */
static int dump_record(struct dump *d, const struct seam_record *record)
{
	const struct seam_events *events = seam_reader_events(d->reader);
	struct seam_error err = { 0 };
	int r;

	if (d->some_types && (record->type >= DUMP_TYPES || !d->types[record->type]))
		return 0;
	if (d->time.n && !dump_is_in_time(d, record))
		return 0;
	r = d->json ? print_record_json(&d->out, events, record, &d->print, &err)
	            : print_record(&d->out, events, record, &d->print, &err);
	if (r == -ENOMEM) {
		cmd_error(d->cmd, "out of memory");
		return r;
	}
	if (r < 0 && !d->undecoded++) {
		d->first = err;
		seam_error_add_path(&d->first, d->path);
	}
	return d->out.n >= DUMP_FLUSH ? dump_flush(d) : 0;
}

/* Reports on stderr what was skipped or could not be decoded; the exit code. */
static int dump_account(struct dump *d)
{
	const struct seam_error *damage;

	for (size_t i = 0; (damage = seam_reader_damage(d->reader, i)); i++)
		cmd_error(d->cmd, "%s", damage->text);
	if (d->undecoded)
		cmd_error(d->cmd, "%s%s", d->first.text,
		          d->undecoded > 1 ? "; the first of several" : "");
	if (d->undecoded)
		cmd_error(d->cmd, "%llu record%s could not be decoded",
		          (unsigned long long)d->undecoded, d->undecoded > 1 ? "s" : "");
	return d->undecoded || seam_reader_damaged(d->reader) ? EXIT_PARTIAL : EXIT_OK;
}

/* The header of a stream is complete only at its end, so it is printed behind the records. */
static bool dump_is_stream(const struct dump *d)
{
	struct seam_reader_info info = { .sz = sizeof(info) };

	seam_reader_info(d->reader, &info);
	return !info.file_size;
}

/* Prints the header by a second reader, because a file in pipe mode must be read for its header.
 * Damage among its records is left for the dump to report. */
static int dump_header(struct dump *d)
{
	struct source s = { .cmd = d->cmd, .path = d->path, .reader = d->reader };
	bool stream = dump_is_stream(d);
	int code = stream ? EXIT_OK : source_open(&s);

	if (code != EXIT_OK)
		return code;
	code = header_of(&s, false, &d->out);
	if (!stream)
		source_close(&s);
	return d->out.failed || dump_flush(d) < 0 ? EXIT_FAILED : code;
}

/*
 * 0; negative: reading failed, err says why, or writing did, which was said.
 *
 * *unwritten: it was the output that failed.
 */
static int dump_records(struct dump *d, struct seam_error *err, bool *unwritten)
{
	struct seam_record record;
	int r;

	while ((r = seam_reader_next(d->reader, &record, err)) > 0) {
		if (!d->print.arch) /* a stream tells it on the way */
			d->print.arch = seam_reader_feature_string(d->reader, SEAM_FEATURE_ARCH);
		if (dump_record(d, &record) < 0) {
			*unwritten = true;
			return -EIO;
		}
		if (d->strict && d->undecoded)
			return 0;
	}
	*unwritten = dump_flush(d) < 0;
	return *unwritten ? -EIO : r;
}

/* Prints header and records of an open input, each as soon as it can be known. An exit code. */
static int dump_read(struct dump *d, struct seam_error *err)
{
	bool stream = dump_is_stream(d), unwritten;
	int header = d->header && !stream ? dump_header(d) : EXIT_OK;
	int r;

	if (header == EXIT_FAILED)
		return EXIT_FAILED;
	r = dump_find_parts(d, err);
	if (r == -ESPIPE) {
		cmd_error(d->cmd,
		          "--time: parts of a stream are known at its end only: dump a file");
		return EXIT_FAILED;
	}
	if (r < 0) {
		cmd_error(d->cmd, "%s", err->text);
		return EXIT_FAILED;
	}
	r = dump_records(d, err, &unwritten);
	if (r < 0) {
		if (!unwritten)
			cmd_error(d->cmd, "%s", err->text);
		return EXIT_FAILED;
	}
	/* A stream's header is complete only now. */
	if (d->header && stream)
		header = dump_header(d);
	if (header == EXIT_FAILED || fflush(stdout))
		return EXIT_FAILED;
	r = dump_account(d);
	return r == EXIT_OK ? header : r;
}

/* Opens the input and dumps it. With --strict, damage is a failure. An exit code. */
static int dump_all(struct dump *d)
{
	struct seam_reader_opts opts = { .sz = sizeof(opts), .strict = d->strict };
	struct seam_error err = { 0 };
	int r;

	infile_raise_limit(d->path);
	r = seam_reader_open(&d->reader, d->path, &opts, &err);
	if (r < 0) {
		cmd_error(d->cmd, "%s", err.text);
		return EXIT_FAILED;
	}
	window_once(d->reader);
	d->print.trace = dump_trace;
	d->print.ctx = d;
	shown_put_text(&d->shown, strcmp(d->path, "-") ? d->path : "pipe");
	d->print.path = buf_text(&d->shown);
	r = dump_read(d, &err);
	return d->strict && r != EXIT_OK ? EXIT_FAILED : r;
}

/* Takes one type of -t: its name, with or without PERF_RECORD_, or its number. -EINVAL after saying
 * that there is none. */
static int dump_add_type(struct dump *d, const char *text)
{
	char *end;
	unsigned long number = strtoul(text, &end, 0);
	uint32_t type = 0;

	if (!strncasecmp(text, "PERF_RECORD_", 12))
		text += 12;
	if (*text < '0' || *text > '9' || *end) {
		for (number = 0; number < 256; number++) {
			const char *name = seam_record_name((uint32_t)number);

			if (name && !strcasecmp(name, text))
				break;
		}
		if (number == 256) {
			cmd_error(d->cmd, "-t: '%s' is no record type", text);
			return -EINVAL;
		}
	}
	if (number >= DUMP_TYPES) {
		cmd_error(d->cmd, "-t: %lu is too large", number);
		return -EINVAL;
	}
	type = (uint32_t)number;
	d->some_types = true;
	d->types[type] = 1;
	return 0;
}

/* OPTIONS_END when all was read; else the exit code, or OPTIONS_USAGE. */
static int dump_options(struct dump *d, int argc, char **argv)
{
	struct options o = options_start(argc, argv, d->cmd);
	bool named = false;
	int id;

	while ((id = options_next(&o)) != OPTIONS_END) {
		switch (id) {
		case OPTIONS_OPERAND:
			if (named) {
				cmd_error(d->cmd, "one file at a time: '%s'", o.arg);
				return OPTIONS_USAGE;
			}
			d->path = o.arg;
			named = true;
			break;
		case DUMP_INPUT:
			d->path = o.arg;
			named = true;
			break;
		case DUMP_JSON:
			d->json = true;
			break;
		case DUMP_STRICT:
			d->strict = true;
			break;
		case DUMP_HEADER:
			d->header = true;
			break;
		case DUMP_TIME:
			if (spans_option(d->cmd, o.arg, &d->time) < 0)
				return OPTIONS_USAGE;
			break;
		case DUMP_TYPE:
			if (dump_add_type(d, o.arg) < 0)
				return OPTIONS_USAGE;
			break;
		default:
			return id;
		}
	}
	if (d->header && d->json) {
		cmd_error(d->cmd, "--header is text: not with --json");
		return OPTIONS_USAGE;
	}
	return OPTIONS_END;
}

/* The command: reads its options, does the work, and frees everything at one place. An exit
 * code. */
static int dump_run(int argc, char **argv, const struct cmd *cmd)
{
	struct dump d = { .cmd = cmd, .path = "perf.data", .types = calloc(DUMP_TYPES, 1) };
	int r = EXIT_FAILED;

	if (!d.types) {
		cmd_error(cmd, "out of memory");
		return EXIT_FAILED;
	}
	r = dump_options(&d, argc, argv);
	if (r == OPTIONS_END)
		r = dump_all(&d);
	else
		r = r == OPTIONS_HELP ? EXIT_OK : EXIT_USAGE;
	buf_free(&d.shown);
	buf_free(&d.out);
	tracepoint_free(d.tracepoints);
	seam_reader_close(d.reader);
	free(d.types);
	return r;
}

static const struct option_def dump_defs[] = {
	{ "input", 'i', "FILE", "the recording, '-' for standard input (default: perf.data)",
	  DUMP_INPUT },
	{ "type", 't', "TYPE", "only records of this type, by name or number; may be repeated",
	  DUMP_TYPE },
	{ "time", 0, "SPAN", "only records of this time: " SPANS_HELP, DUMP_TIME },
	{ "header", 0, NULL, "first what seam header says", DUMP_HEADER },
	{ "json", 0, NULL, "one JSON object a record, one a line", DUMP_JSON },
	{ "strict", 0, NULL, "stop at the first damage", DUMP_STRICT },
	{ 0 },
};

COMMAND(dump) = {
	.name = "dump",
	.synopsis = "[options] [FILE]",
	.summary = "Print every record, raw bytes and decoded",
	.details = CMD_PARAGRAPHS(
	        "Records come in the order of the file, which is not that of time, in the form "
	        "of 'perf report -D'. Lines that perf takes from other records (thread, dso) are "
	        "not there. A record that cannot be decoded is shown as its bytes and the reason; "
	        "then the exit code is 3.",
	        "--time takes both ends in, in the recording's clock (12.5,13 or 12.5, or ,13). "
	        "Records without a time, such as those that the recorder itself wrote, are then "
	        "left out; one that cannot be decoded is not. Parts (10%-20%) are of the samples' "
	        "time, and not of a stream's. With --header, a stream from a pipe tells its "
	        "features on the way: its header stands behind the records."),
	.options = dump_defs,
	.run = dump_run,
};
