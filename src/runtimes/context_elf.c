// SPDX-License-Identifier: MIT
/*
 * context_elf.c: see context_elf.h.
 *
 * Invariant: whatever the file says, each table is gone through once, and no further than a limit.
 */
#include "runtimes/context_elf.h"

#include <errno.h>
#include <string.h>

#define DYNAMIC_MOST 256u   /* entries that are looked at */
#define SECTIONS_MOST 4096u /* sections */
#define CHAIN_MOST 4096u    /* symbols of one hash */
#define RELOCATIONS_MOST (1u << 20)
#define SYMBOLS_MOST (1u << 22)
#define NAME_MOST 64u
#define PIECE 128u /* entries that are read at a time */

static int elf_read(const struct context_elf *e, uint64_t offset, void *to, size_t n)
{
	return e->file->read(e->file->ctx, offset, to, n);
}

/* By the segments that are loaded. */
int context_elf_read(const struct context_elf *e, uint64_t address, void *to, size_t n)
{
	for (unsigned i = 0; i < e->n_segments; i++) {
		const Elf64_Phdr *s = &e->segments[i];
		uint64_t at = address - s->p_vaddr;

		if (s->p_type == PT_LOAD && address >= s->p_vaddr && at < s->p_filesz &&
		    n <= s->p_filesz - at)
			return elf_read(e, s->p_offset + at, to, n);
	}
	return -ENOENT;
}

/* Notes one entry of the dynamic section. */
static void elf_dynamic(struct context_elf *e, const Elf64_Dyn *d)
{
	switch (d->d_tag) {
	case DT_GNU_HASH:
		e->hash = d->d_un.d_ptr;
		break;
	case DT_SYMTAB:
		e->symbols = d->d_un.d_ptr;
		break;
	case DT_STRTAB:
		e->strings = d->d_un.d_ptr;
		break;
	case DT_RELA:
		e->relocations[0].at = d->d_un.d_ptr;
		break;
	case DT_RELASZ:
		e->relocations[0].bytes = d->d_un.d_val;
		break;
	case DT_JMPREL:
		e->relocations[1].at = d->d_un.d_ptr;
		break;
	case DT_PLTRELSZ:
		e->relocations[1].bytes = d->d_un.d_val;
		break;
	case DT_FLAGS_1:
		e->executable |= !!(d->d_un.d_val & DF_1_PIE);
		break;
	default:
		break;
	}
}

/* Reads the dynamic section piece by piece. */
static int elf_dynamics(struct context_elf *e, const Elf64_Phdr *s)
{
	Elf64_Dyn d[32];
	uint64_t n = s->p_filesz / sizeof(d[0]), at = 0;

	while (at < n && at < DYNAMIC_MOST) {
		size_t some = n - at < 32 ? (size_t)(n - at) : 32;

		if (elf_read(e, s->p_offset + at * sizeof(d[0]), d, some * sizeof(d[0])) < 0)
			return -ENOEXEC;
		for (size_t i = 0; i < some; i++, at++) {
			if (d[i].d_tag == DT_NULL)
				return 0;
			elf_dynamic(e, &d[i]);
		}
	}
	return 0;
}

/* An executable is one that says so, or is loaded by an interpreter: libc has one, too, and no
 * variable that is asked for. */
int context_elf_open(struct context_elf *ret, const struct context_source_file *file)
{
	struct context_elf e = { .file = file };

	if (elf_read(&e, 0, &e.head, sizeof(e.head)) < 0 ||
	    memcmp(e.head.e_ident, ELFMAG, SELFMAG) != 0 ||
	    e.head.e_ident[EI_CLASS] != ELFCLASS64 || e.head.e_machine != EM_X86_64 ||
	    e.head.e_phentsize != sizeof(e.segments[0]) || e.head.e_phnum > CONTEXT_SEGMENTS)
		return -ENOEXEC;
	e.n_segments = e.head.e_phnum;
	if (elf_read(&e, e.head.e_phoff, e.segments, e.n_segments * sizeof(e.segments[0])) < 0)
		return -ENOEXEC;
	e.executable = e.head.e_type == ET_EXEC;
	for (unsigned i = 0; i < e.n_segments; i++) {
		const Elf64_Phdr *s = &e.segments[i];

		if (s->p_type == PT_TLS)
			e.threads = *s;
		e.executable |= s->p_type == PT_INTERP;
		if (s->p_type == PT_DYNAMIC && elf_dynamics(&e, s) < 0)
			return -ENOEXEC;
	}
	*ret = e;
	return 0;
}

