// SPDX-License-Identifier: MIT
// image_unpack.c: packed debugging sections of this very program, made with objcopy: unpacked they
// are those of the plain file, and a damaged file gives nothing or the same, never other bytes.
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <gelf.h>

#include "image/image.h"

#define ROUNDS 400

static const char *const without[] = { "loc", "loclists", "aranges", NULL };
static char self[4000], dir[4000];

static int pack(const char *how)
{
	char command[16384];

	snprintf(command, sizeof(command),
	         "objcopy --compress-debug-sections=%s '%s' '%s/%s' 2>/dev/null", how, self, dir,
	         how);
	return system(command);
}

static unsigned char *slurp(const char *name, size_t *ret_n)
{
	char path[8192];
	unsigned char *bytes;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "rb");
	assert_non_null(f);
	assert_int_equal(fseek(f, 0, SEEK_END), 0);
	*ret_n = (size_t)ftell(f);
	rewind(f);
	bytes = malloc(*ret_n);
	assert_non_null(bytes);
	assert_int_equal(fread(bytes, 1, *ret_n, f), *ret_n);
	fclose(f);
	return bytes;
}

static struct image *open_bytes(const unsigned char *bytes, size_t n)
{
	struct image *image;

	return image_open_memory(&image, bytes, n, "packed", NULL) < 0 ? NULL : image;
}

static struct image *plain(void)
{
	struct image *image;
	size_t n;
	unsigned char *bytes = slurp("none", &n);

	image = open_bytes(bytes, n);
	assert_non_null(image);
	free(bytes);
	return image;
}

static bool left_out(const char *name)
{
	for (size_t i = 0; without[i]; i++)
		if (!strcmp(name + 7, without[i]))
			return true;
	return false;
}

/* Every section of elf is the plain file's; how many there are. */
static size_t compare(Elf *elf, struct image *full)
{
	struct image_section section;
	Elf_Scn *scn = NULL;
	size_t names, n = 0;

	assert_int_equal(elf_getshdrstrndx(elf, &names), 0);
	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr header;
		Elf_Data *data = elf_rawdata(scn, NULL);
		const char *name;

		assert_non_null(gelf_getshdr(scn, &header));
		name = elf_strptr(elf, names, header.sh_name);
		assert_non_null(name);
		if (!strcmp(name, ".shstrtab"))
			continue;
		assert_false(left_out(name));
		assert_int_equal(header.sh_flags & SHF_COMPRESSED, 0);
		if (image_section(full, name, &section) < 0)
			continue; /* the name was damaged */
		assert_int_equal(data->d_size, section.n);
		assert_memory_equal(data->d_buf, section.bytes, section.n);
		n++;
	}
	return n;
}

static void run_packed(const char *how)
{
	size_t n, expected = 0;
	unsigned char *bytes = slurp(how, &n);
	struct image *full = plain(), *image = open_bytes(bytes, n);
	struct image_section section;

	assert_non_null(image);
	for (size_t i = 0; image_section_at(full, i, &section) == 0; i++)
		expected += !strncmp(section.name, ".debug_", 7) && !left_out(section.name);
	assert_true(expected >= 4);
	assert_non_null(image_unpacked(image, without));
	assert_int_equal(compare(image_unpacked(image, without), full), expected);
	image_close(image);
	image_close(full);
	free(bytes);
}

/* The same from the file itself, also in a file without a name; of what is not packed, too. */
static void test_spilled(void **state)
{
	static const char *const names[] = { "zlib", "none" };

	for (size_t i = 0; i < 4; i++) {
		struct image *full = plain(), *image;
		bool spills = i >= 2;
		char path[8192];

		snprintf(path, sizeof(path), "%s/%s", dir, names[i % 2]);
		assert_int_equal(image_open(&image, path, NULL), 0);
		if (spills)
			image_spill(image);
		assert_int_equal(image_unpacked(image, without) != NULL, spills || i == 0);
		if (spills || i == 0)
			assert_true(compare(image_unpacked(image, without), full) >= 4);
		/* What went out of memory is there when it is read. */
		if (image_spill_rest(image))
			assert_true(compare(image_unpacked(image, without), full) >= 4);
		image_close(image);
		image_close(full);
	}
}

static void test_zlib(void **state)
{
	run_packed("zlib");
}

