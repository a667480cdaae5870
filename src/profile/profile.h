/* SPDX-License-Identifier: MIT */
/*
 * profile.h: the answer: stacks with weights, everything in it stored once.
 *
 * A frame is interned by what it is, a stack is a node of one tree (parent, frame), a weight
 * belongs to a row (event, task, cpu, state, stack). Memory grows with distinct rows, not with
 * samples. Ids are dense, start at 1 (0 is "none", for nodes the root) and never change; a parent's
 * id is less than its child's, so a loop over ids from high to low goes from leaves to the root.
 *
 * Knows nothing of files, kernels or records: the names of events and states are given to it.
 * One thread may fill a profile; finished ones are read by any number, and merged.
 */
#ifndef SEAM_PROFILE_PROFILE_H
#define SEAM_PROFILE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Which of a sample's keys a profile keeps; those left out cost no memory and read as
 * PROFILE_NOT_KEPT. Event, comm, state and stack are always kept. */
#define PROFILE_KEEP_PID (1u << 0)
#define PROFILE_KEEP_TID (1u << 1)
/* Beside the rows, every sample with its time: memory then grows with samples. */
#define PROFILE_KEEP_SAMPLES (1u << 3)
/* Which program each task ran: origin.h. */
#define PROFILE_KEEP_PROGRAM (1u << 5)
/* The numbers of columns.def: CPU; SLICE of time: see profile_set_slices. */
enum {
#define NUMBER(bit, id, name) PROFILE_KEEP_##id = 1 << (bit),
#include "profile/columns.def"
};

#define PROFILE_NOT_KEPT UINT32_MAX /* also: the recording did not say */
#define PROFILE_FAILED UINT32_MAX   /* returned for an id: out of memory, or 2^32 of them */
#define PROFILE_ROOT 0u

enum profile_unit {
	PROFILE_COUNT,
	PROFILE_NANOSECONDS,
};

enum profile_kind {
	PROFILE_UNKNOWN, /* an address that no mapping holds */
	PROFILE_USER,
	PROFILE_KERNEL,
	PROFILE_INLINED, /* a call that the compiler expanded; its parent is where it stands */
	/* no frame: outermost, it says why the frames outside of the next one are missing */
	PROFILE_MISSING,
	PROFILE_KINDS,
};

/* The kind of frames that are shown as one: the least that is known, so that the order of frames
 * does not matter, and PROFILE_INLINED are calls that are nowhere but inlined. */
static inline uint32_t profile_kind_of(uint32_t a, uint32_t b)
{
	return b != PROFILE_UNKNOWN && (a == PROFILE_UNKNOWN || b < a) ? b : a;
}

struct profile_frame {
	uint64_t address; /* in the object's own numbering; as recorded when object is 0 */
	uint32_t object;  /* 0: none */
	uint32_t symbol;  /* string; 0: no name is known; nameless_is: only where it begins */
	uint32_t file;    /* string, of the source; 0: not known */
	uint32_t line;    /* 0: not known; of the code, or of the call to the next frame */
	uint32_t kind;    /* enum profile_kind */
	uint32_t depth;   /* INLINED: how many calls were inlined up to it, from 1; else 0 */
};

struct profile_object {
	uint32_t path;     /* string: "/usr/lib/libc.so.6", "[kernel.kallsyms]", "[vdso]" */
	uint32_t build_id; /* string, in hexadecimal; 0: not known */
};

struct profile_task {
	uint32_t comm; /* string */
	uint32_t pid, tid;
};

struct profile_node {
	uint32_t parent;
	uint32_t frame;
};

/* Whose samples a row counts. */
struct profile_key {
	uint32_t event, task;
	uint32_t state; /* by profile_state_at */
	uint32_t node;  /* the innermost frame; PROFILE_ROOT: an empty stack */
#define NUMBER(bit, id, name) uint32_t name;
#include "profile/columns.def"
};

struct profile_row {
	struct profile_key key;
	uint64_t samples;
	uint64_t weight; /* the sum of their periods, in the event's unit */
};

/* One sample as it was taken; its row counts it, too, and has its key. */
struct profile_sample {
	uint64_t time_ns;
	uint64_t weight;
	uint32_t key; /* its row's place, + 1 */
};

struct profile;
struct trie;
struct trie_step; /* base/trie.h: a frame and its node */

