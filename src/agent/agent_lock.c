// SPDX-License-Identifier: MIT
/*
 * agent_lock.c: see agent_parts.h: one agent a machine. Two would count everything twice. The lock
 * is a file's, below the directory that systemd gives a service, or /run/seam for root, or a user's
 * own; the kernel lets go of it however the agent ends. The file says who has it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/agent_parts.h"

/* The directory is made by agent_lock, if it is not there. */
void agent_lock_path(char *path, size_t n)
{
	const char *given = getenv("RUNTIME_DIRECTORY"), *user = getenv("XDG_RUNTIME_DIR");

	/* systemd separates several directories by colons: the first is meant. */
	if (given && given[0] == '/')
		snprintf(path, n, "%.*s/agent.lock", (int)strcspn(given, ":"), given);
	else if (!geteuid())
		snprintf(path, n, "/run/seam/agent.lock");
	else if (user && user[0] == '/')
		snprintf(path, n, "%s/seam/agent.lock", user);
	else
		snprintf(path, n, "/tmp/seam-%u/agent.lock", (unsigned)geteuid());
}

/* Opens the lock's file in a directory that is ours alone. A link in its place is not followed. */
static int agent_lock_open(const char *path)
{
	char dir[4096], *slash;
	struct stat st;
	int fd;

	snprintf(dir, sizeof(dir), "%s", path);
	slash = strrchr(dir, '/');
	*slash = 0;
	if (mkdir(dir, 0755) < 0 && errno != EEXIST)
		return -errno;
	/* Below /tmp somebody else may have made it. */
	if (lstat(dir, &st) < 0 || !S_ISDIR(st.st_mode) ||
	    (st.st_uid != geteuid() && st.st_uid != 0))
		return -EPERM;
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
	return fd < 0 ? -errno : fd;
}

/* Who has it writes its pid into the file, for the words of others. */
int agent_lock(struct agent *a, struct seam_error *err)
{
	char path[4096], pid[16] = "";
	int fd, n;

	agent_lock_path(path, sizeof(path));
	fd = agent_lock_open(path);
	if (fd < 0)
		return seam_error_set(err, -fd, path, SEAM_NO_OFFSET, NULL, "%s", strerror(-fd));
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		n = (int)pread(fd, pid, sizeof(pid) - 1, 0);
		pid[n > 0 ? n : 0] = 0;
		pid[strspn(pid, "0123456789")] = 0;
		close(fd);
		return seam_error_set(err, EEXIST, NULL, SEAM_NO_OFFSET, NULL,
		                      "another seam agent runs on this machine%s%s (it holds %s)",
		                      pid[0] ? ": process " : "", pid, path);
	}
	n = snprintf(pid, sizeof(pid), "%d\n", (int)getpid());
	/* A lock without a pid is a lock nevertheless. */
	if (ftruncate(fd, 0) < 0 || pwrite(fd, pid, (size_t)n, 0) < 0)
		log_line(a->log, LOG_VERBOSE, "%s: %s", path, strerror(errno));
	a->lock = fd;
	return 0;
}

/* The file stays: who removed it could remove one that another agent has locked meanwhile. */
void agent_unlock(struct agent *a)
{
	if (a->lock >= 0)
		close(a->lock);
	a->lock = -1;
}
