// SPDX-License-Identifier: MIT
/*
 * v8.c: see v8.h. V8 is built with symbols for debuggers that say where members of its objects are,
 * and which number each type has: v8dbg_*, integers in the object's data. Their names have the
 * member's type, which changes now and then, so several are tried. What no symbol tells follows
 * from what others do: which members there are.
 *
 * Versions that were looked at: 10.2, 11.3, 12.4, 13.6, 14.6 (Node 18, 20, 22, 24, 26). What comes
 * after the last of these majors is not known.
 */
#include "runtimes/v8.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define V8_OLDEST 10u
#define V8_NEWEST 14u
#define V8_ROWS_CHANGED (14u << 16)
#define V8_TYPES 4096u /* numbers of types are below it */

#define V8_TAGGED_SIZE 8
#define V8_MAX(a, b) ((a) > (b) ? (a) : (b))
#define V8_SMI_SHIFT 31 /* and one bit of tag */

/* A member of the layout: the symbols that may tell it, and what it must be below. */
struct v8_member {
	size_t at; /* in struct v8_layout */
	uint32_t most;
	const char *names[3];
};

#define V8_MEMBER(member, most, ...)                        \
	{                                                   \
		offsetof(struct v8_layout, member), (most), \
		{                                           \
			__VA_ARGS__                         \
		}                                           \
	}

static const struct v8_member v8_members[] = {
	V8_MEMBER(function_shared, V8_FUNCTION_LEAST,
	          "v8dbg_class_JSFunction__shared__SharedFunctionInfo",
	          "v8dbg_class_JSFunction__shared__Tagged_SharedFunctionInfo_"),
	V8_MEMBER(shared_name, V8_SHARED_BYTES,
	          "v8dbg_class_SharedFunctionInfo__name_or_scope_info__Object",
	          "v8dbg_class_SharedFunctionInfo__name_or_scope_info__Tagged_Object_",
	          "v8dbg_class_SharedFunctionInfo__name_or_scope_info__Tagged_NameOrScopeInfoT_"),
	V8_MEMBER(shared_script, V8_SHARED_BYTES,
	          "v8dbg_class_SharedFunctionInfo__script_or_debug_info__HeapObject",
	          "v8dbg_class_SharedFunctionInfo__raw_script__Tagged_Object_",
	          "v8dbg_class_SharedFunctionInfo__script__Tagged_HeapObject_"),
	V8_MEMBER(script_name, V8_SCRIPT_BYTES, "v8dbg_class_Script__name__Object"),
	V8_MEMBER(script_source, V8_SCRIPT_BYTES, "v8dbg_class_Script__source__Object"),
	/* its number is behind its line ends in all versions */
	V8_MEMBER(script_id, V8_SCRIPT_BYTES - 8, "v8dbg_class_Script__line_ends__Object"),
	V8_MEMBER(array_length, 64, "v8dbg_class_FixedArrayBase__length__SMI"),
	V8_MEMBER(array_data, 64, "v8dbg_class_FixedArray__data__uintptr_t"),
	V8_MEMBER(map_type, 64, "v8dbg_class_Map__instance_type__uint16_t"),
	V8_MEMBER(type_shared, V8_TYPES,
	          "v8dbg_type_SharedFunctionInfo__SHARED_FUNCTION_INFO_TYPE"),
	V8_MEMBER(type_scope, V8_TYPES, "v8dbg_type_ScopeInfo__SCOPE_INFO_TYPE"),
	V8_MEMBER(type_script, V8_TYPES, "v8dbg_type_Script__SCRIPT_TYPE"),
	V8_MEMBER(type_bytecodes, V8_TYPES, "v8dbg_type_BytecodeArray__BYTECODE_ARRAY_TYPE"),
	V8_MEMBER(type_code, V8_TYPES, "v8dbg_type_Code__CODE_TYPE"),
	V8_MEMBER(bytecodes_data, 128, "v8dbg_class_BytecodeArray__data__uintptr_t"),
	V8_MEMBER(type_bytes, V8_TYPES, "v8dbg_type_TrustedByteArray__TRUSTED_BYTE_ARRAY_TYPE",
	          "v8dbg_type_ByteArray__BYTE_ARRAY_TYPE"),
	V8_MEMBER(scope_first, 16, "v8dbg_scopeinfo_idx_first_vars"),
};

