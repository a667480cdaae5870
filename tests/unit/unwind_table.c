// SPDX-License-Identifier: MIT
// unwind_table.c: call frame instructions, SFrame and expressions as arrays of bytes in, rules out.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "unwind/expr.h"
#include "unwind/walk.h"

#include "unwind_eh.h"

static void usual_prologue(void **state)
{
	/* push %rbp; mov %rsp,%rbp; push %rbx; ...; leave; ret */
	static const char program[] =
	        "\x41\x0e\x10\x86\x02"  /* +1: CFA = rsp + 16, rbp at CFA - 16 */
	        "\x43\x0d\x06"          /* +3: CFA = rbp + 16 */
	        "\x41\x83\x03"          /* +1: rbx at CFA - 24 */
	        "\x48\xc6\x0c\x07\x08"; /* +8: rbp restored, CFA = rsp + 8 */
	struct compile_input in = input(FRAMETAB_X86_64);
	const struct frametab_rule *r;
	struct buf eh = { 0 };
	struct frametab t = { 0 };

	put_fde(&eh, put_cie(&eh, "zR"), TEXT_AT + 0x100, 0x20, program, sizeof(program) - 1);
	t = compile(&in, &eh);
	assert_int_equal(t.header->skipped, 0);

	r = frametab_find(&t, TEXT_AT + 0x100);
	assert_int_equal(r->cfa, FRAMETAB_CFA_SP);
	assert_int_equal(r->cfa_off, 8);
	assert_int_equal(r->ra, FRAMETAB_AT_CFA);
	assert_int_equal(r->ra_off, -8);
	assert_int_equal(r->fp, FRAMETAB_AT_SAME);
	r = frametab_find(&t, TEXT_AT + 0x103);
	assert_int_equal(r->cfa_off, 16);
	assert_int_equal(r->fp, FRAMETAB_AT_CFA);
	assert_int_equal(r->fp_off, -16);
	r = frametab_find(&t, TEXT_AT + 0x104);
	assert_int_equal(r->cfa, FRAMETAB_CFA_FP);
	assert_int_equal(r->saved, 0);
	r = frametab_find(&t, TEXT_AT + 0x10c);
	assert_int_equal(r->saved, 1); /* rbx */
	assert_int_equal(t.saves[r->saves], -3);
	r = frametab_find(&t, TEXT_AT + 0x10d);
	assert_int_equal(r->cfa, FRAMETAB_CFA_SP);
	assert_int_equal(r->fp, FRAMETAB_AT_SAME);
	assert_int_equal(r->saved, 0); /* popped: nobody says so, but its slot is below sp */
	assert_ptr_equal(frametab_find(&t, TEXT_AT + 0x11f), r);

	/* outside: below, above, far above, another page */
	assert_int_equal(frametab_find(&t, TEXT_AT + 0xff)->cfa, FRAMETAB_CFA_NONE);
	assert_int_equal(frametab_find(&t, TEXT_AT + 0x120)->cfa, FRAMETAB_CFA_NONE);
	assert_int_equal(frametab_find(&t, 0)->cfa, FRAMETAB_CFA_NONE);
	assert_int_equal(frametab_find(&t, UINT64_MAX)->cfa, FRAMETAB_CFA_NONE);
	buf_free(&eh);
}

