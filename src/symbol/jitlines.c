// SPDX-License-Identifier: MIT
/*
 * jitlines.c: see jitlines.h. The rows of a piece of code ascend, lie inside it, and come from one
 * record. A record with one entry that makes no sense is not used at all. Which pieces of code are
 * alone at their address is decided by jitdump.c.
 *
 * perf's record of lines: an address, a count, then entries (address, line, discriminator, name). A
 * row is found by two searches: the piece of code, then the row in it.
 */
#include "symbol/jitlines.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/intern.h"
#include "base/map.h"
#include "base/utf8.h"
#include "symbol/jitdump.h"
#include "symbol/v8names.h"

/* perf inject puts code behind an ELF header of this size. Until 5.8 it forgot the header in the
 * line table that it made. So compilers added its size to every address, and still do (V8's
 * perf-jit.cc, LLVM's PerfJITEventListener and PerfSupportPlugin). Others write addresses as they
 * are (perf's libperf-jvmti, QEMU). The file does not say which. */
#define ELF_HEADER 0x40u

#define ENTRY_LEAST 17u /* address, line, discriminator, the NUL of the name */
#define PADDING_MOST 7u /* behind the entries: to a multiple of 8 */
/* In place of a name: it is that of the entry before. */
#define SAME_NAME "\xff"

struct jitlines_told {
	uint32_t offset;     /* in the code */
	uint32_t file, line; /* line 0: from here on none is known */
};

/* A piece of code that has rows. alone: no other code was at its address; otherwise it is found by
 * its number only. */
struct jitlines_piece {
	uint64_t start, size;
	uint32_t number;
	uint32_t first, n; /* of rows */
	bool alone;
};

struct jitlines {
	struct buf rows;      /* struct jitlines_told */
	struct buf pieces;    /* struct jitlines_piece, by address */
	struct map by_number; /* of those that do not stand alone -> place in pieces */
	/* Of the paths, each once. */
	struct intern files;
	uint64_t told, bad; /* records of lines that belong to code; those that make no sense */
	uint64_t shift;     /* what was added to every address */
	bool undecided;     /* it is not known */
	char reason[160];
};

/* What is needed while a dump is read, and not afterwards. */
struct jitlines_reading {
	struct jitdump dump;
	struct v8names v8;
	/* where lines are told in the file -> their rows: the first, how many */
	struct map by_record;
};

static const struct jitdump_code *jitlines_codes_of(const struct jitlines_reading *r)
{
	return (const void *)r->dump.codes.bytes;
}

static size_t jitlines_n_codes(const struct jitlines_reading *r)
{
	return r->dump.codes.n / sizeof(struct jitdump_code);
}

/* ---- one record ---- */

/* One entry of a record, with the name already told. */
struct jitlines_entry {
	uint64_t offset; /* in the code, ELF_HEADER included if the compiler added it */
	uint32_t line;
	const char *file;
	size_t file_n;
};

/* A walk over the entries of one record. sound: so far everything made sense. */
struct entries {
	const struct jitlines_reading *r;
	const struct jitdump_code *code;
	struct cursor c;
	uint64_t left;
	const char *file; /* of the last */
	size_t file_n;
	bool sound;
};

/* Begins a walk. A count that the record cannot hold is unsound. */
static struct entries jitlines_entries_of(const struct jitlines_reading *r,
                                          const struct jitdump_code *code)
{
	struct entries e = { .r = r,
		             .code = code,
		             .c = cursor_of(code->lines, code->n_lines, r->dump.swap) };

	cursor_u64(&e.c); /* the code's address */
	e.left = cursor_u64(&e.c);
	e.sound = !e.c.failed && e.left && e.left <= cursor_left(&e.c) / ENTRY_LEAST &&
	          code->told.size < UINT32_MAX - ELF_HEADER;
	return e;
}

/* Whether a file's name is one that a compiler would write. Anything else is damage, or an attempt
 * to write to the terminal. */
static bool jitlines_is_sane(const char *file, size_t n)
{
	const unsigned char *p = (const unsigned char *)file;

	if (n >= PATH_MAX)
		return false;
	for (size_t i = 0, step; i < n; i += step) {
		step = utf8_sequence(p + i, n - i);
		if (!step || p[i] < ' ' || p[i] == 0x7f)
			return false;
	}
	return true;
}

/* Whether a name means "no file". "<unknown>" is V8's, "<invalid>" LLVM's. QEMU writes an empty
 * name behind the last instruction. */
static bool jitlines_is_nothing(const char *file)
{
	return !*file || !strcmp(file, "<unknown>") || !strcmp(file, "<invalid>");
}

