// SPDX-License-Identifier: MIT
/*
 * go_table.c: see go_table.h.
 *
 * A table is a header; the list of functions: address and where a description stands, the end of
 * the code behind the last; descriptions; names; files; and lists of values by address (of depth,
 * file, line, number of an inlined call), which are packed as differences. Since Go 1.18 addresses
 * count from the begin of Go's own code. Where that is, the header says until Go 1.25; else the
 * runtime's description of the module does (go_module.c).
 */
#include "image/go_table.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "image/go_module.h"

/* The first word of each form, and the version of Go that brought it. */
static const struct go_form_word {
	uint32_t magic;
	unsigned go;
} go_forms[] = { { 0xfffffffb, 2 }, { 0xfffffffa, 16 }, { 0xfffffff0, 18 }, { 0xfffffff1, 20 } };

struct go_table {
	const unsigned char *bytes;
	size_t n;
	bool swap;
	unsigned go;             /* the form: Go 1.2, 1.16, 1.18 or 1.20 */
	unsigned word;           /* bytes of an address: 4 or 8 */
	unsigned quantum;        /* bytes of the shortest instruction */
	uint64_t text;           /* what addresses count from; 0 before Go 1.18 */
	uint64_t code, code_end; /* of .text */
	size_t n_functions, n_files;
	/* Offsets in the table: of the list of functions, of what descriptions' offsets count from,
	 * and of the names, units' lists of files, files, and lists of values. */
	size_t list, info, names, units, files, values;
	struct go_module module;
};

/* ---- words ---- */

static struct cursor go_at(const struct go_table *t, uint64_t offset)
{
	struct cursor c = cursor_of(t->bytes, t->n, t->swap);

	cursor_seek(&c, offset);
	return c;
}

static uint64_t go_address(const struct go_table *t, struct cursor *c)
{
	return t->word == 8 ? cursor_u64(c) : cursor_u32(c);
}

/* A text of the table that is not empty; NULL: there is none. */
static const char *go_text(const struct go_table *t, uint64_t base, uint64_t offset)
{
	struct cursor c;
	const char *text;

	if (offset > t->n || base > t->n)
		return NULL;
	c = go_at(t, base + offset);
	text = cursor_string(&c);
	return text && *text ? text : NULL;
}

/* ---- functions ---- */

/* Bytes of a function's entry in the list: its address, and where its description stands. */
static size_t go_entry_bytes(const struct go_table *t)
{
	return t->go >= 18 ? 8 : 2 * (size_t)t->word;
}

/* The address of a function, or, for the one behind the last, of the end of the code. */
static uint64_t go_start(const struct go_table *t, size_t i)
{
	struct cursor c = go_at(t, t->list + i * go_entry_bytes(t));

	return t->go >= 18 ? t->text + cursor_u32(&c) : go_address(t, &c);
}

size_t go_table_functions(const struct go_table *t)
{
	return t->n_functions;
}

/* Whether a function is the first of a stack. Descriptions since Go 1.17 have a mark for it, which
 * signal handlers bear as well; but what these interrupted goes on. */
