// SPDX-License-Identifier: MIT
// window.c: see window.h. What is said to the kernel is advice: a refusal costs memory, nothing
// else.
#include "perfdata/window.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "perfdata/reader_state.h"

bool window_large(const struct seam_reader *r)
{
	return r->n_chunks ||
	       (r->input.mapped && !r->stream && r->data_size + r->parts_size > WINDOW_LARGE);
}

void window_once(struct seam_reader *r)
{
	r->keep_full = true;
}

void window_drop(const unsigned char *bytes, size_t n)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), at = (uintptr_t)bytes;
	uintptr_t from = (at + page - 1) & ~(page - 1), to = (at + n) & ~(page - 1);

	if (from < to)
		(void)madvise((void *)from, to - from, MADV_DONTNEED);
}

bool window_has(const struct seam_reader *r, const unsigned char *bytes)
{
	return r->input.mapped &&
	       (uintptr_t)bytes - (uintptr_t)r->input.bytes < (uintptr_t)r->input.size;
}

void window_forget(const struct seam_reader *r)
{
	if (!window_large(r))
		return;
	if (r->input.mapped)
		window_drop(r->input.bytes, (size_t)r->input.size);
	for (size_t i = 0; i < r->n_sections; i++)
		if (r->sections[i].input.mapped)
			window_drop(r->sections[i].input.bytes, (size_t)r->sections[i].input.size);
	for (size_t i = 0; i < r->n_chunks; i++)
		scratch_rest(r->chunks[i].bytes, r->chunks[i].n);
}
