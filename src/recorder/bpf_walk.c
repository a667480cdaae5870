// SPDX-License-Identifier: MIT
/*
 * bpf_walk.c: see bpf_walk.h. Tables were checked when they were made: only where their parts begin
 * is found out again.
 *
 * This is the walk that the programs could not make: at an unknown mapping or an unusual rule they
 * send registers and a piece of the stack. Here the same walker as for stack copies (unwind/walk)
 * gets these, and what was mapped at the sample's time (kwalk_find). The result is one of the
 * programs' own ends, so that readers see one vocabulary.
 */
#include "recorder/bpf_walk.h"

#include <errno.h>
#include <string.h>

#define WALK_STACK_SPAN (64ull << 20) /* above the copy it may still be the stack */

/* What the walker's callbacks need; it lives for one walk. */
struct bpf_walk {
	struct kwalk *kwalk;
	struct tables *tables;
	const char *dump;
	const struct kwalk_sample *sample;
	const struct kwalk_raw *raw;
	struct frametab table;
};

/* -ENODATA: it would lie in the copied stack, had more been copied. -EFAULT: it is no address of
 * this stack. */
static int bpf_walk_read(void *ctx, uint64_t address, uint64_t *ret)
{
	const struct bpf_walk *w = ctx;
	uint64_t at = address - w->raw->start;

	if (address < w->raw->start || at > WALK_STACK_SPAN)
		return -EFAULT;
	if (at > w->raw->n || w->raw->n - at < 8)
		return -ENODATA;
	memcpy(ret, w->raw->stack + at, 8);
	return 0;
}

/* One table struct serves all lookups: the walker is done with one place before it asks for the
 * next. */
static int bpf_walk_find(void *ctx, uint64_t pc, struct walk_place *ret)
{
	struct bpf_walk *w = ctx;
	struct kwalk_table table;
	int r = kwalk_find(w->kwalk, w->sample->pid, w->sample->time_ns, pc, &table);

	*ret = (struct walk_place){ 0 };
	if (r < 0)
		return r;
	ret->may_guess = table.may_guess;
	ret->keeps_fp = table.keeps_fp;
	if (!table.blob)
		return 0;
	frametab_of(&w->table, table.blob);
	ret->table = &w->table;
	ret->rule = frametab_find(&w->table, table.vaddr);
	return 0;
}

/* Code made at run time has no table: rules come from its jitdump or from its instructions
 * (samples/jit.h). */
static int bpf_walk_code(void *ctx, uint64_t pc, bool exact, struct walk_place *ret)
{
	const struct bpf_walk *w = ctx;
	struct jit_ask ask = { .machine = FRAMETAB_X86_64,
		               .pid = w->sample->pid,
		               .made_by = w->sample->pid,
		               .dump = w->dump,
		               .running = true,
		               .exact = exact,
		               .pc = pc };

	return tables_get_code(w->tables, &ask, ret);
}

/* frames has room for KWALK_FRAMES_MAX. All registers are known: they come from the kernel. */
void bpf_walk(struct kwalk *kwalk, struct tables *tables, const char *dump,
              const struct kwalk_sample *sample, const struct kwalk_raw *raw, uint64_t *frames,
              uint64_t *sps, struct walk *ret)
{
	struct bpf_walk w = {
		.kwalk = kwalk, .tables = tables, .dump = dump, .sample = sample, .raw = raw
	};
	struct walk_options options = { .machine = FRAMETAB_X86_64,
		                        .max_frames = KWALK_FRAMES_MAX,
		                        .sps = sps };
	struct walk_memory memory = {
		.ctx = &w, .read = bpf_walk_read, .find = bpf_walk_find, .code = bpf_walk_code
	};
	struct walk_registers regs = { .known = (1u << KWALK_REGISTERS) - 1 };

	memcpy(regs.value, raw->regs, sizeof(raw->regs));
	walk_stack(&options, &memory, &regs, frames, ret);
}

/* Which of the programs' three reasons is true of a walk that found no unwind information. */
static enum kwalk_end bpf_walk_missed(struct kwalk *kwalk, const struct kwalk_sample *sample,
                                      const struct walk *walk)
{
	struct kwalk_table table = { 0 };
	/* A return address may be the first byte after its function's mapping. */
	uint64_t pc = walk->n > 1 ? walk->end_pc - 1 : walk->end_pc;

	if (kwalk_find(kwalk, sample->pid, sample->time_ns, pc, &table) < 0)
		return KWALK_NO_MAPPING;
	return table.blob ? KWALK_NO_RULE : KWALK_NO_TABLE;
}

/* Ends of the walker in the programs' words. What the copy does not reach is a fault for a
 * reader. */
enum kwalk_end bpf_walk_end(struct kwalk *kwalk, const struct kwalk_sample *sample,
                            const struct walk *walk)
{
	static const enum kwalk_end ends[WALK_ENDS] = {
		[WALK_COMPLETE] = KWALK_COMPLETE, [WALK_TRUNCATED] = KWALK_FAULT,
		[WALK_BAD_RULE] = KWALK_BAD_RULE, [WALK_BAD_MEMORY] = KWALK_FAULT,
		[WALK_BELOW_SP] = KWALK_FAULT,    [WALK_OTHER_STACK] = KWALK_FAULT,
		[WALK_LIMIT] = KWALK_LIMIT,       [WALK_NO_PROGRESS] = KWALK_NO_PROGRESS,
		[WALK_WATCHED] = KWALK_WATCHED,
	};

	if (walk->end == WALK_NO_INFO)
		return bpf_walk_missed(kwalk, sample, walk);
	return walk->end < WALK_ENDS ? ends[walk->end] : KWALK_BAD_RULE;
}
