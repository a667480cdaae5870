// SPDX-License-Identifier: MIT
// reader_open.c: opens and closes readers, and tells what they found. Knows how a file, a directory
/* A section is a span of whole records. Sections move when one is added: nobody keeps a pointer to
 * one. */
// recording and memory become sections of records; how records are walked is reader.c.
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cursor.h"
#include "base/array.h"
#include "base/sized.h"
#include "perfdata/reader_state.h"

/* ---- sections ---- */

/* -ENOMEM. */
static int reader_add_section(struct seam_reader *r, const struct section *s)
{
	if (ARRAY_ROOM(&r->sections, &r->sections_capacity, r->n_sections + 1) < 0)
		return -ENOMEM;
	r->sections[r->n_sections++] = *s;
	return 0;
}

/*
 * Whether a file whose data.size is 0 was finished without a single record. data.size is also 0
 * while a recorder runs, or after it was killed. A finished file has its feature table where the
 * records would be. The offsets in it lie in the file, as those that the header of a record would
 * spell cannot.
 */
static bool reader_is_empty_but_finished(const struct seam_reader *r)
{
	const struct header *h = &r->header;
	struct cursor c = cursor_of(r->input.bytes, (size_t)r->input.size, r->swap);
	unsigned n = 0;

	if (!cursor_seek(&c, h->data.offset))
		return false;
	for (unsigned f = 0; f < SEAM_FEATURE_MAX; f++) {
		uint64_t offset, size;

		if (!header_has(h, f))
			continue;
		offset = cursor_u64(&c);
		size = cursor_u64(&c);
		if (c.failed || offset > r->input.size || size > r->input.size - offset)
			return false;
		n++;
	}
	return n > 0;
}

/* Finds out which part of the file holds records, also if the recorder was killed or the file was
 * cut; both are reported as damage. -EBADMSG: the header puts the data inside itself. */
static int reader_file_data(struct seam_reader *r, struct seam_error *err)
{
	const struct header *h = &r->header;
	uint64_t size = r->input.size, offset = h->data.offset, n = h->data.size;
	struct section s;

	if (offset < HEADER_SIZE_V1)
		return seam_error_set(err, EBADMSG, r->name, 40, "header",
		                      "the data would begin inside the header, at 0x%llx",
		                      (unsigned long long)offset);
	/* A recorder writes data.size when it ends. */
	if (size > offset && (header_is_open(h) || (!n && !reader_is_empty_but_finished(r)))) {
		r->unfinished = true;
		n = size - offset;
		if (damage_add(&r->damage, err, 48, "header",
		               "%sthe recorder did not finish this file; reading %llu bytes up to "
		               "its end",
		               header_is_open(h) ? "" : "data.size is 0: ", (unsigned long long)n) <
		    0)
			return -EBADMSG;
	}
	if (offset > size || n > size - offset) {
		uint64_t there = offset > size ? 0 : size - offset;

		if (damage_add(&r->damage, err, 40, "header",
		               "the file is cut: %llu of %llu bytes of data are there",
		               (unsigned long long)there, (unsigned long long)n) < 0)
			return -EBADMSG;
		offset = offset > size ? size : offset;
		n = there;
		r->cut = true;
	}
	s = (struct section){
		.bytes = r->input.bytes + offset, .size = n, .base = offset, .input.fd = -1
	};
	r->data_size = n;
	return reader_add_section(r, &s);
}

/* A file: its data, its events, and its features, if these can be behind the data. */
static int reader_file(struct seam_reader *r, struct seam_error *err)
{
	const struct header *h = &r->header;
	int rc = reader_file_data(r, err);

	if (rc >= 0)
		rc = meta_load_attrs(&r->meta, h, r->input.bytes, r->input.size, err);
	/* A recorder that was killed had not written the features yet. */
	if (rc < 0 || r->unfinished)
		return rc;
	if (!r->cut)
		return meta_load_features(&r->meta, h, r->input.bytes, r->input.size, 0,
		                          h->data.offset + h->data.size, err);
	meta_lose_features(&r->meta, h);
	return 0;
}

/* A pipe-mode stream that was stored as a file: its records follow the short header. */
static int reader_pipe(struct seam_reader *r)
{
	struct section s = { .bytes = r->input.bytes + HEADER_SIZE_PIPE,
		             .size = r->input.size - HEADER_SIZE_PIPE,
		             .base = HEADER_SIZE_PIPE,
		             .input.fd = -1 };

	r->header.data.offset = HEADER_SIZE_PIPE;
	r->data_size = s.size;
	return reader_add_section(r, &s);
}

