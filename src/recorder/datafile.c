// SPDX-License-Identifier: MIT
/*
 * datafile.c: see datafile.h. Knows of a record its header, a sample's time and the name in a
 * mapping. Records come whole from the rings and are the kernel's, yet every look into them is
 * bounded by their own size.
 *
 * Every record passes here once, on the recorder's thread, so that looks are cheap: nothing is
 * decoded. What is found (times, names, owners) goes into the features behind the data, when the
 * file is closed.
 *
 * Invariant: after the first failure of writing nothing is written any more; err says what failed,
 * and what the file holds by then stays readable.
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

/* The fields of a sample have a fixed order: IDENTIFIER, IP, TID, TIME, 8 bytes each, behind the
 * header. 0 where the events do not agree. */
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

/* Times of one ring only grow, but rings take turns: the least and the greatest are kept. */
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
	uint32_t known = d->user_files.n, number;

	/* The kernel has told this file's build-id itself: nothing need be read. */
	if (r->type == SEAM_RECORD_MMAP2 && (r->misc & SEAM_MISC_MMAP_BUILD_ID))
		return;
	if ((r->misc & SEAM_MISC_CPUMODE_MASK) == SEAM_MISC_KERNEL)
		files = &d->kernel_files;
	/* Where build-ids are not kept here, only files with code matter, for their contents. */
	if (!d->keep_files && (files == &d->kernel_files || r->misc & SEAM_MISC_MMAP_DATA))
		return;
	cursor_bytes(&c, r->type == SEAM_RECORD_MMAP2 ? 72 : 40);
	name = cursor_string(&c);
	/* "//anon" is no file. */
	if (name && (name[0] == '/' || name[0] == '[') && name[1] != '/' &&
	    files->n < DATAFILE_FILES_MAX) {
		number = intern_text(files, name);
		if (files == &d->user_files && files->n > known && !d->pipe &&
		    !(r->misc & SEAM_MISC_MMAP_DATA))
			datafile_contents_first(d, number);
	}
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
	/* MMAP: addr, len, pgoff and tid are passed over. MMAP2 has device, inode, protection and
	 * flags as well. */
	cursor_bytes(&c, r->type == SEAM_RECORD_MMAP2 ? 60 : 28);
	name = cursor_string(&c);
	/* How runtimes map such code: memory without a name, a jitdump, or a memfd. */
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

/* n bytes of whole records. */
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

/* A capture_write. The writer copies what it needs. */
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

/* What was written reaches the file: a reader of a recording that is killed sees it. */
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
	/* The old file of that name is moved away first. */
	error = output_rotate(&d->output, o->path);
	if (error)
		return seam_error_set(err, -error, NULL, SEAM_NO_OFFSET, NULL, "%s: %s", o->path,
		                      strerror(-error));
	error = seam_writer_open(&d->writer, o->path, events, &opts, err);
	if (!error)
		error = datafile_head(d->writer, o, events, err);
	/* Nothing of a recording that did not begin stays behind. */
	if (error)
		datafile_abandon(d);
	d->time_at = datafile_time_at(events);
	return error;
}

uint64_t datafile_bytes(const struct datafile *d)
{
	struct stat st;

	/* Of a pipe or a device only what was given to it is known. */
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
	/* No deferred record came, and no sample waits for one: the events of the file need not
	 * promise them. */
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
	/* Writing failed somewhere: the file itself says what a reader will find. */
	if (d->err.code && S_ISREG(st.st_mode))
		d->safe_samples = datafile_count_samples(d->output.path);
	return error;
}

/* Removes the file, and puts back the one that was moved away. */
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
	map_free(&d->first_files);
	buf_free(&d->first_contents);
	intern_free(&d->kernel_files);
}
