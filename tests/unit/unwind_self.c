// SPDX-License-Identifier: MIT
// The walker against an independent one: this process's own stack, as libgcc's unwinder
// (backtrace(3)) sees it. Tables come from the real objects that are mapped here: this program,
// libc, cmocka.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include <gelf.h>

#include "unwind/compile.h"
#include "unwind/walk.h"

#if defined(__x86_64__)

#define OBJECTS 32

static struct {
	uint64_t start, end, bias;
	struct frametab table;
	struct buf blob;
} objects[OBJECTS];
static size_t n_objects;

static void add_section(Elf *elf, size_t names, const char *name, struct compile_section *ret)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(elf, section))) {
		gelf_getshdr(section, &header);
		if (strcmp(elf_strptr(elf, names, header.sh_name), name))
			continue;
		Elf_Data *data = elf_getdata(section, NULL);

		*ret = (struct compile_section){ data->d_buf, data->d_size, header.sh_addr };
	}
}

static int add_object(struct dl_phdr_info *info, size_t size, void *ctx)
{
	const char *path = info->dlpi_name[0] ? info->dlpi_name : "/proc/self/exe";
	struct compile_input in = { .machine = FRAMETAB_X86_64 };
	struct seam_error err = { 0 };
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t names;
	Elf *elf;

	if (fd < 0 || n_objects == OBJECTS) /* the vdso has no file */
		return 0;
	elf = elf_begin(fd, ELF_C_READ, NULL);
	elf_getshdrstrndx(elf, &names);
	add_section(elf, names, ".eh_frame", &in.eh_frame);
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
			continue;
		in.ranges[in.n_ranges++] =
		        (struct compile_range){ p->p_vaddr, p->p_vaddr + p->p_memsz };
		objects[n_objects].start = info->dlpi_addr + p->p_vaddr;
		objects[n_objects].end = info->dlpi_addr + p->p_vaddr + p->p_memsz;
		objects[n_objects].bias = info->dlpi_addr;
	}
	if (compile_table(&in, &objects[n_objects].blob, &err) < 0)
		fail_msg("%s: %s", path, err.text);
	if (frametab_open(&objects[n_objects].table, objects[n_objects].blob.bytes,
	                  objects[n_objects].blob.n, &err) < 0)
		fail_msg("%s: %s", path, err.text);
	n_objects++;
	elf_end(elf);
	close(fd);
	return 0;
}

static int setup(void **state)
{
	elf_version(EV_CURRENT);
	dl_iterate_phdr(add_object, NULL);
	return n_objects ? 0 : -1;
}

static int teardown(void **state)
{
	for (size_t i = 0; i < n_objects; i++)
		buf_free(&objects[i].blob);
	return 0;
}

static int find(void *ctx, uint64_t pc, struct walk_place *ret)
{
	for (size_t i = 0; i < n_objects; i++) {
		if (pc < objects[i].start || pc >= objects[i].end)
			continue;
		ret->table = &objects[i].table;
		ret->rule = frametab_find(&objects[i].table, pc - objects[i].bias);
		return 0;
	}
	return -ENOENT;
}

/* Reads through the kernel, so that a wrong address is an answer and not a crash. */
static int read_word(void *ctx, uint64_t address, uint64_t *ret)
{
	static int fd = -1;

	if (fd < 0)
		fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	return pread(fd, ret, 8, (off_t)address) == 8 ? 0 : -EFAULT;
}

static void registers_from(const ucontext_t *context, struct walk_registers *ret)
{
	static const int order[17] = { REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
		                       REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
		                       REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP };

	for (unsigned i = 0; i < 17; i++)
		ret->value[i] = (uint64_t)context->uc_mcontext.gregs[order[i]];
	ret->known = (1u << 17) - 1;
}

static uint64_t frames[WALK_FRAMES_MAX];
static struct walk walk;
static void *truth[WALK_FRAMES_MAX];
static int n_truth;

static void walk_from(const ucontext_t *context)
{
	struct walk_options options = { .machine = FRAMETAB_X86_64,
		                        .no_fallback = true,
		                        .max_frames = WALK_FRAMES_MAX };
	struct walk_memory memory = { .read = read_word, .find = find };
	struct walk_registers regs;

	registers_from(context, &regs);
	walk_stack(&options, &memory, &regs, frames, &walk);
}

