/* SPDX-License-Identifier: MIT */
/*
 * walk.h: registers and memory -> return addresses.
 *
 * Opens nothing, allocates nothing. It is given the objects and a way to read memory. Every step
 * must make progress (the CFA rises, but for the frame where a signal changed stacks), so a hostile
 * or torn stack ends and says why.
 */
#ifndef SEAM_UNWIND_WALK_H
#define SEAM_UNWIND_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "unwind/frametab.h"

#define WALK_FRAMES_MAX 1024u
/* DWARF numbers: x86_64 0-16 (16 is the pc), aarch64 0-31 (31 is sp) and 32 for the pc. */
#define WALK_REGISTERS 33u

/* Why a walk ended. */
enum walk_end {
#define WALK_END(number, id, ...) WALK_##id = (number),
#include "unwind/walk_ends.def"
	WALK_ENDS,
};

const char *walk_end_name(enum walk_end end); /* "truncated": stable, for JSON and fields */
const char *walk_end_text(enum walk_end end); /* for people */

struct walk_registers {
	uint64_t value[WALK_REGISTERS];
	uint64_t known; /* bit per register */
};

/* What is known of a pc. */
struct walk_place {
	const struct frametab *table; /* of the object there; NULL: it has no unwind information */
	const struct frametab_rule *rule; /* frametab_find's answer; NULL when table is NULL */
	bool may_guess; /* without a rule, a guess by frame pointer is allowed (JIT code) */
	bool keeps_fp; /* likewise, as the object's code keeps frame pointers: 0 ends their chain */
};

struct walk_cache; /* walk_cache.h */

struct walk_memory {
	void *ctx;
	/* Memory that can be had without calling `read`: n_window bytes from start on. n_window 0:
	 * none. */
	const unsigned char *window;
	uint64_t start, n_window;
	/*
	 * What the last walk of the same thread saw, with the same options and in the same address
	 * space; NULL: nothing. The walk gives the same with and without it, and writes it anew for
	 * the next one.
	 */
	struct walk_cache *cache;
	/* Reads 8 bytes at an address: 0, -EFAULT (no memory that is known), or -ENODATA (stack,
	 * but the copy ends before it). */
	int (*read)(void *ctx, uint64_t address, uint64_t *ret);
	/*
	 * Finds what is at a pc: 0 and *ret, or -ENOENT: nothing is mapped there. A caller that
	 * remembers results by pc also saves the search in the table, because programs have few
	 * distinct return addresses.
	 */
	int (*find)(void *ctx, uint64_t pc, struct walk_place *ret);
	/*
	 * Called before a guess, where `find` allows guessing: whatever else knows a rule for the
	 * code there. exact: execution stopped at the pc, else it is a return address. 1 and table
	 * and rule of *ret; 0: nothing is known but perhaps keeps_fp. NULL: nobody can be
	 * asked.
	 */
	int (*code)(void *ctx, uint64_t pc, bool exact, struct walk_place *ret);
};

/* A word of the window. */
static inline bool walk_window(const struct walk_memory *m, uint64_t address, uint64_t *ret)
{
	uint64_t at = address - m->start;

	if (m->n_window < 8 || at > m->n_window - 8)
		return false;
	memcpy(ret, m->window + at, 8);
	return true;
}

int walk_cache_new(struct walk_cache **ret); /* -ENOMEM */
void walk_cache_free(struct walk_cache *t);
/* Forgets: for another thread, address space or set of options. */
void walk_cache_clear(struct walk_cache *t);
/* Announces a walk over this window: asks for the words that the last walk read, so that they are
 * in the processor's cache by then. */
void walk_cache_ask(const struct walk_cache *t, const struct walk_memory *memory);

/* What walk_options.marks adds to a frame's address: no user address has these bits. */
#define WALK_GUESSED \
	(1ULL << 63) /* found by frame pointer, or from code left out, or behind a frame that was */
#define WALK_EXACT (1ULL << 62) /* where execution stopped (a signal came), not a return address */
#define WALK_ADDRESS (WALK_EXACT - 1)

struct walk_options {
	uint32_t machine; /* enum frametab_machine */
	bool marks;       /* set WALK_GUESSED and WALK_EXACT in frames; frame 0 bears none */
	bool no_fallback; /* do not go on by a guess where there is no unwind information */
	/* aarch64: bits of a return address that hold its signature; 0: bits 48-54 and 56-63 */
	uint64_t pac_mask;
	size_t max_frames; /* room in frames; at most WALK_FRAMES_MAX */
	/* Room for one more than frames: sp in each frame, and behind the outermost. NULL: it is
	 * not asked for. */
	uint64_t *sps;
};

struct walk {
	size_t n;      /* frames: addresses written */
	size_t n_sure; /* frames found by unwind information; from this one on they were guessed */
	enum walk_end end;
	uint64_t end_pc; /* where it ended */
	uint64_t needed; /* WALK_TRUNCATED: the address that could not be read */
};

/*
 * Walks from regs. frames[0] is the pc itself, then return addresses as they stand on the stack
 * (signatures removed); interrupted pcs of signal frames are exact. A return address at which
 * nothing is mapped is no frame: it ends the walk (end_pc).
 */
void walk_stack(const struct walk_options *options, const struct walk_memory *memory,
                const struct walk_registers *regs, uint64_t *frames, struct walk *ret);

/* perf's PERF_REG_* values (mask and packed values, ascending) -> DWARF numbers. False when pc or
 * sp is missing. */
bool walk_registers_from_perf(uint32_t machine, uint64_t mask, const uint64_t *values,
                              struct walk_registers *ret);

#endif
