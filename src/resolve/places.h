/* SPDX-License-Identifier: MIT */
/*
 * places.h: what is at an address of an address space, looked up once per distinct (space,
 * address).
 *
 * A frame that called another holds a return address, which stands behind the call and may belong
 * to the next function (a call that does not return may be a function's last instruction). So
 * callers are looked up at address - 1 and shown with the address as recorded. A caller's address
 * that begins a mapping (no call can stand in front of it) is looked up as it is.
 */
#ifndef SEAM_RESOLVE_PLACES_H
#define SEAM_RESOLVE_PLACES_H

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
	bool stops; /* it runs because other code was stopped, which is the frame below (interrupted.h) */
};

struct places;

int places_new(struct places **ret, const struct recording *rec, const struct symbol_opts *opts);
/* For another thread: slots of its own over the same symbols and lines, which outlive it. */
int places_share(struct places **ret, const struct places *with);
void places_free(struct places *p);
struct symbol_cache *places_symbols(struct places *p);
const struct recording *places_recording(const struct places *p);
/* The object of the kernel's own names; NULL: none was recorded, or out of memory. */
struct symbol_object *places_kernel(struct places *p);
/* Hands the cache over: the caller frees it; places_find must not be called any more. */
struct symbol_cache *places_take_symbols(struct places *p);

/*
 * A slot that the caller may fill (0 when new) for an address of a space as recording_spaces gives
 * it. NULL: out of memory. Lives until the next call. One thread.
 */
uint64_t *places_slot(struct places *p, uint32_t space, uint64_t addr, bool caller);
/* The same for a frame of frame_walk_next; guests' frames and guesses have slots of their own. */
uint64_t *places_frame_slot(struct places *p, uint32_t space, const struct frame_at *at);
/* How many slots there are; and all of them new again. */
size_t places_count(const struct places *p);
void places_forget(struct places *p);
/* The lookup itself, not remembered. time_ns is any time at which space was in effect (for kernel
 * spaces). -ENOMEM. */
int places_find(struct places *p, uint32_t space, uint64_t time_ns, uint64_t addr, bool caller,
                struct place *ret);

/*
 * Is it sure that a frame's address lies in no executable memory? Then it is no frame, unless it is
 * the first of its part: a walk by frame pointers took a word of data for a return address, and
 * whatever it found behind that is no frame either. False also where not all mappings of the space
 * are known.
 */
bool places_is_data(struct places *p, uint32_t space, const struct frame_at *at);

/* The same as places_find of an address that was read or written: names of variables, too. */
int places_find_data(struct places *p, uint32_t space, uint64_t time_ns, uint64_t addr,
                     struct place *ret);

/* Source lines and inlined calls: after this, places_lines knows them. opts as in
 * load_opts.lines_opts. */
int places_lines_start(struct places *p, const struct lines_opts *opts,
                       const struct symbol_opts *symbols);
/* Whose source can be looked up at a place, and at which of its addresses: NULL when nothing can be
 * known of it (no file, or another one than was recorded, no debugging information). -ENOMEM. */
int places_lines_object(struct places *p, const struct place *place, struct lines_object **ret,
                        uint64_t *ret_vaddr);
/* The source of a place, as lines_find; any thread. Empty when nothing is known of it. -ENOMEM. */
int places_source(struct places *p, const struct place *place, struct lines_at *ret);
/* All that were wanted of it; see lines_resolve; or those so far. */
int places_lines_resolve(struct places *p);
int places_lines_resolve_some(struct places *p);

#endif
