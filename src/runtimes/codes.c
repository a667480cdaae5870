// SPDX-License-Identifier: MIT
/*
 * codes.c: see codes.h. Functions of an interpreter as addresses: each distinct name gets a stretch
 * of addresses that no memory has (abi/runtime_code.h), and a line is an offset in it. So files,
 * reports and other tools treat them like any code.
 *
 * A code object is known by its key, a name by its text: two objects of one name and file are one
 * function. Lines are looked up once for each distinct instruction.
 *
 * Names and tables come from programs that are recorded: numbers are bounded, and what is beyond is
 * left out.
 */
#include "runtimes/codes.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "abi/runtime.h"
#include "abi/runtime_code.h"
#include "base/arena.h"
#include "base/intern.h"
#include "base/map.h"
#include "runtimes/kinds.h"
#include "runtimes/hotspot.h"
#include "runtimes/text.h"

#define CODES_MAX (1u << 20)    /* code objects of a recording */
#define CODES_PLACES (1u << 20) /* instructions whose lines are kept */
#define CODES_TEXT 4096u        /* bytes of a name or of a file's path */
#define CODES_CUT "..."
#define CODES_AWAITS "async " /* as JavaScript's stacks have it */
#define CODES_INLINED 64u     /* functions at one place in code */

/* What is kept of a code object. */
struct codes_one {
	uint64_t start; /* address that stands for its function */
	enum runtime_kind kind;
	struct runtime_lines lines; /* its bytes are in the arena */
};

struct codes {
	struct arena arena;  /* location tables */
	struct intern names; /* "py::name:file" */
	struct map known;    /* key -> 1 + index in at */
	struct codes_one *at;
	size_t n, capacity;
	struct map places; /* index << 32 | offset -> address */
};

int codes_new(struct codes **ret)
{
	struct codes *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	*ret = c;
	return 0;
}

void codes_free(struct codes *c)
{
	if (!c)
		return;
	intern_free(&c->names);
	map_free(&c->known);
	map_free(&c->places);
	arena_free(&c->arena);
	free(c->at);
	free(c);
}

/* Cut texts end with dots. */
static size_t codes_text(char *to, size_t room, const struct codes_text *t)
{
	size_t n = text_put(to, room - sizeof(CODES_CUT), t->characters, t->bytes, t->width);

	if (t->cut && n <= room - sizeof(CODES_CUT)) {
		memcpy(to + n, CODES_CUT, sizeof(CODES_CUT));
		n += sizeof(CODES_CUT) - 1;
	}
	return n;
}

/* A short text of ours. */
static size_t codes_word(char *to, const char *word)
{
	size_t n = strlen(word);

	memcpy(to, word, n);
	return n;
}

/* "py::name:file", as CPython's own support for perf has it. What belongs to something is
 * "php::Class::name:file"; what has no file is "rb::Integer#times". */
static uint32_t codes_name(struct codes *c, const struct codes_told *told)
{
	char text[3 * CODES_TEXT + 64];
	size_t n = codes_word(text, runtime_prefix(told->kind));

	if (told->awaits)
		n += codes_word(text + n, CODES_AWAITS);
	if (told->scope.bytes) {
		char *scope = text + n;

		n += codes_text(text + n, CODES_TEXT, &told->scope);
		if (told->kind == RUNTIME_HOTSPOT)
			hotspot_class(scope, (size_t)(text + n - scope));
		n += codes_word(text + n, runtime_separator(told->kind));
	}
	n += codes_text(text + n, CODES_TEXT, &told->name);
	if (told->file.bytes || told->kind == RUNTIME_PYTHON) {
		text[n++] = ':';
		n += codes_text(text + n, CODES_TEXT, &told->file);
	}
	return intern_bytes(&c->names, text, n);
}

/* Keeps a code object. False: memory is out. */
static bool codes_keep(struct codes *c, const struct codes_told *told, uint64_t start)
{
	struct codes_one code = { .start = start,
		                  .kind = told->kind,
		                  .lines = { .form = told->lines_form,
		                             .first_line = told->first_line } };

	if (ARRAY_ROOM(&c->at, &c->capacity, c->n + 1) < 0)
		return false;
	if (told->n_lines) {
		unsigned char *lines = arena_alloc(&c->arena, told->n_lines);

		if (!lines)
			return false;
		memcpy(lines, told->lines, told->n_lines);
		code.lines.bytes = lines;
		code.lines.n = told->n_lines;
	}
	if (map_put(&c->known, told->key, c->n + 1) < 0)
		return false;
	c->at[c->n++] = code;
	return true;
}

bool codes_knows(const struct codes *codes, uint64_t key)
{
	return map_get(&codes->known, key, NULL);
}

/* 1: the name is new and must be told to the file; 0: it is known. -ENOSPC: too many; -ENOMEM. */
int codes_learn(struct codes *c, const struct codes_told *told, const char **name, uint64_t *start)
{
	size_t names = c->names.n;
	uint32_t text;

	if (map_get(&c->known, told->key, NULL))
		return 0;
	if (c->n >= CODES_MAX)
		return -ENOSPC;
	/* Code that others were inlined into is shown as its functions. */
	if (!told->name.bytes && !told->file.bytes)
		return codes_keep(c, told, 0) ? 0 : -ENOMEM;
	text = codes_name(c, told);
	/* The number of the text is what the addresses are made of. */
	if (text == INTERN_FAILED || !codes_keep(c, told, runtime_code_start(text)))
		return -ENOMEM;
	*name = intern_get(&c->names, text);
	*start = runtime_code_start(text);
	return c->names.n != names;
}

/* 0: the code object was never told. Without room for its place the line is looked up each time. */
uint64_t codes_address(struct codes *c, uint64_t key, uint32_t offset)
{
	const struct codes_one *code;
	uint64_t known = 0, *place;
	uint32_t line;

	if (!map_get(&c->known, key, &known))
		return 0;
	code = &c->at[known - 1];
	if (!code->start)
		return 0;
	place = c->places.n < CODES_PLACES ? map_slot(&c->places, known << 32 | offset, NULL)
	                                   : NULL;
	if (place && *place)
		return *place;
	line = kinds_line(code->kind, &code->lines, offset);
	if (place)
		*place = runtime_code_address(code->start, line);
	return runtime_code_address(code->start, line);
}

/* Where functions are inlined there each has an address of its own. */
size_t codes_addresses(struct codes *c, uint64_t key, uint32_t offset, uint64_t *to, size_t room,
                       uint64_t *unnamed)
{
	struct runtime_place places[CODES_INLINED] = { { key, offset } };
	uint64_t known = 0;
	size_t n = 0, put = 0;

	if (map_get(&c->known, key, &known)) {
		const struct codes_one *code = &c->at[known - 1];

		n = kinds_inlined(code->kind, &code->lines, offset, places,
		                  room < CODES_INLINED ? room : CODES_INLINED);
	}
	for (size_t i = 0; i < (n ? n : 1); i++) {
		to[put] = codes_address(c, places[i].key, places[i].at);
		*unnamed += !to[put];
		put += to[put] != 0;
	}
	return put;
}