/* Functions that span pages without a row of their own; gaps; order; overlap. */
static void layout_of_functions(void **state)
{
	struct compile_input in = input(FRAMETAB_X86_64);
	struct buf eh = { 0 };
	struct frametab t = { 0 };
	size_t cie = put_cie(&eh, "zR");

	put_fde(&eh, cie, TEXT_AT + 0x4000, 0x100, "\x0e\x40", 2); /* out of order */
	put_fde(&eh, cie, TEXT_AT + 0x10, 0x3000, "\x0e\x20", 2);  /* over 12 pages */
	put_fde(&eh, cie, TEXT_AT + 0x3018, 0x10, "\x0e\x30",
	        2); /* behind 8 bytes of padding: bridged */
	put_fde(&eh, cie, TEXT_AT + 0x4080, 0x100, "\x0e\x50", 2);  /* cuts the one at 0x4000 */
	put_fde(&eh, cie, TEXT_AT + 0x20000, 0x100, "\x0e\x60", 2); /* not executable */
	t = compile(&in, &eh);
	assert_int_equal(frametab_find(&t, TEXT_AT + 0x10)->cfa_off, 0x20);
	assert_int_equal(frametab_find(&t, TEXT_AT + 0x2fff)->cfa_off, 0x20);
	assert_int_equal(frametab_find(&t, TEXT_AT + 0x3012)->cfa_off, 0x20);
	assert_int_equal(frametab_find(&t, TEXT_AT + 0x3018)->cfa_off, 0x30);
	assert_int_equal(frametab_find(&t, TEXT_AT + 0x3028)->cfa, FRAMETAB_CFA_NONE);
	assert_int_equal(frametab_find(&t, TEXT_AT + 0x407f)->cfa_off, 0x40);
	assert_int_equal(frametab_find(&t, TEXT_AT + 0x4080)->cfa_off, 0x50);
	assert_int_equal(frametab_find(&t, TEXT_AT + 0x417f)->cfa_off, 0x50);
	assert_int_equal(frametab_find(&t, TEXT_AT + 0x4180)->cfa, FRAMETAB_CFA_NONE);
	assert_int_equal(frametab_find(&t, TEXT_AT + 0x20000)->cfa, FRAMETAB_CFA_NONE);
	buf_free(&eh);
}

static void remember_and_restore(void **state)
{
	static const char program[] = "\x42\x0e\x10\x42\x0a\x42\x0e\x08\x42\x0b\x42\x0e\x18";
	struct compile_input in = input(FRAMETAB_X86_64);
	struct buf eh = { 0 };
	struct frametab t = { 0 };

	put_fde(&eh, put_cie(&eh, "zR"), TEXT_AT, 0x20, program, sizeof(program) - 1);
	t = compile(&in, &eh);
	assert_int_equal(frametab_find(&t, TEXT_AT + 1)->cfa_off, 8);
	assert_int_equal(frametab_find(&t, TEXT_AT + 5)->cfa_off, 16);
	assert_int_equal(frametab_find(&t, TEXT_AT + 6)->cfa_off, 8);
	assert_int_equal(frametab_find(&t, TEXT_AT + 9)->cfa_off, 16);
	assert_int_equal(frametab_find(&t, TEXT_AT + 10)->cfa_off, 24);
	buf_free(&eh);
}

/* A function that goes to another stack has rules up to there, and its neighbours have theirs. */
static void switches_end_functions(void **state)
{
	static const char program[] = "\x44\x0e\x10\x44\x0e\x18"; /* rows at 0, 4 and 8 */
	const uint64_t at[] = { TEXT_AT + 0x26, TEXT_AT + 0x40, TEXT_AT + 0x68, TEXT_AT + 0xf0 };
	struct compile_input in = input(FRAMETAB_X86_64);
	struct buf eh = { 0 };
	struct frametab t;
	size_t cie = put_cie(&eh, "zR");

	(void)state;
	for (uint64_t i = 0; i < 4; i++)
		put_fde(&eh, cie, TEXT_AT + i * 0x20, 0x20, program, sizeof(program) - 1);
	memcpy(in.switches, at, sizeof(at));
	in.n_switches = 4;
	t = compile(&in, &eh);
	assert_int_equal(frametab_find(&t, TEXT_AT + 0x1f)->cfa_off, 24);
	assert_int_equal(frametab_find(&t, TEXT_AT + 0x25)->cfa_off, 16);
	for (uint64_t pc = TEXT_AT + 0x26; pc < TEXT_AT + 0x40; pc++)
		assert_int_equal(frametab_find(&t, pc)->cfa, FRAMETAB_CFA_NONE);
	/* One at a function's begin, and where no function is, cut nothing. */
	assert_int_equal(frametab_find(&t, TEXT_AT + 0x40)->cfa_off, 8);
	assert_int_equal(frametab_find(&t, TEXT_AT + 0x5f)->cfa_off, 24);
	assert_int_equal(frametab_find(&t, TEXT_AT + 0x67)->cfa_off, 16);
	assert_int_equal(frametab_find(&t, TEXT_AT + 0x68)->cfa, FRAMETAB_CFA_NONE);
	buf_free(&eh);
}

