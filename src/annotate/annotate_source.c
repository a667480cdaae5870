// SPDX-License-Identifier: MIT
// annotate_source.c: lines of source files. Names come from debugging information and recordings,
// so they are not trusted: what may be shown is dwarf/source_file.h's to say. Each is read once.
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/shown.h"
#include "annotate/annotate.h"
#include "convert/pack.h"

/* Reads a file of an archive that was unpacked, whatever it is called: it came with the recording.
 * -ENOENT: the archive does not have it. */
static int source_read_packed(struct annotate_text *t, const char *dir, const char *path)
{
	struct stat st;
	char inside[PATH_MAX];
	ssize_t n;
	int fd;

	if (!*dir || path[0] != '/' || strstr(path, "/..") ||
	    (size_t)snprintf(inside, sizeof(inside), "%s/" PACK_SOURCES "%s", dir, path) >=
	            sizeof(inside))
		return -ENOENT;
	fd = open(inside, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	if (fd < 0)
		return -ENOENT;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0 &&
	    st.st_size <= SOURCE_FILE_MAX) {
		t->bytes = malloc((size_t)st.st_size);
		while (t->bytes && t->n < (size_t)st.st_size &&
		       (n = read(fd, t->bytes + t->n, (size_t)st.st_size - t->n)) > 0)
			t->n += (size_t)n;
	}
	close(fd);
	return 0;
}

/* Reads the file from the archive or, if it is not there, from this machine. */
static void source_read(const struct annotate *a, struct annotate_text *t, const char *path)
{
	struct source_file file;

	if (source_read_packed(t, a->sources, path) >= 0)
		return;
	if (!strncmp(path, "file:///", 8)) /* modules of JavaScript */
		path += 7;
	if (source_file_read(&a->dirs, path, t->program, &file) >= 0) {
		t->bytes = file.bytes;
		t->n = file.n;
	}
	t->reason = file.reason;
}

static void source_index(struct annotate_text *t)
{
	size_t n = 1;

	for (size_t i = 0; i < t->n; i++)
		n += t->bytes[i] == '\n';
	free(t->starts);
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
		source_read(a, &a->texts[file], intern_get(&a->files, file));
		a->texts_bytes += a->texts[file].n;
		source_index(&a->texts[file]);
	}
	return &a->texts[file];
}

/* A file that was refused while nobody spoke for it is asked about again. */
int annotate_source_named(struct annotate *a, uint32_t file, const char *program)
{
	struct annotate_text *t;

	if (ARRAY_ROOM_ZEROED(&a->texts, &a->texts_capacity, (size_t)file + 1) < 0)
		return -ENOMEM;
	t = &a->texts[file];
	if (t->program)
		return 0;
	t->program = strdup(program);
	if (t->tried && !t->n)
		t->tried = false;
	return t->program ? 0 : -ENOMEM;
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

bool annotate_source_refused(const struct annotate *a, struct buf *out)
{
	size_t n = 0, first = 0;

	for (size_t i = a->texts_capacity; i-- > 0;) {
		if (!a->texts[i].reason)
			continue;
		first = i;
		n++;
	}
	if (n)
		shown_printf(out, "%zu source %s not shown: %s: %s", n,
		             n == 1 ? "file is" : "files are, the first",
		             intern_get(&a->files, (uint32_t)first), a->texts[first].reason);
	return n != 0;
}

const char *annotate_source_reason(const struct annotate *a, uint32_t file)
{
	return file < a->texts_capacity ? a->texts[file].reason : NULL;
}

void annotate_source_free(struct annotate *a)
{
	for (size_t i = 0; i < a->texts_capacity; i++) {
		free(a->texts[i].bytes);
		free(a->texts[i].starts);
		free(a->texts[i].program);
	}
	free(a->texts);
	a->texts = NULL;
	a->texts_capacity = 0;
	a->texts_bytes = 0;
}
