// SPDX-License-Identifier: MIT
/*
 * jit_tables.c: see jit_tables.h. Tables are kept by what they were made of (size of the code,
 * bytes of its .eh_frame): CPython tells the same of each of its trampolines. In a table the code
 * begins at CODE_AT, so that no address is 0.
 *
 * Of code that a JIT compiler made, what is known comes from four places, the surest first: unwind
 * information in its jitdump; its instructions in the jitdump; its instructions in the memory of
 * the running process; the interpreter's own copy. Instructions are read by unwind/straight.c.
 *
 * Programs write their jitdumps while they run, and may write anything: sizes and numbers are
 * bounded below. One lock covers everything; rules and tables that were given out live until the
 * end.
 */
#include "tables/jit_tables.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/map.h"
#include "base/peek.h"
#include "symbol/jitcode.h"
#include "tables/jit_interpreter.h"
#include "unwind/compile.h"
#include "unwind/straight.h"

#define CODE_AT 0x10000u
#define TABLES_BYTES (64u << 20) /* of all tables; code beyond has none */
#define FRAMES_MAX (1u << 16) /* bytes of .eh_frame of one piece: V8's largest have some hundred */
#define RULES_MAX 4096u
#define SEEN_MAX (1u << 18)
/* A dump that did not have the code is read again after a second at the earliest. */
#define AGAIN_NS 1000000000u

struct jit_process {
	struct jitcode *code; /* NULL: none that can be read */
	uint64_t size, read_ns;
	bool ended; /* and its dump was read since */
};

/* What was made of a piece's unwind information. */
struct jit_made {
	struct frametab table;
	uint64_t size; /* of the code */
	const void *frames;
	size_t n_frames;
	bool usable;
};

struct jit_tables {
	pthread_mutex_t lock; /* of all below */
	const struct symbol_opts *symbols;
	struct peek *peek;
	struct map by_pid;    /* -> struct jit_process * */
	struct map by_frames; /* hash -> struct jit_made * */
	struct map by_rule;   /* hash -> struct frametab_rule * */
	struct map seen;      /* hash of a process and a pc -> the rule that its memory gave */
	struct jit_interpreter *interpreter; /* NULL: was not asked */
	struct arena arena;
};

int jit_tables_new(struct jit_tables **ret, const struct symbol_opts *symbols, struct peek *peek)
{
	struct jit_tables *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->symbols = symbols;
	t->peek = peek;
	pthread_mutex_init(&t->lock, NULL);
	*ret = t;
	return 0;
}

/* Frees all that was read from dumps and all rules. No rule or table that was given out may be used
 * afterwards. */
void jit_tables_free(struct jit_tables *t)
{
	uint64_t key, value;
	size_t i = 0;

	if (!t)
		return;
	while (map_next(&t->by_pid, &i, &key, &value)) {
		struct jit_process *p = (struct jit_process *)(uintptr_t)value;

		jitcode_free(p->code);
		free(p);
	}
	map_free(&t->by_pid);
	jit_interpreter_free(t->interpreter);
	map_free(&t->by_frames);
	map_free(&t->by_rule);
	map_free(&t->seen);
	arena_free(&t->arena);
	pthread_mutex_destroy(&t->lock);
	free(t);
}

/* ---- what the dump says ---- */

static uint64_t jit_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* A dump only grows while it is written: one that is not longer says nothing new. */
static void jit_read(struct jit_tables *t, struct jit_process *p, const struct jit_ask *ask)
{
	struct jitcode *code;
	uint64_t size;

	p->read_ns = jit_now_ns();
	if (jitcode_open_path(&code, t->symbols, ask->made_by, ask->dump, &size) < 0)
		return;
	if (p->code && size <= p->size) {
		jitcode_free(code);
		return;
	}
	jitcode_free(p->code);
	p->code = code;
	p->size = size;
}

/* The dump of a process, read when it is first asked for. NULL: out of memory. */
static struct jit_process *jit_process(struct jit_tables *t, const struct jit_ask *ask)
{
	uint64_t *slot = map_slot(&t->by_pid, ask->made_by, NULL);
	struct jit_process *p;

	if (!slot)
		return NULL;
	if (!*slot) {
		p = calloc(1, sizeof(*p));
		if (!p)
			return NULL;
		*slot = (uintptr_t)p;
		jit_read(t, p, ask);
	}
	return (struct jit_process *)(uintptr_t)*slot;
}

