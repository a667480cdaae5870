// SPDX-License-Identifier: MIT
/*
 * crt_code.c: see crt_code.h. _init and _fini are sections of their own; the others are found by
 * the first functions that run before main and at the end, .init_array's, one of which is
 * frame_dummy: it goes to register_tm_clones, and the others stand at fixed distances from that.
 *
 * Invariant: a function is known only if each of its bytes is as it must be, but for addresses.
 */
#include "tables/crt_code.h"

#include <elf.h>
#include <string.h>

#define CRT_ARRAY 64u /* functions of .init_array that are looked at */

/* Code in hexadecimal digits; a byte of two dots may be any. */
static const char crt_deregister[] =
        "488d3d........488d05........4839f87415488b05........4885c07409"
        "ffe00f1f8000000000c3";
static const char crt_register[] = "488d3d........488d35........4829fe4889f048c1ee3f48c1f8034801c6"
                                   "48d1fe7414488b05........4885c07408ffe0660f1f440000c3";
static const char crt_destructors[] =
        "803d........00752b5548833d........004889e5740c488b3d........e8........e8........"
        "c605........015dc30f1f00c3";
static const char crt_endbr[] = "f30f1efa";

#define CRT_DEREGISTER 0x30u  /* from it to register_tm_clones */
#define CRT_DESTRUCTORS 0x40u /* from that to __do_global_dtors_aux */

/* Of __do_global_dtors_aux, behind endbr64: push %rbp; mov %rsp,%rbp; pop %rbp. */
#define CRT_PUSHED 10u
#define CRT_FRAME 21u
#define CRT_POPPED 48u

static unsigned crt_digit(char c)
{
	return c <= '9' ? (unsigned)(c - '0') : (unsigned)(c - 'a') + 10;
}

/* How many bytes of such code stand at the begin of n bytes; 0: other code does. */
static size_t crt_is(const unsigned char *code, size_t n, const char *hex)
{
	size_t size = strlen(hex) / 2;

	if (n < size)
		return 0;
	for (size_t i = 0; i < size; i++)
		if (hex[2 * i] != '.' &&
		    code[i] != (crt_digit(hex[2 * i]) << 4 | crt_digit(hex[2 * i + 1])))
			return 0;
	return size;
}

/* From start to end the CFA is the stack pointer + cfa_sp. */
static void crt_piece(struct compile_input *in, uint64_t start, uint64_t end, uint32_t cfa_sp,
                      enum compile_piece_fp fp)
{
	if (end > start && in->n_pieces < COMPILE_PIECES_MAX)
		in->pieces[in->n_pieces++] = (struct compile_piece){
			.start = start, .end = end, .fp = fp, .cfa_sp = cfa_sp
		};
}

/* _init: sub $8,%rsp; if (__gmon_start__) call it; add $8,%rsp; ret. _fini: nothing in between. */
static void crt_section(struct image *image, const char *name, const char *body,
                        struct compile_input *in)
{
	struct image_section s;
	size_t first, middle, last;

	if (image_section(image, name, &s) < 0 || !s.bytes)
		return;
	first = crt_is(s.bytes, s.n, crt_endbr);
	if (!crt_is(s.bytes + first, s.n - first, "4883ec08"))
		return;
	first += 4;
	middle = crt_is(s.bytes + first, s.n - first, body);
	last = first + middle;
	if (crt_is(s.bytes + last, s.n - last, "4883c408c3") != s.n - last)
		return;
	crt_piece(in, s.vaddr, s.vaddr + first, 8, COMPILE_FP_KEPT);
	crt_piece(in, s.vaddr + first, s.vaddr + last + 4, 16, COMPILE_FP_KEPT);
	crt_piece(in, s.vaddr + last + 4, s.vaddr + s.n, 8, COMPILE_FP_KEPT);
}

/* Code of .text, in buf or where it lies. NULL: it is not all there. */
static const unsigned char *crt_code(const struct image *image, const struct image_section *text,
                                     uint64_t at, size_t n, unsigned char *buf)
{
	if (at < text->vaddr || at - text->vaddr > text->n || n > text->n - (at - text->vaddr))
		return NULL;
	return image_section_piece(image, text, at, n, buf);
}

/* A function that leaves the stack as it is. */
static void crt_leaf(const struct image *image, const struct image_section *text, uint64_t at,
                     const char *hex, struct compile_input *in)
{
	unsigned char buf[96];
	size_t n = strlen(hex) / 2;
	const unsigned char *code = crt_code(image, text, at, n, buf);

	if (code && crt_is(code, n, hex))
		crt_piece(in, at, at + n, 8, COMPILE_FP_KEPT);
}

/* __do_global_dtors_aux: it saves the frame pointer. */
static void crt_dtors(const struct image *image, const struct image_section *text, uint64_t at,
                      struct compile_input *in)
{
	unsigned char buf[96];
	size_t n = strlen(crt_destructors) / 2;
	const unsigned char *code = crt_code(image, text, at, n + 4, buf);
	size_t endbr = code ? crt_is(code, 4, crt_endbr) : 0;
	uint64_t from = at + endbr;

	if (!code || !crt_is(code + endbr, n, crt_destructors))
		return;
	crt_piece(in, at, from + CRT_PUSHED, 8, COMPILE_FP_KEPT);
	crt_piece(in, from + CRT_PUSHED, from + CRT_FRAME, 16, COMPILE_FP_KEPT);
	crt_piece(in, from + CRT_FRAME, from + CRT_POPPED, 16, COMPILE_FP_SAVED);
	crt_piece(in, from + CRT_POPPED, from + n, 8, COMPILE_FP_KEPT);
}

/* frame_dummy is one jump, to register_tm_clones. False: the function there is another one. */
static bool crt_dummy(const struct image *image, const struct image_section *text, uint64_t at,
                      struct compile_input *in)
{
	unsigned char buf[16];
	const unsigned char *code = crt_code(image, text, at, 9, buf);
	size_t n = code ? crt_is(code, 4, crt_endbr) : 0;
	int32_t far;
	uint64_t to;

	if (!code || (code[n] != 0xe9 && code[n] != 0xeb))
		return false;
	memcpy(&far, code + n + 1, sizeof(far));
	to = code[n] == 0xe9 ? at + n + 5 + (uint64_t)(int64_t)far
	                     : at + n + 2 + (uint64_t)(int64_t)(signed char)code[n + 1];
	crt_leaf(image, text, to, crt_register, in);
	if (!in->n_pieces || in->pieces[in->n_pieces - 1].start != to)
		return false;
	crt_piece(in, at, at + n + (code[n] == 0xe9 ? 5 : 2), 8, COMPILE_FP_KEPT);
	crt_leaf(image, text, to - CRT_DEREGISTER, crt_deregister, in);
	crt_dtors(image, text, to + CRT_DESTRUCTORS, in);
	return true;
}

/* The array's bytes in the file are the addresses, also where they are to be relocated. Of objects
 * of which that is not so these functions are not found. */
void crt_code_find(struct image *image, const struct image_section *text, struct compile_input *in)
{
	struct image_section array;
	uint64_t at;

	if (in->machine != EM_X86_64 || in->swap)
		return;
	crt_section(image, ".init", "488b05........4885c07402ffd0", in);
	crt_section(image, ".fini", "", in);
	if (!text->n || image_section(image, ".init_array", &array) < 0 || !array.bytes)
		return;
	for (size_t i = 0; i < CRT_ARRAY && (i + 1) * sizeof(at) <= array.n; i++) {
		memcpy(&at, array.bytes + i * sizeof(at), sizeof(at));
		if (crt_dummy(image, text, at, in))
			return;
	}
}
