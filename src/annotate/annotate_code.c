// SPDX-License-Identifier: MIT
/*
 * annotate_code.c: a function's bytes as instructions, with the lines they stand for and the
 * samples that hit them.
 *
 * Invariant: every sample of the function is in exactly one instruction, or in `outside`.
 *
 * Addresses come in two terms: the profile's own (as symbols count) and those of the object's file
 * or sections. `origin` is the difference. A kernel is found by its _text, a module by its .text, a
 * file needs nothing.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "annotate/annotate.h"
#include "resolve/lines.h"
#include "profile/nameless.h"

struct annotate_code {
	struct annotate *a;
	struct annotate_function *f;
	struct image *image;
	struct image_search search;
	struct image_build_id build_id;
	const char *path; /* for people; a file's is where it is looked for */
	struct symbol_object *object;
	enum lines_terms terms;
	bool is_proven;  /* the image is what was recorded */
	uint64_t origin; /* the address, as the function's are, that terms count from; FILE: 0 */
	struct annotate_bytes bytes; /* f->size of them */
};

/* The symbol cache's object of the same name and build-id. NULL: nothing was asked of it while
 * naming. */
static struct symbol_object *code_object(const struct annotate_code *c)
{
	struct symbol_object *o;

	for (size_t i = 0; (o = symbol_object_at(c->a->load.symbols, i)); i++) {
		const struct symbol_key *key = symbol_object_key(o);

		if (!strcmp(symbol_object_name(o), c->path) &&
		    (c->build_id.size ? image_build_id_equal(&key->build_id, &c->build_id)
		                      : !key->build_id.size))
			return o;
	}
	return NULL;
}

/* Reads a build-id from hexadecimal digits, which is how a profile keeps it. */
static void code_build_id(struct annotate_code *c, const char *hex)
{
	unsigned byte;

	for (; c->build_id.size < IMAGE_BUILD_ID_MAX && sscanf(hex, "%2x", &byte) == 1; hex += 2)
		c->build_id.bytes[c->build_id.size++] = (uint8_t)byte;
}

/* Where the function begins and ends: what the symbol table, or else the unwind information, says
 * of a sampled address. -ENOENT: neither says. */
static int code_bounds(struct annotate_code *c)
{
	struct symbol symbol;

	if (!c->object || symbol_at(c->object, c->f->vaddrs[0], &symbol) <= 0 || !symbol.size)
		return -ENOENT;
	c->f->start = symbol.start;
	c->f->size = symbol.size < ANNOTATE_BYTES_MAX ? symbol.size : ANNOTATE_BYTES_MAX;
	return 0;
}

/* Whether the function's code is in this section, and at which offset. A module's code begins with
 * its .text. */
static bool code_is_in(const struct annotate_code *c, const struct image_section *section,
                       uint64_t text, uint64_t *into)
{
	uint64_t at = c->f->start - c->origin + text;

	if (image_is_relocatable(c->image)) {
		*into = at;
		return !strcmp(section->name, ".text") && at < section->memory_size;
	}
	/* Sections without an address (debugging information) hold no code. */
	*into = at - section->vaddr;
	return section->vaddr && at >= section->vaddr && *into < section->memory_size;
}

/* Finds the function's bytes in the image's sections. -ENOENT: they are not there. */
static int code_bytes(struct annotate_code *c)
{
	struct image_section section;
	uint64_t text = 0, into;

	if (c->terms == LINES_KERNEL && image_symbol_value(c->image, "_text", &text) < 0)
		return -ENOENT;
	for (size_t i = 0; image_section_at(c->image, i, &section) >= 0; i++) {
		if (!code_is_in(c, &section, text, &into))
			continue;
		if (image_section_load(c->image, &section) < 0 || !section.bytes ||
		    into >= section.n)
			return -ENOENT;
		/* A symbol's size may be wrong. */
		if (c->f->size > section.n - into)
			c->f->size = section.n - into;
		c->bytes =
		        (struct annotate_bytes){ .bytes = section.bytes + into,
			                         .machine = image_machine(c->image),
			                         .is_big_endian = image_is_big_endian(c->image) };
		return 0;
	}
	return -ENOENT;
}

/* Gives each sample to the instruction that holds its address. Without instructions all are
 * outside. A binary search: instructions lie one behind the other. */
