/* SPDX-License-Identifier: MIT */
/*
 * btf_cut.h: looks for a few types in the kernel's BTF, which has ten thousands, and makes a small
 * BTF of them: as much as says where a member lies in a struct. Pure: bytes in, bytes out.
 */
#ifndef SEAM_CAPTURE_BTF_CUT_H
#define SEAM_CAPTURE_BTF_CUT_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum btf_want {
	BTF_WANT_STRUCT, /* or union: into the small one */
	BTF_WANT_FUNC,
	BTF_WANT_TYPEDEF,
};

struct btf_wanted {
	const char *name;
	enum btf_want kind;
	uint32_t id; /* is filled: the first of that name; 0: there is none */
};

/*
 * Finds the n wanted types in one pass. out, unless NULL: all structs of the wanted names with what
 * they are made of. What pointers point to is left out, and values of enums. -EBADMSG: the bytes
 * cannot be read to their end; -ENOMEM.
 */
int btf_cut(const void *bytes, size_t size, struct btf_wanted *wanted, size_t n, struct buf *out);

#endif
