/* SPDX-License-Identifier: MIT */
/*
 * table.h: symbols of one object, searchable by address.
 *
 * Invariant after table_seal: symbols are ascending; where some nest or overlap there are pieces,
 * which are disjoint and ascending, and each belongs to one symbol. So a lookup is one binary
 * search.
 *
 * Of several symbols that begin at one address one is kept, by the first of these that decides:
 * with a size before without; later rank (perf maps: later lines); external (global, weak) before
 * local; fewer leading underscores; global before weak; the shorter name; the alphabet.
 * A symbol without size reaches to the next symbol, at most to its limit, and is dropped inside a
 * sized one. Where sized symbols overlap, the one of higher rank, then of higher start has the
 * address: the inner one, if they nest.
 */
#ifndef SEAM_SYMBOL_TABLE_H
#define SEAM_SYMBOL_TABLE_H

#include "base/buf.h"
#include "base/scratch.h"
#include "symbol/symbol.h"

enum table_bind {
	TABLE_LOCAL,
	TABLE_WEAK,
	TABLE_GLOBAL,
};

struct table_symbol {
	uint64_t start, end; /* [start, end); end == start before table_seal: no size */
	uint64_t limit;      /* for a symbol without size */
	uint32_t name;       /* offset in names */
	uint32_t rank;
	uint8_t bind; /* enum table_bind */
};

/* What a lookup in a sealed table without overlaps needs of a symbol, as a cache on disk has it. */
struct table_kept {
	uint64_t start;
	uint32_t size, name; /* bytes; offset in names */
};

/* The answer of a lookup. */
struct table_found {
	uint64_t start, end;
	uint32_t name;   /* offset in names */
	uint32_t number; /* of the symbol, below n */
	/* around the address, where the answer is the same; of no symbol, too */
	uint64_t from, to;
};

struct table_piece {
	uint64_t start;
	uint32_t symbol; /* or TABLE_NOTHING */
};
#define TABLE_NOTHING UINT32_MAX

struct table {
	struct buf names; /* NUL-terminated strings */
	struct table_symbol *symbols;
	size_t n, capacity;
	bool sealed;
	struct table_piece *pieces; /* NULL: no two symbols overlap */
	size_t n_pieces;
	const struct table_kept *kept; /* in place of symbols, or NULL */
	/* What all of these point into: of table_spill, of table_lend. */
	struct scratch_alone spilled;
	struct kernel_kept lent;
};

void table_free(struct table *table);
/* So many symbols, with so many bytes of names, will be added, or fewer. Only advice. */
void table_room(struct table *table, size_t n, size_t names);
/* Adds a symbol; suffix is put behind the name, may be "". -ENOMEM; -E2BIG: 4 GiB of names. */
int table_put(struct table *table, const struct table_symbol *symbol, const char *name, size_t n,
              const char *suffix);
/* Sorts and chooses, once; after that nothing may be added. -ENOMEM. */
int table_seal(struct table *table);
/* Moves a sealed table into a file without a name (base/scratch.h). False: it stays in memory. */
bool table_spill(struct table *table);
/* Makes a sealed table of bytes in which its symbols and names lie, and which are the table's from
 * here on. They must ascend and not overlap; the last name must end in a NUL. */
void table_lend(struct table *table, const struct kernel_kept *bytes, const struct table_kept *kept,
                size_t n, const char *names, size_t n_names);
/* The symbol at addr; false: there is none, and only from and to are of use. */
bool table_find(const struct table *table, uint64_t addr, struct table_found *ret);
/* By the symbol's offset. */
const char *table_name(const struct table *table, uint32_t name);

#endif
