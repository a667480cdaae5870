// SPDX-License-Identifier: MIT
/*
 * hostile.c: a program that says it is CPython 3.11, and has whatever its argument names in the
 * place of the interpreter's structures (offsets: src/runtimes/python.c). Spins for a quarter of a
 * second of CPU time. `good` has one function, to show that the rest is near it.
 *
 * Build with -rdynamic, so that the symbols are found.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

unsigned char _PyRuntime[4096] __attribute__((aligned(8)));
unsigned char PyCode_Type[512] __attribute__((aligned(8)));
const unsigned long Py_Version = 0x030b02f0;

static unsigned char interpreter[256], thread[512], code[4096], name[8192], file[256], lines[64];
static unsigned char frames[3000][80];
static const char *which;

static void put(void *at, unsigned offset, uint64_t v)
{
	memcpy((char *)at + offset, &v, 8);
}

static uint64_t of(const void *p)
{
	return (uintptr_t)p;
}

/* A string of ASCII characters. */
static void text(unsigned char *object, const char *s)
{
	put(object, 16, strlen(s));
	put(object, 32, 1 << 2 | 1 << 5 | 1 << 6);
	strcpy((char *)object + 48, s);
}

static int is(const char *s)
{
	return !strcmp(which, s);
}

/* What the loop of the interpreter would be; the struct is its mark. */
__attribute__((noinline)) static void loop(uint64_t *cframe, uint64_t *root)
{
	clock_t end = clock() + CLOCKS_PER_SEC / 4;

	put(thread, 56, of(cframe));
	cframe[1] = of(frames[0]);
	cframe[2] = of(is("cycle") ? cframe : root);
	while (clock() < end)
		for (volatile int i = 0; i < 10000; i++)
			;
}

__attribute__((noinline)) static void caller(void)
{
	static uint64_t heap[4];
	uint64_t cframe[4], root[4] = { 0 };

	cframe[2] = of(root);
	loop(is("heap") ? heap : cframe, root);
	__asm__ volatile("" : : "r"(cframe), "r"(root) : "memory");
}

/* One frame of a function, all of it right. */
static void good(void)
{
	put(_PyRuntime, 40, of(interpreter));
	put(interpreter, 16, of(thread));
	put(thread, 152, (uint64_t)pthread_self());
	put(code, 8, of(PyCode_Type));
	put(code, 72, 7);
	put(code, 112, of(file));
	put(code, 128, of(name));
	put(code, 136, of(lines));
	text(file, "/made/good.py");
	text(name, "good");
	put(lines, 16, 2);
	lines[32] = 0x80;
	put(frames[0], 32, of(code));
	put(frames[0], 56, of(code) + 184);
	frames[0][68] = 1;
}

/* Spoils it. */
static void spoil(void)
{
	if (is("cycle"))
		put(frames[0], 48, of(frames[0]));
	if (is("threads")) {
		put(thread, 8, of(thread));
		put(thread, 152, 1);
	}
	if (is("interpreters")) {
		put(interpreter, 0, of(interpreter));
		put(interpreter, 16, 0);
	}
	if (is("several"))
		put(interpreter, 0, of(interpreter));
	if (is("long"))
		put(name, 16, 1ull << 60);
	if (is("negative"))
		put(name, 16, UINT64_MAX);
	if (is("kind"))
		put(name, 32, 3 << 2 | 1 << 5);
	if (is("type"))
		put(code, 8, of(code));
	if (is("kernel"))
		put(frames[0], 32, 0xffffffff81000000);
	if (is("nowhere"))
		put(frames[0], 48, 0x1000);
	if (is("letters"))
		text(name, "e\nvil\033[31m;x\t\"<b>");
	if (is("lines"))
		put(lines, 16, UINT64_MAX);
	if (is("deep"))
		for (size_t i = 0; i < 2999; i++) {
			memcpy(frames[i], frames[0], 80);
			frames[i][68] = 0;
			put(frames[i], 48, of(frames[i + 1]));
		}
}

int main(int n, char **words)
{
	which = n > 1 ? words[1] : "good";
	good();
	spoil();
	caller();
	return 0;
}
