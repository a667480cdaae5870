// SPDX-License-Identifier: MIT
// firefox_tables.c: the tables of one thread of the Firefox Profiler's format: stacks, frames,
// functions, resources and strings, in the order in which the thread's stacks met them. Which
// threads there are is firefox.c's.
//
// Invariant: all indices are into the same thread's tables.
#include "export/firefox.h"

#include <errno.h>
#include <string.h>

#define ADDRESS_MAX (1ULL << 53) /* what a number of JavaScript holds exactly */

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

/* The index of a key, appended to list as value when it is new. */
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

static uint32_t tables_string(struct firefox *f, const char *text, size_t n)
{
	return intern_bytes(&f->strings, text, n);
}

static uint32_t tables_frame_name(struct firefox *f, uint32_t frame)
{
	buf_clear(&f->name);
	export_frame_name(f->p, frame, &f->name);
	return f->name.failed ? INTERN_FAILED : tables_string(f, buf_text(&f->name), f->name.n);
}

/* A frame with its function and its library's resource into the tables. */
static int tables_add_frame(struct firefox *f, uint32_t frame)
{
	const struct profile_frame *at = profile_frame_at(f->p, frame);
	uint64_t index;
	uint32_t name;
	int r = tables_index(&f->frames, frame, &f->frame_ids, frame, &index);

	if (r <= 0)
		return r;
	name = tables_frame_name(f, frame);
	if (name == INTERN_FAILED)
		return -ENOMEM;
	r = tables_index(&f->functions, (uint64_t)at->object << 32 | name, &f->function_frames,
	                 frame, &index);
	if (r >= 0 && at->object)
		r = tables_index(&f->resources, at->object, &f->resource_objects, at->object,
		                 &index);
	return r;
}

/* A node and those above it, prefixes first. */
int firefox_tables_add(struct firefox *f, uint32_t node)
{
	uint64_t index;
	size_t depth = 0;
	int r = 0;

	for (; node != PROFILE_ROOT && !map_get(&f->stacks, node, NULL);
	     node = profile_node_at(f->p, node)->parent)
		f->path[depth++] = node;
	while (depth && r >= 0) {
		node = f->path[--depth];
		r = tables_add_frame(f, profile_node_at(f->p, node)->frame);
		if (r >= 0)
			r = tables_index(&f->stacks, node, &f->stack_nodes, node, &index);
	}
	return r;
}

void firefox_tables_clear(struct firefox *f)
{
	intern_free(&f->strings);
	map_free(&f->stacks);
	map_free(&f->frames);
	map_free(&f->functions);
	map_free(&f->resources);
	buf_clear(&f->stack_nodes);
	buf_clear(&f->frame_ids);
	buf_clear(&f->function_frames);
	buf_clear(&f->resource_objects);
}

/* Writes the table of stacks: each entry is a frame and the entry of its caller (prefix). */
static void tables_stacks(struct firefox *f)
{
	size_t n = tables_count(&f->stack_nodes);
	uint64_t index;

	firefox_open(f, "stackTable", '{');
	firefox_u64(f, "length", n);
	firefox_open(f, "prefix", '[');
	for (size_t i = 0; i < n; i++) {
		uint32_t up = profile_node_at(f->p, tables_at(&f->stack_nodes, i))->parent;

		if (up != PROFILE_ROOT && map_get(&f->stacks, up, &index))
			json_u64(&f->j, index);
		else
			json_null(&f->j);
	}
	json_close(&f->j, ']');
	firefox_open(f, "frame", '[');
	for (size_t i = 0; i < n; i++) {
		uint32_t frame = profile_node_at(f->p, tables_at(&f->stack_nodes, i))->frame;

		map_get(&f->frames, frame, &index);
		json_u64(&f->j, index);
	}
	json_close(&f->j, ']');
	json_close(&f->j, '}');
}