/* Reads the name of an entry into e->file; NULL: it makes no sense. The name of the entry before
 * may stand for it. */
static void jitlines_entries_name(struct entries *e)
{
	size_t n;
	/* V8 overwrites the beginning of some names before it writes them (v8names.h). */
	const char *name = v8names_find(&e->r->v8, e->c.at, cursor_left(&e->c), &n);

	if (name) {
		cursor_bytes(&e->c, n + 1);
	} else {
		name = cursor_string(&e->c);
		if (!name || !strcmp(name, SAME_NAME))
			return;
		n = strlen(name);
	}
	if (e->file && n == e->file_n && !memcmp(name, e->file, n))
		return; /* most are the last one's, and known to be sane */
	e->file = jitlines_is_sane(name, n) ? name : NULL;
	e->file_n = n;
}

/* The next entry; false at the end, or when something makes no sense (e->sound tells). */
static bool jitlines_entries_next(struct entries *e, struct jitlines_entry *ret)
{
	uint32_t line;

	if (!e->sound || !e->left)
		return false;
	e->left--;
	/* Below the code's start the result is a very large number, and not sound. */
	ret->offset = cursor_u64(&e->c) - e->code->lines_start;
	line = cursor_u32(&e->c);
	cursor_u32(&e->c);
	jitlines_entries_name(e);
	e->sound = !e->c.failed && e->file && line <= INT32_MAX &&
	           ret->offset <= e->code->told.size + ELF_HEADER;
	ret->file = e->file;
	ret->file_n = e->file_n;
	ret->line = e->sound && !jitlines_is_nothing(e->file) ? line : 0;
	return e->sound;
}

/* ---- from where addresses count ---- */

/* The first and the last offset of a record whose entries all make sense. */
struct extent {
	uint64_t first, last;
};

/* False: some entry makes no sense, or addresses descend. */
static bool jitlines_extent_of(const struct jitlines_reading *r, const struct jitdump_code *code,
                               struct extent *ret)
{
	struct entries e = jitlines_entries_of(r, code);
	struct jitlines_entry at;
	bool is_first = true;

	while (jitlines_entries_next(&e, &at)) {
		if (is_first)
			ret->first = at.offset;
		else if (at.offset < ret->last)
			return false;
		ret->last = at.offset;
		is_first = false;
	}
	return e.sound && !is_first && cursor_left(&e.c) <= PADDING_MOST;
}

/*
 * Decides whether the compiler added 0x40 to all addresses; all records of a dump are of one
 * compiler. An entry within the first 0x40 bytes of its code proves that nothing was added, because
 * it would stand before the code. An entry behind the end of its code proves that 0x40 was. Without
 * a proof, 0x40 was added if most code would otherwise begin with exactly 0x40 bytes without a
 * line, because code mostly has a line where it begins. Otherwise, and where proofs contradict each
 * other, no line is believed.
 */
static void jitlines_find_shift(struct jitlines *l, const struct jitlines_reading *r)
{
	const struct jitdump_code *codes = jitlines_codes_of(r);
	size_t sound = 0, at_header = 0, plain = 0, added = 0;

	for (size_t i = 0; i < jitlines_n_codes(r); i++) {
		/* Code that was moved has the record of its first place. */
		struct extent extent;

		if (!codes[i].lines || codes[i].moved || !jitlines_extent_of(r, &codes[i], &extent))
			continue;
		sound++;
		at_header += extent.first == ELF_HEADER;
		plain += extent.first < ELF_HEADER;
		added += extent.last > codes[i].told.size;
	}
	l->shift = plain ? 0 : ELF_HEADER;
	l->undecided = (plain && added) || (sound && !plain && !added && at_header * 2 <= sound);
}

/* ---- all ---- */

static size_t jitlines_n_rows(const struct jitlines *l)
{
	return l->rows.n / sizeof(struct jitlines_told);
}

static const struct jitlines_told *jitlines_row_at(const struct jitlines *l, size_t i)
{
	return (const struct jitlines_told *)(const void *)l->rows.bytes + i;
}

static const struct jitlines_piece *jitlines_piece_at(const struct jitlines *l, size_t i)
{
	return (const struct jitlines_piece *)(const void *)l->pieces.bytes + i;
}