/* The hash of .gnu.hash: Bernstein's, h * 33 + c. */
static uint32_t elf_hash(const char *name)
{
	uint32_t h = 5381;

	for (; *name; name++)
		h = h * 33 + (unsigned char)*name;
	return h;
}

static int elf_symbol_is(const struct context_elf *e, uint32_t i, const char *name, Elf64_Sym *ret)
{
	char text[NAME_MOST];
	size_t size = strlen(name) + 1;

	if (size > sizeof(text) ||
	    context_elf_read(e, e->symbols + (uint64_t)i * sizeof(*ret), ret, sizeof(*ret)) < 0 ||
	    ret->st_shndx == SHN_UNDEF ||
	    context_elf_read(e, e->strings + ret->st_name, text, size) < 0)
		return -ENOENT;
	return memcmp(text, name, size) ? -ENOENT : 0;
}

/* The Bloom filter says "no" of nearly all: one word is read. */
int context_elf_symbol(const struct context_elf *e, const char *name, Elf64_Sym *ret,
                       uint32_t *number)
{
	uint32_t head[4], hash = elf_hash(name), i, one; /* buckets, first, words, shift */
	uint64_t word, buckets, chains;

	if (!e->hash || !e->symbols || !e->strings ||
	    context_elf_read(e, e->hash, head, sizeof(head)) < 0 || !head[0] || !head[2])
		return -ENOENT;
	if (context_elf_read(e, e->hash + 16 + (hash / 64 % head[2]) * 8ull, &word, 8) < 0 ||
	    !(word >> (hash % 64) & word >> ((hash >> (head[3] & 31)) % 64) & 1))
		return -ENOENT;
	buckets = e->hash + 16 + head[2] * 8ull;
	chains = buckets + head[0] * 4ull;
	if (context_elf_read(e, buckets + hash % head[0] * 4ull, &i, 4) < 0 || i < head[1])
		return -ENOENT;
	for (unsigned n = 0; n < CHAIN_MOST; n++, i++) {
		if (context_elf_read(e, chains + (i - head[1]) * 4ull, &one, 4) < 0)
			break;
		if ((one | 1) == (hash | 1) && elf_symbol_is(e, i, name, ret) == 0) {
			if (number)
				*number = i;
			return 0;
		}
		if (one & 1) /* the chain's end */
			break;
	}
	return -ENOENT;
}

/* Calls each with every section. */
static int elf_sections(const struct context_elf *e,
                        int (*each)(const struct context_elf *e, void *ctx, const Elf64_Shdr *s),
                        void *ctx)
{
	Elf64_Shdr s[16];
	unsigned n = e->head.e_shnum < SECTIONS_MOST ? e->head.e_shnum : SECTIONS_MOST;
	int r = 0;

	if (!e->head.e_shoff || e->head.e_shentsize != sizeof(s[0]))
		return 0;
	for (unsigned at = 0; at < n && !r; at += 16) {
		unsigned some = n - at < 16 ? n - at : 16;

		if (elf_read(e, e->head.e_shoff + at * sizeof(s[0]), s, some * sizeof(s[0])) < 0)
			return 0;
		for (unsigned i = 0; i < some && !r; i++)
			r = each(e, ctx, &s[i]);
	}
	return r;
}

struct elf_wanted {
	const char *name;
	char names[8192]; /* of sections: the beginning of them is enough */
	size_t n;
	Elf64_Shdr *ret;
};

