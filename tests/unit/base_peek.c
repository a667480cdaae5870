// SPDX-License-Identifier: MIT
/*
 * base_peek.c: what another process's memory says, whole or not at all; and who looks at a process
 * that serves its pages itself, and never does, is not kept waiting. That needs userfaultfd, and so
 * root: elsewhere those tests skip.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/peek.h"

#define BYTES 300000u

static unsigned char bytes[BYTES];

/* A process that only sleeps, with our memory as it is now. */
static pid_t sleeper(void)
{
	pid_t pid = fork();

	while (!pid)
		pause();
	assert_true(pid > 0);
	return pid;
}

static void ends(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* A page that is there when its process says so, which it never does. NULL: not allowed. */
static void *page_held(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .range.len = 4096, .mode = UFFDIO_REGISTER_MODE_MISSING };
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	reg.range.start = (uintptr_t)page;
	return fd < 0 || ioctl(fd, UFFDIO_API, &api) < 0 || ioctl(fd, UFFDIO_REGISTER, &reg) < 0
	               ? NULL
	               : page;
}

/* A user's process whose page *ret nobody can read. */
static pid_t holder(uint64_t *ret)
{
	int said[2];
	void *page;
	pid_t pid;

	assert_int_equal(pipe(said), 0);
	pid = fork();
	if (!pid) {
		page = page_held();
		if (setuid(65534) < 0 || write(said[1], &page, sizeof(page)) < 0)
			_exit(1);
		for (;;)
			pause();
	}
	assert_true(pid > 0);
	close(said[1]);
	assert_int_equal(read(said[0], &page, sizeof(page)), sizeof(page));
	close(said[0]);
	if (!page) {
		ends(pid);
		skip();
	}
	*ret = (uintptr_t)page;
	return pid;
}

static struct peek *peek_with(unsigned limit_ms, unsigned rests)
{
	const struct peek_opts opts = { limit_ms, rests };
	struct peek *p;

	assert_int_equal(peek_new(&p, &opts), 0);
	return p;
}

static void reads_memory(void **state)
{
	struct peek *p;
	unsigned char *got = malloc(BYTES);
	pid_t pid;

	(void)state;
	assert_non_null(got);
	for (size_t i = 0; i < BYTES; i++)
		bytes[i] = (unsigned char)(i * 7919 >> 5);
	pid = sleeper();
	memset(bytes, 0, 8);
	p = peek_with(60000, 0);
	assert_int_equal(peek_memory(p, (uint32_t)pid, (uintptr_t)bytes, got, BYTES), 0);
	assert_memory_equal(got + 8, bytes + 8, BYTES - 8);
	assert_memory_not_equal(got, bytes, 8);
	assert_int_equal(peek_memory(p, (uint32_t)pid, (uintptr_t)(bytes + 100), got, 1), 0);
	assert_int_equal(got[0], bytes[100]);
	assert_int_equal(peek_memory(p, (uint32_t)pid, 64, got, 8), -EFAULT);
	ends(pid);
	assert_int_equal(peek_memory(p, (uint32_t)pid, (uintptr_t)bytes, got, 8), -ESRCH);
	assert_int_equal(peek_counts(p).held, 0);
	peek_free(p);
	free(got);
}

static void reads_files(void **state)
{
	struct buf text = { 0 }, mine = { 0 };
	struct peek *p = peek_with(60000, 0);
	char path[64];
	int fd;

	(void)state;
	snprintf(path, sizeof(path), "/proc/%d/environ", (int)getpid());
	assert_int_equal(peek_file(p, (uint32_t)getpid(), path, 1 << 20, &text), 0);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	for (ssize_t n = 1; n > 0; mine.n += (size_t)(n > 0 ? n : 0))
		n = read(fd, buf_reserve(&mine, 4096), 4096);
	close(fd);
	assert_true(text.n > 0 && text.n == mine.n);
	assert_memory_equal(text.bytes, mine.bytes, mine.n);
	/* Appended, and no more than is wanted. */
	assert_int_equal(peek_file(p, (uint32_t)getpid(), path, 5, &text), 0);
	assert_int_equal(text.n, mine.n + (mine.n < 5 ? mine.n : 5));
	assert_int_equal(peek_file(p, 1, "/proc/self/none", 5, &text), -ENOENT);
	peek_free(p);
	buf_free(&text);
	buf_free(&mine);
}

/* Others are looked at; who kept us waiting is not, however he is asked. */
static void is_not_held(void **state)
{
	uint64_t page;
	pid_t held = holder(&page), other = sleeper();
	struct peek *p = peek_with(50, 0);
	struct buf text = { 0 };
	unsigned char got[8];
	char path[64];

	(void)state;
	assert_int_equal(peek_memory(p, (uint32_t)held, page, got, 8), -ETIME);
	assert_int_equal(peek_counts(p).held, 1);
	assert_int_equal(peek_memory(p, (uint32_t)held, (uintptr_t)bytes, got, 8), -ETIME);
	snprintf(path, sizeof(path), "/proc/%d/environ", (int)held);
	assert_int_equal(peek_file(p, (uint32_t)held, path, 4096, &text), -ETIME);
	assert_int_equal(peek_counts(p).held, 1);
	assert_int_equal(peek_memory(p, (uint32_t)other, (uintptr_t)bytes, got, 8), 0);
	peek_free(p);
	buf_free(&text);
	ends(held);
	ends(other);
}

/* However many there are. */
static void many_hold(void **state)
{
	struct peek *p = peek_with(20, 0);
	pid_t held[24], other = sleeper();
	unsigned char got[8];
	uint64_t page;

	(void)state;
	for (int i = 0; i < 24; i++) {
		held[i] = holder(&page);
		assert_int_equal(peek_memory(p, (uint32_t)held[i], page, got, 8), -ETIME);
	}
	assert_int_equal(peek_counts(p).held, 24);
	assert_int_equal(peek_memory(p, (uint32_t)other, (uintptr_t)bytes, got, 8), 0);
	peek_free(p);
	for (int i = 0; i < 24; i++)
		ends(held[i]);
	ends(other);
}

/* Who reads rings has most of the time for that. */
static void rests_afterwards(void **state)
{
	uint64_t page;
	pid_t held = holder(&page), other = sleeper();
	struct peek *p = peek_with(20, 1000000);
	unsigned char got[8];

	(void)state;
	assert_int_equal(peek_memory(p, (uint32_t)held, page, got, 8), -ETIME);
	assert_int_equal(peek_memory(p, (uint32_t)other, (uintptr_t)bytes, got, 8), -EBUSY);
	peek_free(p);
	ends(held);
	ends(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_memory),     cmocka_unit_test(reads_files),
		cmocka_unit_test(is_not_held),      cmocka_unit_test(many_hold),
		cmocka_unit_test(rests_afterwards),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