static void code_count(struct annotate_function *f)
{
	for (size_t i = 0; i < f->n; i++) {
		struct annotate_count *to = &f->outside;
		size_t low = 0, high = f->n_insns;

		while (low < high) {
			size_t middle = (low + high) / 2;

			if (f->insns[middle].address <= f->vaddrs[i])
				low = middle + 1;
			else
				high = middle;
		}
		if (low && f->vaddrs[i] - f->insns[low - 1].address < f->insns[low - 1].size)
			to = &f->insns[low - 1].count;
		to->samples += f->counts[i].samples;
		to->weight += f->counts[i].weight;
	}
}

/* The most weight first; then by file and line, so that the order is the same in every run. */
static int code_line_order(const void *pa, const void *pb)
{
	const struct annotate_hot_line *a = pa, *b = pb;

	if (a->count.weight != b->count.weight)
		return a->count.weight > b->count.weight ? -1 : 1;
	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	return a->line < b->line ? -1 : a->line > b->line;
}

/* Sums the samples by source line, the most first. -ENOMEM. */
static int code_sum_lines(struct annotate_function *f)
{
	struct map index = { 0 };
	int r = 0;

	f->lines = calloc(f->n_insns + 1, sizeof(*f->lines));
	if (!f->lines)
		return -ENOMEM;
	for (size_t i = 0; i < f->n_insns && r >= 0; i++) {
		const struct annotate_insn *insn = &f->insns[i];
		bool is_new;
		uint64_t *slot;

		/* An instruction without samples, or whose line is not known, is in no sum. */
		if (!insn->count.samples || !insn->line)
			continue;
		slot = map_slot(&index, (uint64_t)insn->file << 32 | insn->line, &is_new);
		if (!slot) {
			r = -ENOMEM;
			break;
		}
		if (is_new) {
			f->lines[f->n_lines] = (struct annotate_hot_line){ .file = insn->file,
				                                           .line = insn->line };
			*slot = f->n_lines++;
		}
		f->lines[*slot].count.samples += insn->count.samples;
		f->lines[*slot].count.weight += insn->count.weight;
	}
	map_free(&index);
	qsort(f->lines, f->n_lines, sizeof(*f->lines), code_line_order);
	return r;
}

/* Each instruction's line: where it was written, inlined or not. -ENOMEM; f->lines_reason says why
 * there are none. */
static int code_lines_of(struct annotate_code *c, struct lines *lines)
{
	struct annotate_function *f = c->f;
	struct lines_object *object = NULL;
	struct lines_at at;
	int r = lines_object(lines, c->terms, symbol_object_key(c->object)->path, &c->build_id,
	                     &object);

	/* All are asked for first: they are answered in one pass over the debugging information. */
	for (size_t i = 0; i < f->n_insns && r >= 0; i++)
		r = lines_want(object, f->insns[i].address - c->origin);
	if (r >= 0)
		r = lines_resolve(lines);
	for (size_t i = 0; i < f->n_insns && r >= 0; i++) {
		struct annotate_insn *insn = &f->insns[i];
		const struct lines_frame *frame;

		r = lines_find(object, insn->address - c->origin, &at);
		if (r <= 0 || !at.n)
			continue;
		/* The last frame is the innermost of those inlined: where the code was written. */
		frame = &at.frames[at.n - 1];
		if (!frame->file[0] || !frame->line)
			continue;
		insn->file = intern_text(&c->a->files, frame->file);
		insn->line = frame->line;
		if (insn->file == INTERN_FAILED ||
		    (c->is_proven &&
		     annotate_source_named(c->a, insn->file, image_path(c->image)) < 0))
			return -ENOMEM;
	}
	if (object)
		snprintf(f->lines_reason, sizeof(f->lines_reason), "%s",
		         lines_object_reason(object));
	return r < 0 ? r : 0;
}

/* Lines of one function, with a cache that lives as long as the question. */
static int code_lines(struct annotate_code *c)
{
	const struct lines_opts opts = { .sz = sizeof(opts), .search = c->search };
	struct lines *lines;
	int r = lines_new(&lines, &opts);

	if (r < 0)
		return r;
	r = code_lines_of(c, lines);
	lines_free(lines);
	return r;
}

/* The code of a file that was found. 0 also if the function is not in it (f->reason). */
static int code_of_image(struct annotate_code *c)
{
	int r;

	if (code_bounds(c) < 0 || code_bytes(c) < 0) {
		snprintf(c->f->reason, sizeof(c->f->reason),
		         "%.400s: the function's code is not in the file", c->path);
		return 0;
	}
	r = annotate_disassemble(c->f, &c->bytes);
	return r < 0 || !c->f->n_insns ? r : code_lines(c);
}

