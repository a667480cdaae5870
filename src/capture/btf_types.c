// SPDX-License-Identifier: MIT
// btf_types.c: see btf_types.h. Types stand one behind the other, and the kind of each says how
// long it is. So a kind that is not known ends the walk.
#include "capture/btf_types.h"

#include <errno.h>
#include <linux/btf.h>

/* Bytes behind the common part of a type; -1: not known. */
static int64_t btf_more(const struct btf_entry *t)
{
	uint32_t n = btf_entry_n(t);

	switch (btf_entry_kind(t)) {
	case KIND_INT:
	case KIND_VAR:
	case KIND_DECL_TAG:
		return 4;
	case KIND_ARRAY:
		return 12;
	case KIND_STRUCT:
	case KIND_UNION:
	case KIND_DATASEC:
	case KIND_ENUM64:
		return (int64_t)n * 12;
	case KIND_ENUM:
	case KIND_FUNC_PROTO:
		return (int64_t)n * 8;
	case KIND_PTR:
	case KIND_FWD:
	case KIND_TYPEDEF:
	case KIND_VOLATILE:
	case KIND_CONST:
	case KIND_RESTRICT:
	case KIND_FUNC:
	case KIND_FLOAT:
	case KIND_TYPE_TAG:
		return 0;
	default:
		return -1;
	}
}

/* Checks that both parts lie in the bytes; what the types say is not looked at yet. */
int btf_types_of(const void *bytes, size_t size, struct btf_types *ret)
{
	/* struct btf_header: u16 magic, u8 version, u8 flags, u32 header size, then place and size
	 * of types and of strings. Places count from the end of the header. The magic is in native
	 * byte order: this kernel wrote it. */
	struct cursor c = cursor_of(bytes, size, false);
	uint32_t magic_version = cursor_u32(&c), head = cursor_u32(&c);
	uint32_t type_at = cursor_u32(&c), type_size = cursor_u32(&c);
	uint32_t string_at = cursor_u32(&c), string_size = cursor_u32(&c);
	const char *strings;

	if (c.failed || (magic_version & 0xffff) != BTF_MAGIC || head > size ||
	    type_at > size - head || type_size > size - head - type_at || string_at > size - head ||
	    string_size > size - head - string_at)
		return -EBADMSG;
	/* With a last NUL no name can be read beyond the strings. */
	strings = (const char *)bytes + head + string_at;
	if (string_size && strings[string_size - 1])
		return -EBADMSG;
	*ret = (struct btf_types){
		.types = cursor_of((const unsigned char *)bytes + head + type_at, type_size, false),
		.strings = strings,
		.strings_size = string_size,
	};
	return 0;
}

/* false at the end, and where a type cannot be read: then types.failed is set. */
bool btf_types_next(struct btf_types *b, struct btf_entry *ret)
{
	int64_t more;

	if (!cursor_left(&b->types))
		return false;
	ret->name = cursor_u32(&b->types);
	ret->info = cursor_u32(&b->types);
	ret->size = cursor_u32(&b->types);
	more = btf_more(ret);
	if (more < 0)
		return cursor_fail(&b->types);
	ret->more_size = (size_t)more;
	ret->more = cursor_bytes(&b->types, (uint64_t)more);
	return !b->types.failed;
}

/* "" for types without a name, and for a place outside of the strings. */
const char *btf_types_name(const struct btf_types *b, uint32_t at)
{
	return at < b->strings_size ? b->strings + at : "";
}
