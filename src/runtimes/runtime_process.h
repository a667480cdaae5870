/* SPDX-License-Identifier: MIT */
/*
 * runtime_process.h: what the programs in the kernel know of a process that runs an interpreter,
 * and what is known of an object before a process has mapped it. Which address and which offset is
 * where is the business of each runtime's own file and walk.
 */
#ifndef SEAM_RUNTIMES_RUNTIME_PROCESS_H
#define SEAM_RUNTIMES_RUNTIME_PROCESS_H

#include "base/fixed_width.h"

#define RUNTIME_ADDRESSES 8u
#define RUNTIME_LAYOUT_WORDS 64u

struct runtime_code {
	uint64_t start, bytes;
};

struct runtime_object {
	uint32_t kind;  /* enum runtime_kind */
	uint32_t known; /* 0: it is a version, or a build, that is not understood */
	/* It is none itself, and loads one: whoever has much to get ready begins here. */
	uint32_t loads, unused;
	/* As linked; in runtime_process those of the process. 0: there is none. */
	uint64_t address[RUNTIME_ADDRESSES];
	uint64_t layout[RUNTIME_LAYOUT_WORDS]; /* the runtime's own struct, bounded by its file */
	/* As linked: the code by whose calls functions run, and the part of it that rarely runs. A
	 * native stack without it lacks no function. No bytes of the first: that is not known. */
	struct runtime_code loops[2];
};

struct runtime_process {
	uint32_t execs, losses; /* as in kwalk_process */
	/* A process may map several interpreters, as an editor does that has them for its
	 * scripts: this is one of them, the others (1 << enum runtime_kind) have entries of their
	 * own. */
	uint32_t others;
	uint32_t unknown; /* it maps one that is not understood, too */
	struct runtime_object of;
};

#endif
