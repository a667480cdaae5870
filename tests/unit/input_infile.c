// SPDX-License-Identifier: MIT
// A stream is read whole, into memory or into a file. Where there is no room for it, that is said.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "input/infile.h"

#define RECORD 8u /* FINISHED_ROUND */

static char dir[] = "/tmp/seam-infile-XXXXXX";
static const struct cmd cmd = { .name = "report" };

struct writing {
	char path[64];
	uint64_t n; /* bytes of a stream of pipe mode */
	uint64_t written;
};

static void *write_stream(void *arg)
{
	struct writing *w = arg;
	uint64_t head[2] = { 0x32454c4946524550, 16 }; /* "PERFILE2" */
	unsigned char rounds[8192 * RECORD] = { 0 };
	int fd = open(w->path, O_WRONLY);

	for (size_t i = 0; i < sizeof(rounds); i += RECORD) {
		rounds[i] = SEAM_RECORD_FINISHED_ROUND;
		rounds[i + 6] = RECORD;
	}
	w->written = sizeof(head);
	for (ssize_t n = write(fd, head, sizeof(head)); n > 0 && w->written < w->n;) {
		uint64_t left = w->n - w->written;

		n = write(fd, rounds, left < sizeof(rounds) ? left : sizeof(rounds));
		w->written += n > 0 ? (uint64_t)n : 0; /* else nobody reads on */
	}
	close(fd);
	return NULL;
}

/* Opens a stream of n bytes where there is this much room for it; what was said goes into said. */
static int open_stream(struct infile *in, uint64_t n, uint64_t space, char *said, size_t room)
{
	struct writing w = { .n = n };
	char path[64];
	int before = dup(STDERR_FILENO), to, code;
	pthread_t thread;
	ssize_t got;

	snprintf(path, sizeof(path), "%s/said", dir);
	to = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	assert_true(to >= 0);
	snprintf(w.path, sizeof(w.path), "%s/stream", dir);
	*in = (struct infile){ .path = w.path, .room = space };
	assert_int_equal(pthread_create(&thread, NULL, write_stream, &w), 0);
	dup2(to, STDERR_FILENO);
	code = infile_open(in, &cmd);
	dup2(before, STDERR_FILENO);
	close(before);
	pthread_join(thread, NULL);
	got = pread(to, said, room - 1, 0);
	said[got > 0 ? got : 0] = '\0';
	close(to);
	in->path = NULL;
	return code;
}

static uint64_t records(struct infile *in)
{
	struct seam_record record;
	uint64_t n = 0;

	while (seam_reader_next(in->reader, &record, NULL) > 0)
		n++;
	assert_false(seam_reader_damaged(in->reader));
	return n;
}

/* What is wrong with the place is said, with the place and how to choose another. */
static void assert_no_room(const char *said, const char *where, const char *why)
{
	assert_non_null(strstr(said, where));
	assert_non_null(strstr(said, why));
	assert_non_null(strstr(said, "let TMPDIR name a directory with room"));
}

/* More than is held in memory is read from a file, to the same end; what fills the room to its last
 * byte is read, too. A stream that does not fit, or that has no end, costs no more memory. */
static void to_the_last_room(void **state)
{
	const uint64_t n = INFILE_MEMORY_MAX + (5u << 20);
	char said[512];
	struct infile in;

	(void)state;
	for (uint64_t room = 0; room <= n; room += n) {
		assert_int_equal(open_stream(&in, n, room, said, sizeof(said)), EXIT_OK);
		assert_int_equal(records(&in), (n - 16) / RECORD);
		assert_int_equal(in.spooled, n);
		assert_true(in.stream.n == 0);
		assert_string_equal(said, "");
		infile_close(&in);
	}
	for (int endless = 0; endless < 2; endless++) {
		uint64_t more = endless ? 1ULL << 40 : n + RECORD;

		assert_int_equal(open_stream(&in, more, n, said, sizeof(said)), EXIT_FAILED);
		assert_no_room(said, "/var/tmp", strerror(ENOSPC));
		assert_null(in.reader);
		assert_true(in.stream.n <= 1u << 20);
		assert_true(in.stream.capacity <= 4u << 20);
		infile_close(&in);
	}
}

/* The file system itself refuses, or there is none. */
static void no_place(void **state)
{
	const struct rlimit less = { .rlim_cur = INFILE_MEMORY_MAX + (2u << 20),
		                     .rlim_max = RLIM_INFINITY };
	struct rlimit before;
	char said[512];
	struct infile in;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &before);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &less), 0);
	assert_int_equal(open_stream(&in, 1ULL << 40, 0, said, sizeof(said)), EXIT_FAILED);
	setrlimit(RLIMIT_FSIZE, &before);
	assert_no_room(said, "/var/tmp", strerror(EFBIG));
	infile_close(&in);

	setenv("TMPDIR", "/nonexistent", 1);
	assert_int_equal(open_stream(&in, 1ULL << 40, 0, said, sizeof(said)), EXIT_FAILED);
	unsetenv("TMPDIR");
	assert_no_room(said, "/nonexistent", strerror(ENOENT));
	assert_true(in.stream.n <= INFILE_MEMORY_MAX + (1u << 20));
	infile_close(&in);
}

/* Of what is no recording only the beginning is read: this test would not end. */
static void no_recording(void **state)
{
	struct infile in = { .path = "-" };
	int before = dup(STDIN_FILENO), zero = open("/dev/zero", O_RDONLY);

	(void)state;
	assert_true(zero >= 0);
	dup2(zero, STDIN_FILENO);
	assert_int_equal(infile_open(&in, &cmd), EXIT_FAILED);
	assert_true(in.stream.n <= 1u << 20);
	dup2(before, STDIN_FILENO);
	close(before);
	close(zero);
	infile_close(&in);
}

static int make_fifo(void **state)
{
	char path[64];

	signal(SIGPIPE, SIG_IGN);
	unsetenv("TMPDIR");
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/stream", dir);
	return mkfifo(path, 0600);
}

static int remove_fifo(void **state)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/stream", dir);
	unlink(path);
	snprintf(path, sizeof(path), "%s/said", dir);
	unlink(path);
	return rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(to_the_last_room),
		cmocka_unit_test(no_place),
		cmocka_unit_test(no_recording),
	};

	return cmocka_run_group_tests(tests, make_fifo, remove_fifo);
}
