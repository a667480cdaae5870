// SPDX-License-Identifier: MIT
// dwarf_truth.c: prints what dwarf/ knows of the addresses on standard input, in the form of
// addr2line -afi, for dwarf_truth.py. Arguments: the object; -d DIR: a debug directory.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf/dwarf.h"

static void print(uint64_t vaddr, const struct dwarf_frame *frames, size_t n)
{
	printf("0x%llx\n", (unsigned long long)vaddr);
	for (size_t i = n; i; i--)
		printf("%s\n%s:%u\n", frames[i - 1].function ? frames[i - 1].function : "??",
		       frames[i - 1].file ? frames[i - 1].file : "??", frames[i - 1].line);
	if (!n)
		printf("??\n??:0\n");
}

int main(int argc, char **argv)
{
	const char *dirs[] = { argc > 3 ? argv[3] : "/nonexistent", NULL };
	struct image_search search = { .sz = sizeof(search), .debug_dirs = dirs };
	struct image *image, *debug = NULL, *alt = NULL;
	const struct dwarf_frame *frames;
	struct seam_error err = { 0 };
	struct dwarf *d;
	char line[64];
	size_t n;

	if (argc < 2 || image_open(&image, argv[1], &err) < 0 ||
	    image_find_debug(&debug, image, &search, NULL) == -ENOMEM) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	image_find_alt(&alt, debug ? debug : image, &search, NULL);
	if (dwarf_open(&d, debug ? debug : image, alt, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	while (fgets(line, sizeof(line), stdin)) {
		uint64_t vaddr = strtoull(line, NULL, 16);

		if (dwarf_find(d, vaddr, &frames, &n) < 0)
			return 1;
		print(vaddr, frames, n);
	}
	dwarf_close(d);
	image_close(alt);
	image_close(debug);
	image_close(image);
	return 0;
}
