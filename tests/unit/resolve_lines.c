// SPDX-License-Identifier: MIT
// resolve_lines.c: source lines of this very program: one at a time, many at once, and from the
// cache on disk, which is damaged in every byte.
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
#include <unistd.h>

#include "resolve/line_cache.h"
#include "resolve/lines.h"

#include "cache_dir.h"

static char self[4096];
static struct image_build_id self_id;
static uint64_t text_start, text_end; /* of the largest executable segment */

static int start(void **state)
{
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	struct image *image;

	if (n <= 0 || make_dir(state) < 0 || image_open(&image, self, NULL) < 0)
		return -1;
	image_build_id(image, &self_id);
	text_start = image_segment_at(image, 0)->vaddr;
	text_end = text_start + image_segment_at(image, 0)->memory_size;
	image_close(image);
	return 0;
}

static struct lines *new_lines(bool cache, unsigned threads, struct lines_object **ret)
{
	struct lines_opts opts = {
		.sz = sizeof(opts), .no_cache = !cache, .cache_dir = dir, .threads = threads
	};
	struct lines *l;

	assert_int_equal(lines_new(&l, &opts), 0);
	assert_int_equal(lines_object(l, LINES_FILE, self, &self_id, ret), 0);
	return l;
}

static void assert_same(const struct lines_at *a, const struct lines_at *b)
{
	assert_int_equal(a->n, b->n);
	for (size_t i = 0; i < a->n; i++) {
		assert_string_equal(a->frames[i].function, b->frames[i].function);
		assert_string_equal(a->frames[i].file, b->frames[i].file);
		assert_int_equal(a->frames[i].line, b->frames[i].line);
	}
}

static void this_line_is_known(void **state)
{
	static const char needle[] = "resolve_lines.c";
	struct lines_object *object, *again;
	struct lines *l = new_lines(false, 1, &object);
	struct lines_at at;
	bool found = false;

	(void)state;
	assert_int_equal(lines_object(l, LINES_FILE, self, &self_id, &again), 0);
	assert_ptr_equal(object, again);
	for (uint64_t v = text_start; v < text_end && !found; v++) {
		if (lines_find(object, v, &at) <= 0 ||
		    strcmp(at.frames[0].function, "this_line_is_known"))
			continue;
		found = strstr(at.frames[0].file, needle) && at.frames[0].line;
	}
	assert_true(found);
	lines_free(l);
}

/* At once, in threads, from disk and one by one: the same. */
static void every_way_gives_the_same(void **state)
{
	struct lines_object *one, *many, *disk;
	struct lines *a = new_lines(false, 1, &one), *b = new_lines(true, 4, &many), *c;
	struct lines_counts counts;
	struct lines_at x, y;
	uint64_t step = 5, n = 0, known = 0;

	(void)state;
	for (uint64_t v = text_start; v < text_end; v += step, n++)
		assert_int_equal(lines_want(many, v), 0);
	assert_int_equal(lines_want(many, text_start), 0); /* twice */
	assert_int_equal(lines_resolve(b), 0);
	lines_count(b, &counts);
	assert_int_equal(counts.looked_up, n);
	lines_free(b);

	c = new_lines(true, 1, &disk);
	for (uint64_t v = text_start; v < text_end; v += step) {
		int r = lines_find(one, v, &x);

		known += r == 1;
		assert_int_equal(lines_find(disk, v, &y), r);
		assert_same(&x, &y);
	}
	lines_count(c, &counts);
	assert_int_equal(counts.looked_up, 0);
	assert_true(known > n / 8); /* what is linked in statically has no lines */
	lines_free(a);
	lines_free(c);
}

/* An object that is not there has a reason, and no answers. */
/* Opened ahead of time, by a thread of its own: the same answers, asked for at once or one by one,
 * or never. */
static void early_handles_change_nothing(void **state)
{
	struct lines_object *object, *early;
	struct lines *plain = new_lines(false, 1, &object), *l;
	struct lines_at a, b;

	(void)state;
	for (unsigned way = 0; way < 3; way++) {
		l = new_lines(false, 3, &early);
		assert_true(lines_known(early));
		assert_true(lines_known(early));
		for (uint64_t at = text_start; way == 1 && at < text_end; at += 61)
			assert_int_equal(lines_want(early, at), 0);
		if (way == 1)
			assert_int_equal(lines_resolve(l), 0);
		for (uint64_t at = text_start; way && at < text_end; at += 61) {
			assert_true(lines_find(object, at, &a) >= 0);
			assert_true(lines_find(early, at, &b) >= 0);
			assert_same(&a, &b);
		}
		lines_free(l);
	}
	lines_free(plain);
}

