// SPDX-License-Identifier: MIT
/* go_module.c: see go_module.h. */
#include "image/go_module.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#include "base/cursor.h"

/* Reads the words from an offset of a section on, as far as it and GO_MODULE_WORDS reach. */
static void go_module_read(struct go_module *m, const struct image_section *section, size_t at,
                           unsigned word, bool swap)
{
	struct cursor c = cursor_of(section->bytes, section->n, swap);

	cursor_seek(&c, at);
	for (m->n_words = 0; m->n_words < GO_MODULE_WORDS && cursor_left(&c) >= word; m->n_words++)
		m->words[m->n_words] = word == 8 ? cursor_u64(&c) : cursor_u32(&c);
}

/* One relocation of .rela.dyn: what stands at an address once the program is loaded. */
struct go_relocation {
	uint64_t address, value;
};

/* Reads the i-th; false: there are no more. Others than those that add where the program was loaded
 * have no value. */
static bool go_module_relocation(const struct image_section *rela, size_t i, bool swap,
                                 struct go_relocation *ret)
{
	struct cursor c = cursor_of(rela->bytes, rela->n, swap);
	uint64_t type;

	if (i >= rela->n / sizeof(Elf64_Rela))
		return false;
	cursor_seek(&c, i * sizeof(Elf64_Rela));
	ret->address = cursor_u64(&c);
	type = ELF64_R_TYPE(cursor_u64(&c));
	ret->value = cursor_u64(&c);
	if (type != R_X86_64_RELATIVE && type != R_AARCH64_RELATIVE)
		ret->value = 0;
	return true;
}

/* The words of a position-independent program are zeros in the file. Its relocations say what they
 * will be: one makes a word the table's address, and those behind it the words behind that. */
static int go_module_relocated(struct go_module *m, uint64_t table, bool swap)
{
	struct image_section rela;
	struct go_relocation r;
	uint64_t begin = 0;

	if (image_section(m->image, ".rela.dyn", &rela) < 0 || !rela.bytes)
		return -ENOENT;
	for (size_t i = 0; !begin && go_module_relocation(&rela, i, swap, &r); i++)
		if (r.value == table && !(r.address & 7))
			begin = r.address;
	if (!begin)
		return -ENOENT;
	memset(m->words, 0, sizeof(m->words));
	m->n_words = GO_MODULE_WORDS;
	for (size_t i = 0; go_module_relocation(&rela, i, swap, &r); i++)
		if (r.address >= begin && r.address - begin < 8 * GO_MODULE_WORDS &&
		    !((r.address - begin) & 7))
			m->words[(r.address - begin) / 8] = r.value;
	return 0;
}

/* Looks in the sections of data, and then among the relocations. */
int go_module_find(struct go_module *ret, struct image *image, uint64_t table, unsigned word,
                   bool swap)
{
	static const char *const names[] = { ".go.module", ".noptrdata", ".data" };
	struct image_section section;

	*ret = (struct go_module){ .image = image };
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct cursor c;

		if (image_section(image, names[i], &section) < 0 || !section.bytes)
			continue;
		c = cursor_of(section.bytes, section.n, swap);
		while (cursor_left(&c) >= word) {
			size_t at = cursor_offset(&c);

			if ((word == 8 ? cursor_u64(&c) : cursor_u32(&c)) != table)
				continue;
			go_module_read(ret, &section, at, word, swap);
			return 0;
		}
	}
	return word == 8 ? go_module_relocated(ret, table, swap) : -ENOENT;
}

/* Four words in a row: the first function's begin, the last one's end, where the text begins and
 * where it ends. */
int go_module_text(const struct go_module *m, uint64_t first, uint64_t end, uint64_t code,
                   uint64_t code_end, uint64_t *ret, size_t *ret_behind)
{
	for (size_t i = 1; i + 4 <= m->n_words; i++) {
		const uint64_t *w = m->words + i;

		if (w[2] < code || w[2] > code_end || w[3] <= w[2] || w[0] != w[2] + first ||
		    w[1] != w[2] + end)
			continue;
		*ret = w[2];
		*ret_behind = i + 4;
		return 0;
	}
	return -ENOENT;
}

/* The data end where their section does. */
bool go_module_set_data(struct go_module *m, size_t word)
{
	struct image_section section;
	uint64_t base = word < m->n_words ? m->words[word] : 0;

	for (size_t i = 0; base && image_section_at(m->image, i, &section) == 0; i++) {
		if (!(section.flags & SHF_ALLOC) || section.flags & SHF_EXECINSTR ||
		    section.type == SHT_NOBITS || base < section.vaddr ||
		    base - section.vaddr >= section.memory_size)
			continue;
		if (image_section_load(m->image, &section) < 0 || !section.bytes ||
		    base - section.vaddr >= section.n)
			return false;
		m->data = section;
		m->base = base;
		return true;
	}
	return false;
}

const unsigned char *go_module_data(const struct go_module *m, uint64_t offset, size_t size)
{
	uint64_t from = m->base - m->data.vaddr;

	if (!m->data.bytes || offset > m->data.n - from || size > m->data.n - from - offset)
		return NULL;
	return m->data.bytes + from + offset;
}
