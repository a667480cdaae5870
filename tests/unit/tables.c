// SPDX-License-Identifier: MIT
// tables.c: the cache of unwind tables: whole files only, several processes, damage, strangers, its
// bound.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tables/table_cache.h"
#include "tables/tables.h"

#include "cache_dir.h"

static uint64_t dir_bytes(unsigned *files)
{
	DIR *d = opendir(dir);
	struct dirent *entry;
	uint64_t bytes = 0;
	struct stat st;

	assert_non_null(d);
	*files = 0;
	while ((entry = readdir(d))) {
		assert_int_equal(fstatat(dirfd(d), entry->d_name, &st, 0), 0);
		if (S_ISREG(st.st_mode)) {
			bytes += (uint64_t)st.st_size;
			(*files)++;
		}
	}
	closedir(d);
	return bytes;
}

static void set_age(const char *name, time_t days)
{
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT },
		                     { .tv_sec = time(NULL) - days * 24 * 3600 } };
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void test_round_trip(void **state)
{
	struct table_cache c;
	struct buf got = { 0 };

	(void)state;
	table_cache_open(&c, "unwind", dir, 1 << 20);
	assert_true(c.dir >= 0);
	assert_int_equal(table_cache_get(&c, "a", &got), 0);
	table_cache_put(&c, "a", "first", 5);
	table_cache_put(&c, "a", "second", 6);
	assert_int_equal(table_cache_get(&c, "a", &got), 1);
	assert_int_equal(got.n, 6);
	assert_memory_equal(got.bytes, "second", 6);
	buf_free(&got);
	table_cache_close(&c);
	assert_int_equal(table_cache_get(&c, "a", &got), 0); /* closed: as if it were empty */
}

/* Pages of a file without a name. */
static void test_pages(void **state)
{
	const void *other;
	struct table_cache c;
	unsigned files;

	(void)state;
	table_cache_open(&c, "unwind", dir, 1 << 20);
	assert_int_equal(table_cache_spill(&c, "", 0, &other), 0);
	assert_int_equal(table_cache_spill(&c, "nameless", 8, &other), 1);
	assert_int_equal(madvise((void *)other, 8, MADV_DONTNEED), 0);
	assert_memory_equal(other, "nameless", 8);
	dir_bytes(&files);
	assert_int_equal(files, 0);
	munmap((void *)other, 8);
	table_cache_close(&c);
	assert_int_equal(table_cache_spill(&c, "nameless", 8, &other), 0);
}

/* What was put, in pages that stay as they are when its file is cut. */
static void test_pages_of_a_file(void **state)
{
	static unsigned char large[3 << 20];
	char path[256];
	const void *pages;
	struct table_cache c;
	size_t n;

	(void)state;
	memset(large, 7, sizeof(large));
	table_cache_open(&c, "unwind", dir, 8 << 20);
	assert_int_equal(table_cache_map(&c, "large", &pages, &n), 0);
	table_cache_put(&c, "large", large, sizeof(large));
	assert_int_equal(table_cache_map(&c, "large", &pages, &n), 1);
	assert_int_equal(n, sizeof(large));
	snprintf(path, sizeof(path), "%s/large", dir);
	assert_int_equal(truncate(path, 100), 0);
	assert_memory_equal(pages, large, n);
	munmap((void *)pages, n);
	assert_int_equal(table_cache_map(&c, "large", &pages, &n), 0); /* not in full */
	table_cache_close(&c);
	assert_int_equal(table_cache_map(&c, "large", &pages, &n), 0);
}

/* The same bytes, few and many. */
static void test_take(void **state)
{
	static unsigned char bytes[300 << 10];
	static const size_t sizes[] = { 1, 1000, 127 << 10, 128 << 10, 300 << 10 };
	struct table_cache_bytes got;
	struct table_cache c;

	(void)state;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)(i * 7);
	table_cache_open(&c, "lines", dir, 8 << 20);
	assert_int_equal(table_cache_take(&c, "none", &got), 0);
	table_cache_give_back(&got);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		table_cache_put(&c, "some", bytes, sizes[i]);
		assert_int_equal(table_cache_take(&c, "some", &got), 1);
		assert_int_equal(got.n, sizes[i]);
		assert_int_equal((uintptr_t)got.bytes % 8, 0);
		assert_true(got.mapped);
		assert_memory_equal(got.bytes, bytes, sizes[i]);
		table_cache_give_back(&got);
		assert_null(got.bytes);
	}
	table_cache_close(&c);
	assert_int_equal(table_cache_take(&c, "some", &got), 0);
}

