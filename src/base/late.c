// SPDX-License-Identifier: MIT
// late.c: see late.h. Who calls it sees to it that it is called once.
#include "base/late.h"

#include <dlfcn.h>
#include <string.h>

bool late_load(const char *soname, const struct late_symbol *symbols, size_t n)
{
	void *library = dlopen(soname, RTLD_NOW | RTLD_LOCAL);

	for (size_t i = 0; i < n && library; i++) {
		void *at = dlsym(library, symbols[i].name);

		if (!at)
			return false;
		memcpy(symbols[i].to, &at, sizeof(at));
	}
	return library;
}
