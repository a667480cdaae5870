// SPDX-License-Identifier: MIT
/*
 * synth_bpf.c: knows bpf(2) as far as it lists programs. A program is compiled to one piece of code
 * per function, each named as the kernel names it in /proc/kallsyms: by its tag and, from the
 * program's BTF, its function. (kallsyms itself is not read: 30 ms.)
 *
 * Everything comes from the kernel, of programs that others loaded. Counts and sizes are bounded
 * before they are allocated. Who may not list programs gets none, and no error.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "abi/encode.h"
#include "capture/btf_names.h"
#include "capture/synth_bpf.h"

#define SYNTH_BPF_FUNCTIONS 4096u /* of one program; the kernel allows 256 */
#define SYNTH_BPF_PROGRAMS 65536u
#define SYNTH_BPF_BTF (16u << 20) /* bytes of one program's BTF; the kernel takes as many */
#define SYNTH_KSYM_BPF 1

/* What is known of the code of one program; its arrays have n entries. */
struct bpf_code {
	uint32_t n;
	uint64_t *addresses;
	uint32_t *lengths;
	unsigned char (*tags)[BPF_TAG_SIZE];
	unsigned char tag[BPF_TAG_SIZE];
	char name[BPF_OBJ_NAME_LEN];
	struct bpf_func_info *functions; /* n, or NULL: it has no BTF */
	const char **names;              /* n, in btf; NULL: none is known */
	void *btf;
};

/* The system call itself: no library is needed for these five commands. */
static int bpf_call(int command, union bpf_attr *attr)
{
	long r = syscall(SYS_bpf, command, attr, sizeof(*attr));

	return r < 0 ? -errno : (int)r;
}

/* Asks for what the caller's struct has pointers for; without any it says the sizes. */
static int bpf_info(int fd, struct bpf_prog_info *info)
{
	union bpf_attr attr = { 0 };

	attr.info.bpf_fd = (uint32_t)fd;
	attr.info.info_len = sizeof(*info);
	attr.info.info = (uint64_t)(uintptr_t)info;
	return bpf_call(BPF_OBJ_GET_INFO_BY_FD, &attr);
}

static void bpf_code_free(struct bpf_code *code)
{
	free(code->addresses);
	free(code->lengths);
	free(code->tags);
	free(code->functions);
	free(code->names);
	free(code->btf);
}

/* The same of a BTF: its size, or its bytes. */
static int bpf_btf_info(int fd, struct bpf_btf_info *info)
{
	union bpf_attr attr = { 0 };

	attr.info.bpf_fd = (uint32_t)fd;
	attr.info.info_len = sizeof(*info);
	attr.info.info = (uint64_t)(uintptr_t)info;
	return bpf_call(BPF_OBJ_GET_INFO_BY_FD, &attr);
}

/* Names the functions by the BTF of that number; a BTF without names is as good as none. */
static void bpf_code_names(struct bpf_code *code, uint32_t btf)
{
	union bpf_attr open = { .btf_id = btf };
	struct bpf_btf_info info = { 0 };
	uint32_t *ids = calloc(code->n, sizeof(*ids)), size = 0;
	int fd = bpf_call(BPF_BTF_GET_FD_BY_ID, &open);

	code->names = calloc(code->n, sizeof(*code->names));
	/* The first call says the size, the second gives the bytes. BTF does not change once it is
	 * loaded. */
	if (fd >= 0 && !bpf_btf_info(fd, &info) && info.btf_size <= SYNTH_BPF_BTF)
		code->btf = malloc(size = info.btf_size);
	if (code->btf && ids && code->names) {
		info = (struct bpf_btf_info){ .btf = (uint64_t)(uintptr_t)code->btf,
			                      .btf_size = size };
		for (uint32_t i = 0; i < code->n; i++)
			ids[i] = code->functions[i].type_id;
		if (!bpf_btf_info(fd, &info) && info.btf_size == size)
			btf_names(code->btf, size, ids, code->n, code->names);
	}
	if (fd >= 0)
		close(fd);
	free(ids);
}

