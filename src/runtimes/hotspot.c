// SPDX-License-Identifier: MIT
/*
 * hotspot.c: see hotspot.h. Every HotSpot has tables of its own structures: for each field the
 * names of type and field, and its offset, or a variable's address. They are filled in when the
 * library is initialised. Versions that are known are named here, and a table without a field that
 * its version should have is none.
 */
#include "runtimes/hotspot.h"

#include <errno.h>
#include <string.h>

#define STRUCTS_MOST 8192u
#define STRUCT_BYTES 48u /* type, field, type of the field; static; offset; address */
#define TYPE_BYTES 40u   /* name, ..., and at 32 its size */
#define NAME_MOST 96u

#define AT(member) offsetof(struct hotspot_layout, member)
enum {
	IN_OLD = 1, /* 17 and 21 */
	IN_NEW = 2, /* 25 */
	IN_ALL = 3
};

/* Fields of which the offset is wanted. in: 0 if it may be missing. */
static const struct hotspot_field {
	const char *type, *field;
	uint16_t to, in;
} hotspot_fields[] = {
	{ "GrowableArrayBase", "_len", AT(list_length), IN_ALL },
	{ "GrowableArray<int>", "_data", AT(list_data), IN_ALL },
	{ "CodeHeap", "_memory", AT(heap_memory), IN_ALL },
	{ "CodeHeap", "_segmap", AT(heap_segments), IN_ALL },
	{ "CodeHeap", "_log2_segment_size", AT(heap_log2), IN_ALL },
	{ "VirtualSpace", "_low", AT(space_low), IN_ALL },
	{ "VirtualSpace", "_high", AT(space_high), IN_ALL },
	{ "HeapBlock::Header", "_used", AT(block_used), IN_ALL },
	{ "CodeBlob", "_name", AT(blob_name), IN_ALL },
	{ "CodeBlob", "_frame_complete_offset", AT(blob_complete), IN_ALL },
	{ "CodeBlob", "_frame_size", AT(blob_frame), IN_ALL },
	{ "CodeBlob", "_code_begin", AT(blob_begin), IN_OLD },
	{ "CodeBlob", "_code_end", AT(blob_end), IN_OLD },
	{ "CodeBlob", "_code_offset", AT(blob_begin), IN_NEW },
	{ "CodeBlob", "_data_offset", AT(blob_end), IN_NEW },
	{ "CodeBlob", "_mutable_data", AT(blob_mutable), IN_NEW },
	{ "CodeBlob", "_mutable_data_size", AT(blob_mutable_size), IN_NEW },
	{ "CodeBlob", "_relocation_size", AT(blob_relocation), IN_NEW },
	{ "CompiledMethod", "_method", AT(code_method), IN_OLD },
	{ "CompiledMethod", "_deopt_handler_begin", AT(code_deopt), IN_OLD },
	{ "CompiledMethod", "_deopt_mh_handler_begin", AT(code_deopt_mh), IN_OLD },
	{ "CompiledMethod", "_scopes_data_begin", AT(code_data), IN_OLD },
	{ "nmethod", "_method", AT(code_method), IN_NEW },
	{ "nmethod", "_deopt_handler_offset", AT(code_deopt), IN_NEW },
	{ "nmethod", "_deopt_mh_handler_offset", AT(code_deopt_mh), IN_NEW },
	{ "nmethod", "_compile_id", AT(code_id), IN_ALL },
	{ "nmethod", "_entry_bci", AT(code_entry), IN_ALL },
	{ "nmethod", "_orig_pc_offset", AT(code_orig_pc), IN_ALL },
	{ "nmethod", "_scopes_pcs_offset", AT(code_scopes), IN_ALL },
	{ "nmethod", "_dependencies_offset", AT(code_scopes_end), IN_OLD },
	{ "nmethod", "_scopes_data_offset", AT(code_scopes_end), IN_NEW },
	{ "nmethod", "_metadata_offset", AT(code_metadata), IN_OLD },
	{ "nmethod", "_immutable_data", AT(code_immutable), IN_NEW },
	{ "nmethod", "_immutable_data_size", AT(code_immutable_size), IN_NEW },
	{ "Method", "_constMethod", AT(method_const), IN_ALL },
	{ "ConstMethod", "_constants", AT(const_pool), IN_ALL },
	{ "ConstMethod", "_constMethod_size", AT(const_words), IN_ALL },
	{ "ConstMethod", "_code_size", AT(const_code), IN_ALL },
	{ "ConstMethod", "_name_index", AT(const_name), IN_ALL },
	{ "ConstantPool", "_length", AT(pool_length), IN_ALL },
	{ "ConstantPool", "_pool_holder", AT(pool_class), IN_ALL },
	{ "ConstantPool", "_source_file_name_index", AT(pool_source), IN_ALL },
	{ "Klass", "_name", AT(class_name), IN_ALL },
	{ "Symbol", "_length", AT(text_length), IN_ALL },
	{ "Symbol", "_body", AT(text_body), IN_ALL },
	{ "InstanceKlass", "_fieldinfo_stream", AT(class_fields), 0 },
	{ "InstanceKlass", "_constants", AT(class_pool), 0 },
	{ "Klass", "_layout_helper", AT(class_size), 0 },
	{ "Array<u1>", "_data", AT(list_bytes), 0 },
};
#define FIELDS (sizeof(hotspot_fields) / sizeof(*hotspot_fields))

