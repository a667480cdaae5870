/* SPDX-License-Identifier: MIT */
/*
 * data_words.c: a program whose stacks end in words of data, as those of a program that switches to
 * a stack of its own do. For each kind of word a process works in a function that nobody called:
 * where its return address would stand is that word. Says the words on standard output, in
 * hexadecimal. x86_64.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "work.h"

static uint64_t variable[64];
static const uint64_t constant[64] = { 1 };

static void __attribute__((noinline)) innermost(unsigned n)
{
	for (volatile unsigned i = 0; i < n; i++)
		;
}

static void __attribute__((noinline, used, noreturn)) worker(void)
{
	unsigned n = work_loops(100000);

	for (uint64_t end = work_until(300); work_goes_on(end);)
		innermost(n);
	_exit(0);
}

/* On the stack below `top`, with the word in the place of the return address, and a frame pointer
 * that leads on to more data. */
static void __attribute__((noinline, noreturn)) begin(uint64_t *top, uint64_t word)
{
	top[-1] = word;
	__asm__ volatile("movq %0, %%rsp\n\tmovq %1, %%rbp\n\tjmp worker"
	                 :
	                 : "r"(top - 1), "r"(top)
	                 : "memory");
	__builtin_unreachable();
}

int main(void)
{
	size_t size = 1 << 20;
	uint64_t *stack =
	        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t *heap = malloc(4096), *top = stack + size / 8 - 512;
	uint64_t words[] = { (uint64_t)(uintptr_t)heap,
		             (uint64_t)(uintptr_t)variable,
		             (uint64_t)(uintptr_t)constant,
		             (uint64_t)(uintptr_t)top,
		             0x41f9000042390000,
		             0xff000000ff };

	if (stack == MAP_FAILED || !heap)
		return 1;
	top[0] = (uint64_t)(uintptr_t)(top + 8);
	top[1] = (uint64_t)(uintptr_t)(heap + 8);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		printf("%llx\n", (unsigned long long)words[i]);
		fflush(stdout);
		if (!fork())
			begin(top, words[i]);
		wait(NULL);
	}
	printf("%llx\n", (unsigned long long)top[1]);
	return 0;
}
