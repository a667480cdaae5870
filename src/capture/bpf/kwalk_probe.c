// SPDX-License-Identifier: MIT
/* kwalk_probe.c: what this kernel, for this user, lets BPF programs do, by trying; why not, and
 * what would help. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "capture/bpf/kwalk_parts.h"

/* libbpf talks by a global hook only: it is told to be silent, errors come as codes and the
 * verifier's words in a buffer. */
int kwalk_libbpf_print(enum libbpf_print_level level, const char *format, va_list ap)
{
	(void)level;
	(void)format;
	(void)ap;
	return 0;
}

/* The BTF id of the kernel's function for task work; 0: it has none. The new name first: kernels
 * that have it keep the old one in their BTF with another meaning. */
int kwalk_task_work(void)
{
	struct btf *kernel = btf__load_vmlinux_btf();
	int id;

	if (!kernel)
		return 0;
	id = btf__find_by_name_kind(kernel, "bpf_task_work_schedule_resume", BTF_KIND_FUNC);
	if (id <= 0)
		id = btf__find_by_name_kind(kernel, "bpf_task_work_schedule_resume_impl",
		                            BTF_KIND_FUNC);
	btf__free(kernel);
	return id > 0 ? id : 0;
}

/* Needs the right to load BPF programs; without it, or without the function, the answer is no. */
bool kwalk_traces(const char *function)
{
	static const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	struct bpf_prog_load_opts opts = { .sz = sizeof(opts),
		                           .expected_attach_type = BPF_TRACE_FENTRY };
	struct btf *kernel = btf__load_vmlinux_btf();
	int id = kernel ? btf__find_by_name_kind(kernel, function, BTF_KIND_FUNC) : 0, fd, link;

	btf__free(kernel);
	if (id <= 0)
		return false;
	opts.attach_btf_id = (uint32_t)id;
	fd = bpf_prog_load(BPF_PROG_TYPE_TRACING, "seam_probe", "GPL", insns,
	                   sizeof(insns) / sizeof(insns[0]), &opts);
	if (fd < 0)
		return false;
	link = bpf_link_create(fd, 0, BPF_TRACE_FENTRY, NULL);
	if (link >= 0)
		close(link);
	close(fd);
	return link >= 0;
}

static void probe_no(struct kwalk_probe *p, const char *reason, const char *remedy)
{
	snprintf(p->reason, sizeof(p->reason), "%s", reason);
	snprintf(p->remedy, sizeof(p->remedy), "%s", remedy);
}

static bool probe_init_pid_namespace(void)
{
	char text[64];
	ssize_t n = readlink("/proc/self/ns/pid", text, sizeof(text) - 1);

	if (n < 0)
		return true;
	text[n] = 0;
	return !strcmp(text, "pid:[4026531836]"); /* PROC_PID_INIT_INO */
}

/* An arena of one page: needs the capabilities and Linux 6.9. */
static int probe_arena(void)
{
	const struct bpf_map_create_opts opts = { .sz = sizeof(opts), .map_flags = BPF_F_MMAPABLE };
	int fd = bpf_map_create((enum bpf_map_type)33, "seam_probe", 0, 0, 1, &opts);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

/* Fills *ret; reason and remedy are sentences for people. Loads nothing that stays. */
void kwalk_probe(struct kwalk_probe *ret)
{
	int r;

	*ret = (struct kwalk_probe){ 0 };
	libbpf_set_print(kwalk_libbpf_print);
	if (access("/sys/kernel/btf/vmlinux", R_OK) < 0) {
		probe_no(ret, "the kernel's types are not at /sys/kernel/btf/vmlinux",
		         "a kernel with CONFIG_DEBUG_INFO_BTF");
		return;
	}
	if (!probe_init_pid_namespace()) {
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
	ret->defers = kwalk_task_work() > 0;
	if (!ret->defers)
		probe_no(ret,
		         "the kernel has no task work for BPF: a stack ends where a page is "
		         "not in memory",
		         "Linux 6.18 or newer");
}
