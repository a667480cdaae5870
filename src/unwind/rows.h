/* SPDX-License-Identifier: MIT */
/*
 * rows.h: collects functions and their rows from any source, in any order; layout.h makes the table
 * of them.
 *
 * Invariant: the rows of a function ascend and lie within it. Functions may come unsorted and may
 * overlap: the one that starts later ends the one before; of two with one start the first that was
 * added stays.
 */
#ifndef SEAM_UNWIND_ROWS_H
#define SEAM_UNWIND_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/map.h"
#include "unwind/compile.h"
#include "unwind/frametab.h"

/* A rule with its saves spelled out, as a source gives it. */
struct rows_rule {
	struct frametab_rule rule;
	int16_t saves[FRAMETAB_SAVED_MAX]; /* for the bits of rule.saved, lowest first */
};

struct rows_function {
	uint64_t start, end;
	size_t first;  /* its first row */
	uint32_t n;    /* rows */
	uint32_t part; /* whose rows: 0 own, else of parts[part - 1] */
};

struct rows_row {
	uint32_t off; /* from the function's start */
	uint32_t rule;
};

/* The rows of a share that was joined. */
struct rows_part {
	struct rows_row *rows;
	uint32_t *numbers; /* its numbers of rules -> those of the table */
};

#define ROWS_SEEN 1024u
#define ROWS_ASKED 256u /* functions between two questions whether to stop */

struct rows_seen {
	struct rows_rule rule;
	uint32_t number; /* 0: free */
};

struct rows {
	const struct compile_input *in;
	struct buf rules, saves, exprs; /* as in the blob */
	struct map by_hash;             /* hash of a rule -> number of the first with it */
	struct map expr_by_hash;        /* hash of an expression -> its offset + 1 */
	uint32_t *next;                 /* rule number -> next with the same hash, 0: none */
	size_t next_capacity;
	struct rows_seen
	        *seen; /* the rules used last, by a cheap hash: most rows cost one compare */
	struct rows_function *functions;
	size_t n_functions, functions_capacity;
	size_t n_sealed; /* functions of earlier sources: sorted, not overlapping */
	struct rows_row *rows;
	size_t n_rows, rows_capacity;
	struct rows_part *parts;
	uint32_t n_parts;
	const struct rows *whole; /* of a share: what it is joined to, */
	uint32_t part;            /* as which part */
	bool open; /* between rows_begin and rows_end, of a function inside the executable ranges */
	uint32_t skipped;
	uint32_t begun; /* functions, also those that were not taken */
	int failed;     /* -errno of the first failure */
};

void rows_init(struct rows *r, const struct compile_input *in);
void rows_free(struct rows *r);
/* Makes room for what so many bytes of CFI mostly say, so that little is moved as it comes. */
void rows_expect(struct rows *r, size_t bytes);
/* Starts a function. False: it lies outside the executable ranges, or is already covered; give no
 * rows. */
bool rows_begin(struct rows *r, uint64_t start, uint64_t end);
void rows_add(struct rows *r, uint64_t pc, const struct rows_rule *rule);
/* The number of a rule in the table. 0: failed. */
uint32_t rows_number(struct rows *r, const struct rows_rule *rule);
/*
 * In place of rows_add: rows_room makes room for n rows of the function that was begun. They are
 * written there in order, and rows_took says how many there are. NULL: failed.
 */
struct rows_row *rows_room(struct rows *r, size_t n);
void rows_took(struct rows *r, size_t n);
void rows_end(struct rows *r);
/* Takes back the function that was begun (it turned out unsound) and counts it as skipped. */
void rows_cancel(struct rows *r);
/* From here on functions that overlap one added before are refused by rows_begin: a second source
 * fills gaps only. */
void rows_seal(struct rows *r);
/* Where the first (sealed) function at or above an address begins; UINT64_MAX: there is none. */
uint64_t rows_next(const struct rows *r, uint64_t address);
/* Ends the (sealed) function that holds an address in front of it, unless it begins there. */
void rows_cut(struct rows *r, uint64_t address);
/* Keeps an expression, once; its offset for a rule, or -1. */
int32_t rows_expression(struct rows *r, const unsigned char *bytes, size_t n);
/*
 * Begins a share: some functions of one source, collected by a thread of its own. `whole` must not
 * change until the share is joined. Shares that are joined in the order of their functions give
 * what one thread would give.
 */
void rows_share(struct rows *share, const struct rows *whole, uint32_t i);
/* Adds the i-th share, after those before it, and frees it. */
void rows_join(struct rows *r, struct rows *share);

#endif
