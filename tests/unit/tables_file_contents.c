// SPDX-License-Identifier: MIT
// tables_file_contents.c: what a recording keeps of a file's contents: equal for equal contents,
// within its bounds, by Go's build-id only where that is a hash of them.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tables/contents.h"

static char dir[] = "/tmp/seam-contents-XXXXXX";

static int __attribute__((format(printf, 1, 2))) shell(const char *fmt, ...)
{
	char command[8192];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(command, sizeof(command), fmt, ap);
	va_end(ap);
	return system(command);
}

static struct image *open_file(const char *name)
{
	struct image *image = NULL;
	char path[8192];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	assert_int_equal(image_open(&image, path, NULL), 0);
	return image;
}

static struct contents contents(const char *name)
{
	struct contents_bounds bounds = { .bytes = 1 << 30 };
	struct image *image = open_file(name);
	struct contents c = { 0 };

	assert_int_equal(contents_of(image, &bounds, &c), 0);
	image_close(image);
	return c;
}

static bool are(const char *name, const struct contents *c)
{
	struct image *image = open_file(name);
	bool r = contents_are(image, c);

	image_close(image);
	return r;
}

static void test_bytes(void **state)
{
	struct contents_bounds bounds = { 0 };
	struct contents c, ignored;
	struct image *image;

	shell("cd %s && cp /proc/%d/exe plain && strip plain && cp plain same && chmod 700 same && "
	      "cp plain other && printf x | dd of=other bs=1 seek=9 conv=notrunc 2>/dev/null && "
	      "cp plain longer && echo >>longer",
	      dir, (int)getpid());
	c = contents("plain");
	assert_int_equal(c.kind, CONTENTS_BYTES);
	assert_true(are("same", &c));
	assert_false(are("other", &c)); /* as long */
	assert_false(are("longer", &c));
	image = open_file("plain");
	bounds.bytes = c.size - 1;
	assert_int_equal(contents_of(image, &bounds, &ignored), -EFBIG);
	bounds.bytes = c.size;
	assert_int_equal(contents_of(image, &bounds, &ignored), 0);
	assert_int_equal(bounds.bytes, 0);
	bounds = (struct contents_bounds){ .bytes = c.size, .deadline_ns = 1 };
	assert_int_equal(contents_of(image, &bounds, &ignored), -ETIMEDOUT);
	image_close(image);
	c.kind = CONTENTS_GO; /* a file may say anything */
	assert_false(are("same", &c));
}

/* with: the note's text of so many bytes; gives NAME from plain. */
static void make_go(const char *name, const char *text, const char *pad)
{
	char path[8192];
	uint32_t head[] = { 4, (uint32_t)strlen(text), 4 };
	FILE *f;

	snprintf(path, sizeof(path), "%s/note", dir);
	f = fopen(path, "we");
	assert_non_null(f);
	fwrite(head, sizeof(head), 1, f);
	fwrite("Go\0", 4, 1, f);
	fwrite(text, strlen(text), 1, f);
	fclose(f);
	assert_int_equal(shell("cd %s && objcopy --add-section .note.go.buildid=note plain %s && "
	                       "printf '%s' >>%s",
	                       dir, name, pad, name),
	                 0);
}

static void test_go(void **state)
{
	static const char id[] = "aWe8xyNfVvA1Bq3Lz_-t/aWe8xyNfVvA1Bq3Lz_-u/"
	                         "aWe8xyNfVvA1Bq3Lz_-v/aWe8xyNfVvA1Bq3Lz_-w";
	static const char other[] = "aWe8xyNfVvA1Bq3Lz_-t/aWe8xyNfVvA1Bq3Lz_-u/"
	                            "aWe8xyNfVvA1Bq3Lz_-v/aWe8xyNfVvA1Bq3Lz_-W";
	static const char *const told[] = { "constant", "", "a/b/c/d", "v1.2.3/linux/amd64/release",
		                            "aWe8xyNfVvA1Bq3Lz_-t/aWe8xyNfVvA1Bq3Lz_-u" };
	struct contents_bounds none = { 0 };
	struct contents c;
	struct image *image;

	make_go("go", id, "x");
	c = contents("go");
	assert_int_equal(c.kind, CONTENTS_GO);
	image = open_file("go");
	assert_int_equal(contents_of(image, &none, &c), 0); /* nothing need be read */
	image_close(image);
	make_go("again", id, "x");
	assert_true(are("again", &c));
	make_go("again", other, "x");
	assert_false(are("again", &c));
	make_go("again", id, "xy"); /* another size */
	assert_false(are("again", &c));
	/* A note that is packed, or as long as the file likes, is not read for its name. */
	assert_int_equal(shell("cd %s && objcopy --compress-debug-sections=zlib --add-section "
	                       ".note.go.buildid=plain plain long",
	                       dir),
	                 0);
	assert_int_equal(contents("long").kind, CONTENTS_BYTES);
	/* What the linker was told to write is the same in many programs. */
	for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++) {
		make_go("told", told[i], "x");
		assert_int_equal(contents("told").kind, CONTENTS_BYTES);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_bytes),
		                            cmocka_unit_test(test_go) };
	int r;

	if (!mkdtemp(dir))
		return 1;
	r = cmocka_run_group_tests(tests, NULL, NULL);
	shell("rm -rf %s", dir);
	return r;
}
