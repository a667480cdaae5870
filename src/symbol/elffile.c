// SPDX-License-Identifier: MIT
/*
 * elffile.c: the symbols of an ELF object: those of .symtab and .dynsym, of its debug file and of
 * .gnu_debugdata, its PLT entries, and Go's own functions; and the outline of functions that all of
 * these leave without a name. Only symbols in executable sections name code. Data have a table of
 * their own.
 *
 * A key that asks for data has an object and a table of its own, in which variables are, too.
 */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "abi/runtime.h"
#include "image/go_table.h"
#include "symbol/object.h"
#include "symbol/shelf.h"

/* A section whose symbols are wanted: [start, end) in the file's addresses; start == end: not
 * wanted. */
struct code {
	uint64_t start, end;
	bool labels; /* what has no type there is a name all the same */
};

#define GO_NAME 64u /* bytes of a Go function's name, with its package: few are longer */

/* What is wanted of an image: for each section its addresses, if it holds code (or data, where
 * those are wanted). */
struct reading {
	struct table *table;
	struct code *sections;
	size_t n_sections;
	uint32_t only_section; /* ET_REL: .text; else UINT32_MAX */
	bool data;
	/* What is put behind each name: "@plt" for PLT entries. */
	const char *suffix;
};

/* Whether a symbol is a name that people gave, and not a mark of assembler or linker. */
static bool elffile_is_code_name(const char *name)
{
	/* .L...: the assembler's; $x, $d, $a, $t: what kind of bytes follow (ARM, RISC-V) */
	return *name && *name != '$' && *name != '@' && !(name[0] == '.' && name[1] == 'L');
}

/* Puts one symbol into the table if it is what is asked for: code, or data as well. Called by
 * image_each_symbol; 0, or -ENOMEM. */
static int elffile_take(void *ctx, const struct image_symbol *s)
{
	size_t size = s->length;
	struct reading *reading = ctx;
	struct table_symbol symbol = { .start = s->value };
	const struct code *code;
	const char *version;

	/* Thread-local, section and file symbols are none of these. */
	if (s->type != STT_FUNC && s->type != STT_GNU_IFUNC && s->type != STT_NOTYPE &&
	    (s->type != STT_OBJECT || !reading->data))
		return 0;
	if (!s->section || s->section >= reading->n_sections || !elffile_is_code_name(s->name))
		return 0;
	if (reading->only_section != UINT32_MAX && s->section != reading->only_section)
		return 0;
	code = &reading->sections[s->section];
	if (s->value < code->start || s->value >= code->end ||
	    (s->type == STT_NOTYPE && !code->labels))
		return 0;
	/* A size may be wrong: no symbol reaches beyond its section. */
	symbol.end = s->size > code->end - s->value ? code->end : s->value + s->size;
	symbol.limit = code->end;
	symbol.bind = s->bind == STB_LOCAL  ? TABLE_LOCAL
	              : s->bind == STB_WEAK ? TABLE_WEAK
	                                    : TABLE_GLOBAL;
	/* A linker that keeps versions in .symtab writes "exp2f@@GLIBC_2.27"; in an interpreter's
	 * name a "@" is part of it (a converted recording's, "php::class@anonymous::f"). */
	version = memchr(s->name, '@', size);
	if (version && !runtime_of_function(s->name))
		size = (size_t)(version - s->name);
	return table_put(reading->table, &symbol, s->name, size, reading->suffix);
}

/* Whether a section's symbols are wanted. Labels of data count where perf takes them: in sections
 * with "data" in their name. */
static bool elffile_section_is_read(const struct reading *reading,
                                    const struct image_section *section, bool *labels)
{
	*labels = section->flags & SHF_EXECINSTR || strstr(section->name, "data");
	/* A section that wraps round the address space is nobody's. */
	if (section->memory_size > UINT64_MAX - section->vaddr)
		return false;
	if (!reading->data)
		return section->flags & SHF_EXECINSTR;
	return section->flags & SHF_ALLOC && !(section->flags & SHF_TLS);
}

/* Finds the sections whose symbols are wanted. Of an object that is not linked (a kernel module)
 * only .text is read: the addresses of other sections are not known. */