int profile_new(struct profile **ret, unsigned keep);
void profile_free(struct profile *p);
unsigned profile_keeps(const struct profile *p);

/* ---- filling: each returns an id, PROFILE_FAILED when out of memory ---- */

uint32_t profile_string(struct profile *p, const char *text);
/* What the event's weights are counted in is part of what it is. */
uint32_t profile_event_in(struct profile *p, const char *name, enum profile_unit unit);
static inline uint32_t profile_event(struct profile *p, const char *name)
{
	return profile_event_in(p, name, PROFILE_COUNT);
}
uint32_t profile_object(struct profile *p, const char *path, const char *build_id);
/* comm is a string id; pid and tid are dropped when they are not kept. */
uint32_t profile_task(struct profile *p, uint32_t comm, uint32_t pid, uint32_t tid);
uint32_t profile_frame(struct profile *p, const struct profile_frame *frame);
uint32_t profile_node(struct profile *p, uint32_t parent, uint32_t frame);
/* The same where the parent does not call that frame yet, which is not looked up. */
uint32_t profile_node_new(struct profile *p, uint32_t parent, uint32_t frame);
/* The innermost node of n frames, each called from the one before, the first one from parent; their
 * nodes are filled. */
uint32_t profile_path(struct profile *p, uint32_t parent, struct trie_step *frames, size_t n);
/* Adds to the row of key, made when new. *ret is the key that samples of that row have. */
int profile_add_sampled(struct profile *p, const struct profile_key *key, uint64_t samples,
                        uint64_t weight, uint32_t *ret);
static inline int profile_add(struct profile *p, const struct profile_key *key, uint64_t samples,
                              uint64_t weight)
{
	uint32_t ignored;

	return profile_add_sampled(p, key, samples, weight, &ignored);
}

/* The same of a row that is not there yet: it is not looked for. */
int profile_add_new(struct profile *p, const struct profile_key *key, uint64_t samples,
                    uint64_t weight);
/* Room for so many rows more, where it is known that they come. -ENOMEM. */
int profile_room(struct profile *p, size_t rows);
int profile_room_samples(struct profile *p, size_t samples);

/* Adds to the list of samples, if they are kept, and to no row. */
int profile_add_sample(struct profile *p, const struct profile_sample *sample);
/* By time; equal times keep the order in which they were added. */
int profile_sort_samples(struct profile *p);

/* What became of the samples' stacks; the texts are copied. state < PROFILE_STATES_MAX. */
#define PROFILE_STATES_MAX 32u
struct profile_state {
	const char *name, *text; /* for machines; for people */
	const char *hint; /* what helps where many samples are in this state; NULL: nothing */
	bool whole;       /* nothing of the stack is missing */
	bool unfinished;  /* a part of it is; both false: no stack was asked for */
};
int profile_set_state(struct profile *p, uint32_t state, const struct profile_state *facts);
/* A slice begins at (first + key.slice) * quantum_ns. Both are 0 where slices are not kept. */
struct profile_slices {
	uint64_t quantum_ns, first;
};
void profile_set_slices(struct profile *p, const struct profile_slices *slices);
const struct profile_slices *profile_slices(const struct profile *p);
/* Counted beside the rows; added up by merge. */
struct profile_counts {
	uint64_t lost;            /* records that LOST records count */
	uint64_t lost_samples;    /* that LOST_SAMPLES records count; perf counts losses in both */
	uint64_t lost_beside;     /* of lost_samples, those that no LOST record counts too */
	uint64_t skipped_samples; /* of those, skipped: a BPF program ran on the CPU */
	uint64_t lost_tasks;      /* at least: tasks that were not followed, without samples */
	uint64_t duplicate_samples; /* seen again, byte for byte: not in any row */
	uint64_t undecoded;         /* sample records that could not be read: not in any row */
};
/* All that was lost, each once. */
static inline uint64_t profile_lost(const struct profile_counts *c)
{
	/* A store may say anything. */
	uint64_t beside = c->lost_beside < c->lost_samples ? c->lost_beside : c->lost_samples;
	uint64_t told = c->lost_samples - beside;

	return beside + (told > c->lost ? told : c->lost);
}

struct profile_counts *profile_counts(struct profile *p);
const struct profile_counts *profile_counts_of(const struct profile *p);

