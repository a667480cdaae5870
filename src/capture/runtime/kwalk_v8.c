// SPDX-License-Identifier: MIT
/*
 * kwalk_v8.c: the lines of JavaScript functions. V8 keeps where a function begins, in characters of
 * its script's source; the source is too much to be told, and is in the process. So the programs in
 * the kernel tell where the source is, while the thread that runs the function stands still, and a
 * piece of it. It is read here some time later, once a script, and counts only if the string is
 * still the same before and behind it, and has that piece in its place. The source of a process
 * that is gone is the script's file, if that is as long and has that piece.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/map.h"
#include "capture/runtime/kwalk_memory.h"
#include "runtimes/codes.h"
#include "runtimes/text.h"
#include "runtimes/v8.h"

#define V8_SOURCE_MOST (64u << 20) /* bytes of a script's source */
#define V8_FILE_MOST (16u << 20)   /* of one that is read from a file */
#define V8_LINES_MOST (8u << 20)   /* lines that are kept, of all scripts */
#define V8_SCRIPTS_MOST 65536u
#define V8_PIECE 65536u
/* Bytes of sources that are read at once, and more of each second: processes that claim to have
 * more than node ever has get no lines. */
#define V8_READ_MOST (256ll << 20)
#define V8_READ_SECOND (16ll << 20)

struct v8_scripts {
	struct map known; /* script -> 1 + index in at */
	struct v8_lines *at;
	size_t n, lines;
	int64_t left; /* bytes that may be read, as of this second */
	time_t second;
	unsigned char piece[V8_PIECE];
	unsigned char source[sizeof(struct v8_source) + KWALK_CODE_LINES];
};

void v8_close(struct kwalk *l)
{
	if (!l->v8_scripts)
		return;
	for (size_t i = 0; i < l->v8_scripts->n; i++)
		v8_lines_free(&l->v8_scripts->at[i]);
	map_free(&l->v8_scripts->known);
	free(l->v8_scripts->at);
	free(l->v8_scripts);
}

static uint32_t v8_length(const struct v8_told *told)
{
	return (uint32_t)(told->length >> 32);
}

/* Whether the string is the one that was told of: its kind, its length, and where its characters
 * are, which are in it or are noted there. */
static bool v8_string_is(const struct kwalk *l, uint32_t pid, const struct v8_told *told)
{
	uint64_t words[4];
	size_t n = told->characters == told->string + 16 ? 2 : 4;

	return kwalk_read_process(l, pid, told->string, words, n * 8) >= 0 &&
	       words[0] == told->map && words[1] >> 32 == told->length >> 32 &&
	       (n == 2 || words[3] == told->characters);
}

/* Whether a piece of the source, from its character `first` on, has what was told in its place, as
 * far as it reaches. */
static bool v8_sample_is(const struct v8_told *told, uint64_t first, const unsigned char *piece,
                         size_t bytes)
{
	uint64_t from = ((uint64_t)told->from + told->start - first) * told->width;

	for (size_t i = 0; i < told->n_sample; i++)
		if (from + i < bytes && piece[from + i] != told->sample[i])
			return false;
	return true;
}

/* The lines of the source as the process has it. */
static int v8_ask(const struct kwalk *l, struct v8_scripts *s, uint32_t pid,
                  const struct v8_told *told, struct v8_lines *lines)
{
	uint64_t length = v8_length(told);
	int r = v8_string_is(l, pid, told) ? 0 : -ESTALE;

	for (uint64_t i = told->from, n; i < length && r >= 0; i += n) {
		n = length - i < V8_PIECE / 2 ? length - i : V8_PIECE / 2;
		r = kwalk_read_process(l, pid, told->characters + i * told->width, s->piece,
		                       n * told->width);
		if (r >= 0 && !v8_sample_is(told, i, s->piece, n * told->width))
			r = -ESTALE;
		if (r >= 0)
			r = v8_lines_add(lines, s->piece, n, told->width);
	}
	return r < 0 || v8_string_is(l, pid, told) ? r : -ESTALE;
}

/* Opens a file of some size that a process named. To open what is no file may do something, so it
 * is asked first what it is, and that and nothing else is opened. -errno. */
