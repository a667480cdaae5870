/* SPDX-License-Identifier: MIT */
/*
 * btf_names.h: reads from BTF, the kernel's table of types, the names of types and nothing else.
 * Pure: bytes in, names out.
 */
#ifndef SEAM_CAPTURE_BTF_NAMES_H
#define SEAM_CAPTURE_BTF_NAMES_H

#include <stddef.h>
#include <stdint.h>

/* Finds the names of n types by their ids, which need not be in order; NULL where a type has none.
 * Names lie in the bytes. 0, or -EBADMSG: it cannot be read, and no name is known. */
int btf_names(const void *bytes, size_t size, const uint32_t *ids, size_t n, const char **ret);

#endif