static int elffile_reading_start(struct reading *reading, struct image *image)
{
	struct image_section section;
	bool relocatable = image_is_relocatable(image);
	size_t n = 0;

	while (image_section_at(image, n, &section) == 0)
		n++;
	reading->sections = calloc(n ? n : 1, sizeof(*reading->sections));
	if (!reading->sections)
		return -ENOMEM;
	reading->n_sections = n;
	reading->only_section = UINT32_MAX;
	for (size_t i = 0; i < n; i++) {
		if (image_section_at(image, i, &section) < 0 ||
		    !elffile_section_is_read(reading, &section, &reading->sections[i].labels))
			continue;
		reading->sections[i].start = section.vaddr;
		reading->sections[i].end = section.vaddr + section.memory_size;
		if (relocatable && !strcmp(section.name, ".text"))
			reading->only_section = (uint32_t)i;
	}
	if (relocatable && reading->only_section == UINT32_MAX)
		reading->n_sections = 0; /* no .text: nothing can be placed */
	return 0;
}

/* What the names of n symbols take at once: what is read of the file, the table that is made of it,
 * and a pointer to each while they are put in order. */
static uint64_t elffile_bytes(uint64_t n, uint64_t names)
{
	return n * (sizeof(Elf64_Sym) + sizeof(struct table_symbol) + 2 * sizeof(void *)) +
	       2 * names;
}

/* Whether so much may be read now. */
static bool elffile_may(struct symbol_object *object, const struct image *image, uint64_t bytes)
{
	const struct symbol_opts *o = &object->cache->opts;

	if (o->most_bytes && bytes > o->most_bytes) {
		object_reason(object, SYMBOL_NO_SYMBOLS, "%s: its symbols take too much memory",
		              image_path(image));
		return false;
	}
	if (room_has(&o->room, bytes))
		return true;
	object->no_room = true;
	object_reason(object, SYMBOL_NO_SYMBOLS, "%s: there was no memory for its symbols",
	              image_path(image));
	return false;
}

/* Whether the names of a .symtab, or without it of a .dynsym, take no more memory than they may. */
static bool elffile_has_room(struct symbol_object *object, const struct image *image, unsigned type)
{
	uint64_t n = 0, names = 0;
	struct image_section s, strings;

	for (size_t i = 0; image_section_at(image, i, &s) == 0; i++) {
		if (s.type != type)
			continue;
		n += s.memory_size / sizeof(Elf64_Sym);
		if (image_section_at(image, s.link, &strings) == 0)
			names += strings.memory_size;
	}
	return !n || elffile_may(object, image, elffile_bytes(n, names));
}

/* Takes the symbols of one table: there is room for all from the start, as what grows is moved.
 * 0, -ENOMEM, or that they cannot be read. */
static int elffile_read_symbols(struct reading *reading, struct image *image, unsigned type)
{
	size_t names, n = image_symbols(image, type, &names);

	table_room(reading->table, n, names);
	return image_each_symbol(image, type, elffile_take, reading);
}

/* A damaged or missing table is no failure: another one may have the symbols. plt: also entries of
 * the PLT, which debug files do not have. 0 or -ENOMEM. */
static int elffile_read_image(struct symbol_object *object, struct image *image, bool plt)
{
	struct reading reading = { .table = &object->table,
		                   .data = object->key.data,
		                   .suffix = "" };
	int r = elffile_reading_start(&reading, image);

	if (r == 0 && elffile_has_room(object, image, SHT_SYMTAB))
		r = elffile_read_symbols(&reading, image, SHT_SYMTAB);
	if (r != -ENOMEM && elffile_has_room(object, image, SHT_DYNSYM))
		r = elffile_read_symbols(&reading, image, SHT_DYNSYM);
	reading.suffix = "@plt";
	if (r != -ENOMEM && plt)
		r = image_each_plt(image, elffile_take, &reading);
	free(reading.sections);
	return r == -ENOMEM ? r : 0;
}

/* Puts in the functions that Go's own table names. 0, also if there is no such table; -ENOMEM. */
static int elffile_read_go(struct symbol_object *object, struct image *image)
{
	struct go_table *functions;
	struct go_function f;
	size_t n;
	int r = go_table_open(&functions, image);

	if (r < 0)
		return r == -ENOMEM ? r : 0;
	n = go_table_functions(functions);
	if (!elffile_may(object, image, elffile_bytes(n, n * GO_NAME)))
		n = 0;
	for (size_t i = 0; r >= 0 && i < n; i++) {
		struct table_symbol symbol = { .bind = TABLE_GLOBAL };

		if (!go_table_function(functions, i, &f))
			continue;
		symbol.start = f.start;
		symbol.end = symbol.limit = f.end;
		r = table_put(&object->table, &symbol, f.name, strlen(f.name), "");
	}
	go_table_close(functions);
	return r == -ENOMEM ? r : 0;
}

