/* SPDX-License-Identifier: MIT */
/* bpf_context.h: whether a mapped file says for whom its threads work: found out once for each
 * file. */
#ifndef SEAM_RECORDER_BPF_CONTEXT_H
#define SEAM_RECORDER_BPF_CONTEXT_H

#include "capture/bpf/kwalk.h"
#include "tables/tables.h"

struct bpf_context;

int bpf_context_new(struct bpf_context **ret);
void bpf_context_free(struct bpf_context *c);
/*
 * NULL: it does not, or cannot be read. object is that of the file's unwind table, or NULL. Any
 * thread; what is returned lives until free. Its source is CONTEXT_NONE where it is the dynamic
 * linker (vector_step).
 */
const struct context_process *bpf_context_get(struct bpf_context *c, const struct kwalk_ask *ask,
                                              const struct tables_object *object);

#endif
