/* SPDX-License-Identifier: MIT */
/*
 * contexts.h: for whom threads worked at which time (abi/context.h): sets of labels, by number, and
 * which set a thread had on a CPU from a time on.
 *
 * Learned in the order of the file, then sealed; of a stream, in order of time, and asked at once.
 * Sealed ones may be asked from any thread.
 */
#ifndef SEAM_SAMPLES_CONTEXTS_H
#define SEAM_SAMPLES_CONTEXTS_H

#include <seam/record.h>

#include "base/buf.h"
#include "base/intern.h"
#include "base/map.h"

struct contexts_list;

struct contexts {
	struct map by_number; /* as the file numbers them -> in sets */
	struct intern sets;   /* 0: none */
	struct map by_thread; /* tid, CPU -> 1 + in lists */
	struct contexts_list *lists;
	size_t n_lists, lists_capacity;
	uint32_t lost; /* in sets: of numbers that were not told; 0: there is none */
	uint64_t records;
};

/* Learns the text of a record that context_is, if it has one; -ENOMEM. In the order of the file. */
int contexts_learn_text(struct contexts *c, const struct seam_ksymbol *k);
/* Learns whose it is. -ENOMEM. */
int contexts_learn(struct contexts *c, const struct seam_decoded *d);
void contexts_seal(struct contexts *c);
void contexts_free(struct contexts *c);

/* The number of the set of a thread's sample on a CPU at a time; 0: none. */
uint32_t contexts_at(const struct contexts *c, uint32_t tid, uint32_t cpu, uint64_t time_ns);
/* The text of a set. It has no label where it was not read: "[not read: ...]". */
static inline const char *contexts_text(const struct contexts *c, uint32_t set)
{
	return intern_get(&c->sets, set);
}

/* Appends a set without the ids of its trace and span, in the form that it has. */
void contexts_lines(struct buf *out, const char *text);
/* Appends a set for people: its labels as KEY=VALUE, the id of its trace and span last, or left
 * out. */
void contexts_show(struct buf *out, const char *text, bool ids);
/*
 * Whether a set has what a list asks for: KEY=VALUE,... of which each must hold; a value may be a
 * pattern (* and ?), and of several for one key one is enough. trace and span stand for trace_id
 * and span_id.
 */
bool contexts_match(const char *text, const char *list);
/* Whether a list is one. */
bool contexts_is_list(const char *list);
/* The values of keys (KEY,...), joined by commas, into out; false: the set has none of them. */
bool contexts_values(const char *text, const char *keys, struct buf *out);

#endif
