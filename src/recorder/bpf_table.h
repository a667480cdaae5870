/* SPDX-License-Identifier: MIT */
/* bpf_table.h: the unwind table of what a process has mapped, as kwalk.h asks for it. */
#ifndef SEAM_RECORDER_BPF_TABLE_H
#define SEAM_RECORDER_BPF_TABLE_H

#include "capture/bpf/kwalk.h"
#include "tables/tables.h"

struct bpf_table; /* the tables, and which file had which build-id */

/* tables lives longer. */
int bpf_table_new(struct bpf_table **ret, struct tables *tables);
void bpf_table_free(struct bpf_table *t);
/* The jitdump that a process has mapped, as far as it was asked for; NULL: none. Lives until
 * free. */
const char *bpf_table_dump(struct bpf_table *t, uint32_t pid);
/* Fills *ret, which is zeros; any thread. Tables live as long as `tables`. */
void bpf_table_once(struct tables *tables, const struct kwalk_ask *ask, struct kwalk_table *ret);
/* The same, and each file's build-id is read once. Returns the object that was mapped; NULL: it is
 * not known. */
const struct tables_object *bpf_table_get(struct bpf_table *t, const struct kwalk_ask *ask,
                                          struct kwalk_table *ret);

#endif
