// SPDX-License-Identifier: MIT
/*
 * kwalk_any_object.c: what each object of programs needs that is loaded: the recorder's own
 * (kwalk_load.c), those of interpreters (kwalk_runtime_load.c) and of tasks that sleep
 * (kwalk_owing.c). Calls none of these.
 */
#include <errno.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "capture/bpf/kwalk_parts.h"
#include "capture/kernel.h"

#define TASK_WORK_MARK 0x5ea3de4e /* kernel.bpf.h */
#define CALL_INSN 0x85
#define KFUNC_CALL 2

/* The last lines of what the verifier said, with -vv. */
void load_say(struct kwalk *l, const char *said)
{
	const char *end = said + strlen(said), *at = end;

	for (unsigned lines = 0; at > said && lines < 12; at--)
		lines += at[-1] == '\n' && at != end;
	while (at < end) {
		size_t n = strcspn(at, "\n");

		log_line(l->opts.log, LOG_ATTRS, "verifier: %.*s", (int)n, at);
		at += n + (at[n] == '\n');
	}
}

/* The programs call the kernel's function for task work by a mark, because its name and its number
 * differ between kernels: the mark is replaced by the number. With 0 the verifier accepts the call
 * as long as it is never reached. */
void load_patch(struct bpf_object *object, uint32_t id)
{
	struct bpf_program *p;

	bpf_object__for_each_program(p, object)
	{
		struct bpf_insn *insns = (struct bpf_insn *)bpf_program__insns(p);

		for (size_t i = 0; i < bpf_program__insn_cnt(p); i++)
			if (insns[i].code == CALL_INSN && insns[i].src_reg == KFUNC_CALL &&
			    insns[i].imm == TASK_WORK_MARK)
				insns[i].imm = (int32_t)id;
	}
}

#define INT3_BYTES 256u /* of the entry of breakpoints, at most */

/* The entry of page faults follows that of breakpoints (asm/idtentry.h), so it ends it. */
static uint32_t load_int3_bytes(uint64_t int3)
{
	uint64_t bytes = int3 ? kwalk_symbol("asm_exc_page_fault") - int3 : 0;

	return bytes && bytes < INT3_BYTES ? (uint32_t)bytes : INT3_BYTES;
}

/* Writes the options into the programs' read-only configuration, which the verifier takes for
 * constants. -errno. */
int load_configure(struct kwalk *l, struct bpf_object *object)
{
	struct bpf_map *map = bpf_object__find_map_by_name(object, ".rodata.config");
	/* Everything that does not change while it records is a constant: the verifier drops
	 * branches that it decides. */
	struct kwalk_config c = {
		.when = l->probe.defers ? l->opts.when : KWALK_NEVER,
		.filter = l->opts.filter,
		.inherit = !l->opts.no_inherit,
		.defers = l->probe.defers,
		.depth = l->opts.depth,
		.raw = l->opts.raw,
		.kernel = !l->opts.no_kernel,
		.wake = (uint32_t)(l->opts.ring_bytes / 4),
		.user = 1,
		.fp = l->opts.fp,
		.int3 = kwalk_symbol("asm_exc_int3"),
		.uretprobe = kwalk_symbol("__x64_sys_uretprobe"),
		.timer = kwalk_symbol("perf_swevent_hrtimer"),
	};

	c.int3_bytes = load_int3_bytes(c.int3);
	filter_configure(l, &c);
	c.runtimes = l->opts.runtimes;
	c.seed = map_secret(); /* nobody can foresee keys, and make code whose keys collide */
	c.context = l->opts.context;
	offcpu_configure(l, &c);
	return map ? bpf_map__set_initial_value(map, &c, sizeof(c)) : -ENOENT;
}

int load_map_fd(struct kwalk *l, const char *name)
{
	return bpf_object__find_map_fd_by_name(l->object, name);
}

/* With -vv, how many instructions the verifier went through, which differs by kernel. */
void load_tell(struct kwalk *l, struct bpf_object *object)
{
	struct bpf_program *p;

	bpf_object__for_each_program(p, object)
	{
		if (bpf_program__fd(p) >= 0)
			log_line(l->opts.log, LOG_ATTRS, "verifier: %s, %u instructions",
			         bpf_program__name(p), kwalk_program_info(p).verified_insns);
	}
}
