/* SPDX-License-Identifier: MIT */
/*
 * context.h: for whom a thread worked when it was sampled, in a recording (docs/format.md): sets of
 * labels (trace_id, span_id, http.route ...), each with a number.
 *
 * A KSYMBOL record of user mode that says the symbol is gone, at CONTEXT_BASE + number: from its
 * time on the thread in its sample_id has this set, as far as it is sampled on that CPU. Its name
 * is the set, where the number comes for the first time; else it is empty. Other readers take
 * nothing away at such an address, as nothing is there.
 */
#ifndef SEAM_ABI_CONTEXT_H
#define SEAM_ABI_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seam/record.h>

#include "base/buf.h"

#define CONTEXT_BASE (1ULL << 57)
#define CONTEXT_END (1ULL << 58)
#define CONTEXT_TEXT_MOST 32768u /* bytes of a set */

/* Numbers of sets. Those below CONTEXT_FIRST have no text in a file. */
enum context_number {
	CONTEXT_NOBODY,  /* no labels */
	CONTEXT_UNREAD,  /* a page was not in memory */
	CONTEXT_LARGE,   /* more than is read */
	CONTEXT_STRANGE, /* of a version that is not known */
	CONTEXT_FIRST = 16,
};

/* Whether a decoded KSYMBOL record is such a one. */
static inline bool context_is(const struct seam_record *record, const struct seam_ksymbol *k)
{
	return (record->misc & SEAM_MISC_CPUMODE_MASK) == SEAM_MISC_USER && k->unregister &&
	       k->addr >= CONTEXT_BASE && k->addr < CONTEXT_END;
}

static inline uint32_t context_number(const struct seam_ksymbol *k)
{
	return (uint32_t)(k->addr - CONTEXT_BASE);
}

/* ---- the text of a set: a line for each label, its key, a tab and its value ---- */

struct context_label {
	const char *key, *value;
	size_t key_n, value_n;
	size_t order; /* of context_put_all */
};

/* Adds a label. Tabs, ends of lines and backslashes of the texts are written with a backslash; NULs
 * end a text. */
void context_put(struct buf *set, const struct context_label *label);
/* Makes a set of labels in any order: sorted by key, so that equal sets have equal texts; of equal
 * keys the last one counts. The labels are put in order. What finds no room is left out: false. */
bool context_put_all(struct buf *set, struct context_label *labels, size_t n);
/* The next label of a text, as it is written; false: there is none. */
bool context_next(const char **text, struct context_label *ret);
/* The value of a key, without backslashes, in buf; NULL: the set has none. */
const char *context_value(const char *set, const char *key, struct buf *buf);
/* Appends a text of a set as it was. */
void context_plain(struct buf *out, const char *text, size_t n);
/* What a set of a number below CONTEXT_FIRST is called: "[not read: ...]"; NULL: it has no name. */
const char *context_reserved(uint32_t number);

#endif