/* Adds all of `from`. Its ids are renamed on the way; both must keep the same keys. */
int profile_merge(struct profile *p, const struct profile *from);

/* A new profile of the rows for which keep() says true, by their keys, and of their samples; ctx is
 * handed to it. */
int profile_filter(struct profile **ret, const struct profile *p,
                   bool (*keep)(const struct profile *p, const struct profile_row *row, void *ctx),
                   void *ctx);

/* The same without a copy: all but the rows is p's, so its numbers are those of p, which must
 * outlive it; neither is filled any more. */
int profile_choose(struct profile **ret, const struct profile *p,
                   bool (*keep)(const struct profile *p, const struct profile_row *row, void *ctx),
                   void *ctx);

/* What stands for a frame: [0] for itself, each one after that a call inlined into the one
 * before. */
struct profile_source {
	const char *function; /* NULL: as the frame has it, or not known */
	const char *file;     /* NULL: not known */
	uint32_t line;
};
/* A new profile in which every frame has the source that at() gives, and a node for each call that
 * was inlined there. at() returns how many it put into *ret; 0 leaves the frame as it is. */
int profile_expand(struct profile **ret, const struct profile *p,
                   size_t (*at)(void *ctx, uint32_t frame, const struct profile_source **ret),
                   void *ctx);

/* The same without a copy, where few stacks have inlined calls: 1. 0: a copy is needed, and p is as
 * it was, but for strings that nothing names. -ENOMEM. */
int profile_expand_in_place(struct profile *p,
                            size_t (*at)(void *ctx, uint32_t frame,
                                         const struct profile_source **ret),
                            void *ctx);

/* The same profile with ids that depend on nothing but what is in it: rows by event, task, cpu,
 * state and stack, samples by time and then like rows. For output that is to be equal for equal
 * input. */
int profile_canonical(struct profile **ret, const struct profile *p);

/* ---- reading: pointers live until the next call that fills, or profile_free ---- */

const char *profile_text(const struct profile *p, uint32_t string);
size_t profile_n_strings(const struct profile *p); /* ids 1 ... n */
size_t profile_n_events(const struct profile *p);  /* ids 1 ... n */
const char *profile_event_name(const struct profile *p, uint32_t event);
enum profile_unit profile_event_unit(const struct profile *p, uint32_t event);
size_t profile_n_states(const struct profile *p); /* 0 ... n - 1 */
const struct profile_state *profile_state_at(const struct profile *p, uint32_t state);
size_t profile_n_objects(const struct profile *p); /* 1 ... n */
const struct profile_object *profile_object_at(const struct profile *p, uint32_t object);
size_t profile_n_tasks(const struct profile *p); /* 1 ... n */
const struct profile_task *profile_task_at(const struct profile *p, uint32_t task);
size_t profile_n_frames(const struct profile *p); /* 1 ... n */
const struct profile_frame *profile_frame_at(const struct profile *p, uint32_t frame);
size_t profile_n_nodes(const struct profile *p); /* 1 ... n; PROFILE_ROOT is 0 */
struct profile_node profile_node_at(const struct profile *p, uint32_t node);
/* The same nodes with frames as their keys, for who looks at millions of them (base/trie.h). */
const struct trie *profile_tree(const struct profile *p);
size_t profile_n_rows(const struct profile *p); /* 0 ... n - 1, in the order they were made */
const struct profile_row *profile_row_at(const struct profile *p, size_t i);

size_t profile_n_samples(const struct profile *p); /* 0 ... n - 1; 0 when they are not kept */
const struct profile_sample *profile_sample_at(const struct profile *p, size_t i);
const struct profile_key *profile_key_at(const struct profile *p, uint32_t key);
static inline const struct profile_key *profile_key_of(const struct profile *p,
                                                       const struct profile_sample *sample)
{
	return profile_key_at(p, sample->key);
}

/* The stacks' account: how many samples ended in each state, for one event or (0) for all. */
struct profile_account {
	uint64_t samples, weight;
	uint64_t state[PROFILE_STATES_MAX];
	uint64_t whole;    /* samples in states that are whole */
	uint64_t no_stack; /* samples with no frame at all */
};
void profile_account(const struct profile *p, uint32_t event, struct profile_account *ret);

#endif