/* Opens what is mapped or in memory: all bytes are at hand. Some of them are looked at before the
 * first record is asked for. */
static int reader_open_bytes(struct seam_reader *r, struct seam_error *err)
{
	int rc = header_decode(r->input.bytes, (size_t)r->input.size, r->name, &r->header, err);

	if (rc < 0)
		return rc == -EAGAIN ? -EBADMSG : rc;
	r->swap = r->header.swap;
	rc = meta_init(&r->meta, r->swap, &r->damage);
	if (rc >= 0)
		rc = r->header.pipe ? reader_pipe(r) : reader_file(r, err);
	return rc;
}

/* ---- directories ---- */

/* Adds a part of a directory recording. The section's input is the reader's from here on, also on
 * failure. */
static int reader_directory_part(struct seam_reader *r, struct section *s, unsigned long number,
                                 struct seam_error *err)
{
	struct stat st = { 0 };
	/* An empty data.N is a CPU on which nothing ran. */
	bool empty = fstat(s->input.fd, &st) == 0 && S_ISREG(st.st_mode) && !st.st_size;
	int rc = 0;

	s->bytes = s->input.bytes;
	s->size = s->input.size;
	if (s->bytes)
		rc = reader_add_section(r, s);
	else if (!empty)
		rc = damage_add(&r->damage, err, SEAM_NO_OFFSET, "data",
		                "data.%lu: cannot be mapped: left out", number);
	if (rc < 0 || !s->bytes)
		input_close(&s->input);
	else
		r->parts_size += s->size;
	return rc;
}

/* Adds the file data.NUMBER of a directory as a section. One that cannot be read is reported as
 * damage, and the rest of the recording is read. */
static int reader_directory_file(struct seam_reader *r, const char *path, unsigned long number,
                                 struct seam_error *err)
{
	struct section s = { .input.fd = -1 };
	char *file = NULL;
	struct stat st;
	int rc;

	if (asprintf(&file, "%s/data.%lu", path, number) < 0)
		return -ENOMEM;
	/* A FIFO of that name would never answer open(2). */
	if (stat(file, &st) == 0 && !S_ISREG(st.st_mode))
		rc = -ENOTSUP;
	else
		rc = input_open(&s.input, file, err);
	if (rc < 0)
		rc = damage_add(&r->damage, err, SEAM_NO_OFFSET, "data", "data.%lu: %s", number,
		                strerror(-rc));
	else
		rc = reader_directory_part(r, &s, number, err);
	free(file);
	return rc;
}

/* For qsort. */
static int reader_number_order(const void *a, const void *b)
{
	unsigned long x = *(const unsigned long *)a, y = *(const unsigned long *)b;

	return (x > y) - (x < y);
}

/* The numbers N of the data.N in a directory, ascending; *left_out: how many there are beyond
 * READER_SECTIONS. */
static int reader_directory_numbers(DIR *dir, struct buf *ret, size_t *left_out)
{
	struct dirent *e;

	while ((e = readdir(dir))) {
		unsigned long number;
		char *end;

		if (strncmp(e->d_name, "data.", 5) || e->d_name[5] < '0' || e->d_name[5] > '9')
			continue;
		number = strtoul(e->d_name + 5, &end, 10);
		if (*end)
			continue;
		if (ret->n < READER_SECTIONS * sizeof(number))
			buf_put(ret, &number, sizeof(number));
		else
			++*left_out;
	}
	if (ret->failed)
		return -ENOMEM;
	if (ret->n)
		qsort(ret->bytes, ret->n / sizeof(unsigned long), sizeof(unsigned long),
		      reader_number_order);
	return 0;
}

/* Adds all files data.N of a directory as sections, in the order of their numbers, up to
 * READER_SECTIONS. */
static int reader_directory(struct seam_reader *r, const char *path, struct seam_error *err)
{
	DIR *dir = opendir(path);
	struct buf numbers = { 0 };
	size_t left_out = 0;
	int rc;

	if (!dir)
		return seam_error_set(err, errno, path, SEAM_NO_OFFSET, NULL, "%s",
		                      strerror(errno));
	rc = reader_directory_numbers(dir, &numbers, &left_out);
	closedir(dir);
	if (rc >= 0 && left_out)
		rc = damage_add(&r->damage, err, SEAM_NO_OFFSET, "data",
		                "more than %d files data.N: %zu of them are left out",
		                READER_SECTIONS, left_out);
	for (size_t i = 0; rc >= 0 && i < numbers.n / sizeof(unsigned long); i++) {
		unsigned long number;

		memcpy(&number, numbers.bytes + i * sizeof(number), sizeof(number));
		rc = reader_directory_file(r, path, number, err);
	}
	buf_free(&numbers);
	return rc;
}