static void move(const char *from, const char *to)
{
	char a[256], b[256];

	snprintf(a, sizeof(a), "%s/%s", dir, from);
	snprintf(b, sizeof(b), "%s/%s", dir, to);
	assert_int_equal(rename(a, b), 0);
}

/* A sound file that stands under another name, or in another kind of cache, says so. */
static void test_other_names(void **state)
{
	struct table_cache c;
	struct buf got = { 0 };

	(void)state;
	table_cache_open(&c, "unwind", dir, 1 << 20);
	table_cache_put(&c, "a", "bytes of a", 10);
	move("a", "b");
	assert_int_equal(table_cache_get(&c, "b", &got), 0);
	move("b", "a");
	assert_int_equal(table_cache_get(&c, "a", &got), 1);
	assert_int_equal(got.n, 10);
	assert_memory_equal(got.bytes, "bytes of a", 10);
	table_cache_close(&c);
	table_cache_open(&c, "lines", dir, 1 << 20);
	assert_int_equal(table_cache_get(&c, "a", &got), 0);
	table_cache_close(&c);
	buf_free(&got);
}

/* What is no regular file is not waited for: this test would not end. */
static void test_fifo(void **state)
{
	struct table_cache c;
	struct buf got = { 0 };
	char path[256];

	(void)state;
	snprintf(path, sizeof(path), "%s/fifo", dir);
	assert_int_equal(mkfifo(path, 0600), 0);
	table_cache_open(&c, "unwind", dir, 1 << 20);
	assert_int_equal(table_cache_get(&c, "fifo", &got), 0);
	/* It is in the way of nothing. */
	table_cache_put(&c, "fifo", "bytes", 5);
	assert_int_equal(table_cache_get(&c, "fifo", &got), 1);
	buf_free(&got);
	table_cache_close(&c);
}

#define WRITERS 3
#define ROUNDS 150
#define BLOB 200000u

static void writer(char letter)
{
	struct table_cache c;
	char *bytes = malloc(BLOB);

	memset(bytes, letter, BLOB);
	table_cache_open(&c, "unwind", dir, 1 << 20);
	for (int i = 0; i < ROUNDS; i++)
		table_cache_put(&c, "shared", bytes, BLOB);
	free(bytes);
	table_cache_close(&c);
	_exit(0);
}

/* Whoever reads while others write sees one whole file of one of them. */
static void test_processes(void **state)
{
	pid_t pids[WRITERS];
	struct table_cache c;
	struct buf got = { 0 };
	unsigned seen = 0, left = WRITERS;

	(void)state;
	table_cache_open(&c, "unwind", dir, 1 << 20);
	for (int i = 0; i < WRITERS; i++) {
		pids[i] = fork();
		assert_true(pids[i] >= 0);
		if (!pids[i])
			writer((char)('a' + i));
	}
	while (left) {
		int status;

		if (table_cache_get(&c, "shared", &got) > 0) {
			assert_int_equal(got.n, BLOB);
			for (size_t i = 1; i < got.n; i++)
				assert_true(got.bytes[i] == got.bytes[0]);
			seen++;
		}
		if (waitpid(-1, &status, WNOHANG) > 0) {
			assert_true(WIFEXITED(status) && !WEXITSTATUS(status));
			left--;
		}
	}
	assert_true(seen > 0);
	buf_free(&got);
	table_cache_close(&c);
}

static void test_bound(void **state)
{
	static char bytes[936], large[5001]; /* and 64 of the file's header */
	struct table_cache c;
	struct buf got = { 0 };
	char name[16];
	unsigned files;

	(void)state;
	table_cache_open(&c, "unwind", dir, 10000);
	for (int i = 0; i < 10; i++) {
		snprintf(name, sizeof(name), "t%d", i);
		table_cache_put(&c, name, bytes, sizeof(bytes));
		set_age(name, 30 - i);
	}
	assert_int_equal(dir_bytes(&files), 10000);
	/* t0 is the oldest, but it is used; used files are marked so, others go first. */
	assert_int_equal(table_cache_get(&c, "t0", &got), 1);
	table_cache_put(&c, "new", bytes, sizeof(bytes));
	assert_true(dir_bytes(&files) <= 10000);
	assert_int_equal(files, 7);
	assert_int_equal(table_cache_get(&c, "t0", &got), 1);
	assert_int_equal(table_cache_get(&c, "new", &got), 1);
	assert_int_equal(table_cache_get(&c, "t1", &got), 0);
	assert_int_equal(table_cache_get(&c, "t9", &got), 1);
	/* What is larger than half the bound is not kept at all. */
	table_cache_put(&c, "huge", large, sizeof(large));
	assert_int_equal(table_cache_get(&c, "huge", &got), 0);
	buf_free(&got);
	table_cache_close(&c);
}

