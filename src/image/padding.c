// SPDX-License-Identifier: MIT
/* padding.c: what assemblers, compilers and linkers put between functions: nops of any length,
 * int3, zeros. Knows its forms; anything else is code. */
#include <elf.h>
#include <string.h>

#include "image/image.h"

/* The length of the padding with which code begins; 0: it begins with something else. */
static size_t padding_x86_64(const unsigned char *code, size_t n)
{
	size_t at = 0, length;

	if (*code == 0xcc || *code == 0)
		return 1;
	while (at < n &&
	       (code[at] == 0x66 || code[at] == 0x2e)) /* data16, cs: makes a nop longer */
		at++;
	if (at < n && code[at] == 0x90)
		return at + 1;
	if (n - at < 3 || code[at] != 0x0f || code[at + 1] != 0x1f || code[at + 2] & 0x38)
		return 0;
	/* nop of an operand: its form says how long that is */
	length = 3 + ((code[at + 2] & 7) == 4 && code[at + 2] < 0xc0);
	if (code[at + 2] >= 0x40 && code[at + 2] < 0xc0)
		length += code[at + 2] < 0x80 ? 1 : 4;
	else if ((code[at + 2] & 0xc7) == 5)
		length += 4;
	return length <= n - at ? at + length : 0;
}

/* nop, brk and zeros. */
static size_t padding_aarch64(const unsigned char *code, size_t n)
{
	static const unsigned char nop[4] = { 0x1f, 0x20, 0x03, 0xd5 },
	                           brk[4] = { 0, 0, 0x20, 0xd4 };

	if (!*code && (n < 4 || !memcmp(code, "\0\0\0", 4)))
		return n < 4 ? 1 : 4;
	return n >= 4 && (!memcmp(code, nop, 4) || !memcmp(code, brk, 4)) ? 4 : 0;
}

/* All n bytes are padding; also if n is 0. */
bool image_is_padding(unsigned machine, const unsigned char *code, size_t n)
{
	size_t length = 1;

	for (; n && length; code += length, n -= length)
		length = machine == EM_X86_64    ? padding_x86_64(code, n)
		         : machine == EM_AARCH64 ? padding_aarch64(code, n)
		                                 : 0;
	return !n;
}
