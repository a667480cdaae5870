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

/* What of a function's first instructions is left, and its frame so far. */
struct loop_begin {
	const unsigned char *at, *end;
	struct loop_frame frame;
};

/* Takes bytes if they come next; as they may be the last, room is not asked for more than them. */
static bool loop_is(struct loop_begin *b, const char *bytes, size_t n)
{
	if ((size_t)(b->end - b->at) < n || memcmp(b->at, bytes, n) != 0)
		return false;
	b->at += n;
	return true;
}

#define LOOP_IS(b, bytes) loop_is(b, bytes, sizeof(bytes) - 1)

/* The same, and a number of 1 or 4 bytes behind them. */
static bool loop_number(struct loop_begin *b, const char *bytes, size_t n, size_t size,
                        int32_t *ret)
{
	if ((size_t)(b->end - b->at) < n + size || !loop_is(b, bytes, n))
		return false;
	memcpy(ret, b->at, size);
	if (size == 1)
		*ret = (signed char)b->at[0];
	b->at += size;
	return true;
}

#define LOOP_NUMBER(b, bytes, size, ret) loop_number(b, bytes, sizeof(bytes) - 1, size, ret)

/* push, of any register but the stack pointer */
static bool loop_pushes(struct loop_begin *b)
{
	size_t wide = b->end > b->at && b->at[0] == 0x41;

	if ((size_t)(b->end - b->at) <= wide || (b->at[wide] & 0xf8) != 0x50 ||
	    (!wide && b->at[0] == 0x54))
		return false;
	b->at += wide + 1;
	b->frame.bytes += 8;
	return true;
}

/* The guard word comes first behind the frame's making, by way of rax. */
static void loop_guard(struct loop_begin *b)
{
	int32_t at;

	if (!LOOP_IS(b, "\x64\x48\x8b\x04\x25\x28\0\0\0")) /* mov %fs:0x28,%rax */
		return;
	if (LOOP_NUMBER(b, "\x48\x89\x44\x24", 1, &at) || /* mov %rax,at(%rsp) */
	    LOOP_NUMBER(b, "\x48\x89\x84\x24", 4, &at))
		b->frame.guard = b->frame.bytes - (uint32_t)at;
	else if (b->frame.by_fp && (LOOP_NUMBER(b, "\x48\x89\x45", 1, &at) || /* at(%rbp) */
	                            LOOP_NUMBER(b, "\x48\x89\x85", 4, &at)))
		b->frame.guard = 16 - (uint32_t)at;
	if (b->frame.guard > b->frame.bytes)
		b->frame.guard = 0;
}

/* Pushes, perhaps with the making of a frame pointer among them, and room for the rest. */
int loop_frame_find(struct loop_frame *ret, uint64_t start, const struct runtime_source *source)
{
	unsigned char code[64];
	struct loop_begin b = { .at = code, .end = code + sizeof(code), .frame.bytes = 8 };
	int32_t room;
	int r = source->read(source->ctx, start, code, sizeof(code));

	if (r < 0)
		return r;
	(void)LOOP_IS(&b, "\xf3\x0f\x1e\xfa"); /* endbr64 */
	while (loop_pushes(&b))
		if (b.frame.bytes == 16 && b.at[-1] == 0x55 && LOOP_IS(&b, "\x48\x89\xe5"))
			b.frame.by_fp = 1; /* push %rbp; mov %rsp,%rbp */
	if ((!LOOP_NUMBER(&b, "\x48\x83\xec", 1, &room) &&
	     !LOOP_NUMBER(&b, "\x48\x81\xec", 4, &room)) ||
	    room <= 0 || room > 4096)
		return -ENOTSUP;
	b.frame.bytes += (uint32_t)room;
	b.frame.body = (uint32_t)(b.at - code);
	loop_guard(&b);
	*ret = b.frame;
	return 0;
}
