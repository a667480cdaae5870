// SPDX-License-Identifier: MIT
/*
 * kernel_trap.c: see kernel_trap.h. Knows the names of the kernel's functions on the way from a
 * breakpoint to a uprobe's handlers and on from there, of Linux 5.8 to 7.3. What an address is
 * called is remembered: few places of the kernel are on such stacks.
 *
 * How far the kernel is decides what the sample's user registers mean (kernel_trap.h). Without the
 * kernel's names nothing is known.
 */
#include "samples/kernel_trap.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "proc/proc.h"
#include "samples/recording.h"
#include "symbol/symbol.h"
#include "tables/kernel_disk.h"

#define TRAP_KNOWN 4096u /* addresses; a power of two */
#define TRAP_DEPTH 512u  /* frames that are looked at */

enum trap_name {
	NAME_OTHER = 1, /* 0: not looked up yet */
	NAME_ENTRY,     /* the kernel was entered by a breakpoint */
	NAME_EARLY,
	NAME_LATE,
	NAME_MOVES,
};

struct kernel_trap {
	const struct recording *rec;
	bool said; /* that the recorded kernel is the one that runs here */
	struct image_search search;
	const char *kallsyms;
	pthread_mutex_t lock; /* of all below */
	bool opened;
	struct symbol_cache *symbols; /* NULL: nothing is known */
	struct symbol_object *kernel;
	struct {
		uint64_t address;
		uint8_t name;
	} known[TRAP_KNOWN];
};

/* search may be NULL. Nothing is opened before the first question. -ENOMEM. */
int kernel_trap_new(struct kernel_trap **ret, const struct recording *rec, bool said,
                    const struct image_search *search, const char *kallsyms)
{
	struct kernel_trap *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->rec = rec;
	t->said = said;
	if (search)
		t->search = *search;
	t->kallsyms = kallsyms;
	pthread_mutex_init(&t->lock, NULL);
	*ret = t;
	return 0;
}

void kernel_trap_free(struct kernel_trap *t)
{
	if (!t)
		return;
	symbol_free(t->symbols);
	pthread_mutex_destroy(&t->lock);
	free(t);
}

/* Which kernel was recorded, by the same rules as for names. */
static void trap_symbols_of(const struct recording *rec, struct symbol_opts *o,
                            struct symbol_key *key)
{
	const struct proc_mapping *kernel = proc_kernel(rec->procs);

	o->foreign = rec->foreign;
	o->search.file_identity = &rec->identity;
	if (!o->search.kernel_release && rec->reader)
		o->search.kernel_release =
		        seam_reader_feature_string(rec->reader, SEAM_FEATURE_OSRELEASE);
	if (!kernel)
		return;
	o->kernel_text = kernel->pgoff;
	key->build_id.size = kernel->object->build_id_size;
	memcpy(key->build_id.bytes, kernel->object->build_id, sizeof(key->build_id.bytes));
	o->kernel_build_id = key->build_id;
}

/* Memory that is out leaves nothing known. */
static void trap_open(struct kernel_trap *t)
{
	struct symbol_key key = { .kind = SYMBOL_KIND_KERNEL, .path = "[kernel.kallsyms]" };
	struct symbol_opts o = {
		.sz = sizeof(o), .search = t->search, .kallsyms = t->kallsyms, .keep = kernel_disk()
	};

	t->opened = true;
	if (t->rec)
		trap_symbols_of(t->rec, &o, &key);
	o.kernel_not_said = t->rec && !t->said;
	if (symbol_new(&t->symbols, &o) < 0) {
		t->symbols = NULL;
		return;
	}
	if (symbol_object(t->symbols, &key, &t->kernel) < 0)
		t->kernel = NULL;
}

/* What compilers put behind a dot is no part of a function's name. */
static bool trap_is_one_of(const char *name, const char *const *list, size_t n)
{
	size_t length = strcspn(name, ".");

	for (size_t i = 0; i < n; i++)
		if (strlen(list[i]) == length && !strncmp(name, list[i], length))
			return true;
	return false;
}