/* What there is no time for is not looked up, and said to be put off; with time it is what it
 * always is. The first share is ten times as much, so that a first step is made. */
static void a_share_puts_off(void **state)
{
	const struct lines_opts opts = { .sz = sizeof(opts),
		                         .no_cache = true,
		                         .threads = 1,
		                         .keep_bytes = 1 << 24,
		                         .share_ns = 1 };
	const struct image_search search = { .sz = sizeof(search) };
	struct lines_object *object, *all;
	struct lines *l, *whole = new_lines(false, 1, &all);
	uint64_t answered = 0, put_off = 0;
	struct lines_at at, full;

	(void)state;
	assert_int_equal(lines_new(&l, &opts), 0);
	assert_int_equal(lines_object(l, LINES_FILE, self, &self_id, &object), 0);
	for (int window = 0; window < 3; window++) {
		lines_renew(l, &search);
		for (uint64_t v = text_start; v < text_end; v += 16)
			assert_int_equal(lines_want(object, v), 0);
		assert_int_equal(lines_resolve(l), 0);
	}
	for (uint64_t v = text_start; v < text_end; v += 16) {
		assert_true(lines_find(object, v, &at) >= 0);
		lines_find(all, v, &full);
		answered += !at.put_off;
		put_off += at.put_off;
		assert_false(full.put_off);
		if (!at.put_off)
			assert_same(&at, &full);
		else
			assert_int_equal(at.n, 0);
	}
	assert_int_equal(answered, 64);
	assert_true(put_off > 64);
	/* What has no debugging information has nothing that could be read later. */
	assert_int_equal(lines_object(l, LINES_FILE, "/etc/passwd", NULL, &object), 0);
	assert_int_equal(lines_want(object, 16), 0);
	assert_int_equal(lines_resolve(l), 0);
	assert_int_equal(lines_find(object, 16, &at), 0);
	assert_false(at.put_off);
	lines_free(l);
	lines_free(whole);
}

static void nothing_is_invented(void **state)
{
	struct lines_object *object, *other;
	struct lines *l = new_lines(true, 1, &object);
	struct image_build_id wrong = self_id;
	struct lines_at at;

	(void)state;
	assert_true(lines_known(object));
	assert_int_equal(lines_object(l, LINES_FILE, "/nonexistent/x", NULL, &other), 0);
	assert_false(lines_known(other));
	assert_false(lines_known(other)); /* the second time nothing is searched for */
	assert_int_equal(lines_find(other, 0x1000, &at), 0);
	assert_int_not_equal(*lines_object_reason(other), 0);
	wrong.bytes[0] ^= 1;
	assert_int_equal(lines_object(l, LINES_FILE, self, &wrong, &other), 0);
	assert_int_equal(lines_find(other, text_start, &at), 0);
	assert_int_equal(at.n, 0);
	assert_int_equal(lines_find(object, 0, &at), 0);
	lines_free(l);
}

/* What the caller tells is the answer, is not asked of any file, and not kept. */
static void what_is_told_is_known(void **state)
{
	struct lines_opts opts = { .sz = sizeof(opts), .cache_dir = dir };
	struct lines_object *o, *other;
	struct lines_counts counts;
	struct lines_at at;
	struct lines *l;

	for (int again = 0; again < 2; again++) {
		assert_int_equal(lines_new(&l, &opts), 0);
		assert_int_equal(lines_object(l, LINES_JIT, "7", NULL, &o), 0);
		assert_int_equal(lines_object(l, LINES_FILE, "7", NULL, &other), 0);
		assert_ptr_not_equal(o, other);
		assert_int_equal(lines_find(o, 5, &at), 0);
		if (!again) {
			assert_int_equal(lines_tell(o, 5, "/src/a.js", 3), 0);
			assert_int_equal(lines_tell(o, 5, "/src/b.js", 4), 0);
			assert_int_equal(lines_want(o, 5), 0);
			assert_int_equal(lines_resolve(l), 0);
			assert_int_equal(lines_find(o, 5, &at), 1);
			assert_int_equal(at.n, 1);
			assert_string_equal(at.frames[0].function, "");
			assert_string_equal(at.frames[0].file, "/src/a.js");
			assert_int_equal(at.frames[0].line, 3);
		}
		lines_count(l, &counts);
		assert_int_equal(counts.looked_up, 0);
		lines_free(l);
	}
}

