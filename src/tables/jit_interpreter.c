// SPDX-License-Identifier: MIT
/*
 * jit_interpreter.c: see jit_interpreter.h. Each file is looked into once; the file of a process is
 * found among those that it maps, by its symbols: the interpreter may be the program, a library, or
 * part of another program.
 *
 * CPython (-X perf) copies one small piece of its own code, the trampoline, for each Python
 * function. When the process has ended its memory cannot be read any more, but the bytes are still
 * in its file.
 */
#include "tables/jit_interpreter.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "symbol/symbol.h"

#define CODE_MAX 256u  /* bytes of a copy */
#define FILES_MAX 512u /* of a process that are looked into */
#define COPY_ALIGN 16u

/* What a file has to copy, and what a process copies; n 0: nothing. */
struct copied {
	const unsigned char *code;
	size_t n;
};

struct jit_interpreter {
	struct symbol_cache *symbols;
	const struct symbol_opts *opts;
	struct map by_file; /* hash of path and build-id -> struct copied * */
	struct map by_pid;  /* -> the same */
	struct arena arena;
};

int jit_interpreter_new(struct jit_interpreter **ret, const struct symbol_opts *symbols)
{
	struct jit_interpreter *p = calloc(1, sizeof(*p));
	int r = p ? symbol_new(&p->symbols, symbols) : -ENOMEM;

	if (r < 0) {
		free(p);
		return r;
	}
	p->opts = symbols;
	*ret = p;
	return 0;
}

/* NULL is allowed. Code that was given out is gone with it. */
void jit_interpreter_free(struct jit_interpreter *p)
{
	if (!p)
		return;
	symbol_free(p->symbols);
	map_free(&p->by_file);
	map_free(&p->by_pid);
	arena_free(&p->arena);
	free(p);
}

/* ---- what a file has ---- */

struct interpreter_span {
	uint64_t start, end;
};

/* A callback of image_each_symbol: 1 ends the search. */
static int span_take(void *ctx, const struct image_symbol *symbol)
{
	struct interpreter_span *span = ctx;

	if (!strcmp(symbol->name, "_Py_trampoline_func_start"))
		span->start = symbol->value;
	else if (!strcmp(symbol->name, "_Py_trampoline_func_end"))
		span->end = symbol->value;
	return span->start && span->end;
}

/* The bytes between the two symbols, into *ret; without them nothing. -ENOMEM. */
static int copied_read(struct jit_interpreter *p, struct image *image, struct copied *ret)
{
	struct image_section text;
	struct interpreter_span span = { 0 };
	const unsigned char *code;
	void *buf;
	int r;

	/* Most interpreters export the symbols; of a static one the table of all symbols is
	 * asked. */
	if (image_each_symbol(image, SHT_DYNSYM, span_take, &span) != 1) {
		span = (struct interpreter_span){ 0 };
		if (image_each_symbol(image, SHT_SYMTAB, span_take, &span) != 1)
			return 0;
	}
	if (span.end <= span.start || span.end - span.start > CODE_MAX ||
	    image_section_beside(image, ".text", &text) < 0)
		return 0;
	ret->n = (size_t)(span.end - span.start);
	buf = malloc(ret->n);
	code = buf ? image_section_piece(image, &text, span.start, ret->n, buf) : NULL;
	if (code)
		ret->code = arena_copy(&p->arena, code, ret->n);
	r = !buf || (code && !ret->code) ? -ENOMEM : 0;
	free(buf);
	return r;
}

/* What a file has to copy, remembered by path, inode and build-id. NULL: no memory for it. */
static const struct copied *copied_of(struct jit_interpreter *p, const struct jit_file *file)
{
	uint64_t hash = map_hash_bytes(file->path, strlen(file->path), file->inode);
	struct copied *c;
	struct image *image;
	uint64_t known;

	hash = map_hash_bytes(file->build_id.bytes, file->build_id.size, hash);
	if (map_get(&p->by_file, hash, &known))
		return (const struct copied *)(uintptr_t)known;
	c = arena_alloc(&p->arena, sizeof(*c));
	if (!c)
		return NULL;
	*c = (struct copied){ 0 };
	if (image_find(&image, file->path, &file->build_id, &p->opts->search, NULL, NULL) >= 0) {
		if (copied_read(p, image, c) < 0)
			c = NULL;
		image_close(image);
	}
	if (c && map_put(&p->by_file, hash, (uintptr_t)c) < 0)
		c = NULL;
	return c;
}

/* What a process copies: of the first of its files that has any. NULL: nothing. */
static const struct copied *copied_by(struct jit_interpreter *p, const struct jit_ask *ask)
{
	const struct copied *c = NULL, *found = NULL;
	struct jit_file file;
	size_t at = 0;
	uint64_t known;

	if (map_get(&p->by_pid, ask->made_by, &known))
		return (const struct copied *)(uintptr_t)known;
	for (unsigned i = 0; !found && i < FILES_MAX && ask->next_file(ask->ctx, &at, &file); i++) {
		c = copied_of(p, &file);
		if (!c)
			return NULL; /* it is looked for again */
		found = c->n ? c : NULL;
	}
	map_put(&p->by_pid, ask->made_by, (uintptr_t)found); /* without memory: again */
	return found;
}

/* ---- where it stands ---- */

/* The pc must lie in a copy that the process's map names "py::", of the size of the code that its
 * files hold; a copy may be rounded up to COPY_ALIGN. */
size_t jit_interpreter_code(struct jit_interpreter *p, const struct jit_ask *ask,
                            const unsigned char **ret)
{
	const struct symbol_key key = { .kind = SYMBOL_KIND_ANON, .pid = ask->made_by, .path = "" };
	const struct symbol_place place = { .start = 0, .end = UINT64_MAX };
	const struct copied *c;
	struct symbol_object *map;
	struct symbol copy;
	uint64_t at;

	if (!ask->next_file || symbol_object(p->symbols, &key, &map) < 0 ||
	    symbol_resolve(map, &place, ask->pc - !ask->exact, &copy) != 1 ||
	    strncmp(copy.raw, "py::", 4) != 0)
		return 0;
	c = copied_by(p, ask);
	if (!c || (copy.size != c->n && copy.size != ((c->n + COPY_ALIGN - 1) & ~(COPY_ALIGN - 1))))
		return 0;
	at = ask->pc - copy.start;
	if (at >= c->n)
		return 0;
	*ret = c->code + at;
	return c->n - (size_t)at;
}
