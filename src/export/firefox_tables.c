// SPDX-License-Identifier: MIT
// firefox_tables.c: the tables that the threads of the Firefox Profiler's format share: stacks,
// frames, functions, resources, sources and strings, in the order in which the threads' stacks met
// them. Which threads there are is firefox.c's.
//
// Columns hold numbers only, which the Profiler puts into arrays of 32 bits: a row's flags say
// which of them mean something, and the others are 0.
#include "export/firefox.h"
#include "export/runtime.h"

#include <errno.h>
#include <string.h>

/* Addresses are 32 bits wide in the Profiler. */
#define ADDRESS_MAX UINT32_MAX

enum {
	FRAME_INLINED = 1,
	FRAME_ADDRESS = 2, /* and library */
	FRAME_CATEGORY = 4,
	FRAME_LINE = 16,
	FRAME_LOCATION = 64, /* the line is in another file than the function's */
};
enum {
	FUNCTION_RESOURCE = 4,
	FUNCTION_SOURCE = 8
};

/* Lists are bufs of u32. */
static uint32_t tables_at(const struct buf *list, size_t i)
{
	uint32_t v;

	memcpy(&v, list->bytes + i * sizeof(v), sizeof(v));
	return v;
}

static size_t tables_count(const struct buf *list)
{
	return list->n / sizeof(uint32_t);
}

/* The index of a key, appended to list as value when it is new. 1: it is new; 0: it was there;
 * -ENOMEM. */
static int tables_index(struct map *map, uint64_t key, struct buf *list, uint32_t value,
                        uint64_t *ret)
{
	bool is_new;
	uint64_t *slot = map_slot(map, key, &is_new);

	if (!slot)
		return -ENOMEM;
	if (is_new) {
		*slot = tables_count(list);
		if (buf_put(list, &value, sizeof(value)) < 0)
			return -ENOMEM;
	}
	*ret = *slot;
	return is_new;
}

/* Numbers a string: its place in the list of strings at the end. */
uint32_t firefox_string(struct firefox *f, const char *text, size_t n)
{
	return intern_bytes(&f->strings, text, n);
}

/* The same of a frame's name. INTERN_FAILED. */
static uint32_t tables_frame_name(struct firefox *f, uint32_t frame)
{
	buf_clear(&f->name);
	export_frame_name(f->p, frame, &f->name);
	return f->name.failed ? INTERN_FAILED : firefox_string(f, buf_text(&f->name), f->name.n);
}

/* The file that a frame's line is in; and the line itself, where its function's file is another. */
static int tables_add_source(struct firefox *f, uint32_t frame, uint64_t function)
{
	const struct profile_frame *at = profile_frame_at(f->p, frame);
	uint32_t other = profile_frame_at(f->p, tables_at(&f->function_frames, function))->file;
	const char *text = profile_text(f->p, at->file);
	uint64_t index;
	int r;

	if (!at->file)
		return 0;
	if (firefox_string(f, text, strlen(text)) == INTERN_FAILED)
		return -ENOMEM;
	r = tables_index(&f->sources, at->file, &f->source_files, at->file, &index);
	if (r >= 0 && at->file != other && at->line && at->line <= INT32_MAX)
		r = tables_index(&f->locations, frame, &f->location_frames, frame, &index);
	return r;
}

/* A resource is called by its object's last part. */
static uint32_t tables_resource_name(struct firefox *f, uint32_t object)
{
	const char *path = profile_text(f->p, profile_object_at(f->p, object)->path);
	const char *base = export_base_name(path);

	return firefox_string(f, base, strlen(base));
}

/* A frame with its function, its library's resource and its file into the tables. */
static int tables_add_frame(struct firefox *f, uint32_t frame)
/* A frame that is there has put all that belongs to it. */
{
	const struct profile_frame *at = profile_frame_at(f->p, frame);
	uint64_t index, function;
	uint32_t name;
	int r = tables_index(&f->frames, frame, &f->frame_ids, frame, &index);

	if (r <= 0)
		return r;
	name = tables_frame_name(f, frame);
	if (name == INTERN_FAILED)
		return -ENOMEM;
	r = tables_index(&f->functions, (uint64_t)at->object << 32 | name, &f->function_frames,
	                 frame, &function);
	if (r >= 0)
		r = tables_add_source(f, frame, function);
	if (r < 0 || !at->object)
		return r;
	r = tables_index(&f->resources, at->object, &f->resource_objects, at->object, &index);
	return r > 0 && tables_resource_name(f, at->object) == INTERN_FAILED ? -ENOMEM : r;
}