/* Asks twice: how much there is, then for it. */
static int bpf_code_read(int fd, struct bpf_code *ret)
{
	struct bpf_prog_info info = { 0 }, want = { 0 };
	int r = bpf_info(fd, &info);
	uint32_t n = info.nr_jited_ksyms;

	/* No addresses: the kernel hides them from this user, or the program is not compiled. */
	if (r < 0 || !n || n > SYNTH_BPF_FUNCTIONS || info.nr_jited_func_lens < n)
		return r < 0 ? r : -ENOENT;
	ret->addresses = calloc(n, sizeof(*ret->addresses));
	ret->lengths = calloc(n, sizeof(*ret->lengths));
	ret->tags = calloc(n, sizeof(*ret->tags));
	/* Records of another size than the one known here are not understood. */
	if (info.btf_id && info.nr_func_info == n &&
	    info.func_info_rec_size == sizeof(*ret->functions))
		ret->functions = calloc(n, sizeof(*ret->functions));
	if (!ret->addresses || !ret->lengths || !ret->tags)
		return -ENOMEM;
	if (ret->functions) {
		want.nr_func_info = n;
		want.func_info_rec_size = sizeof(*ret->functions);
		want.func_info = (uint64_t)(uintptr_t)ret->functions;
	}
	want.nr_jited_ksyms = want.nr_jited_func_lens = want.nr_prog_tags = n;
	want.jited_ksyms = (uint64_t)(uintptr_t)ret->addresses;
	want.jited_func_lens = (uint64_t)(uintptr_t)ret->lengths;
	want.prog_tags = (uint64_t)(uintptr_t)ret->tags;
	r = bpf_info(fd, &want);
	if (r < 0)
		return r;
	/* The program is held by its descriptor, so that it is the same in both calls; the smaller
	 * number is taken all the same. */
	ret->n = want.nr_jited_ksyms < n ? want.nr_jited_ksyms : n;
	memcpy(ret->tag, want.tag, sizeof(ret->tag));
	memcpy(ret->name, want.name, sizeof(ret->name) - 1);
	if (ret->functions && want.nr_func_info == n)
		bpf_code_names(ret, want.btf_id);
	return 0;
}

/* "bpf_prog_6deef7357e7b4530_sd_fw_egress" */
static void bpf_code_name(const struct bpf_code *code, uint32_t i, char *text, size_t n)
{
	const unsigned char *tag = i ? code->tags[i] : code->tag;
	size_t at = (size_t)snprintf(text, n, "bpf_prog_");

	for (size_t j = 0; j < BPF_TAG_SIZE; j++)
		at += (size_t)snprintf(text + at, n - at, "%02x", tag[j]);
	if (code->names && code->names[i])
		snprintf(text + at, n - at, "_%s", code->names[i]);
	else if (!i && code->name[0])
		snprintf(text + at, n - at, "_%s", code->name);
}

/* Appends a KSYMBOL record for each function of a program. Hidden addresses give none. */
static int bpf_code_put(const struct synth_opts *opts, const struct bpf_code *code, struct buf *out,
                        struct synth_counts *counts)
{
	for (uint32_t i = 0; i < code->n; i++) {
		char name[256];
		struct seam_ksymbol k = { .addr = code->addresses[i],
			                  .len = code->lengths[i],
			                  .ksym_type = SYNTH_KSYM_BPF,
			                  .name = name };
		int error;

		/* 0 is a hidden address. */
		if (!k.addr || !k.len)
			continue;
		bpf_code_name(code, i, name, sizeof(name));
		error = encode_ksymbol(out, opts->attr, 0, &k, NULL);
		if (error)
			return error;
		counts->bpf++;
	}
	return 0;
}

/* Programs are asked for by ascending id, so that one loaded meanwhile is met at most once. */
int synth_bpf_records(const struct synth_opts *opts, struct buf *out, struct synth_counts *counts)
{
	uint32_t id = 0;
	int error = 0;

	for (uint32_t i = 0; i < SYNTH_BPF_PROGRAMS && !error; i++) {
		union bpf_attr next = { .start_id = id }, open = { 0 };
		struct bpf_code code = { 0 };
		int fd;

		if (bpf_call(BPF_PROG_GET_NEXT_ID, &next) < 0)
			return 0;
		id = open.prog_id = next.next_id;
		fd = bpf_call(BPF_PROG_GET_FD_BY_ID, &open);
		if (fd < 0)
			continue; /* unloaded meanwhile */
		if (!bpf_code_read(fd, &code))
			error = bpf_code_put(opts, &code, out, counts);
		bpf_code_free(&code);
		close(fd);
	}
	return error;
}
