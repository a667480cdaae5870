// SPDX-License-Identifier: MIT
/*
 * infile.c: see infile.h.
 *
 * A path becomes an open reader. A pipe is read to its end first, because the passes over a
 * recording need it twice; infile_open_once spares that where one pass is enough. Also here: what
 * is said about damage, and the exit code that follows from it.
 *
 * State of the program: the archive that is in use (one at most), and whether progress is on the
 * terminal.
 */
#include "input/infile.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/heap.h"
#include "base/scratch.h"
#include "image/image.h"

#define READ_SIZE (1u << 20)
/* All forms of the magic have eight bytes. */
#define MAGIC_SIZE 8u
/* A writer that has written half a header writes the rest soon. */
#define PEEK_AGAIN_MS 1
#define DAMAGE_SHOWN 10 /* descriptions on stderr; the rest is counted */

static struct {
	const char *name, *dir, *recording;
	bool inside;
} infile_archive; /* name NULL: none is in use */

/* The strings stay the caller's. recording: what is read if no -i is given. */
void infile_set_archive(const char *name, const char *dir, const char *recording, bool inside)
{
	infile_archive.name = name;
	infile_archive.dir = dir;
	infile_archive.recording = recording;
	infile_archive.inside = inside;
}

/* -EINVAL, after saying so: a path was given before. */
int infile_set(struct infile *in, const struct cmd *cmd, const char *path)
{
	if (in->path) {
		cmd_error(cmd, "one recording at a time: '%s' or '%s'", in->path, path);
		return -EINVAL;
	}
	in->path = path;
	return 0;
}

/* Whether it can be read only once. A pipe of the shell (<(...)) is one, by its path in /dev/fd. */
static bool infile_is_stream(const char *path)
{
	struct stat st;

	return !strcmp(path, "-") || (!stat(path, &st) && S_ISFIFO(st.st_mode));
}

/* Makes a file without a name, for input that is too large for memory; -errno. A sixteenth of what
 * is free there is left to others. */
static int infile_spool_open(struct infile *in)
{
	int fd = scratch_file();
	struct statvfs fs;

	if (fd < 0)
		return -errno;
	in->spool = fd;
	if (!in->room)
		in->room = fstatvfs(fd, &fs) == 0 ? (uint64_t)fs.f_bavail * fs.f_frsize / 16 * 15
		                                  : UINT64_MAX;
	return 0;
}

/* Moves what was read into the file. 0 or -errno. */
static int infile_spool_put(struct infile *in)
{
	for (size_t at = 0; at < in->stream.n;) {
		size_t left = in->stream.n - at;
		ssize_t put = -1;

		errno = ENOSPC;
		if (in->spooled + in->stream.n <= in->room)
			put = write(in->spool, in->stream.bytes + at, left);
		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return put < 0 ? -errno : -EIO;
		at += (size_t)put;
	}
	in->spooled += in->stream.n;
	if (in->stream.capacity > 4 * READ_SIZE)
		buf_free(&in->stream);
	buf_clear(&in->stream);
	return 0;
}

/* There is no place for the stream. r: why. */
static int infile_no_room(const struct infile *in, const struct cmd *cmd, int r)
{
	cmd_error(
	        cmd,
	        "%s: after %llu bytes of this stream, %s cannot take the rest: %s; let TMPDIR name "
	        "a directory with room, or write the recording to a file and read that",
	        in->path, (unsigned long long)in->spooled, scratch_dir(), strerror(-r));
	return EXIT_FAILED;
}

/* A recording begins with its magic. If the input does not, the rest is not waited for: it may
 * never end. Magic of both byte orders, and of version 1. */
static bool infile_may_be_recording(const struct infile *in)
{
	return in->spooled || in->stream.n < MAGIC_SIZE ||
	       !memcmp(in->stream.bytes, "PERFILE2", MAGIC_SIZE) ||
	       !memcmp(in->stream.bytes, "2ELIFREP", MAGIC_SIZE) ||
	       !memcmp(in->stream.bytes, "PERFFILE", MAGIC_SIZE);
}

/* Reads the whole stream into memory, or into a file if it is too large. */
static int infile_slurp(struct infile *in, const struct cmd *cmd, int fd)
{
	for (;;) {
		void *to = buf_reserve(&in->stream, READ_SIZE);
		ssize_t n;
		int r = 0;

		errno = ENOMEM;
		n = to ? read(fd, to, READ_SIZE) : -1;
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			cmd_error(cmd, "%s: %s", in->path, strerror(errno));
			return EXIT_FAILED;
		}
		in->stream.n += (size_t)n;
		if (!in->spool && in->stream.n > INFILE_MEMORY_MAX)
			r = infile_spool_open(in);
		if (r >= 0 && in->spool)
			r = infile_spool_put(in);
		if (r < 0)
			return infile_no_room(in, cmd, r);
		if (!n || !infile_may_be_recording(in))
			return EXIT_OK;
	}
}

/* Reads all of a pipe first, into memory or a file without a name, because a recording is read
 * twice. -ECANCELED: what is wrong was said. */
