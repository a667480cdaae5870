/* SPDX-License-Identifier: MIT */
/*
 * resolver.h: what is at an address of an address space, looked up once per distinct (space,
 * address).
 *
 * A frame that called another holds a return address, which stands behind the call and may belong
 * to the next function (a call that does not return may be a function's last instruction). So
 * callers are looked up at address - 1 and shown with the address as recorded. A caller's address
 * that begins a mapping (no call can stand in front of it) is looked up as it is.
 */
#ifndef SEAM_RESOLVE_PLACES_H
#define SEAM_RESOLVE_PLACES_H

#include "resolve/alike.h"
#include "resolve/frame_walk.h"
#include "resolve/lines.h"
#include "samples/recording.h"
#include "symbol/symbol.h"

struct place {
	const struct proc_mapping *mapping; /* NULL: nothing known is mapped there */
	struct symbol_object *object;       /* NULL exactly when mapping is */
	struct symbol symbol;               /* .state says why there is no name */
	uint64_t address;   /* as recorded, translated: in the terms of symbol.start; or a
	                                       file offset when the object could not be read */
	uint64_t looked_up; /* the address, as recorded; a caller's minus 1 */
	bool kernel;
	/* it runs because other code was stopped, which is the frame below (interrupted.h) */
	bool stops;
};

struct resolver;

int resolver_new(struct resolver **ret, const struct recording *rec,
                 const struct symbol_opts *opts);
/* A resolver for another thread: it has its own slots over the same symbols and lines, which must
 * outlive it. */
int resolver_share(struct resolver **ret, const struct resolver *with);
void resolver_free(struct resolver *p);
const struct recording *resolver_recording(const struct resolver *p);
/* The object of the kernel's own names; NULL: none was recorded, or out of memory. */
struct symbol_object *resolver_kernel(struct resolver *p);
/* Loads an object's names now; any thread. That it failed says the first lookup. */
void resolver_load(const struct resolver *p, const struct proc_object *o);
/* Hands the cache over: the caller frees it; resolver_find must not be called any more. */
struct symbol_cache *resolver_take_symbols(struct resolver *p);

/* A slot that the caller may fill (0 when new) for a frame of frame_walk_next. NULL: out of memory.
 * Lives until the next call. Guests' frames and guesses have slots of their own. One thread. */
uint64_t *resolver_frame_slot(struct resolver *p, uint32_t space, const struct frame_at *at);
/* The same, but one slot for the frame's place in its file, where it is the same thing in every
 * process that has the file mapped in this way: so that it is named once. For recordings, whose
 * spaces do not change. */
uint64_t *resolver_place_slot(struct resolver *p, uint32_t space, const struct frame_at *at);
/* Where a frame's place is, if it is the same thing in every process that has the file mapped in
 * this way: 1; 0: it is not. -ENOMEM. */
int resolver_alike(struct resolver *p, uint32_t space, const struct frame_at *at,
                   struct alike_place *ret);
/* How many bytes in front of place->looked_up, and from it on, are the same as this place, but for
 * their lines: in its mapping, and in all that are alike. False: that is not known. */
bool resolver_lasts(const struct place *place, uint64_t *before, uint64_t *after);
/* How many slots there are. resolver_forget makes all of them new. */
size_t resolver_count(const struct resolver *p);
void resolver_forget(struct resolver *p);
/* The lookup itself, not remembered. time_ns is any time at which space was in effect (for kernel
 * spaces). -ENOMEM. */
int resolver_find(struct resolver *p, uint32_t space, uint64_t time_ns, uint64_t addr, bool caller,
                  struct place *ret);

/*
 * Whether it is sure that a frame's address lies in no executable memory. Then it is no frame,
 * unless it is the first of its part: a walk by frame pointers took a word of data for a return
 * address, and what it found behind that is no frame either. False also where not all mappings of
 * the space are known.
 */
bool resolver_is_data(struct resolver *p, uint32_t space, const struct frame_at *at);

/* The same as resolver_find of an address that was read or written: names of variables, too. */
int resolver_find_data(struct resolver *p, uint32_t space, uint64_t time_ns, uint64_t addr,
                       struct place *ret);

/* Source lines and inlined calls: they are known after this. opts as in
 * load_opts.lines_opts. */
int resolver_lines_start(struct resolver *p, const struct lines_opts *opts,
                         const struct symbol_opts *symbols);
/* The same with lines that outlive the resolver; opts are theirs, but for the search. */
void resolver_lines_lend(struct resolver *p, struct lines *lines, const struct lines_opts *opts);
/* The object of lines in which a place's source can be looked up, and its address there. *ret NULL:
 * nothing can be known of it (there is no file, or another one than was recorded, or no debugging
 * information). -ENOMEM. */
int resolver_lines_object(struct resolver *p, const struct place *place, struct lines_object **ret,
                          uint64_t *ret_vaddr);
/* The source of a place, as lines_find; any thread. Empty when nothing is known of it. -ENOMEM. */
int resolver_source(struct resolver *p, const struct place *place, struct lines_at *ret);
/* Looks up all addresses that were wanted (lines_resolve); resolver_lines_resolve_some those so
 * far. */
int resolver_lines_resolve(struct resolver *p);
int resolver_lines_resolve_some(struct resolver *p);

#endif