static void test_strangers(void **state)
{
	struct table_cache c;
	struct buf got = { 0 };
	char path[256], other[256];

	(void)state;
	table_cache_open(&c, "unwind", dir, 1 << 20);
	table_cache_put(&c, "mine", "bytes", 5);
	/* a link is not followed */
	snprintf(path, sizeof(path), "%s/link", dir);
	assert_int_equal(symlink("mine", path), 0);
	assert_int_equal(table_cache_get(&c, "link", &got), 0);
	/* a file that others may write to is not read, nor is one of somebody else's */
	snprintf(other, sizeof(other), "%s/mine", dir);
	assert_int_equal(chmod(other, 0620), 0);
	assert_int_equal(table_cache_get(&c, "mine", &got), 0);
	assert_int_equal(chmod(other, 0600), 0);
	assert_int_equal(table_cache_get(&c, "mine", &got), 1);
	if (!geteuid()) {
		assert_int_equal(chown(other, 65534, 65534), 0);
		assert_int_equal(table_cache_get(&c, "mine", &got), 0);
	}
	table_cache_close(&c);
	/* nor is a directory used that others can write to, or that is theirs */
	assert_int_equal(chmod(dir, 0770), 0);
	table_cache_open(&c, "unwind", dir, 1 << 20);
	assert_int_equal(c.dir, -1);
	assert_int_equal(chmod(dir, 0700), 0);
	if (!geteuid()) {
		assert_int_equal(chown(dir, 65534, 65534), 0);
		table_cache_open(&c, "unwind", dir, 1 << 20);
		assert_int_equal(c.dir, -1);
		assert_int_equal(chown(dir, 0, 0), 0);
	}
	buf_free(&got);
}

/* ---- tables.h over it ---- */

/* The C library's table, as a process would get it. */
static struct tables_counts get_libc(void)
{
	struct tables_opts opts = { .sz = sizeof(opts), .cache_dir = dir };
	const struct tables_object *object;
	struct tables_counts counts;
	struct tables *t;

	assert_int_equal(tables_new(&t, &opts), 0);
	assert_int_equal(tables_get(t, "/lib/x86_64-linux-gnu/libc.so.6", NULL, &object), 0);
	if (!object->table)
		print_message("libc: %s\n", object->reason);
	tables_count(t, &counts);
	if (counts.built + counts.from_cache)
		assert_true(frametab_find(object->table, object->table->header->text_start + 1));
	tables_free(t);
	return counts;
}

static void the_table(char *path, size_t n)
{
	DIR *d = opendir(dir);
	struct dirent *entry;

	*path = 0;
	while ((entry = readdir(d)))
		if (entry->d_name[0] != '.' && strstr(entry->d_name, ".table"))
			snprintf(path, n, "%s/%s", dir, entry->d_name);
	closedir(d);
	assert_true(*path);
}

static void test_damage(void **state)
{
	struct tables_counts counts = get_libc();
	char path[512];
	struct stat st;
	int fd;

	(void)state;
	if (!counts.built)
		skip();
	assert_int_equal(get_libc().from_cache, 1);
	the_table(path, sizeof(path));
	assert_int_equal(stat(path, &st), 0);
	for (int i = 0; i < 6; i++) {
		uint8_t byte;
		off_t at = i * (st.st_size / 6);

		fd = open(path, O_RDWR | O_CLOEXEC);
		assert_true(fd >= 0);
		if (i == 5) {
			assert_int_equal(ftruncate(fd, st.st_size / 2), 0);
		} else {
			assert_int_equal(pread(fd, &byte, 1, at), 1);
			byte ^= 0x10;
			assert_int_equal(pwrite(fd, &byte, 1, at), 1);
		}
		close(fd);
		counts = get_libc();
		assert_int_equal(counts.built, 1); /* made again, and stored again */
		assert_int_equal(counts.from_cache, 0);
		assert_int_equal(get_libc().from_cache, 1);
	}
}