/* Behind a switch, pieces of the function have rules of their own; of what is covered they change
 * nothing. */
static void pieces_behind_a_switch(void **state)
{
	static const char program[] = "\x44\x0e\x10\x44\x0e\x18"; /* rows at 0, 4 and 8 */
	struct compile_input in = input(FRAMETAB_X86_64);
	struct buf eh = { 0 };
	struct frametab t;
	const struct frametab_rule *r;

	(void)state;
	put_fde(&eh, put_cie(&eh, "zR"), TEXT_AT, 0x40, program, sizeof(program) - 1);
	in.switches[in.n_switches++] = TEXT_AT + 0x10;
	in.pieces[in.n_pieces++] =
	        (struct compile_piece){ TEXT_AT + 0x10, TEXT_AT + 0x20, COMPILE_FP_FRAME, 0 };
	in.pieces[in.n_pieces++] =
	        (struct compile_piece){ TEXT_AT + 0x20, TEXT_AT + 0x28, COMPILE_FP_KEPT, 32 };
	in.pieces[in.n_pieces++] =
	        (struct compile_piece){ TEXT_AT + 4, TEXT_AT + 8, COMPILE_FP_KEPT, 64 };
	t = compile(&in, &eh);
	assert_int_equal(frametab_find(&t, TEXT_AT + 5)->cfa_off, 16);
	assert_int_equal(frametab_find(&t, TEXT_AT + 0xf)->cfa_off, 24);
	for (uint64_t pc = TEXT_AT + 0x10; pc < TEXT_AT + 0x20; pc++) {
		r = frametab_find(&t, pc);
		assert_int_equal(r->cfa, FRAMETAB_CFA_FP);
		assert_int_equal(r->cfa_off, 16);
		assert_int_equal(r->fp, FRAMETAB_AT_CFA);
		assert_int_equal(r->fp_off, -16);
		assert_int_equal(r->flags, FRAMETAB_OTHER_STACK);
	}
	r = frametab_find(&t, TEXT_AT + 0x27);
	assert_int_equal(r->cfa, FRAMETAB_CFA_SP);
	assert_int_equal(r->cfa_off, 32);
	assert_int_equal(r->fp, FRAMETAB_AT_SAME);
	assert_int_equal(r->flags, 0);
	assert_int_equal(frametab_find(&t, TEXT_AT + 0x28)->cfa, FRAMETAB_CFA_NONE);
	buf_free(&eh);
}

/* What linkers write for .plt, what glibc writes for a signal's return, what SBCL writes where C
 * calls Lisp, and what only evaluation can say. */