/* ---- open and close ---- */

/* Allocates a reader that has no input yet. -EINVAL, -E2BIG: the options' sz is not one that this
 * library knows. */
static int reader_new(struct seam_reader **ret, const char *name,
                      const struct seam_reader_opts *opts, struct seam_error *err)
{
	struct seam_reader_opts o;
	struct seam_reader *r;
	int rc = sized_take(&o, sizeof(o), opts);

	if (rc < 0)
		return seam_error_set(
		        err, -rc, name, SEAM_NO_OFFSET, NULL,
		        "the options are of a newer version, or their size is not set");
	r = calloc(1, sizeof(*r));
	if (r)
		r->name = strdup(name);
	if (!r || !r->name) {
		free(r);
		return seam_error_set(err, ENOMEM, name, SEAM_NO_OFFSET, NULL, "out of memory");
	}
	r->input.fd = -1;
	r->keep_most = READER_KEEP;
	r->damage.path = r->name;
	r->damage.strict = o.strict;
	*ret = r;
	return 0;
}

/* The rest of opening, once r->input is set. directory: NULL unless the path is one. */
static int reader_start(struct seam_reader **ret, struct seam_reader *r, const char *directory,
                        struct seam_error *err)
{
	int rc = r->input.bytes ? reader_open_bytes(r, err) : reader_open_stream(r, err);

	if (rc >= 0 && directory && !r->header.pipe)
		rc = reader_directory(r, directory, err);
	if (rc == -ENOMEM)
		seam_error_set(err, ENOMEM, r->name, SEAM_NO_OFFSET, NULL, "out of memory");
	if (rc < 0) {
		seam_reader_close(r);
		return rc;
	}
	r->directory = directory;
	r->damage_at_open = r->damage.n;
	r->damage_total_at_open = r->damage.total;
	if (!r->stream)
		reader_enter_section(r, 0);
	*ret = r;
	return 0;
}

/* A directory is opened by its file `data`; its files data.N become further sections. "-" is
 * standard input. */
int seam_reader_open(struct seam_reader **ret, const char *path,
                     const struct seam_reader_opts *opts, struct seam_error *err)
{
	struct seam_reader *r;
	struct stat st;
	char *data = NULL;
	bool directory;
	int rc;

	if (!strcmp(path, "-"))
		return seam_reader_open_fd(ret, STDIN_FILENO, "-", opts, err);
	rc = reader_new(&r, path, opts, err);
	if (rc < 0)
		return rc;
	directory = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
	if (directory && asprintf(&data, "%s/data", path) < 0)
		/* The path itself is tried then, and it is a directory: the error says so. */
		data = NULL;
	rc = input_open(&r->input, data ? data : path, err);
	free(data);
	if (rc < 0) {
		r->input.fd = -1;
		seam_reader_close(r);
		/* The text is not kept: from here on only whether there is one matters. */
		return rc;
	}
	return reader_start(ret, r, directory ? path : NULL, err);
}

int seam_reader_open_fd(struct seam_reader **ret, int fd, const char *name,
                        const struct seam_reader_opts *opts, struct seam_error *err)
{
	struct seam_reader *r;
	int rc = reader_new(&r, name ? name : "stream", opts, err);

	if (rc < 0)
		return rc;
	rc = input_open_fd(&r->input, fd, r->name, err);
	if (rc < 0) {
		r->input.fd = -1;
		seam_reader_close(r);
		return rc;
	}
	return reader_start(ret, r, NULL, err);
}

/* The bytes stay the caller's and must live as long as the reader. */
int seam_reader_open_memory(struct seam_reader **ret, const void *bytes, size_t n, const char *name,
                            const struct seam_reader_opts *opts, struct seam_error *err)
{
	struct seam_reader *r;
	int rc = reader_new(&r, name ? name : "memory", opts, err);

	if (rc < 0)
		return rc;
	/* A NULL would mean a stream. */
	r->input.bytes = n ? bytes : (const unsigned char *)"";
	r->input.size = n;
	return reader_start(ret, r, NULL, err);
}

