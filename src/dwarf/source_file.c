// SPDX-License-Identifier: MIT
// source_file.c: see source_file.h. Invariant: what is asked about and what is read is one open
// file: links, devices and what others change meanwhile are of no use to whoever chose the name.
#include "dwarf/source_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define PROC_FD_SIZE 32

/* ---- paths ---- */

/* Whether a path is a directory's, or below it. */
static bool source_is_below(const char *path, const char *dir, size_t n)
{
	while (n > 1 && dir[n - 1] == '/')
		n--;
	return !strncmp(path, dir, n) && (path[n] == '/' || !path[n] || (n == 1 && *dir == '/'));
}

/* How much of a path is its directory, without the last '/'; 1 for the root. */
static size_t source_dir_length(const char *path)
{
	const char *slash = strrchr(path, '/');

	return !slash || slash == path ? 1 : (size_t)(slash - path);
}

int source_file_ends_so(const char *path)
{
	static const char *const endings[] = {
#define ENDING(ending) ending,
#include "dwarf/source_endings.def"
#undef ENDING
	};
	const char *slash = strrchr(path, '/'), *dot = slash ? strrchr(slash, '.') : NULL;

	for (size_t i = 0; dot && dot > slash + 1 && i < sizeof(endings) / sizeof(*endings); i++)
		if (!strcasecmp(dot + 1, endings[i]))
			return true;
	/* Headers of C++ have no ending. */
	return !dot && (source_is_below(path, "/usr/include", 12) || strstr(path, "/c++/"));
}

/* ---- who speaks for a file ---- */

/* Whether a directory is a home, as the user database and the environment know it. */
static bool source_is_home(const char *dir)
{
	const char *home = getenv("HOME");
	const struct passwd *user = getpwuid(geteuid());
	char real[PATH_MAX];

	if (home && *home == '/' && realpath(home, real) && !strcmp(dir, real))
		return true;
	return user && user->pw_dir && realpath(user->pw_dir, real) && !strcmp(dir, real);
}

/* Whether a directory holds things that have nothing to do with each other. */
static bool source_is_wide(const char *dir)
{
	static const char *const wide[] = { "/",     "/bin",  "/boot",  "/dev",   "/etc",
		                            "/home", "/lib",  "/lib64", "/media", "/mnt",
		                            "/opt",  "/proc", "/root",  "/run",   "/sbin",
		                            "/srv",  "/sys",  "/tmp",   "/usr",   "/var" };
	char parent[PATH_MAX];
	const char *name = strrchr(dir, '/');
	struct stat st;

	for (size_t i = 0; i < sizeof(wide) / sizeof(*wide); i++)
		if (!strcmp(dir, wide[i]))
			return true;
	if (stat(dir, &st) < 0 || (st.st_mode & S_IWOTH) || source_is_home(dir))
		return true;
	snprintf(parent, sizeof(parent), "%.*s", (int)source_dir_length(dir), dir);
	/* A home of others, and what programs keep in a home (~/.cache). */
	return !strcmp(parent, "/home") || !strcmp(parent, "/run") ||
	       (name[1] == '.' && (source_is_home(parent) || source_is_wide(parent)));
}

/* Whether everybody can read a file, at its path. */
static bool source_is_public(const char *path, const struct stat *st)
{
	char dir[PATH_MAX];
	struct stat its;

	if (!(st->st_mode & S_IROTH))
		return false;
	for (size_t i = 0; path[i]; i++) {
		dir[i] = 0;
		if (i && path[i] == '/' && (stat(dir, &its) < 0 || !(its.st_mode & S_IXOTH)))
			return false;
		dir[i] = path[i];
	}
	return true;
}

/* Whether a file can be shown where this owner's directory or program speaks for it. */
static bool source_owner_agrees(const char *path, const struct stat *st, uid_t owner)
{
	return !owner || owner == geteuid() || owner == st->st_uid || source_is_public(path, st);
}

static bool source_is_systems(const char *path, const struct stat *st)
{
	static const char *const dirs[] = { "/usr",       "/opt",       "/lib",
		                            "/nix/store", "/gnu/store", "/snap" };

	for (size_t i = 0; i < sizeof(dirs) / sizeof(*dirs); i++)
		if (source_is_below(path, dirs[i], strlen(dirs[i])))
			return !st->st_uid && source_is_public(path, st);
	return false;
}

static bool source_is_here(const char *path, const struct stat *st)
{
	char here[PATH_MAX];
	struct stat dir;

	return getcwd(here, sizeof(here)) && *here == '/' && stat(here, &dir) >= 0 &&
	       source_is_below(path, here, strlen(here)) &&
	       source_owner_agrees(path, st, dir.st_uid) &&
	       (source_dir_length(path) == strlen(here) || !source_is_wide(here));
}

/* The directory that a file and its program have in common speaks for it; a wide one only for what
 * lies beside the program. */