static void expressions(void **state)
{
	static const char plt[] = "\x0f\x0b\x77\x08\x80\x00\x3f\x1a\x3b\x2a\x33\x24\x22";
	static const char signal[] = "\x0f\x04\x77\xa0\x01\x06"  /* CFA = *(rsp + 160) */
	                             "\x10\x06\x03\x77\xf8\x00"  /* rbp at rsp + 120 */
	                             "\x10\x03\x03\x77\x80\x01"  /* rbx at rsp + 128 */
	                             "\x10\x10\x03\x77\xa8\x01"; /* return address at rsp + 168 */
	static const char other[] = "\x0f\x05\x77\x10\x06\x06\x06"; /* CFA = ***(rsp + 16) */
	static const char lisp[] = "\x0f\x05\x76\x00\x06\x40\x22";  /* CFA = *rbp + 16 */
	static const char less[] = "\x0f\x05\x76\x00\x06\x40\x1c";  /* CFA = *rbp - 16 */
	struct compile_input in = input(FRAMETAB_X86_64);
	const struct frametab_rule *r;
	struct buf eh = { 0 };
	struct frametab t = { 0 };
	size_t cie = put_cie(&eh, "zR"), cie_signal = put_cie(&eh, "zRS");

	put_fde(&eh, cie, TEXT_AT, 0x20, plt, sizeof(plt) - 1);
	put_fde(&eh, cie_signal, TEXT_AT + 0x100, 0x20, signal, sizeof(signal) - 1);
	put_fde(&eh, cie, TEXT_AT + 0x200, 0x20, other, sizeof(other) - 1);
	put_fde(&eh, cie, TEXT_AT + 0x300, 0x20, lisp, sizeof(lisp) - 1);
	put_fde(&eh, cie, TEXT_AT + 0x400, 0x20, less, sizeof(less) - 1);
	t = compile(&in, &eh);
	r = frametab_find(&t, TEXT_AT);
	assert_int_equal(r->cfa, FRAMETAB_CFA_PLT);
	assert_int_equal(r->cfa_off, 8);
	assert_int_equal(r->cfa_add, 11);
	r = frametab_find(&t, TEXT_AT + 0x100);
	assert_int_equal(r->cfa, FRAMETAB_CFA_DEREF_SP);
	assert_int_equal(r->cfa_off, 160);
	assert_int_equal(r->fp, FRAMETAB_AT_SP);
	assert_int_equal(r->fp_off, 120);
	assert_int_equal(r->ra, FRAMETAB_AT_SP);
	assert_int_equal(r->ra_off, 168);
	assert_int_equal(r->flags, FRAMETAB_SIGNAL_FRAME | FRAMETAB_SAVES_AT_SP);
	assert_int_equal(r->saved, 1);
	assert_int_equal(t.saves[r->saves], 16);
	r = frametab_find(&t, TEXT_AT + 0x200);
	assert_int_equal(r->cfa, FRAMETAB_CFA_EXPR);
	assert_memory_equal(t.exprs + r->cfa_off, "\x05\x00\x77\x10\x06\x06\x06", 7);
	r = frametab_find(&t, TEXT_AT + 0x300);
	assert_int_equal(r->cfa, FRAMETAB_CFA_DEREF_FP);
	assert_int_equal(r->cfa_off, 0);
	assert_int_equal(r->cfa_add, 16);
	assert_int_equal(frametab_find(&t, TEXT_AT + 0x400)->cfa, FRAMETAB_CFA_EXPR);
	buf_free(&eh);
}

/* An FDE that cannot be understood leaves no row, is counted, and does not hide its neighbours. */
static void unsound_functions_are_skipped(void **state)
{
	static const struct {
		const char *program;
		size_t n;
	} bad[] = {
		{ "\x3f", 1 },                 /* no such instruction */
		{ "\x0b", 1 },                 /* restores what was not remembered */
		{ "\x0f\x70\x77", 3 },         /* an expression longer than the entry */
		{ "\x41\x0e\x10\x41\x3e", 5 }, /* sound at first */
		{ "\x0c\x90\x01\x08\x41", 5 }, /* CFA from a register that is none */
	};
	struct compile_input in = input(FRAMETAB_X86_64);
	struct buf eh = { 0 };
	struct frametab t = { 0 };
	size_t cie = put_cie(&eh, "zR");

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		put_fde(&eh, cie, TEXT_AT + 0x100 * i, 0x100, bad[i].program, bad[i].n);
	put_fde(&eh, cie, TEXT_AT + 0x1000, 0x100, "\x0e\x40", 2);
	t = compile(&in, &eh);
	assert_int_equal(t.header->skipped, 5);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(frametab_find(&t, TEXT_AT + 0x100 * i)->cfa, FRAMETAB_CFA_NONE);
	assert_int_equal(frametab_find(&t, TEXT_AT + 0x1000)->cfa_off, 0x40);
	buf_free(&eh);
}

