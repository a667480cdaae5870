// SPDX-License-Identifier: MIT
// answer.c: see answer.h. Names are libdw's; lines are linetab.c's or, of a table that is not plain, libdw's.
#include "dwarf/answer.h"

#include <errno.h>
#include <string.h>

const char *answer_text(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;

	return dwarf_attr(die, name, &attribute) ? dwarf_formstring(&attribute) : NULL;
}

/* What libdw holds for a row of a line table, and for a file's name; measured, not exact. */
#define ROW_BYTES 56u

static const char *answer_name(Dwarf_Die *die)
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

static bool answer_number(Dwarf_Die *die, unsigned name, Dwarf_Word *ret)
{
	Dwarf_Attribute attribute;

	return dwarf_attr(die, name, &attribute) && dwarf_formudata(&attribute, ret) == 0;
}

/* A file's path, from the root if the directory of the compilation is known. */
static const char *answer_path(struct dwarf *d, struct unit *unit, const char *file)
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

/* A file by its number in a table of linetab.c's. */
static const char *answer_file(struct dwarf *d, struct unit *unit, uint64_t number)
{
	struct linetab_file *file = linetab_file(&unit->linetab, number);
	uint32_t id;

	if (!file || file->path || !file->dir || file->name[0] == '/')
		return !file ? NULL : file->path ? file->path : answer_path(d, unit, file->name);
	buf_clear(&d->path);
	buf_printf(&d->path, "%s/%s", file->dir, file->name);
	id = d->path.failed ? INTERN_FAILED : intern_bytes(&d->paths, d->path.bytes, d->path.n);
	if (id == INTERN_FAILED)
		return file->name;
	file->path = answer_path(d, unit, intern_get(&d->paths, id));
	return file->path;
}

/* The same of libdw's. */
static const char *answer_file_of_libdw(struct dwarf *d, struct unit *unit, uint64_t number)
{
	Dwarf_Files *files;
	size_t n;

	if (dwarf_getsrcfiles(&unit->tree, &files, &n) != 0 || number >= n)
		return NULL;
	return answer_path(d, unit, dwarf_filesrc(files, number, NULL, NULL));
}

/* Where an inlined function was called from. */
static void answer_call(struct dwarf *d, struct unit *unit, Dwarf_Die *call,
                        struct dwarf_frame *ret)
{
	bool own = unit->has_linetab == UNIT_LINETAB_READ && unit->tree.addr == unit->lines.addr;
	Dwarf_Word file, line;

	if (answer_number(call, DW_AT_call_line, &line) && line <= UINT32_MAX)
		ret->line = (uint32_t)line;
	if (answer_number(call, DW_AT_call_file, &file))
		ret->file = own ? answer_file(d, unit, file) : answer_file_of_libdw(d, unit, file);
}

void answer_line(struct dwarf *d, struct unit *unit, uint64_t vaddr, struct dwarf_frame *ret)
{
	const struct linetab_row *row;
	Dwarf_Line *line;
	int number = 0;

	if (unit->has_linetab == UNIT_LINETAB_READ) {
		row = linetab_find(&unit->linetab, vaddr);
		ret->file = row ? answer_file(d, unit, row->file) : NULL;
		number = row ? (int)row->line : 0;
	} else if ((line = dwarf_getsrc_die(&unit->lines, vaddr))) {
		ret->file = answer_path(d, unit, dwarf_linesrc(line, NULL, NULL));
		dwarf_lineno(line, &number);
	}
	if (number > 0)
		ret->line = (uint32_t)number;
}

size_t answer_frames(struct dwarf *d, struct unit *unit, struct unit_function *function,
                     uint64_t vaddr)
{
	uint32_t call = unit_innermost(function, vaddr);
	struct dwarf_frame *f = d->frames;
	size_t depth = 0;
	Dwarf_Die die;

	for (uint32_t c = call; c != UNIT_NONE;
	     c = UNIT_AT(&function->inlines, struct unit_inline, c)->parent)
		depth++;
	if (depth >= FRAMES_MAX)
		return 0;
	memset(f, 0, (depth + 1) * sizeof(*f));
	answer_line(d, unit, vaddr, &f[depth]);
	for (size_t i = depth; i; i--) {
		struct unit_inline *at = UNIT_AT(&function->inlines, struct unit_inline, call);

		call = at->parent;
		if (!unit_die(unit, at->at, &die))
			continue;
		f[i].function = answer_name(&die);
		answer_call(d, unit, &die, &f[i - 1]);
	}
	if (unit_die(unit, function->at, &die))
		f[0].function = answer_name(&die);
	return depth + 1;
}

int answer_linetab(struct dwarf *d, struct unit *unit)
{
	Dwarf_Lines *lines;
	Dwarf_Word at;
	size_t n;
	int r = -ENOTSUP;

	if (unit->has_linetab)
		return 0;
	d->missing_units += unit->split_missing;
	if (d->sections.line.at && answer_number(&unit->lines, DW_AT_stmt_list, &at))
		r = linetab_read(&unit->linetab, &d->sections, at,
		                 answer_text(&unit->lines, DW_AT_comp_dir));
	unit->has_linetab = r < 0 ? UNIT_LINETAB_OF_LIBDW : UNIT_LINETAB_READ;
	d->bytes += unit->linetab.rows.capacity;
	if (r < 0 && r != -ENOMEM && dwarf_getsrclines(&unit->lines, &lines, &n) == 0)
		d->bytes += n * ROW_BYTES;
	return r == -ENOMEM ? r : 0;
}
