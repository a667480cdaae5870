// SPDX-License-Identifier: MIT
// fail_alloc.c: for LD_PRELOAD: the allocation number FAIL_AT of the process (1 is the first) finds
// no memory, all others do. At its end the process adds a line with how many it asked for to
// FAIL_COUNT_FILE. FAIL_TRACE: it says on stderr who asked.
#include <errno.h>
#include <execinfo.h>
#include <execinfo.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t n);

static atomic_ulong asked;
static unsigned long fail_at;

static int fails(void)
{
	if (atomic_fetch_add(&asked, 1) + 1 != fail_at)
		return 0;
	if (getenv("FAIL_TRACE")) {
		void *at[32];

		backtrace_symbols_fd(at, backtrace(at, 32), STDERR_FILENO);
	}
	errno = ENOMEM;
	return 1;
}

/* What the loader and other constructors asked for before is not counted. */
__attribute__((constructor)) static void start(void)
{
	const char *at = getenv("FAIL_AT");

	atomic_store(&asked, 0);
	fail_at = at ? strtoul(at, NULL, 10) : 0;
}

__attribute__((destructor)) static void end(void)
{
	const char *path = getenv("FAIL_COUNT_FILE");
	unsigned long n = atomic_load(&asked);
	char line[32];
	int fd;

	if (!path || (fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600)) < 0)
		return;
	n = (unsigned long)snprintf(line, sizeof(line), "%lu\n", n);
	if (write(fd, line, n) < 0)
		_exit(99);
	close(fd);
}

void *malloc(size_t n)
{
	return fails() ? NULL : __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
	return fails() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
	return fails() ? NULL : __libc_realloc(p, n);
}
