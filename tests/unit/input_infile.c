// SPDX-License-Identifier: MIT
// A stream that is read into memory ends at a limit, which is said; one that is just as long is
// read whole.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

/* Opens a stream of n bytes where most are allowed; what was said goes into said. */
static int open_stream(struct infile *in, uint64_t n, uint64_t most, char *said, size_t room)
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
	*in = (struct infile){ .path = w.path, .most = most };
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

static void to_the_limit_and_no_further(void **state)
{
	const uint64_t most = 3u << 20;
	char said[512];
	struct infile in;

	assert_int_equal(open_stream(&in, most, most, said, sizeof(said)), EXIT_OK);
	assert_int_equal(records(&in), (most - 16) / RECORD);
	assert_string_equal(said, "");
	infile_close(&in);

	assert_int_equal(open_stream(&in, most + RECORD, most, said, sizeof(said)), EXIT_FAILED);
	assert_non_null(strstr(said, "too large to be read from a pipe (limit 3145728 bytes"));
	assert_null(in.reader);
	infile_close(&in);

	/* One that does not end is not read to its end: memory is bounded. */
	assert_int_equal(open_stream(&in, 1ULL << 40, most, said, sizeof(said)), EXIT_FAILED);
	assert_true(in.stream.n <= most + (1u << 20));
	infile_close(&in);
}

/* More than is held in memory is read from a file, to the same end, and a stream without an end
 * costs no more memory. */
static void more_than_memory(void **state)
{
	const uint64_t n = INFILE_MEMORY_MAX + (5u << 20), most = n + (8u << 20);
	char said[512];
	struct infile in;

	(void)state;
	assert_int_equal(open_stream(&in, n, 0, said, sizeof(said)), EXIT_OK);
	assert_int_equal(records(&in), (n - 16) / RECORD);
	assert_int_equal(in.spooled, n);
	assert_true(in.stream.n == 0);
	infile_close(&in);

	assert_int_equal(open_stream(&in, 1ULL << 40, most, said, sizeof(said)), EXIT_FAILED);
	assert_true(in.stream.n <= 1u << 20);
	assert_true(in.stream.capacity <= 4u << 20);
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

/* What it is when nobody says otherwise: docs/format.md. */
static void the_limit_of_commands(void **state)
{
	char said[512];
	struct infile in;

	assert_int_equal(INFILE_STREAM_MAX, 4ULL << 30);
	assert_int_equal(open_stream(&in, 8u << 20, 0, said, sizeof(said)), EXIT_OK);
	assert_int_equal(records(&in), ((8u << 20) - 16) / RECORD);
	infile_close(&in);
}

static int make_fifo(void **state)
{
	char path[64];

	signal(SIGPIPE, SIG_IGN);
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
		cmocka_unit_test(to_the_limit_and_no_further),
		cmocka_unit_test(more_than_memory),
		cmocka_unit_test(no_recording),
		cmocka_unit_test(the_limit_of_commands),
	};

	return cmocka_run_group_tests(tests, make_fifo, remove_fifo);
}
