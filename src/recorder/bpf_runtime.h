/* SPDX-License-Identifier: MIT */
/* bpf_runtime.h: whether a mapped file is an interpreter, and which: found out once for each
 * file. */
#ifndef SEAM_RECORDER_BPF_RUNTIME_H
#define SEAM_RECORDER_BPF_RUNTIME_H

#include "capture/bpf/kwalk.h"
#include "tables/tables.h"

struct bpf_runtime;

int bpf_runtime_new(struct bpf_runtime **ret, struct peek *peek);
void bpf_runtime_free(struct bpf_runtime *p);
/* object: the mapped one, if it is known; it lives longer, and what is known of it is not looked
 * for again. NULL: the file is no interpreter, or cannot be read. Any thread; what is
 * returned lives until free. */
const struct runtime_object *bpf_runtime_get(struct bpf_runtime *p, const struct kwalk_ask *ask,
                                             const struct tables_object *object);

#endif
