// SPDX-License-Identifier: MIT
/*
 * names_elf.c: see names_elf.h. The file is written in one go: what stands in front of the sections
 * (head, program headers, build-id, .text) has sizes that are known beforehand, then each section
 * follows as it is made, then the table of sections.
 *
 * .text holds instructions that do nothing, one for each line, so that perf annotate, objdump -S
 * and the like show the source of the lines that samples hit.
 */
#include "convert/names_elf.h"

#include <dwarf.h>
#include <elf.h>
#include <errno.h>
#include <string.h>

#include "base/blake2.h"

#define TEXT_MAX (1u << 30)
#define PROGRAMS 3u
#define NOTE_AT (sizeof(Elf64_Ehdr) + PROGRAMS * sizeof(Elf64_Phdr))

/* The sections, in their order; .text and the build-id have their places in front. */
enum names_elf_section {
	SECTION_NONE,
	SECTION_NOTE,
	SECTION_TEXT,
	SECTION_SYMBOLS,
	SECTION_STRINGS,
	SECTION_ABBREV,
	SECTION_INFO,
	SECTION_LINE,
	SECTION_RANGES,
	SECTION_NAMES,
	SECTIONS,
};

static const char *const section_names[SECTIONS] = {
	[SECTION_NONE] = "",
	[SECTION_NOTE] = ".note.gnu.build-id",
	[SECTION_TEXT] = ".text",
	[SECTION_SYMBOLS] = ".symtab",
	[SECTION_STRINGS] = ".strtab",
	[SECTION_ABBREV] = ".debug_abbrev",
	[SECTION_INFO] = ".debug_info",
	[SECTION_LINE] = ".debug_line",
	[SECTION_RANGES] = ".debug_aranges",
	[SECTION_NAMES] = ".shstrtab",
};

/* The file while it is made. */
struct names_elf {
	struct buf *out;
	size_t start; /* of the file in out */
	const struct names_elf_function *functions;
	size_t n;
	uint32_t text; /* bytes */
	struct buf scratch;
	Elf64_Shdr sections[SECTIONS];
};

uint32_t names_elf_place(struct names_elf_function *functions, size_t n)
{
	uint64_t at = 0;

	for (size_t i = 0; i < n; i++) {
		functions[i].at = (uint32_t)at;
		at += (functions[i].n * NAMES_ELF_LINE + NAMES_ELF_ALIGN - 1) / NAMES_ELF_ALIGN *
		      NAMES_ELF_ALIGN;
		if (at > TEXT_MAX)
			return 0;
	}
	return (uint32_t)at + NAMES_ELF_ALIGN;
}

/* ---- DWARF's numbers ---- */

static void names_u8(struct buf *b, unsigned v)
{
	const unsigned char byte = (unsigned char)v;

	buf_put(b, &byte, 1);
}

static void names_unsigned(struct buf *b, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		names_u8(b, (unsigned)(v & 0x7f) | 0x80);
	names_u8(b, (unsigned)v);
}

static void names_signed(struct buf *b, int64_t v)
{
	/* The last byte's highest bit but one is the sign. */
	for (; v < -64 || v > 63; v = v >= 0 ? v >> 7 : ~(~v >> 7))
		names_u8(b, (unsigned)(v & 0x7f) | 0x80);
	names_u8(b, (unsigned)(v & 0x7f));
}

static void names_text(struct buf *b, const char *text)
{
	buf_put(b, text, strlen(text) + 1);
}

/* Writes a length of 32 bits at `at`, of what follows it. */
static void names_length(struct buf *b, size_t at)
{
	const uint32_t n = (uint32_t)(b->n - at - 4);

	if (!b->failed)
		memcpy(b->bytes + at, &n, 4);
}

/* ---- sections ---- */

/* Ends a section that began at `start` of the buffer. */
static void names_section(struct names_elf *e, enum names_elf_section which, size_t start,
                          uint32_t type, uint64_t align)
{
	e->sections[which].sh_type = type;
	e->sections[which].sh_offset = start - e->start;
	e->sections[which].sh_size = e->out->n - start;
	e->sections[which].sh_addralign = align;
}

/* Begins a section. */
static size_t names_begin(struct names_elf *e, size_t align)
{
	buf_put_zeros(e->out, (align - (e->out->n - e->start) % align) % align);
	return e->out->n;
}

