// SPDX-License-Identifier: MIT
/*
 * btf_cut.c: see btf_cut.h. Types are copied in the order in which they are met, and each is met
 * once: its new number is noted beside its old one.
 *
 * Why a cut: a kernel's BTF has ten thousands of types in some MB, and libbpf reads and indexes all
 * of it for each object that it opens. The programs ask where some members lie in some structs. So
 * one pass over the bytes finds these, and a small BTF with them is what libbpf gets
 * (bpf/relocate.c).
 *
 * Invariant: the bytes come from the kernel, and are read as if they did not: numbers of types are
 * held against the number of types, every length goes through the cursor. A type number that leads
 * nowhere becomes 0 (void).
 */
#include "capture/btf_cut.h"

#include <errno.h>
#include <linux/btf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "capture/btf_types.h"

#define CUT_HEADER 24u /* struct btf_header */

struct cut {
	struct btf_types b;
	const unsigned char *bytes; /* of the types */
	struct buf places;          /* uint32_t: where each type begins, by number - 1 */
	uint32_t *taken;            /* the new number of each, by number - 1; 0: not taken */
	struct buf order;           /* uint32_t: those that were taken, by new number - 1 */
	struct buf types, strings;
	/* By kind of wanted type and a name's first two bytes: whether there may be such a one. */
	bool may[3][256];
};

/* The first two letters sort out nearly all types before any name is compared. */
static unsigned cut_hash(const char *name)
{
	return ((unsigned char)name[0] * 31u + (unsigned char)(name[0] ? name[1] : 0)) & 255;
}

/* Takes a type, unless it has been taken. Returns its new number; 0: there is no such type. */
static uint32_t cut_take(struct cut *c, uint32_t id)
{
	if (!id || id > c->places.n / sizeof(uint32_t))
		return 0;
	if (!c->taken[id - 1]) {
		buf_put_u32(&c->order, id);
		c->taken[id - 1] = (uint32_t)(c->order.n / sizeof(uint32_t));
	}
	return c->taken[id - 1];
}

/* As what a type may be wanted; -1: as nothing. */
static int cut_want(const struct btf_entry *t)
{
	switch (btf_entry_kind(t)) {
	case KIND_STRUCT:
	case KIND_UNION:
		return BTF_WANT_STRUCT;
	case KIND_FUNC:
		return BTF_WANT_FUNC;
	case KIND_TYPEDEF:
		return BTF_WANT_TYPEDEF;
	default:
		return -1;
	}
}

/* Goes through all types once: notes where each begins, and fills the numbers of the wanted ones.
 * Of structs all of a name are put into found. */
static int cut_find(struct cut *c, struct btf_wanted *wanted, size_t n, struct buf *found)
{
	struct btf_entry t;
	const unsigned char *at = c->b.types.at;

	for (uint32_t id = 1; btf_types_next(&c->b, &t); at = c->b.types.at, id++) {
		const char *name = btf_types_name(&c->b, t.name);
		int want = cut_want(&t);

		buf_put_u32(&c->places, (uint32_t)(at - c->bytes));
		if (want < 0 || !c->may[want][cut_hash(name)])
			continue;
		for (size_t i = 0; i < n; i++) {
			if ((int)wanted[i].kind != want || strcmp(wanted[i].name, name))
				continue;
			if (!wanted[i].id)
				wanted[i].id = id;
			if (want == BTF_WANT_STRUCT)
				buf_put_u32(found, id);
			break;
		}
	}
	if (c->places.failed || found->failed)
		return -ENOMEM;
	return c->b.types.failed ? -EBADMSG : 0;
}

/* Types have no alignment that could be relied on in a copy. */
static uint32_t cut_word(const unsigned char *at)
{
	uint32_t v;

	memcpy(&v, at, sizeof(v));
	return v;
}

/* Names are written one behind the other, and one that comes twice is written twice: the result is
 * some kilobytes. */
static void cut_name(struct cut *c, uint32_t at)
{
	const char *name = btf_types_name(&c->b, at);

	buf_put_u32(&c->types, *name ? (uint32_t)c->strings.n : 0);
	if (*name)
		buf_put(&c->strings, name, strlen(name) + 1);
}

