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
static const struct go_switch {
	const char *name;
	bool returns; /* to the stack that it left, from the C code that it calls */
} go_switches[] = {
	{ "runtime.asmcgocall", false },
	{ "runtime.gogo", false },
	{ "runtime.mcall", false },
	{ "runtime.morestack", false },
	{ "runtime.systemstack", false },
	{ "runtime.walltime", true },
	{ "runtime.walltime1", true },
	{ "runtime.nanotime1", true },
	{ "time.now", true },
};

/* NULL: it is none. */
static const struct go_switch *go_switch_of(const char *name, size_t n)
{
	for (size_t i = 0; i < sizeof(go_switches) / sizeof(go_switches[0]); i++) {
		size_t length = strlen(go_switches[i].name);

		if (n > length && !memcmp(name, go_switches[i].name, length) &&
		    (!name[length] || !strcmp(name + length, ".abi0")))
			return &go_switches[i];
	}
	return NULL;
}

/* Bytes of an instruction at a place of code that has n of them. */
static bool go_is(const unsigned char *code, uint64_t n, uint64_t at, const char *bytes,
                  size_t size)
{
	return at <= n && size <= n - at && !memcmp(code + at, bytes, size);
}

/*
 * The pieces of a function behind its exchange of stacks, where it keeps a frame pointer: it is set
 * in front of the exchange by one of two beginnings (Go 1.21 brought the second), and holds up to
 * the instruction that sets it back, and in what follows the function's only return.
 *
 *	sub $N,%rsp; mov %rbp,N-8(%rsp); lea N-8(%rsp),%rbp ... mov N-8(%rsp),%rbp; add $N,%rsp; ret
 *	push %rbp; mov %rsp,%rbp; sub $N,%rsp ... add $N,%rsp; pop %rbp; ret
 */
static void go_pieces(const unsigned char *code, uint64_t n, uint64_t start, uint64_t from,
                      struct compile_input *in)
{
	const bool pushes = go_is(code, n, 0, "\x55\x48\x89\xe5\x48\x83\xec", 7);
	const unsigned char size = n > 7 ? code[pushes ? 7 : 3] : 0;
	const unsigned char below = (unsigned char)(size - 8);
	const char begin[] = { 0x48, (char)0x89, 0x6c, 0x24, (char)below,
		               0x48, (char)0x8d, 0x6c, 0x24, (char)below };
	const char end[] = { 0x48, (char)0x8b, 0x6c,       0x24,       (char)below,
		             0x48, (char)0x83, (char)0xc4, (char)size, (char)0xc3 };
	const char pops[] = { 0x48, (char)0x83, (char)0xc4, (char)size, 0x5d, (char)0xc3 };
	struct compile_piece pieces[4];
	size_t count = 0;
	uint64_t at;

	if (!size || (!pushes && (!go_is(code, n, 0, "\x48\x83\xec", 3) ||
	                          !go_is(code, n, 4, begin, sizeof(begin)))))
		return;
	for (at = from - start; at < n; at++)
		if (pushes ? go_is(code, n, at, pops, sizeof(pops))
		           : go_is(code, n, at, end, sizeof(end)))
			break;
	if (at >= n || in->n_pieces + 4 > COMPILE_PIECES_MAX)
		return;
	at += start;
	if (pushes) {
		pieces[count++] = (struct compile_piece){ from, at + 5, COMPILE_FP_FRAME, 0 };
		pieces[count++] = (struct compile_piece){ at + 5, at + 6, COMPILE_FP_KEPT, 8 };
		at += 6;
	} else {
		pieces[count++] = (struct compile_piece){ from, at + 1, COMPILE_FP_FRAME, 0 };
		pieces[count++] =
		        (struct compile_piece){ at + 1, at + 9, COMPILE_FP_KEPT, size + 8u };
		pieces[count++] = (struct compile_piece){ at + 9, at + 10, COMPILE_FP_KEPT, 8 };
		at += 10;
	}
	if (at < start + n)
		pieces[count++] = (struct compile_piece){ at, start + n, COMPILE_FP_FRAME, 0 };
	memcpy(in->pieces + in->n_pieces, pieces, count * sizeof(*pieces));
	in->n_pieces += count;
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

/* Adds the first byte of a function at which the stack may have been exchanged already, and what is
 * known behind it. */
static void go_switch_in(const struct image *image, const struct image_section *text,
                         uint64_t start, uint64_t size, bool returns, struct compile_input *in)
{
	unsigned char *buf = malloc(size + 1);
	const unsigned char *code =
	        buf ? image_section_piece(image, text, start, (size_t)size, buf) : NULL;
	uint64_t found = 0;

	for (uint64_t i = 0; code && i + 3 <= size && !found; i++)
		if (go_writes_sp(code + i))
			found = start + i + 1;
	if (found) {
		in->switches[in->n_switches++] = found;
		if (returns)
			go_pieces(code, size, start, found, in);
	}
	free(buf);
}

/* Adds the address in a function from which on its unwind information does not hold, if it is one
 * of those that exchange stacks. */
static void go_take(const char *name, size_t n, uint64_t start, uint64_t size,
                    const struct image *image, const struct image_section *text,
                    struct compile_input *in)
{
	const struct go_switch *s = go_switch_of(name, n);

	if (!s || in->n_switches == COMPILE_SWITCHES_MAX || start < text->vaddr ||
	    start - text->vaddr > text->n || size > text->n - (start - text->vaddr))
		return;
	go_switch_in(image, text, start, size, s->returns, in);
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
