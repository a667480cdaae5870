// SPDX-License-Identifier: MIT
/*
 * needed.c: see needed.h. Libraries are looked for where the object that names them says (RUNPATH,
 * RPATH), in LD_LIBRARY_PATH, beside the interpreter, and in the usual places; the loader's cache
 * is not read. What is not found is left out.
 */
#include "image/needed.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cursor.h"

/* The kernel reads 256 bytes of a script's first line (BINPRM_BUF_SIZE). */
#define SCRIPT_LINE 256
#define SCRIPT_DEPTH 4

struct needed {
	char *paths[NEEDED_MOST]; /* known ones, in the order in which they were found */
	size_t n;
	char beside[PATH_MAX]; /* the interpreter's directory */
};

/* Adds the resolved path of a file that may be read to the list, once. False: it is none, or the
 * list is full. */
static bool needed_add(struct needed *s, const char *path)
{
	char resolved[PATH_MAX];

	if (!realpath(path, resolved) || access(resolved, R_OK) < 0)
		return false;
	for (size_t i = 0; i < s->n; i++)
		if (!strcmp(s->paths[i], resolved))
			return true;
	if (s->n == NEEDED_MOST)
		return false;
	s->paths[s->n] = strdup(resolved);
	s->n += s->paths[s->n] != NULL;
	return true;
}

/* Looks for a library in each directory of a list; $ORIGIN is the directory of the object that
 * names it. */
static bool needed_in(struct needed *s, const char *list, const char *origin, const char *name)
{
	while (list && *list) {
		size_t n = strcspn(list, ":"), skip = 0;
		char path[PATH_MAX];
		int length = (int)strlen(origin);

		if (!strncmp(list, "$ORIGIN", 7))
			skip = 7;
		else if (!strncmp(list, "${ORIGIN}", 9))
			skip = 9;
		while (length && origin[length - 1] != '/')
			length--;
		if (skip > n)
			skip = 0;
		if (n &&
		    snprintf(path, sizeof(path), "%.*s%.*s/%s", skip ? length : 0, origin,
		             (int)(n - skip), list + skip, name) < (int)sizeof(path) &&
		    needed_add(s, path))
			return true;
		list += n + (list[n] == ':');
	}
	return false;
}

/* A name with a slash is a path. LD_LIBRARY_PATH is that of this process, which will start the
 * command. */
static void needed_library(struct needed *s, const char *object, const char *run, const char *name)
{
	static const char usual[] = "/lib64:/usr/lib64:/lib:/usr/lib:/usr/local/lib";

	if (strchr(name, '/')) {
		needed_add(s, name);
		return;
	}
	(void)(needed_in(s, run, object, name) ||
	       needed_in(s, getenv("LD_LIBRARY_PATH"), object, name) ||
	       needed_in(s, s->beside, object, name) || needed_in(s, usual, object, name));
}

/* A text in .dynstr; NULL: it does not end inside. */
static const char *needed_string(const struct image_section *strings, uint64_t offset)
{
	if (offset >= strings->n ||
	    !memchr(strings->bytes + offset, 0, strings->n - (size_t)offset))
		return NULL;
	return (const char *)strings->bytes + offset;
}

/* The entries of .dynamic with a tag, as strings: gives each to needed_library, or only returns the
 * last. */
static const char *needed_dynamic(struct needed *s, const char *object, int64_t tag,
                                  const struct image_section *dynamic,
                                  const struct image_section *strings, const char *run)
{
	struct cursor c = cursor_of(dynamic->bytes, dynamic->n, false);
	const char *last = NULL;

	while (cursor_left(&c) >= 16) {
		int64_t is = (int64_t)cursor_u64(&c);
		uint64_t value = cursor_u64(&c);
		const char *text = is == tag ? needed_string(strings, value) : NULL;

		if (is == DT_NULL)
			break;
		if (!text)
			continue;
		last = text;
		if (tag == DT_NEEDED)
			needed_library(s, object, run, text);
	}
	return last;
}

/* The dynamic loader, and its directory: distributions keep libc beside it. */
static void needed_interpreter(struct needed *s, struct image *image)
{
	struct image_section section;
	char *slash;

	if (image_section(image, ".interp", &section) < 0 || !section.bytes || !section.n ||
	    section.bytes[section.n - 1])
		return;
	if (!needed_add(s, (const char *)section.bytes) || s->beside[0] ||
	    !realpath((const char *)section.bytes, s->beside))
		return;
	slash = strrchr(s->beside, '/');
	if (slash)
		*slash = 0;
}

/* RPATH counts only where there is no RUNPATH. */
static void needed_of_elf(struct needed *s, const char *path, struct image *image)
{
	struct image_section dynamic, strings;
	const char *run;

	/* needed_dynamic reads entries of 64 bits, little-endian. */
	if (!image_is_64(image) || image_is_big_endian(image))
		return;
	needed_interpreter(s, image);
	if (image_section(image, ".dynamic", &dynamic) < 0 || !dynamic.bytes ||
	    image_section(image, ".dynstr", &strings) < 0 || !strings.bytes)
		return;
	run = needed_dynamic(s, path, DT_RUNPATH, &dynamic, &strings, NULL);
	if (!run)
		run = needed_dynamic(s, path, DT_RPATH, &dynamic, &strings, NULL);
	needed_dynamic(s, path, DT_NEEDED, &dynamic, &strings, run);
}

/* Adds the programs that a script's first line names ("#!/usr/bin/env python3" needs both). False:
 * it is no script. */
static bool needed_of_script(struct needed *s, const char *path)
{
	char line[SCRIPT_LINE + 1] = "", *program, *argument, *rest = NULL;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	ssize_t n = fd < 0 ? -1 : read(fd, line, SCRIPT_LINE);

	if (fd >= 0)
		close(fd);
	if (n < 3 || line[0] != '#' || line[1] != '!')
		return false;
	line[strcspn(line, "\n")] = 0;
	program = strtok_r(line + 2, " \t", &rest);
	argument = program ? strtok_r(NULL, " \t", &rest) : NULL;
	if (program)
		needed_add(s, program);
	/* env looks its argument up in PATH. With options it may mean anything. */
	if (argument && argument[0] != '-' && strstr(program, "/env"))
		needed_in(s, getenv("PATH"), "", argument);
	return true;
}

/* Follows the interpreters of scripts, ELF interpreters and needed libraries, to at most
 * NEEDED_MOST files. Files that are not ELF, or cannot be opened, are left out. */
int image_needed(const char *path, int (*each)(void *ctx, const char *path), void *ctx)
{
	struct needed *s = calloc(1, sizeof(*s));
	int r = s && needed_add(s, path) ? 0 : s ? -ENOENT : -ENOMEM;

	/* The list grows while it is walked. */
	for (size_t i = 0; r >= 0 && i < s->n; i++) {
		struct image *image = NULL;

		if (i < SCRIPT_DEPTH && needed_of_script(s, s->paths[i]))
			continue;
		if (image_open(&image, s->paths[i], NULL) >= 0) {
			needed_of_elf(s, s->paths[i], image);
			r = each(ctx, s->paths[i]);
		}
		image_close(image);
	}
	if (s && r >= 0)
		r = (int)s->n;
	for (size_t i = 0; s && i < s->n; i++)
		free(s->paths[i]);
	free(s);
	return r;
}
