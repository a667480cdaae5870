/* SPDX-License-Identifier: MIT */
/*
 * runtime_frame.h: a frame of an interpreter, as the programs in the kernel tell it and splice.c
 * puts it into a native stack.
 */
#ifndef SEAM_RUNTIMES_RUNTIME_FRAME_H
#define SEAM_RUNTIMES_RUNTIME_FRAME_H

#include "base/fixed_width.h"

struct runtime_frame {
	uint64_t key;    /* of the code object; RUNTIME_FRAME_LOOP: an address on the C stack */
	uint32_t at;     /* bytes into its instructions; RUNTIME_FRAME_LOOP: unspecified */
	uint16_t native; /* RUNTIME_FRAME_LOOP: the native frame's number, or _NOWHERE */
	uint16_t what;
};
#define RUNTIME_FRAME_CODE 0u
#define RUNTIME_FRAME_LOOP 1u /* a call of the loop: it runs the frames before it */
/* of HotSpot: the next frame is compiled code. key: its nmethod; at: the number of that */
#define RUNTIME_FRAME_COMPILED 2u
/* of Perl: a call of the loop as the native stack has it. key: what called it, perl_layout.h */
#define RUNTIME_FRAME_MET 3u
/* of Perl: key is where exceptions jump to, on the C stack, as loops are still to be met */
#define RUNTIME_FRAME_JUMP 4u
#define RUNTIME_FRAME_NOWHERE 0xffffu

#endif
