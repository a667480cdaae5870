/* SPDX-License-Identifier: MIT */
/*
 * crt_code.h: code that the compiler puts into each object that is linked, and of which its unwind
 * information says nothing: _init and _fini (crti.o, crtn.o), and what runs before the object's
 * constructors and behind its destructors (crtbegin.o: frame_dummy, register_tm_clones,
 * deregister_tm_clones, __do_global_dtors_aux). It is the first of a library that runs, so that
 * samples are taken there while its pages are brought in.
 *
 * Knows these functions' instructions. x86_64 only.
 */
#ifndef SEAM_TABLES_CRT_CODE_H
#define SEAM_TABLES_CRT_CODE_H

#include "image/image.h"
#include "unwind/compile.h"

/* Adds to in->pieces those of these functions that the object has as they are known. */
void crt_code_find(struct image *image, const struct image_section *text, struct compile_input *in);

#endif