static void nothing_to_compile(void **state)
{
	struct compile_input in = input(FRAMETAB_X86_64);
	struct buf out = { 0 };
	struct seam_error err;

	assert_int_equal(compile_table(&in, &out, &err), -ENODATA);
	in.machine = 2; /* SPARC */
	assert_int_equal(compile_table(&in, &out, &err), -EOPNOTSUPP);
	buf_free(&out);
}

/* .debug_frame fills what .eh_frame leaves open, and no more. */
static void debug_frame_fills_gaps(void **state)
{
	struct compile_input in = input(FRAMETAB_X86_64);
	struct buf eh = { 0 }, debug = { 0 }, body = { 0 };
	struct frametab t = { 0 };

	put_fde(&eh, put_cie(&eh, "zR"), TEXT_AT + 0x100, 0x100, "\x0e\x40", 2);
	buf_put_u32(&body, UINT32_MAX);
	buf_put(&body, "\x01\x00\x01\x78\x10\x0c\x07\x08\x90\x01", 10);
	put_entry(&debug, body.bytes, body.n);
	for (unsigned i = 0; i < 2; i++) {
		buf_clear(&body);
		buf_put_u32(&body, 0); /* the CIE's offset */
		buf_put_u64(&body, TEXT_AT + 0x180 + 0x100 * i);
		buf_put_u64(&body, 0x80);
		buf_put(&body, "\x0e\x70", 2);
		put_entry(&debug, body.bytes, body.n);
	}
	in.debug_frame = (struct compile_section){ debug.bytes, debug.n, 0 };
	t = compile(&in, &eh);
	assert_int_equal(frametab_find(&t, TEXT_AT + 0x180)->cfa_off, 0x40);
	assert_int_equal(frametab_find(&t, TEXT_AT + 0x280)->cfa_off, 0x70);
	assert_int_equal(t.header->flags, FRAMETAB_FROM_EH_FRAME | FRAMETAB_FROM_DEBUG_FRAME);
	buf_free(&eh);
	buf_free(&debug);
	buf_free(&body);
}

/* aarch64: a leaf's return address is in x30; with pointer authentication it is signed after
 * paciasp. */
static void aarch64_rows(void **state)
{
	static const char program[] =
	        "\x41\x2d\x41\x0e\x20\x9d\x04\x9e\x03"; /* sign; CFA = sp + 32, x29, x30 saved */
	struct compile_input in = input(FRAMETAB_AARCH64);
	struct buf eh = { 0 }, body = { 0 };
	const struct frametab_rule *r;
	struct frametab t = { 0 };

	buf_put_u32(&body, 0);
	buf_put(&body, "\x01zR\x00\x04\x78\x1e\x01\x1b\x0c\x1f\x00",
	        12); /* code 4, data -8, ra 30; CFA = sp */
	put_entry(&eh, body.bytes, body.n);
	put_fde(&eh, 0, TEXT_AT, 0x40, program, sizeof(program) - 1);
	t = compile(&in, &eh);
	r = frametab_find(&t, TEXT_AT);
	assert_int_equal(r->cfa, FRAMETAB_CFA_SP);
	assert_int_equal(r->cfa_off, 0);
	assert_int_equal(r->ra, FRAMETAB_AT_SAME);
	r = frametab_find(&t, TEXT_AT + 4);
	assert_int_equal(r->flags, FRAMETAB_MANGLED_RA);
	r = frametab_find(&t, TEXT_AT + 8);
	assert_int_equal(r->ra, FRAMETAB_AT_CFA);
	assert_int_equal(r->ra_off, -24);
	assert_int_equal(r->fp_off, -32);
	assert_int_equal(r->flags, FRAMETAB_MANGLED_RA);
	buf_free(&eh);
	buf_free(&body);
}