/* How many files of the cache say what another file holds; remove: and it removes them. */
static unsigned count_stamps(bool remove)
{
	DIR *d = opendir(dir);
	struct dirent *entry;
	unsigned n = 0;

	while ((entry = readdir(d)))
		if (strstr(entry->d_name, ".contents")) {
			n++;
			if (remove)
				unlinkat(dirfd(d), entry->d_name, 0);
		}
	closedir(d);
	return n;
}

/* What a file holds is found out once: when its table is made, and when it was there already. */
static void test_remembers(void **state)
{
	(void)state;
	if (!get_libc().built && !get_libc().from_cache)
		skip();
	assert_int_equal(count_stamps(true), 1);
	assert_int_equal(get_libc().from_cache, 1);
	assert_int_equal(count_stamps(false), 1);
	remove_dir(NULL);
	assert_int_equal(mkdir(dir, 0700), 0);
	assert_int_equal(get_libc().built, 1);
	assert_int_equal(count_stamps(false), 1);
}

static void test_no_place(void **state)
{
	struct tables_opts opts = { .sz = sizeof(opts), .cache_dir = "/proc/nowhere" };
	const struct tables_object *object;
	struct tables *t;

	(void)state;
	assert_int_equal(tables_new(&t, &opts), 0);
	assert_int_equal(tables_get(t, "/no/such/file", NULL, &object), 0);
	assert_null(object->table);
	assert_true(object->reason[0]);
	tables_free(t);
}

/* -- files without build-id -- */

static ino_t copy_program(const char *path)
{
	char bytes[65536];
	int from = open("/proc/self/exe", O_RDONLY),
	    to = open(path, O_WRONLY | O_CREAT | O_EXCL, 0700);
	struct stat st;
	ssize_t n;

	assert_true(from >= 0 && to >= 0);
	while ((n = read(from, bytes, sizeof(bytes))) > 0)
		assert_true(write(to, bytes, (size_t)n) == n);
	assert_int_equal(fstat(to, &st), 0);
	close(from);
	close(to);
	return st.st_ino;
}

static void a_file_without_build_id_is_its_inode(void **state)
{
	struct tables_opts opts = { .sz = sizeof(opts), .no_cache = true };
	const struct timespec then[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };
	const struct tables_object *right, *wrong, *written, *any;
	struct tables *t, *later;
	char path[80];
	ino_t inode;

	(void)state;
	snprintf(path, sizeof(path), "%s/program", dir);
	inode = copy_program(path);
	assert_int_equal(tables_new(&t, &opts), 0);
	assert_int_equal(tables_new(&later, &opts), 0);
	assert_int_equal(tables_mapped(t, path, inode), 0);
	assert_int_equal(tables_mapped_before(later, t, path, inode), 0);
	assert_int_equal(tables_get_inode(t, path, NULL, inode, &right), 0);
	assert_non_null(right->table);
	assert_int_equal(tables_get_inode(t, path, NULL, inode + 1, &wrong), 0);
	assert_null(wrong->table);
	assert_non_null(strstr(wrong->reason, "not the one that was mapped"));
	/* Written in place: the same inode, other bytes. */
	assert_int_equal(utimensat(AT_FDCWD, path, then, 0), 0);
	assert_int_equal(tables_get_inode(later, path, NULL, inode, &written), 0);
	assert_null(written->table);
	assert_int_equal(tables_get(later, path, NULL, &any), 0);
	assert_non_null(any->table);
	assert_false(right->no_object || wrong->no_object || written->no_object || any->no_object);
	unlink(path);
	tables_free(later);
	tables_free(t);
}