enum {
	HEADER = 40
}; /* bytes of a file, of which the last eight are the checksum */

static void damage_is_refused(void **state)
{
	struct line_cache book = { 0 }, back = { 0 };
	struct intern texts = { 0 };
	struct line_cache_frame frames[2];
	struct buf bytes = { 0 }, more = { 0 };

	(void)state;
	frames[0] = (struct line_cache_frame){ intern_text(&texts, "f"), intern_text(&texts, "a.c"),
		                               3 };
	frames[1] = (struct line_cache_frame){ intern_text(&texts, "g"), 0, 4 };
	assert_int_equal(line_cache_put(&book, 0x20, frames, 2), 0);
	assert_int_equal(line_cache_put(&book, 0x10, NULL, 0), 0);
	assert_int_equal(line_cache_encode(&book, &texts, &bytes), 0);
	assert_int_equal(line_cache_open(&back, &texts, bytes.bytes, bytes.n), 0);
	assert_true(line_cache_any(&back));
	assert_int_equal(line_cache_count(&back), 0);
	assert_int_equal(line_cache_find(&back, &texts, 0x20)->n, 2);
	assert_string_equal(
	        intern_get(&texts, line_cache_frames(&back, line_cache_find(&back, &texts, 0x20))[1]
	                                   .function),
	        "g");
	assert_null(line_cache_find(&back, &texts, 0x18));
	assert_int_equal(line_cache_count(&back), 1);
	/* What was put meanwhile stays, and what was not asked for is not lost. */
	assert_int_equal(line_cache_put(&back, 0x10, frames, 1), 0);
	assert_int_equal(line_cache_put(&book, 0x30, frames, 1), 0);
	assert_int_equal(line_cache_encode(&book, &texts, &more), 0);
	assert_int_equal(line_cache_open(&back, &texts, more.bytes, more.n), 0);
	assert_int_equal(line_cache_close(&back, &texts), 0);
	assert_int_equal(line_cache_count(&back), 3);
	assert_int_equal(line_cache_find(&back, &texts, 0x10)->n, 1);
	assert_int_equal(line_cache_find(&back, &texts, 0x30)->n, 1);
	line_cache_free(&back);
	back = (struct line_cache){ 0 };
	for (size_t i = 0; i < bytes.n; i++) {
		int r;

		bytes.bytes[i] ^= 0x41;
		r = line_cache_open(&back, &texts, bytes.bytes, bytes.n);
		/* Four bytes of the header are not used. */
		assert_true(r == -EBADMSG || (i >= 28 && i < 32));
		bytes.bytes[i] ^= 0x41;
		assert_int_equal(line_cache_open(&back, &texts, bytes.bytes, i), -EBADMSG);
	}
	/* With a sound checksum, too, no number is believed: they are texts, frames and offsets. */
	for (size_t i = HEADER; i < bytes.n - 1; i++) {
		uint64_t sum;

		bytes.bytes[i] ^= 0xff;
		sum = map_hash_bytes(bytes.bytes + HEADER, bytes.n - HEADER, LINE_CACHE_VERSION);
		memcpy(bytes.bytes + HEADER - sizeof(sum), &sum, sizeof(sum));
		if (line_cache_open(&back, &texts, bytes.bytes, bytes.n) == 0) {
			line_cache_find(&back, &texts, 0x10);
			line_cache_find(&back, &texts, 0x20);
			assert_int_equal(line_cache_close(&back, &texts), 0);
		}
		bytes.bytes[i] ^= 0xff;
	}
	buf_free(&more);
	line_cache_free(&book);
	line_cache_free(&back);
	intern_free(&texts);
	buf_free(&bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(this_line_is_known),
		cmocka_unit_test(every_way_gives_the_same),
		cmocka_unit_test(early_handles_change_nothing),
		cmocka_unit_test(a_share_puts_off),
		cmocka_unit_test(nothing_is_invented),
		cmocka_unit_test(what_is_told_is_known),
		cmocka_unit_test(damage_is_refused),
	};

	return cmocka_run_group_tests(tests, start, remove_dir);
}