/* Likewise, under one of two names in the versions. */
static const struct hotspot_field hotspot_flags[] = {
	{ "ConstMethod", "_flags", AT(const_flags), IN_OLD },
	{ "ConstMethod", "_flags._flags", AT(const_flags), IN_ALL },
};

static const struct hotspot_field hotspot_sizes[] = {
	{ "HeapBlock", NULL, AT(block_bytes), IN_ALL },
	{ "ConstMethod", NULL, AT(const_bytes), IN_ALL },
	{ "ConstantPool", NULL, AT(pool_bytes), IN_ALL },
	{ "nmethod", NULL, AT(code_bytes), IN_ALL },
	{ "ContinuationEntry", NULL, AT(entry_bytes), 0 },
};
#define SIZES (sizeof(hotspot_sizes) / sizeof(*hotspot_sizes))
#define SIZES_NEEDED ((1u << (SIZES - 1)) - 1) /* all but the last one */

/* Variables of which the address is wanted. */
static const struct hotspot_variable {
	const char *type, *field;
	uint16_t to;
} hotspot_variables[] = {
	{ "CodeCache", "_heaps", HOTSPOT_HEAPS },
	{ "CodeCache", "_low_bound", HOTSPOT_LOW },
	{ "CodeCache", "_high_bound", HOTSPOT_HIGH },
	{ "StubRoutines", "_call_stub_return_address", HOTSPOT_CALL_STUB },
	{ "vmClasses", "_klasses[static_cast<int>(vmClassID::Object_klass_knum)]",
	  HOTSPOT_CLASSES },
	{ "Symbol", "_vm_symbols[0]", HOTSPOT_WORDS },
	{ "CompressedOops", "_narrow_oop._base", HOTSPOT_OOP_BASE },
	{ "CompressedOops", "_base", HOTSPOT_OOP_BASE },
	{ "CompressedOops", "_narrow_oop._shift", HOTSPOT_OOP_SHIFT },
	{ "CompressedOops", "_shift", HOTSPOT_OOP_SHIFT },
	{ "CompressedKlassPointers", "_narrow_klass._base", HOTSPOT_CLASS_BASE },
	{ "CompressedKlassPointers", "_base", HOTSPOT_CLASS_BASE },
	{ "CompressedKlassPointers", "_narrow_klass._shift", HOTSPOT_CLASS_SHIFT },
	{ "CompressedKlassPointers", "_shift", HOTSPOT_CLASS_SHIFT },
};
#define VARIABLES (sizeof(hotspot_variables) / sizeof(*hotspot_variables))