/* The file, opened now or still open from an earlier function of the object. */
static int code_image(struct annotate_code *c, const char *path, struct seam_error *err)
{
	struct annotate *a = c->a;
	struct annotate_image *place;
	int r;

	c->is_proven = image_is_proven(path, &c->build_id, &c->search);
	for (size_t i = 0; i < ANNOTATE_IMAGES; i++) {
		if (a->images[i].object && a->images[i].object == c->f->object) {
			c->image = a->images[i].image;
			return 0;
		}
	}
	r = image_find(&c->image, path, &c->build_id, &c->search, NULL, err);
	if (r < 0)
		return r;
	place = &a->images[a->next_image++ % ANNOTATE_IMAGES];
	image_close(place->image);
	*place = (struct annotate_image){ c->f->object, c->image };
	return r;
}

void annotate_images_free(struct annotate *a)
{
	for (size_t i = 0; i < ANNOTATE_IMAGES; i++) {
		image_close(a->images[i].image);
		a->images[i] = (struct annotate_image){ 0 };
	}
}

/* Finds the file that has the object's code; -ENOENT: there is none. */
static int code_open(struct annotate_code *c, struct seam_error *err)
{
	const struct symbol_key *key = c->object ? symbol_object_key(c->object) : NULL;
	const char *path = c->path;

	if (key && key->kind != SYMBOL_KIND_FILE) {
		if (symbol_object_origin(c->object, &c->origin) < 0)
			return seam_error_set(err, ENOENT, c->path, SEAM_NO_OFFSET, NULL,
			                      "no code of it can be shown");
		c->terms = key->kind == SYMBOL_KIND_KERNEL ? LINES_KERNEL : LINES_MODULE;
		path = key->path;
	} else if (c->path[0] != '/') {
		return seam_error_set(err, ENOENT, c->path[0] ? c->path : SYMBOL_UNKNOWN,
		                      SEAM_NO_OFFSET, NULL, "no file whose code seam could show");
	}
	return code_image(c, path, err);
}

/* Whether the code is of no file, so that only a jitdump can have it. */
static bool code_is_jit(const struct annotate_code *c)
{
	const struct symbol_key *key = c->object ? symbol_object_key(c->object) : NULL;

	return key && (key->kind == SYMBOL_KIND_ANON || key->kind == SYMBOL_KIND_JIT);
}

/* What all questions about one object begin with. */
static struct annotate_code code_start(struct annotate *a, uint32_t object)
{
	const struct profile *p = a->load.profile;
	const struct profile_object *o = profile_object_at(p, object);
	struct annotate_code c = { .a = a, .search = *a->search, .path = profile_text(p, o->path) };

	c.search.file_identity = &a->rec->identity;
	code_build_id(&c, profile_text(p, o->build_id));
	c.object = code_object(&c);
	return c;
}

/* Names what is at an address of an object: a->name. 1; 0: nothing is known there; -ENOMEM. */
int annotate_name_at(struct annotate *a, uint32_t object, uint64_t vaddr)
{
	const struct annotate_code c = code_start(a, object);
	struct symbol symbol;
	int r = c.object ? symbol_at(c.object, vaddr, &symbol) : 0;

	if (r <= 0)
		return r;
	buf_clear(&a->place);
	if (symbol.name)
		buf_put_text(&a->place, symbol.name);
	else
		nameless_put(&a->place, symbol_object_short_name(c.object), symbol.start);
	a->name = buf_text(&a->place);
	return a->place.failed ? -ENOMEM : 1;
}

/* That the code is not to be had is no failure: .reason says why. */
int annotate_code(struct annotate *a, struct annotate_function *f)
{
	struct annotate_code c = code_start(a, f->object);
	struct seam_error err = { 0 };
	int r;

	c.f = f;
	c.search.kernel_release = a->kernel_release;
	if (c.object && symbol_object_key(c.object)->kind == SYMBOL_KIND_RUNTIME) {
		r = annotate_python(a, f);
		code_count(f);
		return r < 0 ? r : code_sum_lines(f);
	}
	if (code_is_jit(&c)) {
		r = annotate_jit(a, f, symbol_object_key(c.object)->pid);
		code_count(f);
		return r < 0 ? r : code_sum_lines(f);
	}
	r = code_open(&c, &err);
	if (r < 0 && r != -ENOMEM) {
		snprintf(f->reason, sizeof(f->reason), "%.500s", err.text);
		r = 0;
	} else if (r >= 0) {
		r = code_of_image(&c);
	}
	code_count(f);
	return r < 0 ? r : code_sum_lines(f);
}
