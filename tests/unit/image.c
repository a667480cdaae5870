// SPDX-License-Identifier: MIT
// image.c: identity, segments, sections and the search for files, on this program itself and on
// files made of it with objcopy.
#include <elf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "image/image.h"
#include "image/needed.h"

static char self[4000], dir[4000];

static int __attribute__((format(printf, 1, 2))) shell(const char *fmt, ...)
{
	char command[16384];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(command, sizeof(command), fmt, ap);
	va_end(ap);
	return system(command);
}

static struct image *open_file(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static struct image *open_file(const char *fmt, ...)
{
	struct seam_error err = { 0 };
	struct image *image = NULL;
	char path[8192];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(path, sizeof(path), fmt, ap);
	va_end(ap);
	if (image_open(&image, path, &err) < 0)
		fail_msg("%s", err.text);
	return image;
}

static void test_build_id_text(void **state)
{
	struct image_build_id a = { .size = 3, .bytes = { 0xab, 0, 0x0f } }, b = a;
	char hex[IMAGE_BUILD_ID_HEX];

	assert_string_equal(image_build_id_hex(&a, hex), "ab000f");
	assert_true(image_build_id_equal(&a, &b));
	b.bytes[2]++;
	assert_false(image_build_id_equal(&a, &b));
	b = a;
	b.size = 20; /* filled up with zeros, as in old recordings */
	assert_true(image_build_id_equal(&a, &b));
	b.bytes[19] = 1;
	assert_false(image_build_id_equal(&a, &b));
	b = a;
	b.size = 2;
	assert_false(image_build_id_equal(&a, &b));
	b.size = a.size = 0;
	assert_false(image_build_id_equal(&a, &b));
}

static void test_notes(void **state)
{
	struct image_build_id id = { 0 };
	static const unsigned char notes[] = { 4, 0, 0,   0,   2,   0, 0, 0, 1, 0,
		                               0, 0, 'X', 0,   0,   0, 9, 9, 0, 0, /* another */
		                               4, 0, 0,   0,   3,   0, 0, 0, 3, 0,
		                               0, 0, 'G', 'N', 'U', 0, 1, 2, 3, 0 };

	assert_int_equal(image_build_id_of_notes(notes, sizeof(notes), false, &id), 1);
	assert_int_equal(id.size, 3);
	assert_memory_equal(id.bytes, notes + 36, 3);
	for (size_t n = 0; n < sizeof(notes) - 1; n++)
		assert_int_equal(image_build_id_of_notes(notes, n, false, &id), 0);
	assert_int_equal(image_build_id_of_notes(notes, sizeof(notes), true, &id), 0);
}

/* readelf is the judge of the build-id. */
static void test_self(void **state)
{
	struct image *image = open_file("%s", self);
	struct image_build_id id;
	char hex[IMAGE_BUILD_ID_HEX], want[64] = "", command[8192];
	struct image_section text;
	uint64_t vaddr, offset;
	FILE *f;

	snprintf(command, sizeof(command), "readelf -n '%s' | sed -n 's/.*Build ID: //p'", self);
	f = popen(command, "r");
	assert_non_null(f);
	assert_int_equal(fscanf(f, "%63s", want), 1);
	pclose(f);
	assert_int_equal(image_build_id(image, &id), 1);
	assert_string_equal(image_build_id_hex(&id, hex), want);
	assert_false(image_is_relocatable(image));
	assert_false(image_is_debug(image));
	assert_int_equal(image_section(image, ".text", &text), 0);
	assert_int_equal(text.n, text.memory_size);
	for (uint64_t i = 0; i < text.n; i += 100) {
		assert_int_equal(image_vaddr_of_offset(image, text.offset + i, &vaddr), 0);
		assert_int_equal(vaddr, text.vaddr + i);
		assert_int_equal(image_offset_of_vaddr(image, vaddr, &offset), 0);
		assert_int_equal(offset, text.offset + i);
	}
	assert_int_equal(image_vaddr_of_offset(image, 1ULL << 40, &vaddr), -ENOENT);
	assert_int_equal(image_section(image, ".nothing", &text), -ENOENT);
	image_close(image);
	image_close(NULL);
}

/*
 * lld's layout: the code begins in the page of the file in which what is read only ends, so that
 * both mappings begin at the same offset; and here the second part of the code in the page in which
 * the first ends.
 */
static void test_mapped(void **state)
{
	static const struct image_segment segments[] = {
		{ .offset = 0x26b0, .vaddr = 0x36b0, .file_size = 0x4000, .executable = true },
		{ .offset = 0x66b0, .vaddr = 0x86b0, .file_size = 0x3000, .executable = true },
		{ .offset = 0, .vaddr = 0, .file_size = 0x26a4 },
		{ .offset = 0x96b0, .vaddr = 0xc6b0, .file_size = 0x1000, .writable = true },
	};
	static const struct {
		uint64_t offset, size, vaddr;
	} maps[] = {
		{ 0x2000, 0x5000, 0x3000 }, /* as the loader maps it */
		{ 0x3000, 0x4000, 0x4000 }, /* cut by mprotect: what is behind */
		{ 0x2000, 0x1000, 0x3000 }, /* and what is in front */
		{ 0x6000, 0x4000, 0x8000 }, /* the second part */
		{ 0x0, 0x10000, 0x1000 },   /* pages of 64 KiB: it begins long before */
		{ 0x0, 0x2000, 0x0 },       /* made executable later */
		{ 0xa000, 0x1000, 0xd000 }, /* likewise */
		{ 0x9700, 0, 0xc700 },      /* its size is not known */
	};
	uint64_t vaddr;

	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++) {
		assert_int_equal(image_segments_mapped(segments, 4, maps[i].offset, maps[i].size,
		                                       &vaddr),
		                 0);
		assert_int_equal(vaddr, maps[i].vaddr);
	}
	assert_int_equal(image_segments_mapped(segments, 4, 0x20000, 0x1000, &vaddr), -ENOENT);
	assert_int_equal(image_segments_mapped(segments, 4, UINT64_MAX, UINT64_MAX, &vaddr),
	                 -ENOENT);
	assert_int_equal(image_segments_mapped(segments, 0, 0, 0x1000, &vaddr), -ENOENT);
}

