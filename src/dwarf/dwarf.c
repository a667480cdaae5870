// SPDX-License-Identifier: MIT
/*
 * dwarf.c: see dwarf.h. Units are found by the ranges that they state themselves; what is inside
 * one is unit.c's. Does not find files: it is given open ones, but for split units, which libdw
 * opens.
 *
 * libdw does the decoding. What it does at once for a whole file (unpacking sections, reading line
 * tables) is put off or left out here: a browser's debugging information is gigabytes, of which a
 * profile needs some functions.
 *
 * Files are not trusted: depth, numbers of functions and of inlined calls are bounded (unit.h), and
 * a chain that is too deep gives no frames rather than some.
 */
#include "dwarf/dwarf.h"

#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "dwarf/linked.h"
#include "dwarf/unit.h"
#include "image/go_table.h"

/* One for the function, one for each level of calls inlined into it. */
#define FRAMES_MAX (UNIT_DEPTH_MAX + 1)
/* What libdw holds for a row of a line table, and for a file's name; measured, not exact. */
#define ROW_BYTES 56u

struct dwarf {
	struct go_table *go; /* all that there is, if not NULL */
	Dwarf *dw, *alt;
	struct linked linked; /* a module's; dw is of it then */
	struct buf units;     /* struct unit */
	struct buf ranges;    /* struct unit_range */
	size_t bytes;
	uint64_t missing_units;
	struct unit *last;   /* that was asked, or NULL */
	struct intern paths; /* of files that were given relative to where the compiler ran */
	struct buf path;
	struct dwarf_frame frames[FRAMES_MAX];
};

/* One unit: its lines are in the file, its tree of functions perhaps in a split one (.dwo). Where
 * the unit states no ranges, those of its tree are taken. */
static int dwarf_add_unit(struct dwarf *d, Dwarf_Die *lines, Dwarf_Die *split, bool skeleton)
{
	struct unit unit = { .lines = *lines, .tree = *lines };
	uint32_t n = (uint32_t)UNIT_N(&d->units, struct unit);
	size_t before = d->ranges.n;

	if (skeleton && dwarf_tag(split) != DW_TAG_invalid)
		unit.tree = *split;
	else if (skeleton)
		unit.split_missing = true;
	if (unit_put_ranges(lines, n, &d->ranges) < 0)
		return -ENOMEM;
	if (d->ranges.n == before && !unit.split_missing &&
	    unit_put_ranges(&unit.tree, n, &d->ranges) < 0)
		return -ENOMEM;
	return buf_put(&d->units, &unit, sizeof(unit));
}

/* Goes through all units once; nothing inside of them is read. */
static int dwarf_find_units(struct dwarf *d)
{
	Dwarf_Die lines, split;
	Dwarf_CU *unit = NULL;
	Dwarf_Half version;
	uint8_t type;
	int r = 0;

	while (r >= 0 &&
	       dwarf_get_units(d->dw, unit, &unit, &version, &type, &lines, &split) == 0) {
		int tag = dwarf_tag(&lines);

		if (tag == DW_TAG_compile_unit || tag == DW_TAG_skeleton_unit)
			r = dwarf_add_unit(d, &lines, &split, type == DW_UT_skeleton);
	}
	unit_ranges_sort(&d->ranges);
	return r;
}

/* libdw unpacks every section that it knows when it opens a file. What says nothing of lines and
 * functions is shown to it as empty; some of these are the largest. */
static const char *const unread[] = { "loc",          "loclists", "aranges",      "macinfo",
	                              "macro",        "pubnames", "gnu_pubnames", "pubtypes",
	                              "gnu_pubtypes", NULL };

/* Marks sections that are not needed as empty, in libelf's memory only, so that libdw does not
 * unpack them. */
