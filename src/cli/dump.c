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

#include "abi/print.h"
#include "cli/cmd.h"

#define DUMP_FLUSH (1u << 20)
#define DUMP_TYPES 65536u

enum {
	DUMP_INPUT = 1,
	DUMP_JSON,
	DUMP_TYPE,
	DUMP_STRICT
};

struct dump {
	const struct cmd *cmd;
	const char *path;
	bool json, strict, some_types;
	unsigned char *types; /* one byte per type asked for with -t */
	struct seam_reader *reader;
	struct print_opts print;
	struct buf out;
	uint64_t undecoded;
	struct seam_error first; /* the first record that could not be decoded */
};

static int dump_flush(struct dump *d)
{
	if (fwrite(d->out.bytes, 1, d->out.n, stdout) != d->out.n) {
		cmd_error(d->cmd, "standard output: %s", strerror(errno));
		return -EIO;
	}
	buf_clear(&d->out);
	return 0;
}

static int dump_record(struct dump *d, const struct seam_record *record)
{
	const struct seam_events *events = seam_reader_events(d->reader);
	struct seam_error err = { 0 };
	int r;

	if (d->some_types && (record->type >= DUMP_TYPES || !d->types[record->type]))
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

/* What was skipped or could not be decoded, on stderr; the exit code. */
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

static int dump_all(struct dump *d)
{
	struct seam_reader_opts opts = { .sz = sizeof(opts), .strict = d->strict };
	struct seam_error err = { 0 };
	struct seam_record record;
	int r = seam_reader_open(&d->reader, d->path, &opts, &err);

	if (r < 0) {
		cmd_error(d->cmd, "%s", err.text);
		return EXIT_FAILED;
	}
	d->print.path = strcmp(d->path, "-") ? d->path : "pipe";
	while ((r = seam_reader_next(d->reader, &record, &err)) > 0) {
		if (!d->print.arch) /* a stream tells it on the way */
			d->print.arch = seam_reader_feature_string(d->reader, SEAM_FEATURE_ARCH);
		if (dump_record(d, &record) < 0)
			return EXIT_FAILED;
		if (d->strict && d->undecoded)
			break;
	}
	if (dump_flush(d) < 0 || fflush(stdout))
		return EXIT_FAILED;
	if (r < 0) {
		cmd_error(d->cmd, "%s", err.text);
		return EXIT_FAILED;
	}
	r = dump_account(d);
	return d->strict && r != EXIT_OK ? EXIT_FAILED : r;
}

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
		case DUMP_TYPE:
			if (dump_add_type(d, o.arg) < 0)
				return OPTIONS_USAGE;
			break;
		default:
			return id;
		}
	}
	return OPTIONS_END;
}

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
	buf_free(&d.out);
	seam_reader_close(d.reader);
	free(d.types);
	return r;
}

static const struct option_def dump_defs[] = {
	{ "input", 'i', "FILE", "the recording, '-' for standard input (default: perf.data)",
	  DUMP_INPUT },
	{ "type", 't', "TYPE", "only records of this type, by name or number; may be repeated",
	  DUMP_TYPE },
	{ "json", 0, NULL, "one JSON object a record, one a line", DUMP_JSON },
	{ "strict", 0, NULL, "stop at the first damage", DUMP_STRICT },
	{ 0 },
};

const struct cmd cmd_dump = {
	.name = "dump",
	.synopsis = "[options] [FILE]",
	.summary = "Print every record, raw bytes and decoded",
	.details =
	        "Records come in the order of the file, which is not that of time, in the form of\n"
	        "'perf report -D'. Lines that perf takes from other records (thread, dso) are not\n"
	        "there. A record that cannot be decoded is shown as its bytes and the reason; "
	        "then\n"
	        "the exit code is 3.",
	.options = dump_defs,
	.run = dump_run,
};
