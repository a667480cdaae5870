// SPDX-License-Identifier: MIT
// archive.c: archives that were written are read back; hostile ones make no file outside, no link,
// no more than was allowed, and leave nothing once removed.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "archive/block.h"
#include "archive/unpack.h"

struct place {
	char path[64];
	int dir, archive; /* the directory that is unpacked into: path/in */
	struct buf made;
};

static void place_make(struct place *p)
{
	char text[80];

	*p = (struct place){ .path = "/tmp/seam-test-archive-XXXXXX" };
	assert_non_null(mkdtemp(p->path));
	snprintf(text, sizeof(text), "%s/in", p->path);
	assert_int_equal(mkdir(text, 0700), 0);
	p->dir = open(text, O_RDONLY | O_DIRECTORY);
	p->archive = open(p->path, O_RDWR | O_TMPFILE, 0600);
	if (p->archive < 0) { /* a file system without it */
		snprintf(text, sizeof(text), "%s/archive", p->path);
		p->archive = open(text, O_RDWR | O_CREAT, 0600);
		unlink(text);
	}
	assert_true(p->dir >= 0 && p->archive >= 0);
}

/* What was made goes away, and then nothing may be left but the directory itself. */
static void place_remove(struct place *p)
{
	char text[80];

	unpack_remove(p->dir, &p->made);
	buf_free(&p->made);
	close(p->dir);
	close(p->archive);
	snprintf(text, sizeof(text), "%s/in", p->path);
	assert_int_equal(rmdir(text), 0);
	assert_int_equal(rmdir(p->path), 0);
}

static int place_unpack(struct place *p, const struct unpack_opts *opts)
{
	static const struct unpack_opts defaults = { .sz = sizeof(defaults) };

	assert_int_equal(lseek(p->archive, 0, SEEK_SET), 0);
	return unpack(p->archive, "test", p->dir, opts ? opts : &defaults, &p->made, NULL);
}

static void check_file(struct place *p, const char *name, const void *bytes, size_t n)
{
	unsigned char *got = malloc(n + 1);
	int fd = openat(p->dir, name, O_RDONLY | O_NOFOLLOW);
	struct stat st;

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_mode, S_IFREG | 0600);
	assert_int_equal(read(fd, got, n + 1), n);
	assert_memory_equal(got, bytes, n);
	close(fd);
	free(got);
}

static void test_round_trip(void **state)
{
	static const size_t sizes[] = { 0, 1, 511, 512, 513, 300000 };
	unsigned char *bytes = malloc(300000);
	char name[64], longest[1200] = "";
	struct tar_writer *w;
	struct place p;

	for (size_t i = 0; i < 300000; i++)
		bytes[i] = (unsigned char)(i * i >> 5);
	for (int i = 0; i < 6; i++)
		snprintf(longest + strlen(longest), sizeof(longest) - strlen(longest), "%s%0180d",
		         i ? "/" : "", i);
	place_make(&p);
	assert_int_equal(tar_create(&w, p.archive), 0);
	for (size_t i = 0; i < 6; i++) {
		snprintf(name, sizeof(name), "a/b%zu/c", i);
		assert_int_equal(tar_put(w, name, bytes, sizes[i]), 0);
	}
	/* around what fits into the old header */
	for (size_t n = 95; n < 110; n++) {
		memset(name, 'x', sizeof(name));
		assert_int_equal(tar_put(w, longest + strlen(longest) - n, "y", 1), 0);
	}
	assert_int_equal(tar_put(w, longest, "long", 4), 0);
	assert_int_equal(tar_put(w, "../x", "", 0), -EINVAL);
	assert_int_equal(tar_put(w, "/x", "", 0), -EINVAL);
	assert_int_equal(tar_finish(w), 0);
	tar_writer_free(w);
	assert_int_equal(place_unpack(&p, NULL), 0);
	for (size_t i = 0; i < 6; i++) {
		snprintf(name, sizeof(name), "a/b%zu/c", i);
		check_file(&p, name, bytes, sizes[i]);
	}
	for (size_t n = 95; n < 110; n++)
		check_file(&p, longest + strlen(longest) - n, "y", 1);
	check_file(&p, longest, "long", 4);
	place_remove(&p);
	free(bytes);
}

