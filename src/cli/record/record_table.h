/* SPDX-License-Identifier: MIT */
/* record_table.h: the unwind table of what a process has mapped, as kwalk.h asks for it. */
#ifndef SEAM_CLI_RECORD_TABLE_H
#define SEAM_CLI_RECORD_TABLE_H

#include "capture/bpf/kwalk.h"
#include "tables/tables.h"

struct record_table; /* the tables, and which file had which build-id */

/* tables lives longer. */
int record_table_new(struct record_table **ret, struct tables *tables);
void record_table_free(struct record_table *t);
/* Fills *ret, which is zeros; any thread. Tables live as long as `tables`. */
void record_table(struct tables *tables, const struct kwalk_ask *ask, struct kwalk_table *ret);
/* The same, and each file's build-id is read once. */
void record_table_get(struct record_table *t, const struct kwalk_ask *ask, struct kwalk_table *ret);

#endif
