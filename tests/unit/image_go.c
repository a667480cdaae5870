// SPDX-License-Identifier: MIT
// image_go.c: Go's table of functions in made-up programs of its four forms: names, depths, lines
// and inlined calls, where addresses count from; and thousands of damaged copies, of which nothing
// may be read outside.
#include <elf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "image/go_table.h"
#include "tables/go_frames.h"

#define CODE 0x401000u
#define TABLE 0x500000u
#define MODULE 0x600000u
#define DATA 0x700000u

/* One program: main.main (64 bytes) with main.small inlined at [20, 30) of it; runtime.goexit (32
 * bytes). */
struct program {
	unsigned go;
	bool no_text;   /* the header does not say where addresses count from */
	bool no_module; /* and there is no description of the module */
	bool within;    /* the table is in a section with other data */
	bool no_note;   /* and nothing says that it is Go's */
};

struct part {
	struct buf table, data, module;
};

static size_t text(struct buf *b, const char *s)
{
	size_t at = b->n;

	buf_put(b, s, strlen(s) + 1);
	return at;
}

/* Values by address: pairs of how many bytes and which value. */
static size_t values(struct buf *b, const int (*pairs)[2], size_t n)
{
	size_t at = b->n;
	int before = -1;

	for (size_t i = 0; i < n; i++) {
		int change = pairs[i][1] - before;
		unsigned zigzag = change < 0 ? (unsigned)~change << 1 | 1 : (unsigned)change << 1;
		const unsigned char bytes[] = { (unsigned char)(zigzag | 0x80),
			                        (unsigned char)(zigzag >> 7),
			                        (unsigned char)pairs[i][0] };

		buf_put(b, bytes, sizeof(bytes));
		before = pairs[i][1];
	}
	buf_put(b, "", 1);
	return at;
}
#define VALUES(b, ...) \
	values(b, (const int[][2])__VA_ARGS__, sizeof((const int[][2])__VA_ARGS__) / sizeof(int[2]))

struct listed {
	uint64_t start;
	size_t name, depths, files, lines, inlined;
	bool has_data;
};

/* The description of one function, in the program's form; where it stands. */
static size_t described(struct buf *b, const struct program *p, const struct listed *f)
{
	size_t at;

	buf_put_zeros(b, -b->n & 7);
	at = b->n;
	if (p->go >= 18)
		buf_put_u32(b, (uint32_t)(f->start - CODE));
	else
		buf_put_u64(b, f->start);
	buf_put_u32(b, (uint32_t)f->name);
	buf_put_u32(b, 0);
	buf_put_u32(b, 0);
	buf_put_u32(b, (uint32_t)f->depths);
	buf_put_u32(b, (uint32_t)f->files);
	buf_put_u32(b, (uint32_t)f->lines);
	buf_put_u32(b, 3); /* lists of more values */
	if (p->go >= 16)
		buf_put_u32(b, 0); /* its unit */
	if (p->go >= 20)
		buf_put_u32(b, 7); /* its first line */
	buf_put(b, "\0\0\0\4", 4); /* 4 pointers */
	buf_put_u32(b, 0);
	buf_put_u32(b, 0);
	buf_put_u32(b, (uint32_t)f->inlined);
	for (unsigned i = 0; i < 4; i++)
		buf_put_u32(b, i == 3 && f->has_data ? 8 : UINT32_MAX);
	return at;
}

static void put_at(struct buf *b, size_t at, uint64_t v, size_t n)
{
	memcpy(b->bytes + at, &v, n);
}

/* The table; and, of Go 1.18 and later, the functions' own data and the description of the
 * module. */