/* Things that are the same in all versions that are known, and that the walk counts on. */
static const struct {
	const char *name;
	int32_t value;
} v8_constants[] = {
	{ "v8dbg_HeapObjectTag", 1 },
	{ "v8dbg_HeapObjectTagMask", 3 },
	{ "v8dbg_TaggedSize", V8_TAGGED_SIZE },
	{ "v8dbg_SmiShiftSize", V8_SMI_SHIFT },
	{ "v8dbg_FirstNonstringType", 128 },
	{ "v8dbg_StringRepresentationMask", 7 },
	{ "v8dbg_OneByteStringTag", 8 },
	{ "v8dbg_ConsStringTag", 1 },
	{ "v8dbg_ExternalStringTag", 2 },
	{ "v8dbg_SlicedStringTag", 3 },
	{ "v8dbg_ThinStringTag", 5 },
	{ "v8dbg_class_String__length__int32_t", 12 },
	{ "v8dbg_class_SeqOneByteString__chars__char", 16 },
	{ "v8dbg_class_SeqTwoByteString__chars__char", 16 },
	{ "v8dbg_class_ThinString__actual__String", 16 },
	{ "v8dbg_class_ConsString__first__String", 16 },
	{ "v8dbg_class_SlicedString__parent__String", 16 },
	{ "v8dbg_class_SlicedString__offset__SMI", 24 },
	{ "v8dbg_class_ExternalString__resource__Object", 16 },
	{ "v8dbg_scopeinfo_idx_ncontextlocals", 2 },
	{ "v8dbg_off_fp_context", -8 },
	{ "v8dbg_off_fp_function", -16 },
	{ "v8dbg_off_fp_bytecode_array", -32 },
	{ "v8dbg_off_fp_bytecode_offset", -40 },
	{ "v8dbg_JSFunctionRegister", 7 }, /* rdi */
};

/* The integer that a symbol names. */
static int v8_number(const struct runtime_source *source, const char *name, int32_t *ret)
{
	uint64_t at;
	int r = source->symbol(source->ctx, name, &at, NULL);

	return r < 0 ? r : source->read(source->ctx, at, ret, sizeof(*ret));
}

/* One member by the first of its names that there is. */
static int v8_member(struct v8_layout *to, const struct runtime_source *source,
                     const struct v8_member *m)
{
	int32_t value = 0;
	uint32_t stored;
	int r = -ENOENT;

	for (size_t i = 0; i < 3 && m->names[i] && r < 0; i++)
		r = v8_number(source, m->names[i], &value);
	if (r < 0 || value < 0 || (uint32_t)value >= m->most)
		return -ENOTSUP;
	stored = (uint32_t)value;
	memcpy((char *)to + m->at, &stored, sizeof(stored));
	return 0;
}

/* What no symbol tells: a scope has its place in front of its names since those begin later. */
static int v8_derive(struct v8_layout *to)
{
	uint32_t line = to->script_name + V8_TAGGED_SIZE;

	to->script_id += V8_TAGGED_SIZE;
	to->shared_bytes = V8_MAX(to->shared_name, to->shared_script) + V8_TAGGED_SIZE;
	to->script_bytes = V8_MAX(V8_MAX(line, to->script_id), to->script_source) + V8_TAGGED_SIZE;
	if (to->shared_bytes > V8_SHARED_BYTES || to->script_bytes > V8_SCRIPT_BYTES)
		return -ENOTSUP;
	if (to->scope_first != 3 && to->scope_first != 5)
		return -ENOTSUP;
	to->scope_places = to->scope_first == 5 ? 3 : 0;
	to->scope_function = to->scope_first == 5 ? 4 : 2;
	to->scope_shift = to->scope_first == 5 ? 0 : 32;
	return 0;
}

