/* SPDX-License-Identifier: MIT */
/*
 * context_shared.h: what the programs in the kernel tell the recorder of for whom a thread works; a
 * part of capture/bpf/shared.h.
 */
#ifndef SEAM_CAPTURE_CONTEXT_CONTEXT_SHARED_H
#define SEAM_CAPTURE_CONTEXT_CONTEXT_SHARED_H

#include "base/fixed_width.h"
#include "runtimes/context_layout.h"

#define KWALK_CONTEXT_BYTES 4096u /* a power of two */

/* How reading it ended. */
enum kwalk_context_end {
	KWALK_CONTEXT_NONE,    /* it works for nobody who is named */
	KWALK_CONTEXT_WHOLE,   /* all was read */
	KWALK_CONTEXT_WRITING, /* a record that is not valid: being written, or of nobody */
	KWALK_CONTEXT_FAULT,   /* a page that is not in memory, or no page at all */
	KWALK_CONTEXT_LIMIT,   /* more than is read */
	KWALK_CONTEXT_UNKNOWN, /* of a version that is not known */
	KWALK_CONTEXT_ENDS,
};

struct kwalk_context {
	uint32_t kind; /* KWALK_CONTEXT */
	uint32_t pid, tid, cpu;
	uint64_t of;    /* time_ns of the sample */
	uint32_t n;     /* of bytes */
	uint8_t source; /* enum context_source */
	uint8_t end;    /* enum kwalk_context_end */
	uint16_t unused;
	/* KWALK_CONTEXT_FAULT: what could not be read */
	uint32_t fault_n, unused2;
	uint64_t fault;
	/* CONTEXT_OTEL: struct context_record and its attributes; else a key and a value for each
	 * label: a byte with its length, and its bytes; of 255 and more the first 255 */
	uint8_t bytes[KWALK_CONTEXT_BYTES];
};

#define KWALK_CONTEXT_HEAD __builtin_offsetof(struct kwalk_context, bytes)

#endif
