// SPDX-License-Identifier: MIT
// fuzz_image.c: any bytes as an ELF file: everything that the rooms image and symbol read of one.
// Build with clang -fsanitize=fuzzer,address; tests/unit/image_hostile.c runs it as an ordinary
// test.
#include <elf.h>
#include <libelf.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "image/go_table.h"
#include "image/image.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

struct seen {
	size_t symbols, name_bytes;
};

static int see(void *ctx, const struct image_symbol *symbol)
{
	struct seen *seen = ctx;

	seen->symbols++;
	seen->name_bytes += strlen(symbol->name);
	return seen->symbols > 100000;
}

static int see_code(void *ctx, uint64_t start, uint64_t end, bool is_signal_frame)
{
	size_t *n = ctx;

	return end <= start || ++*n > 100000;
}

/* Reads every byte, so that a wrong length is seen by the sanitizer. */
static unsigned sum(const unsigned char *bytes, size_t n)
{
	unsigned total = 0;

	for (size_t i = 0; i < n; i++)
		total += bytes[i];
	return total;
}

static volatile unsigned fuzz_read; /* so that the compiler keeps the reads */

/* Some functions of Go's table, and the lines at their begin. */
static unsigned walk_go(struct image *image)
{
	struct go_line lines[GO_LINES_MAX];
	struct go_function f;
	struct go_table *t;
	unsigned total = 0;

	if (go_table_open(&t, image) < 0)
		return 0;
	for (size_t i = 0; i < go_table_functions(t) && i < 1000; i++) {
		if (!go_table_function(t, i, &f))
			continue;
		total += (unsigned)strlen(f.name);
		for (size_t n = go_table_lines(t, f.start, lines); n--;)
			total += (unsigned)strlen(lines[n].function);
	}
	go_table_close(t);
	return total;
}

static void walk(struct image *image)
{
	static const char *const nothing[] = { NULL };
	struct image_build_id id;
	struct image_section section;
	struct seen seen = { 0 };
	unsigned total = 0;
	uint64_t at;

	if (image_build_id(image, &id) > 0)
		total += sum(id.bytes, id.size);
	for (size_t i = 0; i < image_segments(image) && i < 1000; i++) {
		const struct image_segment *s = image_segment_at(image, i);

		image_vaddr_of_offset(image, s->offset, &at);
		image_offset_of_vaddr(image, s->vaddr + s->memory_size, &at);
	}
	image_each_symbol(image, SHT_SYMTAB, see, &seen);
	image_each_symbol(image, SHT_DYNSYM, see, &seen);
	image_each_plt(image, see, &seen);
	image_each_fde(image, see_code, &seen.symbols);
	for (size_t i = 0; i < 200 && image_section_at(image, i, &section) == 0; i++) {
		if (section.memory_size < 1 << 20 && image_section_load(image, &section) == 0)
			total += sum(section.bytes, section.n);
	}
	total += walk_go(image);
	if (image_unpacked(image, nothing)) {
		Elf_Scn *scn = NULL;

		while ((scn = elf_nextscn(image_unpacked(image, nothing), scn))) {
			Elf_Data *data = elf_rawdata(scn, NULL);

			total += data ? sum(data->d_buf, data->d_size) : 0;
		}
	}
	image_is_debug(image);
	image_is_relocatable(image);
	fuzz_read = total;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct image_build_id id;
	struct image *image, *inner;

	image_build_id_of_notes(bytes, n, n & 1, &id);
	if (image_open_memory(&image, bytes, n, "fuzz", NULL) < 0)
		return 0;
	walk(image);
	if (image_open_debugdata(&inner, image, NULL) == 0) {
		walk(inner);
		image_close(inner);
	}
	image_close(image);
	return 0;
}
