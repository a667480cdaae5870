// SPDX-License-Identifier: MIT
/*
 * unpacked.c: see unpacked.h. The names of what must be removed are kept, so that a signal handler
 * can do it.
 *
 * Invariants: at most one archive is unpacked; from the moment its directory is made until the
 * program ends, every way out removes it: exit by atexit, and the signals of `ends` by a handler.
 * The handler only unlinks and kills itself with the same signal.
 */
#include "input/unpacked.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "archive/unpack.h"
#include "input/infile.h"
#include "convert/pack.h"

/* An archive that unpacks to more than this is refused, or half of the free room if that is
 * less. */
#define BYTES_MAX (32ULL << 30)

static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE };

/* What must be removed. It does not change once everything is unpacked; before that, signals are
 * held off. */
static struct buf unpacked_made;
static char unpacked_dir[2048];
static int unpacked_fd = -1;

/* Called at exit or by a signal: uses nothing that a handler may not use. */
void unpacked_remove(void)
{
	if (unpacked_fd < 0)
		return;
	unpack_remove(unpacked_fd, &unpacked_made);
	rmdir(unpacked_dir);
}

/* The signal does its work afterwards, so that the shell sees what ended the program. */
static void unpacked_on_signal(int signal_number)
{
	unpacked_remove();
	signal(signal_number, SIG_DFL);
	raise(signal_number);
}

/* The signals that end the program, except ignored ones (nohup): if those were held off, the kernel
 * would keep them, too. */
static void unpacked_signals(sigset_t *ret)
{
	struct sigaction is;

	sigemptyset(ret);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (!sigaction(ends[i], NULL, &is) && is.sa_handler != SIG_IGN)
			sigaddset(ret, ends[i]);
}

/* Whether a signal waits to end the program: unpacking stops then, and the signal comes when it is
 * let in. */
static bool unpacked_interrupted(void)
{
	sigset_t pending, ours;

	unpacked_signals(&ours);
	if (sigpending(&pending) < 0)
		return false;
	sigandset(&pending, &pending, &ours);
	return !sigisemptyset(&pending);
}

static void unpacked_handle_signals(void)
{
	struct sigaction was, new = { .sa_handler = unpacked_on_signal };

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		/* A handler that somebody else has set stays. */
		if (!sigaction(ends[i], NULL, &was) && was.sa_handler == SIG_DFL)
			sigaction(ends[i], &new, NULL);
}

/* Half of the room that is free there. */
static uint64_t unpacked_room(int dir)
{
	struct statvfs fs;
	uint64_t half;

	if (fstatvfs(dir, &fs) < 0)
		return BYTES_MAX;
	half = (uint64_t)fs.f_bavail * fs.f_frsize / 2;
	return half < BYTES_MAX ? half + 1 : BYTES_MAX;
}

/* Makes the directory, and keeps a descriptor of it: its path may be moved meanwhile, and what is
 * removed must be what was made. */
