/* SPDX-License-Identifier: MIT */
/*
 * context_layout.h: where a thread keeps for whom it works: the record of OpenTelemetry's thread
 * context (OTEP 4947), or the labels of Go's goroutine. The programs in the kernel and user space
 * share this description; otel_thread.c and go_labels.c fill it.
 */
#ifndef SEAM_RUNTIMES_CONTEXT_LAYOUT_H
#define SEAM_RUNTIMES_CONTEXT_LAYOUT_H

#include "base/fixed_width.h"

enum context_source {
	CONTEXT_NONE,
	CONTEXT_OTEL,     /* a variable of the thread points to a record */
	CONTEXT_GO_LIST,  /* labels of a goroutine: from Go 1.24 on a slice of pairs */
	CONTEXT_GO_MAP,   /* before: a map of strings */
	CONTEXT_GO_OTHER, /* of a version that is not known */
};

/* How the thread's variable is found. But in the first, words that the dynamic linker fills in, at
 * `slot`, tell; they are read each time, as it may fill them in later. */
enum context_access {
	CONTEXT_STATIC,  /* `offset` from the thread pointer */
	CONTEXT_INITIAL, /* initial-exec: the word is that offset */
	/* two words: the second is the offset, or points to a module and an offset in it */
	CONTEXT_DESCRIPTOR,
	CONTEXT_MODULE, /* two words: the module, and the offset in it */
	CONTEXT_LOCAL,  /* the same, but the offset is `offset` */
};

/* Addresses are those of the file, and in what programs get those of the process. */
struct context_process {
	uint32_t source, access;
	uint64_t offset; /* may wrap */
	uint64_t slot;
	uint32_t execs, losses; /* as in kwalk_process */
	/* Bytes of an entry of the thread's vector of modules: glibc's 16, musl's 8; 0: neither */
	uint32_t vector_step;
	/* Go: in g its m, in m its goroutine, in that its labels */
	uint32_t g_m, m_curg, g_labels;
};

/* The head of a record; what follows are `size` bytes of attributes: each an index of its key, a
 * length, and so many bytes. */
struct context_record {
	uint8_t trace[16], span[8];
	uint8_t valid; /* 1, or it is being written, or is of nobody */
	uint8_t flags; /* of the trace */
	uint16_t size;
};

#endif
