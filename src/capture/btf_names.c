// SPDX-License-Identifier: MIT
// btf_names.c: see btf_names.h. Types stand one behind the other, and the kind of each says how
// long it is. So a kind that is not known ends the walk.
#include "capture/btf_names.h"

#include <errno.h>
#include <linux/btf.h>
#include <string.h>

#include "base/cursor.h"

#define KIND_ENUM64 19 /* BTF_KIND_ENUM64, Linux 6.0 */

/* Bytes behind the common part of a type; -1: not known. */
static int64_t btf_rest(uint32_t info)
{
	uint32_t n = BTF_INFO_VLEN(info);

	switch (info >> 24 & 0x1f) {
	case 1:  /* INT */
	case 14: /* VAR */
	case 17: /* DECL_TAG */
		return 4;
	case 3: /* ARRAY */
		return 12;
	case 4:  /* STRUCT */
	case 5:  /* UNION */
	case 15: /* DATASEC */
	case KIND_ENUM64:
		return (int64_t)n * 12;
	case 6:  /* ENUM */
	case 13: /* FUNC_PROTO */
		return (int64_t)n * 8;
	case 2:  /* PTR */
	case 7:  /* FWD */
	case 8:  /* TYPEDEF */
	case 9:  /* VOLATILE */
	case 10: /* CONST */
	case 11: /* RESTRICT */
	case 12: /* FUNC */
	case 16: /* FLOAT */
	case 18: /* TYPE_TAG */
		return 0;
	default:
		return -1;
	}
}

static const char *btf_string(const struct cursor *strings, uint32_t at)
{
	struct cursor c = *strings;
	const char *name = cursor_bytes(&c, at) ? cursor_string(&c) : NULL;

	return name && *name ? name : NULL;
}

/* Walks the types once, whatever n is. A kind of type that is not known ends the walk without an
 * error, because its length is not known; names that were found until then stay. */
int btf_names(const void *bytes, size_t size, const uint32_t *ids, size_t n, const char **ret)
{
	struct cursor c = cursor_of(bytes, size, false), types, strings;
	uint32_t magic_version = cursor_u32(&c), head = cursor_u32(&c);
	uint32_t type_at = cursor_u32(&c), type_size = cursor_u32(&c);
	uint32_t string_at = cursor_u32(&c), string_size = cursor_u32(&c);

	memset(ret, 0, n * sizeof(*ret));
	if (c.failed || (magic_version & 0xffff) != BTF_MAGIC || head > size ||
	    type_at > size - head || type_size > size - head - type_at || string_at > size - head ||
	    string_size > size - head - string_at)
		return -EBADMSG;
	types = cursor_of((const unsigned char *)bytes + head + type_at, type_size, false);
	strings = cursor_of((const unsigned char *)bytes + head + string_at, string_size, false);
	for (uint32_t id = 1; cursor_left(&types); id++) {
		uint32_t name = cursor_u32(&types), info = cursor_u32(&types);
		int64_t rest = btf_rest(info);

		cursor_u32(&types); /* size or type */
		if (rest < 0 || (rest && !cursor_bytes(&types, (size_t)rest)) || types.failed)
			return 0;
		for (size_t i = 0; i < n; i++)
			if (ids[i] == id)
				ret[i] = btf_string(&strings, name);
	}
	return 0;
}
