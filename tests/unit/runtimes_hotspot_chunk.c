// SPDX-License-Identifier: MIT
/*
 * runtimes_hotspot_chunk.c: where frames of virtual threads wait, by descriptions of two classes in
 * made-up memory: references and headers of each form, fields in any order, what is missing; and
 * the same with every byte of it changed.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define BYTES 0x4000u
#include "hotspot_memory.h"

static uint64_t symbol(const char *s)
{
	uint64_t at = room(6 + strlen(s));

	put(at + 4, strlen(s), 2);
	memcpy(memory + (at + 6 - BASE), s, strlen(s));
	return at;
}

static const struct hotspot_layout offsets = {
	.version = 25,
	.class_name = 24,
	.class_fields = 40,
	.class_pool = 32,
	.class_size = 8,
	.list_bytes = 4,
	.pool_bytes = 72,
	.text_length = 4,
	.text_body = 6,
	.entry_bytes = 64,
};

struct field {
	const char *name;
	uint32_t offset, flags;
};
#define INJECTED 2u

static void number(uint64_t *at, uint32_t n)
{
	while (n >= 191) {
		put((*at)++, 192 + (n - 191) % 64, 1);
		n = (n - 191) / 64;
	}
	put((*at)++, n + 1, 1);
}

/* A class whose description has these fields. Texts of its own are numbered from 1 on, well-known
 * ones from 300 on. */
static uint64_t class(const char *name, uint32_t size, const struct field *f, uint64_t words)
{
	uint64_t at = room(64), pool = room(72 + 16 * 8), stream = room(200), to = stream + 4;
	uint32_t n = 0, injected = 0;

	for (; f[n].name; n++)
		injected += f[n].flags & INJECTED ? 1 : 0;
	put(at + 24, symbol(name), 8);
	put(at + 8, size | 1, 4);
	put(at + 32, pool, 8);
	put(at + 40, stream, 8);
	number(&to, n - injected);
	number(&to, injected);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t own = f[i].flags & INJECTED ? 300 + i : i + 1;

		put(own < 300 ? pool + 72 + own * 8 : words + own * 8, symbol(f[i].name), 8);
		number(&to, own);
		number(&to, 1000); /* its type */
		number(&to, f[i].offset);
		number(&to, f[i].offset >= 100 ? 0x1018 : 0x2);
		number(&to, f[i].flags);
		for (uint32_t more = f[i].flags & ~INJECTED; more; more &= more - 1)
			if (more & (1 | 4 | 16))
				number(&to, 7);
	}
	put(stream, to - stream - 4, 4);
	return at;
}

/* Both classes among others, with references of so many bytes behind a header of so many. */
static void classes(uint64_t address[HOTSPOT_ADDRESSES], uint32_t reference, uint32_t header,
                    uint64_t *chunk)
{
	uint32_t at = (header + 4 + 7) & ~7u;
	const struct field continuation[] = { { "U", 120, 1 },
		                              { "target", at, 0 },
		                              { "scope", at + reference, 4 },
		                              { "parent", at + 2 * reference, 0 },
		                              { "child", at + 3 * reference, 16 },
		                              { "tail", at + 4 * reference, 0 },
		                              { "done", header, 0 },
		                              { NULL, 0, 0 } };
	const struct field stack[] = { { "parent", 40, 0 }, { "size", header + 8, 0 },
		                       { "sp", 28, 0 },     { "bottom", 32, 0 },
		                       { "cont", 48, 2 },   { "flags", 37, 2 },
		                       { "pc", header, 2 }, { NULL, 0, 0 } };
	const struct field none[] = { { "tail", 16, 0 }, { NULL, 0, 0 } };
	uint64_t words;

	memset(memory, 0, sizeof(memory));
	memset(address, 0, HOTSPOT_ADDRESSES * sizeof(*address));
	used = 0;
	address[HOTSPOT_CLASSES] = room(200 * 8);
	address[HOTSPOT_WORDS] = words = room(320 * 8);
	for (int i = HOTSPOT_OOP_BASE; i < HOTSPOT_ADDRESSES; i++)
		address[i] = room(8);
	put(address[HOTSPOT_OOP_BASE], 0x700000000, 8);
	put(address[HOTSPOT_OOP_SHIFT], 3, 4);
	put(address[HOTSPOT_CLASS_BASE], 0x8000, 8);
	put(address[HOTSPOT_CLASS_SHIFT], 4, 4);
	put(address[HOTSPOT_CLASSES], class("java/lang/Object", 16, none, words), 8);
	put(address[HOTSPOT_CLASSES] + 3 * 8,
	    class("jdk/internal/vm/Continuation", 48, continuation, words), 8);
	*chunk = class("jdk/internal/vm/StackChunk", 48, stack, words);
	put(address[HOTSPOT_CLASSES] + 7 * 8, *chunk, 8);
}

static struct hotspot_layout find(const uint64_t address[HOTSPOT_ADDRESSES])
{
	struct hotspot_layout l = offsets;

