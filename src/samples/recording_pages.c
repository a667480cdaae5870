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

void recording_looked_around(const struct recording *rec, struct recording_looked *looked,
                             const struct seam_u64s *words)
{
	const uintptr_t around = (uintptr_t)words->bytes / WINDOW_AROUND;

	if (!rec->large || around == looked->last || !window_has(rec->reader, words->bytes))
		return;
	looked->last = around;
	recording_looked_at(rec, &looked->sum, WINDOW_AROUND);
}