static void test_padding(void **state)
{
	static const struct {
		const char *code;
		size_t n;
		bool arm, padding;
	} cases[] = {
		{ "\x90", 1, false, true },
		{ "\xcc\xcc\xcc", 3, false, true },
		{ "\x66\x90", 2, false, true },
		{ "\x0f\x1f\x00", 3, false, true },
		{ "\x0f\x1f\x40\x00\x0f\x1f\x44\x00\x00", 9, false, true },
		{ "\x66\x2e\x0f\x1f\x84\x00\x00\x00\x00\x00", 10, false, true },
		{ "\x0f\x1f\x80\x00\x00\x00\x00\x00\x00", 9, false, true },
		{ "\x0f\x05\x48\x85\xc0\x7c\x13\x74\x01\xc3", 10, false,
		  false },                                               /* glibc's clone */
		{ "\xc3\xcc\x66\x0f\x1f\x44\x00\x00", 8, false, false }, /* libgcrypt */
		{ "\x90\xc3", 2, false, false },
		{ "\x66\x66", 2, false, false },
		{ "\x0f\x1f", 2, false, false },
		{ "\x0f\x1f\x84\x00\x00\x00\x00", 7, false, false }, /* cut */
		{ "\x1f\x20\x03\xd5\x00\x00\x00\x00", 8, true, true },
		{ "\x01\x00\x00\xd4", 4, true, false }, /* svc */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(image_is_padding(cases[i].arm ? EM_AARCH64 : EM_X86_64,
		                                  (const unsigned char *)cases[i].code, cases[i].n),
		                 cases[i].padding);
	assert_false(image_is_padding(EM_386, (const unsigned char *)"\x90", 1));
}

static int count(void *ctx, const struct image_symbol *symbol)
{
	size_t *n = ctx;

	*n += !strcmp(symbol->name, "main");
	return 0;
}

static size_t mains_of(struct image *image)
{
	size_t n = 0;

	image_each_symbol(image, SHT_SYMTAB, count, &n);
	return n;
}

/* full: all; bare: stripped; debug: what was taken out; and both ways of packing sections. */
static void make_files(void)
{
	assert_int_equal(
	        shell("cd '%s' && cp '%s' full && objcopy --only-keep-debug full full.debug && "
	              "objcopy -S full bare && objcopy -S --add-gnu-debuglink=full.debug full "
	              "linked && "
	              "objcopy -S -R .note.gnu.build-id --add-gnu-debuglink=full.debug full noid "
	              "&& "
	              "objcopy --compress-debug-sections=zlib full packed && "
	              "objcopy --compress-debug-sections=zlib-gnu full zpacked && "
	              "xz -k full && mv full.xz module.ko.xz && "
	              "objcopy -S -K main full mini && xz mini && "
	              "objcopy -S --add-section .gnu_debugdata=mini.xz full minidebug",
	              dir, self),
	        0);
}

static void test_packed_sections(void **state)
{
	static const char *const names[] = { ".debug_info", ".debug_line", ".debug_str" };
	struct image *full = open_file("%s/full", dir);

	for (int k = 0; k < 2; k++) {
		struct image *packed = open_file("%s/%s", dir, k ? "zpacked" : "packed");

		for (size_t i = 0; i < 3; i++) {
			struct image_section a, b;

			assert_int_equal(image_section(full, names[i], &a), 0);
			assert_int_equal(image_section(packed, names[i], &b), 0);
			assert_int_equal(a.n, b.n);
			assert_true(a.n > 0);
			assert_memory_equal(a.bytes, b.bytes, a.n);
			assert_int_equal(image_section(packed, names[i], &b), 0); /* again */
			assert_int_equal(a.n, b.n);
		}
		image_close(packed);
	}
	image_close(full);
}

static void test_unpacked_file(void **state)
{
	struct image *image = open_file("%s/module.ko.xz", dir);

	assert_int_equal(mains_of(image), 1);
	image_close(image);
	assert_int_equal(shell("head -c 5000 '%s/module.ko.xz' > '%s/cut.ko.xz'", dir, dir), 0);
	char path[8192];

	snprintf(path, sizeof(path), "%s/cut.ko.xz", dir);
	assert_int_equal(image_open(&image, path, NULL), -EBADMSG);
}

static void test_debugdata(void **state)
{
	struct image *image = open_file("%s/minidebug", dir), *inner;

	assert_int_equal(mains_of(image), 0);
	assert_int_equal(image_open_debugdata(&inner, image, NULL), 0);
	assert_int_equal(mains_of(inner), 1);
	image_close(inner);
	image_close(image);
	image = open_file("%s/bare", dir);
	assert_int_equal(image_open_debugdata(&inner, image, NULL), -ENOENT);
	image_close(image);
}

/* The debug file is found in each place, and only when it is the right one. */
static void test_find_debug(void **state)
{
	const char *dirs[] = { "/dbg", NULL };
	struct image_search search = { .sz = sizeof(search), .root = dir, .debug_dirs = dirs };
	struct image_build_id id;
	char hex[IMAGE_BUILD_ID_HEX];
	struct image *image = open_file("%s/linked", dir), *debug;
	static const char *const resolver[] = { ".", ".debug", "dbg" };

	assert_true(image_build_id(image, &id) > 0);
	image_build_id_hex(&id, hex);
	image_close(image);
	shell("cd '%s' && mkdir -p in/.debug dbg/in dbg/.build-id/%.2s && mv full.debug in.debug",
	      dir, hex);
	for (size_t i = 0; i < 3; i++) {
		const char *to = i == 0 ? "in" : i == 1 ? "in/.debug" : "dbg/in";

		for (int noid = 0; noid < 2; noid++) {
			shell("cd '%s' && cp %s in/prog && cp in.debug %s/full.debug", dir,
			      noid ? "noid" : "linked", to);
			image = open_file("%s/in/prog", dir);
			if (image_find_debug(&debug, image, &search, NULL) < 0)
				fail_msg("%s %s", resolver[i], noid ? "by CRC" : "by build-id");
			assert_int_equal(mains_of(debug), 1);
			assert_true(image_is_debug(debug));
			image_close(debug);
			/* a file of that name that is another one */
			shell("cd '%s' && cp /bin/true %s/full.debug", dir, to);
			assert_int_equal(image_find_debug(&debug, image, &search, NULL), -ENOENT);
			image_close(image);
			shell("cd '%s' && rm %s/full.debug", dir, to);
		}
	}
	shell("cd '%s' && cp bare in/prog && cp in.debug dbg/.build-id/%.2s/%s.debug", dir, hex,
	      hex + 2);
	image = open_file("%s/in/prog", dir);
	assert_int_equal(image_find_debug(&debug, image, &search, NULL), 0);
	image_close(debug);
	search.root = NULL;
	assert_int_equal(image_find_debug(&debug, image, &search, NULL), -ENOENT);
	image_close(image);
}

/* Puts a file in the place of another under one owner, as root only can. */
static void own_file(const char *from, const char *to, unsigned user)
{
	assert_int_equal(shell("cd '%s' && cp %s %s && chown %u %s", dir, from, to, user, to), 0);
}

static int find_debug_of(const char *path, struct seam_error *err)
{
	const struct image_search search = { .sz = sizeof(search) };
	struct image *image = open_file("%s/%s", dir, path), *debug;
	int r = image_find_debug(&debug, image, &search, err);

	if (r >= 0)
		image_close(debug);
	image_close(image);
	return r;
}

/* Beside an object only root's file, one's own and the one of the object's owner are believed,
 * whether a build-id or a CRC says that it belongs there. */
static void test_find_debug_of_strangers(void **state)
{
	static const char *const resolver[] = { "", ".debug/" };
	static const char *const objects[] = { "linked", "noid" };
	const unsigned stranger = 65533, other = 65532;
	char to[64];

	if (geteuid() != 0)
		skip();
	shell("cd '%s' && mkdir -p near/.debug", dir);
	for (size_t i = 0; i < 4; i++) {
		struct seam_error err = { 0 };

		snprintf(to, sizeof(to), "near/%sfull.debug", resolver[i / 2]);
		own_file(objects[i % 2], "near/prog", 0);
		own_file("in.debug", to, stranger);
		assert_int_equal(find_debug_of("near/prog", &err), -EPERM);
		assert_non_null(strstr(err.text, "neither root, nor you, nor the object's"));
		own_file(objects[i % 2], "near/prog", other);
		assert_int_equal(find_debug_of("near/prog", &err), -EPERM);
		own_file(objects[i % 2], "near/prog", stranger);
		assert_int_equal(find_debug_of("near/prog", &err), 0);
		own_file(objects[i % 2], "near/prog", other);
		own_file("in.debug", to, 0);
		assert_int_equal(find_debug_of("near/prog", &err), 0);
		shell("cd '%s' && rm near/prog %s", dir, to);
	}
}

/* What dwz moved aside, named by a path from the debug file: the same. */
static void test_find_alt_of_strangers(void **state)
{
	const struct image_search search = { .sz = sizeof(search) };
	struct image *debug, *alt;
	struct image_build_id id;
	char path[8192];
	FILE *f;

	if (geteuid() != 0)
		skip();
	debug = open_file("%s/full", dir);
	assert_true(image_build_id(debug, &id) > 0);
	image_close(debug);
	snprintf(path, sizeof(path), "%s/link.bytes", dir);
	f = fopen(path, "we");
	assert_non_null(f);
	fwrite("part", 5, 1, f);
	fwrite(id.bytes, id.size, 1, f);
	fclose(f);
	assert_int_equal(shell("cd '%s' && mkdir -p dwz && objcopy --add-section "
	                       ".gnu_debugaltlink=link.bytes full dwz/named",
	                       dir),
	                 0);
	for (unsigned trusted = 0; trusted < 2; trusted++) {
		own_file("full", "dwz/part", trusted ? 0 : 65533);
		debug = open_file("%s/dwz/named", dir);
		assert_int_equal(image_find_alt(&alt, debug, &search, NULL), trusted ? 0 : -ENOENT);
		if (trusted)
			image_close(alt);
		image_close(debug);
	}
}

static void test_find(void **state)
{
	char cache[8192], hex[IMAGE_BUILD_ID_HEX];
	struct image_search search = { .sz = sizeof(search), .root = dir };
	struct image_build_id id, other = { .size = 20, .bytes = { 1 } }, found = { 0 };
	struct image *image = open_file("%s/full", dir);
	struct seam_error err = { 0 };

	assert_true(image_build_id(image, &id) > 0);
	image_close(image);
	assert_int_equal(image_find(&image, "/full", &id, &search, NULL, &err), 0);
	image_close(image);
	assert_int_equal(image_find(&image, "/full", NULL, &search, NULL, &err), 0);
	image_close(image);
	assert_int_equal(image_find(&image, "/full (deleted)", &id, &search, NULL, &err), 0);
	image_close(image);
	assert_int_equal(image_find(&image, "/full (deleted)", NULL, &search, NULL, &err), -ENOENT);
	assert_int_equal(image_find(&image, "/full", &other, &search, &found, &err), -ESTALE);
	assert_memory_equal(found.bytes, id.bytes, id.size);
	assert_non_null(strstr(err.text, image_build_id_hex(&id, hex)));
	assert_int_equal(image_find(&image, "full", NULL, &search, NULL, &err), -ENOENT);
	/* the file is gone, but perf's cache has it */
	snprintf(cache, sizeof(cache), "%s/cache", dir);
	shell("mkdir -p '%s/.build-id/%.2s/%s' && cp '%s/full' '%s/.build-id/%.2s/%s/elf'", cache,
	      hex, hex + 2, dir, cache, hex, hex + 2);
	assert_int_equal(image_find(&image, "/gone", &id, &search, NULL, &err), -ENOENT);
	search.buildid_dir = cache;
	assert_int_equal(image_find(&image, "/gone", &id, &search, NULL, &err), 0);
	image_close(image);
	assert_int_equal(image_find(&image, "/gone", &other, &search, NULL, &err), -ENOENT);
}

struct named {
	char text[NEEDED_MOST * 64];
	size_t n;
};

static int name_each(void *ctx, const char *path)
{
	struct named *named = ctx;

	named->n++;
	if (strlen(named->text) + strlen(path) + 2 < sizeof(named->text))
		strcat(strcat(named->text, path), "\n");
	return 0;
}

/* What the loader itself says of the same program is foreseen. */
static void test_needed(void **state)
{
	static struct named named;
	char line[4096], command[8192], resolved[4096];
	size_t said = 0;
	FILE *loader;

	assert_int_equal(image_needed("/no/such/file", name_each, &named), -ENOENT);
	assert_true(image_needed(self, name_each, &named) > 1);
	assert_non_null(strstr(named.text, self));
	snprintf(command, sizeof(command), "ldd '%s' | sed -n 's/.*=> \\([^ ]*\\) (.*/\\1/p'",
	         self);
	loader = popen(command, "r");
	assert_non_null(loader);
	while (fgets(line, sizeof(line), loader)) {
		line[strcspn(line, "\n")] = 0;
		assert_non_null(realpath(line, resolved));
		assert_non_null(strstr(named.text, resolved));
		said++;
	}
	pclose(loader);
	assert_true(said > 1);
	snprintf(command, sizeof(command), "%s/script", dir);
	shell("printf '#!/usr/bin/env sh\n' >%s", command);
	memset(&named, 0, sizeof(named));
	assert_true(image_needed(command, name_each, &named) > 3);
	assert_non_null(strstr(named.text, "/env\n"));
	assert_non_null(strstr(named.text, "libc.so"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_build_id_text),
		cmocka_unit_test(test_notes),
		cmocka_unit_test(test_self),
		cmocka_unit_test(test_packed_sections),
		cmocka_unit_test(test_unpacked_file),
		cmocka_unit_test(test_debugdata),
		cmocka_unit_test(test_find_debug),
		cmocka_unit_test(test_find_debug_of_strangers),
		cmocka_unit_test(test_find_alt_of_strangers),
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_needed),
		cmocka_unit_test(test_mapped),
		cmocka_unit_test(test_padding),
	};
	char template[] = "/tmp/seam-image-XXXXXX";
	int r;

	if (system("objcopy --version >/dev/null 2>&1 && readelf --version >/dev/null 2>&1 && "
	           "xz --version >/dev/null 2>&1")) {
		printf("binutils or xz are not here\n");
		return 77;
	}
	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0 || !mkdtemp(template))
		return 1;
	snprintf(dir, sizeof(dir), "%s", template);
	make_files();
	r = cmocka_run_group_tests(tests, NULL, NULL);
	shell("rm -rf '%s'", dir);
	return r;
}
