// SPDX-License-Identifier: MIT
/*
 * go_labels.c: see go_labels.h. A thread's g is in a variable of the thread that the linker of Go
 * puts right below the thread pointer, or C's linker among those of C. From g it goes to its m, to
 * the goroutine that this runs, and to its labels; offsets are those of Go's own DWARF.
 */
#include "runtimes/go_labels.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define GO_TLS "runtime.tlsg"
#define GO_VERSION_MOST 64u
#define BUILDINFO_HEAD 32u
#define GO_ASKS "_cgo_topofstack"
#define GO_ASKS_BYTES 26u       /* of its code, the most that is looked at */
#define GO_CODE_MOST (1u << 28) /* bytes of code that are looked through */
#define GO_PIECE 16384u

/* Versions 1.x whose offsets are the same. The rows go up; a version beyond the last is not
 * known. */
static const struct go_layout {
	unsigned first, last;
	uint32_t source, m_curg, g_labels;
} go_layouts[] = {
	{ 17, 20, CONTEXT_GO_MAP, 192, 360 },  { 21, 22, CONTEXT_GO_MAP, 192, 344 },
	{ 23, 23, CONTEXT_GO_MAP, 192, 352 },  { 24, 24, CONTEXT_GO_LIST, 192, 352 },
	{ 25, 25, CONTEXT_GO_LIST, 184, 344 }, { 26, 27, CONTEXT_GO_LIST, 184, 352 },
};

/* Also of versions in the making, "devel go1.28-1a2b3c": their offsets are anybody's guess, so they
 * are not known. */
void go_labels_version(struct context_process *ret, const char *version)
{
	unsigned long minor = 0;

	ret->source = CONTEXT_GO_OTHER;
	if (strncmp(version, "go1.", 4) != 0)
		return;
	minor = strtoul(version + 4, NULL, 10);
	for (size_t i = 0; i < sizeof(go_layouts) / sizeof(go_layouts[0]); i++) {
		const struct go_layout *g = &go_layouts[i];

		if (minor < g->first || minor > g->last)
			continue;
		ret->source = g->source;
		ret->g_m = 48;
		ret->m_curg = g->m_curg;
		ret->g_labels = g->g_labels;
	}
}

/* The text of the version: in the section itself from 1.18 on, before behind two addresses. */
static int go_version(const struct context_elf *e, char *ret)
{
	static const char magic[] = "\xff Go buildinf:";
	unsigned char head[BUILDINFO_HEAD + 1];
	uint64_t at, words[2];
	Elf64_Shdr s;
	size_t n;

	if (context_elf_section(e, ".go.buildinfo", &s) < 0)
		return -ENOENT;
	ret[0] = 0;
	if (s.sh_size < sizeof(head) || context_elf_read(e, s.sh_addr, head, sizeof(head)) < 0 ||
	    memcmp(head, magic, sizeof(magic) - 1) != 0)
		return 0;
	if (head[15] & 2) {
		n = head[BUILDINFO_HEAD] & 127;
		at = s.sh_addr + sizeof(head);
	} else {
		memcpy(&at, head + 16, 8);
		if (head[14] != 8 || context_elf_read(e, at, words, sizeof(words)) < 0)
			return 0;
		at = words[0];
		n = words[1] < GO_VERSION_MOST ? (size_t)words[1] : GO_VERSION_MOST - 1;
	}
	n = n < GO_VERSION_MOST ? n : GO_VERSION_MOST - 1;
	if (context_elf_read(e, at, ret, n) < 0)
		n = 0;
	ret[n] = 0;
	return 0;
}

/* Stops at the word that says where the module's block of threads' variables is. */
static int go_relocation(void *ctx, const Elf64_Rela *r)
{
	struct context_process *ret = ctx;

	if (ELF64_R_TYPE(r->r_info) != R_X86_64_TPOFF64 || ELF64_R_SYM(r->r_info) ||
	    (uint64_t)r->r_addend != ret->offset)
		return 0;
	ret->access = CONTEXT_INITIAL;
	ret->slot = r->r_offset;
	return 1;
}

/*
 * A function of Go's that C may call goes from g to its m to the goroutine, as it is done here:
 *
 *     mov %fs:n,%rax; or mov $n,%rcx or mov n(%rip),%rcx, and mov %fs:(%rcx),%rax
 *     mov 48(%rax),%rax; mov m_curg(%rax),%rax
 *
 * So its code says where g is. False: this is no such code.
 */
