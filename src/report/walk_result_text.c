// SPDX-License-Identifier: MIT
// walk_result_text.c: see walk_result_text.h.
#include "report/walk_result_text.h"
#include "base/shown.h"

#include <stdio.h>

/* A line that grows by parts; begun: a part is in it already. */
struct walk_result_line {
	struct buf *out;
	uint64_t all;
	bool begun;
};

/* A share that is not 0 is never shown as 0.0. */
const char *walk_result_share(uint64_t n, uint64_t all, char *buf, size_t size)
{
	if (n && n < all / 2000.0) /* would be shown as 0.0 */
		snprintf(buf, size, "<0.1 %%");
	else
		snprintf(buf, size, "%.1f %%", all ? 100.0 * (double)n / (double)all : 0.0);
	return buf;
}

/* One part. 0 writes nothing. */
static void walk_result_part(struct walk_result_line *l, uint64_t n, const char *text)
{
	char share[16];

	if (!n)
		return;
	buf_put_text(l->out, l->begun ? ", " : ": ");
	l->begun = true;
	shown_printf(l->out, "%s %s", walk_result_share(n, l->all, share, sizeof(share)), text);
}

/* " (180 needed up to 16 KiB, 30 more than 32 KiB)" How many copies were too short, by the class of
 * what they would have needed. */
static void walk_result_needed(const struct walk_result_counts *c, struct buf *out)
{
	const char *lead = " (";

	for (unsigned i = 1; i < WALK_RESULT_NEEDED; i++) {
		if (!c->needed[i])
			continue;
		shown_printf(out, "%s%llu needed %s %u KiB", lead, (unsigned long long)c->needed[i],
		             i == WALK_RESULT_NEEDED - 1 ? "more than" : "up to",
		             i == WALK_RESULT_NEEDED - 1 ? 32 : 1u << (i - 1));
		lead = ", ";
	}
	buf_put_text(out, *lead == ',' ? ")" : "");
}

/* Shares are of the samples that had a stack to walk. */
void walk_result_text(const struct walk_result_counts *c, struct buf *out)
{
	struct walk_result_line l = { .out = out,
		                      .all = c->samples - c->kind[WALK_RESULT_NO_STACK] };
	char share[16];

	if (!c->samples)
		return;
	shown_printf(out, "%llu stack%s unwound from copies of %u bytes, which were not kept",
	             (unsigned long long)l.all, l.all == 1 ? "" : "s", c->copy_bytes);
	for (int end = 0; end < WALK_ENDS; end++) {
		uint64_t unreadable = end == WALK_TRUNCATED ? c->unreadable : 0;

		walk_result_part(&l, c->end[end] - unreadable, walk_end_text((enum walk_end)end));
		if (end == WALK_TRUNCATED)
			walk_result_needed(c, out);
		walk_result_part(&l, unreadable, "cut off: the kernel could not read the stack");
	}
	for (int kind = WALK_RESULT_LATE; kind < WALK_RESULT_KINDS; kind++)
		if (kind != WALK_RESULT_NO_STACK)
			walk_result_part(&l, c->kind[kind],
			                 walk_result_kind_text((enum walk_result_kind)kind));
	walk_result_part(&l, c->kind[WALK_RESULT_NOT_SAID],
	                 walk_result_kind_text(WALK_RESULT_NOT_SAID));
	buf_put_text(out, "\n");
	if (c->guessed)
		shown_printf(
		        out,
		        "%s of them have guessed frames, behind code without unwind information\n",
		        walk_result_share(c->guessed, l.all, share, sizeof(share)));
}