/* Offsets as far as they go: nothing overflows on the way. */
static void far_offsets(void **state)
{
	static const char least[] =
	        "\x05\x03\x80\x80\x80\x80\x80\x80\x80\x80\x10" /* rbx at CFA + 2^60 * -8 */
	        "\x05\x06\x80\x80\x80\x80\x80\x80\x80\x80\x10" /* rbp likewise */
	        "\x41\x0e\x10";
	struct compile_input in = input(FRAMETAB_X86_64);
	struct buf eh = { 0 };
	struct frametab t = { 0 };
	size_t cie = put_cie(&eh, "zR");

	put_fde(&eh, cie, TEXT_AT, 0x20, least, sizeof(least) - 1);
	put_fde(&eh, cie, TEXT_AT + 0x100, 0x20, "", 0);
	t = compile(&in, &eh);
	assert_int_equal(t.header->skipped, 1);
	assert_int_equal(frametab_find(&t, TEXT_AT)->cfa, FRAMETAB_CFA_NONE);
	buf_free(&eh);
}

/* An augmentation with a letter that is not known: it may stand in front of the one that says how
 * pointers are written. */
static void unknown_augmentations(void **state)
{
	static const struct {
		const char *text, *data;
		uint32_t skipped;
	} cases[] = { { "zRX", "\x01\x1b", 0 }, { "zXR", "\x02\x00\x1b", 1 } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct compile_input in = input(FRAMETAB_X86_64);
		struct buf eh = { 0 }, body = { 0 };
		struct frametab t = { 0 };
		size_t cie = put_cie(&eh, "zR"), other = eh.n;

		buf_put_u32(&body, 0);
		buf_put(&body, "\x01", 1);
		buf_put(&body, cases[i].text, strlen(cases[i].text) + 1);
		buf_put(&body, "\x01\x78\x10", 3);
		buf_put(&body, cases[i].data, (size_t)cases[i].data[0] + 1);
		buf_put(&body, "\x0c\x07\x08\x90\x01", 5);
		put_entry(&eh, body.bytes, body.n);
		put_fde(&eh, other, TEXT_AT, 0x20, "\0\0\0\0\0\0\0\0\0\0\0", 12);
		put_fde(&eh, cie, TEXT_AT + 0x100, 0x20, "", 0);
		t = compile(&in, &eh);
		assert_int_equal(t.header->skipped, cases[i].skipped);
		assert_int_equal(frametab_find(&t, TEXT_AT)->cfa,
		                 cases[i].skipped ? FRAMETAB_CFA_NONE : FRAMETAB_CFA_SP);
		buf_free(&eh);
		buf_free(&body);
	}
}

/* ---- SFrame ---- */

static void put_sframe_v2(struct buf *b)
{
	buf_put(b, "\xe2\xde\x02\x05\x03\x00\xf8\x00", 8); /* sorted, pcrel; amd64; ra at -8 */
	buf_put_u32(b, 1);                                 /* functions */
	buf_put_u32(b, 3);                                 /* rows */
	buf_put_u32(b, 3 + 4 + 3);
	buf_put_u32(b, 0);
	buf_put_u32(b, 20);
	buf_put_u32(b, (uint32_t)(TEXT_AT + 0x100 - (EH_AT + 28))); /* start, from its own field */
	buf_put_u32(b, 0x40);
	buf_put_u32(b, 0);
	buf_put_u32(b, 3);
	buf_put(b, "\x00\x00\x00\x00", 4);
	buf_put(b, "\x00\x03\x08", 3);     /* +0: CFA = sp + 8 */
	buf_put(b, "\x01\x05\x10\xf0", 4); /* +1: CFA = sp + 16, fp at -16 */
	buf_put(b, "\x04\x04\x10\xf0", 4); /* +4: CFA = fp + 16 */
}

/* n functions that share the one row "CFA = sp + 8", repeated every rep bytes of size. */
static void put_sframe_plt(struct buf *b, uint32_t n, uint32_t size, uint8_t rep)
{
	const unsigned char info[4] = { 0x10, rep };

	buf_put(b, "\xe2\xde\x02\x01\x03\x00\xf8\x00", 8);
	buf_put_u32(b, n);
	buf_put_u32(b, 1);
	buf_put_u32(b, 3);
	buf_put_u32(b, 0);
	buf_put_u32(b, n * 20);
	for (uint32_t i = 0; i < n; i++) {
		buf_put_u32(b, (uint32_t)(TEXT_AT - EH_AT) + 0x100 * i);
		buf_put_u32(b, size);
		buf_put_u32(b, 0);
		buf_put_u32(b, 1);
		buf_put(b, info, 4);
	}
	buf_put(b, "\x00\x03\x08", 3);
}