/* Code in a file of a form of its own: no more is known of it than of code made at run time. */
static void a_file_of_another_form_is_no_object(void **state)
{
	struct tables_opts opts = { .sz = sizeof(opts), .no_cache = true };
	const struct tables_object *image, *absent;
	struct tables *t;
	char path[80];
	FILE *f;

	(void)state;
	snprintf(path, sizeof(path), "%s/lisp.core", dir);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs("LCBS and then code", f);
	fclose(f);
	assert_int_equal(tables_new(&t, &opts), 0);
	assert_int_equal(tables_get(t, path, NULL, &image), 0);
	assert_null(image->table);
	assert_true(image->no_object);
	unlink(path);
	snprintf(path, sizeof(path), "%s/absent.core", dir);
	assert_int_equal(tables_get(t, path, NULL, &absent), 0);
	assert_null(absent->table);
	assert_false(absent->no_object);
	tables_free(t);
}

/* A copy of this program, of which one byte of unwind information may be another: its build-id
 * stays. */
static void forged_copy(const char *name, bool forged, char *path, size_t n)
{
	struct image_section section;
	struct image *image;
	unsigned char byte;
	int fd;

	snprintf(path, n, "%s/%s", dir, name);
	copy_program(path);
	if (!forged)
		return;
	assert_int_equal(image_open(&image, path, NULL), 0);
	assert_int_equal(image_section(image, ".eh_frame", &section), 0);
	fd = open(path, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	/* The end of the last entry's instructions: padding. */
	assert_int_equal(pread(fd, &byte, 1, (off_t)(section.offset + section.n - 5)), 1);
	byte = byte ? 0 : 0x0a;
	assert_int_equal(pwrite(fd, &byte, 1, (off_t)(section.offset + section.n - 5)), 1);
	close(fd);
	image_close(image);
}

static void cut_all(void)
{
	DIR *d = opendir(dir);
	struct dirent *entry;

	while ((entry = readdir(d))) {
		int fd = entry->d_name[0] == '.'
		                 ? -1
		                 : openat(dirfd(d), entry->d_name, O_WRONLY | O_CLOEXEC);

		if (fd >= 0) {
			assert_int_equal(ftruncate(fd, 0), 0);
			close(fd);
		}
	}
	closedir(d);
}

static uint64_t rules_of(const struct tables_object *object)
{
	uint64_t sum = 0;

	for (uint32_t p = 0; p < object->table->header->n_pages; p++)
		sum += frametab_find(object->table, object->table->header->text_start +
		                                            (uint64_t)p * FRAMETAB_PAGE)
		               ->cfa;
	return sum;
}

/* Where files are known by their stamp, what is in them is not looked at; what lasts is kept on
 * disk, and what is fresh is not, under whatever build-id. */
static void a_table_is_of_a_stamp(void **state)
{
	struct tables_opts opts = { .sz = sizeof(opts), .cache_dir = dir, .fresh_s = 1 };
	const struct tables_object *a, *b;
	char one[96], forged[96];
	struct tables_counts counts;
	struct tables *t;

	(void)state;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(tables_new(&t, &opts), 0);
		assert_int_equal(tables_get(t, "/lib/x86_64-linux-gnu/libc.so.6", NULL, &a), 0);
		tables_count(t, &counts);
		tables_free(t);
		if (counts.without)
			skip();
		assert_int_equal(i ? counts.from_cache : counts.built, 1);
		assert_int_equal(count_stamps(false), 0);
	}
	forged_copy("one", false, one, sizeof(one));
	forged_copy("forged", true, forged, sizeof(forged));
	opts.fresh_s = 1000000;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(tables_new(&t, &opts), 0);
		assert_int_equal(tables_get(t, one, NULL, &a), 0);
		assert_int_equal(tables_get(t, forged, NULL, &b), 0);
		assert_non_null(a->table);
		assert_non_null(b->table);
		assert_ptr_not_equal(a->table->header, b->table->header);
		tables_count(t, &counts);
		assert_int_equal(counts.built, 2);
		assert_int_equal(count_stamps(false), 0);
		tables_free(t);
	}
	unlink(one);
	unlink(forged);
}

/* Two files with one build-id: a table is of what is in a file, in memory and on disk; a third with
 * the same in it has the same. */