static bool source_is_programs(const char *path, const struct stat *st, const char *program)
{
	char dir[PATH_MAX];
	struct stat its;
	size_t n = 0, own;

	if (!program || !realpath(program, dir) || stat(dir, &its) < 0 ||
	    !source_owner_agrees(path, st, its.st_uid))
		return false;
	for (size_t i = 0; dir[i] && dir[i] == path[i]; i++)
		if (dir[i] == '/')
			n = i ? i : 1;
	own = source_dir_length(dir);
	dir[n] = 0;
	return (own == n && source_dir_length(path) == n) || !source_is_wide(dir);
}

/* Whether the user named the file, or a directory above it. *itself: the file. */
static bool source_is_allowed(const struct source_dirs *dirs, const char *path, bool *itself)
{
	char dir[PATH_MAX], real[PATH_MAX];

	*itself = false;
	for (const char *at = dirs ? dirs->paths : NULL; at && *at;) {
		size_t n = strcspn(at, ":");

		if (n && n < sizeof(dir)) {
			memcpy(dir, at, n);
			dir[n] = 0;
			if (realpath(dir, real) && source_is_below(path, real, strlen(real))) {
				*itself = !strcmp(path, real);
				return true;
			}
		}
		at += n + (at[n] == ':');
	}
	return false;
}

/* ---- reading ---- */

/* Why an open file must not be shown; NULL: it may be. */
static const char *source_objection(const struct source_dirs *dirs, const char *path,
                                    const struct stat *st, const char *program)
{
	bool itself, allowed = source_is_allowed(dirs, path, &itself);

	if (!S_ISREG(st->st_mode))
		return "it is no regular file";
	if (st->st_size > SOURCE_FILE_MAX)
		return "it is larger than 16 MiB";
	if (!itself && !source_file_ends_so(path))
		return "its name does not end as sources do; --source-dir FILE allows it";
	if (!allowed && !source_is_systems(path, st) && !source_is_here(path, st) &&
	    !source_is_programs(path, st, program))
		return "it is below no directory of its program's, of the system's or the current "
		       "one; --source-dir DIR allows it";
	return NULL;
}

/* Reads an open file. -ENOMEM. */
static int source_take(int fd, size_t size, struct source_file *ret)
{
	ssize_t n;

	ret->bytes = malloc(size + 1);
	if (!ret->bytes)
		return -ENOMEM;
	while (ret->n < size && (n = read(fd, ret->bytes + ret->n, size - ret->n)) > 0)
		ret->n += (size_t)n;
	if (!memchr(ret->bytes, 0, ret->n))
		return 0;
	free(ret->bytes);
	ret->bytes = NULL;
	ret->n = 0;
	ret->reason = "it is no text";
	return -EPERM;
}

/* Asks about what a path leads to, and reads it if nothing is against that. Opening by O_PATH does
 * nothing to devices and waits for no FIFO; /proc then has the real path of that very file. */
static int source_try(const struct source_dirs *dirs, const char *name, const char *program,
                      struct source_file *ret)
{
	int asked = open(name, O_PATH | O_CLOEXEC), fd, r = -EPERM;
	char by[PROC_FD_SIZE];
	struct stat st;
	ssize_t n;

	if (asked < 0)
		return -errno;
	snprintf(by, sizeof(by), "/proc/self/fd/%d", asked);
	n = readlink(by, ret->path, sizeof(ret->path) - 1);
	ret->path[n < 0 ? 0 : n] = 0;
	if (n <= 0 || ret->path[0] != '/' || fstat(asked, &st) < 0)
		ret->reason = "/proc does not say where it is";
	else
		ret->reason = source_objection(dirs, ret->path, &st, program);
	fd = ret->reason ? -1 : open(by, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd >= 0) {
		r = source_take(fd, (size_t)st.st_size, ret);
		close(fd);
	} else if (!ret->reason) {
		r = -errno;
	}
	close(asked);
	return r;
}

/* Looks below one of the user's directories for the file, by ever less of the end of its path. */
static int source_try_below(const struct source_dirs *dirs, const char *dir, size_t n,
                            const char *name, struct source_file *ret)
{
	char path[PATH_MAX];
	int r = -ENOENT;

	for (const char *end = name; r == -ENOENT && end; end = strchr(end, '/')) {
		while (*end == '/')
			end++;
		if (*end && (size_t)snprintf(path, sizeof(path), "%.*s/%s", (int)n, dir, end) <
		                    sizeof(path))
			r = source_try(dirs, path, NULL, ret);
		if (r == -ENOTDIR)
			r = -ENOENT;
	}
	return r;
}

int source_file_read(const struct source_dirs *dirs, const char *name, const char *program,
                     struct source_file *ret)
{
	int r;

	*ret = (struct source_file){ .bytes = NULL };
	r = source_try(dirs, name, program, ret);
	for (const char *at = dirs ? dirs->paths : NULL; r == -ENOENT && at && *at;) {
		size_t n = strcspn(at, ":");

		r = source_try_below(dirs, at, n, name, ret);
		at += n + (at[n] == ':');
	}
	return r == -ENOTDIR || r == -EACCES || r == -ELOOP || r == -ENAMETOOLONG ? -ENOENT : r;
}
