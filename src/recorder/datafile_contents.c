// SPDX-License-Identifier: MIT
/*
 * datafile_contents.c: what the mapped files without a build-id contain when they are met first and
 * when the recording ends. By that a reader knows whether a file is still the same.
 *
 * Invariant: bytes that are read and the time for it are bounded; files beyond that are left out.
 * Anybody may choose the paths, so only regular files that begin as ELF files are opened as such.
 */
#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "perfdata/feature.h"
#include "recorder/datafile.h"
#include "tables/contents.h"

#define CONTENTS_BYTES_MAX (256u << 20) /* of all files: about a quarter of a second */
#define CONTENTS_NS 400000000u          /* for all of them */
#define SECOND 1000000000u
/* While it is recorded the rings wait for it, so only what costs little is read then. */
#define FIRST_FILE_MAX (8u << 20)
#define FIRST_BYTES_MAX (64u << 20)
#define FIRST_NS 20000000u      /* for one file, */
#define FIRST_ALL_NS 200000000u /* and for all */

/* What a file says of its own sections may be as long as it is: no larger one is opened. Without
 * O_NONBLOCK the opening of a FIFO would wait for its writer. */
static bool contents_is_elf(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	unsigned char magic[SELFMAG];
	struct stat st;
	bool is = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	          st.st_size <= (off_t)CONTENTS_BYTES_MAX &&
	          pread(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
	          !memcmp(magic, ELFMAG, SELFMAG);

	if (fd >= 0)
		close(fd);
	return is;
}

/* Times before 1970 are as good as none. */
static uint64_t contents_time(const struct timespec *t)
{
	return t->tv_sec < 0 ? 0 : (uint64_t)t->tv_sec * SECOND + (uint64_t)t->tv_nsec;
}

/* Reads the contents of the file at a path, if it has no build-id and did not change meanwhile. */
static bool contents_file(const char *path, struct contents_bounds *bounds,
                          struct feature_file *ret)
{
	struct image_build_id id;
	struct contents contents;
	struct image *image;
	struct stat st, after;
	bool told;

	if (!contents_is_elf(path) || image_open(&image, path, NULL) < 0)
		return false;
	/* Size and change time before and after: a file that is being written has no contents to
	 * keep. */
	told = fstat(image_fd(image), &st) == 0 && image_build_id(image, &id) <= 0 &&
	       contents_of(image, bounds, &contents) == 0 && fstat(image_fd(image), &after) == 0 &&
	       after.st_size == st.st_size &&
	       contents_time(&after.st_ctim) == contents_time(&st.st_ctim);
	image_close(image);
	if (!told)
		return false;
	*ret = (struct feature_file){
		.kind = contents.kind,
		.inode = st.st_ino,
		.changed_ns = contents_time(&st.st_mtim),
		.size = contents.size,
		.path = path,
	};
	/* The later one of the two times: an owner may set mtime back. */
	if (contents_time(&st.st_ctim) > ret->changed_ns)
		ret->changed_ns = contents_time(&st.st_ctim);
	memcpy(ret->digest, contents.digest, sizeof(ret->digest));
	return true;
}

/* ---- when it was met ---- */

/* Keeps what a small file holds now, when it is met: once for a file, and never longer than the
 * bounds above in all. What is not read here is read at the end, or is not known. */
void datafile_contents_first(struct datafile *d, uint32_t number)
{
	struct contents_bounds bounds = { .bytes = FIRST_FILE_MAX };
	size_t place = d->first_contents.n / sizeof(struct feature_file);
	struct timespec begun, now;
	struct feature_file file;
	bool told;

	if (place >= FEATURE_FILES_MAX || d->first_bytes >= FIRST_BYTES_MAX ||
	    d->first_spent_ns >= FIRST_ALL_NS)
		return;
	clock_gettime(CLOCK_MONOTONIC, &begun);
	bounds.deadline_ns = contents_time(&begun) + FIRST_NS;
	told = contents_file(intern_get(&d->user_files, number), &bounds, &file);
	clock_gettime(CLOCK_MONOTONIC, &now);
	d->first_spent_ns += contents_time(&now) - contents_time(&begun);
	d->first_bytes += FIRST_FILE_MAX - bounds.bytes;
	if (!told)
		return;
	file.path = NULL;
	if (buf_put(&d->first_contents, &file, sizeof(file)) >= 0)
		map_put(&d->first_files, number, place + 1); /* else it is not known */
}

/* If the same is in a file as when it was met, the entry is of that moment: what was done to its
 * inode since, or that it is another one now, does not matter. */
static void contents_since(const struct datafile *d, uint32_t number, struct feature_file *file)
{
	const struct feature_file *all = (const void *)d->first_contents.bytes, *first;
	uint64_t place;

	if (!map_get(&d->first_files, number, &place))
		return;
	first = &all[place - 1];
	if (first->kind != file->kind || first->size != file->size ||
	    memcmp(first->digest, file->digest, sizeof(first->digest)) != 0)
		return;
	file->inode = first->inode;
	file->changed_ns = first->changed_ns;
}

/* ---- at the end ---- */

/* Appends one entry for each such file, within the bounds in bytes and in time. */
size_t datafile_contents(const struct datafile *d, struct buf *out)
{
	struct contents_bounds bounds = { .bytes = CONTENTS_BYTES_MAX };
	struct timespec now = { 0 };
	struct feature_file file;
	size_t count = 0;

	clock_gettime(CLOCK_MONOTONIC, &now);
	bounds.deadline_ns = contents_time(&now) + CONTENTS_NS;
	if (d->end_ns && d->end_ns < bounds.deadline_ns)
		bounds.deadline_ns = d->end_ns;
	/* Number 0 of an intern is the empty text. */
	for (uint32_t i = 1; i < d->user_files.n && count < FEATURE_FILES_MAX; i++) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		if (contents_time(&now) >= bounds.deadline_ns)
			break;
		if (!contents_file(intern_get(&d->user_files, i), &bounds, &file))
			continue;
		contents_since(d, i, &file);
		count += feature_put_file(out, &file) >= 0;
	}
	return count;
}
