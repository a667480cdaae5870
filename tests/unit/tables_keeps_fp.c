// SPDX-License-Identifier: MIT
/*
 * tables_keeps_fp.c: objects of which some code, or all, has no unwind information: whether it is
 * said that frame pointers lead on there. The objects are made by hand: functions of 32 bytes that
 * call the next one, with or without a frame.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tables/tables.h"

#include "unwind_eh.h"

#define FUNCTION 32u     /* bytes */
#define TEXT_FILE 4096u  /* where .text is in the file */
#define SMALL 64u        /* functions of a small object */
#define LARGE (1u << 16) /* of a large one: 2 MiB */

/* push %rbp; mov %rsp,%rbp; call the next; pop %rbp; ret. Without a frame, nops stand instead. */
static void put_function(struct buf *out, bool frame)
{
	size_t start = out->n;

	buf_put(out, frame ? "\x55\x48\x89\xe5" : "\x90\x90\x90\x90", 4);
	buf_put(out, "\xe8\x17\x00\x00\x00", 5); /* to the end of the 32 bytes */
	buf_put(out, frame ? "\x5d\xc3" : "\x90\xc3", 2);
	while (out->n < start + FUNCTION)
		buf_put(out, "\x90", 1);
}

static void put_section(struct buf *out, uint32_t name, uint32_t type, uint64_t flags,
                        uint64_t address, uint64_t offset, uint64_t size)
{
	const Elf64_Shdr s = { .sh_name = name,
		               .sh_type = type,
		               .sh_flags = flags,
		               .sh_addr = address,
		               .sh_offset = offset,
		               .sh_size = size,
		               .sh_addralign = 1 };

	buf_put(out, &s, sizeof(s));
}

/* An executable of this .text and this .eh_frame (empty: none). */
static void put_object(struct buf *out, const struct buf *text, const struct buf *eh)
{
	static const char names[] = "\0.text\0.eh_frame\0.shstrtab";
	uint64_t eh_at = TEXT_FILE + text->n, names_at = eh_at + eh->n,
	         sections = names_at + sizeof(names);
	Elf64_Ehdr head = { .e_type = ET_EXEC,
		            .e_machine = EM_X86_64,
		            .e_version = EV_CURRENT,
		            .e_phoff = sizeof(Elf64_Ehdr),
		            .e_shoff = sections,
		            .e_ehsize = sizeof(Elf64_Ehdr),
		            .e_phentsize = sizeof(Elf64_Phdr),
		            .e_phnum = 2,
		            .e_shentsize = sizeof(Elf64_Shdr),
		            .e_shnum = 4,
		            .e_shstrndx = 3 };
	const Elf64_Phdr load[2] = { { .p_type = PT_LOAD,
		                       .p_flags = PF_R,
		                       .p_offset = eh_at,
		                       .p_vaddr = EH_AT,
		                       .p_filesz = eh->n,
		                       .p_memsz = eh->n },
		                     { .p_type = PT_LOAD,
		                       .p_flags = PF_R | PF_X,
		                       .p_offset = TEXT_FILE,
		                       .p_vaddr = TEXT_AT,
		                       .p_filesz = text->n,
		                       .p_memsz = text->n } };

	memcpy(head.e_ident, ELFMAG, SELFMAG);
	head.e_ident[EI_CLASS] = ELFCLASS64;
	head.e_ident[EI_DATA] = ELFDATA2LSB;
	head.e_ident[EI_VERSION] = EV_CURRENT;
	buf_put(out, &head, sizeof(head));
	buf_put(out, load, sizeof(load));
	buf_put_zeros(out, TEXT_FILE - out->n);
	buf_put(out, text->bytes, text->n);
	buf_put(out, eh->bytes, eh->n);
	buf_put(out, names, sizeof(names));
	put_section(out, 0, SHT_NULL, 0, 0, 0, 0);
	put_section(out, 1, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, TEXT_AT, TEXT_FILE, text->n);
	put_section(out, 7, eh->n ? SHT_PROGBITS : SHT_NULL, SHF_ALLOC, EH_AT, eh_at, eh->n);
	put_section(out, 17, SHT_STRTAB, 0, 0, names_at, sizeof(names));
}

struct code {
	size_t n;          /* functions */
	size_t first, end; /* those of them without unwind information */
	bool frames;       /* these have a frame; the others have none */
	size_t tail;       /* last bytes of the others that have none either: nops, or */
	bool tail_is_code; /* returns */
	bool eh;           /* the others have unwind information */
	struct tables *tables;
	const struct tables_object *object;
};

