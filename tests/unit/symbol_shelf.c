// SPDX-License-Identifier: MIT
// symbol_shelf.c: names of a file outlive the cache that read them: the next cache has the same
// ones, as long as the file is the same; and what is not used goes where there is no room.
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "image/image.h"
#include "symbol/symbol.h"

static char dir[64], path[128];
static struct image_build_id id;

/* A copy of this program, which a test may change. */
static int copy(void)
{
	char command[512];

	snprintf(command, sizeof(command), "rm -f %s && cp /proc/%d/exe %s", path, (int)getpid(),
	         path);
	return system(command);
}

static int start(void **state)
{
	struct image *image;

	snprintf(dir, sizeof(dir), "/tmp/seam-shelf-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/program", dir);
	if (copy() || image_open(&image, path, NULL) < 0)
		return -1;
	image_build_id(image, &id);
	image_close(image);
	return id.size ? 0 : -1;
}

static int end(void **state)
{
	unlink(path);
	return rmdir(dir);
}

/* A limit, and what was asked for: the most at once, and how often. */
struct limit {
	uint64_t bytes, most;
	unsigned asked;
};

static bool limit_has(void *ctx, uint64_t bytes)
{
	struct limit *l = ctx;

	l->asked++;
	l->most = bytes > l->most ? bytes : l->most;
	return bytes <= l->bytes;
}

/* A cache with the program's names; whether it has any. limit: NULL: there is none. */
static bool names_within(struct symbol_cache **ret, struct symbol_shelf *shelf, struct limit *limit)
{
	struct symbol_opts opts = { .sz = sizeof(opts),
		                    .shelf = shelf,
		                    .room = { limit ? limit_has : NULL, limit } };
	const struct symbol_key key = { .kind = SYMBOL_KIND_FILE, .path = path, .build_id = id };
	struct symbol_object *object;
	struct symbol symbol;

	assert_int_equal(symbol_new(ret, &opts), 0);
	assert_int_equal(symbol_object(*ret, &key, &object), 0);
	assert_int_equal(symbol_object_load(object), 0);
	/* Of an address between functions, too: by the outline, which is read apart, and for which
	 * memory is asked for apart (outline_asks). */
	for (uint64_t addr = 0x1000; !limit && addr < 0x40000; addr += 0x400) {
		assert_true(symbol_at(object, addr, &symbol) >= 0);
		if (symbol.name)
			assert_true(strlen(symbol.name) > 0);
	}
	if (symbol_object_state(object) == SYMBOL_NAMED)
		assert_string_equal(symbol_object_source(object), path);
	return symbol_object_count(object) > 0;
}

static bool names(struct symbol_cache **ret, struct symbol_shelf *shelf)
{
	return names_within(ret, shelf, NULL);
}

static void names_outlive_their_cache(void **state)
{
	struct symbol_shelf *shelf;
	struct symbol_cache *one, *two;
	size_t bytes;

	assert_int_equal(symbol_shelf_new(&shelf, 64 << 20, false), 0);
	assert_int_equal(symbol_shelf_trim(shelf, SIZE_MAX), 0);
	assert_true(names(&one, shelf));
	bytes = symbol_shelf_trim(shelf, SIZE_MAX);
	assert_true(bytes > 0);
	assert_true(names(&two, shelf));
	assert_int_equal(symbol_shelf_trim(shelf, SIZE_MAX), bytes);
	symbol_free(one);
	/* What is used stays. */
	assert_int_equal(symbol_shelf_trim(shelf, 0), bytes);
	symbol_free(two);
	assert_int_equal(symbol_shelf_trim(shelf, SIZE_MAX), bytes);
	assert_int_equal(symbol_shelf_trim(shelf, 0), 0);
	symbol_shelf_free(shelf);
	symbol_shelf_free(NULL);
}

/* Who asks for names while memory is short has none of its .symtab, and says so; that is not for
 * who comes later, when there is room. */
static void names_wait_for_memory(void **state)
{
	struct limit limit = { 0 };
	struct symbol_shelf *shelf;
	struct symbol_cache *one, *two;
	uint64_t all;

	assert_int_equal(symbol_shelf_new(&shelf, 64 << 20, false), 0);
	names_within(&one, shelf, &limit);
	assert_true(limit.asked > 0);
	symbol_free(one);
	assert_int_equal(symbol_shelf_trim(shelf, SIZE_MAX), 0);
	all = limit.most;
	limit = (struct limit){ .bytes = all };
	assert_true(names_within(&two, shelf, &limit));
	assert_true(limit.asked > 0 && limit.most == all);
	/* What is asked for is what is taken, and a little more. */
	assert_true(symbol_shelf_trim(shelf, SIZE_MAX) > 0);
	assert_true(symbol_shelf_trim(shelf, SIZE_MAX) < all + (64 << 10));
	limit.asked = 0;
	assert_true(names_within(&one, shelf, &limit));
	assert_int_equal(limit.asked, 0); /* they are there already */
	symbol_free(one);
	symbol_free(two);
	symbol_shelf_free(shelf);
}

/* How often memory was asked for by who wants the outline, too, while there is so much. */
static unsigned outline_asks(struct symbol_shelf *shelf, uint64_t bytes)
{
	struct limit limit = { .bytes = UINT64_MAX };
	struct symbol_opts opts = { .sz = sizeof(opts),
		                    .shelf = shelf,
		                    .room = { limit_has, &limit } };
	const struct symbol_key key = { .kind = SYMBOL_KIND_FILE, .path = path, .build_id = id };
	struct symbol_cache *cache;
	struct symbol_object *object;

	assert_int_equal(symbol_new(&cache, &opts), 0);
	assert_int_equal(symbol_object(cache, &key, &object), 0);
	assert_int_equal(symbol_object_load(object), 0);
	limit = (struct limit){ .bytes = bytes };
	symbol_object_ready(object);
	symbol_object_ready(object);
	symbol_free(cache);
	return limit.asked;
}

