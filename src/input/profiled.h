/* SPDX-License-Identifier: MIT */
/*
 * profiled.h: the profile of a recording that is asked for: its first pass, what the filter says of
 * it, counting and naming, with one line of progress.
 */
#ifndef SEAM_INPUT_PROFILED_H
#define SEAM_INPUT_PROFILED_H

#include "aggregate/load.h"
#include "input/infile.h"
#include "input/naming.h"
#include "input/sample_filter.h"

struct profiled_opts {
	const struct cmd *cmd;
	struct sample_filter *filter; /* NULL: load.filter says which samples are wanted */
	bool names;                   /* names will be needed: the kernel's are read meanwhile */
	struct load_opts load;        /* all but symbols and progress */
	struct progress progress;     /* without report: a line on stderr */
	uint64_t first_bytes;         /* of the file; 0: all */
};

/* Fills *rec and *ret, which the caller frees also after a failure. -EINVAL without a text in err:
 * the filter does not fit the recording, which was said. */
int profiled_load(const struct infile *in, const struct naming *naming,
                  const struct profiled_opts *opts, struct recording **rec, struct load *ret,
                  struct seam_error *err);

#endif