static int infile_open_stream(struct infile *in, const struct cmd *cmd, struct seam_error *err)
{
	bool standard = !strcmp(in->path, "-");
	int fd = standard ? STDIN_FILENO : in->fd ? in->fd : open(in->path, O_RDONLY | O_CLOEXEC);
	int r;

	if (fd < 0)
		return seam_error_set(err, errno, in->path, SEAM_NO_OFFSET, NULL, "%s",
		                      strerror(errno));
	r = infile_slurp(in, cmd, fd);
	if (!standard)
		close(fd);
	in->fd = 0;
	if (r != EXIT_OK)
		return -ECANCELED; /* said already */
	if (in->spool && lseek(in->spool, 0, SEEK_SET) == 0)
		/* A spooled recording is mapped again like any file. */
		return seam_reader_open_fd(&in->reader, in->spool,
		                           standard ? "standard input" : in->path, NULL, err);
	return seam_reader_open_memory(&in->reader, in->stream.bytes, in->stream.n,
	                               standard ? "standard input" : in->path, NULL, err);
}

/* Looks at the first bytes of a pipe, which stay in it. Waits for them as long as somebody may
 * write. */
static bool infile_peek(int fd, void *bytes, size_t n)
{
	/* No events: only an error or a writer that has gone wakes it. */
	struct pollfd writer = { .fd = fd };
	bool over = false;
	ssize_t got = 0;
	int copy[2];

	if (pipe2(copy, O_CLOEXEC) < 0)
		return false;
	for (;;) {
		/* tee(2) copies between pipes and takes nothing away, but it needs a second
		 * pipe. */
		got = tee(fd, copy[1], n, 0); /* waits for the first byte */
		if (got > 0)
			got = read(copy[0], bytes, n);
		if (got <= 0 || (size_t)got >= n || over)
			break;
		/* A part of the header: the rest is on its way, or will never come. */
		poll(&writer, 1, PEEK_AGAIN_MS);
		over = writer.revents;
	}
	close(copy[0]);
	close(copy[1]);
	return got > 0 && (size_t)got >= n;
}

/* The header of pipe mode is its magic and its size, 16; a file's is longer. False also if it
 * cannot be told: then the input is read as a whole. */
static bool infile_is_pipe_mode(int fd)
{
	unsigned char head[16];
	uint64_t size;

	if (!infile_peek(fd, head, sizeof(head)))
		return false;
	memcpy(&size, head + 8, sizeof(size));
	return size == sizeof(head) || size == __builtin_bswap64(sizeof(head));
}

/* Opens a stream in pipe mode to be read once, as it comes. False: it is something else, or cannot
 * be opened; infile_open then reads it to its end. */
bool infile_open_once(struct infile *in)
{
	bool standard = in->path && !strcmp(in->path, "-");
	int fd;

	if (!in->path || !infile_is_stream(in->path) || (standard && isatty(STDIN_FILENO)))
		return false;
	fd = standard ? STDIN_FILENO : open(in->path, O_RDONLY | O_CLOEXEC);
	in->fd = standard || fd < 0 ? 0 : fd;
	return fd >= 0 && infile_is_pipe_mode(fd) &&
	       seam_reader_open_fd(&in->reader, fd, standard ? "standard input" : in->path, NULL,
	                           NULL) >= 0;
}

/* A directory recording has a file per CPU; on a large machine these are more than the usual limit
 * of 1,024 open files. */