/* Its tables are exported by name: no other program has them. What starts it, java by its
 * libjli.so, is there some ten ms before. */
int hotspot_find(struct runtime_object *ret, const struct runtime_source *source)
{
	uint64_t size;
	int r = source->symbol(source->ctx, "gHotSpotVMStructs", &ret->address[HOTSPOT_STRUCTS],
	                       &size);

	if (r >= 0)
		r = source->symbol(source->ctx, "gHotSpotVMTypes", &ret->address[HOTSPOT_TYPES],
		                   &size);
	if (r < 0) {
		ret->loads = source->symbol(source->ctx, "JLI_Launch", &size, NULL) >= 0;
		return ret->loads ? -ENOTSUP : -ENOENT;
	}
	ret->known = 1; /* which version it is, its process says */
	return 0;
}

/* A table while it is read. */
struct hotspot_tables {
	const struct hotspot_memory *memory;
	struct hotspot_layout *layout;
	uint64_t *address;
	uint64_t seen; /* a bit for each of hotspot_fields */
	uint32_t flags, sizes;
	uint64_t version; /* where it stands */
};
_Static_assert(FIELDS <= 64, "a bit for each");

/* Names may stand at the end of what is mapped. */
static int hotspot_name(const struct hotspot_memory *m, uint64_t address, char name[NAME_MOST])
{
	size_t n = NAME_MOST;
	int r;

	if (!address)
		return -EFAULT;
	memset(name, 0, NAME_MOST);
	do
		r = m->read(m->ctx, address, name, n - 1);
	while (r < 0 && (n /= 2) > 1);
	return r;
}

static void hotspot_offset(struct hotspot_layout *l, const struct hotspot_field *f, uint64_t offset)
{
	uint32_t value = offset < HOTSPOT_OFFSETS ? (uint32_t)offset : HOTSPOT_OFFSETS;

	memcpy((char *)l + f->to, &value, sizeof(value));
}

static bool hotspot_is(const struct hotspot_field *f, const char *type, const char *field)
{
	return !strcmp(f->type, type) && (!f->field || !strcmp(f->field, field));
}

/* A row of the table of fields. */
static void hotspot_field(struct hotspot_tables *t, const char *type, const char *field,
                          uint64_t is_static, uint64_t offset, uint64_t address)
{
	if (is_static && !strcmp(type, "Abstract_VM_Version") &&
	    !strcmp(field, "_vm_major_version"))
		t->version = address;
	for (size_t i = 0; is_static && i < VARIABLES; i++)
		if (!strcmp(hotspot_variables[i].type, type) &&
		    !strcmp(hotspot_variables[i].field, field))
			t->address[hotspot_variables[i].to] = address;
	for (size_t i = 0; !is_static && i < FIELDS; i++)
		if (hotspot_is(&hotspot_fields[i], type, field)) {
			hotspot_offset(t->layout, &hotspot_fields[i], offset);
			t->seen |= 1ULL << i;
		}
	for (size_t i = 0; !is_static && i < 2; i++)
		if (hotspot_is(&hotspot_flags[i], type, field)) {
			hotspot_offset(t->layout, &hotspot_flags[i], offset);
			t->flags |= 1;
		}
}

/* Each row of the fields' table; the last one has no type. */
static int hotspot_read_fields(struct hotspot_tables *t, uint64_t at)
{
	char type[NAME_MOST] = "", field[NAME_MOST];
	uint64_t row[STRUCT_BYTES / 8], last = 0;
	int r;

	for (size_t i = 0; i < STRUCTS_MOST; i++, at += STRUCT_BYTES) {
		r = t->memory->read(t->memory->ctx, at, row, sizeof(row));
		if (r < 0 || !row[0])
			return r;
		if (row[0] != last)
			r = hotspot_name(t->memory, row[0], type);
		last = row[0];
		if (r < 0 || hotspot_name(t->memory, row[1], field) < 0)
			return -ENOTSUP;
		hotspot_field(t, type, field, (uint32_t)row[3], row[4], row[5]);
	}
	return -ENOTSUP;
}