/* Whether the dump, as far as it was read, has code at pc. Dumps of CPython 3.13.0 name no
 * machine. */
static bool jit_has(const struct jit_process *p, const struct jit_ask *ask, uint64_t pc,
                    struct jitcode_piece *ret)
{
	return p->code && jitcode_find(p->code, pc, ret) >= 0 && !jitcode_is_big_endian(p->code) &&
	       (jitcode_machine(p->code) == ask->machine || !jitcode_machine(p->code));
}

/* The piece of code at an address, by the dump. */
static bool jit_piece(struct jit_tables *t, const struct jit_ask *ask, uint64_t pc,
                      struct jitcode_piece *ret)
{
	struct jit_process *p = ask->dump ? jit_process(t, ask) : NULL;

	if (!p)
		return false;
	if (jit_has(p, ask, pc, ret))
		return true;
	if (!ask->running || p->ended)
		return false;
	/* No process of that number any more: its dump is read a last time. */
	p->ended = kill((pid_t)ask->pid, 0) < 0 && errno == ESRCH; /* it says no more */
	if (!p->ended && jit_now_ns() - p->read_ns < AGAIN_NS)
		return false;
	jit_read(t, p, ask);
	return jit_has(p, ask, pc, ret);
}

/* Compiles a piece's unwind information; no table if nothing can be made of it, and that is
 * remembered, too. */
static struct jit_made *jit_make(struct jit_tables *t, uint32_t machine,
                                 const struct jitcode_piece *piece)
{
	struct compile_input in = { .machine = machine, .n_ranges = 1 };
	struct jit_made *made = arena_alloc(&t->arena, sizeof(*made));
	struct buf blob = { 0 };
	uint64_t *bytes;

	if (!made)
		return NULL;
	/* Frames are copied, because the dump may be read again. */
	made->size = piece->size;
	made->frames = arena_copy(&t->arena, piece->frames, piece->n_frames);
	made->n_frames = piece->n_frames;
	in.ranges[0] = (struct compile_range){ CODE_AT, CODE_AT + piece->size };
	in.eh_frame = (struct compile_section){ piece->frames, piece->n_frames,
		                                CODE_AT + ((piece->size + 7) & ~7ull) };
	if (compile_table(&in, &blob, NULL) >= 0) {
		bytes = arena_copy(&t->arena, blob.bytes, blob.n);
		made->usable = bytes && frametab_open(&made->table, bytes, blob.n, NULL) >= 0;
	}
	buf_free(&blob);
	return made->frames ? made : NULL;
}

/* The table that a piece of code has by its unwind information; NULL: none. */
static const struct frametab *jit_table(struct jit_tables *t, uint32_t machine,
                                        const struct jitcode_piece *piece)
{
	uint64_t hash = map_hash_bytes(piece->frames, piece->n_frames, piece->size), known;
	struct jit_made *made = NULL;

	if (piece->n_frames > FRAMES_MAX || piece->size > UINT32_MAX / 2)
		return NULL;
	if (map_get(&t->by_frames, hash, &known))
		made = (struct jit_made *)(uintptr_t)known;
	else if (t->arena.bytes < TABLES_BYTES)
		made = jit_make(t, machine, piece);
	if (!made || made->size != piece->size || made->n_frames != piece->n_frames ||
	    memcmp(made->frames, piece->frames, piece->n_frames) != 0)
		return NULL;
	map_put(&t->by_frames, hash, (uintptr_t)made); /* without memory it is made again */
	return made->usable ? &made->table : NULL;
}

/* ---- what the code says ---- */

/* The stored rule that is equal to this one. It lives as long as the tables. */
static const struct frametab_rule *jit_rule(struct jit_tables *t, const struct frametab_rule *rule)
{
	uint64_t hash = map_hash_bytes(rule, sizeof(*rule), 0), known;
	struct frametab_rule *kept;

	if (map_get(&t->by_rule, hash, &known)) {
		/* Another rule with the same hash: the code does without. */
		kept = (struct frametab_rule *)(uintptr_t)known;
		return memcmp(kept, rule, sizeof(*rule)) ? NULL : kept;
	}
	kept = t->by_rule.n < RULES_MAX ? arena_alloc(&t->arena, sizeof(*kept)) : NULL;
	if (!kept)
		return NULL;
	*kept = *rule;
	return map_put(&t->by_rule, hash, (uintptr_t)kept) < 0 ? NULL : kept;
}