static void test_zstd(void **state)
{
	if (pack("zstd") != 0) /* binutils without it */
		skip();
	run_packed("zstd");
}

/* Nothing is packed, or in the form that is libelf's. */
static void test_others(void **state)
{
	static const char *const names[] = { "none", "zlib-gnu" };

	for (size_t i = 0; i < 2; i++) {
		size_t n;
		unsigned char *bytes = slurp(names[i], &n);
		struct image *image = open_bytes(bytes, n);

		assert_non_null(image);
		assert_null(image_unpacked(image, without));
		image_close(image);
		free(bytes);
	}
}

/* Where a section's header and bytes are in the file. */
static size_t section_at(struct image *image, const char *name, uint64_t *ret_n)
{
	struct image_section section;

	for (size_t i = 0; image_section_at(image, i, &section) == 0; i++) {
		if (strcmp(section.name, name))
			continue;
		*ret_n = section.memory_size;
		return section.offset;
	}
	fail();
	return 0;
}

/* Sizes and kinds that cannot be, and bytes that are not what was packed. */
static void test_damaged(void **state)
{
	static const uint64_t sizes[] = { 0,          1,    UINT64_MAX,       INT64_MAX, 1ULL << 30,
		                          1ULL << 40, 0x10, (1ULL << 30) + 1, UINT32_MAX };
	size_t n;
	unsigned char *bytes = slurp("zlib", &n), *copy = malloc(n);
	struct image *image = open_bytes(bytes, n), *full = plain();
	uint64_t size = 0;
	size_t at = section_at(image, ".debug_info", &size);

	image_close(image);
	assert_non_null(copy);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		memcpy(copy, bytes, n);
		memcpy(copy + at + offsetof(Elf64_Chdr, ch_size), &sizes[i], 8);
		image = open_bytes(copy, n);
		assert_null(image_unpacked(image, without));
		image_close(image);
	}
	for (uint32_t type = 0; type < 70000; type = type * 3 + 2) {
		memcpy(copy, bytes, n);
		memcpy(copy + at, &type, sizeof(type));
		image = open_bytes(copy, n);
		assert_null(image_unpacked(image, without));
		image_close(image);
	}
	srandom(11);
	for (unsigned round = 0; round < ROUNDS; round++) {
		size_t where = at + sizeof(Elf64_Chdr) + (size_t)random() % (size - 40);

		memcpy(copy, bytes, n);
		copy[where] ^= (unsigned char)(1 + random() % 255);
		image = open_bytes(copy, n);
		if (image_unpacked(image, without)) /* bits that nothing depends on */
			compare(image_unpacked(image, without), full);
		image_close(image);
	}
	image_close(full);
	free(copy);
	free(bytes);
}

/* Headers of sections at random: nothing is read or written outside. */
static void test_damaged_headers(void **state)
{
	size_t n;
	unsigned char *bytes = slurp("zlib", &n), *copy = malloc(n);
	Elf64_Ehdr header;
	size_t opened = 0;

	assert_non_null(copy);
	memcpy(&header, bytes, sizeof(header));
	srandom(12);
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct image *image;
		size_t span = (size_t)header.e_shnum * sizeof(Elf64_Shdr);

		memcpy(copy, bytes, n);
		for (int i = 0; i < 3; i++) {
			uint64_t values[] = { 0, 1, n, UINT64_MAX, (uint64_t)random(), 0x800, 24 };
			size_t where = header.e_shoff + ((size_t)random() % (span - 8) & ~7ul);

			memcpy(copy + where, &values[random() % 7], 8);
		}
		image = open_bytes(copy, n);
		if (!image)
			continue;
		opened += image_unpacked(image, without) != NULL;
		image_close(image);
	}
	assert_true(opened > 0);
	free(copy);
	free(bytes);
}

static int set_up(void **state)
{
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	snprintf(dir, sizeof(dir), "/tmp/seam-unpack-XXXXXX");
	if (n < 0 || !mkdtemp(dir))
		return -1;
	return pack("none") || pack("zlib") || pack("zlib-gnu");
}

static int tear_down(void **state)
{
	char command[8192];

	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spilled), cmocka_unit_test(test_zlib),
		cmocka_unit_test(test_zstd),    cmocka_unit_test(test_others),
		cmocka_unit_test(test_damaged), cmocka_unit_test(test_damaged_headers),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
