// SPDX-License-Identifier: MIT
// btf_names.c: see btf_names.h.
#include "capture/btf_names.h"

#include <string.h>

#include "capture/btf_types.h"

/* Walks the types once, whatever n is. A kind of type that is not known ends the walk without an
 * error, because its length is not known; names that were found until then stay. */
int btf_names(const void *bytes, size_t size, const uint32_t *ids, size_t n, const char **ret)
{
	struct btf_types b;
	struct btf_entry t;
	int r;

	memset(ret, 0, n * sizeof(*ret));
	r = btf_types_of(bytes, size, &b);
	for (uint32_t id = 1; r >= 0 && btf_types_next(&b, &t); id++)
		for (size_t i = 0; i < n; i++)
			if (ids[i] == id && *btf_types_name(&b, t.name))
				ret[i] = btf_types_name(&b, t.name);
	return r;
}
