/* SPDX-License-Identifier: MIT */
/* unwind_eh.h: an .eh_frame made by hand, and the table that is compiled of it. Included behind
 * cmocka.h. */
#ifndef SEAM_TESTS_UNWIND_EH_H
#define SEAM_TESTS_UNWIND_EH_H

#include <string.h>

#include "base/buf.h"
#include "unwind/compile.h"
#include "unwind/frametab.h"

#define EH_AT 0x10000u    /* address of .eh_frame */
#define TEXT_AT 0x401000u /* executable addresses: 64 KiB from here */

static inline struct compile_input input(uint32_t machine)
{
	return (struct compile_input){
		.machine = machine,
		.ranges = { { TEXT_AT, TEXT_AT + 0x10000 } },
		.n_ranges = 1,
	};
}

/* ---- writing .eh_frame ---- */

static inline void put_entry(struct buf *b, const void *body, size_t n)
{
	size_t padded = (n + 7) & ~(size_t)7;

	buf_put_u32(b, (uint32_t)padded);
	buf_put(b, body, n);
	buf_put_zeros(b, padded - n); /* DW_CFA_nop */
}

/* x86_64's usual CIE: CFA = rsp + 8, return address at CFA - 8; pointers pcrel sdata4. Returns its
 * offset. */
static inline size_t put_cie(struct buf *b, const char *augmentation)
{
	struct buf body = { 0 };
	size_t at = b->n;

	buf_put_u32(&body, 0);
	buf_put(&body, "\x01", 1);
	buf_put(&body, augmentation, strlen(augmentation) + 1);
	buf_put(&body, "\x01\x78\x10\x01\x1b",
	        5); /* code 1, data -8, ra 16, augmentation of 1 byte: 0x1b */
	buf_put(&body, "\x0c\x07\x08\x90\x01", 5);
	put_entry(b, body.bytes, body.n);
	buf_free(&body);
	return at;
}

static inline void put_fde(struct buf *b, size_t cie, uint64_t start, uint32_t size,
                           const void *program, size_t n)
{
	struct buf body = { 0 };

	buf_put_u32(&body, (uint32_t)(b->n + 4 - cie));
	buf_put_u32(&body, (uint32_t)(start - (EH_AT + b->n + 8)));
	buf_put_u32(&body, size);
	buf_put(&body, "", 1);
	buf_put(&body, program, n);
	put_entry(b, body.bytes, body.n);
	buf_free(&body);
}

static struct buf blob; /* the table that was compiled last */

static inline struct frametab compile(struct compile_input *in, const struct buf *eh)
{
	struct seam_error err = { 0 };
	struct frametab t = { 0 };

	in->eh_frame = (struct compile_section){ eh->bytes, eh->n, EH_AT };
	if (compile_table(in, &blob, &err) < 0 || frametab_open(&t, blob.bytes, blob.n, &err) < 0)
		fail_msg("%s", err.text);
	return t;
}

static inline int free_blob(void **state)
{
	buf_free(&blob);
	return 0;
}

#endif
