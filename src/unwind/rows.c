// SPDX-License-Identifier: MIT
// rows.c: see rows.h. Rules are deduplicated as they come, rows laid out at the end.
#include "unwind/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BRIDGE 16u /* bytes of padding between functions that take the rule before them */
#define TEXT_MAX (4ULL << 30) /* bytes of address space that one table may span */

void rows_init(struct rows *r, const struct compile_input *in)
{
	static const struct frametab_rule none;

	*r = (struct rows){ .in = in };
	r->seen = calloc(ROWS_SEEN, sizeof(*r->seen));
	if (!r->seen)
		r->failed = -ENOMEM;
	buf_put(&r->rules, &none, sizeof(none));
}

void rows_free(struct rows *r)
{
	buf_free(&r->rules);
	buf_free(&r->saves);
	buf_free(&r->exprs);
	map_free(&r->by_hash);
	free(r->next);
	free(r->seen);
	free(r->functions);
	free(r->rows);
}

/* Doubles an array when it is full. */
static int rows_grow(struct rows *r, void **array, size_t n, size_t *capacity, size_t size)
{
	size_t wanted = *capacity ? *capacity * 2 : 1024;
	void *bigger;

	if (n < *capacity)
		return 0;
	bigger = realloc(*array, wanted * size);
	if (!bigger)
		return r->failed = -ENOMEM;
	*array = bigger;
	*capacity = wanted;
	return 0;
}

static bool rows_rule_equal(const struct rows *r, uint32_t number, const struct rows_rule *rule)
{
	struct frametab_rule have;
	unsigned n = (unsigned)__builtin_popcount(rule->rule.saved);

	memcpy(&have, r->rules.bytes + number * sizeof(have), sizeof(have));
	if (have.saved != rule->rule.saved ||
	    memcmp(r->saves.bytes + (size_t)have.saves * 2, rule->saves, n * 2))
		return false;
	have.saves = rule->rule.saves;
	return !memcmp(&have, &rule->rule, sizeof(have));
}

static uint32_t rows_rule_add(struct rows *r, const struct rows_rule *rule)
{
	struct frametab_rule put = rule->rule;
	uint32_t number = (uint32_t)(r->rules.n / sizeof(put));

	if (number >= FRAMETAB_RULES_MAX) {
		r->failed = -EFBIG;
		return 0;
	}
	if (rows_grow(r, (void **)&r->next, number, &r->next_capacity, sizeof(*r->next)))
		return 0;
	put.saves = (uint32_t)(r->saves.n / 2);
	buf_put(&r->saves, rule->saves, (unsigned)__builtin_popcount(put.saved) * 2);
	buf_put(&r->rules, &put, sizeof(put));
	r->next[number] = 0;
	return number;
}

/* The number of a rule in the dictionary, added when new. 0: failed. */
static uint32_t rows_rule_number(struct rows *r, const struct rows_rule *rule)
{
	uint64_t hash = map_hash_bytes(rule, sizeof(*rule), 0), *slot;
	uint32_t number;
	bool is_new;

	slot = map_slot(&r->by_hash, hash, &is_new);
	if (!slot) {
		r->failed = -ENOMEM;
		return 0;
	}
	for (number = is_new ? 0 : (uint32_t)*slot; number; number = r->next[number]) {
		if (rows_rule_equal(r, number, rule))
			return number;
	}
	number = rows_rule_add(r, rule);
	if (number) {
		r->next[number] = (uint32_t)*slot;
		*slot = number;
	}
	return number;
}

uint32_t rows_number(struct rows *r, const struct rows_rule *rule)
{
	uint32_t key = (uint32_t)rule->rule.cfa_off * 0x9e3779b1u ^
	               (uint32_t)rule->rule.fp_off * 0x85ebca6bu ^
	               (uint32_t)(rule->rule.saved << 8 | rule->rule.cfa << 4 | rule->rule.fp) *
	                       0xc2b2ae35u;
	struct rows_seen *seen = &r->seen[(key >> 16 ^ key) % ROWS_SEEN];

	if (!seen->number || memcmp(&seen->rule, rule, sizeof(*rule))) {
		seen->number = rows_rule_number(r, rule);
		seen->rule = *rule;
	}
	return seen->number;
}

int32_t rows_expression(struct rows *r, const unsigned char *bytes, size_t n)
{
	size_t at = r->exprs.n;

	if (n > UINT16_MAX || at > INT32_MAX - n - 2)
		return -1;
	if (buf_put_u16(&r->exprs, (uint16_t)n) < 0 || buf_put(&r->exprs, bytes, n) < 0)
		return -1;
	return (int32_t)at;
}