/* A few bytes must not make a table of hundreds of megabytes: repeats and shared rows are bounded
 * in all. */
static void sframe_repeats_are_bounded(void **state)
{
	static const struct {
		uint32_t n, size;
		uint8_t rep;
		uint32_t skipped;
	} table[] = {
		{ 1, 0x100, 16, 0 },     /* a PLT */
		{ 1, 0xffffffff, 1, 1 }, /* 4 G rows */
		{ 20, 0x80, 1, 0 },
		{ 4000, 0x1000, 1, 3745 }, /* 4,097 rows each: the first 255 */
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct compile_input in = input(FRAMETAB_X86_64);
		struct frametab t = { 0 };
		struct buf b = { 0 };
		int r;

		in.ranges[0].end = TEXT_AT + 0x200000000;
		put_sframe_plt(&b, table[i].n, table[i].size, table[i].rep);
		in.sframe = (struct compile_section){ b.bytes, b.n, EH_AT };
		r = compile_table(&in, &blob, NULL);
		if (table[i].skipped == table[i].n) {
			assert_int_equal(r, -ENODATA);
		} else {
			assert_true(r >= 0 && frametab_open(&t, blob.bytes, blob.n, NULL) >= 0);
			assert_int_equal(t.header->skipped, table[i].skipped);
			assert_int_equal(frametab_find(&t, TEXT_AT + 0x20)->cfa_off, 8);
		}
		buf_free(&b);
	}
}

/* Version 3 says how often rows repeat in front of them, behind the function's type: here every 16
 * bytes of 0x40. */
static void sframe_v3_repeats(void **state)
{
	const uint64_t start = TEXT_AT - (EH_AT + 28);
	struct compile_input in = input(FRAMETAB_X86_64);
	struct frametab t = { 0 };
	struct buf b = { 0 };

	buf_put(&b, "\xe2\xde\x03\x05\x03\x00\xf8\x00", 8);
	buf_put_u32(&b, 1); /* functions */
	buf_put_u32(&b, 2); /* rows */
	buf_put_u32(&b, 5 + 3 + 3);
	buf_put_u32(&b, 0);
	buf_put_u32(&b, 16);
	buf_put(&b, &start, sizeof(start)); /* from its own field */
	buf_put_u32(&b, 0x40);
	buf_put_u32(&b, 0);
	buf_put(&b, "\x02\x00\x10\x00\x10", 5); /* 2 rows that repeat, the default type, every 16 */
	buf_put(&b, "\x00\x03\x08", 3);         /* +0: CFA = sp + 8 */
	buf_put(&b, "\x06\x03\x10", 3);         /* +6: CFA = sp + 16 */
	in.sframe = (struct compile_section){ b.bytes, b.n, EH_AT };
	assert_true(compile_table(&in, &blob, NULL) >= 0);
	assert_true(frametab_open(&t, blob.bytes, blob.n, NULL) >= 0);
	for (uint64_t at = 0; at < 0x40; at++)
		assert_int_equal(frametab_find(&t, TEXT_AT + at)->cfa_off, at % 16 < 6 ? 8 : 16);
	assert_int_equal(frametab_find(&t, TEXT_AT + 0x40)->cfa, FRAMETAB_CFA_NONE);
	buf_free(&b);
}