static int unpacked_make_dir(const struct cmd *cmd)
{
	const char *tmp = getenv("TMPDIR");
	int n = snprintf(unpacked_dir, sizeof(unpacked_dir), "%s/seam-archive-XXXXXX",
	                 tmp && tmp[0] == '/' ? tmp : "/var/tmp");

	if (n < 0 || (size_t)n >= sizeof(unpacked_dir) || !mkdtemp(unpacked_dir)) {
		cmd_error(cmd, "--archive: no directory can be made in %s: %s",
		          tmp && tmp[0] == '/' ? tmp : "/var/tmp", strerror(errno));
		return -EINVAL;
	}
	unpacked_fd = open(unpacked_dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (unpacked_fd >= 0)
		return 0;
	cmd_error(cmd, "--archive: %s: %s", unpacked_dir, strerror(errno));
	rmdir(unpacked_dir);
	return -EINVAL;
}

/* Unpacks into the directory. An archive without an index is refused: its names would be taken for
 * a recording's. */
static int unpacked_fill(int fd, const char *path, const struct cmd *cmd)
{
	struct unpack_opts opts = { .sz = sizeof(opts), .stop = unpacked_interrupted };
	struct seam_error err = { 0 };
	struct stat st;
	int r;

	opts.bytes_max = unpacked_room(unpacked_fd);
	r = unpack(fd, path, unpacked_fd, &opts, &unpacked_made, &err);
	if (r < 0 && r != -EINTR)
		cmd_error(cmd, "--archive: %s", cmd_reason(&err, r));
	if (r >= 0 && fstatat(unpacked_fd, PACK_INDEX, &st, AT_SYMLINK_NOFOLLOW) < 0) {
		cmd_error(cmd, "--archive: %s: seam archive did not make it ('%s' is missing)",
		          path, PACK_INDEX);
		r = -EINVAL;
	}
	return r;
}

/* Unpacks the archive into a new temporary directory. Signals are held off meanwhile, so that what
 * was made is removed if one ends the program. */
static int unpacked_unpack(int fd, const char *path, const struct cmd *cmd)
{
	sigset_t block, was;
	int r;

	if (unpacked_fd >= 0) {
		cmd_error(cmd, "--archive: one at a time");
		return -EINVAL;
	}
	unpacked_signals(&block);
	sigprocmask(SIG_BLOCK, &block, &was);
	r = unpacked_make_dir(cmd);
	if (r >= 0) {
		atexit(unpacked_remove);
		r = unpacked_fill(fd, path, cmd);
		unpacked_handle_signals();
	}
	sigprocmask(SIG_SETMASK, &was, NULL);
	return r;
}

/* Takes the recording in the archive or, if there is none, the one beside it, whose path is the
 * archive's without its ending. */
static void unpacked_recording(struct unpacked *u, const char *name)
{
	size_t n = strlen(name), ending = strlen(PACK_ENDING);
	struct stat st;
	bool inside, beside;

	snprintf(u->recording, sizeof(u->recording), "%s/" PACK_RECORDING, u->dir);
	inside = !stat(u->recording, &st) && S_ISREG(st.st_mode);
	beside = !inside && n > ending && n - ending < sizeof(u->recording) &&
	         !strcmp(name + n - ending, PACK_ENDING);
	if (beside) {
		snprintf(u->recording, sizeof(u->recording), "%.*s", (int)(n - ending), name);
		beside = !stat(u->recording, &st) && S_ISREG(st.st_mode);
	}
	infile_set_archive(name, u->dir, inside || beside ? u->recording : NULL, inside);
}

/* Where in the unpacked archive things are. -EINVAL: the path is too long. */
static int unpacked_paths(struct unpacked *u, const char *dir)
{
	if (strlen(dir) >= sizeof(u->dir))
		return -EINVAL;
	snprintf(u->dir, sizeof(u->dir), "%s", dir);
	snprintf(u->files, sizeof(u->files), "%s/" PACK_FILES, u->dir);
	snprintf(u->maps, sizeof(u->maps), "%s/" PACK_MAPS, u->dir);
	return 0;
}

/* A directory is used as it is: an archive that was unpacked before. */
int unpacked_open(struct unpacked *u, const struct cmd *cmd, const char *path)
{
	/* Not blocking: a FIFO would never answer. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), r;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0) {
		cmd_error(cmd, "--archive: %s: %s", path, strerror(errno));
		r = -EINVAL;
	} else if (S_ISDIR(st.st_mode)) {
		r = unpacked_paths(u, path);
	} else {
		r = unpacked_unpack(fd, path, cmd);
		if (r >= 0)
			r = unpacked_paths(u, unpacked_dir);
	}
	if (fd >= 0)
		close(fd);
	if (r >= 0)
		unpacked_recording(u, path);
	return r < 0 ? -EINVAL : 0;
}
