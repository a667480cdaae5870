/* SPDX-License-Identifier: MIT */
/*
 * symbol.h: the name of an address.
 *
 * Every object is opened once and every distinct symbol is demangled once, when it is first asked
 * for. Lookups may come from several threads. A file whose build-id is not the recorded one gives
 * no names: a wrong name is worse than none; symbol_object_reason says so.
 *
 * Addresses are taken as they are. A return address stands behind its call and may belong to the
 * next function: callers of the first frame are looked up at addr - 1, by whoever walks the stack.
 */
#ifndef SEAM_SYMBOL_SYMBOL_H
#define SEAM_SYMBOL_SYMBOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/room.h"
#include "image/image.h"

/* In the order of proc's kinds; this room does not know that one. */
enum symbol_kind {
	SYMBOL_KIND_FILE,
	SYMBOL_KIND_ANON,
	SYMBOL_KIND_VDSO,
	SYMBOL_KIND_VSYSCALL,
	SYMBOL_KIND_STACK,
	SYMBOL_KIND_UPROBES,
	SYMBOL_KIND_KERNEL,
	SYMBOL_KIND_MODULE,
	SYMBOL_KIND_BPF,
	SYMBOL_KIND_OUT_OF_LINE,
	SYMBOL_KIND_JIT,
	SYMBOL_KIND_RUNTIME,
	SYMBOL_KIND_OTHER,
	SYMBOL_KINDS,
};

/* The key of an object: where its names are looked for. path is copied. */
struct symbol_key {
	enum symbol_kind kind;
	const char *path; /* as recorded; JIT, RUNTIME: the name of the code */
	uint32_t pid;     /* ANON, JIT: whose perf map */
	struct image_build_id build_id;
	bool data; /* FILE: names of variables, too (a table of its own) */
};

/* The result of a lookup, or the state of an object. */
enum symbol_state {
	SYMBOL_NAMED,
	SYMBOL_OUTSIDE,        /* the object has symbols, but none here */
	SYMBOL_NO_SYMBOLS,     /* the object has no symbols (stripped, and no debug file found) */
	SYMBOL_NO_FILE,        /* the object could not be found or read */
	SYMBOL_OTHER_BUILD_ID, /* a file is there, but it is not the one that was recorded */
	SYMBOL_NOT_CODE,       /* stack, heap, [uprobes], [vsyscall]: nothing to name */
	SYMBOL_HIDDEN,         /* the kernel hides its addresses (kernel.kptr_restrict) */
	SYMBOL_STATES,
};
/* "other_build_id": stable, for JSON. */
const char *symbol_state_name(enum symbol_state state);
/* "the file is not the one that was recorded": for people. */
const char *symbol_state_text(enum symbol_state state);

struct symbol_cache;
struct symbol_object;

/* Bytes that were kept. They stay as they are until drop gives them back. */
struct kernel_kept {
	const void *bytes; /* at a multiple of 8; NULL: none */
	size_t n;
	void (*drop)(const struct kernel_kept *kept);
};

/* A place that keeps what is slow to make, by name, from one run to the next. Blobs are checked
 * when they are read. One call at a time. */
struct kernel_storage {
	/* 1 and the bytes, to be dropped by whoever asked; or 0 */
	int (*get)(void *ctx, const char *name, struct kernel_kept *ret);
	void (*put)(void *ctx, const char *name, const void *bytes, size_t n);
	void *ctx;
};

/*
 * Reads the running kernel's own names in a thread, which may begin before anything else is known.
 * The names are used for the first object that is found to be this kernel, by the same rules as
 * without the thread.
 */
struct kernel_reader;
/* *ret is NULL if another kernel was recorded. keep is called from the thread. -ENOMEM. */
int kernel_reader_start(struct kernel_reader **ret, const struct image_build_id *recorded,
                        const struct kernel_storage *keep);
/* Waits for the thread. */
void kernel_reader_free(struct kernel_reader *running);

/*
 * Names of files and of the running kernel that outlive a cache: the next cache finds them here
 * while their files stay as they are. most: bytes, beyond which those go that were not used for the
 * longest. spills: large tables are put into files without a name (base/scratch.h), and do not
 * count. It outlives all caches that use it.
 */
struct symbol_shelf;
int symbol_shelf_new(struct symbol_shelf **ret, size_t most, bool spills);
void symbol_shelf_free(struct symbol_shelf *shelf);
/* Lets go of what is not used, until at most `most` bytes are left. Returns how many are. */
size_t symbol_shelf_trim(struct symbol_shelf *shelf, size_t most);
/* What lies in files is in memory only when it is looked at again. Any thread, at any time. */
void symbol_shelf_rest(struct symbol_shelf *shelf);