/*
 * All frames but the innermost are equal: that one's pc differs, being another place of the same
 * function. (Under ASan backtrace(3) is wrapped: then its own frame comes first.)
 */
static void assert_equal_to_truth(void)
{
	size_t skip = (size_t)n_truth - (walk.n - 1);

	if (walk.end != WALK_COMPLETE)
		fail_msg("walk ended after %zu frames at %#llx: %s", walk.n,
		         (unsigned long long)walk.end_pc, walk_end_text(walk.end));
	assert_in_range(skip, 1, 2);
	for (size_t i = 1; i < walk.n; i++)
		assert_int_equal(frames[i], (uint64_t)truth[skip + i - 1]);
	assert_int_equal(walk.n_sure, walk.n);
}

static __attribute__((noinline)) int take(int depth, volatile char *room)
{
	ucontext_t context;

	room[0] = (char)depth;
	n_truth = backtrace(truth, WALK_FRAMES_MAX);
	getcontext(&context);
	walk_from(&context);
	return room[0];
}

/* Frames of a size that is not known at compile time: the CFA hangs on rbp. */
static __attribute__((noinline)) int recurse(int depth, size_t size)
{
	volatile char *room = __builtin_alloca(size);

	return (depth ? recurse(depth - 1, size + 32) : take(depth, room)) + room[0];
}

static int compare_with_walk(const void *a, const void *b)
{
	static volatile char room[8];

	if (!walk.n)
		take(1, room);
	return *(const int *)a - *(const int *)b;
}

static void plain_calls(void **state)
{
	volatile char room[8];

	take(3, room);
	assert_equal_to_truth();
	assert_true(walk.n > 3);
}

static void deep_and_with_alloca(void **state)
{
	recurse(200, 16);
	assert_equal_to_truth();
	assert_true(walk.n > 200);
}

static void through_libc(void **state)
{
	int values[64];

	walk.n = 0;
	for (int i = 0; i < 64; i++)
		values[i] = (i * 37) % 64;
	qsort(values, 64, sizeof(values[0]), compare_with_walk);
	assert_equal_to_truth();
}

static void on_signal(int number, siginfo_t *info, void *context)
{
	ucontext_t here;

	n_truth = backtrace(truth, WALK_FRAMES_MAX);
	getcontext(&here);
	walk_from(&here);
}

/* Through the kernel's signal frame and __restore_rt to the interrupted function, on the same stack
 * and on another. */
static void through_a_signal(void **state)
{
	stack_t alternate = { .ss_size = 1 << 16 };
	struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };

	for (int other = 0; other < 2; other++) {
		alternate.ss_sp = malloc(alternate.ss_size);
		assert_int_equal(sigaltstack(&alternate, NULL), 0);
		action.sa_flags = SA_SIGINFO | (other ? SA_ONSTACK : 0);
		sigaction(SIGUSR1, &action, NULL);
		raise(SIGUSR1);
		assert_equal_to_truth();
		assert_true(walk.n > 4);
		alternate.ss_flags = SS_DISABLE;
		sigaltstack(&alternate, NULL);
		alternate.ss_flags = 0;
		free(alternate.ss_sp);
	}
	signal(SIGUSR1, SIG_DFL);
}

/* The limit is kept and said. */
static void stops_at_the_limit(void **state)
{
	struct walk_options options = { .machine = FRAMETAB_X86_64, .max_frames = 3 };
	struct walk_memory memory = { .read = read_word, .find = find };
	struct walk_registers regs;
	ucontext_t context;

	getcontext(&context);
	registers_from(&context, &regs);
	memset(frames, 0, sizeof(frames));
	walk_stack(&options, &memory, &regs, frames, &walk);
	assert_int_equal(walk.n, 3);
	assert_int_equal(walk.end, WALK_LIMIT);
	assert_int_equal(frames[3], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_calls),        cmocka_unit_test(deep_and_with_alloca),
		cmocka_unit_test(through_libc),       cmocka_unit_test(through_a_signal),
		cmocka_unit_test(stops_at_the_limit),
	};

	return cmocka_run_group_tests_name("unwind_self", tests, setup, teardown);
}

#else

int main(void)
{
	puts("unwind_self: only written for x86_64");
	return 77;
}

#endif