static void make_parts(const struct program *p, struct part *ret)
{
	struct buf *b = &ret->table;
	const uint32_t magic = p->go == 2    ? 0xfffffffb
	                       : p->go == 16 ? 0xfffffffa
	                       : p->go == 18 ? 0xfffffff0
	                                     : 0xfffffff1;
	struct listed f[2] = { { .start = CODE, .has_data = p->go >= 18 }, { .start = CODE + 64 } };
	size_t header[8], list, names = 0, main_name, exit_name, small_name, units = 0, files = 0,
	                        at, file, infos[2], base;
	unsigned n_header = p->go == 2 ? 1 : p->go == 16 ? 7 : 8;

	buf_put_u32(b, magic);
	buf_put(b, "\0\0\1\10", 4);
	for (unsigned i = 0; i < n_header; i++) {
		header[i] = b->n;
		buf_put_u64(b, i == 0 ? 2 : 0);
	}
	list = b->n; /* Go 1.2: the list stands here; else its room is not used */
	buf_put_zeros(b, 5 * 8 + 4);
	if (p->go >= 16)
		names = text(b, "");
	main_name = text(b, "main.main") - names;
	small_name = text(b, "main.small") - names;
	exit_name = text(b, "runtime.goexit") - names;
	file = text(b, "/src/main.go");
	if (p->go == 2) {
		buf_put_zeros(b, -b->n & 3);
		files = b->n;
		buf_put_u32(b, 2);
		buf_put_u32(b, (uint32_t)file);
		put_at(b, list + 5 * 8, files, 4);
	} else {
		files = file;
		units = b->n;
		buf_put_u32(b, 0);
	}
	base = p->go == 2 ? 0 : b->n;
	buf_put_zeros(b, 1);
	f[0].name = main_name;
	f[1].name = exit_name;
	f[0].depths = VALUES(b, { { 4, 0 }, { 50, 24 }, { 10, 0 } }) - base;
	f[0].lines = VALUES(b, { { 20, 10 }, { 10, 500 }, { 34, 12 } }) - base;
	f[0].files = VALUES(b, { { 64, p->go == 2 ? 1 : 0 } }) - base;
	f[0].inlined = VALUES(b, { { 20, -1 }, { 10, 0 }, { 34, -1 } }) - base;
	f[1].depths = VALUES(b, { { 32, 0 } }) - base;
	buf_put_zeros(b, -b->n & 7);
	if (p->go >= 16) {
		list = b->n;
		buf_put_zeros(b, p->go >= 18 ? 20 : 40);
	}
	infos[0] = described(b, p, &f[0]);
	infos[1] = described(b, p, &f[1]);
	at = p->go >= 16 ? list : 0;
	for (unsigned i = 0; i < 3; i++) {
		uint64_t start = i == 2 ? CODE + 96 : f[i].start, info = i == 2 ? 0 : infos[i] - at;

		put_at(b, list + i * (p->go >= 18 ? 8u : 16u), p->go >= 18 ? start - CODE : start,
		       p->go >= 18 ? 4 : 8);
		if (i < 2)
			put_at(b, list + i * (p->go >= 18 ? 8u : 16u) + (p->go >= 18 ? 4 : 8), info,
			       p->go >= 18 ? 4 : 8);
	}
	if (p->go >= 16) {
		const uint64_t said[] = { names, units, files, base, list };
		unsigned first = p->go >= 18 ? 3 : 2;

		put_at(b, header[1], 1, 8);
		if (p->go >= 18)
			put_at(b, header[2], p->no_text ? 0 : CODE, 8);
		for (unsigned i = 0; i < 5; i++)
			put_at(b, header[first + i], said[i], 8);
	}
	/* The inlined call, at offset 8 of the data: main.small, called from byte 19. */
	buf_put_zeros(&ret->data, 8);
	if (p->go >= 20) {
		buf_put_u32(&ret->data, 0);
		buf_put_u32(&ret->data, (uint32_t)small_name);
		buf_put_u32(&ret->data, 19);
		buf_put_u32(&ret->data, 3);
	} else {
		buf_put_zeros(&ret->data, 12);
		buf_put_u32(&ret->data, (uint32_t)small_name);
		buf_put_u32(&ret->data, 19);
	}
	buf_put_zeros(&ret->module, 16);
	buf_put_u64(&ret->module, p->no_module ? 0 : TABLE);
	buf_put_zeros(&ret->module, 19 * 8);
	buf_put_u64(&ret->module, CODE);      /* the first function */
	buf_put_u64(&ret->module, CODE + 96); /* the last one's end */
	buf_put_u64(&ret->module, CODE);
	buf_put_u64(&ret->module, CODE + 128);
	buf_put_zeros(&ret->module, 10 * 8);
	buf_put_u64(&ret->module, DATA + 4); /* data, too, but the calls in it are not sound */
	buf_put_u64(&ret->module, DATA);
}

#define BESIDE 96u /* bytes of other data in front of the table */

/* Puts other data in front of the table: also what would begin one, were it aligned. */
static void put_beside(struct buf *table)
{
	struct buf all = { 0 };

	buf_put_zeros(&all, 40);
	buf_put(&all, table->bytes, 8);
	buf_put_zeros(&all, BESIDE - all.n);
	buf_put(&all, table->bytes, table->n);
	buf_free(table);
	*table = all;
}