/* A number that not all versions have; else what those had that do not say it. */
static uint32_t v8_optional(const struct runtime_source *source, const char *name, uint32_t none)
{
	int32_t value;

	return v8_number(source, name, &value) < 0 || value < 0 || value >= (int32_t)V8_TYPES
	               ? none
	               : (uint32_t)value;
}

/* Compiled code: up to 10 an object begins with what describes it, then they were taken apart. What
 * it deoptimizes by has the functions that were inlined. */
static void v8_compiled(struct v8_layout *to, const struct runtime_source *source)
{
	static const char *const arrays[] = {
		"v8dbg_type_FixedArray__FIXED_ARRAY_TYPE",
		"v8dbg_type_TrustedFixedArray__TRUSTED_FIXED_ARRAY_TYPE",
		"v8dbg_type_ProtectedFixedArray__PROTECTED_FIXED_ARRAY_TYPE"
	};
	uint32_t major = to->version >> 16;

	to->code_before = major < 11 ? 128 : major < 12 ? 16 : 32;
	to->code_described = major < 11 ? 0 : 8;
	to->code_start = major < 11 ? 0 : 40;
	to->code_size = v8_optional(source, "v8dbg_class_Code__instruction_size__int",
	                            major < 12 ? 56 : 52);
	if (major == 11)
		to->code_size = 56; /* the symbol is another class's there */
	to->code_deopt = major < 12 ? 16 : 8;
	to->code_positions = to->code_deopt + 8;
	to->bytecodes_positions = major < 12 ? 32 : 24;
	to->code_flags = v8_optional(source, "v8dbg_class_Code__flags__uint32_t", 48);
	to->kind_maglev = v8_optional(source, "v8dbg_CodeKindBaseline", 0) + 1;
	to->calls_count = major < 13 ? 0 : 4; /* behind how large a frame is */
	to->rows = to->version >= V8_ROWS_CHANGED ? V8_ROWS_BIT : V8_ROWS_SIGN;
	for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++)
		to->type_arrays[i] = v8_optional(source, arrays[i], 0);
	to->type_wrapper = v8_optional(
	        source, "v8dbg_type_SharedFunctionInfoWrapper__SHARED_FUNCTION_INFO_WRAPPER_TYPE",
	        0);
	to->deopt_count =
	        v8_optional(source, "v8dbg_DeoptimizationDataInlinedFunctionCountIndex", 1);
	to->deopt_literals = v8_optional(source, "v8dbg_DeoptimizationDataLiteralArrayIndex", 2);
	to->deopt_inlined =
	        v8_optional(source, "v8dbg_DeoptimizationDataInliningPositionsIndex", 7);
}

/* Everything but whether the version is known. */
static int v8_layout(struct v8_layout *to, const struct runtime_source *source)
{
	int32_t value = 0;

	for (size_t i = 0; i < sizeof(v8_constants) / sizeof(v8_constants[0]); i++)
		if (v8_number(source, v8_constants[i].name, &value) < 0 ||
		    value != v8_constants[i].value)
			return -ENOTSUP;
	for (size_t i = 0; i < sizeof(v8_members) / sizeof(v8_members[0]); i++)
		if (v8_member(to, source, &v8_members[i]) < 0)
			return -ENOTSUP;
	v8_compiled(to, source);
	return v8_derive(to);
}

int v8_find(struct runtime_object *ret, const struct runtime_source *source)
{
	struct v8_layout *to = (struct v8_layout *)ret->layout;
	int32_t major = 0, minor = 0;
	uint64_t at;

	_Static_assert(sizeof(*to) <= sizeof(ret->layout), "RUNTIME_LAYOUT_WORDS");
	if (source->symbol(source->ctx, "v8dbg_HeapObjectTag", &at, NULL) < 0)
		return -ENOENT;
	if (v8_number(source, "_ZN2v88internal7Version6major_E", &major) < 0 ||
	    v8_number(source, "_ZN2v88internal7Version6minor_E", &minor) < 0 || minor < 0 ||
	    minor > UINT16_MAX || major < (int32_t)V8_OLDEST || major > (int32_t)V8_NEWEST)
		return -ENOTSUP;
	to->version = (uint32_t)major << 16 | (uint32_t)minor;
	return v8_layout(to, source);
}

