/* SPDX-License-Identifier: MIT */
/* script_head.h: the part of a line of seam script that all records have: comm, ids, CPU, mode, time. */
#ifndef SEAM_CLI_SCRIPT_HEAD_H
#define SEAM_CLI_SCRIPT_HEAD_H

#include "cli/script_text.h"

void script_head(const struct script_text_opts *opts, const struct recording *rec,
                 const struct batch_item *item, struct buf *out);

#endif
