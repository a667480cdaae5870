/* SPDX-License-Identifier: MIT */
/* object.h: the objects that clang made of unwind.bpf.c, asleep.bpf.c and, for each interpreter, of
 * runtime.bpf.c, as scripts/embed puts them into the program. */
#ifndef SEAM_CAPTURE_BPF_OBJECT_H
#define SEAM_CAPTURE_BPF_OBJECT_H

#include <stddef.h>

extern const unsigned char kwalk_object[];
extern const size_t kwalk_object_size;
extern const unsigned char asleep_object[];
extern const size_t asleep_object_size;

#define RUNTIME(number, id, name, ...)              \
	extern const unsigned char name##_object[]; \
	extern const size_t name##_object_size;
#include "abi/runtimes.def"

#endif
