/* SPDX-License-Identifier: MIT */
/*
 * go_module.h: the description of a program that Go's linker writes for Go's runtime
 * (runtime.moduledata): addresses in a row, which differ from version to version. It is found by
 * its first, that of the table of functions. What it is asked for must prove itself.
 */
#ifndef SEAM_IMAGE_GO_MODULE_H
#define SEAM_IMAGE_GO_MODULE_H

#include "image/image.h"

#define GO_MODULE_WORDS 72u

struct go_module {
	struct image *image;
	uint64_t words[GO_MODULE_WORDS];
	size_t n_words;
	struct image_section data; /* with the functions' own data; bytes NULL: not known */
	uint64_t base;             /* address that offsets of such data count from */
};

/* Finds the description of the module whose table of functions is at that address. words of `word`
 * bytes (4 or 8), in a position-independent program as its relocations say. -ENOENT: there is
 * none. */
int go_module_find(struct go_module *ret, struct image *image, uint64_t table, unsigned word,
                   bool swap);
/*
 * Finds the address that those of functions count from. first and end: where the first function
 * begins and the last ends, counted from there. [code, code_end): where Go's code is. Sets *ret,
 * and *ret_behind: the number of the word behind. -ENOENT.
 */
int go_module_text(const struct go_module *module, uint64_t first, uint64_t end, uint64_t code,
                   uint64_t code_end, uint64_t *ret, size_t *ret_behind);
/* Takes the word with that number for the base of functions' own data. False: it is no address of
 * such data. */
bool go_module_set_data(struct go_module *module, size_t word);
/* size bytes of functions' own data at an offset; NULL: not known. */
const unsigned char *go_module_data(const struct go_module *module, uint64_t offset, size_t size);

#endif