/* ---- what was inlined ---- */

/* What was told of compiled code, as its bytes have it. */
struct v8_code {
	uint64_t key;
	struct v8_inlined inlined[V8_INLINED_MOST];
	uint32_t n, rows;
	bool cut, placeless;
	const unsigned char *at, *end; /* the table */
};

/* A row of a source position table: from this offset on. */
struct v8_row {
	int64_t offset;
	uint64_t position; /* the source position's bits */
};
#define V8_ROW_FIRST ((struct v8_row){ .offset = -1 }) /* what the first is told from: the entry */

#define V8_POSITION_INLINED 31 /* the number of the inlined function, + 1, in a source position */
#define V8_POSITION_MASK 0xffffu
#define V8_POSITION_PLACE 0x3fffffffu /* 1 + the character, above a bit */

/* What was told of compiled code, of which nothing is believed but the form. */
static int v8_code_read(const struct runtime_lines *lines, struct v8_code *to)
{
	const size_t head = offsetof(struct v8_compiled, inlined);
	const size_t table = offsetof(struct v8_compiled, table);
	struct v8_compiled told;

	if (lines->form != V8_LINES_COMPILED || lines->n < table)
		return -ENOENT;
	memcpy(&told, lines->bytes, head);
	memcpy(to->inlined, lines->bytes + head, sizeof(to->inlined));
	to->key = told.key;
	to->n = told.n < V8_INLINED_MOST ? told.n : V8_INLINED_MOST;
	/* Maglev's empty table does not tell which of them runs. */
	to->cut = told.cut || (told.placeless && told.n && !told.bytes);
	to->placeless = told.placeless;
	to->rows = told.rows;
	to->at = lines->bytes + table;
	to->end = lines->bytes + lines->n;
	return 0;
}

