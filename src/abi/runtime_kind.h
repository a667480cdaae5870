/* SPDX-License-Identifier: MIT */
/* runtime_kind.h: the numbers of runtimes.def, also for programs in the kernel. */
#ifndef SEAM_ABI_RUNTIME_KIND_H
#define SEAM_ABI_RUNTIME_KIND_H

enum runtime_kind {
	RUNTIME_NO_KIND,
#define RUNTIME(number, id, ...) RUNTIME_##id = (number),
#include "abi/runtimes.def"
};
#define RUNTIMES 8 /* room for numbers: a power of two */
#define RUNTIMES_ALL (((1u << RUNTIMES) - 1) & ~1u)

/* A number of a form of lines that each runtime has: a frame's place in its code is its line. */
#define RUNTIME_LINES_GIVEN 255

#endif
