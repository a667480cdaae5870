/* SPDX-License-Identifier: MIT */
/*
 * runtime_flags.h: the runtimes that make code while they run, how a process of theirs is told by
 * the files it maps, and with which flags they name that code and let a walk pass through it.
 */
#ifndef SEAM_RUNTIMES_RUNTIME_FLAGS_H
#define SEAM_RUNTIMES_RUNTIME_FLAGS_H

#include <stdint.h>

#include "proc/proc.h"

struct runtime_flags {
	const char *maps;  /* the name of a file that only its processes map begins so */
	const char *name;  /* as people call it */
	const char *names; /* the flag with which it writes a perf map or a jitdump */
	const char
	        *stacks; /* the flag that makes its code keep frame pointers; NULL: none is known */
};

/* All that are known, by number from 0; the file that tells one need not be unique to it. */
size_t runtime_flags_count(void);
const struct runtime_flags *runtime_flags_at(size_t i);
size_t runtime_flags_number(const struct runtime_flags *flags);
/* The runtime whose file has this path; NULL: none. */
const struct runtime_flags *runtime_flags_of_path(const char *path);
/* The runtime that a process runs, found by its mappings; NULL: none that is known. */
const struct runtime_flags *runtime_flags_of(const struct proc_table *procs, uint32_t pid);

#endif
