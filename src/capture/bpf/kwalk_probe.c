// SPDX-License-Identifier: MIT
/* kwalk_probe.c: what this kernel, for this user, lets BPF programs do, by trying; why not, and
 * what would help. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "capture/bpf/kwalk_parts.h"
#include "capture/bpf/relocate.h"
#include "base/procfs.h"

/* libbpf talks by a global hook only: it is told to be silent, errors come as codes and the
 * verifier's words in a buffer. */
int kwalk_libbpf_print(enum libbpf_print_level level, const char *format, va_list ap)
{
	(void)level;
	(void)format;
	(void)ap;
	return 0;
}

/* Two names: 6.18 and 6.19 have it with _impl behind. */
#define TASK_WORK "bpf_task_work_schedule_resume"

void kwalk_want_task_work(struct relocate *r)
{
	relocate_want(r, BTF_WANT_FUNC, TASK_WORK, "");
	relocate_want(r, BTF_WANT_FUNC, TASK_WORK, "_impl");
}

/* The new name first: kernels that have it keep the old one in their BTF with another meaning. */
uint32_t kwalk_task_work(const struct relocate *r)
{
	uint32_t id = relocate_id(r, TASK_WORK);

	return id ? id : relocate_id(r, TASK_WORK "_impl");
}

/* Needs the right to load BPF programs; without it, or without the function, the answer is no. */
bool kwalk_traces(uint32_t function)
{
	static const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	struct bpf_prog_load_opts opts;
	int fd, link;

	if (!function)
		return false;
	LIBBPF_ZEROED(opts);
	opts.expected_attach_type = BPF_TRACE_FENTRY;
	opts.attach_btf_id = function;
	fd = bpf_prog_load(BPF_PROG_TYPE_TRACING, "seam_probe", "GPL", insns,
	                   sizeof(insns) / sizeof(insns[0]), &opts);
	if (fd < 0)
		return false;
	/* Loading does not prove it; only the attachment does. */
	link = bpf_link_create(fd, 0, BPF_TRACE_FENTRY, NULL);
	if (link >= 0)
		close(link);
	close(fd);
	return link >= 0;
}

/* The instructions that put a text of n bytes, with its 0, on the stack, so far below the frame
 * pointer. */
static size_t symbol_text(struct bpf_insn *ret, const char *text, size_t n, int below)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i += 4) {
		int32_t word = 0;

		memcpy(&word, text + i, n - i < 4 ? n - i : 4);
		ret[count++] = (struct bpf_insn){ .code = BPF_ST | BPF_MEM | BPF_W,
			                          .dst_reg = BPF_REG_10,
			                          .off = (int16_t)((int)i - below),
			                          .imm = word };
	}
	return count;
}

#define SYMBOL_TEXT 72   /* below the frame pointer, and bytes */
#define SYMBOL_RESULT 80 /* likewise */

/*
 * /proc/kallsyms would say it too, and making that text takes the kernel 50 ms of work. A program
 * that is run once asks the kernel's own table.
 */