/* The symbols, and their names in scratch, which become a section of their own. */
static void names_symbols(struct names_elf *e)
{
	size_t start = names_begin(e, 8);

	buf_clear(&e->scratch);
	names_text(&e->scratch, "");
	buf_put_zeros(e->out, sizeof(Elf64_Sym));
	for (size_t i = 0; i < e->n; i++) {
		const struct names_elf_function *f = &e->functions[i];
		const Elf64_Sym symbol = { .st_name = (uint32_t)e->scratch.n,
			                   .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
			                   .st_shndx = SECTION_TEXT,
			                   .st_value = NAMES_ELF_TEXT + f->at,
			                   .st_size = f->n * NAMES_ELF_LINE };

		buf_put(e->out, &symbol, sizeof(symbol));
		names_text(&e->scratch, f->name);
	}
	/* hotspot's perfparser gave the last function no name in a recording, and did with
	 * another symbol behind it: this one is nobody's. */
	const Elf64_Sym last = { .st_name = (uint32_t)e->scratch.n,
		                 .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
		                 .st_shndx = SECTION_TEXT,
		                 .st_value = NAMES_ELF_TEXT + e->text - NAMES_ELF_ALIGN,
		                 .st_size = NAMES_ELF_ALIGN };

	buf_put(e->out, &last, sizeof(last));
	names_text(&e->scratch, "[python]");
	names_section(e, SECTION_SYMBOLS, start, SHT_SYMTAB, 8);
	e->sections[SECTION_SYMBOLS].sh_entsize = sizeof(Elf64_Sym);
	e->sections[SECTION_SYMBOLS].sh_link = SECTION_STRINGS;
	e->sections[SECTION_SYMBOLS].sh_info = 1; /* the first that is not local */
	start = names_begin(e, 1);
	if (!e->scratch.failed)
		buf_put(e->out, e->scratch.bytes, e->scratch.n);
	names_section(e, SECTION_STRINGS, start, SHT_STRTAB, 1);
}

/* Which attributes the unit and its functions have. */
static void names_abbrev(struct names_elf *e)
{
	static const unsigned char bytes[] = {
		1,
		DW_TAG_compile_unit,
		DW_CHILDREN_yes,
		DW_AT_producer,
		DW_FORM_string,
		DW_AT_name,
		DW_FORM_string,
		DW_AT_stmt_list,
		DW_FORM_sec_offset,
		DW_AT_low_pc,
		DW_FORM_addr,
		DW_AT_high_pc,
		DW_FORM_data8,
		0,
		0,
		2,
		DW_TAG_subprogram,
		DW_CHILDREN_no,
		DW_AT_name,
		DW_FORM_string,
		DW_AT_low_pc,
		DW_FORM_addr,
		DW_AT_high_pc,
		DW_FORM_data8,
		DW_AT_decl_file,
		DW_FORM_udata,
		DW_AT_decl_line,
		DW_FORM_udata,
		0,
		0,
		0,
	};
	size_t start = names_begin(e, 1);

	buf_put(e->out, bytes, sizeof(bytes));
	names_section(e, SECTION_ABBREV, start, SHT_PROGBITS, 1);
}

/* One unit, with an entry for each function. Its line is the first of which there is a sample. */
static void names_info(struct names_elf *e)
{
	size_t start = names_begin(e, 1);
	struct buf *b = e->out;

	buf_put_u32(b, 0);
	buf_put_u16(b, 4); /* DWARF 4 */
	buf_put_u32(b, 0); /* in .debug_abbrev */
	names_u8(b, 8);    /* bytes of an address */
	names_unsigned(b, 1);
	names_text(b, "seam");
	names_text(b, "[python]");
	buf_put_u32(b, 0); /* in .debug_line */
	buf_put_u64(b, NAMES_ELF_TEXT);
	buf_put_u64(b, e->text);
	for (size_t i = 0; i < e->n; i++) {
		const struct names_elf_function *f = &e->functions[i];

		names_unsigned(b, 2);
		names_text(b, f->name);
		buf_put_u64(b, NAMES_ELF_TEXT + f->at);
		buf_put_u64(b, f->n * NAMES_ELF_LINE);
		names_unsigned(b, i + 1);
		names_unsigned(b, f->n ? f->lines[0] : 0);
	}
	names_u8(b, 0);
	names_length(b, start);
	names_section(e, SECTION_INFO, start, SHT_PROGBITS, 1);
}