static void put_raw(struct place *p, const char *name, char type, const char *link,
                    const char *size, const char *bytes)
{
	char block[BLOCK] = { 0 }, data[BLOCK] = { 0 };
	unsigned sum = 0;

	memcpy(block, name, strlen(name));
	memcpy(block + BLOCK_MODE, "0000777", 8);
	memcpy(block + BLOCK_SIZE, size, strlen(size));
	memset(block + BLOCK_SUM, ' ', BLOCK_SUM_SIZE);
	block[BLOCK_TYPE] = type;
	memcpy(block + BLOCK_TYPE + 1, link, strlen(link));
	memcpy(block + BLOCK_MAGIC, "ustar\00000", 8);
	for (size_t i = 0; i < BLOCK; i++)
		sum += (unsigned char)block[i];
	snprintf(block + BLOCK_SUM, BLOCK_SUM_SIZE, "%06o", sum);
	assert_int_equal(write(p->archive, block, BLOCK), BLOCK);
	if (*bytes) {
		memcpy(data, bytes, strlen(bytes));
		assert_int_equal(write(p->archive, data, BLOCK), BLOCK);
	}
}

static void put_end(struct place *p)
{
	static const char end[2 * BLOCK];

	assert_int_equal(write(p->archive, end, sizeof(end)), sizeof(end));
}

static void test_names_that_lead_out(void **state)
{
	static const char *const names[] = { "/abs",     "..",     "../out", "a/../../out",
		                             "a/..",     "a//b",   "a/./b",  "a/",
		                             "",         ".",      "a\nb",   "\033[2J",
		                             "./../out", ".//out", NULL };
	struct place p;

	for (const char *const *name = names; *name; name++) {
		place_make(&p);
		put_raw(&p, *name, '0', "", "00000000001", "x");
		put_end(&p);
		assert_int_equal(place_unpack(&p, NULL), -EBADMSG);
		place_remove(&p);
	}
	/* the same by a pax header */
	place_make(&p);
	put_raw(&p, "pax", 'x', "", "00000000015", "13 path=../x\n");
	put_raw(&p, "good", '0', "", "00000000001", "x");
	put_end(&p);
	assert_int_equal(place_unpack(&p, NULL), -EBADMSG);
	place_remove(&p);
}

static void test_links_and_devices(void **state)
{
	struct place p;

	for (const char *type = "123456S"; *type; type++) {
		place_make(&p);
		put_raw(&p, "l", *type, "/etc", "00000000000", "");
		put_raw(&p, "l/passwd", '0', "", "00000000001", "x");
		put_end(&p);
		/* a directory is no entry of its own: the file below it is made */
		assert_int_equal(place_unpack(&p, NULL), *type == '5' ? 0 : -EBADMSG);
		place_remove(&p);
	}
	/* Somebody else put a link where a directory is to be. */
	place_make(&p);
	assert_int_equal(symlinkat("/tmp", p.dir, "l"), 0);
	put_raw(&p, "l/seam-test-archive-out", '0', "", "00000000001", "x");
	put_end(&p);
	assert_int_equal(place_unpack(&p, NULL), -EBADMSG);
	assert_int_equal(access("/tmp/seam-test-archive-out", F_OK), -1);
	assert_int_equal(unlinkat(p.dir, "l", 0), 0);
	place_remove(&p);
}

static void test_limits(void **state)
{
	struct unpack_opts bytes = { .sz = sizeof(bytes), .bytes_max = 10 };
	struct unpack_opts files = { .sz = sizeof(files), .files_max = 2 };
	struct place p;

	for (int most = 2; most <= 3; most++) {
		place_make(&p);
		for (int i = 0; i < most; i++)
			put_raw(&p, (const char *[]){ "a", "b", "c" }[i], '0', "", "00000000005",
			        "12345");
		put_end(&p);
		assert_int_equal(place_unpack(&p, &bytes), most == 2 ? 0 : -EFBIG);
		unpack_remove(p.dir, &p.made);
		buf_clear(&p.made);
		assert_int_equal(place_unpack(&p, &files), most == 2 ? 0 : -EFBIG);
		place_remove(&p);
	}
	place_make(&p);
	put_raw(&p, "a", '0', "", "77777777777", ""); /* 8 GiB are said, none are there */
	assert_int_equal(place_unpack(&p, NULL), -EBADMSG);
	place_remove(&p);
	place_make(&p);
	put_raw(&p, "a", '0', "", "00000000001", "x");
	put_raw(&p, "a", '0', "", "00000000001", "y");
	put_end(&p);
	assert_int_equal(place_unpack(&p, NULL), -EBADMSG);
	place_remove(&p);
}

