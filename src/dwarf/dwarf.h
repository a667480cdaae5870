/* SPDX-License-Identifier: MIT */
/*
 * dwarf.h: debugging information of one object: the source line of an address, and the calls that
 * were inlined there.
 *
 * Invariant: the functions of an answer are nested in the information itself; what is damaged there
 * gives a shorter answer, never an invented one. A handle is one thread's. Several handles of one
 * image share its sections: open and close them one at a time, use them side by side.
 */
#ifndef SEAM_DWARF_DWARF_H
#define SEAM_DWARF_DWARF_H

#include "image/image.h"

struct dwarf;

/*
 * The information in image (which must stay open), found with libdw. alt: the file that dwz moved
 * common parts into (image_find_alt), or NULL. A kernel module is linked here, in a copy. Where a
 * program of Go has none, the table that its runtime has of its functions is taken. -ENOENT: it has
 * none. -EBADMSG, -ENOMEM.
 */
int dwarf_open(struct dwarf **ret, struct image *image, struct image *alt, struct seam_error *err);
void dwarf_close(struct dwarf *d);

struct dwarf_frame {
	const char *function; /* mangled if it has such a name; NULL: not known */
	const char *file;     /* NULL: not known */
	uint32_t line;        /* of the code, or of the call to the next frame; 0: not known */
};

/*
 * The functions at an address of the object's own numbering (a module's: from the begin of .text):
 * [0] has the code, each after that was inlined into the one before. 1; 0: nothing is known of the
 * address. -ENOMEM. *ret and its texts live until the next call.
 */
int dwarf_find(struct dwarf *d, uint64_t vaddr, const struct dwarf_frame **ret, size_t *ret_n);

/* Calls each for every unit whose functions are in a file of their own (split DWARF), with the name
 * of that (.dwo) and the directory that it counts from ("" if none is given). Stops when it returns
 * negative, and returns that. */
int dwarf_each_split(struct dwarf *d, int (*each)(void *ctx, const char *name, const char *dir),
                     void *ctx);

/* An estimate of the bytes that the handle has read into memory: it grows with the units looked
 * into, and only closing frees them. */
size_t dwarf_bytes(const struct dwarf *d);
/* The separate file (.dwo) that was not found and may have more of what dwarf_find was asked last;
 * NULL: none. Lives as long as d. */
const char *dwarf_missing_file(const struct dwarf *d);
/* Units whose separate file (.dwo) could not be found, of those looked into. */
uint64_t dwarf_missing_units(const struct dwarf *d);

#endif
