// SPDX-License-Identifier: MIT
/*
 * loop.c: see loop.h. Compilers put what rarely runs of a function elsewhere, and no symbol says
 * so: it is found by the jumps that lead there.
 */
#include "runtimes/loop.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define LOOP_BYTES_MAX (1u << 20)
#define LOOP_PIECE 4096u
#define LOOP_JUMPS_MAX 4096u
#define LOOP_BY_CHANCE 2u /* jumps that are none: bytes of other instructions that look so */

/* Compilers put what rarely runs of a function elsewhere: it is the code that the function's
 * conditional jumps lead into, but not to its beginning, as calls do. */
struct loop_jumps {
	uint64_t to[LOOP_JUMPS_MAX];
	size_t n;
	uint64_t start, bytes; /* of the code with the most of them */
	size_t most, second;
};

/* Notes where the conditional jumps of a piece of code lead that leave the loop's function. */
static void loop_jumps_of(struct loop_jumps *j, uint64_t loop, uint64_t loop_bytes, uint64_t at,
                          const unsigned char *code, size_t n)
{
	int32_t far;
	uint64_t to;

	for (size_t i = 0; i + 6 <= n && j->n < LOOP_JUMPS_MAX; i++) {
		if (code[i] != 0x0f || (code[i + 1] & 0xf0) != 0x80)
			continue;
		memcpy(&far, code + i + 2, sizeof(far));
		to = at + i + 6 + (uint64_t)(int64_t)far;
		if (to - loop >= loop_bytes)
			j->to[j->n++] = to;
	}
}

/* Counts the jumps into a function, or a part of one. */
static int loop_jumps_into(void *ctx, uint64_t start, uint64_t end)
{
	struct loop_jumps *j = ctx;
	size_t n = 0;

	for (size_t i = 0; i < j->n; i++)
		n += j->to[i] - start < end - start; /* GCC enters it at its first byte, too */
	if (n > j->most) {
		j->second = j->most;
		j->most = n;
		j->start = start;
		j->bytes = end - start;
	} else if (n > j->second) {
		j->second = n;
	}
	return 0;
}

/* Reads the loop's code, and looks for the function that its conditional jumps lead into. */
int loop_find(struct loop *loop, const struct runtime_source *source)
{
	unsigned char code[LOOP_PIECE];
	struct loop_jumps *j;
	int r = 0;

	if (!loop->bytes || loop->bytes > LOOP_BYTES_MAX)
		return -ENOTSUP;
	j = calloc(1, sizeof(*j));
	if (!j)
		return -ENOMEM;
	/* Pieces overlap, so that no jump is cut in two. */
	for (uint64_t at = 0; r >= 0 && at < loop->bytes; at += LOOP_PIECE - 5) {
		size_t n = loop->bytes - at < LOOP_PIECE ? loop->bytes - at : LOOP_PIECE;

		r = source->read(source->ctx, loop->start + at, code, n);
		if (r >= 0)
			loop_jumps_of(j, loop->start, loop->bytes, loop->start + at, code, n);
	}
	if (r >= 0 && j->n)
		r = source->functions(source->ctx, loop_jumps_into, j);
	if (r >= 0 && j->n < LOOP_JUMPS_MAX && j->second <= LOOP_BY_CHANCE &&
	    j->bytes <= LOOP_BYTES_MAX) {
		loop->cold = j->start;
		loop->cold_bytes = j->bytes;
	} else {
		r = -ENOTSUP;
	}
	free(j);
	return r < 0 ? r : 0;
}
