// SPDX-License-Identifier: MIT
/*
 * convert_names.c: see convert_names.h. Tools look a name up by the place in a file, 2^32 bytes of
 * it at most, and functions are far apart in the recording; so each function gets as many places as
 * it has lines with samples, and the samples are gone through once before they are written.
 *
 * The file's own name is "[python]": tools show that as the object.
 */
#include "convert/convert_names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abi/encode.h"
#include "abi/runtime.h"
#include "abi/runtime_code.h"
#include "base/arena.h"
#include "base/array.h"
#include "base/map.h"
#include "base/shown.h"
#include "convert/names_cache.h"
#include "convert/names_elf.h"

#define NAMES_FILE "[python]"

struct convert_names {
	struct map places;  /* address -> that in the output */
	struct map mapped;  /* pids */
	struct arena arena; /* names, lines */
	uint64_t *used;     /* addresses, ascending once they are placed */
	size_t n_used, used_capacity;
	struct names_elf_function *functions;
	size_t n, capacity;
	uint32_t text;   /* bytes of code in the file; 0: too many */
	struct buf path; /* of the file */
	struct seam_mmap mmap;
};

void convert_names_free(struct convert_names *names)
{
	if (!names)
		return;
	map_free(&names->places);
	map_free(&names->mapped);
	arena_free(&names->arena);
	buf_free(&names->path);
	free(names->used);
	free(names->functions);
	free(names);
}

size_t convert_names_count(const struct convert_names *names)
{
	return names ? names->n : 0;
}

uint64_t convert_names_address(const struct convert_names *names, uint64_t address)
{
	uint64_t place = address;

	if (names && runtime_code_is(address))
		map_get(&names->places, address, &place);
	return place;
}

bool convert_names_in(const struct seam_u64s *user)
{
	for (uint64_t i = 0; i < user->n; i++)
		if (runtime_code_is(seam_u64s_at(user, i)))
			return true;
	return false;
}

/* ---- which functions are used ---- */

/* For samples_each. */
static int names_sample(void *ctx, const struct sample *s, struct buf *out)
{
	const struct seam_u64s user = sample_user(s);
	struct convert_names *names = ctx;

	(void)out;
	for (uint64_t i = 0; i < user.n; i++) {
		uint64_t address = seam_u64s_at(&user, i);
		bool is_new = false;

		if (!runtime_code_is(address))
			continue;
		if (!map_slot(&names->places, address, &is_new) ||
		    (is_new &&
		     ARRAY_ROOM(&names->used, &names->used_capacity, names->n_used + 1) < 0))
			return -ENOMEM;
		if (is_new)
			names->used[names->n_used++] = address;
	}
	return 0;
}

/* Finds the addresses that the wanted samples have. */
static int names_collect(struct convert_names *names, struct recording *rec,
                         const struct convert_opts *opts, struct seam_error *err)
{
	const struct samples_opts samples = {
		.sz = sizeof(samples),
		.filter = opts->filter,
		.order = SAMPLES_BY_FILE,
		.threads = 1,
	};
	const struct samples_consumer consumer = { .sample = names_sample, .ctx = names };

	return samples_each(rec, &samples, &consumer, err);
}

static int names_compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* A text as it is shown, since the tools that read it may print it as it is. NULL: no memory. */
static const char *names_shown(struct convert_names *names, const char *text)
{
	struct buf b = { 0 };
	char *shown = NULL;

	if (shown_put_text(&b, text) >= 0)
		shown = arena_alloc(&names->arena, b.n + 1);
	if (shown) {
		memcpy(shown, buf_text(&b), b.n);
		shown[b.n] = '\0';
	}
	buf_free(&b);
	return shown;
}

/* A new function, at whose piece of addresses the mapping is; its lines follow. */
static int names_function(struct convert_names *names, const struct proc_mapping *m)
{
	struct names_elf_function f = { .name = names_shown(names, m->object->path) };
	const char *file = f.name ? runtime_function_file(f.name) : NULL;

	f.file = file ? file : "";
	if (!f.name || ARRAY_ROOM(&names->functions, &names->capacity, names->n + 1) < 0)
		return -ENOMEM;
	names->functions[names->n++] = f;
	return 0;
}

/* Makes functions of the addresses. Those that nobody named stay what they are. */
static int names_functions(struct convert_names *names, const struct recording *rec)
{
	const struct proc_mapping *last = NULL, *m;
	uint32_t *lines;
	size_t n = 0;
	int r = 0;

	qsort(names->used, names->n_used, sizeof(*names->used), names_compare);
	lines = arena_alloc(&names->arena, names->n_used * sizeof(*lines));
	for (size_t i = 0; lines && r >= 0 && i < names->n_used; i++) {
		m = proc_space_find(rec->procs, PROC_NO_SPACE, names->used[i]);
		if (!m || m->object->kind != PROC_KIND_RUNTIME)
			continue;
		if (m != last)
			r = names_function(names, m);
		last = m;
		if (r < 0)
			break;
		if (!names->functions[names->n - 1].n++)
			names->functions[names->n - 1].lines = lines + n;
		lines[n] = runtime_code_line(names->used[i]);
		names->used[n++] = names->used[i];
	}
	names->n_used = n;
	return lines ? r : -ENOMEM;
}

/* Gives each address its place in the file. Odd, as it was: so the one in front of it, at which a
 * caller is looked up, has the same line. */
static int names_places(struct convert_names *names)
{
	const uint64_t *address = names->used;
	int r = 0;

	names->text = names_elf_place(names->functions, names->n);
	for (size_t i = 0; i < names->n && r >= 0; i++) {
		uint64_t at = RUNTIME_CODE_BASE + names->functions[i].at + 1;

		for (size_t k = 0; k < names->functions[i].n && r >= 0; k++)
			r = map_put(&names->places, *address++, at + k * NAMES_ELF_LINE);
	}
	return r;
}

