// SPDX-License-Identifier: MIT
/*
 * unwound.c: see unwound.h. Joins proc (what is mapped), tables (its unwind information) and the
 * walker, for the samples that carry registers and a piece of their stack.
 *
 * The walker asks two things: what is at a pc, and what is at an address of memory. The first is
 * answered by the mapping that held at the time of the sample and the table of its object. The
 * second is answered out of the piece of stack alone: nothing of the process is left.
 *
 * What saves work, from the cheapest: answers by space and pc in a direct-mapped table, so that the
 * usual frame costs one comparison; the table of each mapping, found once; the last walk of each of
 * the last threads, whose outer frames are taken from there as long as their words are unchanged
 * (unwind/walk_cache.h).
 *
 * Invariant: what is remembered never changes an answer. One thread.
 */
#include "samples/unwound.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/map.h"
#include "samples/jit.h"
#include "samples/kernel_trap.h"
#include "samples/recording.h"
#include "unwind/trap.h"

#define TRAILS 64u       /* threads whose last walk is kept; a power of two */
#define REMEMBERED 8192u /* answers by (space, pc); a power of two */
/* Bytes above sp that may still be the stack: what is asked for there was cut off. */
#define STACK_SPAN (64ULL << 20)
/* How often files are opened for their code, which whoever executes breakpoints may cause. */
#define CODE_ASKED_MAX 65536u
#define REGS_ABI_64 2u

struct remembered {
	uint64_t pc;
	uint32_t space;
	int status; /* 0, -ENOENT; 1: free */
	struct walk_place place;
};

struct unwound_mapping {
	bool known;
	const struct tables_object *object; /* NULL: none */
	bool may_guess, keeps_fp;
	const struct frametab *table;
	const char *reason; /* why there is none */
	uint64_t bias;      /* address - ELF address */
};

/* The last walk of a thread, found by its tid. */
struct unwound_walk_cache {
	uint32_t tid, space;
	struct walk_cache *cache;
};

struct unwound {
	struct unwound_opts opts;
	struct unwound_counts counts;
	struct unwound_mapping *mappings; /* by proc_mapping's id */
	size_t n_mappings;
	struct remembered *remembered;
	struct unwound_walk_cache caches[TRAILS];
	/* of the sample that is being walked */
	uint32_t space, pid;
	const unsigned char *stack;
	uint64_t sp, n_stack;
	uint64_t asked_code; /* how often files were read for their code */
	int failed;          /* -ENOMEM */
	struct walk walk;
	struct buf missing; /* struct unwound_missing */
	struct map dumps;   /* pid -> path of its jitdump */
	size_t n_looked;    /* mappings of which it is known whether they are jitdumps */
	uint64_t frames[WALK_FRAMES_MAX];
};

/* The machine as the recording names it (uname -m); 0: none whose stacks can be walked. */
uint32_t unwound_machine(const char *arch)
{
	if (arch && !strcmp(arch, "x86_64"))
		return FRAMETAB_X86_64;
	if (arch && (!strcmp(arch, "aarch64") || !strcmp(arch, "arm64")))
		return FRAMETAB_AARCH64;
	return 0;
}

/* The registers that perf and seam ask for on each machine (aarch64: with the length of its vectors
 * where it has them). A recorder that was killed wrote no machine into the file, but the events
 * stand in front of all samples. */
static uint32_t unwound_machine_by_registers(const struct seam_attr *attr)
{
	const uint64_t x86_64 = 0xff0fff, aarch64 = 0x1ffffffff, vector_length = 1ULL << 46;

	if (attr->sample_regs_user == x86_64)
		return FRAMETAB_X86_64;
	return (attr->sample_regs_user & ~vector_length) == aarch64 ? FRAMETAB_AARCH64 : 0;
}

/* Makes a walker for one thread. -ENOMEM. */
int unwound_new(struct unwound **ret, const struct unwound_opts *opts)
{
	struct unwound *u = calloc(1, sizeof(*u));

	if (!u)
		return -ENOMEM;
	u->opts = *opts;
	u->remembered = malloc(REMEMBERED * sizeof(*u->remembered));
	if (!u->remembered) {
		unwound_free(u);
		return -ENOMEM;
	}
	for (size_t i = 0; i < REMEMBERED; i++)
		u->remembered[i].status = 1;
	*ret = u;
	return 0;
}

void unwound_free(struct unwound *u)
{
	if (!u)
		return;
	for (size_t i = 0; i < TRAILS; i++)
		walk_cache_free(u->caches[i].cache);
	free(u->mappings);
	free(u->remembered);
	buf_free(&u->missing);
	map_free(&u->dumps);
	free(u);
}