/* Each row of the types' table, which has their sizes. */
static int hotspot_read_types(struct hotspot_tables *t, uint64_t at)
{
	char type[NAME_MOST];
	uint64_t row[TYPE_BYTES / 8];
	int r;

	for (size_t i = 0; i < STRUCTS_MOST; i++, at += TYPE_BYTES) {
		r = t->memory->read(t->memory->ctx, at, row, sizeof(row));
		if (r < 0 || !row[0])
			return r;
		if (hotspot_name(t->memory, row[0], type) < 0)
			return -ENOTSUP;
		for (size_t k = 0; k < SIZES; k++)
			if (!strcmp(hotspot_sizes[k].type, type)) {
				hotspot_offset(t->layout, &hotspot_sizes[k], row[4]);
				t->sizes |= 1u << k;
			}
	}
	return -ENOTSUP;
}

/* Whether all that a version has was found, at offsets that can be. */
static bool hotspot_is_whole(const struct hotspot_tables *t, unsigned in)
{
	for (size_t i = 0; i < FIELDS; i++) {
		uint32_t value;

		if (!(hotspot_fields[i].in & in))
			continue;
		memcpy(&value, (const char *)t->layout + hotspot_fields[i].to, sizeof(value));
		if (!(t->seen >> i & 1) || value >= HOTSPOT_OFFSETS - 8)
			return false;
	}
	return t->flags && (t->sizes & SIZES_NEEDED) == SIZES_NEEDED &&
	       t->layout->code_bytes < HOTSPOT_OFFSETS && t->layout->const_bytes <= 128 &&
	       t->layout->const_bytes >= 32 && t->layout->pool_bytes <= 256 &&
	       t->layout->block_bytes <= 64 && t->address[HOTSPOT_HEAPS] &&
	       t->address[HOTSPOT_LOW] && t->address[HOTSPOT_HIGH] && t->address[HOTSPOT_CALL_STUB];
}

/* What the tables say at this moment. */
static int hotspot_describe_once(const struct hotspot_memory *memory, uint64_t *address,
                                 struct hotspot_layout *ret)
{
	struct hotspot_tables t = { .memory = memory, .layout = ret, .address = address };
	uint64_t fields, types;
	int r;

	memset(ret, 0, sizeof(*ret));
	if (memory->read(memory->ctx, address[HOTSPOT_STRUCTS], &fields, 8) < 0 ||
	    memory->read(memory->ctx, address[HOTSPOT_TYPES], &types, 8) < 0 || !fields || !types)
		return -EAGAIN;
	r = hotspot_read_fields(&t, fields);
	if (r >= 0)
		r = hotspot_read_types(&t, types);
	if (r < 0 || !t.version)
		return -EAGAIN;
	if (memory->read(memory->ctx, t.version, &ret->version, 4) < 0)
		return -EAGAIN;
	if (ret->version != 17 && ret->version != 21 && ret->version != 25)
		return -ENOTSUP;
	/* Before the library is initialised all offsets are 0. None of these is, as what lies
	 * there has virtual functions, or other fields before. */
	if (!ret->method_const || !ret->heap_segments || !ret->code_bytes || !ret->class_name ||
	    !ret->blob_name)
		return -EAGAIN;
	ret->relative = ret->complete_short = ret->version == 25;
	return hotspot_is_whole(&t, ret->version == 25 ? IN_NEW : IN_OLD) ? 0 : -ENOTSUP;
}

/* From the tables to a layout, which is whole or is none. The library fills its tables in when it
 * is loaded: what is read while it does so is not the same a second time. */
int hotspot_describe(const struct hotspot_memory *memory, uint64_t *address,
                     struct hotspot_layout *ret)
{
	struct hotspot_layout again;
	int r = hotspot_describe_once(memory, address, ret);
	int second = r < 0 ? r : hotspot_describe_once(memory, address, &again);

	if (second >= 0 && memcmp(&again, ret, sizeof(again)) != 0)
		return -EAGAIN;
	return second;
}
