// SPDX-License-Identifier: MIT
/*
 * hotspot_method.c: of a HotSpot's method: its name, its lines; of compiled code: which methods it
 * runs at an address. HotSpot keeps for each call of compiled code, and for each place where it may
 * stop, a chain of scopes: method and bytecode, outwards from the innermost.
 *
 * Between two such places it does not say which method's instructions stand there. What the places
 * before and behind have in common is sure, and no more is told.
 */
#include <errno.h>
#include <string.h>

#include "runtimes/hotspot.h"

#define PC_BYTES 16u
#define PCS_MOST (1u << 16)
#define DATA_MOST (1u << 24)
#define METADATA_MOST (1u << 16)
#define SCOPE_BYTES 24u

static int hotspot_read(const struct hotspot_memory *m, uint64_t address, void *to, size_t n)
{
	return address ? m->read(m->ctx, address, to, n) : -EFAULT;
}

static uint16_t hotspot_u16(const unsigned char *bytes, uint32_t at)
{
	uint16_t n;

	memcpy(&n, bytes + at, sizeof(n));
	return n;
}

static uint32_t hotspot_u32(const unsigned char *bytes, uint32_t at)
{
	uint32_t n;

	memcpy(&n, bytes + at, sizeof(n));
	return n;
}

static uint64_t hotspot_u64(const unsigned char *bytes, uint32_t at)
{
	uint64_t n;

	memcpy(&n, bytes + at, sizeof(n));
	return n;
}

/* ---- numbers in streams: 192 and more is not the last byte; 6 bits each ---- */

struct hotspot_stream {
	const unsigned char *at, *end;
	unsigned form; /* enum hotspot_lines */
	bool failed;
};

/* From version 20 on no byte is 0. */
static uint32_t hotspot_number(struct hotspot_stream *s)
{
	uint32_t least = s->form == HOTSPOT_LINES, sum = 0;

	for (unsigned i = 0; i < 5; i++) {
		uint32_t byte;

		if (s->at == s->end || *s->at < least)
			break;
		byte = *s->at++;
		sum += (byte - least) << 6 * i;
		if (byte < 192 || i == 4)
			return sum;
	}
	s->failed = true;
	return 0;
}

static int32_t hotspot_signed(struct hotspot_stream *s)
{
	uint32_t n = hotspot_number(s);

	return (int32_t)(n >> 1 ^ -(n & 1));
}

/* The line of a bytecode: that of the last entry at or before it. */
uint32_t hotspot_line(const struct runtime_lines *l, uint32_t at)
{
	struct hotspot_stream s = { l->bytes, l->bytes + l->n, l->form, false };
	uint32_t bci = 0, line = 0, found = 0;

	while (at != HOTSPOT_NO_BCI && s.at < s.end && *s.at) {
		unsigned char byte = *s.at++;

		if (byte == 0xff) {
			bci += (uint32_t)hotspot_signed(&s);
			line += (uint32_t)hotspot_signed(&s);
		} else {
			bci += byte >> 3;
			line += byte & 7;
		}
		if (s.failed || bci > at)
			break;
		found = line;
	}
	return found;
}

/* ---- methods ---- */

void hotspot_class(char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		text[i] = text[i] == '/' ? '.' : text[i] == '+' ? '/' : text[i];
}

static uint64_t hotspot_mix(uint64_t hash, const void *bytes, size_t n)
{
	const unsigned char *at = bytes;

	for (size_t i = 0; i < n; i++)
		hash = (hash ^ at[i]) * 0x100000001b3ULL;
	return hash ^ hash >> 29;
}

/* A Symbol's bytes. */
static int hotspot_text(const struct hotspot_layout *l, const struct hotspot_memory *m,
                        uint64_t symbol, char *to, uint16_t *n, bool *cut)
{
	uint16_t length;
	int r = hotspot_read(m, symbol + l->text_length, &length, sizeof(length));

	if (r < 0 || !symbol)
		return -EFAULT;
	*cut = length > HOTSPOT_TEXT;
	*n = length > HOTSPOT_TEXT ? HOTSPOT_TEXT : length;
	return hotspot_read(m, symbol + l->text_body, to, *n);
}