/* What a function of the kernel says of the stage of a trap. */
static enum trap_name trap_name_of(const char *name)
{
	/* int3 is the breakpoint of x86_64. No other machine's way is known here. */
	static const char *const entry[] = { "asm_exc_int3" };
	/* The pc is still behind the breakpoint. */
	static const char *const early[] = { "do_int3",
		                             "do_int3_user",
		                             "uprobe_pre_sstep_notifier",
		                             "arch_uprobe_exception_notify",
		                             "find_active_uprobe",
		                             "find_active_uprobe_rcu",
		                             "find_active_uprobe_speculative" };
	/* The pc has been put back to the instruction. */
	static const char *const late[] = { "handler_chain",
		                            "uprobe_dispatcher",
		                            "uprobe_perf_func",
		                            "__uprobe_perf_func",
		                            "uprobe_trace_func",
		                            "__uprobe_trace_func",
		                            "uprobe_multi_link_handler",
		                            "uprobe_prog_run",
		                            "prepare_uretprobe",
		                            "arch_uretprobe_hijack_return_addr",
		                            "arch_uprobe_optimize",
		                            "pre_ssout",
		                            "get_xol_area",
		                            "xol_get_insn_slot",
		                            "arch_uprobe_pre_xol",
		                            "default_pre_xol_op" };
	/* The instruction is emulated: registers change one after the other. */
	static const char *const moves[] = { "emulate_push_stack", "push_emulate_op",
		                             "branch_emulate_op" };

	if (trap_is_one_of(name, moves, sizeof(moves) / sizeof(moves[0])))
		return NAME_MOVES;
	if (trap_is_one_of(name, entry, sizeof(entry) / sizeof(entry[0])))
		return NAME_ENTRY;
	if (trap_is_one_of(name, early, sizeof(early) / sizeof(early[0])))
		return NAME_EARLY;
	return trap_is_one_of(name, late, sizeof(late) / sizeof(late[0])) ? NAME_LATE : NAME_OTHER;
}

/* With the lock held. */
static enum trap_name trap_name(struct kernel_trap *t, uint64_t address)
{
	const struct proc_mapping *kernel = t->rec ? proc_kernel(t->rec->procs) : NULL;
	struct symbol_place place = { .end = UINT64_MAX };
	unsigned slot = map_mix(address) & (TRAP_KNOWN - 1);
	struct symbol symbol;

	if (t->known[slot].name && t->known[slot].address == address)
		return (enum trap_name)t->known[slot].name;
	if (!t->opened)
		trap_open(t);
	if (kernel)
		place = (struct symbol_place){ kernel->start, kernel->end, kernel->pgoff };
	/* Two addresses of one slot push each other out: then a name is looked up again. */
	t->known[slot].address = address;
	t->known[slot].name = NAME_OTHER;
	if (t->kernel && symbol_resolve(t->kernel, &place, address, &symbol) > 0)
		t->known[slot].name = (uint8_t)trap_name_of(symbol.raw);
	return (enum trap_name)t->known[slot].name;
}

/* The kernel's addresses in a chain, innermost first. */
static size_t trap_kernel_part(const struct seam_u64s *chain, uint64_t ret[TRAP_DEPTH])
{
	bool kernel = true;
	size_t n = 0;

	for (uint64_t i = 0; i < chain->n && n < TRAP_DEPTH; i++) {
		uint64_t at = seam_u64s_at(chain, i);

		if (at >= SEAM_CONTEXT_MAX)
			kernel = at == SEAM_CONTEXT_KERNEL;
		else if (kernel)
			ret[n++] = at;
	}
	return n;
}

/* The outermost frame says whether it is a trap, and one of the others how far the kernel is. */
enum kernel_trap_stage kernel_trap_stage(struct kernel_trap *t, const struct seam_u64s *chain)
{
	enum kernel_trap_stage stage = KERNEL_TRAP_NONE;
	uint64_t frames[TRAP_DEPTH];
	size_t n = trap_kernel_part(chain, frames);

	/* A chain that fills the room may be cut: its outermost frame says nothing. */
	if (!n || n == TRAP_DEPTH)
		return KERNEL_TRAP_NONE;
	pthread_mutex_lock(&t->lock);
	for (size_t i = 1; i < n; i++) /* the call is in front of a return address */
		frames[i]--;
	if (trap_name(t, frames[n - 1]) == NAME_ENTRY)
		stage = KERNEL_TRAP_EITHER;
	/* The outermost that says it: handlers may do anything. */
	for (size_t i = n - 1; i-- > 0 && stage == KERNEL_TRAP_EITHER;) {
		enum trap_name name = trap_name(t, frames[i]);

		stage = name == NAME_EARLY   ? KERNEL_TRAP_EARLY
		        : name == NAME_MOVES ? KERNEL_TRAP_MOVES
		        : name == NAME_LATE  ? KERNEL_TRAP_LATE
		                             : KERNEL_TRAP_EITHER;
	}
	pthread_mutex_unlock(&t->lock);
	return stage;
}
