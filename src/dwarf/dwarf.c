// SPDX-License-Identifier: MIT
// dwarf.c: see dwarf.h. Units are found by the ranges that they state themselves; what is inside one is
// unit.c's. Does not find files: it is given open ones, but for split units, which libdw opens.
#include "dwarf/dwarf.h"

#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf/answer.h"

static int dwarf_add_unit(struct dwarf *d, Dwarf_Die *lines, Dwarf_Die *split, bool skeleton)
{
	struct unit_listed listed = { .unit = calloc(1, sizeof(*listed.unit)) };
	uint32_t n = (uint32_t)UNIT_N(&d->units, struct unit_listed);
	struct unit *unit = listed.unit;
	size_t before = d->ranges.n;

	if (!unit || buf_put(&d->units, &listed, sizeof(listed)) < 0) {
		free(unit);
		return -ENOMEM;
	}
	unit->lines = unit->tree = *lines;
	if (skeleton && dwarf_tag(split) != DW_TAG_invalid)
		unit->tree = *split;
	else if (skeleton)
		unit->split_missing = true;
	if (unit_put_ranges(lines, n, &d->ranges) < 0)
		return -ENOMEM;
	if (d->ranges.n == before && !unit->split_missing)
		return unit_put_ranges(&unit->tree, n, &d->ranges);
	return 0;
}

static int dwarf_find_units_by_libdw(struct dwarf *d)
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
	return r;
}

static int dwarf_find_units(struct dwarf *d)
{
	int r = d->sections.info.at ? units_list(&d->sections, &d->units, &d->ranges) : -ENOTSUP;

	if (r == -ENOTSUP) {
		buf_clear(&d->units);
		buf_clear(&d->ranges);
		r = dwarf_find_units_by_libdw(d);
	}
	unit_ranges_sort(&d->ranges);
	return r;
}

/* A unit that is listed, for questions: 1; 0: libdw makes nothing of it. -ENOMEM. */
static int dwarf_unit(struct dwarf *d, uint32_t i, struct unit **ret)
{
	struct unit_listed *listed = UNIT_AT(&d->units, struct unit_listed, i);
	struct unit *unit = listed->unit;

	if (!unit) {
		unit = calloc(1, sizeof(*unit));
		if (!unit)
			return -ENOMEM;
		if (!dwarf_offdie(d->dw, listed->place.at, &unit->lines)) {
			free(unit);
			return 0;
		}
		unit->tree = unit->lines;
		unit->bytes = &d->sections;
		unit->place = listed->place;
		listed->unit = unit;
	}
	*ret = unit;
	return 1;
}

/* libdw unpacks every section that it knows when it opens a file. What says nothing of lines and functions is shown to
 * it as empty; some of these are the largest. */
static const char *const unread[] = { "loc",          "loclists", "aranges",      "macinfo",
	                              "macro",        "pubnames", "gnu_pubnames", "pubtypes",
	                              "gnu_pubtypes", NULL };

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

/* libdw's handle on an image that was linked. */
static Dwarf *dwarf_handle(struct image *image, bool unpacked)
{
	Elf *elf = unpacked ? image_unpacked(image, unread) : NULL;

	if (!elf) {
		elf = image_elf(image);
		dwarf_leave_out(elf);
	}
	return dwarf_begin_elf(elf, DWARF_C_READ, NULL);
}

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
	if (d->dw && !d->linked.dwfl)
		sections_of(&d->sections, d->dw);
	r = d->dw ? dwarf_find_units(d) : -ENOENT;
	return r >= 0 && !d->ranges.n ? -ENOENT : r;
}

/* libdw looks for split units from where the file is, which an unpacked one does not know; and libelf may unpack what
 * seam does not. */
static bool dwarf_wants_file(const struct dwarf *d, int r)
{
	if (r < 0)
		return r != -ENOMEM;
	for (size_t i = 0; i < UNIT_N(&d->units, struct unit_listed); i++) {
		const struct unit *unit = UNIT_AT(&d->units, struct unit_listed, i)->unit;

		if (unit && unit->split_missing)
			return true;
	}
	return false;
}

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
	if (r < 0) {
		dwarf_close(d);
		return seam_error_set(err, -r, image_path(image), SEAM_NO_OFFSET, NULL,
		                      "no debugging information");
	}
	*ret = d;
	return 0;
}

void dwarf_close(struct dwarf *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < UNIT_N(&d->units, struct unit_listed); i++)
		unit_free(UNIT_AT(&d->units, struct unit_listed, i)->unit);
	buf_free(&d->units);
	buf_free(&d->ranges);
	buf_free(&d->path);
	intern_free(&d->paths);
	if (d->linked.dwfl)
		linked_close(&d->linked);
	else
		dwarf_end(d->dw);
	dwarf_end(d->alt);
	free(d);
}

static const char *dwarf_split_name(Dwarf_Die *die)
{
	const char *name = answer_text(die, DW_AT_dwo_name);

	return name ? name : answer_text(die, DW_AT_GNU_dwo_name);
}

int dwarf_each_split(struct dwarf *d, int (*each)(void *ctx, const char *name, const char *dir),
                     void *ctx)
{
	int r = 0;

	for (size_t i = 0; i < UNIT_N(&d->units, struct unit_listed) && r >= 0; i++) {
		struct unit *unit = UNIT_AT(&d->units, struct unit_listed, i)->unit;
		Dwarf_Die *die =
		        unit ? &unit->lines : NULL; /* one that only bytes list is not split */
		const char *name = die ? dwarf_split_name(die) : NULL, *dir;

		dir = name ? answer_text(die, DW_AT_comp_dir) : NULL;
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

int dwarf_find(struct dwarf *d, uint64_t at, const struct dwarf_frame **ret, size_t *ret_n)
{
	uint64_t vaddr = at + d->linked.text;
	const struct unit_range *range = unit_range_find(&d->ranges, vaddr);
	struct unit_function *function = NULL;
	struct unit *unit;
	size_t before;
	int r;

	*ret = d->frames;
	*ret_n = 0;
	d->last = NULL;
	if (!range)
		return 0;
	r = dwarf_unit(d, range->of, &unit);
	if (r <= 0)
		return r;
	d->last = unit;
	before = unit->functions.capacity + unit->ranges.capacity;
	r = answer_linetab(d, unit);
	if (r >= 0)
		r = unit_function_find(unit, vaddr, &function);
	d->bytes += unit->functions.capacity + unit->ranges.capacity - before;
	if (r < 0)
		return r;
	if (r > 0) {
		*ret_n = answer_frames(d, unit, function, vaddr);
	} else { /* a line without a function: assembler */
		d->frames[0] = (struct dwarf_frame){ 0 };
		answer_line(d, unit, vaddr, &d->frames[0]);
		*ret_n = d->frames[0].file != NULL;
	}
	return *ret_n != 0;
}
