// SPDX-License-Identifier: MIT
/*
 * datafile.c: see datafile.h. Knows of a record its header, a sample's time and the name in a
 * mapping. Records come whole from the rings and are the kernel's, yet every look into them is
 * bounded by their own size.
 */
#include "perfdata/writer_flags.h"
#include "recorder/datafile.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <seam/reader.h>

#include "abi/record_at.h"
#include "base/cursor.h"
#include "perfdata/feature.h"
#include "recorder/datafile_head.h"

#define DATAFILE_FILES_MAX 65536u /* kept at most */

uint32_t datafile_time_at(const struct seam_events *events)
{
	const uint64_t before = SEAM_SAMPLE_IDENTIFIER | SEAM_SAMPLE_IP | SEAM_SAMPLE_TID;
	uint32_t ret = 0;

	for (size_t i = 0; i < seam_events_count(events); i++) {
		uint64_t type = seam_events_at(events, i)->attr.sample_type;
		uint32_t at = 8 + 8 * (uint32_t)__builtin_popcountll(type & before);

		if (!(type & SEAM_SAMPLE_TIME) || (ret && ret != at))
			return 0;
		ret = at;
	}
	return ret;
}

static void datafile_sample(struct datafile *d, const struct seam_record *r)
{
	uint64_t time_ns;

	d->samples++;
	if (!d->time_at || d->time_at + 8 > r->size)
		return;
	memcpy(&time_ns, r->bytes + d->time_at, 8);
	if (!d->first_ns || time_ns < d->first_ns)
		d->first_ns = time_ns;
	if (time_ns > d->last_ns)
		d->last_ns = time_ns;
}

/* MMAP: pid, tid, addr, len, pgoff, name. MMAP2: 32 bytes more before the name. */
static void datafile_mapping(struct datafile *d, const struct seam_record *r)
{
	struct cursor c = cursor_of(r->bytes, r->size, false);
	struct intern *files = &d->user_files;
	const char *name;

	if (r->type == SEAM_RECORD_MMAP2 && (r->misc & SEAM_MISC_MMAP_BUILD_ID))
		return;
	if ((r->misc & SEAM_MISC_CPUMODE_MASK) == SEAM_MISC_KERNEL)
		files = &d->kernel_files;
	if (!d->keep_files && (files == &d->kernel_files || r->misc & SEAM_MISC_MMAP_DATA))
		return;
	cursor_bytes(&c, r->type == SEAM_RECORD_MMAP2 ? 72 : 40);
	name = cursor_string(&c);
	if (name && (name[0] == '/' || name[0] == '[') && name[1] != '/' &&
	    files->n < DATAFILE_FILES_MAX)
		intern_text(files, name);
}

/* Keeps the owner of a process that maps code made at run time. Files in /tmp name such code and
 * are trusted by their owner, and /proc tells the owner only while the process lives. */
static void datafile_owner(struct datafile *d, const struct seam_record *r)
{
	struct cursor c = cursor_of(r->bytes, r->size, false);
	const char *name;
	uint32_t pid;
	char path[32];
	struct stat st;

	if (r->misc & SEAM_MISC_MMAP_DATA || d->owners.n >= FEATURE_OWNERS_MAX)
		return;
	cursor_bytes(&c, 8);
	pid = cursor_u32(&c);
	cursor_bytes(&c, r->type == SEAM_RECORD_MMAP2 ? 60 : 28);
	name = cursor_string(&c);
	if (!name || !(strstr(name, "anon") || strstr(name, "/jit-") || strstr(name, "/memfd:")) ||
	    map_get(&d->owners, pid, NULL))
		return;
	snprintf(path, sizeof(path), "/proc/%u", pid);
	if (stat(path, &st) >= 0)
		map_put(&d->owners, pid, st.st_uid); /* without memory it is not known */
}

/* Whether a sample's chain may end with the marker of a deferred half: looked for in all its words,
 * for a file that promises too much is still right. */
static bool datafile_defers(const struct seam_record *r)
{
	const uint64_t marker = SEAM_CONTEXT_USER_DEFERRED;

	for (size_t at = 8; at + 8 <= r->size; at += 8)
		if (!memcmp(r->bytes + at, &marker, 8))
			return true;
	return false;
}

