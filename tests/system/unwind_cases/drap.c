// SPDX-License-Identifier: MIT
// drap.c: a stack that is aligned at run time, whose CFA is in another register and then in memory;
// and a large one.
#include <string.h>

#define FAR __attribute__((noinline, noclone))

typedef int wide __attribute__((vector_size(32), aligned(32)));

FAR void use(void *p, int n)
{
	memset(p, n, 8);
}

FAR int aligned(int n, int a, int b, int c, int d, int e, int f, int g)
{
	wide v[4];
	char *p = __builtin_alloca(n);

	use(p, n + a + b + c + d + e);
	use(v, g + f);
	return p[3] + ((int *)v)[1];
}

FAR int large(int n)
{
	char room[100000];

	use(room, n);
	return room[n];
}

int main(int argc, char **argv)
{
	(void)argv;
	return aligned(argc + 200, 1, 2, 3, 4, 5, 6, 7) + large(argc);
}
