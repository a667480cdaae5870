// SPDX-License-Identifier: MIT
/*
 * hotspot_chunk.c: where frames of a mounted virtual thread wait on HotSpot's heap. A thread that
 * was mounted again has only its newest frames on the stack; the others are in a chunk of stack, an
 * object of Java's class StackChunk, to which the thread's Continuation leads. Where these classes
 * have their fields a process decides when it begins: HotSpot's own description of each class says
 * it. Fields are found by their names.
 */
#include <errno.h>
#include <string.h>

#include "runtimes/hotspot.h"

#define CLASSES_MOST 192u /* well-known ones: some 120 */
#define FIELDS_MOST 64u
#define STREAM_MOST 1024u /* bytes of a class's fields */
#define NAME_MOST 48u
#define OBJECT_MOST 64u /* bytes of a chunk's fields, or of a Continuation's */
/* A ContinuationEntry of 21, which does not say how large it is. */
#define ENTRY_BYTES_21 64u

#define ACCESS_STATIC 8u

/* Flags of a field. */
#define FIELD_HAS_VALUE 1u
#define FIELD_INJECTED 2u /* HotSpot's own: its name is a well-known text */
#define FIELD_GENERIC 4u
#define FIELD_CONTENDED 16u

/* A description as it is read. */
struct chunk_class {
	const struct hotspot_memory *m;
	const struct hotspot_layout *l;
	const uint64_t *address;
	uint64_t pool;
	uint32_t first; /* where an object's first field is */
	unsigned char bytes[STREAM_MOST];
	size_t n, at;
};

static int chunk_read(const struct hotspot_memory *m, uint64_t address, void *to, size_t n)
{
	return address ? m->read(m->ctx, address, to, n) : -EFAULT;
}

/* Whether a text of HotSpot's is this one. */
static bool chunk_is(const struct chunk_class *c, uint64_t symbol, const char *text)
{
	char name[NAME_MOST];
	uint16_t length;

	return chunk_read(c->m, symbol + c->l->text_length, &length, sizeof(length)) >= 0 &&
	       length == strlen(text) && length <= NAME_MOST &&
	       chunk_read(c->m, symbol + c->l->text_body, name, length) >= 0 &&
	       !memcmp(name, text, length);
}

/* The well-known class of that name; 0: there is none. */
static uint64_t chunk_find_class(const struct chunk_class *c, const char *name)
{
	for (uint32_t i = 0; i < CLASSES_MOST; i++) {
		uint64_t class, symbol;

		if (chunk_read(c->m, c->address[HOTSPOT_CLASSES] + (uint64_t)i * 8, &class, 8) < 0)
			break;
		if (chunk_read(c->m, class ? class + c->l->class_name : 0, &symbol, 8) >= 0 &&
		    chunk_is(c, symbol, name))
			return class;
	}
	return 0;
}

/* Reads the description of a class's fields. */
static int chunk_open(struct chunk_class *c, uint64_t class)
{
	uint64_t stream = 0;
	uint32_t n;

	if (chunk_read(c->m, class + c->l->class_fields, &stream, 8) < 0 ||
	    chunk_read(c->m, class + c->l->class_pool, &c->pool, 8) < 0 ||
	    chunk_read(c->m, stream, &n, sizeof(n)) < 0)
		return -EFAULT;
	if (n > sizeof(c->bytes))
		return -E2BIG;
	c->n = n;
	c->at = 0;
	c->first = OBJECT_MOST;
	return chunk_read(c->m, stream + c->l->list_bytes, c->bytes, n);
}

/* The next number of the description; what is missing is 0. */
static uint32_t chunk_number(struct chunk_class *c)
{
	uint32_t sum = 0;

	for (unsigned i = 0; i < 5 && c->at < c->n && c->bytes[c->at]; i++) {
		uint32_t byte = c->bytes[c->at++];

		sum += (byte - 1) << 6 * i;
		if (byte < 192)
			break;
	}
	return sum;
}

struct chunk_field {
	const char *name;
	bool injected;
	uint32_t *offset;
};

/* Finds fields by name: each must be there, within an object's first bytes. */
static int chunk_fields(struct chunk_class *c, const struct chunk_field *wanted, size_t n)
{
	uint32_t all = chunk_number(c), found = 0;

	all += chunk_number(c);
	for (uint32_t i = 0; i < all && i < FIELDS_MOST; i++) {
		uint32_t name = chunk_number(c), offset, access, flags;
		uint64_t at, symbol;

		chunk_number(c); /* its type */
		offset = chunk_number(c);
		access = chunk_number(c);
		flags = chunk_number(c);
		if (!(access & ACCESS_STATIC) && offset < c->first)
			c->first = offset;
		for (uint32_t more = FIELD_HAS_VALUE; more <= FIELD_CONTENDED; more <<= 1)
			if (flags & more & (FIELD_HAS_VALUE | FIELD_GENERIC | FIELD_CONTENDED))
				chunk_number(c);
		at = flags & FIELD_INJECTED ? c->address[HOTSPOT_WORDS]
		                            : c->pool + c->l->pool_bytes;
		if (chunk_read(c->m, at + (uint64_t)name * 8, &symbol, 8) < 0)
			return -EFAULT;
		for (size_t k = 0; k < n; k++)
			if (wanted[k].injected == !!(flags & FIELD_INJECTED) && !(found >> k & 1) &&
			    chunk_is(c, symbol & ~1ULL, wanted[k].name) && offset >= 8 &&
			    offset <= OBJECT_MOST - 8) {
				*wanted[k].offset = offset;
				found |= 1u << k;
			}
	}
	return found == (1u << n) - 1 ? 0 : -ENOENT;
}

