/* SPDX-License-Identifier: MIT */
/*
 * kwalk_memory.h: what only a look at a process's memory tells, beside what the programs in the
 * kernel do: kwalk_hotspot.c, kwalk_v8.c.
 */
#ifndef SEAM_CAPTURE_RUNTIME_KWALK_MEMORY_H
#define SEAM_CAPTURE_RUNTIME_KWALK_MEMORY_H

#include "base/peek.h"
#include "capture/bpf/kwalk_parts.h"

struct codes_told;

/* Reads n bytes of a process's memory, as peek_memory. */
static inline int kwalk_read_process(const struct kwalk *l, uint32_t pid, uint64_t address,
                                     void *to, size_t n)
{
	return peek_memory(l->opts.peek, pid, address, to, n);
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
