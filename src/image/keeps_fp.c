// SPDX-License-Identifier: MIT
/*
 * keeps_fp.c: whether an object's code keeps frame pointers. This is asked of objects without
 * unwind information, where frame pointers are the only way on.
 *
 * Go's compiler always keeps them (amd64, arm64), and marks its objects. Otherwise the code itself
 * tells (x86_64): of the places in .text that direct calls lead to, many begin with push %rbp; mov
 * %rsp,%rbp. Code compiled without frame pointers has next to none of these; with them nearly all
 * begin so, except leaves and assembly.
 */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "image/image.h"

/* Bytes of .text that are asked: a sample of a large object is enough. */
#define TEXT_MOST ((size_t)16 << 20)
#define CALLED_LEAST 32u /* fewer functions say nothing */
#define BEGIN_BYTES 20u
#define FRAME_BYTES 4096u /* of code for each function that sets up a frame */
#define FRAME_CODE 4u     /* bytes of push %rbp; mov %rsp,%rbp */
#define PIECE 16384u      /* bytes of code that are read at once */
#define SHARE 60u /* percent; what looks like a call in the middle of an instruction is noise */

/* Sections that Go's linker makes. */
static bool fp_is_go(struct image *image)
{
	static const char *const names[] = { ".note.go.buildid", ".gopclntab",
		                             ".data.rel.ro.gopclntab" };
	struct image_section section;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (image_section(image, names[i], &section) >= 0)
			return true;
	return false;
}

/* Whether code begins with push %rbp, and soon has mov %rsp,%rbp: compilers may put an instruction
 * or two between them. */
static bool fp_begins(const unsigned char *at, size_t n)
{
	static const unsigned char endbr[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	static const unsigned char moves[][3] = { { 0x48, 0x89, 0xe5 }, { 0x48, 0x8b, 0xec } };

	if (n >= sizeof(endbr) && !memcmp(at, endbr, sizeof(endbr))) {
		at += sizeof(endbr);
		n -= sizeof(endbr);
	}
	if (!n || *at != 0x55)
		return false;
	for (size_t i = 1; i < BEGIN_BYTES && i + sizeof(moves[0]) <= n; i++)
		if (!memcmp(at + i, moves[0], 3) || !memcmp(at + i, moves[1], 3))
			return true;
	return false;
}

/* Whether enough of what is called begins with a frame; or -ENOMEM. Each byte e8 is taken for a
 * call: those in the middle of other instructions lead anywhere, which SHARE allows for. */
static int fp_in_calls(const unsigned char *text, size_t n)
{
	/* A bit for each byte of code: each target counts once. */
	unsigned char *seen = calloc(n / 8 + 1, 1);
	uint64_t called = 0, kept = 0;

	if (!seen)
		return -ENOMEM;
	for (size_t i = 0; i + 5 <= n; i++) {
		uint32_t distance;
		uint64_t to;

		if (text[i] != 0xe8)
			continue;
		memcpy(&distance, text + i + 1, sizeof(distance));
		to = i + 5 + (uint64_t)(int64_t)(int32_t)distance;
		if (to >= n || seen[to / 8] >> (to % 8) & 1)
			continue;
		seen[to / 8] |= (unsigned char)(1u << (to % 8));
		called++;
		kept += fp_begins(text + to, n - to);
	}
	free(seen);
	return called >= CALLED_LEAST && kept * 100 >= called * SHARE;
}

/* Asks the marks of Go, or else a sample of the code. 1, 0 or -ENOMEM. */
int image_keeps_frame_pointers(struct image *image)
{
	unsigned machine = image_machine(image);
	struct image_section text;
	const unsigned char *code;
	void *buf;
	size_t n;
	int r = 0;

	if (machine != EM_X86_64 && machine != EM_AARCH64)
		return 0;
	if (fp_is_go(image))
		return 1;
	if (machine != EM_X86_64 || image_section_beside(image, ".text", &text) < 0)
		return 0;
	n = text.n < TEXT_MOST ? text.n : TEXT_MOST;
	buf = malloc(n + 1);
	if (!buf)
		return -ENOMEM;
	code = image_section_piece(image, &text, text.vaddr, n, buf);
	if (code && n)
		r = fp_in_calls(code, n);
	free(buf);
	return r;
}

/* Counts functions that set up a frame. With frame pointers there are 1.2 and more in a KiB of code
 * (V8's builtins, node's C++), without next to none (cc1 0.01, libc 0.05 with its assembly).
 * docs/unwind-truth.md has the commands that count them. */
static size_t fp_count(const unsigned char *code, size_t n)
{
	static const unsigned char moves[][3] = { { 0x48, 0x89, 0xe5 }, { 0x48, 0x8b, 0xec } };
	size_t frames = 0;

	for (size_t i = 0; i + FRAME_CODE <= n; i++)
		frames += code[i] == 0x55 && (!memcmp(code + i + 1, moves[0], 3) ||
		                              !memcmp(code + i + 1, moves[1], 3));
	return frames;
}

/* The code is read in pieces, each of which begins with what the one before ended with. */
bool image_keeps_frame_pointers_in(struct image *image, uint64_t start, uint64_t end)
{
	unsigned char buf[PIECE];
	struct image_section text;
	uint64_t frames = 0;

	if (image_machine(image) != EM_X86_64 || image_section_beside(image, ".text", &text) < 0 ||
	    start < text.vaddr || end < start || end - text.vaddr > text.n)
		return false;
	for (uint64_t at = start; end - at >= FRAME_CODE; at += PIECE - (FRAME_CODE - 1)) {
		size_t n = end - at < PIECE ? (size_t)(end - at) : PIECE;
		const unsigned char *code = image_section_piece(image, &text, at, n, buf);

		if (!code)
			return false;
		frames += fp_count(code, n);
		if (n < PIECE)
			break;
	}
	return frames * FRAME_BYTES >= end - start;
}
