// SPDX-License-Identifier: MIT
// recording_pages.c: see recording.h. How much of a large file is in this process's memory.
#include "perfdata/window.h"
#include "samples/recording.h"

void recording_looked_at(const struct recording *rec, size_t *sum, size_t n)
{
	*sum += n;
	if (!rec->large || *sum < WINDOW_STEP)
		return;
	*sum = 0;
	window_forget(rec->reader);
}
