/* SPDX-License-Identifier: MIT */
/* process_file.h: files that a process wrote about itself, and which of them are believed. For this
 * room only. */
#ifndef SEAM_SYMBOL_PROCESS_FILE_H
#define SEAM_SYMBOL_PROCESS_FILE_H

#include "symbol/object.h"

/* Reads a file that the process, or somebody who may, has written. -EPERM: a stranger wrote it.
 * -ESTALE: it was written before began_ns, when the process began (0: not known). */
int process_file_read(const struct symbol_opts *opts, const char *path, uint32_t pid,
                      uint64_t began_ns, struct buf *ret);
/* The same of a path as a running process sees it; path becomes what it is for us. */
int process_file_read_inside(const struct symbol_opts *opts, struct buf *path, uint32_t pid,
                             uint64_t began_ns, struct buf *ret);
/* The pid that a running process has inside its container; 0: not known. */
uint32_t process_file_own_pid(uint32_t pid);
/* The bytes of a jitdump, and where they are. */
int process_file_jitdump(const struct symbol_opts *opts, uint32_t pid, const char *dump,
                         struct buf *ret_path, struct buf *ret);
/* The path given to symbol_jitdump for a process, or NULL. */
const char *process_file_jitdump_of(struct symbol_cache *cache, uint32_t pid);

#endif