static void dwarf_leave_out(Elf *elf)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names) < 0)
		return;
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		const char *name = gelf_getshdr(section, &header)
		                           ? elf_strptr(elf, names, header.sh_name)
		                           : NULL;

		if (!name || header.sh_type == SHT_NOBITS || strncmp(name, ".debug_", 7))
			continue;
		for (size_t i = 0; unread[i]; i++) {
			if (!strcmp(name + 7, unread[i])) {
				header.sh_type = SHT_NOBITS;
				gelf_update_shdr(section, &header);
			}
		}
	}
}

static bool dwarf_is_unpacked(struct image *image, struct image *alt)
{
	return (!image_is_relocatable(image) && image_unpacked(image, unread)) ||
	       (alt && image_unpacked(alt, unread));
}

/* Opens libdw's handle on a linked image: on its unpacked sections, or on the file itself. */
static Dwarf *dwarf_handle(struct image *image, bool unpacked)
{
	Elf *elf = unpacked ? image_unpacked(image, unread) : NULL;

	if (!elf) {
		elf = image_elf(image);
		dwarf_leave_out(elf);
	}
	return dwarf_begin_elf(elf, DWARF_C_READ, NULL);
}

/* Opens libdw on the image. -ENOENT: there is no debugging information in it. */
static int dwarf_start(struct dwarf *d, struct image *image, struct image *alt, bool unpacked)
{
	int r;

	if (!image_is_relocatable(image))
		d->dw = dwarf_handle(image, unpacked);
	else if (linked_open(&d->linked, image) == 0)
		d->dw = d->linked.dw;
	if (d->dw && alt)
		d->alt = dwarf_handle(alt, unpacked);
	if (d->alt)
		dwarf_setalt(d->dw, d->alt);
	r = d->dw ? dwarf_find_units(d) : -ENOENT;
	return r >= 0 && !d->ranges.n ? -ENOENT : r;
}

/* Whether the file itself must be opened instead of its unpacked sections. libdw looks for split
 * units from where the file is, and unpacked sections are nowhere; and libelf may be able to unpack
 * what seam is not. */
static bool dwarf_wants_file(const struct dwarf *d, int r)
{
	if (r < 0)
		return r != -ENOMEM;
	for (size_t i = 0; i < UNIT_N(&d->units, struct unit); i++)
		if (UNIT_AT(&d->units, struct unit, i)->split_missing)
			return true;
	return false;
}

/* Tries the unpacked copy of the sections first, because it is faster, and the file itself if that
 * is not enough for libdw. A program of Go without any has its runtime's table of functions. */
int dwarf_open(struct dwarf **ret, struct image *image, struct image *alt, struct seam_error *err)
{
	struct dwarf *d = NULL;
	int r = -ENOENT;

	for (int unpacked = 1; unpacked >= 0; unpacked--) {
		d = calloc(1, sizeof(*d));
		if (!d)
			return -ENOMEM;
		r = dwarf_start(d, image, alt, unpacked);
		if (!unpacked || !dwarf_is_unpacked(image, alt) || !dwarf_wants_file(d, r))
			break;
		dwarf_close(d);
	}
	if (r < 0 && r != -ENOMEM && go_table_open(&d->go, image) >= 0)
		r = 0;
	if (r < 0) {
		dwarf_close(d);
		return seam_error_set(err, -r, image_path(image), SEAM_NO_OFFSET, NULL,
		                      "no debugging information");
	}
	*ret = d;
	return 0;
}

/* Units, handles of libdw, and what names were made of. */
void dwarf_close(struct dwarf *d)
{
	if (!d)
		return;
	go_table_close(d->go);
	for (size_t i = 0; i < UNIT_N(&d->units, struct unit); i++)
		unit_free(UNIT_AT(&d->units, struct unit, i));
	buf_free(&d->units);
	buf_free(&d->ranges);
	buf_free(&d->path);
	intern_free(&d->paths);
	/* A module's handle is libdwfl's, and ends with it. */
	if (d->linked.dwfl)
		linked_close(&d->linked);
	else
		dwarf_end(d->dw);
	dwarf_end(d->alt);
	free(d);
}

