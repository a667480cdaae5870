// SPDX-License-Identifier: MIT
/*
 * frametab.c: checks a table blob and searches it.
 *
 * A table comes from a cache on disk, which others might have written, or out of the compiler. It
 * is plain bytes, used where they lie. docs/unwind-table.md has its form: header, rules, index of
 * pages, rows, saves, expressions.
 *
 * Invariant: after frametab_open no search can leave the blob.
 */
#include "unwind/frametab.h"

#include <errno.h>
#include <string.h>

#include "base/map.h"

#define ROW_RULE(row) ((row) & (FRAMETAB_RULES_MAX - 1))
#define ROW_PC(row) ((row) >> FRAMETAB_RULE_BITS)

_Static_assert(sizeof(struct frametab_header) == 64, "the header's size is part of the form");
_Static_assert(sizeof(struct frametab_rule) == 32, "a rule's size is part of the form");

unsigned frametab_saved_count(uint32_t machine)
{
	return machine == FRAMETAB_X86_64 ? FRAMETAB_SAVED_X86_64 : FRAMETAB_SAVED_MAX;
}

/* DWARF's numbers of rbx, r12 to r15; of x19 to x28 on aarch64, by the order of the bits. */
unsigned frametab_saved_register(uint32_t machine, unsigned bit)
{
	static const uint8_t x86_64[] = { 3, 12, 13, 14, 15 };

	return machine == FRAMETAB_X86_64 ? x86_64[bit] : 19 + bit;
}

static int frametab_bad(struct seam_error *err, const char *what)
{
	return seam_error_set(err, EBADMSG, NULL, SEAM_NO_OFFSET, "unwind table", "%s", what);
}

/* A reference to an expression: a u16 length and that many bytes. */
static int frametab_check_expr(const struct frametab *t, int32_t at)
{
	uint16_t n;

	if (at < 0 || (size_t)at + 2 > t->n_exprs)
		return -EBADMSG;
	memcpy(&n, t->exprs + at, 2);
	return n > t->n_exprs - (size_t)at - 2 ? -EBADMSG : 0;
}

/* Checks that every register, offset and reference of a rule stays inside the table. 0, or
 * -EBADMSG. */
static int frametab_check_rule(const struct frametab *t, const struct frametab_rule *r)
{
	unsigned count = (unsigned)__builtin_popcount(r->saved);

	if (r->cfa > FRAMETAB_CFA_EXPR || r->fp > FRAMETAB_AT_VAL_CFA ||
	    r->ra > FRAMETAB_AT_VAL_CFA || r->cfa_reg > 31)
		return -EBADMSG;
	if (r->saved >> frametab_saved_count(t->header->machine) || r->saves > t->header->n_saves ||
	    count > t->header->n_saves - r->saves)
		return -EBADMSG;
	if (r->flags & FRAMETAB_LIKE &&
	    (r->cfa != FRAMETAB_CFA_NONE || r->like >= t->header->n_rules))
		return -EBADMSG;
	if (r->cfa == FRAMETAB_CFA_EXPR && frametab_check_expr(t, r->cfa_off))
		return -EBADMSG;
	if ((r->fp == FRAMETAB_AT_REG && (uint32_t)r->fp_off > 31) ||
	    (r->ra == FRAMETAB_AT_REG && (uint32_t)r->ra_off > 31))
		return -EBADMSG;
	if ((r->fp == FRAMETAB_AT_EXPR || r->fp == FRAMETAB_AT_VAL_EXPR) &&
	    frametab_check_expr(t, r->fp_off))
		return -EBADMSG;
	if ((r->ra == FRAMETAB_AT_EXPR || r->ra == FRAMETAB_AT_VAL_EXPR) &&
	    frametab_check_expr(t, r->ra_off))
		return -EBADMSG;
	return 0;
}

/* The index ascends from 0 to the number of rows, so that a page's rows lie inside. */
static int frametab_check_rows(const struct frametab *t)
{
	const struct frametab_header *h = t->header;

	if (t->index[0] != 0 || t->index[h->n_pages] != h->n_rows)
		return -EBADMSG;
	for (uint32_t p = 0; p < h->n_pages; p++) {
		if (t->index[p] > t->index[p + 1])
			return -EBADMSG;
	}
	for (uint32_t i = 0; i < h->n_rows; i++) {
		if (ROW_RULE(t->rows[i]) >= h->n_rules)
			return -EBADMSG;
	}
	return 0;
}

