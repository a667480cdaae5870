/* SPDX-License-Identifier: MIT */
/*
 * shelf.h: the names of files that outlive the cache they were read for (symbol_shelf_new), for
 * object_load.c alone. What is on the shelf does not change; objects that use it count.
 */
#ifndef SEAM_SYMBOL_SHELF_H
#define SEAM_SYMBOL_SHELF_H

#include "symbol/object.h"

/* Whether the names of this object may be shared: it is a file with a build-id, found here. */
bool shelf_fits(const struct symbol_object *object);
/* Notes one of the files that the object's names are read from. */
void shelf_note(struct symbol_object *object, const struct image *image);
/* Fills the object from the shelf, if it is there and its files are what they were. */
bool shelf_take(struct symbol_object *object);
/* After a shelf_take that found nothing. loaded: puts the names of the object there; they are the
 * shelf's then, and the object uses them. Where they do not fit they stay the object's. */
void shelf_put(struct symbol_object *object, bool loaded);
/* Fills the outline of an object that is on the shelf; read is asked for it once for all. 0, or
 * -ENOMEM. */
int shelf_outline(struct symbol_object *object, int (*read)(struct symbol_object *object));
/* The object uses them no more. */
void shelf_leave(struct symbol_object *object);

#endif