/* A number in base 128, the lowest digits and the sign first. False: there is none. */
static bool v8_digits(struct v8_code *c, int64_t *ret)
{
	uint64_t value = 0;

	for (unsigned shift = 0; c->at < c->end && shift < 64; shift += 7) {
		unsigned char byte = *c->at++;

		value |= (uint64_t)(byte & 127) << shift;
		if (byte & 128)
			continue;
		*ret = (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
		return true;
	}
	return false;
}

/* The next row: both numbers are differences. */
static bool v8_row_next(struct v8_code *c, struct v8_row *row)
{
	int64_t offset, position;

	if (!v8_digits(c, &offset) || !v8_digits(c, &position))
		return false;
	if (c->rows == V8_ROWS_BIT)
		offset >>= 1;
	row->offset =
	        (int64_t)((uint64_t)row->offset + (uint64_t)(offset < 0 ? -(offset + 1) : offset));
	row->position += (uint64_t)position;
	return true;
}

/* The number of the inlined function that a source position is in; -1: none. */
static int64_t v8_inlining(uint64_t position)
{
	return (int64_t)(position >> V8_POSITION_INLINED & V8_POSITION_MASK) - 1;
}

/* The inlined functions of a position, the innermost first, by number. Returns how many. */
static size_t v8_stack(const struct v8_code *c, uint64_t position, uint32_t stack[V8_INLINED_MOST])
{
	int64_t at = v8_inlining(position);
	size_t n = 0;

	for (; at >= 0 && at < (int64_t)c->n && n < V8_INLINED_MOST; n++) {
		stack[n] = (uint32_t)at;
		at = v8_inlining(c->inlined[at].position);
	}
	return at < 0 ? n : 0;
}

/* Leaves what is common of two stacks, from the outermost on. */
static size_t v8_common(uint32_t *one, size_t n_one, const uint32_t *other, size_t n_other)
{
	size_t n = 0;

	while (n < n_one && n < n_other && one[n_one - n - 1] == other[n_other - n - 1])
		n++;
	memmove(one, one + (n_one - n), n * sizeof(*one));
	return n;
}

/* The place in the source that a source position is, from 1 on; 0: it is in none. */
static uint32_t v8_place(uint64_t position)
{
	return position & 1 ? 0 : (uint32_t)(position >> 1) & V8_POSITION_PLACE;
}

/* Puts the functions of a stack, and the one that they are inlined in: place is the innermost's,
 * that of each other where it calls the next. */
static size_t v8_stack_put(const struct v8_code *c, const uint32_t *stack, size_t n, uint32_t place,
                           struct runtime_place *to, size_t room)
{
	size_t put = 0;

	for (size_t i = 0; i < n; i++) {
		if (put + 1 < room && c->inlined[stack[i]].key)
			to[put++] = (struct runtime_place){ c->inlined[stack[i]].key,
				                            c->placeless ? 0 : place };
		place = v8_place(c->inlined[stack[i]].position);
	}
	if (put < room)
		to[put++] = (struct runtime_place){ c->key, c->placeless ? 0 : place };
	return put;
}

/*
 * Where execution returns to, the row of the call holds. Where it stopped, between two rows, code
 * may be of what is before or behind: what both are in is sure.
 */
size_t v8_inlined(const struct runtime_lines *lines, uint32_t at, struct runtime_place *to,
                  size_t room)
{
	uint32_t stack[V8_INLINED_MOST], behind[V8_INLINED_MOST];
	int64_t offset = at & ~V8_AT_EXACT;
	uint64_t before = 0;
	bool exact = at & V8_AT_EXACT, any = false, more = false;
	struct v8_row row = V8_ROW_FIRST;
	struct v8_code code;
	uint32_t place = 0;
	size_t n = 0, all, unknown = 0;

	if (v8_code_read(lines, &code) < 0)
		return 0;
	while ((more = v8_row_next(&code, &row)) &&
	       (exact ? row.offset <= offset : row.offset < offset)) {
		before = row.position;
		any = true;
	}
	if (any && (more || !code.cut)) {
		n = v8_stack(&code, before, stack);
		place = n || v8_inlining(before) < 0 ? v8_place(before) : 0;
	}
	/* Behind what was told of a table, or in a function that was not told, another one runs. */
	if (code.cut && room > 1 && (!more || (!n && v8_inlining(before) >= 0))) {
		*to++ = (struct runtime_place){ 0 };
		room--;
		unknown = 1;
	}
	all = n;
	if (exact)
		n = v8_common(stack, n, behind, more ? v8_stack(&code, row.position, behind) : 0);
	return unknown + v8_stack_put(&code, stack, n, n == all ? place : 0, to, room);
}

/* ---- lines ---- */

/* The place where a bytecode is from, by the table of its function: the last row that is not behind
 * it. */
static uint32_t v8_bytecode_place(const struct v8_source *source, const unsigned char *table,
                                  size_t n, uint32_t offset)
{
	struct v8_code code = { .rows = source->rows, .at = table, .end = table + n };
	struct v8_row row = V8_ROW_FIRST;
	uint32_t place = 0;

	while (v8_row_next(&code, &row)) {
		if (row.offset > offset)
			return place;
		place = v8_place(row.position);
	}
	return source->bytecodes == V8_BYTECODES_CUT ? 0 : place;
}

/* at: 0, for the line where the function begins; else its place in the source, or 1 + the offset of
 * a bytecode. */
uint32_t v8_line(const struct runtime_lines *lines, uint32_t at)
{
	struct v8_source source;

	if (lines->form != V8_LINES_SOURCE || lines->n < sizeof(source))
		return 0;
	memcpy(&source, lines->bytes, sizeof(source));
	if (at && source.bytecodes)
		at = v8_bytecode_place(&source, lines->bytes + sizeof(source),
		                       lines->n - sizeof(source), at - 1);
	return at && at - 1 >= source.start && at - 1 < source.end
	               ? source.line + v8_lines_at(source.lines, at - 1)
	               : source.first_line;
}
