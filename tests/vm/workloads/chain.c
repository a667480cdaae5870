// SPDX-License-Identifier: MIT
/*
 * chain_alpha N, chain_beta N: one process that becomes the other program and back, N times. Built
 * twice, with the families alpha and beta. A sample that was taken inside execve while the program
 * was still the old one can have no user part: the answer is the new program's stack. (Nothing here
 * tells the compiler that the chain never returns: a call as the last instruction would have its
 * return address in the next function.)
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "families.h"

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

#define PROGRAM_NS 5000000u

static char *next_argv[3];

FRAME void JOIN(SELF, _leaf)(long unused)
{
	static char *none[] = { NULL };

	(void)unused;
	syscall_here(SYS_execve, (long)next_argv[0], (long)next_argv, (long)none, 0, 0, 0);
}
#define FAMILY_OF(name) FAMILY(name)
FAMILY_OF(SELF)
FAMILY(zero)

int main(int argc, char **argv)
{
	long left = argc > 1 ? atol(argv[1]) : 0;
	char path[4096], count[24], *name;
	uint64_t start_ns;

	zero_fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	start_ns = cpu_ns(); /* a task's, whatever its program */
	do
		zero_30(2);
	while (cpu_ns() < start_ns + PROGRAM_NS);
	if (left <= 0)
		return 0;
	snprintf(path, sizeof(path), "%s", argv[0]);
	name = strrchr(path, '_');
	if (!name)
		return 2;
	snprintf(name, sizeof(path) - (size_t)(name - path), "_%s", OTHER);
	snprintf(count, sizeof(count), "%ld", left - 1);
	next_argv[0] = path;
	next_argv[1] = count;
	JOIN(SELF, _30)(0);
	return 3;
}
