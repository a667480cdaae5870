// SPDX-License-Identifier: MIT
/*
 * rows.c: see rows.h. What the compilers of all sources write into: functions, each with rows "from
 * this offset on this rule holds".
 *
 * An object has millions of rows and a few hundred distinct rules, so a row has the number of its
 * rule in a dictionary. Expressions have a dictionary of their own. A rule that was met lately is
 * found by a comparison (seen), any other by its hash.
 *
 * Sources overlap: what an earlier one says of an address holds. So functions are sealed between
 * two sources (sorted, and overlaps taken out), and rows_begin refuses what is covered by sealed
 * ones.
 *
 * Large sources are compiled in shares, each by a thread into rows of its own. A share's rows stay
 * where they are when it is joined (parts); only its numbers of rules are translated.
 *
 * Invariant: rule 0 is "nothing is known". When memory is out `failed` says so, and nothing is
 * added from then on.
 */
#include "unwind/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

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
	map_free(&r->expr_by_hash);
	free(r->next);
	free(r->seen);
	free(r->functions);
	free(r->rows);
	for (uint32_t i = 0; i < r->n_parts; i++) {
		free(r->parts[i].rows);
		free(r->parts[i].numbers);
	}
	free(r->parts);
}

/* Room for element n. */
static int rows_grow(struct rows *r, void **array, size_t n, size_t *capacity, size_t size)
{
	if (array_grow(array, capacity, n + 1, size) < 0)
		return r->failed = -ENOMEM;
	return 0;
}

/* A rule's saves stand in an array of their own: they are compared apart, and where they stand does
 * not count. */
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

/* Rules of one hash are a list, by number (next). 0: failed; 0 also ends the list, because rule 0
 * is in none. */
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

/* The slot of the last rule with this key, before the hash of the whole is computed. */
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

static bool rows_expression_equal(const struct rows *r, size_t at, const unsigned char *bytes,
                                  size_t n)
{
	uint16_t had;

	memcpy(&had, r->exprs.bytes + at, 2);
	return had == n && !memcmp(r->exprs.bytes + at + 2, bytes, n);
}

/* The offset is that of a length (u16) and the bytes behind it. -1: out of memory, or too long for
 * the form; the rule must do without. */
int32_t rows_expression(struct rows *r, const unsigned char *bytes, size_t n)
{
	uint64_t hash = map_hash_bytes(bytes, n, 0), *slot;
	size_t at = r->exprs.n;
	bool is_new;

	/* Two expressions with one hash: the next hash is tried. */
	for (;; hash = map_mix(hash + 1)) {
		slot = map_slot(&r->expr_by_hash, hash, &is_new);
		if (!slot || n > UINT16_MAX || at > INT32_MAX - n - 2)
			return -1;
		if (is_new || !*slot)
			break;
		if (rows_expression_equal(r, (size_t)*slot - 1, bytes, n))
			return (int32_t)(*slot - 1);
	}
	if (buf_put_u16(&r->exprs, (uint16_t)n) < 0 || buf_put(&r->exprs, bytes, n) < 0)
		return -1;
	*slot = at + 1;
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

/* The first covered address from here on; UINT64_MAX: there is none. */
uint64_t rows_next(const struct rows *r, uint64_t address)
{
	size_t at = rows_behind(r, address);

	if (at < r->n_sealed && r->functions[at].start < address)
		return address; /* it lies inside */
	return at < r->n_sealed ? r->functions[at].start : UINT64_MAX;
}

/* The function that holds this address ends here. Its first row stays, so that it has one. */
void rows_cut(struct rows *r, uint64_t address)
{
	size_t at = rows_behind(r, address);
	struct rows_function *f = &r->functions[at];
	const struct rows_row *row;

	if (at == r->n_sealed || f->start >= address)
		return;
	f->end = address;
	row = (f->part ? r->parts[f->part - 1].rows : r->rows) + f->first;
	while (f->n > 1 && row[f->n - 1].off >= address - f->start)
		f->n--;
}

/* A share asks the whole: what others' shares hold is not covered, only what is sealed. */
static bool rows_covered(const struct rows *r, uint64_t start, uint64_t end)
{
	size_t low;

	r = r->whole ? r->whole : r;
	low = rows_behind(r, start);
	return low < r->n_sealed && r->functions[low].start < end;
}

/* Rows that are given from now on belong to this function, until rows_end keeps it or rows_cancel
 * drops it. */
bool rows_begin(struct rows *r, uint64_t start, uint64_t end)
{
	bool inside = false;

	if (++r->begun % ROWS_ASKED == 0 && r->in->stopped && r->in->stopped(r->in->stopped_ctx))
		r->failed = -ECANCELED;
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
		.part = r->part,
	};
	r->open = true;
	return true;
}

/* Bytes of CFI for each row, and for each function: cc1plus has 5.4 and 53, libc 6.1 and 41, node
 * 7.0 and 37. Memory of some MB that is never written takes none. */
#define ROWS_CFI_OF_ROW 5u
#define ROWS_CFI_OF_FUNCTION 36u