void infile_raise_limit(const char *path)
{
	struct rlimit limit;
	struct stat st;

	if (!stat(path, &st) && S_ISDIR(st.st_mode) && !getrlimit(RLIMIT_NOFILE, &limit) &&
	    limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

/* An archive's names for the samples of an unrelated file would look like an answer, so the path
 * that is read is printed. */
static const char *infile_default(const struct cmd *cmd)
{
	const char *path = infile_archive.recording ? infile_archive.recording : "perf.data";

	if (infile_archive.name && !infile_archive.inside)
		cmd_error(cmd, "--archive: %s holds no recording (--with-recording): %s is read",
		          infile_archive.name, path);
	return path;
}

/* A pipe, or "-", is read to its end first. */
int infile_open(struct infile *in, const struct cmd *cmd)
{
	struct seam_error err = { 0 };
	int r;

	if (!in->path)
		in->path = infile_default(cmd);
	if (!strcmp(in->path, "-") && isatty(STDIN_FILENO)) {
		cmd_error(cmd, "standard input is a terminal, not a recording");
		return EXIT_FAILED;
	}
	infile_raise_limit(in->path);
	if (!cmd->lasts)
		heap_large();
	if (infile_is_stream(in->path))
		r = infile_open_stream(in, cmd, &err);
	else
		r = seam_reader_open(&in->reader, in->path, NULL, &err);
	if (r >= 0)
		return EXIT_OK;
	if (err.code)
		cmd_error(cmd, "%s", err.text);
	if (err.code == ENOENT && !strcmp(in->path, "perf.data"))
		cmd_error(cmd, "there is no recording here yet: 'seam record COMMAND' makes one");
	return EXIT_FAILED;
}

/* The first faults in words, and how much was left out. */
static void infile_say_damage(const struct infile *in, const struct cmd *cmd)
{
	struct seam_reader_info info = { .sz = sizeof(info) };
	const struct seam_error *damage;

	for (size_t i = 0; i < DAMAGE_SHOWN && (damage = seam_reader_damage(in->reader, i)); i++)
		cmd_error(cmd, "%s", damage->text);
	if (seam_reader_info(in->reader, &info) < 0)
		return;
	if (info.skipped_records)
		cmd_error(cmd, "%s: %llu records skipped, %llu bytes", in->path,
		          (unsigned long long)info.skipped_records,
		          (unsigned long long)info.skipped_bytes);
}

/* Whether the archive has any object of the recording; true where that cannot be told. An archive
 * of another recording names addresses plausibly and wrongly, so the user is warned. */
static bool infile_archive_fits(const struct proc_table *procs)
{
	bool any = false;

	for (size_t i = 0; i < proc_objects(procs); i++) {
		const struct proc_object *o = proc_object_at(procs, i);
		struct image_build_id id = { .size = o->build_id_size };
		char hex[IMAGE_BUILD_ID_HEX], path[2304];
		int n;

		if (id.size < 2 || id.size > sizeof(id.bytes))
			continue;
		/* Archives keep an object under its build-id, in the form of debuginfod and gdb. */
		memcpy(id.bytes, o->build_id, id.size);
		image_build_id_hex(&id, hex);
		n = snprintf(path, sizeof(path), "%s/.build-id/%.2s/%s", infile_archive.dir, hex,
		             hex + 2);
		if (n < 0 || (size_t)n >= sizeof(path) || !access(path, F_OK))
			return true;
		any = true;
	}
	return !any;
}

/* Some recorders write a sample twice; the second one does not count. */
void infile_say_copies(const struct cmd *cmd, const char *path, uint64_t n)
{
	if (n == 1)
		cmd_error(cmd, "%s: 1 sample was written twice by the recorder and counts once",
		          path);
	else if (n)
		cmd_error(cmd, "%s: %llu samples were written twice by the recorder and count once",
		          path, (unsigned long long)n);
}

/* Also warns if the archive that was given has no file of this recording. Returns EXIT_PARTIAL if
 * anything of the recording is missing, so that scripts see it. */
int infile_verdict(const struct infile *in, const struct cmd *cmd, const struct recording *rec)
{
	bool damaged = seam_reader_damaged(in->reader);

	if (rec && infile_archive.name && !infile_archive_fits(rec->procs))
		cmd_error(cmd,
		          "--archive: %s holds no object that %s was recorded with: it is of "
		          "another recording",
		          infile_archive.name, in->path);
	if (damaged)
		infile_say_damage(in, cmd);
	if (rec && rec->counts.undecoded) {
		if (rec->first_error.code)
			cmd_error(cmd, "%s", rec->first_error.text);
		cmd_error(cmd, "%s: %llu records could not be decoded, %llu of them samples",
		          in->path, (unsigned long long)rec->counts.undecoded,
		          (unsigned long long)rec->counts.undecoded_samples);
		damaged = true;
	}
	if (rec)
		infile_say_copies(cmd, in->path, recording_copies(rec));
	if (rec && rec->counts.unknown_regs)
		cmd_error(cmd,
		          "%s: %llu samples have registers of an ABI that is not known: these, and "
		          "what is "
		          "behind them in the sample, are left out",
		          in->path, (unsigned long long)rec->counts.unknown_regs);
	if (rec && rec->counts.unknown)
		cmd_error(cmd, "%s: %llu records of types that are not known were passed over",
		          in->path, (unsigned long long)rec->counts.unknown);
	return damaged ? EXIT_PARTIAL : EXIT_OK;
}

void infile_close(struct infile *in)
{
	seam_reader_close(in->reader);
	if (in->fd)
		close(in->fd);
	if (in->spool > 0)
		close(in->spool);
	buf_free(&in->stream);
	*in = (struct infile){ 0 };
}

static bool progress_shown;

/* One line that is overwritten; without a known total it shows a count. */
static void infile_progress_report(void *ctx, const char *step, uint64_t done, uint64_t total)
{
	if (total)
		cmd_print(stderr, "\r%s %3d %%\033[K", step,
		          (int)(100.0 * (double)done / (double)total));
	else
		cmd_print(stderr, "\r%s %llu\033[K", step, (unsigned long long)done);
	fflush(stderr);
	progress_shown = true;
}

struct progress infile_progress(void)
{
	/* Without a terminal there is no report function, and nothing is counted. */
	return (struct progress){ .report = isatty(STDERR_FILENO) ? infile_progress_report : NULL };
}

void infile_progress_end(void)
{
	if (progress_shown)
		fputs("\r\033[K", stderr);
	progress_shown = false;
}
