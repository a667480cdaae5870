/* SPDX-License-Identifier: MIT */
/* record_table.h: the unwind table of what a process has mapped, as kwalk.h asks for it. */
#ifndef SEAM_CLI_RECORD_TABLE_H
#define SEAM_CLI_RECORD_TABLE_H

#include "capture/bpf/kwalk.h"
#include "pipeline/tables.h"

/* Fills *ret, which is zeros; any thread. Tables live as long as tables. */
void record_table(struct tables *tables, const struct kwalk_ask *ask, struct kwalk_table *ret);

#endif