/* Of several entries at one place the last holds, as in DWARF. */
static int jitlines_put_row(struct jitlines *l, struct jitlines_piece *piece,
                            const struct jitlines_told *row)
{
	if (jitlines_n_rows(l) >= UINT32_MAX - 1)
		return -ENOMEM;
	if (piece->n && jitlines_row_at(l, jitlines_n_rows(l) - 1)->offset == row->offset) {
		l->rows.n -= sizeof(*row);
		piece->n--;
	}
	piece->n++;
	return buf_put(&l->rows, row, sizeof(*row));
}

/* A record is read once, however often its code was moved. Nothing is put if one entry makes no
 * sense. -ENOMEM. */
static int jitlines_put_rows(struct jitlines *l, const struct jitlines_reading *r,
                             const struct jitdump_code *code, struct jitlines_piece *piece)
{
	struct entries e = jitlines_entries_of(r, code);
	const char *file = NULL;
	struct extent extent;
	struct jitlines_told row = { 0 };
	struct jitlines_entry at;

	if (!jitlines_extent_of(r, code, &extent) || extent.first < l->shift ||
	    extent.last - l->shift > piece->size)
		return 0;
	while (jitlines_entries_next(&e, &at)) {
		if (at.file != file)
			row.file = intern_bytes(&l->files, at.file, at.file_n);
		file = at.file;
		row.offset = (uint32_t)(at.offset - l->shift);
		row.line = at.line;
		if (row.file == INTERN_FAILED || jitlines_put_row(l, piece, &row) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Keeps the piece if it has rows; a piece without is counted as bad. */
static int jitlines_put_piece(struct jitlines *l, const struct jitdump_code *code,
                              struct jitlines_piece *piece)
{
	size_t place = l->pieces.n / sizeof(*piece);

	l->bad += !piece->n;
	if (!piece->n || (code->ambiguous && map_put(&l->by_number, piece->number, place) < 0))
		return piece->n ? -ENOMEM : 0;
	return buf_put(&l->pieces, piece, sizeof(*piece));
}

/* Whether two records of code at one place, with the same code, have the same lines. Then it does
 * not matter which of them an address belonged to. */
static bool jitlines_is_told_alike(const struct jitdump_code *a, const struct jitdump_code *b)
{
	if (a->lines == b->lines)
		return true;
	return a->lines && b->lines && !a->moved && !b->moved && a->n_lines == b->n_lines &&
	       !memcmp(a->lines, b->lines, a->n_lines);
}

/* Finds where the pieces end that begin at the same address as the first one. *ret_alike: whether
 * their lines may be believed. Codes are sorted by address. */
static size_t jitlines_told_again(const struct jitlines_reading *r, size_t first, bool *ret_alike)
{
	const struct jitdump_code *codes = jitlines_codes_of(r);
	size_t i = first + 1;

	*ret_alike = true;
	for (; i < jitlines_n_codes(r) && codes[i].told.start == codes[first].told.start; i++)
		*ret_alike &=
		        codes[i].ambiguous || jitlines_is_told_alike(&codes[i], &codes[i - 1]);
	return i;
}

/* Adds the lines of one piece of code. Records that several pieces share are read once. alike:
 * false if code told again at this place had other lines; then none are believed. */
static int jitlines_put_code(struct jitlines *l, struct jitlines_reading *r,
                             const struct jitdump_code *code, bool alike)
{
	struct jitlines_piece piece = { .start = code->told.start,
		                        .size = code->told.size,
		                        .number = code->told.number,
		                        .first = (uint32_t)jitlines_n_rows(l),
		                        .alone = !code->ambiguous };
	uint64_t *slot;
	bool is_new;

	if (!code->lines)
		return 0;
	/* Counted also if its lines are not believed: the two numbers are shown together. */
	l->told++;
	slot = map_slot(&r->by_record, (uint64_t)(code->lines - r->dump.bytes), &is_new);
	if (!slot || (is_new && jitlines_put_rows(l, r, code, &piece) < 0))
		return -ENOMEM;
	/* The record's rows, for other pieces that have the same record. */
	if (is_new)
		*slot = (uint64_t)piece.first << 32 | piece.n;
	piece.first = (uint32_t)(*slot >> 32);
	piece.n = alike ? (uint32_t)*slot : 0;
	return jitlines_put_piece(l, code, &piece);
}

static int jitlines_put_codes(struct jitlines *l, struct jitlines_reading *r)
{
	size_t i = 0;

	while (i < jitlines_n_codes(r)) {
		bool alike;
		size_t end = jitlines_told_again(r, i, &alike);

		for (; i < end; i++)
			if (jitlines_put_code(l, r, &jitlines_codes_of(r)[i], alike) < 0)
				return -ENOMEM;
	}
	return 0;
}

/* The reason for missing lines, in the order of what it explains. */
static void jitlines_say(struct jitlines *l)
{
	if (l->undecided)
		snprintf(l->reason, sizeof(l->reason),
		         "it cannot be told from where its addresses of lines count");
	else if (l->bad)
		snprintf(l->reason, sizeof(l->reason),
		         "what it tells of lines makes no sense for %llu of %llu pieces of code",
		         (unsigned long long)l->bad, (unsigned long long)l->told);
	else if (!l->told)
		snprintf(l->reason, sizeof(l->reason), "it tells of no lines");
}

/* Names of functions have paths in them that spoiled names are mended with. All must be known
 * before the first record is read. */
static int jitlines_learn_names(struct jitlines_reading *r)
{
	for (size_t i = 0; i < jitlines_n_codes(r); i++)
		if (v8names_learn(&r->v8, jitlines_codes_of(r)[i].told.name) < 0)
			return -ENOMEM;
	return 0;
}

/* Reads all line records of a jitdump. That lines cannot be believed is no failure: jitlines_reason
 * says so, and none is found then. */
int jitlines_of(struct jitlines **ret, const void *bytes, size_t n)
{
	struct jitlines *l = calloc(1, sizeof(*l));
	struct jitlines_reading reading = { 0 };
	int r = l ? jitdump_read(&reading.dump, bytes, n) : -ENOMEM;

	if (r >= 0)
		r = jitlines_learn_names(&reading);
	if (r >= 0)
		jitlines_find_shift(l, &reading);
	if (r >= 0 && !l->undecided)
		r = jitlines_put_codes(l, &reading);
	jitdump_free(&reading.dump);
	v8names_free(&reading.v8);
	map_free(&reading.by_record);
	if (r < 0) {
		jitlines_free(l);
		return r;
	}
	jitlines_say(l);
	*ret = l;
	return 0;
}

/* The lines of a process's jitdump. -ENOENT: it has none. */
int jitlines_open(struct jitlines **ret, struct symbol_cache *cache, uint32_t pid)
{
	struct buf bytes = { 0 };
	int r = jitdump_open(&bytes, cache, pid);

	if (r >= 0)
		r = jitlines_of(ret, bytes.bytes, bytes.n);
	buf_free(&bytes);
	return r;
}

void jitlines_free(struct jitlines *l)
{
	if (!l)
		return;
	buf_free(&l->rows);
	buf_free(&l->pieces);
	map_free(&l->by_number);
	intern_free(&l->files);
	free(l);
}

/* ---- looking up ---- */

/* Finds the row that holds at an offset of a piece of code: the last one at or before it. -ENOENT:
 * there is none, or from there on no line is known. */
static int jitlines_find_row(const struct jitlines *l, const struct jitlines_piece *piece,
                             uint64_t offset, uint32_t *ret)
{
	uint32_t low = piece->first, high = piece->first + piece->n;

	if (offset >= piece->size)
		return -ENOENT;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (jitlines_row_at(l, middle)->offset <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == piece->first || !jitlines_row_at(l, low - 1)->line)
		return -ENOENT;
	*ret = low - 1;
	return 0;
}

/* The row of an address in code that was alone there. -ENOENT. */
int jitlines_find(const struct jitlines *l, uint64_t addr, uint32_t *ret)
{
	size_t low = 0, high = l->pieces.n / sizeof(struct jitlines_piece);

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (jitlines_piece_at(l, middle)->start <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	/* Pieces that overlap are not alone, except for the same piece written again. */
	if (!low || !jitlines_piece_at(l, low - 1)->alone)
		return -ENOENT;
	return jitlines_find_row(l, jitlines_piece_at(l, low - 1),
	                         addr - jitlines_piece_at(l, low - 1)->start, ret);
}

/* The same in a piece that a recording names by its number (perf inject --jit). */
int jitlines_find_in(const struct jitlines *l, uint32_t number, uint64_t offset, uint32_t *ret)
{
	uint64_t i;

	if (!map_get(&l->by_number, number, &i))
		return -ENOENT;
	return jitlines_find_row(l, jitlines_piece_at(l, i), offset, ret);
}

struct jitlines_row jitlines_row(const struct jitlines *l, uint32_t row)
{
	const struct jitlines_told *r = jitlines_row_at(l, row);

	return (struct jitlines_row){ intern_get(&l->files, r->file), r->line };
}

size_t jitlines_rows(const struct jitlines *l)
{
	return jitlines_n_rows(l);
}

const char *jitlines_reason(const struct jitlines *l)
{
	return l->reason;
}
