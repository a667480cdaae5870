// SPDX-License-Identifier: MIT
/*
 * kernel_cache.c: see kernel_cache.h. The bytes: magic, version, counts, the reference, a checksum
 * of what follows; then symbols by address, and their names. Native byte order: they are of this
 * machine. They are not trusted: taken whole, or not at all.
 *
 * To read and sort kallsyms takes long, and it stays the same until the next boot: the file's name
 * has the boot's id in it.
 */
#include "symbol/kernel_cache.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/map.h"
#include "symbol/kallsyms.h"

#define BOOT_ID "/proc/sys/kernel/random/boot_id"
#define BOOT_ID_BYTES 36u

static const char magic[8] = "seamsyms";

/* A symbol in the file: name is an offset in the names. */
struct kept_symbol {
	uint64_t start;
	uint32_t size, name;
};

/* The name of this boot's file. False: the kernel does not tell. */
bool kernel_cache_name(char name[KERNEL_CACHE_NAME])
{
	struct buf text = { 0 };
	bool found = kallsyms_slurp(BOOT_ID, 256, &text) == 0 && text.n >= BOOT_ID_BYTES &&
	             strspn(buf_text(&text), "0123456789abcdef-") == BOOT_ID_BYTES;

	if (found)
		snprintf(name, KERNEL_CACHE_NAME, "kernel-%.36s.syms%u", buf_text(&text),
		         KERNEL_CACHE_VERSION);
	buf_free(&text);
	return found;
}

/* -E2BIG: a symbol of 4 GiB, or symbols that overlap, which the form has no place for. */
static int kernel_cache_put_symbols(const struct table *table, struct buf *ret)
{
	for (size_t i = 0; i < table->n; i++) {
		const struct table_symbol *s = &table->symbols[i];
		struct kept_symbol kept = { s->start, (uint32_t)(s->end - s->start), s->name };

		if (s->end - s->start > UINT32_MAX || (i + 1 < table->n && s[1].start < s->end))
			return -E2BIG;
		buf_put(ret, &kept, sizeof(kept));
	}
	return 0;
}

/* ret is cleared first. The checksum covers the symbols and names, so that a file cut short is
 * noticed. */
int kernel_cache_encode(const struct table *table, uint64_t reference, struct buf *ret)
{
	size_t at_hash;
	uint64_t hash;
	int r;

	if (table->n > UINT32_MAX || table->names.n > UINT32_MAX)
		return -E2BIG;
	buf_clear(ret);
	buf_reserve(ret, 64 + table->n * sizeof(struct kept_symbol) + table->names.n);
	buf_put(ret, magic, sizeof(magic));
	buf_put_u32(ret, KERNEL_CACHE_VERSION);
	buf_put_u32(ret, (uint32_t)table->n);
	buf_put_u32(ret, (uint32_t)table->names.n);
	buf_put_u32(ret, 0);
	buf_put_u64(ret, reference);
	/* The checksum is put in when what it covers is complete. */
	at_hash = ret->n;
	buf_put_u64(ret, 0);
	r = kernel_cache_put_symbols(table, ret);
	buf_put(ret, table->names.bytes, table->names.n);
	if (ret->failed)
		return -ENOMEM;
	hash = map_hash_bytes(ret->bytes + at_hash + sizeof(hash), ret->n - at_hash - sizeof(hash),
	                      KERNEL_CACHE_VERSION);
	memcpy(ret->bytes + at_hash, &hash, sizeof(hash));
	return r;
}

/* The symbols must ascend and not overlap, as those that were written did. */
static int kernel_cache_take(struct table *table, struct cursor *c, uint32_t n, uint32_t n_names)
{
	uint64_t reached = 0;

	for (uint32_t i = 0; i < n; i++) {
		struct table_symbol s = { .start = cursor_u64(c) };

		s.end = s.start + cursor_u32(c);
		s.name = cursor_u32(c);
		if (s.end <= s.start || s.start < reached || s.name >= n_names)
			return -EBADMSG;
		reached = s.end;
		table->symbols[table->n++] = s;
	}
	return 0;
}

/* Fills the table and seals it. The last name must end in a NUL, so each does. */
static int kernel_cache_fill(struct table *table, struct cursor *c, uint32_t n, uint32_t n_names)
{
	const unsigned char *symbols = cursor_array(c, n, sizeof(struct kept_symbol));
	const unsigned char *names = cursor_bytes(c, n_names);
	struct cursor at;
	int r;

	if (c->failed || cursor_left(c) || !n || !n_names || names[n_names - 1])
		return -EBADMSG;
	at = cursor_of(symbols, n * sizeof(struct kept_symbol), false);
	table->symbols = malloc(n * sizeof(*table->symbols));
	table->capacity = n;
	r = table->symbols ? kernel_cache_take(table, &at, n, n_names) : -ENOMEM;
	if (r == 0)
		r = buf_put(&table->names, names, n_names);
	return r < 0 ? r : table_seal(table);
}

/* The bytes are from a cache that somebody else may have written to: every offset is checked, and
 * the table is taken whole or not at all. */
int kernel_cache_decode(struct table *table, uint64_t *ret_reference, const void *bytes, size_t n)
{
	struct cursor c = cursor_of(bytes, n, false);
	const unsigned char *at = cursor_bytes(&c, sizeof(magic));
	uint32_t n_symbols, n_names;
	uint64_t reference, hash;
	int r;

	if (!at || memcmp(at, magic, sizeof(magic)) || cursor_u32(&c) != KERNEL_CACHE_VERSION)
		return -EBADMSG;
	n_symbols = cursor_u32(&c);
	n_names = cursor_u32(&c);
	cursor_u32(&c);
	reference = cursor_u64(&c);
	hash = cursor_u64(&c);
	if (c.failed || hash != map_hash_bytes(c.at, cursor_left(&c), KERNEL_CACHE_VERSION))
		return -EBADMSG;
	r = kernel_cache_fill(table, &c, n_symbols, n_names);
	if (r < 0)
		table_free(table);
	else
		*ret_reference = reference;
	return r;
}
