// SPDX-License-Identifier: MIT
/*
 * datafile.c: knows of a record its header, a sample's time and the name in a mapping. Records
 * come whole from the rings and are the kernel's, yet every look into them is bounded by their own
 * size.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abi/record_at.h"
#include "base/cursor.h"
#include "capture/buildid.h"
#include "recorder/datafile.h"
#include "perfdata/feature.h"

#define DATAFILE_FILES_MAX 65536u /* kept at most */

void datafile_events(struct datafile *sink, const struct seam_events *events)
{
	const uint64_t before = SEAM_SAMPLE_IDENTIFIER | SEAM_SAMPLE_IP | SEAM_SAMPLE_TID;
	size_t n = seam_events_count(events);

	for (size_t i = 0; i < n; i++) {
		uint64_t type = seam_events_at(events, i)->attr.sample_type;
		uint32_t at = 8 + 8 * (uint32_t)__builtin_popcountll(type & before);

		if (!(type & SEAM_SAMPLE_TIME) || (sink->time_at && sink->time_at != at)) {
			sink->time_at = 0;
			return;
		}
		sink->time_at = at;
	}
}

static void datafile_sample(struct datafile *sink, const struct seam_record *r)
{
	uint64_t time_ns;

	sink->samples++;
	if (!sink->time_at || sink->time_at + 8 > r->size)
		return;
	memcpy(&time_ns, r->bytes + sink->time_at, 8);
	if (!sink->first_ns || time_ns < sink->first_ns)
		sink->first_ns = time_ns;
	if (time_ns > sink->last_ns)
		sink->last_ns = time_ns;
}

/* MMAP: pid, tid, addr, len, pgoff, name. MMAP2: 32 bytes more before the name. */
static void datafile_mapping(struct datafile *sink, const struct seam_record *r)
{
	struct cursor c = cursor_of(r->bytes, r->size, false);
	struct intern *files = &sink->user_files;
	const char *name;

	if (r->type == SEAM_RECORD_MMAP2 && (r->misc & SEAM_MISC_MMAP_BUILD_ID))
		return;
	if ((r->misc & SEAM_MISC_CPUMODE_MASK) == SEAM_MISC_KERNEL)
		files = &sink->kernel_files;
	cursor_bytes(&c, r->type == SEAM_RECORD_MMAP2 ? 72 : 40);
	name = cursor_string(&c);
	if (name && (name[0] == '/' || name[0] == '[') && name[1] != '/' &&
	    files->n < DATAFILE_FILES_MAX)
		intern_text(files, name);
}

/* Keeps whose a process is that maps code made at run time: files in /tmp name such code and are
 * believed by their owner, and /proc says whose the process is only while it lives. */
static void datafile_owner(struct datafile *sink, const struct seam_record *r)
{
	struct cursor c = cursor_of(r->bytes, r->size, false);
	const char *name;
	uint32_t pid;
	char path[32];
	struct stat st;

	if (r->misc & SEAM_MISC_MMAP_DATA || sink->owners.n >= FEATURE_OWNERS_MAX)
		return;
	cursor_bytes(&c, 8);
	pid = cursor_u32(&c);
	cursor_bytes(&c, r->type == SEAM_RECORD_MMAP2 ? 60 : 28);
	name = cursor_string(&c);
	if (!name || !(strstr(name, "anon") || strstr(name, "/jit-") || strstr(name, "/memfd:")) ||
	    map_get(&sink->owners, pid, NULL))
		return;
	snprintf(path, sizeof(path), "/proc/%u", pid);
	if (stat(path, &st) >= 0)
		map_put(&sink->owners, pid, st.st_uid); /* without memory it is not known */
}

size_t datafile_owners(const struct datafile *sink, struct buf *out)
{
	uint64_t pid, user;
	size_t i = 0;

	while (map_next(&sink->owners, &i, &pid, &user))
		feature_put_owner(out, (uint32_t)pid, (uint32_t)user);
	return sink->owners.n;
}

static void datafile_look(struct datafile *sink, const unsigned char *bytes, size_t n)
{
	struct seam_record r;

	for (; record_at(bytes, n, &r); bytes += r.size, n -= r.size) {
		if (r.type == SEAM_RECORD_SAMPLE)
			datafile_sample(sink, &r);
		if (r.type == SEAM_RECORD_MMAP || r.type == SEAM_RECORD_MMAP2)
			datafile_owner(sink, &r);
		if (sink->keep_files && (r.type == SEAM_RECORD_MMAP || r.type == SEAM_RECORD_MMAP2))
			datafile_mapping(sink, &r);
	}
}

int datafile_write(void *ctx, const void *bytes, size_t n)
{
	struct datafile *sink = ctx;
	int error;

	if (sink->err.code)
		return -sink->err.code;
	error = seam_writer_write(sink->writer, bytes, n, &sink->err);
	if (!error)
		datafile_look(sink, bytes, n);
	return error;
}

int datafile_flush(struct datafile *sink)
{
	int error;

	if (sink->err.code)
		return -sink->err.code;
	error = seam_writer_flush(sink->writer, &sink->err);
	if (!error)
		sink->safe_samples = sink->samples;
	return error;
}

static unsigned datafile_build_id_of(const char *name, uint8_t *ret)
{
	struct stat st;
	unsigned size = 0;
	int fd;

	if (!strncmp(name, "[kernel", 7))
		return buildid_from_notes_file(AT_FDCWD, "/sys/kernel/notes", ret);
	if (name[0] != '/' || stat(name, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	fd = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd >= 0) {
		size = buildid_from_fd(fd, ret);
		close(fd);
	}
	return size;
}

static size_t datafile_put_build_ids(const struct intern *files, uint16_t misc, struct buf *out)
{
	size_t count = 0;

	for (uint32_t i = 1; i < files->n; i++) {
		uint8_t id[BUILDID_MAX];
		const char *name = intern_get(files, i);
		unsigned size = datafile_build_id_of(name, id);

		if (!size)
			continue;
		if (!strncmp(name, "[kernel.kallsyms]", 17))
			name = "[kernel.kallsyms]";
		count += feature_put_build_id(out, misc, -1, id, size, name) >= 0;
	}
	return count;
}

size_t datafile_build_ids(const struct datafile *sink, struct buf *out)
{
	return datafile_put_build_ids(&sink->kernel_files, SEAM_MISC_KERNEL, out) +
	       datafile_put_build_ids(&sink->user_files, SEAM_MISC_USER, out);
}

void datafile_free(struct datafile *sink)
{
	map_free(&sink->owners);
	intern_free(&sink->user_files);
	intern_free(&sink->kernel_files);
}
