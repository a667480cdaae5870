// SPDX-License-Identifier: MIT
// annotate_source.c: lines of source files. Names come from debugging information, so they are not
// trusted: only regular files are read, never more than ANNOTATE_SOURCE_MAX, each once.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "annotate/annotate.h"
#include "convert/pack.h"

/* Reads the file from the archive or, if it is not there, from this machine. */
static void source_read(struct annotate_text *t, const char *dir, const char *path)
{
	char inside[8192];
	bool fits = (size_t)snprintf(inside, sizeof(inside), "%s/" PACK_SOURCES "%s", dir, path) <
	            sizeof(inside);
	/* O_NONBLOCK: a FIFO of that name must not hold seam up. */
	int fd = *dir && fits && path[0] == '/'
	                 ? open(inside, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)
	                 : -1;
	struct stat st;
	ssize_t n;

	if (fd < 0 && !strncmp(path, "file:///", 8)) /* modules of JavaScript */
		path += 7;
	if (fd < 0)
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0 &&
	    st.st_size <= ANNOTATE_SOURCE_MAX) {
		t->bytes = malloc((size_t)st.st_size);
		while (t->bytes && t->n < (size_t)st.st_size &&
		       (n = read(fd, t->bytes + t->n, (size_t)st.st_size - t->n)) > 0)
			t->n += (size_t)n;
	}
	close(fd);
}

static void source_index(struct annotate_text *t)
{
	size_t n = 1;

	for (size_t i = 0; i < t->n; i++)
		n += t->bytes[i] == '\n';
	t->starts = calloc(n, sizeof(*t->starts));
	if (!t->starts)
		return;
	t->n_lines = 1;
	for (size_t i = 0; i + 1 < t->n; i++)
		if (t->bytes[i] == '\n')
			t->starts[t->n_lines++] = i + 1;
}

/* The text of a source file, read when it is first asked for; NULL: out of memory. A file that
 * cannot be read is an empty text. */
static struct annotate_text *source_text(struct annotate *a, uint32_t file)
{
	if (ARRAY_ROOM_ZEROED(&a->texts, &a->texts_capacity, (size_t)file + 1) < 0)
		return NULL;
	if (!a->texts[file].tried) {
		a->texts[file].tried = true;
		source_read(&a->texts[file], a->sources, intern_get(&a->files, file));
		a->texts_bytes += a->texts[file].n;
		source_index(&a->texts[file]);
	}
	return &a->texts[file];
}

const char *annotate_source(struct annotate *a, uint32_t file, uint32_t line, size_t *ret_n)
{
	const struct annotate_text *t = file && line && !a->no_source ? source_text(a, file) : NULL;
	const char *at, *end;

	if (!t || !t->n || line > t->n_lines)
		return NULL;
	at = t->bytes + t->starts[line - 1];
	end = memchr(at, '\n', t->n - t->starts[line - 1]);
	*ret_n = end ? (size_t)(end - at) : t->n - t->starts[line - 1];
	if (*ret_n && at[*ret_n - 1] == '\r')
		--*ret_n;
	return at;
}

void annotate_source_free(struct annotate *a)
{
	for (size_t i = 0; i < a->texts_capacity; i++) {
		free(a->texts[i].bytes);
		free(a->texts[i].starts);
	}
	free(a->texts);
	a->texts = NULL;
	a->texts_capacity = 0;
	a->texts_bytes = 0;
}
