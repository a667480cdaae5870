// SPDX-License-Identifier: MIT
// vdso.c: the ELF object that the kernel maps into every process, taken from this one: it is in no
// file.
#include <stdio.h>
#include <string.h>

#include "image/image.h"

#define VDSO_MAX (1u << 20)

/* Finds it through /proc/self/maps. Its size is limited, because the bytes are handed on without
 * another check. */
int image_own_vdso(const unsigned char **ret, size_t *ret_n)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long long start, end;
	char line[512];
	int found = 0;

	if (!maps)
		return 0;
	while (!found && fgets(line, sizeof(line), maps)) {
		if (!strstr(line, "[vdso]") || sscanf(line, "%llx-%llx", &start, &end) != 2)
			continue;
		found = end > start && end - start <= VDSO_MAX;
	}
	fclose(maps);
	if (found) {
		*ret = (const unsigned char *)(uintptr_t)start;
		*ret_n = (size_t)(end - start);
	}
	return found;
}