static void make(const struct program *p, struct buf *ret)
{
	static const char names[] = "\0.text\0.gopclntab\0.noptrdata\0.rodata\0.shstrtab\0"
	                            ".data.rel.ro\0.note.go.buildid";
	struct part parts = { 0 };
	Elf64_Ehdr header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB,
		                           EV_CURRENT },
		              .e_type = ET_EXEC,
		              .e_machine = EM_X86_64,
		              .e_version = EV_CURRENT,
		              .e_entry = CODE,
		              .e_ehsize = sizeof(Elf64_Ehdr),
		              .e_shentsize = sizeof(Elf64_Shdr),
		              .e_shnum = 7,
		              .e_shstrndx = 5 };
	Elf64_Shdr sections[7] = { 0 };
	const struct {
		uint32_t name;
		uint64_t flags, address;
		const struct buf *bytes;
	} s[] = { { 1, SHF_ALLOC | SHF_EXECINSTR, CODE, NULL },
		  { p->within ? 47 : 7, SHF_ALLOC, TABLE - (p->within ? BESIDE : 0), &parts.table },
		  { 18, SHF_ALLOC | SHF_WRITE, MODULE, &parts.module },
		  { 29, SHF_ALLOC, DATA, &parts.data } };

	make_parts(p, &parts);
	if (p->within)
		put_beside(&parts.table);
	buf_put(ret, &header, sizeof(header));
	for (unsigned i = 0; i < 4; i++) {
		buf_put_zeros(ret, -ret->n & 15);
		sections[i + 1] = (Elf64_Shdr){ .sh_name = s[i].name,
			                        .sh_type = SHT_PROGBITS,
			                        .sh_flags = s[i].flags,
			                        .sh_addr = s[i].address,
			                        .sh_offset = ret->n,
			                        .sh_size = s[i].bytes ? s[i].bytes->n : 128 };
		if (s[i].bytes)
			buf_put(ret, s[i].bytes->bytes, s[i].bytes->n);
		else
			buf_put_zeros(ret, 128);
	}
	sections[5] = (Elf64_Shdr){
		.sh_name = 37, .sh_type = SHT_STRTAB, .sh_offset = ret->n, .sh_size = sizeof(names)
	};
	sections[6] = (Elf64_Shdr){ .sh_name = p->no_note ? 37 : 60,
		                    .sh_type = SHT_NOTE,
		                    .sh_offset = ret->n,
		                    .sh_size = 4 };
	buf_put(ret, names, sizeof(names));
	buf_put_zeros(ret, -ret->n & 15);
	header.e_shoff = ret->n;
	buf_put(ret, sections, sizeof(sections));
	memcpy(ret->bytes, &header, sizeof(header));
	assert_false(ret->failed);
	buf_free(&parts.table);
	buf_free(&parts.data);
	buf_free(&parts.module);
}

struct depths {
	uint64_t end[8];
	uint32_t depth[8];
	size_t n;
};

static int note_depth(void *ctx, uint64_t start, uint64_t end, uint32_t depth)
{
	struct depths *d = ctx;

	assert_true(d->n < 8);
	assert_true(start == (d->n ? d->end[d->n - 1] : CODE));
	d->end[d->n] = end;
	d->depth[d->n++] = depth;
	return 0;
}

static void check_line(const struct go_line *l, const char *function, unsigned line)
{
	assert_string_equal(l->function, function);
	assert_string_equal(l->file, "/src/main.go");
	assert_int_equal(l->line, line);
}

static void check_program(const struct go_table *t, bool inlined)
{
	struct go_line lines[GO_LINES_MAX];
	struct depths depths = { 0 };
	struct go_function f;

	assert_int_equal(go_table_functions(t), 2);
	assert_int_equal(go_table_find(t, CODE + 63, &f), 1);
	assert_string_equal(f.name, "main.main");
	assert_true(f.start == CODE && f.end == CODE + 64 && !f.outermost);
	assert_int_equal(go_table_each_depth(t, &f, note_depth, &depths), 0);
	assert_int_equal(depths.n, 3);
	assert_true(depths.end[0] == CODE + 4 && depths.end[1] == CODE + 54 &&
	            depths.end[2] == CODE + 64);
	assert_true(depths.depth[0] == 0 && depths.depth[1] == 24 && depths.depth[2] == 0);
	assert_int_equal(go_table_find(t, CODE + 64, &f), 1);
	assert_string_equal(f.name, "runtime.goexit");
	assert_true(f.outermost);
	assert_int_equal(go_table_find(t, CODE + 96, &f), 0);
	assert_int_equal(go_table_find(t, CODE - 1, &f), 0);

	assert_int_equal(go_table_lines(t, CODE + 10, lines), 1);
	check_line(&lines[0], "main.main", 10);
	assert_int_equal(go_table_lines(t, CODE + 25, lines), inlined ? 2 : 1);
	if (inlined) {
		check_line(&lines[0], "main.main", 10);
		check_line(&lines[1], "main.small", 500);
	}
	/* goexit has no lines. */
	assert_int_equal(go_table_lines(t, CODE + 70, lines), 1);
	assert_null(lines[0].file);
	assert_int_equal(lines[0].line, 0);
}

