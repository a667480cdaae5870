// SPDX-License-Identifier: MIT
// file_identity.c: see file_identity.h. Knows how late a time of the recording can be at most, in
// calendar time.
//
// CLOCK_DATA tells it. Without that, times are those of the kernel's own clock, which began with
// the machine: a recording of an earlier boot is older still. That clock and the calendar drift
// apart by less than 1/4000 (NTP's 500 ppm would be 1/2000, but not for long). No time is later
// than the last write to the recording.
#include "samples/file_identity.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "perfdata/feature.h"
#include "samples/recording.h"
#include "tables/contents.h"

_Static_assert(FEATURE_FILE_DIGEST == BLAKE2_BYTES, "digests of files are those of contents.h");

#define SECOND 1000000000ULL
#define CLOCK_DATA_SLACK 1000000ULL /* its two clocks are read one after the other */
#define DRIFT 4000u

struct file_identity_file {
	uint64_t first_ns; /* when it was mapped; 0: before the recording */
	uint64_t inode;    /* 0: not said */
	bool several;      /* another one, too */
};

/* Files are found by the hash of their path. */
static uint64_t file_identity_key(const char *path)
{
	return map_hash_bytes(path, strlen(path), 0);
}

/* Files with a build-id are not learned: they need no other proof. Of several mappings the earliest
 * time counts. */
int file_identity_learn(struct file_identity *v, const struct seam_decoded *d)
{
	const struct seam_mmap *m = &d->mmap;
	struct file_identity_file add = { .inode = d->record->type == SEAM_RECORD_MMAP2 ? m->ino
		                                                                        : 0 },
	                          *f;
	uint64_t *slot;

	if (m->has_build_id || m->filename[0] != '/')
		return 0;
	add.first_ns = d->id.has & SEAM_SAMPLE_TIME ? d->id.time_ns : 0;
	slot = map_slot(&v->by_path, file_identity_key(m->filename), NULL);
	if (!slot)
		return -ENOMEM;
	if (!*slot) {
		*slot = v->files.n / sizeof(add) + 1;
		return buf_put(&v->files, &add, sizeof(add));
	}
	f = (struct file_identity_file *)(void *)v->files.bytes + (*slot - 1);
	f->first_ns = add.first_ns < f->first_ns ? add.first_ns : f->first_ns;
	f->several |= f->inode && add.inode && f->inode != add.inode;
	f->inode = f->inode ? f->inode : add.inode;
	return 0;
}

void file_identity_free(struct file_identity *v)
{
	map_free(&v->by_path);
	buf_free(&v->files);
}