/* The walk of the last sample. */
const struct walk *unwound_last(const struct unwound *u)
{
	return &u->walk;
}

/* Where walks ended for want of information, with how many samples. */
const struct unwound_missing *unwound_missing(const struct unwound *u, size_t *n)
{
	*n = u->missing.n / sizeof(struct unwound_missing);
	return (const struct unwound_missing *)(const void *)u->missing.bytes;
}

const struct unwound_counts *unwound_count(const struct unwound *u)
{
	return &u->counts;
}

/* Adds one thread's counts to others. */
void unwound_add_counts(struct unwound_counts *to, const struct unwound_counts *from)
{
	to->samples += from->samples;
	for (size_t i = 0; i < WALK_ENDS; i++)
		to->end[i] += from->end[i];
	to->guessed += from->guessed;
	to->frames += from->frames;
	to->guessed_frames += from->guessed_frames;
	to->unusable += from->unusable;
	if (from->needed > to->needed)
		to->needed = from->needed;
}

/* Where the recording names no machine, the registers that its events ask for tell it. */
bool unwound_opts_of(const struct recording *rec, struct unwound_opts *ret)
{
	const char *arch = seam_reader_feature_string(rec->reader, SEAM_FEATURE_ARCH);
	bool any = false;

	ret->machine = unwound_machine(arch);
	for (size_t i = 0; i < seam_events_count(rec->events); i++) {
		const struct seam_attr *attr = &seam_events_at(rec->events, i)->attr;

		if (!(attr->sample_type & SEAM_SAMPLE_STACK_USER))
			continue;
		any = true;
		if (!arch && !ret->machine)
			ret->machine = unwound_machine_by_registers(attr);
	}
	ret->procs = rec->procs;
	ret->trap = rec->trap;
	ret->own_vdso = !rec->foreign;
	return any;
}

/* Opens the tables with what the recording knows of its files. The caller frees them. -errno. */
int unwound_tables(struct recording *rec, const struct tables_opts *opts, struct tables **ret)
{
	struct tables_opts o = { .sz = sizeof(o) };
	int r = 0;

	if (opts)
		memcpy(&o, opts, opts->sz < sizeof(o) ? opts->sz : sizeof(o));
	o.sz = sizeof(o);
	o.search.file_identity = &rec->identity;
	o.foreign |= rec->foreign;
	o.began = recording_began;
	o.owner = recording_owner;
	o.began_ctx = rec;
	if (!rec->trap)
		r = kernel_trap_new(&rec->trap, rec, recording_says_kernel(rec),
		                    opts ? &opts->search : NULL, opts ? o.kallsyms : NULL);
	return r < 0 ? r : tables_new(ret, &o);
}

/* The file of the recorded vdso: this process's own, or the one that an archive kept. */
static int unwound_vdso(struct unwound *u, const struct image_build_id *own,
                        const struct tables_object **ret)
{
	const struct proc_mapping *kernel = proc_kernel(u->opts.procs);
	struct image_build_id id = *own;
	const unsigned char *vdso;
	size_t n;
	int r;

	if (u->opts.own_vdso && image_own_vdso(&vdso, &n) > 0)
		return tables_get_memory(u->opts.tables, "[vdso]", vdso, n, ret);
	if (!id.size && kernel) {
		id.size = kernel->object->build_id_size;
		memcpy(id.bytes, kernel->object->build_id, sizeof(id.bytes));
	}
	r = tables_get_kept_vdso(u->opts.tables, &id, ret);
	return r == -ENOENT ? 0 : r;
}

/* Finds the unwind information of a mapping: the table of its object, or that guesses are allowed,
 * else the reason why there is none. -ENOMEM. */
static int unwound_mapping_table(struct unwound *u, const struct proc_mapping *m,
                                 struct unwound_mapping *ret)
{
	const struct tables_object *object = NULL;
	struct image_build_id id = { .size = m->object->build_id_size };
	uint64_t vaddr;
	int r = 0;