/* The thread that reads ahead is waited for first: it touches the mapped file. */
void seam_reader_close(struct seam_reader *r)
{
	if (!r)
		return;
	ahead_wait(&r->ahead, NULL, 0);
	for (size_t i = 0; i < r->n_sections; i++)
		input_close(&r->sections[i].input);
	free(r->sections);
	input_close(&r->input);
	reader_free_blocks(r);
	inflate_free(&r->inflate);
	buf_free(&r->plain);
	buf_free(&r->carry);
	buf_free(&r->held);
	free(r->window);
	meta_free(&r->meta);
	damage_free(&r->damage);
	free(r->name);
	free(r);
}

/* A second pass reports nothing again: damage and tallies of the first whole pass stand. After a
 * first pass that was given up, they begin anew. */
int seam_reader_rewind(struct seam_reader *r)
{
	if (r->stream)
		/* A stream has gone by. */
		return -ESPIPE;
	if (r->failed)
		return r->failed;
	/* meta has taken what the records before this index say. */
	if (r->records > r->learned)
		r->learned = r->records;
	if (r->complete && !r->quiet) {
		r->final = r->tally;
		r->quiet = true;
	}
	/* Faults that a first pass found before it was given up are reported again; those of a
	 * whole pass stand. */
	if (!r->quiet) {
		r->damage.n = r->damage_at_open;
		r->damage.total = r->damage_total_at_open;
	}
	r->damage.quiet = r->quiet;
	r->tally = (struct tally){ 0 };
	r->records = 0;
	r->replay = 0;
	r->rewound = true;
	reader_enter_section(r, 0);
	return 0;
}

/* ---- what it is ---- */

const struct seam_events *seam_reader_events(const struct seam_reader *r)
{
	return r->meta.events;
}

int seam_reader_feature(const struct seam_reader *r, unsigned feature, struct seam_bytes *ret)
{
	return meta_feature(&r->meta, feature, ret);
}

const char *seam_reader_feature_string(struct seam_reader *r, unsigned feature)
{
	return meta_feature_string(&r->meta, feature);
}

/* The i-th fault in words, or NULL. All faults are counted, the first DAMAGE_KEPT are kept. */
const struct seam_error *seam_reader_damage(const struct seam_reader *r, size_t i)
{
	return i < r->damage.n ? &r->damage.kept[i] : NULL;
}

bool seam_reader_damaged(const struct seam_reader *r)
{
	return r->damage.total > 0;
}

/* Bytes of all sections before the one being read, and of that one. */
static uint64_t reader_position(const struct seam_reader *r)
{
	uint64_t position = 0;

	for (size_t i = 0; !r->stream && i < r->section; i++)
		/* Sections before this one are whole files of a directory, or the data of the
		 * first. */
		position += r->sections[i].base + r->sections[i].size;
	return position + lane_offset(&r->outer);
}

/* The last write to any of its files. */
static uint64_t reader_written(const struct seam_reader *r)
{
	uint64_t ns = r->input.written_ns;

	for (size_t i = 0; i < r->n_sections; i++)
		if (r->sections[i].input.written_ns > ns)
			ns = r->sections[i].input.written_ns;
	return ns;
}

/* While a first pass goes on, the counts are those so far. After it they stay, whatever later
 * passes do. */
int seam_reader_info(const struct seam_reader *r, struct seam_reader_info *ret)
{
	const struct tally *t = r->quiet ? &r->final : &r->tally;
	const struct seam_reader_info info = {
		.is_pipe = r->header.pipe,
		.is_directory = r->directory,
		.swapped = r->swap,
		.big_endian = r->swap == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__),
		.compressed = t->compressed_records || r->meta.has[SEAM_FEATURE_COMPRESSED],
		.unfinished = r->unfinished,
		.file_size = r->stream ? 0 : r->input.size + r->parts_size,
		.data_offset = r->header.data.offset,
		.data_size = r->data_size + r->parts_size,
		.position = reader_position(r),
		.records = r->records,
		.skipped_records = t->skipped_records,
		.skipped_bytes = t->skipped_bytes,
		.truncated_bytes = t->truncated_bytes,
		.bad_features = r->meta.bad_features,
		.compressed_bytes = t->compressed_bytes,
		.decompressed_bytes = t->decompressed_bytes,
		.compressed_records = t->compressed_records,
		.compressed2_records = t->compressed2_records,
		.feature_offset = r->header.pipe ? 0 : r->header.data.offset + r->header.data.size,
		.version = r->header.version,
		.written_ns = reader_written(r),
	};

	return sized_give(ret, &info, sizeof(info));
}
