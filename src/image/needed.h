/* SPDX-License-Identifier: MIT */
/*
 * needed.h: what a program will map besides itself: its interpreter and the libraries that it
 * names, as far as that can be foreseen. A forecast, for getting ready: what the dynamic loader
 * does may differ.
 */
#ifndef SEAM_IMAGE_NEEDED_H
#define SEAM_IMAGE_NEEDED_H

#include "image/image.h"

#define NEEDED_MOST 512 /* objects, the program itself with them */

/*
 * path (of an ELF file or a script) and all that it needs, each once, as resolved paths; each
 * returns < 0 to end. Returns how many, what each returned, or -errno of path itself.
 */
int image_needed(const char *path, int (*each)(void *ctx, const char *path), void *ctx);

#endif