	hotspot_find_chunks(&reader, address, &l);
	return l;
}

static void fields_are_found_by_name(void **state)
{
	uint64_t address[HOTSPOT_ADDRESSES], chunk;
	struct hotspot_layout l;

	(void)state;
	classes(address, 4, 12, &chunk);
	l = find(address);
	assert_int_equal(l.chunks.known, 1);
	assert_int_equal(l.chunks.tail, 32);
	assert_int_equal(l.chunks.chunk_cont, 48);
	assert_int_equal(l.chunks.chunk_parent, 40);
	assert_int_equal(l.chunks.chunk_sp, 28);
	assert_int_equal(l.chunks.chunk_size, 20);
	assert_int_equal(l.chunks.chunk_bottom, 32);
	assert_int_equal(l.chunks.frames, 48);
	assert_int_equal(l.chunks.oop_mask, 0xffffffff);
	assert_int_equal(l.chunks.oop_base, 0x700000000);
	assert_int_equal(l.chunks.oop_shift, 3);
	assert_int_equal(l.chunks.class_at, 8);
	assert_int_equal(l.chunks.class_mask, 0xffffffff);
	assert_int_equal(l.chunks.chunk_class, (chunk - 0x8000) >> 4);
}

/* References that are addresses, a class that is one, and one that is part of the header's word. */
static void headers_have_three_forms(void **state)
{
	uint64_t address[HOTSPOT_ADDRESSES], chunk;
	struct hotspot_layout l;

	(void)state;
	classes(address, 8, 16, &chunk);
	l = find(address);
	assert_int_equal(l.chunks.known, 1);
	assert_int_equal(l.chunks.oop_mask, ~0ULL);
	assert_int_equal(l.chunks.oop_base, 0);
	assert_int_equal(l.chunks.oop_shift, 0);
	assert_int_equal(l.chunks.class_at, 8);
	assert_int_equal(l.chunks.chunk_class, chunk);
	classes(address, 4, 8, &chunk);
	l = find(address);
	assert_int_equal(l.chunks.known, 1);
	assert_int_equal(l.chunks.class_at, 0);
	assert_int_equal(l.chunks.class_shift, 42);
	assert_int_equal(l.chunks.class_mask, 0x3fffff);
	assert_int_equal(l.chunks.chunk_class, (chunk - 0x8000) >> 4);
}

/* Versions without such threads, classes that are not loaded, tables that lack something. */
static void what_is_not_there_is_not_known(void **state)
{
	uint64_t address[HOTSPOT_ADDRESSES], chunk;
	struct hotspot_layout l = offsets;

	(void)state;
	classes(address, 4, 12, &chunk);
	l.version = 17;
	hotspot_find_chunks(&reader, address, &l);
	assert_int_equal(l.chunks.known, 0);
	l = offsets;
	l.class_fields = 0;
	hotspot_find_chunks(&reader, address, &l);
	assert_int_equal(l.chunks.known, 0);
	put(address[HOTSPOT_CLASSES] + 7 * 8, 0, 8);
	assert_int_equal(find(address).chunks.known, 0);
	for (int i = HOTSPOT_CLASSES; i < HOTSPOT_ADDRESSES; i++) {
		classes(address, 4, 12, &chunk);
		address[i] = 0;
		assert_int_equal(find(address).chunks.known, 0);
	}
	/* 21 does not say how large an entry is */
	classes(address, 4, 12, &chunk);
	l = offsets;
	l.version = 21;
	l.entry_bytes = 0;
	hotspot_find_chunks(&reader, address, &l);
	assert_int_equal(l.chunks.known, 1);
	assert_int_equal(l.entry_bytes, 64);
}

/* Any byte changed: what is found stays within an object's first bytes. */
static void changed_bytes_are_bounded(void **state)
{
	uint64_t address[HOTSPOT_ADDRESSES], chunk;
	unsigned known = 0;

	(void)state;
	classes(address, 4, 12, &chunk);
	for (size_t i = 0; i < used; i++) {
		unsigned char was = memory[i];

		for (unsigned k = 0; k < 3; k++) {
			struct hotspot_chunks c;

			memory[i] = k == 0 ? 0xff : k == 1 ? 0 : was ^ 4;
			c = find(address).chunks;
			known += c.known;
			assert_true(!c.known ||
			            (c.tail <= 56 && c.chunk_cont <= 56 && c.chunk_parent <= 56 &&
			             c.chunk_sp <= 56 && c.chunk_size <= 56 &&
			             c.chunk_bottom <= 56 && c.frames <= 64 && c.oop_shift < 8));
		}
		memory[i] = was;
	}
	assert_true(known);
	assert_int_equal(find(address).chunks.known, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_are_found_by_name),
		cmocka_unit_test(headers_have_three_forms),
		cmocka_unit_test(what_is_not_there_is_not_known),
		cmocka_unit_test(changed_bytes_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
