// SPDX-License-Identifier: MIT
/*
 * go_stacks.c: see go_stacks.h. A goroutine calls C code, and its own runtime, on another stack.
 * The functions that exchange the stacks have unwind information that says nothing of it: behind
 * the exchange it leads into the wrong stack. So these functions are found by name, and their
 * tables end at the exchange.
 */
#include "tables/go_stacks.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "image/go_table.h"

/* With or without the name of their calling convention behind it. */
static const char *const go_switches[] = {
	"runtime.asmcgocall", "runtime.gogo",        "runtime.mcall",
	"runtime.morestack",  "runtime.systemstack",
};

static bool go_is_switch(const char *name, size_t n)
{
	for (size_t i = 0; i < sizeof(go_switches) / sizeof(go_switches[0]); i++) {
		size_t length = strlen(go_switches[i]);

		if (n > length && !memcmp(name, go_switches[i], length) &&
		    (!name[length] || !strcmp(name + length, ".abi0")))
			return true;
	}
	return false;
}

/* mov %REG,%rsp or mov MEMORY,%rsp */
static bool go_writes_sp(const unsigned char *code)
{
	unsigned modrm = code[2];

	if ((code[0] & 0xfa) != 0x48) /* REX.W, perhaps with R or B */
		return false;
	return code[1] == 0x89   ? modrm >> 6 == 3 && (modrm & 7) == 4 && !(code[0] & 1)
	       : code[1] == 0x8b ? modrm >> 6 != 3 && (modrm >> 3 & 7) == 4 && !(code[0] & 4)
	                         : false;
}

/* The first byte of a function at which the stack may have been exchanged already; 0: none. */
static uint64_t go_switch_in(const struct image *image, const struct image_section *text,
                             uint64_t start, uint64_t size)
{
	unsigned char *buf = malloc(size + 1);
	const unsigned char *code =
	        buf ? image_section_piece(image, text, start, (size_t)size, buf) : NULL;
	uint64_t found = 0;

	for (uint64_t i = 0; code && i + 3 <= size && !found; i++)
		if (go_writes_sp(code + i))
			found = start + i + 1;
	free(buf);
	return found;
}

/* Adds the address in a function from which on its unwind information does not hold, if it is one
 * of those that exchange stacks. */
static void go_take(const char *name, size_t n, uint64_t start, uint64_t size,
                    const struct image *image, const struct image_section *text,
                    struct compile_input *in)
{
	uint64_t from;

	if (!go_is_switch(name, n) || in->n_switches == COMPILE_SWITCHES_MAX ||
	    start < text->vaddr || start - text->vaddr > text->n ||
	    size > text->n - (start - text->vaddr))
		return;
	from = go_switch_in(image, text, start, size);
	if (from)
		in->switches[in->n_switches++] = from;
}

/* A stripped program's functions, by the table that Go's runtime has of them. */
static void go_stripped(struct image *image, const struct image_section *text,
                        struct compile_input *in)
{
	struct go_table *functions;
	struct go_function f;

	if (go_table_open(&functions, image) < 0)
		return;
	for (size_t i = 0; i < go_table_functions(functions); i++)
		if (go_table_function(functions, i, &f))
			go_take(f.name, strlen(f.name) + 1, f.start, f.end - f.start, image, text,
			        in);
	go_table_close(functions);
}

/* Goes through the symbols of text for the functions that exchange stacks. */
void go_stacks_find(struct image *image, const struct image_section *text, struct compile_input *in)
{
	struct image_section symbols, names;

	if (in->machine != EM_X86_64 || in->swap || !text->n || !go_table_is_there(image))
		return;
	if (image_section(image, ".symtab", &symbols) < 0) {
		go_stripped(image, text, in);
		return;
	}
	if (!symbols.bytes || image_section(image, ".strtab", &names) < 0 || !names.bytes ||
	    !names.n || names.bytes[names.n - 1])
		return;
	for (size_t at = 0; at + sizeof(Elf64_Sym) <= symbols.n; at += sizeof(Elf64_Sym)) {
		Elf64_Sym s;

		memcpy(&s, symbols.bytes + at, sizeof(s));
		if (ELF64_ST_TYPE(s.st_info) == STT_FUNC && s.st_name < names.n)
			go_take((const char *)names.bytes + s.st_name, names.n - s.st_name,
			        s.st_value, s.st_size, image, text, in);
	}
}