/* The same of the outline: where there was no memory for it, who comes later asks anew. */
static void outlines_wait_for_memory(void **state)
{
	struct symbol_shelf *shelf;

	assert_int_equal(symbol_shelf_new(&shelf, 64 << 20, false), 0);
	assert_int_equal(outline_asks(shelf, 0), 1);
	assert_int_equal(outline_asks(shelf, UINT64_MAX), 1);
	assert_int_equal(outline_asks(shelf, 0), 0); /* it is there already */
	symbol_shelf_free(shelf);
}

/* Large tables lie in a file, and do not count. */
static void names_lie_in_a_file(void **state)
{
	struct symbol_shelf *shelf;
	struct symbol_cache *memory, *one, *two;
	struct limit limit = { 0 };
	size_t bytes;
	bool spilled;

	assert_int_equal(symbol_shelf_new(&shelf, 64 << 20, false), 0);
	assert_true(names(&memory, shelf));
	symbol_free(memory);
	bytes = symbol_shelf_trim(shelf, SIZE_MAX);
	symbol_shelf_free(shelf);
	assert_int_equal(symbol_shelf_new(&shelf, 64 << 20, true), 0);
	assert_true(names(&one, shelf));
	/* On a file system without such files they stay in memory. */
	assert_true(symbol_shelf_trim(shelf, SIZE_MAX) <= bytes);
	spilled = symbol_shelf_trim(shelf, SIZE_MAX) < bytes;
	symbol_free(one);
	assert_true(names(&two, shelf));
	symbol_free(two);
	symbol_shelf_rest(shelf);
	/* To read them again would take more memory than they do. */
	bytes = symbol_shelf_trim(shelf, 0);
	assert_int_equal(bytes > 0, spilled);
	assert_true(names_within(&one, shelf, spilled ? &limit : NULL));
	assert_int_equal(limit.asked, 0);
	symbol_free(one);
	symbol_shelf_free(shelf);
}

/* The running kernel's names are there for the next cache; where it hides them, none are. */
static void the_kernel_is_kept(void **state)
{
	struct symbol_opts opts = { .sz = sizeof(opts) };
	const struct symbol_key key = { .kind = SYMBOL_KIND_KERNEL, .path = "[kernel.kallsyms]" };
	struct symbol_object *object;
	struct symbol_cache *cache;
	size_t counts[2], kept[2];
	unsigned char notes[4096];
	FILE *f = fopen("/sys/kernel/notes", "r");
	size_t n = f ? fread(notes, 1, sizeof(notes), f) : 0;

	if (f)
		fclose(f);
	if (!n || image_build_id_of_notes(notes, n, false, &opts.kernel_build_id) <= 0)
		skip();
	assert_int_equal(symbol_shelf_new(&opts.shelf, 64 << 20, false), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(symbol_new(&cache, &opts), 0);
		assert_int_equal(symbol_object(cache, &key, &object), 0);
		assert_int_equal(symbol_object_load(object), 0);
		counts[i] = symbol_object_count(object);
		symbol_free(cache);
		kept[i] = symbol_shelf_trim(opts.shelf, SIZE_MAX);
	}
	assert_int_equal(counts[0], counts[1]);
	assert_int_equal(kept[0], kept[1]);
	assert_true(!counts[0] == !kept[0]);
	symbol_shelf_free(opts.shelf);
}

/* The names of a file that is another one now are not those of the one that was mapped. */
static void another_file_is_read_anew(void **state)
{
	struct symbol_shelf *shelf;
	struct symbol_cache *cache;
	size_t bytes;
	int fd;

	assert_int_equal(symbol_shelf_new(&shelf, 64 << 20, false), 0);
	assert_true(names(&cache, shelf));
	symbol_free(cache);
	bytes = symbol_shelf_trim(shelf, SIZE_MAX);
	fd = open(path, O_WRONLY | O_TRUNC);
	assert_true(fd >= 0 && write(fd, "nothing", 7) == 7);
	close(fd);
	assert_false(names(&cache, shelf));
	symbol_free(cache);
	assert_true(symbol_shelf_trim(shelf, SIZE_MAX) < bytes);
	unlink(path);
	assert_false(names(&cache, shelf));
	symbol_free(cache);
	assert_int_equal(copy(), 0);
	assert_true(names(&cache, shelf));
	symbol_free(cache);
	symbol_shelf_free(shelf);
}

/* What alone would take half of the room is read for each cache. */
static void a_small_shelf_has_no_room(void **state)
{
	struct symbol_shelf *shelf;
	struct symbol_cache *cache;

	assert_int_equal(symbol_shelf_new(&shelf, 4096, false), 0);
	for (int i = 0; i < 2; i++) {
		assert_true(names(&cache, shelf));
		symbol_free(cache);
		assert_int_equal(symbol_shelf_trim(shelf, SIZE_MAX), 0);
	}
	symbol_shelf_free(shelf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_outlive_their_cache),
		cmocka_unit_test(names_wait_for_memory),
		cmocka_unit_test(outlines_wait_for_memory),
		cmocka_unit_test(names_lie_in_a_file),
		cmocka_unit_test(the_kernel_is_kept),
		cmocka_unit_test(another_file_is_read_anew),
		cmocka_unit_test(a_small_shelf_has_no_room),
	};

	return cmocka_run_group_tests(tests, start, end);
}