static int elf_is_section(const struct context_elf *e, void *ctx, const Elf64_Shdr *s)
{
	struct elf_wanted *w = ctx;
	size_t size = strlen(w->name) + 1;

	(void)e;
	if (s->sh_name >= w->n || w->n - s->sh_name < size ||
	    memcmp(w->names + s->sh_name, w->name, size) != 0)
		return 0;
	*w->ret = *s;
	return 1;
}

int context_elf_section(const struct context_elf *e, const char *name, Elf64_Shdr *ret)
{
	struct elf_wanted w = { .name = name, .ret = ret };
	Elf64_Shdr names;

	if (!e->head.e_shoff || e->head.e_shstrndx >= e->head.e_shnum ||
	    elf_read(e, e->head.e_shoff + (uint64_t)e->head.e_shstrndx * sizeof(names), &names,
	             sizeof(names)) < 0)
		return -ENOENT;
	w.n = names.sh_size < sizeof(w.names) ? (size_t)names.sh_size : sizeof(w.names);
	if (elf_read(e, names.sh_offset, w.names, w.n) < 0)
		return -ENOENT;
	return elf_sections(e, elf_is_section, &w) ? 0 : -ENOENT;
}

struct elf_local {
	const char *name;
	Elf64_Sym *ret;
};

/* Looks through a table of all symbols. */
static int elf_local_in(const struct context_elf *e, void *ctx, const Elf64_Shdr *s)
{
	const struct elf_local *w = ctx;
	Elf64_Sym symbols[PIECE];
	char text[NAME_MOST];
	size_t size = strlen(w->name) + 1;
	uint64_t n = s->sh_size / sizeof(symbols[0]);
	Elf64_Shdr names;

	if (s->sh_type != SHT_SYMTAB || size > sizeof(text) || s->sh_link >= e->head.e_shnum ||
	    elf_read(e, e->head.e_shoff + (uint64_t)s->sh_link * sizeof(names), &names,
	             sizeof(names)) < 0)
		return 0;
	n = n < SYMBOLS_MOST ? n : SYMBOLS_MOST;
	for (uint64_t at = 0; at < n; at += PIECE) {
		size_t some = n - at < PIECE ? (size_t)(n - at) : PIECE;

		if (elf_read(e, s->sh_offset + at * sizeof(symbols[0]), symbols,
		             some * sizeof(symbols[0])) < 0)
			return 0;
		for (size_t i = 0; i < some; i++) {
			if (ELF64_ST_TYPE(symbols[i].st_info) != STT_TLS ||
			    elf_read(e, names.sh_offset + symbols[i].st_name, text, size) < 0 ||
			    memcmp(text, w->name, size) != 0)
				continue;
			*w->ret = symbols[i];
			return 1;
		}
	}
	return 0;
}

/* Of variables of threads. */
int context_elf_local(const struct context_elf *e, const char *name, Elf64_Sym *ret)
{
	struct elf_local w = { name, ret };

	return elf_sections(e, elf_local_in, &w) ? 0 : -ENOENT;
}

/* Goes through both tables piece by piece. */
int context_elf_relocations(const struct context_elf *e,
                            int (*each)(void *ctx, const Elf64_Rela *r), void *ctx)
{
	Elf64_Rela some[PIECE];
	int r = 0;

	for (unsigned t = 0; t < 2; t++) {
		uint64_t n = e->relocations[t].bytes / sizeof(some[0]);

		n = n < RELOCATIONS_MOST ? n : RELOCATIONS_MOST;
		for (uint64_t at = 0; at < n && !r; at += PIECE) {
			size_t now = n - at < PIECE ? (size_t)(n - at) : PIECE;

			if (context_elf_read(e, e->relocations[t].at + at * sizeof(some[0]), some,
			                     now * sizeof(some[0])) < 0)
				break;
			for (size_t i = 0; i < now && !r; i++)
				r = each(ctx, &some[i]);
		}
	}
	return r;
}

/* The executable's block lies right below the thread pointer, its size rounded up. */
uint64_t context_elf_static(const struct context_elf *e, uint64_t value)
{
	uint64_t align = e->threads.p_align ? e->threads.p_align : 1;

	return value - (e->threads.p_memsz + align - 1) / align * align;
}