static bool go_is_outermost(const char *name)
{
	static const char *const names[] = { "runtime.goexit", "runtime.mstart", "runtime.rt0_go" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/* What stands in a description behind the address, in all forms; then what only some have. */
struct go_info {
	uint32_t name, depths, files, lines, n_numbers, unit;
	uint8_t n_pointers;
	size_t numbers; /* offset of the lists of more values, n_numbers of them */
};

/* Reads the description of a function. False: it does not lie within the table. */
static bool go_info_read(const struct go_table *t, size_t at, struct go_info *ret)
{
	struct cursor c = go_at(t, at);

	if (t->go >= 18)
		cursor_u32(&c);
	else
		go_address(t, &c);
	ret->name = cursor_u32(&c);
	cursor_u32(&c); /* bytes of arguments */
	cursor_u32(&c); /* where deferred calls return */
	ret->depths = cursor_u32(&c);
	ret->files = cursor_u32(&c);
	ret->lines = cursor_u32(&c);
	ret->n_numbers = cursor_u32(&c);
	ret->unit = t->go >= 16 ? cursor_u32(&c) : 0;
	if (t->go >= 20)
		cursor_u32(&c); /* its first line */
	cursor_bytes(&c, 3);    /* which of the runtime's own functions it is, marks */
	ret->n_pointers = cursor_u8(&c);
	ret->numbers = cursor_offset(&c);
	return !c.failed;
}

/* ---- values by address ---- */

/* A list that is being read: the value holds from start to end. */
struct go_values {
	struct cursor c;
	unsigned quantum;
	uint64_t start, end;
	int32_t value;
};

static uint32_t go_varint(struct cursor *c)
{
	uint32_t value = 0;

	for (unsigned shift = 0; shift < 35; shift += 7) {
		uint8_t byte = cursor_u8(c);

		value |= shift < 32 ? (uint32_t)(byte & 0x7f) << shift : 0;
		if (!(byte & 0x80))
			return value;
	}
	cursor_fail(c);
	return 0;
}

/* Begins to read the list at an offset; 0: the function has none. */
static struct go_values go_values_of(const struct go_table *t, const struct go_function *f,
                                     uint32_t offset)
{
	struct go_values v = { .quantum = t->quantum, .end = f->start, .value = -1 };

	v.c = go_at(t, t->values + (uint64_t)offset);
	if (!offset)
		cursor_fail(&v.c);
	return v;
}

/* The next value, and its span, cut at the end of the function. False: there is no more. */
static bool go_values_next(struct go_values *v, const struct go_function *f)
{
	uint32_t change = go_varint(&v->c), bytes;

	/* A change of nothing ends the list, unless it is the first. */
	if (v->c.failed || (!change && v->end != f->start) || v->end >= f->end)
		return false;
	bytes = go_varint(&v->c);
	if (v->c.failed || !bytes)
		return false;
	v->value = (int32_t)((uint32_t)v->value + (change & 1 ? ~(change >> 1) : change >> 1));
	v->start = v->end;
	v->end += (uint64_t)bytes * v->quantum;
	if (v->end > f->end)
		v->end = f->end;
	return true;
}

/* The value at an address; -1: none. */
static int32_t go_value_at(const struct go_table *t, const struct go_function *f, uint32_t offset,
                           uint64_t addr)
{
	struct go_values v = go_values_of(t, f, offset);

	while (go_values_next(&v, f))
		if (addr < v.end)
			return v.value;
	return -1;
}

/* Where the list ends: at the last instruction's end. Behind that the next function's begin may be
 * padding away. Without a list the function ends where the next one begins. */
static uint64_t go_values_end(const struct go_table *t, const struct go_function *f,
                              uint32_t offset)
{
	struct go_values v = go_values_of(t, f, offset);

	while (go_values_next(&v, f)) {
	}
	return v.end > f->start ? v.end : f->end;
}

/* ---- functions ---- */

/* Reads an entry of the list, and as much of its description as is needed for its name. */
int go_table_function(const struct go_table *t, size_t i, struct go_function *ret)
{
	struct cursor c = go_at(t, t->list + i * go_entry_bytes(t));
	struct go_info info;
	uint64_t offset;

	if (i >= t->n_functions)
		return 0;
	ret->start = go_start(t, i);
	ret->end = go_start(t, i + 1);
	if (t->go >= 18)
		cursor_u32(&c);
	else
		go_address(t, &c);
	offset = t->go >= 18 ? cursor_u32(&c) : go_address(t, &c);
	if (ret->start < t->code || ret->end <= ret->start || ret->end > t->code_end ||
	    offset > t->n || !go_info_read(t, t->info + offset, &info))
		return 0;
	ret->at = t->info + offset;
	ret->name = go_text(t, t->names, info.name);
	if (!ret->name)
		return 0;
	ret->end = go_values_end(t, ret, info.depths);
	ret->outermost = go_is_outermost(ret->name);
	return 1;
}

int go_table_find(const struct go_table *t, uint64_t addr, struct go_function *ret)
{
	size_t low = 0, high = t->n_functions;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (go_start(t, middle) <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low && go_table_function(t, low - 1, ret) && addr < ret->end;
}

/* Depths are whole words, and none is deeper than a stack may be. */
#define GO_DEPTH_MAX (1u << 30)

int go_table_each_depth(const struct go_table *t, const struct go_function *f,
                        int (*each)(void *ctx, uint64_t start, uint64_t end, uint32_t depth),
                        void *ctx)
{
	struct go_info info;
	struct go_values v;
	int r = 0;

	if (!go_info_read(t, f->at, &info))
		return 0;
	v = go_values_of(t, f, info.depths);
	while (!r && go_values_next(&v, f)) {
		if (v.value < 0 || (uint32_t)v.value > GO_DEPTH_MAX || (uint32_t)v.value % t->word)
			break;
		r = each(ctx, v.start, v.end, (uint32_t)v.value);
	}
	return r;
}

/* ---- files, lines, inlined calls ---- */

/* The name of a function's file with that number; NULL: not known. */
static const char *go_file(const struct go_table *t, const struct go_info *info, int32_t number)
{
	struct cursor c;
	uint32_t at;

	if (number < 0)
		return NULL;
	if (t->go >= 16) {
		c = go_at(t, t->units + 4 * ((uint64_t)info->unit + (uint32_t)number));
		at = cursor_u32(&c);
		return c.failed || at == UINT32_MAX ? NULL : go_text(t, t->files, at);
	}
	if ((size_t)number >= t->n_files)
		return NULL;
	c = go_at(t, t->files + 4 * (uint64_t)(uint32_t)number);
	return go_text(t, 0, cursor_u32(&c));
}

#define GO_NUMBERS_INLINED 2u  /* which list of values has numbers of inlined calls */
#define GO_POINTERS_INLINED 3u /* and which pointer the calls themselves */

/* The inlined call with a number: whose code it is, and where in the function around it it was
 * called from. False: not known. */
static bool go_inlined(const struct go_table *t, const struct go_function *f,
                       const struct go_info *info, int32_t number, const char **ret_name,
                       uint64_t *ret_caller)
{
	const unsigned char *bytes;
	struct cursor c = go_at(t, info->numbers + 4 * (uint64_t)info->n_numbers +
	                                   4 * (uint64_t)GO_POINTERS_INLINED);
	size_t size = t->go >= 20 ? 16 : 20;
	uint32_t offset = cursor_u32(&c), name, caller;

	if (number < 0 || t->go < 18 || info->n_pointers <= GO_POINTERS_INLINED || c.failed ||
	    offset == UINT32_MAX)
		return false;
	bytes = go_module_data(&t->module, (uint64_t)offset + size * (uint64_t)(uint32_t)number,
	                       size);
	if (!bytes)
		return false;
	c = cursor_of(bytes, size, t->swap);
	cursor_seek(&c, t->go >= 20 ? 4 : 12);
	name = cursor_u32(&c);
	caller = cursor_u32(&c);
	if (!go_text(t, t->names, name) || caller >= f->end - f->start)
		return false;
	*ret_name = go_text(t, t->names, name);
	*ret_caller = f->start + caller;
	return true;
}

/* From the code outwards: a call that was inlined says where in the function it was called from,
 * and there the next one may be. Fills ret with the innermost first; returns how many. */
static size_t go_lines_outwards(const struct go_table *t, const struct go_function *f,
                                const struct go_info *info, uint64_t addr, struct go_line *ret)
{
	struct cursor c = go_at(t, info->numbers + 4 * (uint64_t)GO_NUMBERS_INLINED);
	uint32_t numbers = info->n_numbers > GO_NUMBERS_INLINED ? cursor_u32(&c) : 0;
	size_t n = 0;

	for (;;) {
		int32_t line = go_value_at(t, f, info->lines, addr);
		int32_t inlined = go_value_at(t, f, numbers, addr);
		uint64_t caller;

		ret[n] = (struct go_line){
			.function = f->name,
			.file = go_file(t, info, go_value_at(t, f, info->files, addr)),
			.line = line > 0 ? (uint32_t)line : 0,
		};
		if (!go_inlined(t, f, info, inlined, &ret[n].function, &caller))
			return n + 1;
		if (++n == GO_LINES_MAX)
			break;
		addr = caller;
	}
	/* Calls without an end are damage: what is sure is the function. */
	ret[0] = (struct go_line){ .function = f->name };
	return 1;
}

/* Turns the calls round: readers want the function first, then what was inlined into it. */
size_t go_table_lines(const struct go_table *t, uint64_t addr, struct go_line *ret)
{
	struct go_function f;
	struct go_info info;
	size_t n;

	if (!go_table_find(t, addr, &f) || !go_info_read(t, f.at, &info))
		return 0;
	n = go_lines_outwards(t, &f, &info, addr, ret);
	for (size_t i = 0; i < n / 2; i++) {
		struct go_line other = ret[i];

		ret[i] = ret[n - 1 - i];
		ret[n - 1 - i] = other;
	}
	return n;
}

/* ---- opening ---- */

/* Functions whose inlined calls are looked at to tell that their data are found. */
#define GO_PROOFS 256u

/* Whether the inlined calls of all these are sound: their names begin where a name begins, and the
 * first of them was called from within the function. */
static bool go_data_is_sound(const struct go_table *t)
{
	unsigned seen = 0;

	for (size_t i = 0; i < t->n_functions && seen < GO_PROOFS; i++) {
		struct go_function f;
		struct go_info info;
		struct cursor c;
		const char *name;
		uint64_t caller;

		if (!go_table_function(t, i, &f) || !go_info_read(t, f.at, &info) ||
		    info.n_pointers <= GO_POINTERS_INLINED)
			continue;
		c = go_at(t, info.numbers + 4 * ((uint64_t)info.n_numbers + GO_POINTERS_INLINED));
		if (cursor_u32(&c) == UINT32_MAX || c.failed)
			continue;
		if (!go_inlined(t, &f, &info, 0, &name, &caller) || name[-1])
			return false;
		seen++;
	}
	return seen != 0;
}

/* Finds what the runtime's description of the program tells: where addresses count from, and where
 * the functions' own data are. Which of its words says the latter differs; the data prove it. */
static int go_module_take(struct go_table *t, struct image *image, uint64_t address)
{
	struct cursor c = go_at(t, t->list), end;
	size_t behind, last;
	int r;

	end = go_at(t, t->list + t->n_functions * go_entry_bytes(t));
	r = go_module_find(&t->module, image, address, t->word, t->swap);
	if (r >= 0)
		r = go_module_text(&t->module, cursor_u32(&c), cursor_u32(&end), t->code,
		                   t->code_end, &t->text, &behind);
	if (r < 0)
		return r;
	last = t->module.n_words;
	for (size_t i = behind; i < last; i++)
		if (go_module_set_data(&t->module, i) && go_data_is_sound(t))
			return 0;
	t->module.data.bytes = NULL; /* no inlined calls, then */
	return 0;
}

/* Where addresses of Go 1.18 and later count from. The header's own word is right where it is not
 * zero: it is until Go 1.25, but in position-independent programs. */
static int go_find_text(struct go_table *t, struct image *image, uint64_t address, uint64_t said)
{
	if (t->go < 18)
		return 0;
	t->text = said;
	if (go_module_take(t, image, address) >= 0)
		return said && said != t->text ? -EBADMSG : 0;
	t->text = said;
	return said ? 0 : -EBADMSG;
}

#define GO_BEGIN 8u

/* The form of a table that begins with these bytes: its word, two bytes of 0, the quantum, how many
 * bytes an address has. 0: none does. */
static unsigned go_form(const unsigned char *bytes, bool swap)
{
	struct cursor c = cursor_of(bytes, GO_BEGIN, swap);
	const uint32_t magic = cursor_u32(&c);
	const uint16_t zero = cursor_u16(&c);
	const uint8_t quantum = cursor_u8(&c), word = cursor_u8(&c);

	if (zero || (quantum != 1 && quantum != 2 && quantum != 4) || (word != 4 && word != 8))
		return 0;
	for (size_t i = 0; i < sizeof(go_forms) / sizeof(go_forms[0]); i++)
		if (go_forms[i].magic == magic)
			return go_forms[i].go;
	return 0;
}

/* Reads what the header says, form by form; before Go 1.16 files stand behind the functions.
 * *ret_text: what it says of where addresses count from. */
static int go_header(struct go_table *t, uint64_t *ret_text)
{
	struct cursor c = cursor_of(t->bytes, t->n, t->swap);

	t->go = t->n < GO_BEGIN ? 0 : go_form(t->bytes, t->swap);
	if (!t->go)
		return -EBADMSG;
	cursor_seek(&c, GO_BEGIN - 2);
	t->quantum = cursor_u8(&c);
	t->word = cursor_u8(&c);
	*ret_text = 0;
	t->n_functions = go_address(t, &c);
	if (t->go >= 16) {
		t->n_files = go_address(t, &c);
		if (t->go >= 18)
			*ret_text = go_address(t, &c);
		t->names = go_address(t, &c);
		t->units = go_address(t, &c);
		t->files = go_address(t, &c);
		t->values = go_address(t, &c);
		t->info = t->list = go_address(t, &c);
	} else {
		t->list = cursor_offset(&c);
	}
	if (c.failed || t->list > t->n || t->names > t->n || t->units > t->n || t->files > t->n ||
	    t->values > t->n || t->n_functions >= (t->n - t->list) / go_entry_bytes(t))
		return -EBADMSG;
	if (t->go < 16) {
		c = go_at(t, t->list + t->n_functions * go_entry_bytes(t) + t->word);
		t->files = cursor_u32(&c);
		c = go_at(t, t->files);
		t->n_files = cursor_u32(&c);
	}
	return c.failed || !t->n_functions ? -EBADMSG : 0;
}

/* Whether all functions stand in ascending order within the code. */
static bool go_is_in_order(const struct go_table *t)
{
	uint64_t before = t->code;

	for (size_t i = 0; i <= t->n_functions; i++) {
		uint64_t start = go_start(t, i);

		if (start < before || start > t->code_end)
			return false;
		before = start;
	}
	return true;
}

#define GO_NOTE ".note.go.buildid" /* of Go's linker */
#define GO_WITHIN ".data.rel.ro"
#define GO_ALIGNED 32u /* to so many bytes its linker aligns the table */
/* Of position-independent programs before Go 1.26 that the system's linker linked, which puts all
 * such data into one section. */
static int go_section_within(struct image *image, bool swap, struct image_section *ret)
{
	struct image_section s;
	int r = image_section_beside(image, GO_NOTE, &s);

	if (r >= 0)
		r = image_section(image, GO_WITHIN, &s);
	if (r < 0)
		return r;
	for (size_t at = -s.vaddr % GO_ALIGNED; s.n >= GO_BEGIN && at <= s.n - GO_BEGIN;
	     at += GO_ALIGNED) {
		if (!go_form(s.bytes + at, swap))
			continue;
		s.bytes += at;
		s.n -= at;
		s.vaddr += at;
		*ret = s;
		return 0;
	}
	return -ENOENT;
}

/* Where it has a section of its own: the second is that of position-independent programs before Go
 * 1.26. */
static const char *const go_sections[] = { ".gopclntab", ".data.rel.ro.gopclntab" };

static int go_section(struct image *image, bool swap, struct image_section *ret)
{
	int r = image_section(image, go_sections[0], ret);

	if (r == -ENOENT)
		r = image_section(image, go_sections[1], ret);
	return r == -ENOENT ? go_section_within(image, swap, ret) : r;
}

bool go_table_is_there(struct image *image)
{
	struct image_section section;

	for (size_t i = 0; i < sizeof(go_sections) / sizeof(go_sections[0]); i++)
		if (image_section_beside(image, go_sections[i], &section) == 0)
			return true;
	return image_section_beside(image, GO_NOTE, &section) == 0 &&
	       image_section_beside(image, GO_WITHIN, &section) == 0;
}

/* Reads the header, learns where the code is, and looks at all addresses once. */
int go_table_open(struct go_table **ret, struct image *image)
{
	const uint16_t one = 1;
	const bool swap = image_is_big_endian(image) == *(const unsigned char *)&one;
	struct image_section section, code;
	struct go_table *t;
	uint64_t text;
	int r = go_section(image, swap, &section);

	if (r < 0)
		return r;
	/* The code's bytes, not what its header claims, bound how much there can be to read: they
	 * must be there, and are not looked at. */
	if (!section.bytes || image_section_beside(image, ".text", &code) < 0 || !code.n ||
	    code.n > UINT64_MAX - code.vaddr)
		return -ENOENT;
	t = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	*t = (struct go_table){
		.bytes = section.bytes,
		.n = section.n,
		.swap = swap,
		.code = code.vaddr,
		.code_end = code.vaddr + code.n,
	};
	r = go_header(t, &text);
	if (r >= 0)
		r = go_find_text(t, image, section.vaddr, text);
	if (r >= 0 && !go_is_in_order(t))
		r = -EBADMSG;
	if (r < 0)
		go_table_close(t);
	else
		*ret = t;
	return r;
}

void go_table_close(struct go_table *t)
{
	free(t);
}
