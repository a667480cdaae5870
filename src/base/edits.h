/* SPDX-License-Identifier: MIT */
/* edits.h: how alike two names are, to ask who mistyped one which he meant. */
#ifndef SEAM_BASE_EDITS_H
#define SEAM_BASE_EDITS_H

/* Names that are longer are like no other. */
#define EDITS_LONG 64

/* How many edits turn a into b; to swap neighbours is one. */
unsigned edits_between(const char *a, const char *b);
/* From so many edits on, it is another name. */
unsigned edits_most(const char *name);

#endif
