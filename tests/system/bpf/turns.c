// SPDX-License-Identifier: MIT
/*
 * turns.c: code that is replaced at an address, again and again. Every stack is known: below main
 * there is turns_run, and below it either the functions of the part that has its turn or what loads
 * it.
 *
 *	turns MILLISECONDS SECONDS PART.so...     each library for so many milliseconds of CPU time
 *	turns MILLISECONDS SECONDS PART.so jit    one, then code made at run time at the very same
 *	                                          address
 *	turns MILLISECONDS SECONDS over PART.so...  each file mapped over the one before it, in one
 *	                                            step
 *	turns MILLISECONDS SECONDS lent PART.so...  likewise; none may run when the next
 *	                                            comes
 *
 * Says how often the code changed and at how many addresses it was: "CHANGES changes at ADDRESSES
 * addresses".
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define KEEP __attribute__((noinline, noclone))
#define NO_TAIL_CALL() __asm__ volatile("" ::: "memory")
#define CODE ((size_t)4096)
#define PLACES 64

typedef void part(const volatile int *stop, volatile unsigned long *sum);

static volatile unsigned long sum;
static volatile int stop;
static double turn;
static void *resolver[PLACES];
static int n_places, changes, lends;

static double spent(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Stops the part's turn, by CPU time. */
static void turns_ring(void)
{
	static timer_t timer;
	static int made;
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	struct itimerspec at = { .it_value.tv_nsec = (long)(turn * 1e9) % 1000000000,
		                 .it_value.tv_sec = (time_t)turn };

	if (!made && timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &timer) < 0)
		exit(3);
	made = 1;
	stop = 0;
	timer_settime(timer, 0, &at, NULL);
}

static void turns_stop(int signal)
{
	(void)signal;
	stop = 1;
}

static void turns_place(void *at)
{
	int i = 0;

	changes++;
	while (i < n_places && resolver[i] != at)
		i++;
	if (i == n_places && n_places < PLACES)
		resolver[n_places++] = at;
}

/* What is called by made code: it runs in the program, the made code is its caller. */
KEEP static void turns_spin(const volatile int *until, volatile unsigned long *to)
{
	while (!*until)
		*to += 1;
	NO_TAIL_CALL();
}

KEEP static void turns_call(part *enter)
{
	turns_ring();
	enter(&stop, &sum);
	NO_TAIL_CALL();
}

KEEP static void *turns_library(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);
	part *enter = library ? (part *)(size_t)dlsym(library, "part_enter") : NULL;
	struct link_map *map;

	if (!enter || dlinfo(library, RTLD_DI_LINKMAP, &map) < 0)
		exit(4);
	turns_place((void *)map->l_addr);
	turns_call(enter);
	dlclose(library);
	return (void *)(size_t)enter;
}

/* push %rbp; mov %rsp, %rbp; sub $room, %rsp; movabs $turns_spin, %rax; call *%rax; leave; ret:
 * where a library was. */
KEEP static void turns_made(void *where)
{
	static const unsigned char begin[] = { 0x55, 0x48, 0x89, 0xe5, 0x48, 0x81, 0xec,
		                               0x80, 0x01, 0x00, 0x00, 0x48, 0xb8 };
	static const unsigned char end[] = { 0xff, 0xd0, 0xc9, 0xc3 };
	char *page = (char *)((size_t)where & ~(size_t)4095), *code = page + 64;
	part *spin = turns_spin;
	char *got = mmap(page, CODE, PROT_READ | PROT_WRITE,
	                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (got != page)
		exit(5);
	memcpy(code, begin, sizeof(begin));
	memcpy(code + sizeof(begin), &spin, sizeof(spin));
	memcpy(code + sizeof(begin) + sizeof(spin), end, sizeof(end));
	mprotect(page, CODE, PROT_READ | PROT_EXEC);
	changes++;
	turns_call((part *)(size_t)code);
	munmap(page, CODE);
}

/* As many bytes of each, so that what is mapped changes and how much does not. */
KEEP static void turns_over(const char *path)
{
	static char *place;
	void *library = dlopen(path, RTLD_NOW);
	char *enter = library ? dlsym(library, "part_enter") : NULL;
	int file = open(path, O_RDONLY | O_CLOEXEC);
	struct link_map *map;

	if (!enter || file < 0 || dlinfo(library, RTLD_DI_LINKMAP, &map) < 0)
		exit(6);
	if (!place)
		place = mmap(NULL, CODE * 4, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	else if (lends)
		mprotect(place, CODE * 2, PROT_READ);
	place = mmap(place, CODE * 2, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, file, 0);
	if (place == MAP_FAILED)
		exit(7);
	enter = place + (size_t)(enter - (char *)map->l_addr);
	close(file); /* the library stays: that it goes would be noticed, too */
	turns_place(place);
	turns_call((part *)(size_t)enter);
}

KEEP static void turns_run(int n, char **parts, double seconds)
{
	int over = !strcmp(parts[0], "over") || !strcmp(parts[0], "lent");
	double end = spent() + seconds;
	void *last = NULL;

	lends = !strcmp(parts[0], "lent");
	for (int i = over; spent() < end; i = (i + 1) % n ? i + 1 : over) {
		if (over)
			turns_over(parts[i]);
		else if (strcmp(parts[i], "jit"))
			last = turns_library(parts[i]);
		else
			turns_made(last);
	}
	NO_TAIL_CALL();
}

#ifndef DEEP
#define DEEP 0
#endif

/* DEEP KiB of stack lie below main, and a little more. */
KEEP static void turns_deep(int deep, int n, char **parts, double seconds)
{
	volatile char room[1024];

	room[0] = 1;
	if (deep)
		turns_deep(deep - 1, n, parts, seconds);
	else
		turns_run(n, parts, seconds);
	sum += (unsigned char)room[0];
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = turns_stop, .sa_flags = SA_RESTART };

	if (argc < 4)
		return 2;
	sigaction(SIGUSR1, &action, NULL);
	turn = atof(argv[1]) / 1000;
	if (DEEP)
		turns_deep(DEEP, argc - 3, argv + 3, atof(argv[2]));
	else
		turns_run(argc - 3, argv + 3, atof(argv[2]));
	printf("%d changes at %d addresses\n", changes, n_places);
	return 0;
}