static int v8_open(const char *path, struct stat *st)
{
	int asked = open(path, O_PATH | O_CLOEXEC), fd = -EINVAL;
	char own[40];

	if (asked < 0)
		return -errno;
	snprintf(own, sizeof(own), "/proc/self/fd/%d", asked);
	if (!fstat(asked, st) && S_ISREG(st->st_mode) && st->st_size > 0 &&
	    st->st_size <= V8_FILE_MOST) {
		fd = open(own, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
		fd = fd < 0 ? -errno : fd;
	}
	close(asked);
	return fd;
}

/* A file's bytes. */
static int v8_load(const char *path, unsigned char **ret, size_t *ret_n)
{
	unsigned char *bytes;
	struct stat st;
	int r = -EINVAL, fd = v8_open(path, &st);

	if (fd < 0)
		return fd;
	bytes = malloc((size_t)st.st_size);
	if (bytes && read(fd, bytes, (size_t)st.st_size) == st.st_size)
		r = 0;
	close(fd);
	if (r < 0) {
		free(bytes);
		return r;
	}
	*ret = bytes;
	*ret_n = (size_t)st.st_size;
	return 0;
}

/* Whether units are the script's source, as far as was told. */
static bool v8_units_are(const struct v8_told *told, const uint16_t *units, uint64_t n)
{
	uint32_t start = told->start;
	size_t most = told->width ? told->n_sample / told->width : 0;

	if (n != v8_length(told) - told->from || !most || start > n || most > n - start)
		return false;
	for (size_t i = 0; i < most; i++) {
		uint16_t c = told->sample[i * told->width];

		if (told->width == 2)
			memcpy(&c, told->sample + i * 2, sizeof(c));
		if (units[start + i] != c)
			return false;
	}
	return true;
}

/* The lines of the script's file, if that is what the process had. */
static int v8_ask_file(const struct codes_text *name, const struct v8_told *told,
                       struct v8_lines *lines)
{
	static const char scheme[] = "file://";
	char text[KWALK_CODE_FILE * 3 + 1], *path = text;
	size_t n_text =
	        text_put(text, sizeof(text) - 1, name->characters, name->bytes, name->width);
	unsigned char *bytes = NULL;
	uint16_t *units;
	int64_t units_n = -ENOMEM;
	size_t n = 0;
	int r;

	text[n_text] = 0;
	if (!strncmp(text, scheme, sizeof(scheme) - 1) && !strchr(text, '%'))
		path += sizeof(scheme) - 1;
	if (name->cut || *path != '/' || strlen(text) != n_text)
		return -ENOENT;
	r = v8_load(path, &bytes, &n);
	if (r < 0)
		return r;
	units = malloc(n * sizeof(*units));
	if (units)
		units_n = v8_lines_units(units, bytes, n);
	r = (int)(units_n < 0 ? units_n : 0);
	if (r >= 0)
		r = v8_units_are(told, units, (uint64_t)units_n)
		            ? v8_lines_add(lines, units, (size_t)units_n, 2)
		            : -ESTALE;
	free(units);
	free(bytes);
	return r;
}

/* What is told is believed only as far as sums of it do not pass what is counted with. */
static bool v8_told_is(const struct v8_told *told)
{
	uint64_t length = v8_length(told);

	return (told->width == 1 || told->width == 2) && length * told->width <= V8_SOURCE_MOST &&
	       told->from <= length && told->start <= length - told->from &&
	       told->n_sample <= sizeof(told->sample);
}

/* Whether the source may be read now. */
static bool v8_affords(struct v8_scripts *s, const struct v8_told *told)
{
	int64_t bytes = (int64_t)v8_length(told) * told->width;
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	if (now.tv_sec - s->second > V8_READ_MOST / V8_READ_SECOND)
		s->left = V8_READ_MOST;
	else
		s->left += (now.tv_sec - s->second) * V8_READ_SECOND;
	s->second = now.tv_sec;
	if (s->left > V8_READ_MOST)
		s->left = V8_READ_MOST;
	if (bytes > s->left)
		return false;
	s->left -= bytes;
	return true;
}

/* The number of a script of a thread: where its source is moved to makes it another, which is read
 * again. */
static uint64_t v8_script_key(uint32_t pid, const struct codes_text *name,
                              const struct v8_told *told)
{
	uint64_t words[] = { pid,        told->thread, told->script, told->string, told->characters,
		             told->from, told->length, told->width };

	return map_hash_bytes(words, sizeof(words),
	                      map_hash_bytes(name->characters, name->bytes, name->width));
}

/* The script's lines; NULL: they are not known. What was not found is not looked for again. */
static const struct v8_lines *v8_script(const struct kwalk *l, struct v8_scripts *s, uint32_t pid,
                                        const struct codes_text *name, const struct v8_told *told)
{
	uint64_t key = v8_script_key(pid, name, told), known;
	struct v8_lines *lines;

	if (map_get(&s->known, key, &known))
		return s->at[known - 1].characters ? &s->at[known - 1] : NULL;
	if (!v8_affords(s, told) || s->n == V8_SCRIPTS_MOST || s->lines > V8_LINES_MOST ||
	    map_put(&s->known, key, s->n + 1) < 0)
		return NULL;
	lines = &s->at[s->n++];
	*lines = (struct v8_lines){ 0 };
	if (v8_ask(l, s, pid, told, lines) < 0) {
		v8_lines_free(lines);
		if (v8_ask_file(name, told, lines) < 0)
			v8_lines_free(lines);
	}
	s->lines += lines->n;
	return lines->characters ? lines : NULL;
}

static struct v8_scripts *v8_scripts(struct kwalk *l)
{
	struct v8_scripts *s = l->v8_scripts;

	if (s)
		return s;
	s = calloc(1, sizeof(*s));
	if (s)
		s->at = calloc(V8_SCRIPTS_MOST, sizeof(*s->at));
	if (s && !s->at) {
		free(s);
		return NULL;
	}
	l->v8_scripts = s;
	return s;
}

/* Puts the lines of a function's script in the place of where its source is. They live as long as
 * the recording. */
void v8_lines_of(struct kwalk *l, uint32_t pid, struct codes_told *code)
{
	struct v8_source source = { 0 };
	struct v8_told told = { 0 };
	struct v8_scripts *s;

	if (code->kind != RUNTIME_V8 || code->lines_form != V8_LINES_TOLD)
		return;
	s = v8_scripts(l);
	if (s && code->n_lines >= sizeof(told) && code->n_lines <= KWALK_CODE_LINES)
		memcpy(&told, code->lines, sizeof(told));
	if (v8_told_is(&told))
		source.lines = v8_script(l, s, pid, &code->file, &told);
	if (!source.lines) {
		code->n_lines = 0;
		return;
	}
	source.line = told.line;
	source.first_line = told.line + v8_lines_at(source.lines, told.start);
	source.start = told.start;
	source.end = told.end > told.start ? told.end : UINT32_MAX;
	source.rows = told.rows;
	source.bytecodes = told.bytecodes;
	memcpy(s->source, &source, sizeof(source));
	memcpy(s->source + sizeof(source), code->lines + sizeof(told),
	       code->n_lines - sizeof(told));
	code->n_lines += sizeof(source) - sizeof(told);
	code->lines = s->source;
	code->lines_form = V8_LINES_SOURCE;
}