/* 0: the clock cannot be read. */
static uint64_t file_identity_now(clockid_t clock)
{
	struct timespec now;

	return clock_gettime(clock, &now) < 0
	               ? 0
	               : (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
}

/* The latest calendar time, if the recording's clock is the one that began with the machine. */
static uint64_t file_identity_since_boot(const struct recording *rec, uint64_t ns)
{
	uint64_t real = file_identity_now(CLOCK_REALTIME), up = file_identity_now(CLOCK_MONOTONIC);

	for (size_t i = 0; i < seam_events_count(rec->events); i++)
		if (seam_events_at(rec->events, i)->attr.flags & SEAM_ATTR_USE_CLOCKID)
			return UINT64_MAX;
	/* From the calendar's year 2000 on, and a machine that runs for less than 30 years. */
	if (real < up || ns > SECOND << 30)
		return UINT64_MAX;
	return real - up + ns + ns / DRIFT + SECOND;
}

/* The latest moment, in ns since the epoch, that a time of the recording may be; UINT64_MAX:
 * any. */
static uint64_t file_identity_latest(const struct recording *rec, uint64_t ns)
{
	struct seam_reader_info info = { .sz = sizeof(info) };
	struct feature_clock_data clock;
	struct seam_bytes bytes;
	uint64_t latest;

	if (seam_reader_info(rec->reader, &info) < 0)
		return UINT64_MAX;
	if (ns && seam_reader_feature(rec->reader, SEAM_FEATURE_CLOCK_DATA, &bytes) > 0 &&
	    feature_clock_data(&bytes, info.swapped, &clock) >= 0)
		return ns - clock.clockid_time_ns + clock.wall_clock_ns + CLOCK_DATA_SLACK;
	latest = ns ? file_identity_since_boot(rec, ns) : UINT64_MAX;
	if (info.written_ns && info.written_ns < latest)
		latest = info.written_ns;
	return latest;
}

/* Times before 1970 count as 1970. */
static uint64_t file_identity_time(const struct timespec *t)
{
	return t->tv_sec < 0 ? 0 : (uint64_t)t->tv_sec * SECOND + (uint64_t)t->tv_nsec;
}

/* jitted-PID-NUMBER.so: `perf inject -j` writes them after the recording and before the end of its
 * own output, in which they are mapped from the time on at which the code was made. */
static bool file_identity_injected(const char *path)
{
	const char *name = strrchr(path, '/');
	unsigned pid, number;
	int n = 0;

	return name && sscanf(name, "/jitted-%u-%u.so%n", &pid, &number, &n) == 2 && n && !name[n];
}

/* When the recording was last written to, in ns since the epoch; UINT64_MAX: not known. */
static uint64_t file_identity_written(const struct recording *rec)
{
	struct seam_reader_info info = { .sz = sizeof(info) };

	return seam_reader_info(rec->reader, &info) < 0 || !info.written_ns ? UINT64_MAX
	                                                                    : info.written_ns;
}

/* Why the file may not be what was mapped, by its times; NULL: it is. Whoever writes to a file can
 * put its old time back, so that of its inode counts, which chmod and ln change, too. */
static const char *file_identity_changed(const struct recording *rec,
                                         const struct file_identity_file *f, const char *path,
                                         const struct stat *st)
{
	uint64_t latest = file_identity_injected(path) ? file_identity_written(rec)
	                                               : file_identity_latest(rec, f->first_ns);

	if (file_identity_time(&st->st_mtim) > latest)
		return "recorded without a build-id, and the file there was changed since";
	if (file_identity_time(&st->st_ctim) > latest)
		return "recorded without a build-id, and the file there was changed since, or its "
		       "rights or links alone: nothing in the recording tells which";
	return NULL;
}

/*
 * Whether the file has the same contents as the one that was mapped. The recorder looked at the
 * path when the recording ended: what it saw counts if that was the mapped inode, unchanged since
 * before it was mapped. Later changes of inode, rights and times tell nothing about contents.
 */
static bool file_identity_same_contents(const struct recording *rec,
                                        const struct file_identity_file *f, const char *path,
                                        struct image *image)
{
	struct seam_reader_info info = { .sz = sizeof(info) };
	struct contents contents;
	struct feature_file said;
	struct seam_bytes bytes;

	if (!rec->reader || seam_reader_info(rec->reader, &info) < 0 ||
	    seam_reader_feature(rec->reader, FEATURE_FILES, &bytes) <= 0 ||
	    feature_file(&bytes, info.swapped, path, &said) <= 0 ||
	    (f->inode && f->inode != said.inode) ||
	    said.changed_ns > file_identity_latest(rec, f->first_ns))
		return false;
	contents = (struct contents){ .kind = said.kind, .size = said.size };
	memcpy(contents.digest, said.digest, sizeof(contents.digest));
	return contents_are(image, &contents);
}

/* Whether the file at a path may be the recorded one: 0, or -ESTALE with the reason in err. Called
 * by image_find for files whose build-id was not recorded. */
static int file_identity_for(const void *ctx, struct image *image, const char *path,
                             const struct stat *st, struct seam_error *err)
{
	const struct recording *rec = ctx;
	const struct file_identity_file *files = (const void *)rec->file_identity.files.bytes;
	struct file_identity_file f = { 0 };
	const char *why = NULL;
	uint64_t at = 0;

	if (map_get(&rec->file_identity.by_path, file_identity_key(path), &at))
		f = files[at - 1];
	if (!f.first_ns && rec->first_ns != UINT64_MAX)
		f.first_ns = rec->first_ns;
	if (rec->foreign)
		why = "recorded elsewhere, without a build-id";
	else if (f.several)
		why = "recorded without a build-id, and it was not always the same file";
	else if (f.inode && f.inode != st->st_ino)
		why = "recorded without a build-id, and the file there is another one now";
	else
		why = file_identity_changed(rec, &f, path, st);
	if (why && !rec->foreign && !f.several && file_identity_same_contents(rec, &f, path, image))
		why = NULL;
	return why ? seam_error_set(err, ESTALE, path, SEAM_NO_OFFSET, NULL, "%s", why) : 0;
}

/* A recording that was made up could name any file, but not its inode. */
static bool file_identity_knows(const void *ctx, const char *path)
{
	const struct recording *rec = ctx;
	const struct file_identity_file *files = (const void *)rec->file_identity.files.bytes;
	uint64_t at = 0;

	return map_get(&rec->file_identity.by_path, file_identity_key(path), &at) &&
	       files[at - 1].inode && !files[at - 1].several;
}

/* What image_find asks before it believes a file without a build-id. */
void file_identity_of(const struct recording *rec, struct image_identity *ret)
{
	*ret = (struct image_identity){ .file_identity = file_identity_for,
		                        .knows = file_identity_knows,
		                        .ctx = rec };
}
