// SPDX-License-Identifier: MIT
/*
 * forecast.c: see forecast.h. A command's words are followed as the kernel and the usual shells
 * would: PATH, lines that begin with "#!", programs that run the words behind them, texts for
 * shells, makefiles. What reads a text is told by its name: wrong names cost a look at some files.
 *
 * Every step is bounded: how deep, how many words, how many programs, how much of a text.
 */
#include "recorder/forecast.h"

#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "recorder/forecast_words.h"

#define FORECAST_DEPTH 6     /* texts and commands within each other */
#define FORECAST_LOOKS 128   /* words that are looked for in PATH */
#define FORECAST_TEXT 16384u /* bytes of a text */
#define FORECAST_LINE 256    /* bytes of a script that the kernel looks at */

struct forecast {
	forecast_program program;
	void *ctx;
	const char *root; /* of what is run: chroot's directory; NULL: it is this program's */
	unsigned depth, looks;
};

static bool forecast_words_of(struct forecast *f, char *const *words, size_t n);

/* Whether a word is one of those in a list, with a blank before and behind each. */
static bool forecast_is(const char *word, const char *list)
{
	const char *slash = strrchr(word, '/'), *name = slash ? slash + 1 : word;
	size_t n = strlen(name);

	for (const char *at = list; n && (at = strstr(at, name)); at++)
		if (at > list && at[-1] == ' ' && at[n] == ' ')
			return true;
	return false;
}

/* What runs the words behind it. */
static bool forecast_passes(const char *word)
{
	return forecast_is(word, " env timeout nice ionice chrt taskset nohup setsid stdbuf time "
	                         "xargs sudo unshare chroot numactl setarch strace exec command "
	                         "eval then else elif if do while until ! { ");
}

static bool forecast_is_shell(const char *word)
{
	return forecast_is(word, " sh bash dash ash ksh mksh zsh ");
}

static bool forecast_is_make(const char *word)
{
	return forecast_is(word, " make gmake ");
}

/* ---- files ---- */

/* Where a path leads within another root, whatever links are on its way. */
static bool forecast_within(const char *root, char *path, size_t size)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT };
	int dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC), fd = -1;
	char self[64];
	ssize_t n = -1;

	if (dir >= 0)
		fd = (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));
	if (fd >= 0) {
		snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
		n = readlink(self, path, size - 1);
		close(fd);
	}
	if (dir >= 0)
		close(dir);
	path[n > 0 ? n : 0] = 0;
	return n > 0;
}