/* Sets the object's state, and its source: which file the names are from. Only -ENOMEM is a
 * failure; a file without symbols is a state with a reason. */
int elffile_symbols(struct symbol_object *object, struct image *image)
{
	struct symbol_cache *cache = object->cache;
	struct seam_error err = { 0 };
	struct image *more;
	struct image_section symbols;
	bool found_debug = false, refused;
	int r = elffile_read_image(object, image, !cache->opts.no_plt), found = -ENOENT;

	/* A stripped file's symbols may be in its debug file. */
	if (r == 0 && !image_is_debug(image))
		found = image_find_debug(&more, image, &cache->opts.search, &err);
	if (found == -ENOMEM)
		return found;
	refused = found == -EPERM;
	if (found == 0) {
		r = elffile_read_image(object, more, false);
		shelf_note(object, more);
		buf_put_text(&object->source, image_path(more));
		found_debug = true;
		image_close(more);
	}
	/* Or the file holds the names of its functions compressed (.gnu_debugdata). */
	if (r == 0 && !found_debug) {
		buf_put_text(&object->source, image_path(image));
		found = image_open_debugdata(&more, image, NULL);
		if (found == 0) {
			r = elffile_read_image(object, more, false);
			image_close(more);
		} else if (found == -ENOMEM) {
			r = found;
		}
		/* Go's programs name their functions for their runtime, stripped or not. */
		if (r == 0 && image_section(image, ".symtab", &symbols) == -ENOENT)
			r = elffile_read_go(object, image);
	}
	if (r < 0)
		return r;
	if (object->table.n)
		object->state = SYMBOL_NAMED;
	else if (refused)
		object_reason(object, SYMBOL_NO_SYMBOLS, "%s", err.text);
	else
		object_reason(object, SYMBOL_NO_SYMBOLS,
		              "%s: stripped, and no debug file was found", object->path);
	return 0;
}

/* Copies the segments, by which an offset in the file becomes an address. They are needed when the
 * file is long closed. -ENOMEM. */
int elffile_segments(struct symbol_object *object, const struct image *image)
{
	size_t n = image_segments(image);

	object->segments = calloc(n ? n : 1, sizeof(*object->segments));
	if (!object->segments)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		object->segments[i] = *image_segment_at(image, i);
	object->n_segments = n;
	object->terms = OBJECT_OFFSET;
	return 0;
}

/* A file that cannot be found, or is not the recorded one, is no failure: state and reason say so,
 * and the result is 0. */
int elffile_load(struct symbol_object *object)
{
	struct symbol_cache *cache = object->cache;
	struct seam_error err = { 0 };
	struct image *image;
	int r;

	/* Without a build-id nothing tells whether this machine's file is the recorded one. */
	if (cache->opts.foreign && !object->key.build_id.size && !cache->opts.search.root) {
		object_reason(object, SYMBOL_NO_FILE, "%s: recorded elsewhere, without a build-id",
		              object->path);
		return 0;
	}
	r = image_find(&image, object->path, &object->key.build_id, &cache->opts.search, NULL,
	               &err);
	if (r < 0) {
		object_reason(object, r == -ESTALE ? SYMBOL_OTHER_BUILD_ID : SYMBOL_NO_FILE, "%s",
		              err.text);
		return r == -ENOMEM ? r : 0;
	}
	shelf_note(object, image);
	r = elffile_segments(object, image);
	if (r == 0)
		r = elffile_symbols(object, image);
	image_close(image);
	return r;
}

/* Whether there is room for .eh_frame, and for the spans while they are sorted: cc1plus has one for
 * 53 bytes of it, node for 37. */
static bool elffile_outline_has_room(const struct symbol_object *object, struct image *image)
{
	struct image_section s;

	return image_section_beside(image, ".eh_frame", &s) < 0 ||
	       room_has(&object->cache->opts.room, 2 * (uint64_t)s.n);
}

/* The file is opened again for this, because most objects never need it, and it is asked for
 * late. 0, also if the file is gone by now, or there is no memory for it (no_outline): then the
 * outline is empty. */
int elffile_outline(struct symbol_object *object)
{
	struct image *image;
	int r = image_find(&image, object->path, &object->key.build_id, &object->cache->opts.search,
	                   NULL, NULL);

	if (r < 0)
		return r == -ENOMEM ? r : 0;
	object->no_outline = !elffile_outline_has_room(object, image);
	r = object->no_outline ? 0 : outline_read(&object->outline, image);
	image_close(image);
	return r;
}