struct symbol_opts {
	size_t sz;
	/* The recording was made on another machine (or boot): names come only from files with the
	   recorded build-id, or given by the user; the running kernel's by its build-id. */
	bool foreign;
	bool no_demangle;
	bool parameters; /* demangled C++ names with their parameter types (perf: without) */
	bool no_plt;
	bool jit_timed; /* code of jitdumps that was replaced has mappings of its own (kind JIT) */
	/* The kernel that was recorded: modules without a build-id of their own go by it. */
	struct image_build_id kernel_build_id;
	/* If no build-id was recorded: true where nothing says that the recorded kernel is this
	 * machine's, neither its release nor the paths of its modules. Its names are then used only
	 * if its _text lay where this one's lies (0: not known). */
	bool kernel_not_said;
	uint64_t kernel_text;
	struct image_search search; /* strings are copied */
	const char
	        *kallsyms; /* a file in the form of /proc/kallsyms, trusted; NULL: the machine's */
	const char *map_dir; /* of perf-PID.map; NULL: "/tmp" (under search.root) */
	/* Gives the time at which a process began its program, in ns since the epoch; 0: not known.
	 * A map that was last written before belongs to an earlier process with the same pid. NULL:
	 * never known. */
	uint64_t (*began)(const void *ctx, uint32_t pid);
	/* Gives the user who owned a process, as the recording says. NULL: never known. */
	bool (*owner)(const void *ctx, uint32_t pid, uint32_t *ret);
	const void *began_ctx;         /* of the two */
	struct kernel_storage keep;    /* get NULL: nothing is kept; used by resolves only */
	struct kernel_reader *running; /* NULL: none; resolves use it once */
	struct symbol_shelf *shelf;    /* NULL: names are this cache's own */
	/* A .symtab that would take more is not read: such an object has its other names only. 0:
	 * as much as it takes. */
	uint64_t most_bytes;
	/* Asked before a table is read; without room the object has its other names alone. */
	struct room room;
};

int symbol_new(struct symbol_cache **ret, const struct symbol_opts *opts);
void symbol_free(struct symbol_cache *cache);

/* The object of a key; the same pointer for the same key. Not opened before the first resolve, and
 * owned by the cache. -ENOMEM. */
int symbol_object(struct symbol_cache *cache, const struct symbol_key *key,
                  struct symbol_object **ret);

/* The jitdump of a process, which tells the names of its ANON code. Before the first resolve in
 * that; path begins with '/'. The last one given holds. -ENOMEM. */
int symbol_jitdump(struct symbol_cache *cache, uint32_t pid, const char *path);

/* A piece of code of a jitdump in whose place other code stood before or afterwards. */
struct symbol_jit_code {
	uint64_t time_ns; /* when it was made, by the dump's clock */
	uint64_t start, size;
	const char *name;
	uint32_t number; /* in the file, from 0: what is added to it changes none */
};
/*
 * Calls each for all such pieces in a process's jitdump, in order of time: only the time of a
 * sample tells which of them it hit. Stops when each returns a negative number, and returns that.
 * -ENOTSUP: the dump's times are not of CLOCK_MONOTONIC. Other errors: the dump cannot be read, is
 * none, or must not be looked for.
 */
int symbol_jit_replaced(const struct symbol_opts *opts, uint32_t pid, const char *path,
                        int (*each)(void *ctx, const struct symbol_jit_code *code), void *ctx);

struct symbol {
	enum symbol_state state;
	const char *name; /* demangled; NULL unless NAMED. Lives as long as the cache. */
	const char *raw;  /* as the file has it */
	uint64_t start;   /* of the symbol: vaddr in the object; kernel, BPF and ANON: address */
	uint64_t size;    /* bytes; up to the next symbol when the file states 0 */
	uint64_t addr;    /* what was looked up, in the same terms as start; else the address */
	bool placed;      /* addr is in those terms */
	/* around addr, in those terms: this symbol's, too, or as nameless; to 0: not known */
	uint64_t from, to;
	uint32_t id; /* dense per cache: one per distinct (object, symbol); else SYMBOL_NO_ID */
};
#define SYMBOL_NO_ID UINT32_MAX

/* Where an object is mapped, as proc knows it. */
struct symbol_place {
	uint64_t start, end; /* addresses */
	uint64_t pgoff;      /* bytes */
};