/* A node and those above it, prefixes first. A prefix has the lower index then, which the format
 * wants. */
int firefox_tables_add(struct firefox *f, uint32_t node)
{
	uint64_t index;
	size_t depth = 0;
	int r = 0;

	for (; node != PROFILE_ROOT && !map_get(&f->stacks, node, NULL);
	     node = profile_node_at(f->p, node).parent)
		f->path[depth++] = node;
	while (depth && r >= 0) {
		node = f->path[--depth];
		r = tables_add_frame(f, profile_node_at(f->p, node).frame);
		if (r >= 0)
			r = tables_index(&f->stacks, node, &f->stack_nodes, node, &index);
	}
	return r;
}

/* The tables can be filled again afterwards. */
void firefox_tables_clear(struct firefox *f)
{
	intern_free(&f->strings);
	map_free(&f->stacks);
	map_free(&f->frames);
	map_free(&f->functions);
	map_free(&f->resources);
	map_free(&f->sources);
	map_free(&f->locations);
	buf_free(&f->stack_nodes);
	buf_free(&f->frame_ids);
	buf_free(&f->function_frames);
	buf_free(&f->resource_objects);
	buf_free(&f->source_files);
	buf_free(&f->location_frames);
}

/* Writes the table of stacks: each entry is a frame, and how many rows up its caller is; 0 for
 * none. Callers stand first. */
static void tables_stacks(struct firefox *f)
{
	size_t n = tables_count(&f->stack_nodes);
	uint64_t index;

	firefox_open(f, "stackTable", '{');
	firefox_u64(f, "length", n);
	firefox_open(f, "prefixOffset", '[');
	for (size_t i = 0; i < n; i++) {
		uint32_t up = profile_node_at(f->p, tables_at(&f->stack_nodes, i)).parent;

		json_u64(&f->j,
		         up != PROFILE_ROOT && map_get(&f->stacks, up, &index) ? i - index : 0);
	}
	json_close(&f->j, ']');
	firefox_open(f, "frame", '[');
	for (size_t i = 0; i < n; i++) {
		uint32_t frame = profile_node_at(f->p, tables_at(&f->stack_nodes, i)).frame;

		map_get(&f->frames, frame, &index);
		json_u64(&f->j, index);
	}
	json_close(&f->j, ']');
	json_close(&f->j, '}');
}

/* What the Profiler colours frames by. */
static unsigned tables_category(const struct profile *p, const struct profile_frame *frame)
{
	uint32_t runtime = runtime_of(p, frame);

	if (runtime)
		return FIREFOX_RUNTIME + runtime - 1;
	switch (frame->kind) {
	case PROFILE_USER:
	case PROFILE_INLINED:
		return FIREFOX_USER;
	case PROFILE_KERNEL:
		return FIREFOX_KERNEL;
	default:
		return FIREFOX_OTHER;
	}
}

/* The function of a frame that is in the tables. */
static uint64_t tables_function(struct firefox *f, uint32_t frame)
{
	uint64_t index = 0;
	uint32_t name = tables_frame_name(f, frame);

	map_get(&f->functions, (uint64_t)profile_frame_at(f->p, frame)->object << 32 | name,
	        &index);
	return index;
}

/* Where the code is, in the library's own numbering; of the kernel, from its first byte. false: the
 * format has no room for it. */
static bool tables_address(const struct firefox *f, const struct profile_frame *frame,
                           uint64_t *ret)
{
	const struct origin_code code = origin_code_of(profile_origin_of(f->p), frame->object);

	*ret = frame->address;
	if (frame->kind == PROFILE_KERNEL && *ret > ADDRESS_MAX && *ret >= code.offset)
		*ret -= code.offset;
	return frame->object && frame->kind != PROFILE_MISSING && *ret <= ADDRESS_MAX;
}

