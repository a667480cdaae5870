/* SPDX-License-Identifier: MIT */
/*
 * runtime_ends.h: looks at the records on their way into the file: which user stacks end in code
 * that a runtime made, and with which flag of that runtime they would go on.
 *
 * Knows what the file will have: stacks that the kernel took, that BPF programs walked, and that
 * the recorder unwound. Copies of stacks that are kept are not looked at. Bounded in processes and
 * in mappings of each; without a runtime that is known a record costs no more than its header.
 */
#ifndef SEAM_RECORDER_RUNTIME_ENDS_H
#define SEAM_RECORDER_RUNTIME_ENDS_H

#include <seam/record.h>

#include "base/map.h"

struct runtime_ends {
	const struct seam_events *events; /* of the records */
	struct map processes;             /* pid -> struct runtimes_process * */
	uint64_t samples;
	uint64_t
	        *ended; /* samples by runtime: runtime_flags_count() of them; NULL: none is known */
};

/* Zero-initialised but for events. Takes records as a capture_write does. */
void runtime_ends_look(struct runtime_ends *r, const void *bytes, size_t n);
void runtime_ends_free(struct runtime_ends *r);

#endif
