/* SPDX-License-Identifier: MIT */
/* bpf_python.h: whether a mapped file is CPython, and which: found out once for each file. */
#ifndef SEAM_RECORDER_BPF_PYTHON_H
#define SEAM_RECORDER_BPF_PYTHON_H

#include "capture/bpf/kwalk.h"
#include "tables/tables.h"

struct bpf_python;

int bpf_python_new(struct bpf_python **ret);
void bpf_python_free(struct bpf_python *p);
/* object: the mapped one, if it is known; it lives longer, and what is known of it is not looked
 * for again. NULL: the file is no CPython that is known, or cannot be read. Any thread; what is
 * returned lives until free. */
const struct python_object *bpf_python_get(struct bpf_python *p, const struct kwalk_ask *ask,
                                           const struct tables_object *object);

#endif