/* The frame by which the function was met first: its file is the function's. */
static const struct profile_frame *tables_function_frame(struct firefox *f, uint32_t id)
{
	return profile_frame_at(f->p, tables_at(&f->function_frames, tables_function(f, id)));
}

/* Which of a frame's columns mean something. */
static unsigned tables_frame_flags(struct firefox *f, uint32_t id)
{
	const struct profile_frame *frame = profile_frame_at(f->p, id);
	unsigned flags = FRAME_CATEGORY;
	uint64_t address;

	if (frame->kind == PROFILE_INLINED)
		flags |= FRAME_INLINED;
	if (tables_address(f, frame, &address))
		flags |= FRAME_ADDRESS;
	if (map_get(&f->locations, id, NULL))
		flags |= FRAME_LOCATION;
	else if (frame->line && frame->line <= INT32_MAX &&
	         frame->file == tables_function_frame(f, id)->file)
		flags |= FRAME_LINE;
	return flags;
}

/* The value of a frame in one column, which a letter stands for. */
static uint64_t tables_frame_cell(struct firefox *f, char column, uint32_t id)
{
	const struct profile_frame *frame = profile_frame_at(f->p, id);
	unsigned flags = tables_frame_flags(f, id);
	uint64_t v = 0;

	switch (column) {
	case 'a':
		return tables_address(f, frame, &v) ? v : 0;
	case 'l':
		return flags & FRAME_ADDRESS ? frame->object - 1 : 0;
	case 'c':
		return tables_category(f->p, frame);
	case 'n':
		return flags & FRAME_LINE ? frame->line : 0;
	case 'o':
		return map_get(&f->locations, id, &v) ? v : 0;
	case 'f':
		return tables_function(f, id);
	default:
		return flags;
	}
}

/* Writes the table of frames, column by column. Columns that say nothing in this format are filled
 * with a constant. */
static int tables_frames(struct firefox *f)
{
	static const struct {
		const char *name;
		char cell;
	} columns[] = { { "flags", 0 },
		        { "address", 'a' },
		        { "lib", 'l' },
		        { "category", 'c' },
		        { "func", 'f' },
		        { "line", 'n' },
		        { "originalLocation", 'o' } };
	size_t n = tables_count(&f->frame_ids);
	int r = 0;

	firefox_open(f, "frameTable", '{');
	firefox_u64(f, "length", n);
	for (size_t c = 0; c < sizeof(columns) / sizeof(columns[0]) && r >= 0; c++) {
		firefox_open(f, columns[c].name, '[');
		for (size_t i = 0; i < n; i++)
			json_u64(&f->j, tables_frame_cell(f, columns[c].cell,
			                                  tables_at(&f->frame_ids, i)));
		json_close(&f->j, ']');
		r = export_step(f->out);
	}
	firefox_same(f, "subcategory", n, "0");
	firefox_same(f, "nativeSymbol", n, "0");
	firefox_same(f, "innerWindowID", n, "0");
	firefox_same(f, "column", n, "0");
	json_close(&f->j, '}');
	return r;
}

/* The index of a key that is there, else 0. */
static uint64_t tables_found(const struct map *map, uint64_t key)
{
	uint64_t index = 0;

	return map_get(map, key, &index) ? index : 0;
}

/* The source file of each of these frames, by its number in the table of sources. */
static void tables_source_column(struct firefox *f, const struct buf *frames)
{
	firefox_open(f, "source", '[');
	for (size_t i = 0; i < tables_count(frames); i++)
		json_u64(&f->j, tables_found(&f->sources,
		                             profile_frame_at(f->p, tables_at(frames, i))->file));
	json_close(&f->j, ']');
}