static void a_table_is_of_its_contents(void **state)
{
	char cache[96], one[96], forged[96], same[96], command[128];
	struct tables_opts opts = { .sz = sizeof(opts), .cache_dir = cache };
	struct tables_counts counts[2];
	struct image_build_id id = { 0 };
	struct image *image;

	(void)state;
	snprintf(cache, sizeof(cache), "%s/cache", dir);
	forged_copy("one", false, one, sizeof(one));
	forged_copy("forged", true, forged, sizeof(forged));
	forged_copy("same", false, same, sizeof(same));
	assert_int_equal(image_open(&image, one, NULL), 0);
	image_build_id(image, &id);
	image_close(image);
	for (int i = 0; i < 2; i++) {
		const struct tables_object *a, *b, *c;
		struct tables *t;

		assert_int_equal(tables_new(&t, &opts), 0);
		assert_int_equal(tables_get(t, forged, &id, &b), 0);
		assert_int_equal(tables_get(t, one, &id, &a), 0);
		assert_int_equal(tables_get(t, same, &id, &c), 0);
		assert_non_null(a->table);
		assert_non_null(b->table);
		assert_ptr_not_equal(a->table->header, b->table->header);
		assert_ptr_equal(a->table->header, c->table->header);
		tables_count(t, &counts[i]);
		tables_free(t);
	}
	assert_int_equal(counts[0].built, 2);
	assert_int_equal(counts[0].from_cache, 1);
	assert_int_equal(counts[1].built, 0);
	assert_int_equal(counts[1].from_cache, 3);
	assert_int_equal(counts[1].bytes, counts[0].bytes);
	snprintf(command, sizeof(command), "rm -rf '%s'", cache);
	assert_int_equal(system(command), 0);
	unlink(one);
	unlink(forged);
	unlink(same);
}

/* Whoever cuts the files of the cache while they are in use takes nothing from whom has them. */
static void test_cut_while_used(void **state)
{
	struct tables_opts opts = { .sz = sizeof(opts), .cache_dir = dir };
	const struct tables_object *object;
	struct tables_counts counts;
	struct tables *t;
	uint64_t before;

	(void)state;
	get_libc();
	assert_int_equal(tables_new(&t, &opts), 0);
	assert_int_equal(tables_get(t, "/lib/x86_64-linux-gnu/libc.so.6", NULL, &object), 0);
	tables_count(t, &counts);
	if (!counts.from_cache) {
		tables_free(t);
		skip();
	}
	before = rules_of(object);
	tables_rest(t, object->table->header);
	cut_all();
	assert_int_equal(rules_of(object), before);
	tables_free(t);
	assert_int_equal(get_libc().built, 1);
}

/* A link to a directory of ours, in a directory that others may write to, or that is another user's
 * (sudo). */
static void test_links(void **state)
{
	static const struct {
		uid_t owner; /* 0: this user */
		mode_t mode;
		bool link, opened;
	} cases[] = {
		{ 0, 0700, false, true },  { 0, 0755, true, true },  { 0, 01777, false, true },
		{ 0, 01777, true, false }, { 1, 0755, true, false }, { 1, 0755, false, false },
	};
	char base[80], own[80], link[96], command[256];
	struct table_cache c;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (cases[i].owner && geteuid()) /* only root can give a directory away */
			continue;
		snprintf(base, sizeof(base), "%s/base", dir);
		snprintf(own, sizeof(own), "%s/own", dir);
		snprintf(link, sizeof(link), "%s/seam", base);
		assert_int_equal(mkdir(base, 0700), 0);
		assert_int_equal(mkdir(own, 0700), 0);
		if (cases[i].link)
			assert_int_equal(symlink(own, link), 0);
		assert_int_equal(chmod(base, cases[i].mode), 0);
		if (cases[i].owner)
			assert_int_equal(chown(base, cases[i].owner, (gid_t)-1), 0);
		setenv("XDG_CACHE_HOME", base, 1);
		table_cache_open(&c, "unwind", NULL, 1 << 20);
		assert_int_equal(c.dir >= 0, cases[i].opened);
		table_cache_close(&c);
		unsetenv("XDG_CACHE_HOME");
		snprintf(command, sizeof(command), "rm -rf '%s' '%s'", base, own);
		assert_int_equal(system(command), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_links, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(test_round_trip, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(test_pages, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(test_pages_of_a_file, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(test_take, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(test_other_names, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(test_fifo, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(test_processes, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(test_bound, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(test_strangers, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(test_damage, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(test_remembers, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(test_no_place, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(a_table_is_of_its_contents, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(a_table_is_of_a_stamp, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(test_cut_while_used, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(a_file_without_build_id_is_its_inode, make_dir,
		                                remove_dir),
		cmocka_unit_test_setup_teardown(a_file_of_another_form_is_no_object, make_dir,
		                                remove_dir),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
