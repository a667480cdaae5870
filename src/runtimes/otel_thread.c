// SPDX-License-Identifier: MIT
/*
 * otel_thread.c: see otel_thread.h. The variable is a symbol that other objects may use. In an
 * executable its place is known; in a shared object the compiler's relocations tell which words the
 * dynamic linker fills in to lead there, and of what kind they are.
 */
#include "runtimes/otel_thread.h"

#include <errno.h>

#define OTEL_THREAD "otel_thread_ctx_v1"

struct otel_search {
	uint32_t number; /* of the symbol */
	uint64_t value;
	struct context_process *ret;
};

/* Whether a relocation leads to the variable itself: by its symbol or, bound within the object, by
 * what is added. */
static bool otel_is_ours(const struct otel_search *s, const Elf64_Rela *r)
{
	uint32_t symbol = (uint32_t)ELF64_R_SYM(r->r_info);

	return symbol == s->number || (!symbol && (uint64_t)r->r_addend == s->value);
}

/* Stops at a relocation that leads to the variable. One that leads to the module alone is kept
 * until a better one comes. */
static int otel_relocation(void *ctx, const Elf64_Rela *r)
{
	struct otel_search *s = ctx;
	uint32_t symbol = (uint32_t)ELF64_R_SYM(r->r_info);

	switch (ELF64_R_TYPE(r->r_info)) {
	case R_X86_64_TLSDESC:
		if (!otel_is_ours(s, r))
			return 0;
		s->ret->access = CONTEXT_DESCRIPTOR;
		break;
	case R_X86_64_TPOFF64:
		if (!otel_is_ours(s, r))
			return 0;
		s->ret->access = CONTEXT_INITIAL;
		break;
	case R_X86_64_DTPMOD64:
		if (symbol == s->number) {
			s->ret->access = CONTEXT_MODULE;
			break;
		}
		if (!symbol && s->ret->access == CONTEXT_STATIC) {
			s->ret->access = CONTEXT_LOCAL;
			s->ret->offset = s->value;
			s->ret->slot = r->r_offset;
		}
		return 0;
	default:
		return 0;
	}
	s->ret->slot = r->r_offset;
	return 1;
}

/* In a shared object a static place is none: the dynamic linker gives it. */
int otel_thread_find(struct context_process *ret, const struct context_elf *e)
{
	struct context_process found = { .source = CONTEXT_OTEL, .access = CONTEXT_STATIC };
	struct otel_search s = { .ret = &found };
	Elf64_Sym symbol;

	if (context_elf_symbol(e, OTEL_THREAD, &symbol, &s.number) < 0 ||
	    ELF64_ST_TYPE(symbol.st_info) != STT_TLS || e->threads.p_type != PT_TLS ||
	    symbol.st_value > e->threads.p_memsz)
		return -ENOENT;
	s.value = symbol.st_value;
	if (e->executable) {
		found.offset = context_elf_static(e, symbol.st_value);
	} else {
		context_elf_relocations(e, otel_relocation, &s);
		if (found.access == CONTEXT_STATIC)
			return -ENOENT;
	}
	*ret = found;
	return 0;
}

/* glibc's has _rtld_global; musl's, which is its libc as well, has __tls_get_addr without that. */
uint32_t otel_thread_vector(const struct context_elf *e)
{
	Elf64_Sym symbol;

	if (context_elf_symbol(e, "__tls_get_addr", &symbol, NULL) < 0)
		return 0;
	return context_elf_symbol(e, "_rtld_global", &symbol, NULL) < 0 ? 8 : 16;
}