static unsigned tables_category(const struct profile_frame *frame)
{
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

static uint64_t tables_function(struct firefox *f, uint32_t frame)
{
	uint64_t index = 0;
	uint32_t name = tables_frame_name(f, frame);

	map_get(&f->functions, (uint64_t)profile_frame_at(f->p, frame)->object << 32 | name,
	        &index);
	return index;
}

/* Writes the value of a frame in one column. Columns are told apart by their first letters. */
static void tables_frame_cell(struct firefox *f, const char *column, uint32_t id)
{
	const struct profile_frame *frame = profile_frame_at(f->p, id);

	switch (column[0]) {
	case 'a':
		if (frame->object && frame->address < ADDRESS_MAX)
			json_u64(&f->j, frame->address);
		else
			json_i64(&f->j, -1);
		break;
	case 'i':
		json_u64(&f->j, frame->depth);
		break;
	case 'c':
		json_u64(&f->j, tables_category(frame));
		break;
	case 'f':
		json_u64(&f->j, tables_function(f, id));
		break;
	default:
		if (frame->line)
			json_u64(&f->j, frame->line);
		else
			json_null(&f->j);
	}
}

/* Writes the table of frames, column by column. Columns that say nothing in this format are filled
 * with a constant. */
static void tables_frames(struct firefox *f)
{
	static const char *const columns[] = { "address", "inlineDepth", "category", "func",
		                               "line" };
	size_t n = tables_count(&f->frame_ids);

	firefox_open(f, "frameTable", '{');
	firefox_u64(f, "length", n);
	for (size_t c = 0; c < sizeof(columns) / sizeof(columns[0]); c++) {
		firefox_open(f, columns[c], '[');
		for (size_t i = 0; i < n; i++)
			tables_frame_cell(f, columns[c], tables_at(&f->frame_ids, i));
		json_close(&f->j, ']');
	}
	firefox_same(f, "subcategory", n, "0");
	firefox_same(f, "nativeSymbol", n, "null");
	firefox_same(f, "innerWindowID", n, "0");
	firefox_same(f, "column", n, "null");
	json_close(&f->j, '}');
}

/* Writes the table of functions. Their names and files go into the table of strings, which is
 * therefore written last. */
static void tables_functions(struct firefox *f)
{
	size_t n = tables_count(&f->function_frames);
	uint64_t index;

	firefox_open(f, "funcTable", '{');
	firefox_u64(f, "length", n);
	firefox_open(f, "name", '[');
	for (size_t i = 0; i < n; i++)
		json_u64(&f->j, tables_frame_name(f, tables_at(&f->function_frames, i)));
	json_close(&f->j, ']');
	firefox_open(f, "resource", '[');
	for (size_t i = 0; i < n; i++) {
		uint32_t frame = tables_at(&f->function_frames, i);

		if (map_get(&f->resources, profile_frame_at(f->p, frame)->object, &index))
			json_u64(&f->j, index);
		else
			json_i64(&f->j, -1);
	}
	json_close(&f->j, ']');
	firefox_open(f, "fileName", '[');
	for (size_t i = 0; i < n; i++) {
		uint32_t file = profile_frame_at(f->p, tables_at(&f->function_frames, i))->file;
		const char *text = profile_text(f->p, file);

		if (file)
			json_u64(&f->j, tables_string(f, text, strlen(text)));
		else
			json_null(&f->j);
	}
	json_close(&f->j, ']');
	firefox_same(f, "isJS", n, "false");
	firefox_same(f, "relevantForJS", n, "false");
	firefox_same(f, "lineNumber", n, "null");
	firefox_same(f, "columnNumber", n, "null");
	json_close(&f->j, '}');
}

/* Writes the table of resources: a library for each object that a function of the thread lies
 * in. */
static void tables_resources(struct firefox *f)
{
	size_t n = tables_count(&f->resource_objects);

	firefox_open(f, "resourceTable", '{');
	firefox_u64(f, "length", n);
	firefox_open(f, "lib", '[');
	for (size_t i = 0; i < n; i++)
		json_u64(&f->j, tables_at(&f->resource_objects, i) - 1);
	json_close(&f->j, ']');
	firefox_open(f, "name", '[');
	for (size_t i = 0; i < n; i++) {
		uint32_t object = tables_at(&f->resource_objects, i);
		const char *path = profile_text(f->p, profile_object_at(f->p, object)->path);
		const char *base = export_base_name(path);

		json_u64(&f->j, tables_string(f, base, strlen(base)));
	}
	json_close(&f->j, ']');
	firefox_same(f, "host", n, "null");
	firefox_same(f, "type", n, "1"); /* a library */
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

void firefox_tables_write(struct firefox *f)
{
	tables_stacks(f);
	tables_frames(f);
	tables_functions(f);
	tables_resources(f);
	tables_strings(f);
}