/* Writes the table of functions, whose flags say which columns mean something. */
static void tables_functions(struct firefox *f)
{
	size_t n = tables_count(&f->function_frames);

	firefox_open(f, "funcTable", '{');
	firefox_u64(f, "length", n);
	firefox_open(f, "flags", '[');
	for (size_t i = 0; i < n; i++) {
		uint32_t id = tables_at(&f->function_frames, i);
		const struct profile_frame *frame = profile_frame_at(f->p, id);

		json_u64(&f->j, (frame->object ? FUNCTION_RESOURCE : 0) |
		                        (frame->file ? FUNCTION_SOURCE : 0));
	}
	json_close(&f->j, ']');
	firefox_open(f, "name", '[');
	for (size_t i = 0; i < n; i++)
		json_u64(&f->j, tables_frame_name(f, tables_at(&f->function_frames, i)));
	json_close(&f->j, ']');
	firefox_open(f, "resource", '[');
	for (size_t i = 0; i < n; i++) {
		uint32_t frame = tables_at(&f->function_frames, i);

		json_u64(&f->j, tables_found(&f->resources, profile_frame_at(f->p, frame)->object));
	}
	json_close(&f->j, ']');
	tables_source_column(f, &f->function_frames);
	firefox_same(f, "lineNumber", n, "0");
	firefox_same(f, "columnNumber", n, "0");
	firefox_same(f, "originalLocation", n, "0");
	json_close(&f->j, '}');
}

/* Writes the table of resources: a library for each object that a function lies in. */
static void tables_resources(struct firefox *f)
{
	size_t n = tables_count(&f->resource_objects);

	firefox_open(f, "resourceTable", '{');
	firefox_u64(f, "length", n);
	firefox_open(f, "name", '[');
	for (size_t i = 0; i < n; i++) {
		json_u64(&f->j, tables_resource_name(f, tables_at(&f->resource_objects, i)));
	}
	json_close(&f->j, ']');
	firefox_same(f, "host", n, "null");
	firefox_same(f, "type", n, "1"); /* a library */
	json_close(&f->j, '}');
}

/* Writes the table of source files. */
static void tables_sources(struct firefox *f)
{
	size_t n = tables_count(&f->source_files);

	firefox_open(f, "sources", '{');
	firefox_u64(f, "length", n);
	firefox_same(f, "id", n, "null");
	firefox_open(f, "filename", '[');
	for (size_t i = 0; i < n; i++) {
		const char *text = profile_text(f->p, tables_at(&f->source_files, i));

		json_u64(&f->j, firefox_string(f, text, strlen(text)));
	}
	json_close(&f->j, ']');
	firefox_same(f, "startLine", n, "1");
	firefox_same(f, "startColumn", n, "1");
	firefox_same(f, "sourceMapURL", n, "null");
	firefox_same(f, "content", n, "null");
	json_close(&f->j, '}');
}

/* Writes the table of the lines that are not in their functions' files. No column is known: a line
 * is a place from its first one on. */
static void tables_locations(struct firefox *f)
{
	size_t n = tables_count(&f->location_frames);

	firefox_open(f, "sourceLocationTable", '{');
	firefox_u64(f, "length", n);
	tables_source_column(f, &f->location_frames);
	firefox_open(f, "line", '[');
	for (size_t i = 0; i < n; i++)
		json_u64(&f->j, profile_frame_at(f->p, tables_at(&f->location_frames, i))->line);
	json_close(&f->j, ']');
	firefox_same(f, "column", n, "1");
	json_close(&f->j, '}');
}

/* Behind the other tables: they add to it. */
static void tables_strings(struct firefox *f)
{
	firefox_open(f, "stringArray", '[');
	if (!f->strings.n)
		json_string(&f->j, "");
	for (uint32_t i = 0; i < f->strings.n; i++)
		json_bytes(&f->j, intern_get(&f->strings, i), intern_length(&f->strings, i));
	json_close(&f->j, ']');
}

/* Writes all tables. Threads have been written before: they refer to entries by number only. */
int firefox_tables_write(struct firefox *f)
{
	static const char *const symbols[] = { "address", "functionSize", "libIndex", "name",
		                               NULL };
	int r;

	firefox_open(f, "shared", '{');
	tables_stacks(f);
	r = tables_frames(f);
	tables_functions(f);
	tables_resources(f);
	firefox_empty(f, "nativeSymbols", symbols);
	tables_sources(f);
	tables_locations(f);
	tables_strings(f);
	json_close(&f->j, '}');
	return r;
}
