/* SPDX-License-Identifier: MIT */
/*
 * kwalk_memory.h: what only a look at a process's memory tells, beside what the programs in the
 * kernel do: kwalk_hotspot.c, kwalk_v8.c.
 */
#ifndef SEAM_CAPTURE_RUNTIME_KWALK_MEMORY_H
#define SEAM_CAPTURE_RUNTIME_KWALK_MEMORY_H

#include <errno.h>
#include <sys/uio.h>

#include "capture/bpf/kwalk_parts.h"

struct codes_told;

/* Reads n bytes of a process's memory. -errno; -EFAULT: not all of them are there. */
static inline int kwalk_read_process(uint32_t pid, uint64_t address, void *to, size_t n)
{
	struct iovec local = { to, n };
	struct iovec remote = { (void *)(uintptr_t)address, n };
	ssize_t r = process_vm_readv((pid_t)pid, &local, 1, &remote, 1, 0);

	return r == (ssize_t)n ? 0 : r < 0 ? -errno : -EFAULT;
}

bool hotspot_publish(struct kwalk *l, uint32_t pid, const struct runtime_object *object,
                     uint64_t bias, struct runtime_process *p);
void hotspot_away(struct kwalk *l, uint32_t pid);
struct runtime_frame *hotspot_expand(struct kwalk *l, struct kwalk_runtime *p, bool *unread);
void hotspot_close(struct kwalk *l);

/* Puts the lines of a function's script in the place of where its source is. */
void v8_lines_of(struct kwalk *l, uint32_t pid, struct codes_told *code);
void v8_close(struct kwalk *l);

#endif