/* What go_table_open said of a program; checks what it opened. */
static int opened(const struct program *p, bool inlined)
{
	struct seam_error err = { 0 };
	struct buf bytes = { 0 };
	struct go_table *t;
	struct image *image;
	int r;

	make(p, &bytes);
	assert_int_equal(image_open_memory(&image, bytes.bytes, bytes.n, "made", &err), 0);
	assert_true(go_table_is_there(image) == !p->no_note);
	r = go_table_open(&t, image);
	if (r == 0) {
		check_program(t, inlined);
		go_table_close(t);
	}
	image_close(image);
	buf_free(&bytes);
	return r;
}

static void test_forms(void **state)
{
	(void)state;
	assert_int_equal(opened(&(struct program){ .go = 2 }, false), 0);
	assert_int_equal(opened(&(struct program){ .go = 16 }, false), 0);
	assert_int_equal(opened(&(struct program){ .go = 18 }, true), 0);
	assert_int_equal(opened(&(struct program){ .go = 20 }, true), 0);
}

/* Go 1.26 leaves the word out of the header; without the module's description it cannot be told. */
static void test_text(void **state)
{
	(void)state;
	assert_int_equal(opened(&(struct program){ .go = 20, .no_text = true }, true), 0);
	assert_int_equal(opened(&(struct program){ .go = 20, .no_module = true }, false), 0);
	assert_int_equal(opened(&(struct program){ .go = 20, .no_text = true, .no_module = true },
	                        false),
	                 -EBADMSG);
}

/* The system's linker puts the table of a position-independent program among other data. */
static void test_within(void **state)
{
	(void)state;
	assert_int_equal(opened(&(struct program){ .go = 2, .within = true }, false), 0);
	assert_int_equal(opened(&(struct program){ .go = 18, .within = true }, true), 0);
	assert_int_equal(opened(&(struct program){ .go = 20, .within = true, .no_text = true },
	                        true),
	                 0);
	assert_int_equal(opened(&(struct program){ .go = 20, .within = true, .no_note = true },
	                        false),
	                 -ENOENT);
}

static void use_all(const unsigned char *bytes, size_t n)
{
	struct seam_error err = { 0 };
	struct go_line lines[GO_LINES_MAX];
	struct go_function f;
	struct buf frames = { 0 };
	struct go_table *t;
	struct image *image;
	size_t total = 0;

	if (image_open_memory(&image, bytes, n, "damaged", &err) < 0)
		return;
	if (go_table_open(&t, image) == 0) {
		for (size_t i = 0; i < go_table_functions(t) && i < 100; i++)
			if (go_table_function(t, i, &f)) {
				assert_true(f.start >= CODE - 4096 || f.end > f.start);
				total += strlen(f.name);
				for (uint64_t at = f.start; at < f.end && at < f.start + 256;
				     at += 7)
					for (size_t k = go_table_lines(t, at, lines); k--;)
						total +=
						        strlen(lines[k].function) +
						        (lines[k].file ? strlen(lines[k].file) : 0);
			}
		go_table_close(t);
	}
	go_frames_make(image, &frames);
	assert_true(frames.n < (1 << 20));
	assert_true(total < 1000000000);
	buf_free(&frames);
	image_close(image);
}

static void test_damage(void **state)
{
	static const unsigned forms[] = { 2, 16, 18, 20 };
	const uint64_t bad[] = { 0,          1,          0x7f,      0x80,       0xff, INT32_MAX,
		                 UINT32_MAX, UINT64_MAX, INT64_MAX, 1ULL << 32, CODE, TABLE };

	(void)state;
	srandom(7);
	for (unsigned form = 0; form < 4; form++) {
		struct buf bytes = { 0 };
		unsigned char *copy;

		make(&(struct program){ .go = forms[form], .within = form % 2 }, &bytes);
		copy = malloc(bytes.n);
		assert_non_null(copy);
		for (unsigned round = 0; round < 4000; round++) {
			memcpy(copy, bytes.bytes, bytes.n);
			for (unsigned i = 0; i < 1 + round % 4; i++) {
				size_t width = 1u << (random() % 4),
				       at = 64 + (size_t)random() % (bytes.n - 72);
				uint64_t v = random() % 4 ? bad[(size_t)random() %
				                                (sizeof(bad) / sizeof(bad[0]))]
				                          : (uint64_t)random();

				memcpy(copy + at, &v, width);
			}
			use_all(copy, bytes.n);
		}
		free(copy);
		buf_free(&bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_within),
		cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