/* Writes one type, and takes those of which it is made. */
static void cut_put(struct cut *c, const struct btf_entry *t)
{
	enum btf_kind kind = btf_entry_kind(t);
	bool is_enum = kind == KIND_ENUM || kind == KIND_ENUM64;
	uint32_t refers = 0;

	cut_name(c, t->name);
	/* Values of enums are left out, so that their number is 0. The number is in the low 16 bits
	 * of info. */
	buf_put_u32(&c->types, is_enum ? t->info & ~0xffffu : t->info);
	switch (kind) {
	case KIND_TYPEDEF:
	case KIND_VOLATILE:
	case KIND_CONST:
	case KIND_RESTRICT:
	case KIND_TYPE_TAG:
		refers = cut_take(c, t->size);
		break;
	/* What a pointer points to is not followed: it would lead to half of the kernel. It becomes
	 * a pointer to void, which has the same size. */
	case KIND_PTR:
		break;
	default:
		refers = t->size; /* a size */
	}
	buf_put_u32(&c->types, refers);
	/* struct btf_array: type of an element, type of the index, number of elements. */
	if (kind == KIND_ARRAY) {
		buf_put_u32(&c->types, cut_take(c, cut_word(t->more)));
		buf_put_u32(&c->types, cut_take(c, cut_word(t->more + 4)));
		buf_put_u32(&c->types, cut_word(t->more + 8));
	} else if (kind == KIND_STRUCT || kind == KIND_UNION) {
		/* struct btf_member: name, type, offset in bits (12 bytes). */
		for (size_t i = 0; i < t->more_size; i += 12) {
			cut_name(c, cut_word(t->more + i));
			buf_put_u32(&c->types, cut_take(c, cut_word(t->more + i + 4)));
			buf_put_u32(&c->types, cut_word(t->more + i + 8));
		}
	} else if (!is_enum) {
		/* What is behind the common part of other kinds holds no number of a type
		 * (btf_types.c has the sizes). */
		buf_put(&c->types, t->more, t->more_size);
	}
}

/* What functions are made of is not copied: nothing holds a function. */
static bool cut_is_data(const struct btf_entry *t)
{
	switch (btf_entry_kind(t)) {
	case KIND_FUNC:
	case KIND_FUNC_PROTO:
	case KIND_VAR:
	case KIND_DATASEC:
	case KIND_DECL_TAG:
		return false;
	default:
		return true;
	}
}

/* Writes the found structs and, one after the other, all that these lead to. */
static int cut_all(struct cut *c, const struct buf *found)
{
	const unsigned char *end = c->b.types.end;

	c->taken = calloc(c->places.n / sizeof(uint32_t) + 1, sizeof(*c->taken));
	if (!c->taken)
		return -ENOMEM;
	buf_put(&c->strings, "", 1);
	for (size_t i = 0; i < found->n; i += sizeof(uint32_t))
		cut_take(c, cut_word(found->bytes + i));
	/* The list grows while it is read: cut_put takes what a type is made of. */
	for (size_t i = 0; i < c->order.n && !c->order.failed; i += sizeof(uint32_t)) {
		uint32_t id = cut_word(c->order.bytes + i);
		uint32_t at = cut_word(c->places.bytes + (id - 1) * sizeof(uint32_t));
		struct btf_entry t;

		/* The cursor is set to one type, by the place that the first pass noted. */
		c->b.types = cursor_of(c->bytes + at, (size_t)(end - c->bytes) - at, false);
		if (!btf_types_next(&c->b, &t) || !cut_is_data(&t))
			return -EBADMSG;
		cut_put(c, &t);
	}
	return c->order.failed || c->types.failed || c->strings.failed ? -ENOMEM : 0;
}

/* The header that libbpf wants: magic and version, size of the header, place and size of the types,
 * place and size of the strings behind them. */
static int cut_give(const struct cut *c, struct buf *out)
{
	const uint32_t header[CUT_HEADER / 4] = {
		BTF_MAGIC | BTF_VERSION << 16, CUT_HEADER,           0,
		(uint32_t)c->types.n,          (uint32_t)c->types.n, (uint32_t)c->strings.n,
	};

	buf_put(out, header, sizeof(header));
	buf_put(out, c->types.bytes, c->types.n);
	buf_put(out, c->strings.bytes, c->strings.n);
	return out->failed ? -ENOMEM : 0;
}

/* Two passes: one over all types, for numbers and places, and one over those that are taken. */
int btf_cut(const void *bytes, size_t size, struct btf_wanted *wanted, size_t n, struct buf *out)
{
	struct cut c = { .bytes = NULL };
	struct buf found = { 0 };
	int r = btf_types_of(bytes, size, &c.b);

	if (r >= 0) {
		c.bytes = c.b.types.at;
		for (size_t i = 0; i < n; i++) {
			wanted[i].id = 0;
			c.may[wanted[i].kind][cut_hash(wanted[i].name)] = true;
		}
		r = cut_find(&c, wanted, n, &found);
	}
	if (r >= 0 && out)
		r = cut_all(&c, &found);
	if (r >= 0 && out)
		r = cut_give(&c, out);
	buf_free(&c.places);
	buf_free(&c.order);
	buf_free(&c.types);
	buf_free(&c.strings);
	buf_free(&found);
	free(c.taken);
	return r;
}
