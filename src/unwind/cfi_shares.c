// SPDX-License-Identifier: MIT
/*
 * cfi_shares.c: deals a section out to threads. See cfi_shares.h.
 *
 * Large objects (a browser, LLVM) have hundreds of thousands of entries, and each can be read by
 * itself. Each share is compiled by a thread into rows of its own, and the rows are joined.
 *
 * Invariant: shares are joined in the order of their entries, so that rules get the numbers that
 * one thread gives them. Shares know nothing of each other: a CIE is read anew in each that has a
 * function with it.
 */
#include "unwind/cfi_shares.h"

#include <pthread.h>

#include "base/thread.h"
#include "unwind/cfi.h"

struct share {
	pthread_t thread;
	bool started;
	struct rows rows;
	const struct compile_section *section;
	bool is_debug_frame;
	size_t from, to;
};

static void *cfi_share_run(void *arg)
{
	struct share *s = arg;

	cfi_compile(&s->rows, s->section, s->is_debug_frame, s->from, s->to);
	return NULL;
}

static void cfi_share_start(struct share *s)
{
	s->started = thread_start(&s->thread, cfi_share_run, s) >= 0;
}

/* The number of shares. One where a single thread might run out of offsets for expressions, which
 * are at most as long as the section: then all must behave as one thread does. */
static unsigned shares_count(const struct compile_input *in, const struct compile_section *section)
{
	size_t most = section->n / (in->share_bytes ? in->share_bytes : CFI_SHARE_BYTES);

	most = most < in->threads ? most : in->threads;
	if (most < 2 || section->n > INT32_MAX)
		return 1;
	return most < CFI_SHARES_MAX ? (unsigned)most : CFI_SHARES_MAX;
}

/* Divides the section into about equal parts at entry boundaries and compiles each in a thread. If
 * a thread cannot be started, its part is compiled here. */
void cfi_shares_compile(struct rows *rows, const struct compile_section *section,
                        bool is_debug_frame)
{
	unsigned n = shares_count(rows->in, section);
	struct share shares[CFI_SHARES_MAX];
	size_t at = 0;

	if (n == 1) {
		cfi_compile(rows, section, is_debug_frame, 0, section->n);
		return;
	}
	for (unsigned i = 0; i < n; i++) {
		struct share *s = &shares[i];

		*s = (struct share){ .section = section, .is_debug_frame = is_debug_frame };
		rows_share(&s->rows, rows, i);
		s->from = at;
		at = i + 1 == n ? section->n
		                : cfi_next(rows->in, section, at, section->n / n * (i + 1));
		s->to = at;
		if (i + 1 < n)
			cfi_share_start(s);
	}
	/* The last share is this thread's own, and runs while the others do. */
	for (unsigned i = n; i--;) {
		if (!shares[i].started) /* the last, or no thread was to be had */
			cfi_share_run(&shares[i]);
	}
	for (unsigned i = 0; i < n; i++) {
		if (shares[i].started)
			pthread_join(shares[i].thread, NULL);
	}
	for (unsigned i = 0; i < n; i++) /* not before all ended: they look at what rows covers */
		rows_join(rows, &shares[i].rows);
}