/* A text of a class's pool, by its number. */
static int hotspot_pool_text(const struct hotspot_layout *l, const struct hotspot_memory *m,
                             uint64_t pool, uint32_t number, char *to, uint16_t *n, bool *cut)
{
	uint64_t symbol;
	int r = hotspot_read(m, pool + l->pool_bytes + (uint64_t)number * 8, &symbol, 8);

	return r < 0 ? r : hotspot_text(l, m, symbol & ~1ULL, to, n, cut);
}

/* The location table stands behind the bytecodes. */
static void hotspot_method_lines(const struct hotspot_layout *l, const struct hotspot_memory *m,
                                 uint64_t konst, const unsigned char *bytes,
                                 struct hotspot_method *ret)
{
	uint64_t size = (uint64_t)hotspot_u32(bytes, l->const_words) * 8;
	uint32_t begin = l->const_bytes + hotspot_u16(bytes, l->const_code);

	ret->n_lines = 0;
	ret->lines_form = l->version < 20 ? HOTSPOT_LINES_17 : HOTSPOT_LINES;
	if (!(hotspot_u16(bytes, l->const_flags) & 1) || size <= begin)
		return;
	size -= begin;
	if (size > HOTSPOT_LINES_MOST)
		size = HOTSPOT_LINES_MOST;
	if (hotspot_read(m, konst + begin, ret->lines, size) >= 0)
		ret->n_lines = size;
}

/* The name, file and lines of a Method, and the key that its contents have. */
int hotspot_method(const struct hotspot_layout *l, const struct hotspot_memory *m, uint64_t address,
                   struct hotspot_method *ret)
{
	unsigned char bytes[HOTSPOT_OFFSETS], pool[HOTSPOT_OFFSETS];
	uint64_t konst, at, class, symbol;
	uint32_t length, name, file;
	int r = hotspot_read(m, address + l->method_const, &konst, 8);

	if (r >= 0)
		r = hotspot_read(m, konst, bytes, l->const_bytes);
	if (r < 0)
		return r;
	at = hotspot_u64(bytes, l->const_pool);
	name = hotspot_u16(bytes, l->const_name);
	r = hotspot_read(m, at, pool, l->pool_bytes);
	if (r < 0)
		return r;
	length = hotspot_u32(pool, l->pool_length);
	class = hotspot_u64(pool, l->pool_class);
	file = hotspot_u16(pool, l->pool_source);
	if (!name || name >= length || !class)
		return -EINVAL;
	r = hotspot_read(m, class + l->class_name, &symbol, 8);
	if (r >= 0)
		r = hotspot_text(l, m, symbol, ret->scope, &ret->scope_bytes, &ret->scope_cut);
	if (r >= 0)
		r = hotspot_pool_text(l, m, at, name, ret->name, &ret->name_bytes, &ret->name_cut);
	if (r < 0)
		return r;
	if (!file || file >= length ||
	    hotspot_pool_text(l, m, at, file, ret->file, &ret->file_bytes, &ret->file_cut) < 0)
		ret->file_bytes = 0;
	hotspot_method_lines(l, m, konst, bytes, ret);
	ret->key = hotspot_mix(address, bytes, l->const_bytes);
	ret->key = hotspot_mix(ret->key, ret->scope, ret->scope_bytes);
	ret->key = hotspot_mix(ret->key, ret->name, ret->name_bytes);
	ret->key = hotspot_mix(ret->key, ret->file, ret->file_bytes);
	ret->key = hotspot_mix(ret->key, ret->lines, ret->n_lines);
	return 0;
}

/* ---- compiled code ---- */