/* The rows of one function, as a sequence of its own. */
static void names_rows(struct buf *b, const struct names_elf_function *f, size_t number)
{
	int64_t line = 1;

	names_u8(b, 0);
	names_unsigned(b, 9);
	names_u8(b, DW_LNE_set_address);
	buf_put_u64(b, NAMES_ELF_TEXT + f->at);
	names_u8(b, DW_LNS_set_file);
	names_unsigned(b, number);
	for (size_t i = 0; i < f->n; i++) {
		names_u8(b, DW_LNS_advance_line);
		names_signed(b, (int64_t)f->lines[i] - line);
		names_u8(b, DW_LNS_copy);
		names_u8(b, DW_LNS_advance_pc);
		names_unsigned(b, NAMES_ELF_LINE);
		line = f->lines[i];
	}
	names_u8(b, 0);
	names_unsigned(b, 1);
	names_u8(b, DW_LNE_end_sequence);
}

/* The line table. Each function has its own number of a file: a path may stand there more than
 * once. */
static void names_lines(struct names_elf *e)
{
	/* How many operands each standard opcode has, as DWARF 4 says. */
	static const unsigned char operands[] = { 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1 };
	size_t start = names_begin(e, 1), header;
	struct buf *b = e->out;

	buf_put_u32(b, 0);
	buf_put_u16(b, 4);
	header = b->n;
	buf_put_u32(b, 0);
	names_u8(b, 1); /* bytes of the shortest instruction */
	names_u8(b, 1); /* operations of one */
	names_u8(b, 1); /* rows are statements */
	names_signed(b, -5);
	names_u8(b, 14);
	names_u8(b, sizeof(operands) + 1);
	buf_put(b, operands, sizeof(operands));
	names_u8(b, 0); /* no directories: paths are whole */
	for (size_t i = 0; i < e->n; i++) {
		names_text(b, e->functions[i].file[0] ? e->functions[i].file : "?");
		buf_put_zeros(b, 3); /* directory, time, size */
	}
	names_u8(b, 0);
	names_length(b, header);
	for (size_t i = 0; i < e->n; i++)
		names_rows(b, &e->functions[i], i + 1);
	names_length(b, start);
	names_section(e, SECTION_LINE, start, SHT_PROGBITS, 1);
}

/* Which addresses the unit has. */
static void names_ranges(struct names_elf *e)
{
	size_t start = names_begin(e, 16);
	struct buf *b = e->out;

	buf_put_u32(b, 0);
	buf_put_u16(b, 2);
	buf_put_u32(b, 0); /* in .debug_info */
	names_u8(b, 8);
	names_u8(b, 0);
	buf_put_zeros(b, 4); /* the pairs are aligned to their size */
	buf_put_u64(b, NAMES_ELF_TEXT);
	buf_put_u64(b, e->text);
	buf_put_zeros(b, 16);
	names_length(b, start);
	names_section(e, SECTION_RANGES, start, SHT_PROGBITS, 16);
}

/* ---- the file ---- */

/* What stands in front of the sections, with room for the head and the build-id, and .text. */
static void names_front(struct names_elf *e)
{
	static const unsigned char nop[NAMES_ELF_LINE] = { 0x66, 0x90 };
	const Elf64_Nhdr note = { .n_namesz = 4,
		                  .n_descsz = NAMES_ELF_ID,
		                  .n_type = NT_GNU_BUILD_ID };
	size_t start;

	buf_put_zeros(e->out, NOTE_AT);
	start = e->out->n;
	buf_put(e->out, &note, sizeof(note));
	buf_put(e->out, "GNU", 4);
	buf_put_zeros(e->out, NAMES_ELF_ID);
	names_section(e, SECTION_NOTE, start, SHT_NOTE, 4);
	e->sections[SECTION_NOTE].sh_flags = SHF_ALLOC;
	e->sections[SECTION_NOTE].sh_addr = NOTE_AT;
	start = names_begin(e, NAMES_ELF_TEXT);
	for (uint32_t i = 0; i < e->text; i += NAMES_ELF_LINE)
		buf_put(e->out, nop, sizeof(nop));
	names_section(e, SECTION_TEXT, start, SHT_PROGBITS, NAMES_ELF_ALIGN);
	e->sections[SECTION_TEXT].sh_flags = SHF_ALLOC | SHF_EXECINSTR;
	e->sections[SECTION_TEXT].sh_addr = NAMES_ELF_TEXT;
}