	memcpy(id.bytes, m->object->build_id, sizeof(id.bytes));
	*ret = (struct unwound_mapping){ .known = true };
	if (m->object->kind == PROC_KIND_FILE)
		r = u->opts.running ? tables_get_inside(u->opts.tables, m->pid, m->object->path,
		                                        &id, m->object->inode, &object)
		                    : tables_get_inode(u->opts.tables, m->object->path, &id,
		                                       m->object->inode, &object);
	else if (m->object->kind == PROC_KIND_VDSO)
		r = unwound_vdso(u, &id, &object);
	else
		ret->may_guess =
		        m->object->kind == PROC_KIND_ANON || m->object->kind == PROC_KIND_JIT;
	ret->may_guess |= object && object->no_object;
	ret->keeps_fp = object && object->keeps_fp;
	ret->reason = object           ? object->reason
	              : ret->may_guess ? "no object: code made at run time"
	                               : "nothing is known of its code";
	ret->object = object;
	if (r < 0 || !object)
		return r;
	if (object->table && image_segments_mapped(object->segments, object->n_segments, m->pgoff,
	                                           m->end - m->start, &vaddr) >= 0) {
		ret->table = object->table;
		ret->bias = m->start - vaddr;
	}
	return 0;
}

/* The table of a mapping, looked for when it is first asked for. */
static int unwound_mapping(struct unwound *u, const struct proc_mapping *m,
                           struct unwound_mapping **ret)
{
	if (ARRAY_ROOM_ZEROED(&u->mappings, &u->n_mappings, (size_t)m->id + 1) < 0)
		return -ENOMEM;
	*ret = &u->mappings[m->id];
	return (*ret)->known ? 0 : unwound_mapping_table(u, m, *ret);
}

/* Finds what is at a pc of the current sample's address space. -ENOENT: no code is mapped there.
 * -ENOMEM is left in u->failed. */
static int unwound_look(struct unwound *u, uint64_t pc, struct walk_place *ret)
{
	const struct proc_mapping *m = proc_space_find(u->opts.procs, u->space, pc);
	struct unwound_mapping *mapping;
	int r;

	*ret = (struct walk_place){ 0 };
	if (!m || m->data)
		return -ENOENT;
	r = unwound_mapping(u, m, &mapping);
	if (r < 0) {
		u->failed = r;
		return -ENOENT;
	}
	ret->table = mapping->table;
	ret->may_guess = mapping->may_guess;
	ret->keeps_fp = mapping->keeps_fp;
	if (mapping->table)
		ret->rule = frametab_find(mapping->table, pc - mapping->bias);
	return 0;
}

/* walk_memory.find, with the answers of before. A slot holds one pc of one space. */
static int unwound_find(void *ctx, uint64_t pc, struct walk_place *ret)
{
	struct unwound *u = ctx;
	struct remembered *r = &u->remembered[map_mix(pc ^ (uint64_t)u->space << 48) % REMEMBERED];

	if (r->status > 0 || r->pc != pc || r->space != u->space) {
		r->pc = pc;
		r->space = u->space;
		r->status = unwound_look(u, pc, &r->place);
	}
	*ret = r->place;
	return r->status;
}

/* The jitdump of a process, by its mappings; NULL: it has none. */
static const char *unwound_dump(struct unwound *u, uint32_t pid)
{
	const struct proc_mapping *m;
	uint64_t path = 0;
	uint32_t made_by;

	for (; (m = proc_made_at(u->opts.procs, u->n_looked, &made_by)); u->n_looked++) {
		if (m->object->kind == PROC_KIND_FILE && jit_is_dump(m->object->path) &&
		    map_put(&u->dumps, made_by, (uintptr_t)m->object->path) < 0)
			u->failed = -ENOMEM;
	}
	map_get(&u->dumps, pid, &path);
	return (const char *)(uintptr_t)path;
}

/* The files that the process maps whose code is asked for. */
struct unwound_files {
	const struct proc_table *procs;
	uint32_t pid;
};

/* For tables: the next file that the process maps as code; false: there are no more. */
static bool unwound_next_file(void *ctx, size_t *at, struct jit_file *ret)
{
	const struct unwound_files *files = ctx;
	const struct proc_mapping *m;
	uint32_t pid;

	while ((m = proc_made_at(files->procs, *at, &pid))) {
		(*at)++;
		if (pid != files->pid || m->data || m->object->kind != PROC_KIND_FILE)
			continue;
		*ret = (struct jit_file){ .path = m->object->path,
			                  .build_id.size = m->object->build_id_size,
			                  .inode = m->object->inode };
		memcpy(ret->build_id.bytes, m->object->build_id, sizeof(ret->build_id.bytes));
		return true;
	}
	return false;
}

/* walk_memory.code: the rule for code made at run time, by the jitdump of the process that made it
 * or by the code itself. */