static bool go_asks(struct context_process *ret, uint64_t address, const unsigned char *code)
{
	unsigned char ways[] = { 0x48, 0x8b, 0x40, 0, 0x48, 0x8b, 0x80, 0, 0, 0, 0 };
	bool direct = !memcmp(code, "\x64\x48\x8b\x04\x25", 5);
	bool value = !memcmp(code, "\x48\xc7\xc1", 3), word = !memcmp(code, "\x48\x8b\x0d", 3);
	int32_t n;

	ways[3] = (unsigned char)ret->g_m;
	memcpy(ways + 7, &ret->m_curg, 4);
	if (!direct && ((!value && !word) || memcmp(code + 7, "\x64\x48\x8b\x01", 4) != 0))
		return false;
	if (memcmp(code + (direct ? 9 : 11), ways, sizeof(ways)) != 0)
		return false;
	memcpy(&n, code + (direct ? 5 : 3), 4);
	if (word) {
		ret->access = CONTEXT_INITIAL;
		ret->slot = address + 7 + (uint64_t)(int64_t)n;
	} else {
		ret->access = CONTEXT_STATIC;
		ret->offset = (uint64_t)(int64_t)n;
	}
	return true;
}

/* Looks for that function in a segment of code. */
static bool go_asks_in(struct context_process *ret, const struct context_elf *e,
                       const Elf64_Phdr *s)
{
	unsigned char code[GO_PIECE];
	uint64_t end = s->p_filesz < GO_CODE_MOST ? s->p_filesz : GO_CODE_MOST;

	for (uint64_t at = 0; end - at >= GO_ASKS_BYTES;) {
		size_t n = end - at < sizeof(code) ? (size_t)(end - at) : sizeof(code);

		if (context_elf_read(e, s->p_vaddr + at, code, n) < 0)
			return false;
		for (size_t i = 0; i + GO_ASKS_BYTES <= n; i++)
			if (go_asks(ret, s->p_vaddr + at + i, code + i))
				return true;
		at += n - (GO_ASKS_BYTES - 1);
	}
	return false;
}

/* Where g is, by the code of a file without symbols: that function is one that others may use, or
 * is somewhere. False: it is not there. */
static bool go_thread_code(struct context_process *ret, const struct context_elf *e)
{
	unsigned char code[GO_ASKS_BYTES];
	Elf64_Sym symbol;

	if (ret->source == CONTEXT_GO_OTHER)
		return false;
	if (context_elf_symbol(e, GO_ASKS, &symbol, NULL) == 0 &&
	    context_elf_read(e, symbol.st_value, code, sizeof(code)) == 0 &&
	    go_asks(ret, symbol.st_value, code))
		return true;
	for (unsigned i = 0; i < e->n_segments; i++)
		if (e->segments[i].p_type == PT_LOAD && e->segments[i].p_flags & PF_X &&
		    go_asks_in(ret, e, &e->segments[i]))
			return true;
	return false;
}

/* Where g is. False: it cannot be found. */
static bool go_thread(struct context_process *ret, const struct context_elf *e)
{
	Elf64_Sym symbol = { .st_value = 0 };

	ret->access = CONTEXT_STATIC;
	if (e->threads.p_type != PT_TLS) {
		ret->offset = (uint64_t)-8;
		return e->executable;
	}
	/* Where g is not alone its symbol must tell, or code. */
	if (e->threads.p_memsz != 8 && context_elf_local(e, GO_TLS, &symbol) < 0)
		return go_thread_code(ret, e);
	if (e->executable || !e->hash) {
		ret->offset = context_elf_static(e, symbol.st_value);
		return true;
	}
	ret->offset = symbol.st_value;
	return context_elf_relocations(e, go_relocation, ret);
}

int go_labels_find(struct context_process *ret, const struct context_elf *e)
{
	char version[GO_VERSION_MOST + 1];
	struct context_process found = { .source = CONTEXT_GO_OTHER };

	if (go_version(e, version) < 0)
		return -ENOENT;
	go_labels_version(&found, version);
	if (!go_thread(&found, e))
		found.source = CONTEXT_GO_OTHER;
	*ret = found;
	return 0;
}