/* Where an nmethod keeps what it says of its addresses. */
struct hotspot_code {
	const struct hotspot_layout *l;
	const struct hotspot_memory *m;
	uint64_t method;
	uint64_t pcs, data, metadata;
	uint32_t n_pcs, n_data, n_metadata;
};

static int hotspot_code_head(const struct hotspot_layout *l, const struct hotspot_memory *m,
                             uint64_t code, unsigned char *bytes)
{
	return hotspot_read(m, code, bytes, l->code_bytes + 8);
}

bool hotspot_code_is(const struct hotspot_layout *l, const struct hotspot_memory *m, uint64_t code,
                     uint32_t id)
{
	unsigned char bytes[HOTSPOT_OFFSETS + 8];

	return hotspot_code_head(l, m, code, bytes) >= 0 && hotspot_u32(bytes, l->code_id) == id;
}

/* From where to where its parts are: 17 and 21 keep them behind the code, 25 elsewhere. */
static int hotspot_code_parts(struct hotspot_code *c, uint64_t code, const unsigned char *bytes)
{
	const struct hotspot_layout *l = c->l;
	uint64_t pcs_end, data_end, metadata_end;

	c->method = hotspot_u64(bytes, l->code_method);
	if (l->relative) {
		uint64_t fixed = hotspot_u64(bytes, l->code_immutable);
		uint64_t mutable = hotspot_u64(bytes, l->blob_mutable);

		c->pcs = fixed + hotspot_u32(bytes, l->code_scopes);
		c->data = pcs_end = fixed + hotspot_u32(bytes, l->code_scopes_end);
		data_end = fixed + hotspot_u32(bytes, l->code_immutable_size);
		c->metadata = mutable + hotspot_u32(bytes, l->blob_relocation);
		metadata_end = mutable + hotspot_u32(bytes, l->blob_mutable_size);
	} else {
		c->pcs = data_end = code + hotspot_u32(bytes, l->code_scopes);
		pcs_end = code + hotspot_u32(bytes, l->code_scopes_end);
		c->data = metadata_end = hotspot_u64(bytes, l->code_data);
		c->metadata = code + hotspot_u32(bytes, l->code_metadata);
	}
	if (pcs_end < c->pcs || (pcs_end - c->pcs) / PC_BYTES > PCS_MOST || data_end < c->data ||
	    data_end - c->data > DATA_MOST || metadata_end < c->metadata ||
	    (metadata_end - c->metadata) / 8 > METADATA_MOST)
		return -EINVAL;
	c->n_pcs = (uint32_t)((pcs_end - c->pcs) / PC_BYTES);
	c->n_data = (uint32_t)(data_end - c->data);
	c->n_metadata = (uint32_t)((metadata_end - c->metadata) / 8);
	return 0;
}

struct hotspot_pc {
	int32_t pc, scope, object, flags;
};

static int hotspot_pc_at(const struct hotspot_code *c, uint32_t number, struct hotspot_pc *ret)
{
	if (number >= c->n_pcs)
		return -EINVAL;
	return hotspot_read(c->m, c->pcs + (uint64_t)number * PC_BYTES, ret, sizeof(*ret));
}

/* Places are in order. *number: the first one that is not below pc. */
static int hotspot_pc_find(const struct hotspot_code *c, int32_t pc, uint32_t *number)
{
	uint32_t low = 0, high = c->n_pcs;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		struct hotspot_pc at;
		int r = hotspot_pc_at(c, middle, &at);

		if (r < 0)
			return r;
		if (at.pc < pc)
			low = middle + 1;
		else
			high = middle;
	}
	*number = low;
	return 0;
}

