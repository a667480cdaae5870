// SPDX-License-Identifier: MIT
// pager.c: see pager.h.
#include "cmd/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORDS_MAX 16 /* of the pager's command line */

extern char **environ;

/* False: standard output is no terminal, or does not say how large it is. */
static bool pager_size(struct winsize *ret)
{
	return isatty(STDOUT_FILENO) && !ioctl(STDOUT_FILENO, TIOCGWINSZ, ret) && ret->ws_col &&
	       ret->ws_row;
}

size_t pager_columns(void)
{
	struct winsize size;

	return pager_size(&size) ? size.ws_col : 0;
}

/* Whether the text has more lines than the screen, of which the shell's prompt takes one. */
static bool pager_long(const struct buf *text)
{
	struct winsize size;
	size_t lines = 0;

	if (!pager_size(&size))
		return false;
	for (size_t i = 0; i < text->n; i++)
		lines += text->bytes[i] == '\n';
	return lines >= size.ws_row;
}

/* Parts the command line at blanks. words has WORDS_MAX + 1 places; 0: there is no word. */
static size_t pager_words(char *line, char **words)
{
	size_t n = 0;
	char *save;

	for (char *word = strtok_r(line, " \t", &save); word && n < WORDS_MAX;
	     word = strtok_r(NULL, " \t", &save))
		words[n++] = word;
	words[n] = NULL;
	return n;
}

/* Writes all to the pager; it may leave before it has read all. */
static void pager_feed(int fd, const struct buf *text)
{
	size_t done = 0;

	while (done < text->n) {
		ssize_t n = write(fd, text->bytes + done, text->n - done);

		if (n < 0 && errno != EINTR)
			return;
		done += n > 0 ? (size_t)n : 0;
	}
}

/* Starts the pager with the read end of the pipe as its standard input. 0, or an errno. */
static int pager_start(char **words, const int fds[2], pid_t *ret)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t defaults;
	int rc = posix_spawn_file_actions_init(&actions);

	if (rc)
		return rc;
	rc = posix_spawnattr_init(&attr);
	if (rc) {
		posix_spawn_file_actions_destroy(&actions);
		return rc;
	}
	/* What this process ignores while it waits is the pager's own business. */
	sigemptyset(&defaults);
	sigaddset(&defaults, SIGINT);
	sigaddset(&defaults, SIGQUIT);
	sigaddset(&defaults, SIGPIPE);
	posix_spawnattr_setsigdefault(&attr, &defaults);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF);
	rc = posix_spawn_file_actions_adddup2(&actions, fds[0], STDIN_FILENO);
	if (!rc)
		rc = posix_spawnp(ret, words[0], &actions, &attr, words, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
	return rc;
}

/* Runs the pager over the text. False: it could not be started. Ctrl-C in a pager is the pager's.
 */
static bool pager_run(char **words, const struct buf *text)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, old[3];
	static const int signals[3] = { SIGINT, SIGQUIT, SIGPIPE };
	pid_t pid;
	int fds[2], rc;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return false;
	for (size_t i = 0; i < 3; i++)
		sigaction(signals[i], &ignore, &old[i]);
	rc = pager_start(words, fds, &pid);
	close(fds[0]);
	if (!rc)
		pager_feed(fds[1], text);
	close(fds[1]);
	while (!rc && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	for (size_t i = 0; i < 3; i++)
		sigaction(signals[i], &old[i], NULL);
	return !rc;
}

/* Whether the terminal can move its cursor: on others less asks for a key in front of each text. */
static bool pager_suits(void)
{
	const char *term = getenv("TERM");

	return term && *term && strcmp(term, "dumb") != 0;
}

/* less ends by itself if the text fits after all (F), shows colours (R) and leaves the text on the
 * screen (X), unless the user says otherwise. */
bool pager_show(const struct buf *text)
{
	const char *named = getenv("SEAM_PAGER");
	char line[1024], *words[WORDS_MAX + 1];

	if (!named)
		named = getenv("PAGER");
	if (!named)
		named = pager_suits() ? "less" : "cat";
	if (!pager_long(text) || strlen(named) >= sizeof(line) || !strcmp(named, "cat"))
		return false;
	memcpy(line, named, strlen(named) + 1);
	if (!pager_words(line, words))
		return false;
	setenv("LESS", "FRX", 0);
	return pager_run(words, text);
}
