/* SPDX-License-Identifier: MIT */
/* answer.h: the inside of a handle, and what it says of an address once its unit and function are found. */
#ifndef SEAM_DWARF_ANSWER_H
#define SEAM_DWARF_ANSWER_H

#include "base/intern.h"
#include "dwarf/linked.h"
#include "dwarf/unit.h"

#define FRAMES_MAX (UNIT_DEPTH_MAX + 1)
struct dwarf {
	Dwarf *dw, *alt;
	struct linked linked;     /* a module's; dw is of it then */
	struct sections sections; /* dw's; a module's are left to libdw */
	struct buf units;         /* struct unit */
	struct buf ranges;        /* struct unit_range */
	size_t bytes;
	uint64_t missing_units;
	struct unit *last;   /* that was asked, or NULL */
	struct intern paths; /* of files that were given relative to where the compiler ran */
	struct buf path;
	struct dwarf_frame frames[FRAMES_MAX];
};

/* An attribute that is a text, or NULL. */
const char *answer_text(Dwarf_Die *die, unsigned name);
/* Reads the line table of a unit, once, and counts what it holds. -ENOMEM. */
int answer_linetab(struct dwarf *d, struct unit *unit);
/* The file and line of the code at an address. */
void answer_line(struct dwarf *d, struct unit *unit, uint64_t vaddr, struct dwarf_frame *ret);
/* The frames at an address of a function into d->frames, outermost first; their number. */
size_t answer_frames(struct dwarf *d, struct unit *unit, struct unit_function *function,
                     uint64_t vaddr);

#endif