/* The names of the sections, then their table. */
static uint64_t names_table(struct names_elf *e)
{
	size_t start = names_begin(e, 1), table;

	for (int i = 0; i < SECTIONS; i++) {
		e->sections[i].sh_name = (uint32_t)(e->out->n - start);
		names_text(e->out, section_names[i]);
	}
	names_section(e, SECTION_NAMES, start, SHT_STRTAB, 1);
	table = names_begin(e, 8);
	buf_put(e->out, e->sections, sizeof(e->sections));
	return table - e->start;
}

/* Fills in the head and the program headers, in front. */
static void names_head(struct names_elf *e, uint64_t table)
{
	const Elf64_Ehdr head = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
		             EV_CURRENT },
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(head),
		.e_shoff = table,
		.e_ehsize = sizeof(head),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = PROGRAMS,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = SECTIONS,
		.e_shstrndx = SECTION_NAMES,
	};
	const Elf64_Shdr *note = &e->sections[SECTION_NOTE];
	/* .text has a segment of its own: samply looks for one that lies in the mapping. */
	const Elf64_Phdr programs[PROGRAMS] = {
		{ .p_type = PT_LOAD,
		  .p_flags = PF_R,
		  .p_filesz = NOTE_AT + note->sh_size,
		  .p_memsz = NOTE_AT + note->sh_size,
		  .p_align = NAMES_ELF_TEXT },
		{ .p_type = PT_LOAD,
		  .p_flags = PF_R | PF_X,
		  .p_offset = NAMES_ELF_TEXT,
		  .p_vaddr = NAMES_ELF_TEXT,
		  .p_paddr = NAMES_ELF_TEXT,
		  .p_filesz = e->text,
		  .p_memsz = e->text,
		  .p_align = NAMES_ELF_TEXT },
		{ .p_type = PT_NOTE,
		  .p_flags = PF_R,
		  .p_offset = NOTE_AT,
		  .p_vaddr = NOTE_AT,
		  .p_paddr = NOTE_AT,
		  .p_filesz = note->sh_size,
		  .p_memsz = note->sh_size,
		  .p_align = 4 },
	};

	memcpy(e->out->bytes + e->start, &head, sizeof(head));
	memcpy(e->out->bytes + e->start + sizeof(head), programs, sizeof(programs));
}

/* The build-id is a digest of the file in which it is still zeros. */
static void names_id(struct names_elf *e, unsigned char id[NAMES_ELF_ID])
{
	unsigned char digest[BLAKE2_BYTES];
	struct blake2 blake;

	blake2_start(&blake);
	blake2_add(&blake, e->out->bytes + e->start, e->out->n - e->start);
	blake2_end(&blake, digest);
	memcpy(id, digest, NAMES_ELF_ID);
	memcpy(e->out->bytes + e->start + NOTE_AT + sizeof(Elf64_Nhdr) + 4, id, NAMES_ELF_ID);
}

/* Every offset inside is from the file's beginning, wherever it stands in out. */
int names_elf_put(struct buf *out, const struct names_elf_function *functions, size_t n,
                  unsigned char id[NAMES_ELF_ID])
{
	struct names_elf e = { .out = out, .start = out->n, .functions = functions, .n = n };
	bool failed;

	if (n)
		e.text = functions[n - 1].at +
		         (uint32_t)(functions[n - 1].n * NAMES_ELF_LINE + NAMES_ELF_ALIGN - 1) /
		                 NAMES_ELF_ALIGN * NAMES_ELF_ALIGN;
	e.text += NAMES_ELF_ALIGN; /* of the last symbol */
	names_front(&e);
	names_symbols(&e);
	names_abbrev(&e);
	names_info(&e);
	names_lines(&e);
	names_ranges(&e);
	uint64_t table = names_table(&e);
	failed = out->failed || e.scratch.failed;
	buf_free(&e.scratch);
	if (failed)
		return -ENOMEM;
	names_head(&e, table);
	names_id(&e, id);
	return 0;
}
