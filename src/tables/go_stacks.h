/* SPDX-License-Identifier: MIT */
/*
 * go_stacks.h: where Go's runtime goes from one stack to another. Its functions for that exchange
 * the stack pointer, and their unwind information does not say so: behind that it takes a word of
 * the other stack for a return address. No return address is there, and where the first stack was
 * left stands in the runtime's own data, at offsets that are each version's. Those that read the
 * clock come back, and keep a frame pointer meanwhile: by it their callers are found.
 *
 * Knows the functions' names and the instructions that write the stack pointer. x86_64 only.
 */
#ifndef SEAM_TABLES_GO_STACKS_H
#define SEAM_TABLES_GO_STACKS_H

#include "image/image.h"
#include "unwind/compile.h"

/* Fills in->switches and in->pieces of an object: none if it is not Go's. */
void go_stacks_find(struct image *image, const struct image_section *text,
                    struct compile_input *in);

#endif