static void datafile_look(struct datafile *d, const unsigned char *bytes, size_t n)
{
	struct seam_record r;

	for (; record_at(bytes, n, &r); bytes += r.size, n -= r.size) {
		if (r.type == SEAM_RECORD_SAMPLE)
			datafile_sample(d, &r);
		if (!d->defers)
			d->defers = r.type == SEAM_RECORD_CALLCHAIN_DEFERRED ||
			            (r.type == SEAM_RECORD_SAMPLE && datafile_defers(&r));
		if (r.type == SEAM_RECORD_MMAP || r.type == SEAM_RECORD_MMAP2) {
			datafile_owner(d, &r);
			datafile_mapping(d, &r);
		}
	}
}

int datafile_write(void *ctx, const void *bytes, size_t n)
{
	struct datafile *d = ctx;
	int error;

	if (d->err.code)
		return -d->err.code;
	error = seam_writer_write(d->writer, bytes, n, &d->err);
	if (!error)
		datafile_look(d, bytes, n);
	return error;
}

int datafile_flush(void *ctx)
{
	struct datafile *d = ctx;
	int error;

	if (d->err.code)
		return -d->err.code;
	error = seam_writer_flush(d->writer, &d->err);
	if (!error)
		d->safe_samples = d->samples;
	return error;
}

/* ---- its life ---- */

/* From here on the file is a valid recording at every moment, so that one that is killed can be
 * read. */
int datafile_open(struct datafile *d, const struct datafile_opts *o,
                  const struct seam_events *events, struct seam_error *err)
{
	struct seam_writer_opts opts = {
		.sz = sizeof(opts),
		.pipe = !strcmp(o->path, "-"),
		.compress_level = o->compress_level,
	};
	int error;

	*d = (struct datafile){ .pipe = opts.pipe, .keep_files = o->keep_files };
	error = output_rotate(&d->output, o->path);
	if (error)
		return seam_error_set(err, -error, NULL, SEAM_NO_OFFSET, NULL, "%s: %s", o->path,
		                      strerror(-error));
	error = seam_writer_open(&d->writer, o->path, events, &opts, err);
	if (!error)
		error = datafile_head(d->writer, o, events, err);
	if (error)
		datafile_abandon(d);
	d->time_at = datafile_time_at(events);
	return error;
}

uint64_t datafile_bytes(const struct datafile *d)
{
	struct stat st;

	if (!d->pipe && !stat(d->output.path, &st) && S_ISREG(st.st_mode))
		return (uint64_t)st.st_size;
	return d->writer ? seam_writer_bytes(d->writer) : d->bytes;
}

/* How many samples are in a file that could not be written to its end. */
static uint64_t datafile_count_samples(const char *path)
{
	struct seam_reader *reader;
	struct seam_record record;
	uint64_t n = 0;

	if (seam_reader_open(&reader, path, NULL, NULL) < 0)
		return 0;
	while (seam_reader_next(reader, &record, NULL) > 0)
		n += record.type == SEAM_RECORD_SAMPLE;
	seam_reader_close(reader);
	return n;
}

/* Also for a file whose writing failed: what is in it is kept. -errno, and err says why. */
int datafile_close(struct datafile *d, struct seam_error *err)
{
	struct stat st;
	int error;

	if (!d->writer)
		return 0;
	if (!d->pipe)
		datafile_tail(d);
	if (!d->defers)
		writer_clear_flags(d->writer, SEAM_ATTR_DEFER_CALLCHAIN | SEAM_ATTR_DEFER_OUTPUT);
	d->bytes = seam_writer_bytes(d->writer);
	error = seam_writer_close(d->writer, err);
	d->writer = NULL;
	if (!error)
		d->safe_samples = d->samples;
	if (d->pipe || stat(d->output.path, &st) < 0)
		return error;
	d->bytes = (uint64_t)st.st_size;
	if (d->err.code && S_ISREG(st.st_mode))
		d->safe_samples = datafile_count_samples(d->output.path);
	return error;
}

void datafile_abandon(struct datafile *d)
{
	if (d->writer)
		seam_writer_close(d->writer, NULL);
	d->writer = NULL;
	output_abandon(&d->output);
}

void datafile_free(struct datafile *d)
{
	output_free(&d->output);
	map_free(&d->owners);
	intern_free(&d->user_files);
	intern_free(&d->kernel_files);
}