/* ---- the file ---- */

/* Makes the directories of a path that are not there, from `from` on. */
static void names_directories(struct buf *path, size_t from)
{
	for (size_t i = from; i < path->n; i++) {
		if (path->bytes[i] != '/')
			continue;
		path->bytes[i] = '\0';
		mkdir((const char *)path->bytes, 0777); /* what is missing is told by the file */
		path->bytes[i] = '/';
	}
}

/* Writes the file whole or not at all, under another name first. It is its owner's, as recordings
 * are. */
static int names_write(struct convert_names *names, const struct buf *elf, size_t from)
{
	struct buf temporary = { 0 };
	ssize_t done = 0;
	int fd = -1, r = 0;

	buf_printf(&temporary, "%s.XXXXXX", buf_text(&names->path));
	if (names->path.failed || temporary.failed) {
		buf_free(&temporary);
		return -ENOMEM;
	}
	names_directories(&names->path, from);
	fd = mkstemp((char *)buf_text(&temporary));
	if (fd < 0) {
		r = -errno;
		buf_free(&temporary);
		return r;
	}
	for (size_t at = 0; at < elf->n && done >= 0; at += (size_t)done)
		done = write(fd, elf->bytes + at, elf->n - at);
	if (done < 0)
		r = -errno;
	if (close(fd) < 0 && r >= 0)
		r = -errno;
	if (r >= 0 && rename(buf_text(&temporary), buf_text(&names->path)) < 0)
		r = -errno;
	if (r < 0)
		unlink(buf_text(&temporary));
	buf_free(&temporary);
	return r;
}

/* Makes the file, and the mapping of it. */
static int names_file(struct convert_names *names, const struct convert_opts *opts,
                      struct seam_error *why)
{
	unsigned char id[NAMES_ELF_ID];
	struct buf elf = { 0 };
	int r = names->text ? names_elf_put(&elf, names->functions, names->n, id) : -EFBIG;

	buf_put_text(&names->path, opts->names_dir);
	if (r >= 0 && opts->names_by_id) {
		buf_put_text(&names->path, "/");
		for (size_t i = 0; i < sizeof(id); i++)
			buf_printf(&names->path, "%02x", id[i]);
	}
	buf_put_text(&names->path, "/" NAMES_FILE);
	if (r >= 0)
		r = names_write(names, &elf, 1);
	if (r >= 0 && opts->names_by_id)
		names_cache_prune(opts->names_dir, NAMES_FILE);
	buf_free(&elf);
	if (r < 0)
		return seam_error_set(why, -r, buf_text(&names->path), SEAM_NO_OFFSET, NULL, "%s",
		                      strerror(-r));
	names->mmap = (struct seam_mmap){ .addr = RUNTIME_CODE_BASE,
		                          .len = (names->text + 4095ull) / 4096 * 4096,
		                          .pgoff = NAMES_ELF_TEXT,
		                          .has_prot = true,
		                          .prot = PROT_READ | PROT_EXEC,
		                          .flags = MAP_PRIVATE,
		                          .has_build_id = true,
		                          .build_id_size = NAMES_ELF_ID,
		                          .filename = buf_text(&names->path) };
	memcpy(names->mmap.build_id, id, NAMES_ELF_ID);
	return 0;
}

/* Whether the recording names any function of an interpreter. */
static bool names_told(const struct recording *rec)
{
	for (size_t i = 0; i < proc_objects(rec->procs); i++)
		if (proc_object_at(rec->procs, i)->kind == PROC_KIND_RUNTIME)
			return true;
	return false;
}

/* A recording of which nothing is said here is converted as ever: *ret stays NULL. */
int convert_names_new(struct convert_names **ret, struct recording *rec,
                      const struct convert_opts *opts, struct seam_error *unwritten,
                      struct seam_error *err)
{
	struct convert_names *names;
	int r;

	*ret = NULL;
	if (!opts->names_dir || !names_told(rec))
		return 0;
	names = calloc(1, sizeof(*names));
	if (!names)
		return -ENOMEM;
	r = names_collect(names, rec, opts, err);
	if (r >= 0)
		r = names_functions(names, rec);
	if (r >= 0)
		r = names_places(names);
	if (r >= 0 && names->n && names_file(names, opts, unwritten) >= 0) {
		*ret = names;
		return 0;
	}
	convert_names_free(names);
	return r;
}

/* ---- mappings ---- */

int convert_names_map(struct convert_names *names, struct buf *out, const struct seam_attr *attr,
                      const struct seam_id *id)
{
	uint64_t *mapped = map_slot(&names->mapped, id->pid, NULL);

	if (!mapped)
		return -ENOMEM;
	if (*mapped)
		return 0;
	*mapped = 1;
	names->mmap.pid = id->pid;
	names->mmap.tid = id->tid;
	return encode_mmap2(out, attr, SEAM_MISC_USER, &names->mmap, id);
}

/* A child has its parent's mappings, or is taken for one that has none. */
void convert_names_beside(struct convert_names *names, const struct seam_decoded *record)
{
	switch (record->record->type) {
	case SEAM_RECORD_COMM:
		if (record->comm.exec)
			map_del(&names->mapped, record->comm.pid);
		break;
	case SEAM_RECORD_FORK:
		if (record->task.pid != record->task.ppid)
			map_del(&names->mapped, record->task.pid);
		break;
	case SEAM_RECORD_EXIT:
		if (record->task.pid == record->task.tid)
			map_del(&names->mapped, record->task.pid);
		break;
	default:
		break;
	}
}
