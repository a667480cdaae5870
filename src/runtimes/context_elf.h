/* SPDX-License-Identifier: MIT */
/*
 * context_elf.h: the few words of an ELF file that tell whether its code says for whom a thread
 * works. Every file that is mapped is asked, so that a "no" must cost no more than some short
 * readings: hence no libelf here. Little-endian x86_64 alone.
 */
#ifndef SEAM_RUNTIMES_CONTEXT_ELF_H
#define SEAM_RUNTIMES_CONTEXT_ELF_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads n bytes of the file at an offset. 0, or -errno. */
struct context_source_file {
	int (*read)(void *ctx, uint64_t offset, void *to, size_t n);
	void *ctx;
};

#define CONTEXT_SEGMENTS 64u

struct context_elf {
	const struct context_source_file *file;
	Elf64_Ehdr head;
	Elf64_Phdr segments[CONTEXT_SEGMENTS];
	unsigned n_segments;
	bool executable; /* no shared object: its variables of threads have fixed places */
	/* Addresses, from its dynamic section; 0: there is none. */
	uint64_t hash, symbols, strings;
	struct context_relocations {
		uint64_t at, bytes;
	} relocations[2];
	Elf64_Phdr threads; /* PT_TLS; type 0: there is none */
};

/* -ENOEXEC: it is none that is understood. */
int context_elf_open(struct context_elf *ret, const struct context_source_file *file);
/* Reads what the file has at a linked address. -ENOENT: nothing. */
int context_elf_read(const struct context_elf *e, uint64_t address, void *to, size_t n);
/* A symbol that the file itself defines for others to use. -ENOENT. *number may be NULL. */
int context_elf_symbol(const struct context_elf *e, const char *name, Elf64_Sym *ret,
                       uint32_t *number);
/* A local symbol by its name, from all that are there: slow. -ENOENT. */
int context_elf_local(const struct context_elf *e, const char *name, Elf64_Sym *ret);
/* A section by its name. -ENOENT. */
int context_elf_section(const struct context_elf *e, const char *name, Elf64_Shdr *ret);
/* Calls each with every relocation; stops when it returns non-zero, and returns that. */
int context_elf_relocations(const struct context_elf *e,
                            int (*each)(void *ctx, const Elf64_Rela *r), void *ctx);
/* Where a variable of the executable's threads is, from the thread pointer on (may wrap). */
uint64_t context_elf_static(const struct context_elf *e, uint64_t value);

#endif
