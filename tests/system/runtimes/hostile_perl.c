// SPDX-License-Identifier: MIT
/*
 * hostile_perl.c: a program that says it is Perl 5.36 with threads, and has something else in the
 * place of the interpreter's structures (offsets: src/runtimes/perl.c, capture/runtime/perl.bpf.h):
 * for each case, of which it has the name then, a process that works for a tenth of a second of CPU
 * time. `good` has one sub that the main program calls, to show that the rest is near it.
 *
 * Build with -rdynamic, so that the symbols are found.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CONTEXT 104u
#define DEEP 3000u

unsigned PL_opargs[414];
const uint16_t PL_interp_size = 3768;
pthread_key_t PL_thr_key;

static unsigned char interpreter[3768] __attribute__((aligned(8)));
static unsigned char contexts[DEEP * CONTEXT], stack[56], code[24], body[104], glob[24], globs[64],
        group[64], package[24], packages[64], statement[64], path[8192], jumps[3000][8];
static struct {
	uint32_t hash;
	int32_t n;
	char text[256];
} name, package_name;
static const char *which;

static void put(void *at, size_t offset, uint64_t v)
{
	memcpy((char *)at + offset, &v, 8);
}

static void put32(void *at, size_t offset, uint32_t v)
{
	memcpy((char *)at + offset, &v, 4);
}

static uint64_t of(const void *p)
{
	return (uintptr_t)p;
}

static int is(const char *s)
{
	return !strcmp(which, s);
}

/* The loop of the interpreter, and what calls it. */
__attribute__((noinline)) int Perl_runops_standard(void *p);
__attribute__((noinline)) int perl_run(void *p);
__attribute__((noinline)) int Perl_call_sv(void *p);
__attribute__((noinline)) int Perl_eval_sv(void *p);
__attribute__((noinline)) int Perl_amagic_call(void *p);

int Perl_runops_standard(void *p)
{
	clock_t end = clock() + CLOCKS_PER_SEC / 10;

	while (clock() < end)
		for (volatile int i = 0; i < 1000000; i++)
			;
	return p != NULL;
}

int perl_run(void *p)
{
	return Perl_runops_standard(p) + 1;
}

int Perl_call_sv(void *p)
{
	return Perl_runops_standard(p) + 2;
}

int Perl_eval_sv(void *p)
{
	return Perl_runops_standard(p) + 3;
}

int Perl_amagic_call(void *p)
{
	return Perl_runops_standard(p) + 4;
}

static void name_is(const char *s)
{
	name.n = (int32_t)strlen(s);
	strcpy(name.text, s);
}

/* A context of a sub, whose caller is the one before it. */
static void context(size_t i)
{
	unsigned char *c = contexts + i * CONTEXT;

	c[0] = 9;
	put(c, 16, of(statement));
	put(c, 48, of(statement));
	put32(c, 56, (uint32_t)i - 1);
	put(c, 72, of(code));
}

/* One sub of the main program, all of it right. */
static void good(void)
{
	put(interpreter, 208, of(statement));
	put(interpreter, 224, of(stack));
	put(interpreter, 2288, (uintptr_t)Perl_runops_standard);
	put(interpreter, 1816, of(statement));
	put(stack, 8, of(contexts));
	put32(stack, 44, 1);
	context(0);
	put(code, 0, of(body));
	put32(code, 12, 13);
	put(body, 40, of(statement));
	put(body, 56, of(glob));
	put(body, 64, of(path));
	put(glob, 0, of(globs));
	put32(glob, 12, 0x8009);
	put(glob, 16, of(group));
	put(globs, 32, of(&name));
	put(globs, 40, of(package));
	put(package, 0, of(packages));
	put32(package, 12, 0x200000c);
	put(packages, 32, of(&package_name));
	put32(statement, 32, 195);
	put32(statement, 36, 7);
	put(statement, 48, of(path));
	strcpy((char *)path, "/made/good.pl");
	name_is("good");
	package_name.n = 4;
	strcpy(package_name.text, "Made");
}

static void spoil_names(void)
{
	if (is("long"))
		name.n = 1 << 30;
	if (is("negative"))
		name.n = -2;
	if (is("code"))
		put32(code, 12, 12);
	if (is("glob"))
		put32(glob, 12, 12);
	if (is("effective"))
		put(group, 56, of(package));
	if (is("kernel"))
		put(contexts, 72, 0xffffffff81000000);
	if (is("package"))
		put(globs, 40, 0xffffffff81000000);
	if (is("endless"))
		memset(path, 'x', sizeof(path));
	if (is("letters"))
		name_is("e\nvil\033[31m;x\t\"<b>\xff\xfe");
}

static void spoil(void)
{
	if (is("cycle"))
		put32(contexts, 56, 0);
	if (is("stacks"))
		put(stack, 16, of(stack));
	if (is("outside"))
		put32(stack, 32, 1 << 30);
	if (is("line"))
		put32(statement, 36, UINT32_MAX);
	if (is("nowhere"))
		put(stack, 16, 0x1000);
	if (is("jumps")) { /* one that leads to itself, and so no end of them */
		put(jumps[0], 0, of(jumps[0]));
		put(interpreter, 760, of(jumps[0]));
	}
	if (is("other"))
		put(interpreter, 2288, 1);
	if (is("deep")) {
		for (size_t i = 0; i < DEEP; i++)
			context(i);
		put32(stack, 32, DEEP - 1);
		put32(stack, 40, DEEP - 1);
	}
	if (is("calls")) /* more calls than the native stack has */
		for (size_t i = 0; i < 10; i++) {
			context(i);
			put(contexts, i * CONTEXT + 48, 0);
			put32(stack, 32, 9);
			put32(stack, 40, 9);
		}
}

/* In a process of its own. */
static int run(const char *as)
{
	which = as;
	prctl(PR_SET_NAME, as);
	good();
	spoil_names();
	spoil();
	if (pthread_key_create(&PL_thr_key, NULL) || pthread_setspecific(PL_thr_key, interpreter))
		return 1;
	return perl_run(interpreter) < 0;
}

int main(void)
{
	static const char *const cases[] = {
		"good",  "cycle",     "stacks", "outside", "long",    "negative", "code",
		"glob",  "effective", "kernel", "package", "endless", "line",     "nowhere",
		"jumps", "other",     "deep",   "calls",   "letters",
	};
	int status = 0, failed = 0;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		pid_t child = fork();

		if (!child)
			_exit(run(cases[i]));
		failed |= child < 0 || waitpid(child, &status, 0) < 0 || status;
	}
	return failed;
}