/* NULL: the attribute is not there, or is no text. */
static const char *dwarf_text(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;

	return dwarf_attr(die, name, &attribute) ? dwarf_formstring(&attribute) : NULL;
}

static const char *dwarf_split_name(Dwarf_Die *die)
{
	const char *name = dwarf_text(die, DW_AT_dwo_name);

	return name ? name : dwarf_text(die, DW_AT_GNU_dwo_name);
}

/* For packing: which split files an archive must hold. name may be relative to dir. */
int dwarf_each_split(struct dwarf *d, int (*each)(void *ctx, const char *name, const char *dir),
                     void *ctx)
{
	int r = 0;

	for (size_t i = 0; i < UNIT_N(&d->units, struct unit) && r >= 0; i++) {
		Dwarf_Die *die = &UNIT_AT(&d->units, struct unit, i)->lines;
		const char *name = dwarf_split_name(die), *dir;

		dir = name ? dwarf_text(die, DW_AT_comp_dir) : NULL;
		if (name)
			r = each(ctx, name, dir ? dir : "");
	}
	return r < 0 ? r : 0;
}

size_t dwarf_bytes(const struct dwarf *d)
{
	return d->bytes;
}

uint64_t dwarf_missing_units(const struct dwarf *d)
{
	return d->missing_units;
}

const char *dwarf_missing_file(const struct dwarf *d)
{
	return d->last && d->last->split_missing ? dwarf_split_name(&d->last->lines) : NULL;
}

/* The linkage name first: it is what symbols are named by. */
static const char *dwarf_name(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	const char *name = NULL;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) ||
	    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute))
		name = dwarf_formstring(&attribute);
	if (!name && dwarf_attr_integrate(die, DW_AT_name, &attribute))
		name = dwarf_formstring(&attribute);
	return name;
}

/* An unsigned constant of any form. */
static bool dwarf_number(Dwarf_Die *die, unsigned name, Dwarf_Word *ret)
{
	Dwarf_Attribute attribute;

	return dwarf_attr(die, name, &attribute) && dwarf_formudata(&attribute, ret) == 0;
}

/* A file's path, from the root if the directory of the compilation is known. */
static const char *dwarf_path(struct dwarf *d, struct unit *unit, const char *file)
{
	Dwarf_Attribute attribute;
	const char *dir = NULL;
	uint32_t id;

	if (!file || file[0] == '/')
		return file;
	if (dwarf_attr(&unit->lines, DW_AT_comp_dir, &attribute))
		dir = dwarf_formstring(&attribute);
	if (!dir)
		return file;
	buf_clear(&d->path);
	buf_printf(&d->path, "%s/%s", dir, file);
	id = d->path.failed ? INTERN_FAILED : intern_bytes(&d->paths, d->path.bytes, d->path.n);
	return id == INTERN_FAILED ? file : intern_get(&d->paths, id);
}

/* Where an inlined function was called from. The number of the file counts in the unit that holds
 * the tree: in a split one that is not the unit of the lines. */
static void dwarf_call(struct dwarf *d, struct unit *unit, Dwarf_Die *call, struct dwarf_frame *ret)
{
	Dwarf_Word file, line;
	Dwarf_Files *files;
	size_t n;

	if (dwarf_number(call, DW_AT_call_line, &line) && line <= UINT32_MAX)
		ret->line = (uint32_t)line;
	if (dwarf_number(call, DW_AT_call_file, &file) &&
	    dwarf_getsrcfiles(&unit->tree, &files, &n) == 0 && file < n)
		ret->file = dwarf_path(d, unit, dwarf_filesrc(files, file, NULL, NULL));
}

/* The file and line of an address by the line table; what is not known stays as it was. */
static void dwarf_line(struct dwarf *d, struct unit *unit, uint64_t vaddr, struct dwarf_frame *ret)
{
	Dwarf_Line *line = dwarf_getsrc_die(&unit->lines, vaddr);
	int number;

	if (!line)
		return;
	ret->file = dwarf_path(d, unit, dwarf_linesrc(line, NULL, NULL));
	if (dwarf_lineno(line, &number) == 0 && number > 0)
		ret->line = (uint32_t)number;
}