static int unwound_code(void *ctx, uint64_t pc, bool exact, struct walk_place *ret)
{
	struct unwound *u = ctx;
	const struct proc_mapping *m = proc_space_find(u->opts.procs, u->space, pc - !exact);
	struct jit_ask ask = { .machine = u->opts.machine,
		               .pid = u->pid,
		               .running = u->opts.running,
		               .exact = exact,
		               .pc = pc };
	struct unwound_files files;

	if (!m || m->object->kind != PROC_KIND_ANON)
		return 0;
	ask.made_by = m->object->pid;
	files = (struct unwound_files){ .procs = u->opts.procs, .pid = ask.made_by };
	ask.next_file = unwound_next_file;
	ask.ctx = &files;
	ask.dump = unwound_dump(u, ask.made_by);
	return tables_get_code(u->opts.tables, &ask, ret);
}

/* walk_memory.read: eight bytes of the copy. -ENODATA: the stack goes on there, but the copy does
 * not; -EFAULT: below the stack, or farther than any stack is long. */
static int unwound_read(void *ctx, uint64_t address, uint64_t *ret)
{
	const struct unwound *u = ctx;
	uint64_t at = address - u->sp;

	if (address < u->sp || at > STACK_SPAN)
		return -EFAULT;
	if (at > u->n_stack || u->n_stack - at < 8)
		return -ENODATA;
	memcpy(ret, u->stack + at, 8);
	return 0;
}

/* Takes the sample's registers; false: they cannot be used. */
static bool unwound_registers(const struct unwound *u, const struct seam_sample *s,
                              struct walk_registers *ret)
{
	uint64_t values[64];

	if (s->regs_user.abi != REGS_ABI_64 || s->regs_user.values.n > 64 || !u->opts.machine)
		return false;
	for (uint64_t i = 0; i < s->regs_user.values.n; i++)
		values[i] = seam_u64s_at(&s->regs_user.values, i);
	return walk_registers_from_perf(u->opts.machine, s->regs_user.mask, values, ret) &&
	       ret->value[u->opts.machine == FRAMETAB_X86_64 ? 16 : 32] <= WALK_ADDRESS;
}

/* The walk ended for want of information: counts what is mapped there. */
static int unwound_note(struct unwound *u, uint64_t pc)
{
	const struct proc_mapping *m = proc_space_find(u->opts.procs, u->space, pc);
	struct unwound_missing add = { .reason = "no mapping of that time holds the address",
		                       .samples = 1 };
	struct unwound_missing *have = (struct unwound_missing *)(void *)u->missing.bytes;
	struct unwound_mapping *mapping;
	int r;

	if (m) {
		r = unwound_mapping(u, m, &mapping);
		if (r < 0)
			return r;
		add.object = m->object;
		add.reason = m->data ? "it is mapped as data" : mapping->reason;
	}
	for (size_t i = 0; i < u->missing.n / sizeof(add); i++) {
		if (have[i].object == add.object && have[i].reason == add.reason) {
			have[i].samples++;
			return 0;
		}
	}
	return buf_put(&u->missing, &add, sizeof(add));
}

/* Counts how the walk ended, and how large a copy it would have needed. */
static int unwound_add_walk(struct unwound *u)
{
	const struct walk *walk = &u->walk;

	u->counts.samples++;
	u->counts.frames += walk->n;
	u->counts.end[walk->end]++;
	u->counts.guessed += walk->n_sure < walk->n;
	u->counts.guessed_frames += walk->n - walk->n_sure;
	if (walk->end == WALK_TRUNCATED && walk->needed - u->sp + 8 > u->counts.needed)
		u->counts.needed = walk->needed - u->sp + 8;
	return walk->end == WALK_NO_INFO ? unwound_note(u, walk->end_pc) : 0;
}

/* The memory of the last walk of the sample's thread in this address space. NULL: out of memory. */
static struct walk_cache *unwound_walk_cache(struct unwound *u, uint32_t tid)
{
	struct unwound_walk_cache *t = &u->caches[map_mix(tid) % TRAILS];

	if (!t->cache && walk_cache_new(&t->cache) < 0)
		return NULL;
	if (t->tid != tid || t->space != u->space)
		walk_cache_clear(t->cache);
	t->tid = tid;
	t->space = u->space;
	return t->cache;
}

/* Prefetches only: where the copy begins, and what the walk of the last sample of this thread kept
 * of it. */
