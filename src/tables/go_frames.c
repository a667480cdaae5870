// SPDX-License-Identifier: MIT
/* go_frames.c: see go_frames.h. */
#include "tables/go_frames.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#include "image/go_table.h"

/* Of DWARF: operations, and the numbers that it gives x86_64's registers. */
enum {
	GO_CFA_NOP = 0x00,
	GO_CFA_ADVANCE4 = 0x04,
	GO_CFA_UNDEFINED = 0x07,
	GO_CFA_DEF_CFA = 0x0c,
	GO_CFA_DEF_CFA_OFFSET = 0x0e,
	GO_CFA_OFFSET = 0x80,
	GO_RSP = 7,
	GO_RETURN_ADDRESS = 16,
};

static void go_byte(struct buf *b, unsigned value)
{
	const unsigned char byte = (unsigned char)value;

	buf_put(b, &byte, 1);
}

static void go_uleb(struct buf *b, uint32_t value)
{
	for (; value >= 0x80; value >>= 7)
		go_byte(b, value | 0x80);
	go_byte(b, value);
}

/* Begins an entry, whose length go_entry_end writes: the place of that. */
static size_t go_entry_begin(struct buf *b, uint32_t id)
{
	size_t at = b->n;

	buf_put_u32(b, 0);
	buf_put_u32(b, id);
	return at;
}

static void go_entry_end(struct buf *b, size_t at)
{
	uint32_t n;

	while ((b->n - at - 4) % 8)
		go_byte(b, GO_CFA_NOP);
	n = (uint32_t)(b->n - at - 4);
	if (!b->failed)
		memcpy(b->bytes + at, &n, sizeof(n));
}

/* What all functions begin with: the return address is where the stack pointer points to. */
static void go_common(struct buf *b)
{
	size_t at = go_entry_begin(b, UINT32_MAX);

	go_byte(b, 3);    /* version */
	go_byte(b, 0);    /* no augmentation */
	go_byte(b, 1);    /* code is counted in bytes */
	go_byte(b, 0x78); /* saved registers in -8 bytes */
	go_byte(b, GO_RETURN_ADDRESS);
	go_byte(b, GO_CFA_DEF_CFA);
	go_byte(b, GO_RSP);
	go_byte(b, 8);
	go_byte(b, GO_CFA_OFFSET | GO_RETURN_ADDRESS);
	go_byte(b, 1);
	go_entry_end(b, at);
}

/* The entry that is being written. */
struct go_entry {
	struct buf *b;
	uint64_t at;  /* address up to which rules are written */
	uint64_t end; /* of the last depth; 0: none is known */
};

static int go_reach(void *ctx, uint64_t start, uint64_t end, uint32_t depth)
{
	struct go_entry *e = ctx;

	(void)start;
	(void)depth;
	e->end = end;
	return 0;
}

static int go_depth(void *ctx, uint64_t start, uint64_t end, uint32_t depth)
{
	struct go_entry *e = ctx;

	if (start > e->at) {
		go_byte(e->b, GO_CFA_ADVANCE4);
		buf_put_u32(e->b, (uint32_t)(start - e->at));
	}
	e->at = start;
	go_byte(e->b, GO_CFA_DEF_CFA_OFFSET);
	go_uleb(e->b, depth + 8);
	return end - start > UINT32_MAX;
}

/* Writes an entry for each function whose depths are known. */
int go_frames_make(struct image *image, struct buf *ret)
{
	struct go_table *functions;
	struct go_function f;
	int r;

	buf_clear(ret);
	if (image_machine(image) != EM_X86_64 || !image_is_64(image))
		return -ENOENT;
	r = go_table_open(&functions, image);
	if (r < 0)
		return r;
	go_common(ret);
	for (size_t i = 0; i < go_table_functions(functions) && !ret->failed; i++) {
		struct go_entry entry = { .b = ret };
		size_t at;

		if (!go_table_function(functions, i, &f) ||
		    go_table_each_depth(functions, &f, go_reach, &entry) || !entry.end)
			continue;
		at = go_entry_begin(ret, 0);
		buf_put_u64(ret, f.start);
		buf_put_u64(ret, entry.end - f.start);
		entry.at = f.start;
		if (f.outermost) {
			go_byte(ret, GO_CFA_UNDEFINED);
			go_byte(ret, GO_RETURN_ADDRESS);
		}
		go_table_each_depth(functions, &f, go_depth, &entry);
		go_entry_end(ret, at);
	}
	go_table_close(functions);
	return ret->failed ? -ENOMEM : 0;
}