/*
 * The symbol at an address that lies in a mapping of object. 1: named; 0: not, ret->state says why
 * (ret->addr is set where it could be translated, else it is the address). -ENOMEM. ret is always
 * filled. Any thread.
 */
int symbol_resolve(struct symbol_object *object, const struct symbol_place *place, uint64_t addr,
                   struct symbol *ret);

/*
 * Gives begin and end of the function at an address without a name, in an object of kind FILE.
 * symbol: what symbol_resolve gave; its start and size are set. They come from the object's unwind
 * information: a function, or the part of one that the compiler put aside, but never a guess. 1; 0:
 * nothing is known there. -ENOMEM. Any thread; the first call for an object reads all of its unwind
 * information.
 */
int symbol_outline(struct symbol_object *object, struct symbol *symbol);
/* Whether unwind information says of a place, named or not, that a signal put its frame on the
 * stack: 1, 0 or -ENOMEM. Any thread. */
int symbol_is_signal_frame(struct symbol_object *object, const struct symbol *symbol);
/* The symbol, or else the outline, at an address in the terms of struct symbol. 1, 0 or -ENOMEM. */
int symbol_at(struct symbol_object *object, uint64_t addr, struct symbol *ret);

/* Loads the object now, as the first symbol_resolve would, but writes nothing to the cache; any
 * thread. Others that resolve in it wait meanwhile. */
int symbol_object_load(struct symbol_object *object);
/* Loads all that lookups of a file's code will need: its outline, too. */
void symbol_object_ready(struct symbol_object *object);
/* Writes to the cache (opts.keep) what belongs there of an object that was loaded so; any
 * thread. */
void symbol_object_keep(struct symbol_object *object);

/* perf's spelling, for `perf script` text: "/usr/bin/x", "[kernel.kallsyms]", "[ext4]", "[vdso]",
 * "/tmp/perf-12.map", "bpf_prog_..."; never NULL. "[unknown]" is for addresses without mapping. */
const char *symbol_object_name(const struct symbol_object *object);
/* The same cut to its last component, for `perf report` tables. */
const char *symbol_object_short_name(const struct symbol_object *object);
#define SYMBOL_UNKNOWN "[unknown]"

/* ---- what could not be named: the caller counts the weight ---- */

size_t symbol_objects(struct symbol_cache *cache);
/* In the order they were first asked for; NULL past the last. */
struct symbol_object *symbol_object_at(struct symbol_cache *cache, size_t i);
const struct symbol_key *symbol_object_key(const struct symbol_object *object);
/* SYMBOL_NAMED when the object has symbols (or was never resolved in), else why not. */
enum symbol_state symbol_object_state(struct symbol_object *object);
/* How many bytes in front of an address, and from it on, all that is known of the address holds
 * for, too: its name or its outline, and that no signal put the frame there. False: that is not
 * known. symbol: what symbol_resolve gave, after symbol_is_signal_frame said 0, and symbol_outline
 * was asked of what has no name. */
bool symbol_lasts(const struct symbol_object *object, const struct symbol *symbol, uint64_t *before,
                  uint64_t *after);
/* KERNEL, MODULE: the address, in the terms of struct symbol, of _text, or of the begin of the
 * module's code. -ENOENT: not known, or it is another kind. */
int symbol_object_origin(struct symbol_object *object, uint64_t *ret);
/* One sentence for people: "/usr/lib/libx.so: build-id is 12ab..., recorded was 34cd..."; "" when
 * there is nothing to say. Lives as long as the cache. */
const char *symbol_object_reason(struct symbol_object *object);
/* The file that gave the names, "" if none: the debug file, the object, /proc/kallsyms ... */
const char *symbol_object_source(struct symbol_object *object);
/* Symbols known of it (0 before the first resolve). */
size_t symbol_object_count(struct symbol_object *object);
/* Lines of a perf map that made no sense and were passed over. */
uint64_t symbol_object_bad_lines(struct symbol_object *object);

/* ---- demangling ---- */

/*
 * The C++ (Itanium), Rust (v0 and legacy) or D name behind a mangled one, as new memory for
 * free(3); NULL when it is none, is longer than SYMBOL_DEMANGLE_MAX, or unfolds into more than
 * SYMBOL_NAME_MAX bytes. A suffix of the compiler (".cold", ".part.0") is kept as " [clone .cold]".
 * Aliases at one address: see table.h for which one is taken.
 */
#define SYMBOL_DEMANGLE_MAX 8192
#define SYMBOL_NAME_MAX 65536
char *symbol_demangle(const char *mangled, bool parameters);

#endif