/* Makes the object, and asks for its table. */
static void make(struct code *c)
{
	static const struct tables_opts opts = { .sz = sizeof(opts), .no_cache = true };
	struct buf text = { 0 }, eh = { 0 }, file = { 0 };
	char path[] = "/tmp/seam-keeps-fp-XXXXXX";
	int fd = mkstemp(path);
	size_t cie = c->eh ? put_cie(&eh, "zR") : 0;

	for (size_t i = 0; i < c->n; i++) {
		bool told = i < c->first || i >= c->end;

		put_function(&text, !told && c->frames);
		if (c->tail_is_code)
			memset(text.bytes + text.n - c->tail, 0xc3, c->tail);
		if (told && c->eh)
			put_fde(&eh, cie, TEXT_AT + i * FUNCTION, (uint32_t)(FUNCTION - c->tail),
			        "", 0);
	}
	if (c->eh)
		buf_put_u32(&eh, 0);
	put_object(&file, &text, &eh);
	assert_true(fd >= 0 && !file.failed);
	assert_int_equal(write(fd, file.bytes, file.n), file.n);
	close(fd);
	assert_int_equal(tables_new(&c->tables, &opts), 0);
	assert_int_equal(tables_get(c->tables, path, NULL, &c->object), 0);
	unlink(path);
	buf_free(&text);
	buf_free(&eh);
	buf_free(&file);
}

/* Nothing of it is told: the code says whether frame pointers lead on. */
static void without_unwind_information(void **state)
{
	struct code kept = { .n = SMALL, .frames = true, .end = SMALL },
	            not = { .n = SMALL, .frames = false, .end = SMALL };

	(void)state;
	make(&kept);
	assert_null(kept.object->table);
	assert_true(kept.object->keeps_fp);
	tables_free(kept.tables);
	make(&not );
	assert_null(not .object->table);
	assert_false(not .object->keeps_fp);
	tables_free(not .tables);
}

/* A hundredth of the code is what a table must hold, or else it says nothing of the object. */
static void with_hardly_any(void **state)
{
	struct code bare = { .n = LARGE, .frames = true, .first = 0, .end = LARGE - 2, .eh = true },
	            whole = { .n = SMALL, .frames = true, .first = 2, .end = SMALL, .eh = true };

	(void)state;
	make(&bare);
	assert_non_null(bare.object->table);
	assert_true(bare.object->keeps_fp);
	tables_free(bare.tables);
	make(&whole);
	assert_non_null(whole.object->table);
	assert_false(whole.object->keeps_fp); /* although its code does */
	tables_free(whole.tables);
}

static const struct frametab_rule *rule_of(const struct code *c, size_t function)
{
	return frametab_find(c->object->table, TEXT_AT + function * FUNCTION + 8);
}

/* A stretch in the middle: of COMPILE_GAP bytes and more, the table says that it keeps them. */
static void in_a_gap(void **state)
{
	const size_t gap = COMPILE_GAP / FUNCTION;
	struct code
	        large = { .n = gap + 20, .frames = true, .first = 10, .end = gap + 10, .eh = true },
	        small = { .n = gap + 19, .frames = true, .first = 10, .end = gap + 9, .eh = true },
	        plain = { .n = gap + 20, .first = 10, .end = gap + 10, .eh = true };

	(void)state;
	make(&large);
	assert_true(rule_of(&large, gap)->flags & FRAMETAB_KEEPS_FP);
	assert_false(rule_of(&large, 9)->flags & FRAMETAB_KEEPS_FP);
	assert_false(rule_of(&large, gap + 10)->flags & FRAMETAB_KEEPS_FP);
	tables_free(large.tables);
	make(&small);
	assert_false(rule_of(&small, gap)->flags & FRAMETAB_KEEPS_FP);
	tables_free(small.tables);
	make(&plain);
	assert_false(rule_of(&plain, gap)->flags & FRAMETAB_KEEPS_FP);
	tables_free(plain.tables);
}

/* A few bytes between two functions: code that was left out may go on as the one before it; padding
 * has no rule of its own. */
static void between_functions(void **state)
{
	const uint64_t tail = TEXT_AT + 40 * FUNCTION - 4;
	struct code code = { .n = SMALL, .eh = true, .tail = 8, .tail_is_code = true },
	            padding = { .n = SMALL, .eh = true, .tail = 8 };

	(void)state;
	make(&code);
	assert_true(frametab_find(code.object->table, tail)->flags & FRAMETAB_LIKE);
	assert_false(rule_of(&code, 40)->flags & FRAMETAB_LIKE);
	tables_free(code.tables);
	make(&padding);
	assert_false(frametab_find(padding.object->table, tail)->flags & FRAMETAB_LIKE);
	tables_free(padding.tables);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_unwind_information),
		cmocka_unit_test(with_hardly_any),
		cmocka_unit_test(in_a_gap),
		cmocka_unit_test(between_functions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
