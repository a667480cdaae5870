// SPDX-License-Identifier: MIT
/*
 * convert.c: an ELF file of names, as libelf and libdw read it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <gelf.h>

#include "convert/names_elf.h"

static const uint32_t some[] = { 0, 3, 4, 200000 }, one[] = { 7 };

/* Looks for a symbol in the whole table. */
static bool has_symbol(Elf *elf, const char *name, uint64_t value, uint64_t size)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	GElf_Sym sym;

	while ((scn = elf_nextscn(elf, scn)) && gelf_getshdr(scn, &shdr))
		for (int i = 0;
		     shdr.sh_type == SHT_SYMTAB && gelf_getsym(elf_getdata(scn, NULL), i, &sym);
		     i++)
			if (!strcmp(elf_strptr(elf, shdr.sh_link, sym.st_name), name) &&
			    sym.st_value == value && sym.st_size == size)
				return true;
	return false;
}

/* The line of an address, by .debug_aranges and .debug_line. */
static int line_of(Dwarf *dw, uint64_t address, const char **file)
{
	Dwarf_Die die;
	Dwarf_Line *line =
	        dwarf_addrdie(dw, address, &die) ? dwarf_getsrc_die(&die, address) : NULL;
	int number = -1;

	*file = line ? dwarf_linesrc(line, NULL, NULL) : NULL;
	if (line)
		dwarf_lineno(line, &number);
	return number;
}

static void test_elf(void **state)
{
	struct names_elf_function f[] = {
		{ .name = "py::f:/a/b.py", .file = "/a/b.py", .lines = some, .n = 4 },
		{ .name = "py::g:/a/b.py", .file = "/a/b.py", .lines = one, .n = 1 },
		{ .name = "py::h:", .file = "", .lines = one, .n = 1 },
	};
	unsigned char id[NAMES_ELF_ID], other[NAMES_ELF_ID];
	const unsigned char *told;
	const void *note = NULL;
	struct buf b = { 0 };
	const char *file;
	Dwarf *dw;
	Elf *elf;

	(void)state;
	assert_int_equal(names_elf_place(f, 3), 4 * NAMES_ELF_ALIGN);
	assert_int_equal(f[1].at, NAMES_ELF_ALIGN);
	assert_int_equal(names_elf_put(&b, f, 3, id), 0);
	elf_version(EV_CURRENT);
	elf = elf_memory((char *)b.bytes, b.n);
	assert_non_null(elf);
	assert_true(has_symbol(elf, "py::f:/a/b.py", NAMES_ELF_TEXT, 4 * NAMES_ELF_LINE));
	assert_true(has_symbol(elf, "py::g:/a/b.py", NAMES_ELF_TEXT + f[1].at, NAMES_ELF_LINE));
	assert_true(has_symbol(elf, "py::h:", NAMES_ELF_TEXT + f[2].at, NAMES_ELF_LINE));
	assert_int_equal(dwelf_elf_gnu_build_id(elf, &note), NAMES_ELF_ID);
	told = note;
	assert_memory_equal(told, id, NAMES_ELF_ID);

	dw = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
	assert_non_null(dw);
	for (size_t i = 0; i < 4; i++) {
		/* Each byte of a line is that line's, and so is the odd one that samples have. */
		assert_int_equal(line_of(dw, NAMES_ELF_TEXT + i * 2, &file), some[i]);
		assert_int_equal(line_of(dw, NAMES_ELF_TEXT + i * 2 + 1, &file), some[i]);
		assert_string_equal(file, "/a/b.py");
	}
	assert_int_equal(line_of(dw, NAMES_ELF_TEXT + f[1].at, &file), 7);
	dwarf_end(dw);
	elf_end(elf);

	/* Other names are another file. */
	f[0].name = "py::F:/a/b.py";
	buf_clear(&b);
	assert_int_equal(names_elf_put(&b, f, 3, other), 0);
	assert_memory_not_equal(id, other, NAMES_ELF_ID);
	buf_free(&b);
}

/* More lines than there is room for in what tools hold in 32 bits. */
static void test_too_many(void **state)
{
	struct names_elf_function f[] = { { .n = 1u << 28 }, { .n = 1u << 28 }, { .n = 1u << 28 } };

	(void)state;
	assert_int_equal(names_elf_place(f, 3), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_elf),
		cmocka_unit_test(test_too_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