/* A second source has little that is new. */
void rows_expect(struct rows *r, size_t bytes)
{
	const size_t n = r->n_functions + bytes / ROWS_CFI_OF_FUNCTION;

	if ((r->whole ? r->whole : r)->n_sealed)
		return;
	if (ARRAY_ROOM(&r->functions, &r->functions_capacity, n) < 0 ||
	    ARRAY_ROOM(&r->rows, &r->rows_capacity, r->n_rows + bytes / ROWS_CFI_OF_ROW) < 0)
		r->failed = -ENOMEM;
}

struct rows_row *rows_room(struct rows *r, size_t n)
{
	if (!r->failed && ARRAY_ROOM(&r->rows, &r->rows_capacity, r->n_rows + n) < 0)
		r->failed = -ENOMEM;
	return r->failed || !r->open ? NULL : r->rows + r->n_rows;
}

/* Of the room that rows_room gave, so many rows were filled. */
void rows_took(struct rows *r, size_t n)
{
	r->functions[r->n_functions].n = (uint32_t)n;
	r->n_rows += n;
}

/* Adds "from pc on this rule holds" to the open function. A rule that holds already, and addresses
 * outside of the function, add nothing. */
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

/* A function without rows says nothing, and would hide what a later source says. */
void rows_end(struct rows *r)
{
	if (r->open && r->functions[r->n_functions].n)
		r->n_functions++;
	r->open = false;
}

/* Its rows are overwritten by the next function's. */
void rows_cancel(struct rows *r)
{
	if (r->open)
		r->n_rows = r->functions[r->n_functions].first;
	r->open = false;
	r->skipped++;
}

/* A key for sorting: a start in the 4 GiB that a table may span, and its place in the order of
 * adding. */
struct rows_key {
	uint32_t start, at;
};

#define RADIX_BITS 11u

/* One pass of a radix sort; stable, so that functions with one start stay in the order of
 * adding. */
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

/* Moves functions to their places: what comes to place i stands at keys[i].at now. Each circle of
 * places that change with each other is gone round once. */
static void rows_place(struct rows_function *f, struct rows_key *keys, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct rows_function first = f[i];
		uint32_t to = (uint32_t)i;

		for (uint32_t from = keys[to].at; from != i; from = keys[to].at) {
			f[to] = f[from];
			keys[to].at = to;
			to = from;
		}
		f[to] = first;
		keys[to].at = to;
	}
}

/* Sorts functions by start with a radix sort; those with one start stay in the order in which they
 * were added. base: the lowest start. -ENOMEM. */
static int rows_sort_keys(struct rows_function *f, size_t n, uint64_t base)
{
	struct rows_key *keys = malloc(2 * n * sizeof(*keys)), *other = keys + n, *swap;

	if (!keys)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		keys[i] = (struct rows_key){ (uint32_t)(f[i].start - base), (uint32_t)i };
	swap = keys;
	for (unsigned shift = 0; shift < 32; shift += RADIX_BITS) {
		struct rows_key *from = swap;

		rows_sort_pass(from, other, n, shift);
		swap = other;
		other = from;
	}
	rows_place(f, swap, n);
	free(keys);
	return 0;
}

/* Merges functions that are in order, the first n of all, with those behind them, which are, too.
 * Of two with one start the one in front stays there. -ENOMEM. */
static int rows_merge(struct rows_function *f, size_t n, size_t all)
{
	size_t left = all - n;
	struct rows_function *behind = malloc(left * sizeof(*behind));

	if (!behind)
		return -ENOMEM;
	memcpy(behind, f + n, left * sizeof(*behind));
	while (left) {
		if (n && f[n - 1].start > behind[left - 1].start) {
			f[n + left - 1] = f[n - 1];
			n--;
		} else {
			f[n + left - 1] = behind[left - 1];
			left--;
		}
	}
	free(behind);
	return 0;
}

/* How many functions from one on are in order. */
static size_t rows_in_order(const struct rows *r, size_t from)
{
	size_t to = from + 1;

	while (to < r->n_functions && r->functions[to - 1].start <= r->functions[to].start)
		to++;
	return to - from;
}

/* Brings the functions into order of address. Compilers and linkers mostly wrote them so, in which
 * case nothing is done; what a later source adds is few. r->failed is -EFBIG if they span more
 * than 4 GiB. */
static void rows_sort(struct rows *r)
{
	const size_t n = r->n_functions;
	uint64_t low = UINT64_MAX, high = 0;
	size_t first = n ? rows_in_order(r, 0) : 0;
	int status = 0;

	if (first == n)
		return;
	for (size_t i = 0; i < n; i++) {
		const uint64_t start = r->functions[i].start;

		low = start < low ? start : low;
		high = start > high ? start : high;
	}
	first = first < n / 2 ? 0 : first;
	if (high - low > UINT32_MAX)
		status = -EFBIG;
	else if (first + rows_in_order(r, first) < n)
		status = rows_sort_keys(r->functions + first, n - first, low);
	if (!status && first)
		status = rows_merge(r->functions, first, n);
	if (status)
		r->failed = status;
}

