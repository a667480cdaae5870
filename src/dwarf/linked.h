/* SPDX-License-Identifier: MIT */
/*
 * linked.h: debugging information of an object that was not linked (ET_REL: a kernel module), with
 * its sections laid out and its references filled in by libdwfl.
 */
#ifndef SEAM_DWARF_LINKED_H
#define SEAM_DWARF_LINKED_H

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

#include "image/image.h"

struct linked {
	Dwfl *dwfl;
	Dwarf *dw;     /* dwfl's own */
	uint64_t text; /* where .text begins in dw's addresses */
};

/* -ENOENT: no information, or no .text. -EFBIG, -ENOMEM. image may be closed afterwards. */
int linked_open(struct linked *ret, struct image *image);
void linked_close(struct linked *l);

#endif
