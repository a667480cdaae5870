/* SPDX-License-Identifier: MIT */
/* live_object.h: the object that clang made of unwind.bpf.c, as embed.py puts it into the program. */
#ifndef SEAM_CAPTURE_BPF_LIVE_OBJECT_H
#define SEAM_CAPTURE_BPF_LIVE_OBJECT_H

#include <stddef.h>

extern const unsigned char live_object_bytes[];
extern const size_t live_object_size;

#endif