/* One scope; *scope becomes its caller's, which was written before it, or 0. */
static int hotspot_scope(const struct hotspot_code *c, uint32_t *scope, struct hotspot_place *ret)
{
	unsigned char bytes[SCOPE_BYTES];
	uint32_t n = SCOPE_BYTES, caller, method;
	struct hotspot_stream s;
	int r;

	if (*scope >= c->n_data)
		return -EINVAL;
	if (n > c->n_data - *scope)
		n = c->n_data - *scope;
	r = hotspot_read(c->m, c->data + *scope, bytes, n);
	if (r < 0)
		return r;
	s = (struct hotspot_stream){ bytes, bytes + n,
		                     c->l->version < 20 ? HOTSPOT_LINES_17 : HOTSPOT_LINES, false };
	caller = hotspot_number(&s);
	method = hotspot_number(&s);
	ret->bci = hotspot_number(&s) - 1;
	if (s.failed || caller >= *scope || !method || method > c->n_metadata)
		return -EINVAL;
	if (ret->bci > 0xffff)
		ret->bci = HOTSPOT_NO_BCI;
	*scope = caller;
	return hotspot_read(c->m, c->metadata + (uint64_t)(method - 1) * 8, &ret->method, 8);
}

/* All scopes of a place, the innermost first. Returns how many; 0: it has none. */
static int hotspot_scopes(const struct hotspot_code *c, const struct hotspot_pc *pc,
                          struct hotspot_place ret[HOTSPOT_INLINED])
{
	uint32_t scope = (uint32_t)pc->scope;
	int n = 0, r;

	while (scope) {
		if (n == HOTSPOT_INLINED)
			return -E2BIG;
		r = hotspot_scope(c, &scope, &ret[n++]);
		if (r < 0)
			return r;
	}
	return n && ret[n - 1].method != c->method ? -EINVAL : n;
}

/* What two places have in common, from the outermost method inwards, into the second. */
static int hotspot_common(const struct hotspot_place *a, int n_a, struct hotspot_place *b, int n_b)
{
	int n = 0;

	while (n < n_a && n < n_b && a[n_a - 1 - n].method == b[n_b - 1 - n].method) {
		n++;
		if (a[n_a - n].bci != b[n_b - n].bci)
			break;
	}
	memmove(b, b + n_b - n, (size_t)n * sizeof(*b));
	return n;
}

/* Where execution stopped at pc; else pc is a return address, which has a place of its own, but for
 * calls that never stop. */
static int hotspot_at(const struct hotspot_code *c, int32_t pc, bool exact,
                      struct hotspot_place ret[HOTSPOT_INLINED])
{
	struct hotspot_place before[HOTSPOT_INLINED];
	struct hotspot_pc at;
	uint32_t number;
	int n, r = hotspot_pc_find(c, pc + exact, &number);

	if (r < 0)
		return r;
	r = hotspot_pc_at(c, number, &at);
	if (r < 0)
		return r;
	if (!exact && at.pc == pc)
		return hotspot_scopes(c, &at, ret);
	n = hotspot_scopes(c, &at, ret);
	if (n <= 0 || !number)
		return n < 0 ? n : 0;
	r = hotspot_pc_at(c, number - 1, &at);
	if (r < 0)
		return r;
	r = hotspot_scopes(c, &at, before);
	return r < 0 ? r : hotspot_common(before, r, ret, n);
}

int hotspot_inlined(const struct hotspot_layout *l, const struct hotspot_memory *m, uint64_t code,
                    uint32_t id, uint32_t pc, struct hotspot_place ret[HOTSPOT_INLINED])
{
	unsigned char bytes[HOTSPOT_OFFSETS + 8];
	struct hotspot_code c = { .l = l, .m = m };
	int r = hotspot_code_head(l, m, code, bytes);

	if (r < 0)
		return r;
	if (hotspot_u32(bytes, l->code_id) != id)
		return -ESTALE;
	r = hotspot_code_parts(&c, code, bytes);
	if (r >= 0)
		r = hotspot_at(&c, (int32_t)(pc & ~HOTSPOT_PC_EXACT), pc & HOTSPOT_PC_EXACT, ret);
	if (r == 0)
		ret[r++] = (struct hotspot_place){ c.method, HOTSPOT_NO_BCI };
	return r;
}
