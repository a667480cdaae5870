// SPDX-License-Identifier: MIT
/*
 * hostile_php.c: a program that says it is PHP 8.2, and has whatever its argument names in the
 * place of the interpreter's structures (offsets: src/runtimes/php.c, capture/runtime/php.bpf.h).
 * Works for a quarter of a second of CPU time. `good` has one function, to show that the rest is
 * near it.
 *
 * Build with -rdynamic, so that the symbols are found.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

unsigned char executor_globals[1800] __attribute__((aligned(8)));
void *zend_execute_ex, *zend_ce_sensitive_parameter;

static unsigned char frames[3000][80], code[256], name[512], class_name[128], class_entry[64],
        file[256], op[64], generator[512];
static const char *which;

static void put(void *at, unsigned offset, uint64_t v)
{
	memcpy((char *)at + offset, &v, 8);
}

static uint64_t of(const void *p)
{
	return (uintptr_t)p;
}

static void text(unsigned char *object, const char *s)
{
	put(object, 0, 1 | 6ull << 32);
	put(object, 16, strlen(s));
	strcpy((char *)object + 24, s);
}

static int is(const char *s)
{
	return !strcmp(which, s);
}

/* The loop of the interpreter: it has its frame in r14. */
__attribute__((noinline)) void execute_ex(void *frame);
void execute_ex(void *frame)
{
	clock_t end = clock() + CLOCKS_PER_SEC / 4;

	while (clock() < end)
		__asm__ volatile("mov %0, %%r14\n\tmov $1000000, %%ecx\n1:\tdec %%ecx\n\tjnz 1b"
		                 :
		                 : "r"(frame)
		                 : "r14", "rcx", "cc");
}

/* One frame of a function, all of it right. */
static void good(void)
{
	put(executor_globals, 488, of(frames[0]));
	put(frames[0], 0, of(op));
	put(frames[0], 24, of(code));
	put(frames[0], 40, 0x20000);
	put(op, 24, 7);
	code[0] = 2;
	put(code, 8, of(name));
	put(code, 16, of(class_entry));
	put(code, 152, of(file));
	put(code, 160, 3);
	put(class_entry, 8, of(class_name));
	text(file, "/made/good.php");
	text(name, "good");
	text(class_name, "Made");
}

/* Spoils it. */
static void spoil(void)
{
	if (is("cycle"))
		put(frames[0], 48, of(frames[0]));
	if (is("long"))
		put(name, 16, 1ull << 60);
	if (is("negative"))
		put(name, 16, UINT64_MAX);
	if (is("string"))
		put(name, 0, 7ull << 32);
	if (is("type"))
		code[0] = 77;
	if (is("kernel"))
		put(frames[0], 24, 0xffffffff81000000);
	if (is("class"))
		put(code, 16, 0xffffffff81000000);
	if (is("line"))
		put(op, 24, UINT32_MAX);
	if (is("nowhere"))
		put(frames[0], 48, 0x1000);
	if (is("letters"))
		text(name, "e\nvil\033[31m;x\t\"<b>\xff\xfe");
	if (is("waits")) { /* a generator that waits for itself */
		put(executor_globals, 488, of(generator + 184));
		put(generator, 56, of(frames[0]));
		put(generator, 152, of(generator));
		put(generator, 184 + 48, of(frames[0]));
	}
	if (is("deep"))
		for (size_t i = 0; i < 2999; i++) {
			memcpy(frames[i], frames[0], sizeof(frames[i]));
			put(frames[i], 40, 0);
			put(frames[i], 48, of(frames[i + 1]));
		}
}

int main(int n, char **words)
{
	which = n > 1 ? words[1] : "good";
	good();
	spoil();
	execute_ex(frames[0]);
	return 0;
}