/* Whether a path, which may become another one, is a program. */
static bool forecast_is_file(const struct forecast *f, char *path, size_t size)
{
	struct stat st;

	return (!f->root || forecast_within(f->root, path, size)) && access(path, X_OK) == 0 &&
	       stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* The i-th file that execvp finds by that name, in the order of PATH. */
static bool forecast_find(const struct forecast *f, const char *name, unsigned i, char *path,
                          size_t size)
{
	const char *at = getenv("PATH");

	if (!*name)
		return false;
	if (strchr(name, '/'))
		return !i && snprintf(path, size, "%s", name) < (int)size &&
		       forecast_is_file(f, path, size);
	for (at = at ? at : "/bin:/usr/bin"; *at;) {
		size_t n = strcspn(at, ":");

		if (snprintf(path, size, "%.*s/%s", (int)n, at, name) < (int)size &&
		    forecast_is_file(f, path, size) && !i--)
			return true;
		at += n + (at[n] == ':');
	}
	return false;
}

/* Reads the beginning of a regular file, which ends with a 0 then. Returns its bytes; 0: it is
 * none, or has none. Nothing else is opened: a fifo's writer would take this for its reader. */
static size_t forecast_read(const char *path, char *to, size_t size)
{
	struct stat st;
	ssize_t n = -1;
	int fd;

	if (stat(path, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return 0;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		n = read(fd, to, size - 1);
	close(fd);
	to[n > 0 ? n : 0] = 0;
	return n > 0 ? (size_t)n : 0;
}

/* ---- texts ---- */

/* Goes through the commands of a text. True: one of them was looked for. */
static bool forecast_text(struct forecast *f, char *text)
{
	struct forecast_words w = { .at = text };
	bool found = false;

	while (f->looks < FORECAST_LOOKS && forecast_words_next(&w))
		found |= w.n && forecast_words_of(f, w.words, w.n);
	return found;
}

/* The same of a text's own copy: the beginning of a file, if there is one, or what is given. */
static bool forecast_copy(struct forecast *f, const char *path, const char *text)
{
	char *copy = malloc(FORECAST_TEXT);
	bool found = false;

	if (!copy)
		return false;
	if (path ? forecast_read(path, copy, FORECAST_TEXT) != 0
	         : snprintf(copy, FORECAST_TEXT, "%s", text) > 0)
		found = strncmp(copy, "\177ELF", 4) != 0 && forecast_text(f, copy);
	free(copy);
	return found;
}

/* What a shell is given: a text (-c), or a file and what its commands may be handed as "$@". */
static bool forecast_shell(struct forecast *f, char *const *words, size_t n)
{
	bool text = false, found;
	size_t i = 0;

	for (; i < n && (words[i][0] == '-' || words[i][0] == '+'); i++) {
		text |= words[i][1] != '-' && strchr(words[i], 'c');
		i += !strcmp(words[i] + 1, "o") || !strcmp(words[i] + 1, "O");
	}
	if (i >= n)
		return false;
	if (text)
		return forecast_copy(f, NULL, words[i]);
	found = forecast_copy(f, words[i], NULL);
	return (i + 1 < n && forecast_words_of(f, words + i + 1, n - i - 1)) || found;
}

/* The makefiles of the directory, or those that are named, and those of directories that are. */
static bool forecast_make(struct forecast *f, char *const *words, size_t n)
{
	static const char *const usual[] = { "GNUmakefile", "makefile", "Makefile" };
	const char *directory = ".";
	bool found = false;
	char path[PATH_MAX];
	struct stat st;

	for (size_t i = 0; i < n; i++) {
		if (stat(words[i], &st) < 0)
			continue;
		if (S_ISDIR(st.st_mode))
			directory = words[i];
		else if (S_ISREG(st.st_mode) && i && !strcmp(words[i - 1], "-f"))
			found |= forecast_copy(f, words[i], NULL);
	}
	for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
		if (snprintf(path, sizeof(path), "%s/%s", directory, usual[i]) <
		            (int)sizeof(path) &&
		    access(path, R_OK) == 0)
			return forecast_copy(f, path, NULL) || found;
	return found;
}

/* ---- commands ---- */

/* A script is run by what its first line names, or by the shell: that with its words before the
 * script's own. -1: it is none. */
static int forecast_script(struct forecast *f, char *path, char *const *words, size_t n)
{
	char line[FORECAST_LINE], *rest = NULL, *word, shell[] = "/bin/sh";
	size_t have = forecast_read(path, line, sizeof(line)), k = 0;
	char *all[FORECAST_WORDS];

	if (!have || memchr(line, 0, have)) /* an ELF file has zeros there */
		return -1;
	if (!strncmp(line, "#!", 2)) {
		line[strcspn(line, "\n")] = 0;
		for (word = strtok_r(line + 2, " \t", &rest); word && k < FORECAST_WORDS / 2;
		     word = strtok_r(NULL, " \t", &rest))
			all[k++] = word;
	} else {
		all[k++] = shell;
	}
	if (!k)
		return 0;
	all[k++] = path;
	for (size_t i = 0; i < n && k < FORECAST_WORDS; i++)
		all[k++] = words[i];
	return forecast_words_of(f, all, k);
}

/* A program by its name, and what it will run. Where it is a script that leads to nothing, a
 * program of that name further on in PATH is what it stands for: so are those of version managers.
 */
static bool forecast_run(struct forecast *f, const char *name, char *const *words, size_t n)
{
	char path[PATH_MAX];
	int script;

	if (f->looks++ >= FORECAST_LOOKS || !forecast_find(f, name, 0, path, sizeof(path)))
		return false;
	if (f->program(f->ctx, path))
		return true;
	if (forecast_is_shell(name))
		return forecast_shell(f, words, n);
	if (forecast_is_make(name))
		return forecast_make(f, words, n);
	script = forecast_script(f, path, words, n);
	for (unsigned i = 1; !script && f->looks++ < FORECAST_LOOKS; i++) {
		if (!forecast_find(f, name, i, path, sizeof(path)))
			break;
		script = f->program(f->ctx, path);
	}
	return script > 0;
}

/* Where the value of an assignment begins, or, of make's, which may be words of their own, the
 * empty text behind its mark; NULL: it is none. */
static const char *forecast_value(const char *word)
{
	while (isalnum((unsigned char)*word) || *word == '_')
		word++;
	word += strspn(word, "?:+");
	return *word == '=' ? word + 1 : NULL;
}

/* How many of the words behind chroot are its own: options, and the directory that becomes the root
 * of what it runs. */
static size_t forecast_chroot(struct forecast *f, char *const *words, size_t n)
{
	size_t i = 0;

	while (i < n && words[i][0] == '-')
		i++;
	if (i == n)
		return i;
	f->root = words[i];
	return i + 1;
}

/* One command. Its assignments come first, and what it is run with. */
static bool forecast_command_of(struct forecast *f, char *const *words, size_t n)
{
	bool found = false, passed = false;

	for (size_t i = 0; i < n; i++) {
		const char *word = words[i] + strspn(words[i], "@+-");
		const char *value = forecast_value(words[i]);

		if (i + 1 < n && !value && strchr("?:+=", words[i + 1][0]) &&
		    (value = forecast_value(words[i + 1])))
			i++;
		if (value) {
			found |= *value && forecast_run(f, value, NULL, 0);
		} else if (forecast_passes(word)) {
			if (f->depth == 1 && !i)
				forecast_run(f, word, NULL, 0);
			passed = true;
			if (forecast_is(word, " chroot "))
				i += forecast_chroot(f, words + i + 1, n - i - 1);
		} else if (!passed || words[i][0] != '-') {
			if (forecast_run(f, word, words + i + 1, n - i - 1))
				return true;
			if (!passed)
				return found;
		}
	}
	return found;
}

static bool forecast_words_of(struct forecast *f, char *const *words, size_t n)
{
	const char *root = f->root;
	bool found;

	if (f->depth >= FORECAST_DEPTH)
		return false;
	f->depth++;
	found = forecast_command_of(f, words, n);
	f->depth--;
	f->root = root;
	return found;
}

void forecast_command(char *const argv[], forecast_program program, void *ctx)
{
	struct forecast f = { .program = program, .ctx = ctx };
	size_t n = 0;

	while (argv[n])
		n++;
	forecast_words_of(&f, argv, n);
}
