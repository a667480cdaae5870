// SPDX-License-Identifier: MIT
/*
 * jitcode.c: see jitcode.h. Code that was replaced is not found, because an address alone does not
 * tell which code was there.
 *
 * tables/ unwinds such code from the frames that the dump has with it.
 */
#include "symbol/jitcode.h"

#include <errno.h>
#include <stdlib.h>

#include "symbol/jitdump.h"
#include "symbol/object.h"
#include "symbol/process_file.h"

struct jitcode {
	struct jitdump dump;
	struct buf bytes;
};

/* Reads what j holds the bytes of, unless r says that they cannot be had. j becomes *ret, or is
 * freed. */
static int jitcode_read(struct jitcode **ret, struct jitcode *j, int r)
{
	if (r >= 0)
		r = jitdump_read(&j->dump, j->bytes.bytes, j->bytes.n);
	if (r < 0) {
		jitcode_free(j);
		return r;
	}
	*ret = j;
	return 0;
}

/* The jitdump that the process mapped while it was recorded. -ENOENT: none; -EBADMSG, -EPERM,
 * -ENOMEM. */
int jitcode_open(struct jitcode **ret, struct symbol_cache *cache, uint32_t pid)
{
	struct jitcode *j = calloc(1, sizeof(*j));
	int r = j ? jitdump_open(&j->bytes, cache, pid) : -ENOMEM;

	return jitcode_read(ret, j, r);
}

/* The same by its path, while the process runs. *ret_size: how much of the file there was, by which
 * the caller sees that it grew. */
int jitcode_open_path(struct jitcode **ret, const struct symbol_opts *opts, uint32_t pid,
                      const char *path, uint64_t *ret_size)
{
	struct jitcode *j = calloc(1, sizeof(*j));
	struct buf where = { 0 };
	int r = j ? process_file_jitdump(opts, pid, path, &where, &j->bytes) : -ENOMEM;

	buf_free(&where);
	r = jitcode_read(ret, j, r);
	if (r >= 0)
		*ret_size = (*ret)->bytes.n;
	return r;
}

void jitcode_free(struct jitcode *j)
{
	if (!j)
		return;
	jitdump_free(&j->dump);
	buf_free(&j->bytes);
	free(j);
}

/* *ret points into the dump, and is valid until jitcode_free. -ENOENT: no code is known there, or
 * several pieces were, one after the other. */
int jitcode_find(const struct jitcode *j, uint64_t addr, struct jitcode_piece *ret)
{
	const struct jitdump_code *codes = (const void *)j->dump.codes.bytes, *code;
	size_t low = 0, high = j->dump.codes.n / sizeof(*codes);

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (codes[middle].told.start <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	code = low ? &codes[low - 1] : NULL;
	if (!code || code->ambiguous || addr - code->told.start >= code->told.size)
		return -ENOENT;
	*ret = (struct jitcode_piece){ .start = code->told.start,
		                       .size = code->told.size,
		                       .name = code->told.name,
		                       .bytes = code->bytes,
		                       .frames = code->frames,
		                       .n_frames = code->n_frames };
	return 0;
}

unsigned jitcode_machine(const struct jitcode *j)
{
	return j->dump.machine;
}

bool jitcode_is_big_endian(const struct jitcode *j)
{
	return (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) != j->dump.swap;
}