void unwound_ask(const struct unwound *u, const struct seam_stitched *sample)
{
	const struct seam_sample *s = &sample->sample;
	const struct unwound_walk_cache *t = &u->caches[map_mix(s->id.tid) % TRAILS];
	unsigned sp = u->opts.machine == FRAMETAB_X86_64 ? 7 : 31; /* perf's number of it */
	struct walk_memory memory = { .window = s->stack_user.bytes, .n_window = s->stack_user.n };
	uint64_t below = s->regs_user.mask & ((1ULL << sp) - 1);

	if (sample->state != SEAM_STITCH_STACK_COPY || !memory.n_window)
		return;
	__builtin_prefetch(memory.window);
	__builtin_prefetch(memory.window + 64);
	if (!t->cache || t->tid != s->id.tid || !(s->regs_user.mask >> sp & 1) ||
	    (uint64_t)__builtin_popcountll(below) >= s->regs_user.values.n)
		return;
	memory.start = seam_u64s_at(&s->regs_user.values, (uint64_t)__builtin_popcountll(below));
	walk_cache_ask(t->cache, &memory);
}

/* trap_code: by the object that is mapped there. */
static bool unwound_code_before(void *ctx, uint64_t end, unsigned char *ret, size_t n)
{
	struct unwound *u = ctx;
	const struct proc_mapping *m = proc_space_find(u->opts.procs, u->space, end - 1);
	struct unwound_mapping *mapping;

	return m && end - m->start >= n && !m->data && unwound_mapping(u, m, &mapping) >= 0 &&
	       mapping->object && mapping->table && u->asked_code++ < CODE_ASKED_MAX &&
	       tables_code(u->opts.tables, mapping->object, end - n - mapping->bias, ret, n) >= 0;
}

/* In the trap of a uprobe's breakpoint, sets the pc to where execution stopped. False: its callers
 * cannot be told. */
static bool unwound_trap(struct unwound *u, const struct seam_stitched *sample,
                         const struct walk_options *options, const struct walk_memory *memory,
                         struct walk_registers *regs)
{
	const struct seam_u64s *chain =
	        sample->kernel.n ? &sample->kernel : &sample->sample.callchain;
	enum trap_moment moment;

	if (!u->opts.trap || (sample->misc & SEAM_MISC_CPUMODE_MASK) != SEAM_MISC_KERNEL ||
	    !trap_matters(options, memory, regs))
		return true;
	switch (kernel_trap_stage(u->opts.trap, chain)) {
	case KERNEL_TRAP_NONE:
	case KERNEL_TRAP_LATE:
		return true;
	case KERNEL_TRAP_MOVES:
		return false;
	case KERNEL_TRAP_EARLY:
		moment = TRAP_BEFORE;
		break;
	default:
		moment = trap_moment(options, memory, regs, unwound_code_before);
	}
	if (moment == TRAP_BEFORE)
		regs->value[16]--;
	return moment != TRAP_EITHER;
}

/* A sample whose registers cannot be used is counted, and has nothing to walk. */
int unwound_sample(struct unwound *u, uint32_t space, struct seam_stitched *sample)
{
	const struct seam_sample *s = &sample->sample;
	struct walk_options options = { .machine = u->opts.machine,
		                        .marks = true,
		                        .max_frames = WALK_FRAMES_MAX };
	struct walk_memory memory = {
		.ctx = u, .read = unwound_read, .find = unwound_find, .code = unwound_code
	};
	struct walk_registers regs;
	int r;

	if (sample->state != SEAM_STITCH_STACK_COPY)
		return 0;
	if (!unwound_registers(u, s, &regs)) {
		u->counts.unusable++;
		return 0;
	}
	u->space = space;
	u->pid = s->id.pid;
	u->stack = s->stack_user.bytes;
	u->n_stack = s->stack_user.n;
	u->sp = regs.value[u->opts.machine == FRAMETAB_X86_64 ? 7 : 31];
	memory.window = u->stack;
	memory.start = u->sp;
	memory.n_window = u->n_stack;
	memory.cache = unwound_walk_cache(u, s->id.tid);
	if (!memory.cache)
		return -ENOMEM;
	if (unwound_trap(u, sample, &options, &memory, &regs)) {
		walk_stack(&options, &memory, &regs, u->frames, &u->walk);
	} else {
		u->frames[0] = regs.value[16];
		u->walk = (struct walk){
			.n = 1, .n_sure = 1, .end = WALK_WATCHED, .end_pc = regs.value[16]
		};
	}
	r = u->failed ? u->failed : unwound_add_walk(u);
	if (r < 0)
		return r;
	sample->user =
	        (struct seam_u64s){ .bytes = (const unsigned char *)u->frames, .n = u->walk.n };
	return 1;
}