/* Only for a blob that was checked or made here: nothing is looked at. */
void frametab_of(struct frametab *ret, const void *blob)
{
	const unsigned char *at = blob;
	const struct frametab_header *h = blob;

	ret->header = h;
	at += sizeof(*h);
	ret->rules = (const void *)at;
	at += (uint64_t)h->n_rules * sizeof(struct frametab_rule);
	ret->index = (const void *)at;
	at += ((uint64_t)h->n_pages + 1) * 4;
	ret->rows = (const void *)at;
	at += (uint64_t)h->n_rows * 4;
	ret->saves = (const void *)at;
	ret->exprs = at + (uint64_t)h->n_saves * 2;
	ret->n_exprs = h->n_exprs;
}

/* The checksum finds damage, not malice: whoever can write the file can compute it. So everything
 * that a search relies on is checked as well. */
int frametab_open(struct frametab *ret, const void *blob, size_t n, struct seam_error *err)
{
	const unsigned char *bytes = blob;
	const struct frametab_header *h = blob;
	struct frametab t = { .header = h };
	uint64_t at = sizeof(*h);

	if (n < sizeof(*h) || h->magic != FRAMETAB_MAGIC || h->version != FRAMETAB_VERSION)
		return frametab_bad(err, "not a table of this version");
	if (h->machine != FRAMETAB_X86_64 && h->machine != FRAMETAB_AARCH64)
		return frametab_bad(err, "made for an unknown machine");
	if (h->size != n || h->n_rules == 0 || h->n_rules > FRAMETAB_RULES_MAX ||
	    h->text_start % FRAMETAB_PAGE ||
	    h->text_start > UINT64_MAX - (uint64_t)h->n_pages * FRAMETAB_PAGE)
		return frametab_bad(err, "its header contradicts itself");
	t.rules = (const struct frametab_rule *)(bytes + at);
	at += (uint64_t)h->n_rules * sizeof(struct frametab_rule);
	t.index = (const uint32_t *)(bytes + at);
	at += ((uint64_t)h->n_pages + 1) * 4;
	t.rows = (const uint32_t *)(bytes + at);
	at += (uint64_t)h->n_rows * 4;
	t.saves = (const int16_t *)(bytes + at);
	at += (uint64_t)h->n_saves * 2;
	t.exprs = bytes + at;
	t.n_exprs = h->n_exprs;
	at += h->n_exprs;
	/* The end is padded to 8 bytes. */
	if (at > n || n - at > 7)
		return frametab_bad(err, "its parts do not fill it");
	if (map_hash_bytes(bytes + sizeof(*h), n - sizeof(*h), h->text_start) != h->checksum)
		return frametab_bad(err, "its checksum is wrong");
	if (frametab_check_rows(&t))
		return frametab_bad(err, "a row points outside");
	for (uint32_t i = 0; i < h->n_rules; i++) {
		if (frametab_check_rule(&t, &t.rules[i]))
			return frametab_bad(err, "a rule points outside");
	}
	*ret = t;
	return 0;
}

/* Two steps: the page of the address in the index, then a binary search in this page's rows. The
 * last row at or before the address holds. */
const struct frametab_rule *frametab_find(const struct frametab *t, uint64_t address)
{
	uint64_t page = (address - t->header->text_start) / FRAMETAB_PAGE;
	uint32_t low = address & (FRAMETAB_PAGE - 1), at, n;

	/* Rule 0: nothing is known there. */
	if (address < t->header->text_start || page >= t->header->n_pages)
		return &t->rules[0];
	at = t->index[page];
	n = t->index[page + 1] - at;
	while (n) { /* at becomes the first row of the page that begins above the address */
		uint32_t half = n / 2;

		if (ROW_PC(t->rows[at + half]) <= low) {
			at += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	/* The row before it holds, even if it stands in an earlier page. */
	return at ? &t->rules[ROW_RULE(t->rows[at - 1])] : &t->rules[0];
}