static void sframe_v2(void **state)
{
	struct compile_input in = input(FRAMETAB_X86_64);
	struct seam_error err = { 0 };
	struct buf b = { 0 };
	struct frametab t = { 0 };

	put_sframe_v2(&b);
	in.sframe = (struct compile_section){ b.bytes, b.n, EH_AT };
	if (compile_table(&in, &blob, &err) < 0 || frametab_open(&t, blob.bytes, blob.n, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(frametab_find(&t, TEXT_AT + 0x100)->cfa_off, 8);
	assert_int_equal(frametab_find(&t, TEXT_AT + 0x100)->fp, FRAMETAB_AT_SAME);
	assert_int_equal(frametab_find(&t, TEXT_AT + 0x101)->cfa_off, 16);
	assert_int_equal(frametab_find(&t, TEXT_AT + 0x101)->fp_off, -16);
	assert_int_equal(frametab_find(&t, TEXT_AT + 0x101)->ra_off, -8);
	assert_int_equal(frametab_find(&t, TEXT_AT + 0x13f)->cfa, FRAMETAB_CFA_FP);
	assert_int_equal(frametab_find(&t, TEXT_AT + 0x140)->cfa, FRAMETAB_CFA_NONE);
	for (size_t n = 0; n < b.n;
	     n++) { /* every cut: an error or a skip, and nothing read outside (ASan) */
		unsigned char *exact = malloc(n ? n : 1);

		memcpy(exact, b.bytes, n);
		in.sframe = (struct compile_section){ exact, n, EH_AT };
		assert_int_equal(compile_table(&in, &blob, &err), -ENODATA);
		free(exact);
	}
	buf_free(&b);
}

static int no_memory(void *ctx, uint64_t address, uint64_t *ret)
{
	*ret = address + 1;
	return address == 0xbad ? -EFAULT : 0;
}

static void expression_evaluator(void **state)
{
	static const struct {
		const char *bytes;
		size_t n;
		int status;
		uint64_t value;
	} cases[] = {
		{ "\x77\x08", 2, 0, 1008 },
		{ "\x77\x08\x06\x23\x05", 5, 0, 1014 },
		{ "\x35\x33\x1c", 3, 0, 2 },                              /* 5 3 - */
		{ "\x35\x33\x14\x1e\x22", 5, 0, 20 },                     /* 5 3 over * + */
		{ "\x0e\xff\xff\xff\xff\xff\xff\xff\xff\x1f", 10, 0, 1 }, /* neg of -1 */
		{ "\x31\x28\x01\x00\x3f\x32", 6, 0, 2 },                  /* 1 bra over lit15, 2 */
		{ "\x2f\xfd\xff", 3, -EINVAL, 0 },                        /* an endless loop ends */
		{ "\x30\x30\x1b", 3, -EINVAL, 0 },                        /* 0 0 / */
		{ "\x22", 1, -EINVAL, 0 },                                /* nothing to add */
		{ "\x9f", 1, -EINVAL, 0 },
		{ "\x0a\xad\x0b\x06", 4, -EFAULT, 0 },
		{ "", 0, -EINVAL, 0 },
		{ "\x71\x00", 2, -EINVAL, 0 }, /* a register that is not known */
	};
	uint64_t registers[WALK_REGISTERS] = { [7] = 1000 }, value;
	struct expr_machine m = { .read = no_memory, .registers = registers, .known = 1u << 7 };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		value = 0;
		if (expr_evaluate(&m, (const unsigned char *)cases[i].bytes, cases[i].n, false, 0,
		                  &value) != cases[i].status ||
		    value != cases[i].value)
			fail_msg("expression %zu: %llu", i, (unsigned long long)value);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(usual_prologue),
		cmocka_unit_test(layout_of_functions),
		cmocka_unit_test(remember_and_restore),
		cmocka_unit_test(switches_end_functions),
		cmocka_unit_test(pieces_behind_a_switch),
		cmocka_unit_test(expressions),
		cmocka_unit_test(unsound_functions_are_skipped),
		cmocka_unit_test(nothing_to_compile),
		cmocka_unit_test(debug_frame_fills_gaps),
		cmocka_unit_test(aarch64_rows),
		cmocka_unit_test(far_offsets),
		cmocka_unit_test(unknown_augmentations),
		cmocka_unit_test(sframe_v2),
		cmocka_unit_test(sframe_v3_repeats),
		cmocka_unit_test(sframe_repeats_are_bounded),
		cmocka_unit_test(expression_evaluator),
	};

	return cmocka_run_group_tests_name("unwind_table", tests, NULL, free_blob);
}