/* Sorts the functions by start and takes overlaps out: a function ends where the next one begins,
 * and of two with one start the later one goes. */
void rows_seal(struct rows *r)
{
	size_t kept = 0;

	rows_sort(r);
	if (r->failed)
		return;
	for (size_t i = 0; i < r->n_functions; i++) {
		struct rows_function *f = &r->functions[i];

		/* Of two functions with one start the earlier one was added first, so it is of the
		 * better source. */
		if (kept && f->start == r->functions[kept - 1].start)
			continue;
		if (kept && f->start < r->functions[kept - 1].end)
			r->functions[kept - 1].end = f->start;
		r->functions[kept++] = *f;
	}
	r->n_functions = r->n_sealed = kept;
}

/* A share has dictionaries of its own, and asks the whole what is covered. */
void rows_share(struct rows *share, const struct rows *whole, uint32_t i)
{
	rows_init(share, whole->in);
	share->whole = whole;
	share->part = whole->n_parts + 1 + i;
}

/* An expression of a share in the table; -1. */
static int32_t rows_join_expression(struct rows *r, const struct rows *share, int32_t at)
{
	uint16_t n;

	memcpy(&n, share->exprs.bytes + at, 2);
	return rows_expression(r, share->exprs.bytes + at + 2, n);
}

/* The number that a share's rule has in the table. 0: failed. */
static uint32_t rows_join_rule(struct rows *r, const struct rows *share, uint32_t number)
{
	struct rows_rule rule = { 0 };
	struct frametab_rule *to = &rule.rule;

	memcpy(to, share->rules.bytes + number * sizeof(*to), sizeof(*to));
	memcpy(rule.saves, share->saves.bytes + (size_t)to->saves * 2,
	       (unsigned)__builtin_popcount(to->saved) * 2u);
	to->saves = 0;
	if (to->cfa == FRAMETAB_CFA_EXPR)
		to->cfa_off = rows_join_expression(r, share, to->cfa_off);
	if (to->fp == FRAMETAB_AT_EXPR || to->fp == FRAMETAB_AT_VAL_EXPR)
		to->fp_off = rows_join_expression(r, share, to->fp_off);
	if (to->ra == FRAMETAB_AT_EXPR || to->ra == FRAMETAB_AT_VAL_EXPR)
		to->ra_off = rows_join_expression(r, share, to->ra_off);
	return rows_number(r, &rule);
}

/* Adds all expressions and rules of a share, in their order; some are there already. Returns their
 * numbers in the table. */
static uint32_t *rows_join_rules(struct rows *r, const struct rows *share)
{
	size_t n = share->rules.n / sizeof(struct frametab_rule);
	uint32_t *numbers = calloc(n, sizeof(*numbers));
	uint16_t length;

	for (size_t at = 0; at < share->exprs.n && numbers; at += 2u + length) {
		memcpy(&length, share->exprs.bytes + at, 2);
		rows_join_expression(r, share, (int32_t)at);
	}
	for (uint32_t i = 1; i < n && numbers && !r->failed; i++)
		numbers[i] = rows_join_rule(r, share, i);
	return numbers;
}

/* Puts the functions of a share behind those that are there. The first share's array is taken over
 * as it is. -ENOMEM. */
static int rows_join_functions(struct rows *r, struct rows *share)
{
	size_t n = r->n_functions + share->n_functions;
	struct rows_function *bigger;

	if (!r->n_functions) {
		free(r->functions);
		r->functions = share->functions;
		r->functions_capacity = share->functions_capacity;
		share->functions = NULL;
	} else if (share->n_functions) {
		/* As many as there will be: the table of a large object is not doubled. */
		bigger = realloc(r->functions, n * sizeof(*bigger));
		if (!bigger)
			return -ENOMEM;
		memcpy(bigger + r->n_functions, share->functions,
		       share->n_functions * sizeof(*bigger));
		r->functions = bigger;
		r->functions_capacity = n;
	}
	r->n_functions = n;
	return 0;
}

/* Takes the share's rows over as a part, with the numbers that its rules have in the whole.
 * -ENOMEM: the whole may hold rules of it, but no function. */
static int rows_join_part(struct rows *r, struct rows *share)
{
	/* One by one: there are as many as threads. */
	struct rows_part *parts = realloc(r->parts, (r->n_parts + 1) * sizeof(*parts));
	uint32_t *numbers;

	if (!parts)
		return -ENOMEM;
	r->parts = parts;
	/* Rules get numbers in the whole; the rows stay as they are and are translated by
	 * `numbers`. */
	numbers = rows_join_rules(r, share);
	if (!numbers || rows_join_functions(r, share) < 0) {
		free(numbers);
		return -ENOMEM;
	}
	r->parts[r->n_parts++] = (struct rows_part){ .rows = share->rows, .numbers = numbers };
	share->rows = NULL;
	return r->failed;
}

/* The share is freed, whatever became of it. */
void rows_join(struct rows *r, struct rows *share)
{
	r->skipped += share->skipped;
	if (!r->failed)
		r->failed = share->failed ? share->failed : rows_join_part(r, share);
	rows_free(share);
}