/* How references of the heap become addresses. These are of 4 bytes if any of a class's several
 * stands where none of 8 could. */
static int chunk_references(const struct chunk_class *c, uint32_t places,
                            struct hotspot_chunks *ret)
{
	ret->oop_mask = ~0ULL;
	if (!(places & 4))
		return 0;
	ret->oop_mask = 0xffffffff;
	if (chunk_read(c->m, c->address[HOTSPOT_OOP_BASE], &ret->oop_base, 8) < 0 ||
	    chunk_read(c->m, c->address[HOTSPOT_OOP_SHIFT], &ret->oop_shift, 4) < 0)
		return -EFAULT;
	return ret->oop_shift < 8 ? 0 : -EINVAL;
}

/* What stands for a class in an object's header: where its first field is says which form it is. */
static int chunk_header(const struct chunk_class *c, uint64_t class, struct hotspot_chunks *ret)
{
	uint32_t first = c->first, shift = 0;
	uint64_t base = 0;

	if (first != 8 && first != 12 && first != 16)
		return -EINVAL;
	ret->class_at = first == 8 ? 0 : 8;
	ret->class_shift = first == 8 ? 42 : 0;
	ret->class_mask = first == 8 ? 0x3fffff : first == 12 ? 0xffffffff : ~0ULL;
	if (first < 16 && (chunk_read(c->m, c->address[HOTSPOT_CLASS_BASE], &base, 8) < 0 ||
	                   chunk_read(c->m, c->address[HOTSPOT_CLASS_SHIFT], &shift, 4) < 0))
		return -EFAULT;
	if (shift > 16 || class < base || (class - base) >> shift > ret->class_mask)
		return -EINVAL;
	ret->chunk_class = (class - base) >> shift;
	return 0;
}

/* Where a Continuation has its newest chunk, and how all references are written. */
static int chunk_of_continuation(struct chunk_class *c, struct hotspot_chunks *ret)
{
	uint32_t target, scope, parent, child;
	const struct chunk_field fields[] = {
		{ "tail", false, &ret->tail }, { "target", false, &target },
		{ "scope", false, &scope },    { "parent", false, &parent },
		{ "child", false, &child },
	};
	int r = chunk_open(c, chunk_find_class(c, "jdk/internal/vm/Continuation"));

	if (r >= 0)
		r = chunk_fields(c, fields, sizeof(fields) / sizeof(*fields));
	if (r < 0)
		return r;
	return chunk_references(c, ret->tail | target | scope | parent | child, ret);
}

/* What a chunk has where, and how it is told from other objects. */
static int chunk_of_stack(struct chunk_class *c, struct hotspot_chunks *ret)
{
	uint64_t class = chunk_find_class(c, "jdk/internal/vm/StackChunk");
	const struct chunk_field fields[] = {
		{ "cont", true, &ret->chunk_cont },      { "parent", false, &ret->chunk_parent },
		{ "sp", false, &ret->chunk_sp },         { "size", false, &ret->chunk_size },
		{ "bottom", false, &ret->chunk_bottom },
	};
	int r = chunk_open(c, class);

	if (r >= 0)
		r = chunk_fields(c, fields, sizeof(fields) / sizeof(*fields));
	if (r >= 0)
		r = chunk_read(c->m, class + c->l->class_size, &ret->frames, 4);
	if (r < 0)
		return r;
	ret->frames &= ~1u; /* whether such objects are made in a way of their own */
	if (ret->frames % 8 || ret->frames > OBJECT_MOST)
		return -EINVAL;
	return chunk_header(c, class, ret);
}

void hotspot_find_chunks(const struct hotspot_memory *memory, const uint64_t *address,
                         struct hotspot_layout *l)
{
	struct chunk_class c = { .m = memory, .l = l, .address = address };
	struct hotspot_chunks found = { .build = l->chunks.build, .tries = l->chunks.tries };

	if (l->version == 21 && !l->entry_bytes)
		l->entry_bytes = ENTRY_BYTES_21;
	if (l->version < 21 || !l->class_fields || !l->class_pool || !l->class_size ||
	    !l->list_bytes || !l->entry_bytes || l->entry_bytes > 256)
		return;
	for (int i = HOTSPOT_CLASSES; i < HOTSPOT_ADDRESSES; i++)
		if (!address[i])
			return;
	if (chunk_of_continuation(&c, &found) < 0 || chunk_of_stack(&c, &found) < 0)
		return;
	found.known = 1;
	l->chunks = found;
}
