// SPDX-License-Identifier: MIT
/*
 * layout.c: writes the table in one pass over the functions. docs/unwind-table.md says what goes
 * where.
 *
 * The functions are sealed: in order of address, without overlaps. A row is a word: the place
 * within its page (FRAMETAB_PAGE) and the number of its rule.
 *
 * Invariant: room is made for the most that there can be, and what was not needed is closed up at
 * the end.
 */
#include "unwind/layout.h"

#include <errno.h>
#include <string.h>

#define TEXT_MAX (4ULL << 30) /* bytes of address space that one table may span */

struct rows_layout {
	uint32_t *index, *rows;
	uint64_t start; /* of page 0 */
	uint32_t pages; /* begun so far */
	uint32_t n_rows;
	uint32_t last_rule;
};

/* A row that says what the row before says is left out. */
static inline void layout_row(struct rows_layout *l, uint64_t pc, uint32_t rule)
{
	uint64_t page = (pc - l->start) / FRAMETAB_PAGE;

	if (rule == l->last_rule)
		return;
	while (l->pages <= page)
		l->index[l->pages++] = l->n_rows;
	l->rows[l->n_rows++] = (uint32_t)(pc & (FRAMETAB_PAGE - 1)) << FRAMETAB_RULE_BITS | rule;
	l->last_rule = rule;
}

/* Writes the rows of all functions in order of address. A gap of COMPILE_BRIDGE bytes or more
 * behind a function gets a row with rule 0, so that no rule reaches into it. */
static void layout_functions(struct rows_layout *to, const struct rows *r)
{
	struct rows_layout l = *to;

	for (size_t i = 0; i < r->n_functions; i++) {
		const struct rows_function *f = &r->functions[i];
		const struct rows_part *part = f->part ? &r->parts[f->part - 1] : NULL;
		const struct rows_row *row = (part ? part->rows : r->rows) + f->first;
		uint64_t next = i + 1 < r->n_functions ? r->functions[i + 1].start : UINT64_MAX;

		for (const struct rows_row *end = row + f->n; row < end; row++) {
			if (row->off < f->end - f->start)
				layout_row(&l, f->start + row->off,
				           part ? part->numbers[row->rule] : row->rule);
		}
		/* Over smaller gaps, which are padding, the rule before may reach. */
		if (next - f->end >= COMPILE_BRIDGE)
			layout_row(&l, f->end, 0);
	}
	*to = l;
}

/* Behind the header and the rules: index, rows, saves and expressions. */
static int layout_parts(const struct rows *r, struct frametab_header *h, struct buf *ret)
{
	uint64_t end = r->functions[r->n_functions - 1].end;
	size_t pages = (size_t)((end - h->text_start) / FRAMETAB_PAGE) + 2, rows = 1;
	struct rows_layout l = { .start = h->text_start };

	/* Each function may need one row more, for the gap behind it. */
	for (size_t i = 0; i < r->n_functions; i++)
		rows += r->functions[i].n + 1;
	l.index = buf_reserve(ret, (pages + rows) * 4);
	if (!l.index)
		return -ENOMEM;
	l.rows = l.index + pages;
	layout_functions(&l, r);
	l.index[l.pages] = l.n_rows;
	/* Fewer pages than there was room for: the rows move down to their index. */
	if (l.pages + 1 < pages)
		memmove(l.index + l.pages + 1, l.rows, (size_t)l.n_rows * 4);
	ret->n += ((size_t)l.pages + 1 + l.n_rows) * 4;
	h->n_pages = l.pages;
	h->n_rows = l.n_rows;
	buf_put(ret, r->saves.bytes, r->saves.n);
	buf_put(ret, r->exprs.bytes, r->exprs.n);
	return buf_put_zeros(ret, -ret->n & 7);
}

static int layout_blob(const struct rows *r, struct frametab_header *h, struct buf *ret)
{
	h->n_rules = (uint32_t)(r->rules.n / sizeof(struct frametab_rule));
	h->n_saves = (uint32_t)(r->saves.n / 2);
	h->n_exprs = (uint32_t)r->exprs.n;
	buf_put(ret, h, sizeof(*h));
	buf_put(ret, r->rules.bytes, r->rules.n);
	if (r->rules.failed || r->saves.failed || r->exprs.failed || ret->failed ||
	    layout_parts(r, h, ret) < 0)
		return -ENOMEM;
	h->size = (uint32_t)ret->n;
	h->checksum = map_hash_bytes(ret->bytes + sizeof(*h), ret->n - sizeof(*h), h->text_start);
	memcpy(ret->bytes, h, sizeof(*h));
	return 0;
}

/* The header is written last, when the sizes of all parts are known. */
int layout_table(struct rows *r, uint32_t flags, struct buf *ret, struct seam_error *err)
{
	struct frametab_header h = {
		.magic = FRAMETAB_MAGIC,
		.version = FRAMETAB_VERSION,
		.machine = r->in->machine,
		.flags = flags,
		.skipped = r->skipped,
	};

	buf_clear(ret);
	rows_seal(r);
	if (r->failed)
		return seam_error_set(err, -r->failed, NULL, SEAM_NO_OFFSET, "unwind table", "%s",
		                      r->failed == -EFBIG
		                              ? "too many rules, or functions too far apart"
		                              : strerror(-r->failed));
	if (!r->n_functions)
		return seam_error_set(err, ENODATA, NULL, SEAM_NO_OFFSET, "unwind table",
		                      "the object has no usable unwind information");
	h.text_start = r->functions[0].start & ~(uint64_t)(FRAMETAB_PAGE - 1);
	if (r->functions[r->n_functions - 1].end - h.text_start > TEXT_MAX)
		return seam_error_set(err, EFBIG, NULL, SEAM_NO_OFFSET, "unwind table",
		                      "its functions span more than 4 GiB");
	if (layout_blob(r, &h, ret) < 0)
		return seam_error_set(err, ENOMEM, NULL, SEAM_NO_OFFSET, "unwind table",
		                      "out of memory");
	return 0;
}