/* The frames at an address of a function, outermost first; their number. */
static size_t dwarf_frames(struct dwarf *d, struct unit *unit, struct unit_function *function,
                           uint64_t vaddr)
{
	uint32_t call = unit_innermost(function, vaddr);
	struct dwarf_frame *f = d->frames;
	size_t depth = 0;

	/* From the innermost call outwards: their number, then the frames from the inside. */
	for (uint32_t c = call; c != UNIT_NONE;
	     c = UNIT_AT(&function->inlines, struct unit_inline, c)->parent)
		depth++;
	if (depth >= FRAMES_MAX)
		return 0;
	memset(f, 0, (depth + 1) * sizeof(*f));
	dwarf_line(d, unit, vaddr, &f[depth]);
	for (size_t i = depth; i; i--) {
		struct unit_inline *at = UNIT_AT(&function->inlines, struct unit_inline, call);

		f[i].function = dwarf_name(&at->die);
		dwarf_call(d, unit, &at->die, &f[i - 1]);
		call = at->parent;
	}
	f[0].function = dwarf_name(&function->die);
	return depth + 1;
}

/* Adds the memory that a unit will take to the count, once per unit. */
static void dwarf_weigh(struct dwarf *d, struct unit *unit)
{
	Dwarf_Lines *lines;
	size_t n;

	/* walked 0: this is the first address in the unit. */
	if (unit->walked)
		return;
	d->missing_units += unit->split_missing;
	if (dwarf_getsrclines(&unit->lines, &lines, &n) == 0)
		d->bytes += n * ROW_BYTES;
}

/* What Go's table says of an address. 1, or 0: nothing. */
static int dwarf_find_go(struct dwarf *d, uint64_t vaddr, size_t *ret_n)
{
	struct go_line lines[GO_LINES_MAX];

	_Static_assert(GO_LINES_MAX <= FRAMES_MAX, "an answer of Go's table fits");
	*ret_n = go_table_lines(d->go, vaddr, lines);
	for (size_t i = 0; i < *ret_n; i++)
		d->frames[i] = (struct dwarf_frame){ .function = lines[i].function,
			                             .file = lines[i].file,
			                             .line = lines[i].line };
	return *ret_n != 0;
}

/* Reads a unit, and a function's inlined calls, only when the first address in them is asked for.
 * Where there is a line but no function (assembler), one frame without a name is given. */
int dwarf_find(struct dwarf *d, uint64_t at, const struct dwarf_frame **ret, size_t *ret_n)
{
	/* A module's addresses count from its .text; linked_open has laid that out elsewhere. */
	uint64_t vaddr = at + d->linked.text;
	const struct unit_range *range = unit_range_find(&d->ranges, vaddr);
	struct unit_function *function = NULL;
	struct unit *unit;
	size_t before;
	int r;

	*ret = d->frames;
	*ret_n = 0;
	d->last = NULL;
	if (d->go)
		return dwarf_find_go(d, at, ret_n);
	if (!range)
		return 0;
	unit = UNIT_AT(&d->units, struct unit, range->of);
	d->last = unit;
	dwarf_weigh(d, unit);
	before = unit->functions.capacity + unit->ranges.capacity;
	r = unit_function_find(unit, vaddr, &function);
	d->bytes += unit->functions.capacity + unit->ranges.capacity - before;
	if (r < 0)
		return r;
	if (r > 0) {
		*ret_n = dwarf_frames(d, unit, function, vaddr);
	} else { /* a line without a function: assembler */
		d->frames[0] = (struct dwarf_frame){ 0 };
		dwarf_line(d, unit, vaddr, &d->frames[0]);
		*ret_n = d->frames[0].file != NULL;
	}
	return *ret_n != 0;
}
