/* SPDX-License-Identifier: MIT */
/* kwalk_object.h: the object that clang made of unwind.bpf.c, as scripts/embed puts it into the program. */
#ifndef SEAM_CAPTURE_BPF_KWALK_OBJECT_H
#define SEAM_CAPTURE_BPF_KWALK_OBJECT_H

#include <stddef.h>

extern const unsigned char kwalk_object[];
extern const size_t kwalk_object_size;

#endif