/* The first sealed function that ends above an address. */
static size_t rows_behind(const struct rows *r, uint64_t address)
{
	size_t low = 0, high = r->n_sealed;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (r->functions[middle].end > address)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

uint64_t rows_next(const struct rows *r, uint64_t address)
{
	size_t at = rows_behind(r, address);

	if (at < r->n_sealed && r->functions[at].start < address)
		return address; /* it lies inside */
	return at < r->n_sealed ? r->functions[at].start : UINT64_MAX;
}

static bool rows_covered(const struct rows *r, uint64_t start, uint64_t end)
{
	size_t low = rows_behind(r, start);

	return low < r->n_sealed && r->functions[low].start < end;
}

bool rows_begin(struct rows *r, uint64_t start, uint64_t end)
{
	bool inside = false;

	for (size_t i = 0; i < r->in->n_ranges && !inside; i++)
		inside = start >= r->in->ranges[i].start && end <= r->in->ranges[i].end;
	if (!inside || start >= end || end - start > UINT32_MAX || r->failed ||
	    rows_covered(r, start, end))
		return false;
	if (rows_grow(r, (void **)&r->functions, r->n_functions, &r->functions_capacity,
	              sizeof(*r->functions)))
		return false;
	r->functions[r->n_functions] = (struct rows_function){
		.start = start,
		.end = end,
		.first = r->n_rows,
	};
	r->open = true;
	return true;
}

struct rows_row *rows_room(struct rows *r, size_t n)
{
	while (!r->failed && r->rows_capacity - r->n_rows < n)
		rows_grow(r, (void **)&r->rows, r->rows_capacity, &r->rows_capacity,
		          sizeof(*r->rows));
	return r->failed || !r->open ? NULL : r->rows + r->n_rows;
}

void rows_took(struct rows *r, size_t n)
{
	r->functions[r->n_functions].n = (uint32_t)n;
	r->n_rows += n;
}

void rows_add(struct rows *r, uint64_t pc, const struct rows_rule *rule)
{
	struct rows_function *f = &r->functions[r->n_functions];
	struct rows_row *row;
	uint32_t number;

	if (!r->open || pc >= f->end || pc < f->start)
		return;
	number = rows_number(r, rule);
	row = rows_room(r, 1);
	if (!row || (f->n && row[-1].rule == number))
		return;
	if (f->n && row[-1].off == pc - f->start) { /* the state before no instruction could see */
		row[-1].rule = number;
		return;
	}
	*row = (struct rows_row){ .off = (uint32_t)(pc - f->start), .rule = number };
	r->n_rows++;
	f->n++;
}

void rows_end(struct rows *r)
{
	if (r->open && r->functions[r->n_functions].n)
		r->n_functions++;
	r->open = false;
}

void rows_cancel(struct rows *r)
{
	if (r->open)
		r->n_rows = r->functions[r->n_functions].first;
	r->open = false;
	r->skipped++;
}

/* Of an address in the 4 GiB that a table may span, and its place in the order of adding. */
struct rows_key {
	uint32_t start, at;
};

#define RADIX_BITS 11u

/* One pass of a radix sort; stable, so that functions with one start stay in the order of adding. */
static void rows_sort_pass(const struct rows_key *from, struct rows_key *to, size_t n,
                           unsigned shift)
{
	uint32_t count[1u << RADIX_BITS] = { 0 }, sum = 0;
	const uint32_t mask = (1u << RADIX_BITS) - 1;

	for (size_t i = 0; i < n; i++)
		count[from[i].start >> shift & mask]++;
	for (size_t i = 0; i <= mask; i++) {
		uint32_t here = count[i];

		count[i] = sum;
		sum += here;
	}
	for (size_t i = 0; i < n; i++)
		to[count[from[i].start >> shift & mask]++] = from[i];
}

static int rows_sort_keys(struct rows *r, uint64_t base)
{
	size_t n = r->n_functions;
	struct rows_key *keys = malloc(2 * n * sizeof(*keys)), *other = keys + n, *swap;
	struct rows_function *sorted = malloc(r->functions_capacity * sizeof(*sorted));

	if (!keys || !sorted) {
		free(keys);
		free(sorted);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++)
		keys[i] =
		        (struct rows_key){ (uint32_t)(r->functions[i].start - base), (uint32_t)i };
	swap = keys;
	for (unsigned shift = 0; shift < 32; shift += RADIX_BITS) {
		struct rows_key *from = swap;

		rows_sort_pass(from, other, n, shift);
		swap = other;
		other = from;
	}
	for (size_t i = 0; i < n; i++)
		sorted[i] = r->functions[swap[i].at];
	free(keys);
	free(r->functions);
	r->functions = sorted;
	return 0;
}

static void rows_sort(struct rows *r)
{
	uint64_t low = UINT64_MAX, high = 0;
	bool sorted = true;
	int status;

	for (size_t i = 0; i < r->n_functions; i++) {
		uint64_t start = r->functions[i].start;

		sorted &= !i || r->functions[i - 1].start <= start;
		low = start < low ? start : low;
		high = start > high ? start : high;
	}
	if (sorted)
		return;
	status = high - low > UINT32_MAX ? -EFBIG : rows_sort_keys(r, low);
	if (status)
		r->failed = status;
}

void rows_seal(struct rows *r)
{
	size_t kept = 0;

	rows_sort(r);
	if (r->failed)
		return;
	for (size_t i = 0; i < r->n_functions; i++) {
		struct rows_function *f = &r->functions[i];

		if (kept && f->start == r->functions[kept - 1].start)
			continue;
		if (kept && f->start < r->functions[kept - 1].end)
			r->functions[kept - 1].end = f->start;
		r->functions[kept++] = *f;
	}
	r->n_functions = r->n_sealed = kept;
}

/* The blob's rows and page index while they are laid out; both were allocated for the most that there can be. */
struct layout {
	uint32_t *index, *rows;
	uint64_t start; /* of page 0 */
	uint32_t pages; /* begun so far */
	uint32_t n_rows;
	uint32_t last_rule;
};

static void layout_row(struct layout *l, uint64_t pc, uint32_t rule)
{
	uint64_t page = (pc - l->start) / FRAMETAB_PAGE;

	if (rule == l->last_rule)
		return;
	while (l->pages <= page)
		l->index[l->pages++] = l->n_rows;
	l->rows[l->n_rows++] = (uint32_t)(pc & (FRAMETAB_PAGE - 1)) << FRAMETAB_RULE_BITS | rule;
	l->last_rule = rule;
}

static void layout_functions(struct layout *l, const struct rows *r)
{
	for (size_t i = 0; i < r->n_functions; i++) {
		const struct rows_function *f = &r->functions[i];
		uint64_t next = i + 1 < r->n_functions ? r->functions[i + 1].start : UINT64_MAX;

		for (uint32_t k = 0; k < f->n; k++) {
			const struct rows_row *row = &r->rows[f->first + k];

			if (row->off < f->end - f->start)
				layout_row(l, f->start + row->off, row->rule);
		}
		if (next - f->end >= BRIDGE)
			layout_row(l, f->end, 0);
	}
}

static int layout_blob(struct layout *l, const struct rows *r, struct frametab_header *h,
                       struct buf *ret)
{
	h->n_pages = l->pages;
	l->index[l->pages] = l->n_rows;
	h->n_rows = l->n_rows;
	h->n_rules = (uint32_t)(r->rules.n / sizeof(struct frametab_rule));
	h->n_saves = (uint32_t)(r->saves.n / 2);
	h->n_exprs = (uint32_t)r->exprs.n;
	buf_clear(ret);
	buf_put(ret, h, sizeof(*h));
	buf_put(ret, r->rules.bytes, r->rules.n);
	buf_put(ret, l->index, ((size_t)l->pages + 1) * 4);
	buf_put(ret, l->rows, (size_t)l->n_rows * 4);
	buf_put(ret, r->saves.bytes, r->saves.n);
	buf_put(ret, r->exprs.bytes, r->exprs.n);
	buf_put_zeros(ret, -ret->n & 7);
	if (ret->failed || r->rules.failed || r->saves.failed || r->exprs.failed)
		return -ENOMEM;
	h->size = (uint32_t)ret->n;
	h->checksum = map_hash_bytes(ret->bytes + sizeof(*h), ret->n - sizeof(*h), h->text_start);
	memcpy(ret->bytes, h, sizeof(*h));
	return 0;
}

int rows_finish(struct rows *r, uint32_t flags, struct buf *ret, struct seam_error *err)
{
	struct frametab_header h = {
		.magic = FRAMETAB_MAGIC,
		.version = FRAMETAB_VERSION,
		.machine = r->in->machine,
		.flags = flags,
		.skipped = r->skipped,
	};
	struct layout l = { .last_rule = 0 };
	uint64_t span;
	int status;

	rows_seal(r);
	if (r->failed)
		return seam_error_set(err, -r->failed, NULL, SEAM_NO_OFFSET, "unwind table", "%s",
		                      r->failed == -EFBIG
		                              ? "too many rules, or functions too far apart"
		                              : strerror(-r->failed));
	if (!r->n_functions)
		return seam_error_set(err, ENODATA, NULL, SEAM_NO_OFFSET, "unwind table",
		                      "the object has no usable unwind information");
	h.text_start = l.start = r->functions[0].start & ~(uint64_t)(FRAMETAB_PAGE - 1);
	if (r->functions[r->n_functions - 1].end - l.start > TEXT_MAX)
		return seam_error_set(err, EFBIG, NULL, SEAM_NO_OFFSET, "unwind table",
		                      "its functions span more than 4 GiB");
	span = r->functions[r->n_functions - 1].end - l.start;
	l.index = malloc((size_t)(span / FRAMETAB_PAGE + 3) * 4);
	l.rows = malloc((r->n_rows + r->n_functions + 1) * 4);
	status = -ENOMEM;
	if (l.index && l.rows) {
		layout_functions(&l, r);
		status = layout_blob(&l, r, &h, ret);
	}
	free(l.index);
	free(l.rows);
	if (status)
		seam_error_set(err, -status, NULL, SEAM_NO_OFFSET, "unwind table", "out of memory");
	return status;
}
