// SPDX-License-Identifier: MIT
/*
 * kernel_cache.c: see kernel_cache.h. The bytes: magic, version, counts, the reference, a checksum
 * of what follows; then symbols by address, and their names. Native byte order: they are of this
 * machine. They are not trusted: taken whole, or not at all. Nothing is copied: lookups are made in
 * the bytes themselves, as memory that is touched for the first time costs more than all else here.
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

_Static_assert(sizeof(struct table_kept) == 16, "symbols in the file, as they are used");

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

/* What the compiler puts in front of each function has a symbol, too: half of all. Its name ends in
 * the function's, which needs no bytes of its own. */
#define PADDING "__pfx_"

/* Puts a symbol's name behind the others, or finds it in that of the symbol before; its place among
 * them. */
static uint32_t kernel_cache_put_name(const char *name, const char *before, uint32_t at_before,
                                      struct buf *names)
{
	const size_t padding = sizeof(PADDING) - 1, at = names->n;

	if (before && !strncmp(before, PADDING, padding) && !strcmp(before + padding, name))
		return at_before + (uint32_t)padding;
	buf_put(names, name, strlen(name) + 1);
	return (uint32_t)at;
}

/* -E2BIG: a symbol of 4 GiB, or symbols that overlap, which the form has no place for. */
static int kernel_cache_put_symbols(const struct table *table, struct buf *ret, struct buf *names)
{
	const char *before = NULL;
	uint32_t at = 0;

	for (size_t i = 0; i < table->n; i++) {
		const struct table_symbol *s = &table->symbols[i];
		const char *name = table_name(table, s->name);
		struct table_kept kept = { s->start, (uint32_t)(s->end - s->start) };

		if (s->end - s->start > UINT32_MAX || (i + 1 < table->n && s[1].start < s->end))
			return -E2BIG;
		kept.name = at = kernel_cache_put_name(name, before, at, names);
		buf_put(ret, &kept, sizeof(kept));
		before = name;
	}
	return 0;
}

/* Symbols and names, as they stand in the file; *n_names: bytes of names. */
static int kernel_cache_put(const struct table *table, struct buf *ret, uint32_t *n_names)
{
	struct buf names = { 0 };
	int r = kernel_cache_put_symbols(table, ret, &names);

	*n_names = (uint32_t)names.n;
	buf_put(ret, names.bytes, names.n);
	ret->failed |= names.failed;
	buf_free(&names);
	return r;
}

/* ret is cleared first. The checksum covers the symbols and names, so that a file cut short is
 * noticed. */
int kernel_cache_encode(const struct table *table, uint64_t reference, struct buf *ret)
{
	size_t at_names, at_hash;
	uint32_t n_names;
	uint64_t hash;
	int r;

	if (table->n > UINT32_MAX || table->names.n > UINT32_MAX)
		return -E2BIG;
	buf_clear(ret);
	buf_reserve(ret, 64 + table->n * sizeof(struct table_kept) + table->names.n);
	buf_put(ret, magic, sizeof(magic));
	buf_put_u32(ret, KERNEL_CACHE_VERSION);
	buf_put_u32(ret, (uint32_t)table->n);
	at_names = ret->n;
	buf_put_u32(ret, 0);
	buf_put_u32(ret, 0);
	buf_put_u64(ret, reference);
	/* The bytes of names, and the checksum, are put in when what they tell of is complete. */
	at_hash = ret->n;
	buf_put_u64(ret, 0);
	r = kernel_cache_put(table, ret, &n_names);
	if (ret->failed)
		return -ENOMEM;
	memcpy(ret->bytes + at_names, &n_names, sizeof(n_names));
	hash = map_hash_bytes(ret->bytes + at_hash + sizeof(hash), ret->n - at_hash - sizeof(hash),
	                      KERNEL_CACHE_VERSION);
	memcpy(ret->bytes + at_hash, &hash, sizeof(hash));
	return r;
}

/* Whether the symbols ascend and do not overlap, as those that were written did. */
static bool kernel_cache_sound(const struct table_kept *kept, uint32_t n, uint32_t n_names)
{
	uint64_t reached = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t end;

		if (__builtin_add_overflow(kept[i].start, kept[i].size, &end) ||
		    end == kept[i].start || kept[i].start < reached || kept[i].name >= n_names)
			return false;
		reached = end;
	}
	return true;
}

/* The last name must end in a NUL, so each does. */
static int kernel_cache_fill(struct table *table, const struct kernel_kept *bytes, struct cursor *c,
                             uint32_t n, uint32_t n_names)
{
	const unsigned char *at = cursor_array(c, n, sizeof(struct table_kept));
	const struct table_kept *kept = (const struct table_kept *)(const void *)at;
	const unsigned char *names = cursor_bytes(c, n_names);

	if (c->failed || cursor_left(c) || !n || !n_names || names[n_names - 1] ||
	    (uintptr_t)at % _Alignof(struct table_kept) || !kernel_cache_sound(kept, n, n_names))
		return -EBADMSG;
	table_lend(table, bytes, kept, n, (const char *)names, n_names);
	return 0;
}

/* The bytes are from a cache that somebody else may have written to: every offset is checked, and
 * the table is taken whole or not at all. */
static int kernel_cache_take(struct table *table, uint64_t *ret_reference,
                             const struct kernel_kept *bytes)
{
	struct cursor c = cursor_of(bytes->bytes, bytes->n, false);
	const unsigned char *at = cursor_bytes(&c, sizeof(magic));
	uint32_t n_symbols, n_names;
	uint64_t hash;

	if (!at || memcmp(at, magic, sizeof(magic)) || cursor_u32(&c) != KERNEL_CACHE_VERSION)
		return -EBADMSG;
	n_symbols = cursor_u32(&c);
	n_names = cursor_u32(&c);
	cursor_u32(&c);
	*ret_reference = cursor_u64(&c);
	hash = cursor_u64(&c);
	if (c.failed || hash != map_hash_bytes(c.at, cursor_left(&c), KERNEL_CACHE_VERSION))
		return -EBADMSG;
	return kernel_cache_fill(table, bytes, &c, n_symbols, n_names);
}

int kernel_cache_decode(struct table *table, uint64_t *ret_reference,
                        const struct kernel_kept *bytes)
{
	uint64_t reference;
	int r = kernel_cache_take(table, &reference, bytes);

	if (r < 0)
		bytes->drop(bytes);
	else
		*ret_reference = reference;
	return r;
}