uint64_t kwalk_symbol(const char *name)
{
	size_t n = strlen(name) + 1;
	/* BPF instructions as the verifier gets them; the registers are those of its calling
	 * convention (r1 to r5 are arguments, r10 is the frame pointer). */
	const struct bpf_insn call[] = {
		{ BPF_ST | BPF_MEM | BPF_DW, .dst_reg = 10, .off = -SYMBOL_RESULT },
		{ BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = 6, .src_reg = 1 }, /* the context */
		{ BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = 1, .src_reg = 10 },
		{ BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = 1, .imm = -SYMBOL_TEXT },
		{ BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 2, .imm = (int32_t)n },
		{ BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 3 },
		{ BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = 4, .src_reg = 10 },
		{ BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = 4, .imm = -SYMBOL_RESULT },
		{ BPF_JMP | BPF_CALL, .imm = BPF_FUNC_kallsyms_lookup_name },
		{ BPF_LDX | BPF_MEM | BPF_DW, .dst_reg = 1, .src_reg = 10, .off = -SYMBOL_RESULT },
		{ BPF_STX | BPF_MEM | BPF_DW, .dst_reg = 6, .src_reg = 1 },
		{ BPF_ALU64 | BPF_MOV | BPF_K },
		{ BPF_JMP | BPF_EXIT },
	};
	struct bpf_prog_load_opts load;
	struct bpf_insn insns[SYMBOL_TEXT / 4 + sizeof(call) / sizeof(call[0])];
	uint64_t ret = 0;
	struct bpf_test_run_opts run;
	int fd;

	if (n > SYMBOL_TEXT)
		return 0;
	LIBBPF_ZEROED(load);
	load.prog_flags = BPF_F_SLEEPABLE;
	LIBBPF_ZEROED(run);
	run.ctx_in = &ret;
	run.ctx_size_in = sizeof(ret);
	n = symbol_text(insns, name, n, SYMBOL_TEXT);
	memcpy(insns + n, call, sizeof(call));
	fd = bpf_prog_load(BPF_PROG_TYPE_SYSCALL, "seam_symbol", "GPL", insns,
	                   n + sizeof(call) / sizeof(call[0]), &load);
	if (fd < 0)
		return 0;
	if (bpf_prog_test_run_opts(fd, &run) < 0)
		ret = 0;
	close(fd);
	return ret;
}

static void probe_no(struct kwalk_probe *p, const char *reason, const char *remedy)
{
	snprintf(p->reason, sizeof(p->reason), "%s", reason);
	snprintf(p->remedy, sizeof(p->remedy), "%s", remedy);
}

/* An arena of one page: needs the capabilities and Linux 6.9. */
static int probe_arena(void)
{
	struct bpf_map_create_opts opts;
	int fd;

	LIBBPF_ZEROED(opts);
	opts.map_flags = BPF_F_MMAPABLE;
	/* 33: BPF_MAP_TYPE_ARENA, which older headers do not have. */
	fd = bpf_map_create((enum bpf_map_type)33, "seam_probe", 0, 0, 1, &opts);
	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

/* Reason and remedy are sentences for people. Loads nothing that stays. */
void kwalk_probe_usable(struct kwalk_probe *ret)
{
	int r;

	*ret = (struct kwalk_probe){ 0 };
	libbpf_set_print(kwalk_libbpf_print);
	if (access(RELOCATE_BTF, R_OK) < 0) {
		probe_no(ret, "the kernel's types are not at /sys/kernel/btf/vmlinux",
		         "a kernel with CONFIG_DEBUG_INFO_BTF");
		return;
	}
	/* The programs see the kernel's own numbers of processes. */
	if (!procfs_is_first_namespace()) {
		probe_no(ret, "this is a container with process numbers of its own",
		         "record from the host");
		return;
	}
	r = probe_arena();
	if (r == -EPERM) {
		probe_no(ret, "BPF programs may not be loaded",
		         "run as root, or with CAP_BPF and CAP_PERFMON");
		return;
	}
	if (r < 0) {
		probe_no(ret, "the kernel has no BPF arenas", "Linux 6.9 or newer");
		return;
	}
	ret->usable = true;
	ret->reads_sleepers = true;
}

void kwalk_probe_defers(struct kwalk_probe *p, uint32_t task_work)
{
	p->defers = task_work;
	if (!p->defers)
		probe_no(p,
		         "the kernel has no task work for BPF: a stack ends where a page is "
		         "not in memory",
		         "Linux 6.18 or newer");
}

/* Fills *ret. */
void kwalk_probe(struct kwalk_probe *ret)
{
	struct relocate r;
	int error;

	kwalk_probe_usable(ret);
	if (!ret->usable)
		return;
	error = relocate_begin(&r);
	kwalk_want_task_work(&r);
	if (error >= 0)
		relocate_find(&r);
	kwalk_probe_defers(ret, kwalk_task_work(&r));
	relocate_end(&r);
}