/* Reads up to STRAIGHT_BYTES of a process's memory, fewer where a page ends. -ESRCH: the process
 * has ended. */
static int jit_memory(struct peek *peek, uint32_t pid, uint64_t pc, unsigned char *ret)
{
	/* Not beyond the page: the next one need not be mapped. */
	size_t most = 4096 - (pc & 4095);
	size_t n = most < STRAIGHT_BYTES ? most : STRAIGHT_BYTES;
	int r = peek_memory(peek, pid, pc, ret, n);

	return r < 0 ? r : (int)n;
}

/* The rule of the bytes that the interpreter copied there; NULL: they are not known. */
static const struct frametab_rule *jit_by_interpreter(struct jit_tables *t,
                                                      const struct jit_ask *ask)
{
	const unsigned char *code;
	struct frametab_rule told;
	size_t n;

	if (!t->interpreter && jit_interpreter_new(&t->interpreter, t->symbols) < 0)
		return NULL;
	n = jit_interpreter_code(t->interpreter, ask, &code);
	return n && straight_rule(ask->machine, code, n, ask->exact, &told) ? jit_rule(t, &told)
	                                                                    : NULL;
}

/* The rule that the code in a running process's memory gives. For a process that has ended: the
 * rule found there before, because its last samples come late, or else the interpreter's. */
static const struct frametab_rule *jit_by_memory(struct jit_tables *t, const struct jit_ask *ask)
{
	uint64_t words[] = { ask->pid, ask->exact, ask->pc };
	uint64_t key = map_hash_bytes(words, sizeof(words), 0), known;
	const struct frametab_rule *rule;
	unsigned char code[STRAIGHT_BYTES];
	struct frametab_rule told;
	int n = jit_memory(t->peek, ask->pid, ask->pc, code);

	if (n == -ESRCH)
		return map_get(&t->seen, key, &known)
		               ? (const struct frametab_rule *)(uintptr_t)known
		               : jit_by_interpreter(t, ask);
	if (n < 0 || !straight_rule(ask->machine, code, (size_t)n, ask->exact, &told))
		return NULL;
	rule = jit_rule(t, &told);
	if (rule && t->seen.n < SEEN_MAX)
		map_put(&t->seen, key, (uintptr_t)rule); /* without memory it is not remembered */
	return rule;
}

/* The rule that the code itself gives, by the instructions from the pc on: from the dump, or from
 * the memory of the running process. 1 and *ret, or 0. */
static int jit_code(struct jit_tables *t, const struct jit_ask *ask,
                    const struct jitcode_piece *piece, struct walk_place *ret)
{
	const struct frametab_rule *rule = NULL;
	struct frametab_rule told;
	uint64_t at = piece ? ask->pc - piece->start : 0;

	if (piece && piece->bytes && at < piece->size) {
		ret->keeps_fp = straight_keeps_fp(ask->machine, piece->bytes, piece->size);
		if (straight_rule(ask->machine, piece->bytes + at, piece->size - at, ask->exact,
		                  &told) ||
		    (ask->exact &&
		     straight_edge(ask->machine, piece->bytes, piece->size, at, &told)))
			rule = jit_rule(t, &told);
	} else if (ask->running) {
		rule = jit_by_memory(t, ask);
	} else if (!piece) {
		rule = jit_by_interpreter(t, ask);
	}
	if (!rule)
		return 0;
	ret->rule = rule;
	ret->table = &straight_table;
	return 1;
}

/* Prefers unwind information that the JIT compiler told; only without that, the instructions are
 * looked at. May be called by several threads. */
int jit_tables_find(struct jit_tables *t, const struct jit_ask *ask, struct walk_place *ret)
{
	/* A return address belongs to the instruction before it. */
	uint64_t pc = ask->pc - !ask->exact;
	struct jitcode_piece piece;
	const struct frametab *table = NULL;
	bool found;
	int r;

	pthread_mutex_lock(&t->lock);
	found = jit_piece(t, ask, pc, &piece);
	if (found && piece.frames)
		table = jit_table(t, ask->machine, &piece);
	if (table)
		ret->rule = frametab_find(table, CODE_AT + (pc - piece.start));
	if (table && ret->rule->cfa != FRAMETAB_CFA_NONE) {
		ret->table = table;
		r = 1;
	} else {
		r = jit_code(t, ask, found ? &piece : NULL, ret);
	}
	pthread_mutex_unlock(&t->lock);
	return r;
}
