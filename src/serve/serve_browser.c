// SPDX-License-Identifier: MIT
// serve_browser.c: the way to the page: a browser of the user's, or a port forwarded by ssh.
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/shown.h"
#include "serve/serve.h"

static bool browser_is_set(const char *name)
{
	const char *value = getenv(name);

	return value && *value;
}

enum serve_way serve_way(void)
{
	if (browser_is_set("SSH_CONNECTION"))
		return SERVE_FORWARD;
	return browser_is_set("DISPLAY") || browser_is_set("WAYLAND_DISPLAY") ? SERVE_BROWSER
	                                                                      : SERVE_NONE;
}

/* "ssh -L PORT:127.0.0.1:PORT USER@HOST", by the address that the user's machine knows. */
void serve_forward_command(unsigned port, struct buf *to)
{
	const char *connection = getenv("SSH_CONNECTION");
	const struct passwd *user = getpwuid(getuid());
	char host[64] = "";
	unsigned ssh = 22;

	/* The client's address and port, then this machine's. */
	if (!connection || sscanf(connection, "%*63s %*u %63s %u", host, &ssh) < 1)
		snprintf(host, sizeof(host), "HOST");
	shown_printf(to, "ssh -L %u:127.0.0.1:%u ", port, port);
	if (ssh != 22)
		shown_printf(to, "-p %u ", ssh);
	shown_printf(to, "%s%s%s", user ? user->pw_name : "", user ? "@" : "", host);
}

/* The user that a browser is opened for: under sudo the one who called it. NULL: nobody else. */
static const struct passwd *browser_user(void)
{
	const char *text = getenv("SUDO_UID");
	char *end;
	unsigned long uid;

	if (geteuid() != 0 || !text || *text < '0' || *text > '9')
		return NULL;
	uid = strtoul(text, &end, 10);
	return *end || !uid || uid >= UINT32_MAX ? NULL : getpwuid((uid_t)uid);
}

/* Writes a page that leads to the address, for its user alone. -errno. */
static int browser_file(const char *url, const struct passwd *user, struct buf *file)
{
	const char *dir = user ? NULL : getenv("XDG_RUNTIME_DIR");
	struct buf page = { 0 };
	char *path;
	int fd, r = 0;

	if (!dir || dir[0] != '/')
		dir = "/tmp";
	buf_printf(file, "%s/seam-view-XXXXXX.html", dir);
	buf_printf(&page,
	           "<!DOCTYPE html><meta name=\"referrer\" content=\"no-referrer\"><meta "
	           "http-equiv=\"refresh\" content=\"0;url=%s\">\n",
	           url);
	if (file->failed || page.failed) {
		buf_free(&page);
		return -ENOMEM;
	}
	buf_text(file);
	path = (char *)file->bytes;
	fd = mkostemps(path, 5, O_CLOEXEC);
	if (fd < 0) {
		r = -errno;
		buf_clear(file);
	} else if ((user && fchown(fd, user->pw_uid, user->pw_gid) < 0) ||
	           write(fd, page.bytes, page.n) != (ssize_t)page.n) {
		r = -errno;
	}
	if (fd >= 0)
		close(fd);
	buf_free(&page);
	return r;
}

/* In the child: becomes the user and the program. Says through fd why it could not. */
static _Noreturn void browser_become(const char *file, const struct passwd *user, int fd)
{
	char program[] = "xdg-open", *const words[] = { program, (char *)file, NULL };
	int null = open("/dev/null", O_RDWR), error;
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setsid(); /* the terminal's Ctrl-C is not the browser's */
	if (null >= 0) {
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
	}
	if (!user || (!initgroups(user->pw_name, user->pw_gid) && !setgid(user->pw_gid) &&
	              !setuid(user->pw_uid) && !setenv("HOME", user->pw_dir, 1)))
		execvp(words[0], words);
	error = errno;
	if (write(fd, &error, sizeof(error)) < 0)
		_exit(126);
	_exit(127);
}

/* Writes the file, and starts xdg-open with it; a pipe that closes tells that it runs. */
int serve_open_browser(const char *url, struct buf *file)
{
	const struct passwd *user = browser_user();
	int fds[2], error = 0, r = browser_file(url, user, file);
	pid_t child;

	if (r < 0)
		return r;
	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	child = fork();
	if (!child)
		browser_become(buf_text(file), user, fds[1]);
	r = child < 0 ? -errno : 0;
	close(fds[1]);
	/* The end of it: the program has begun. */
	if (r >= 0 && read(fds[0], &error, sizeof(error)) == sizeof(error))
		r = -error;
	close(fds[0]);
	return r;
}