static unsigned stop_after; /* questions */

static bool stop(void)
{
	return !stop_after || !--stop_after;
}

/* Bytes that nobody wants are passed over: of what is said to be too much none, and else whoever
 * asks ends that. */
static void test_passed_over(void **state)
{
	struct unpack_opts opts = { .sz = sizeof(opts), .bytes_max = UINT64_MAX, .stop = stop };
	static const char *const sizes[] = { "28 size=4611686018427387904\n",
		                             "20 size=34359738369\n" };
	static unsigned char zeros[1 << 20];
	struct place p;

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		char n[12];

		place_make(&p);
		snprintf(n, sizeof(n), "%011o", (unsigned)strlen(sizes[i]));
		put_raw(&p, "pax", 'x', "", n, sizes[i]);
		put_raw(&p, "d/", '5', "", "00000000000", "");
		for (int mib = 0; mib < 16; mib++)
			assert_int_equal(write(p.archive, zeros, sizeof(zeros)), sizeof(zeros));
		assert_int_equal(place_unpack(&p, NULL), -EFBIG);
		/* Of 16 MiB the first few are read. */
		stop_after = 5;
		assert_int_equal(place_unpack(&p, &opts), -EINTR);
		assert_true(lseek(p.archive, 0, SEEK_CUR) < 8 << 20);
		place_remove(&p);
	}
	/* Headers that nothing follows are no files, but take as long. */
	place_make(&p);
	for (int i = 0; i < 32; i++)
		put_raw(&p, "d/", '5', "", "00000000000", "");
	opts = (struct unpack_opts){ .sz = sizeof(opts), .bytes_max = 1, .files_max = 1 };
	assert_int_equal(place_unpack(&p, &opts), -EFBIG);
	place_remove(&p);
}

/* Cut anywhere, or with bits turned: an error or the whole, never a crash, and nothing is left. */
static void test_damaged(void **state)
{
	unsigned char bytes[8192], damaged[8192];
	struct tar_writer *w;
	uint64_t random = 7;
	struct place p;
	ssize_t n;
	off_t whole;

	place_make(&p);
	assert_int_equal(tar_create(&w, p.archive), 0);
	assert_int_equal(tar_put(w, "a/one", "1234567890", 10), 0);
	assert_int_equal(tar_put(w, "a/two", "abcdefghij", 10), 0);
	assert_int_equal(tar_finish(w), 0);
	tar_writer_free(w);
	whole = lseek(p.archive, 0, SEEK_END);
	assert_true(whole > 0 && whole < (off_t)sizeof(bytes));
	n = pread(p.archive, bytes, sizeof(bytes), 0);
	for (ssize_t cut = 0; cut < n - 4; cut++) { /* the last 4 bytes are the checksum */
		assert_int_equal(ftruncate(p.archive, 0), 0);
		assert_int_equal(pwrite(p.archive, bytes, (size_t)cut, 0), cut);
		assert_true(place_unpack(&p, NULL) < 0);
		unpack_remove(p.dir, &p.made);
		buf_clear(&p.made);
	}
	place_remove(&p);
	/* without zstd, where nothing but this code looks at the bytes */
	place_make(&p);
	put_raw(&p, "pax", 'x', "", "00000000017", "15 path=a/long\n");
	put_raw(&p, "short", '0', "", "00000000005", "12345");
	put_raw(&p, "a/b", '0', "", "00000000005", "67890");
	put_end(&p);
	n = pread(p.archive, bytes, sizeof(bytes), 0);
	for (int i = 0; i < 3000; i++) {
		memcpy(damaged, bytes, (size_t)n);
		for (int k = 0; k < 1 + i % 4; k++) {
			random = random * 6364136223846793005ULL + 1442695040888963407ULL;
			damaged[(random >> 33) % (uint64_t)n] ^=
			        (unsigned char)(1 << (random >> 60) % 8);
		}
		assert_int_equal(pwrite(p.archive, damaged, (size_t)n, 0), n);
		place_unpack(&p, NULL);
		unpack_remove(p.dir, &p.made);
		buf_clear(&p.made);
	}
	place_remove(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_names_that_lead_out),
		cmocka_unit_test(test_links_and_devices),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_passed_over),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
