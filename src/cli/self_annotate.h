/* SPDX-License-Identifier: MIT */
// self_annotate.h: a function's source and instructions for the view: what `seam annotate` prints.
#ifndef SEAM_CLI_SELF_ANNOTATE_H
#define SEAM_CLI_SELF_ANNOTATE_H

#include "input/naming.h"
#include "input/sample_filter.h"
#include "view/view.h"

/* Appends what a run of `seam annotate` beside prints of a function of a recording, with the same
 * files for names and of the samples that are shown: filter's, and of those f's choices; what it
 * could not do is in the text, too. stop: see self.h. -ENOMEM; -ECANCELED. */
int self_annotate(const char *path, struct naming *naming, const struct sample_filter *filter,
                  const struct view_function *f, int stop, struct buf *out);

#endif
