// SPDX-License-Identifier: MIT
// firefox.c: the Firefox Profiler's processed profile format, preprocessed version 55: a thread per
// (event, pid, tid) with tables of its own. Times are milliseconds since the first sample of the
// recording. Every sample counts one.
//
// Invariant: all indices in a thread are into that thread's tables, and `libs` is the profile's
// objects in their order.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/json.h"
#include "base/map.h"
#include "export/export.h"
#include "export/threads.h"

#define ADDRESS_MAX (1ULL << 53) /* what a number of JavaScript holds exactly */

enum {
	CATEGORY_OTHER,
	CATEGORY_USER,
	CATEGORY_KERNEL
};

/* A thread's tables, in the order in which the stacks met them. */
struct firefox {
	const struct profile *p;
	struct export_out *out;
	struct json j;
	uint64_t start_ns;
	struct intern strings;
	struct map stacks, frames, functions, resources; /* the profile's id -> index */
	struct buf stack_nodes;                          /* u32: nodes of the profile */
	struct buf frame_ids;                            /* u32: frames */
	struct buf function_frames;                      /* u32: a frame of each function */
	struct buf resource_objects;
	uint32_t *path;
	struct buf name;
};

static uint32_t firefox_at(const struct buf *list, size_t i)
{
	uint32_t v;

	memcpy(&v, list->bytes + i * sizeof(v), sizeof(v));
	return v;
}

static size_t firefox_count(const struct buf *list)
{
	return list->n / sizeof(uint32_t);
}

/* The index of a key, appended to list as value when it is new. */
static int firefox_index(struct map *map, uint64_t key, struct buf *list, uint32_t value,
                         uint64_t *ret)
{
	bool is_new;
	uint64_t *slot = map_slot(map, key, &is_new);

	if (!slot)
		return -ENOMEM;
	if (is_new) {
		*slot = firefox_count(list);
		if (buf_put(list, &value, sizeof(value)) < 0)
			return -ENOMEM;
	}
	*ret = *slot;
	return is_new;
}

static uint32_t firefox_string(struct firefox *f, const char *text, size_t n)
{
	return intern_bytes(&f->strings, text, n);
}

static uint32_t firefox_frame_name(struct firefox *f, uint32_t frame)
{
	buf_clear(&f->name);
	export_frame_name(f->p, frame, &f->name);
	return f->name.failed ? INTERN_FAILED : firefox_string(f, buf_text(&f->name), f->name.n);
}

/* A frame with its function and its library's resource into the tables. */
static int firefox_add_frame(struct firefox *f, uint32_t frame)
{
	const struct profile_frame *at = profile_frame_at(f->p, frame);
	uint64_t index;
	uint32_t name;
	int r = firefox_index(&f->frames, frame, &f->frame_ids, frame, &index);

	if (r <= 0)
		return r;
	name = firefox_frame_name(f, frame);
	if (name == INTERN_FAILED)
		return -ENOMEM;
	r = firefox_index(&f->functions, (uint64_t)at->object << 32 | name, &f->function_frames,
	                  frame, &index);
	if (r >= 0 && at->object)
		r = firefox_index(&f->resources, at->object, &f->resource_objects, at->object,
		                  &index);
	return r;
}

/* A node and those above it, prefixes first. */
static int firefox_add_stack(struct firefox *f, uint32_t node)
{
	uint64_t index;
	size_t depth = 0;
	int r = 0;

	for (; node != PROFILE_ROOT && !map_get(&f->stacks, node, NULL);
	     node = profile_node_at(f->p, node)->parent)
		f->path[depth++] = node;
	while (depth && r >= 0) {
		node = f->path[--depth];
		r = firefox_add_frame(f, profile_node_at(f->p, node)->frame);
		if (r >= 0)
			r = firefox_index(&f->stacks, node, &f->stack_nodes, node, &index);
	}
	return r;
}

static void firefox_clear(struct firefox *f)
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

/* ---- writing ---- */

static void firefox_open(struct firefox *f, const char *key, char bracket)
{
	json_key(&f->j, key);
	json_open(&f->j, bracket);
}

static void firefox_u64(struct firefox *f, const char *key, uint64_t v)
{
	json_key(&f->j, key);
	json_u64(&f->j, v);
}

static void firefox_text(struct firefox *f, const char *key, const char *text)
{
	json_key(&f->j, key);
	json_string(&f->j, text);
}

static void firefox_flag(struct firefox *f, const char *key, bool v)
{
	json_key(&f->j, key);
	json_bool(&f->j, v);
}

/* A column in which every row says the same. */
static void firefox_same(struct firefox *f, const char *key, size_t n, const char *literal)
{
	firefox_open(f, key, '[');
	for (size_t i = 0; i < n; i++) {
		if (i)
			buf_put(&f->out->buf, ",", 1);
		buf_put_text(&f->out->buf, literal);
	}
	json_close(&f->j, ']');
}

static void firefox_empty(struct firefox *f, const char *key, const char *const *columns)
{
	firefox_open(f, key, '{');
	firefox_u64(f, "length", 0);
	for (; *columns; columns++)
		firefox_same(f, *columns, 0, "");
	json_close(&f->j, '}');
}

static double firefox_ms(const struct firefox *f, uint64_t time_ns)
{
	return (double)(time_ns - f->start_ns) / 1e6;
}

static void firefox_samples(struct firefox *f, const struct threads *t,
                            const struct threads_thread *thread)
{
	uint64_t index;

	firefox_open(f, "samples", '{');
	firefox_u64(f, "length", thread->count);
	firefox_text(f, "weightType", "samples");
	json_key(&f->j, "weight");
	json_null(&f->j);
	firefox_open(f, "stack", '[');
	for (size_t i = 0; i < thread->count; i++) {
		uint32_t node = profile_sample_at(f->p, t->samples[thread->first + i])->key.node;

		if (node != PROFILE_ROOT && map_get(&f->stacks, node, &index))
			json_u64(&f->j, index);
		else
			json_null(&f->j);
	}
	json_close(&f->j, ']');
	firefox_open(f, "time", '[');
	for (size_t i = 0; i < thread->count; i++)
		json_double(&f->j,
		            firefox_ms(f, profile_sample_at(f->p, t->samples[thread->first + i])
		                                  ->time_ns),
		            6);
	json_close(&f->j, ']');
	json_close(&f->j, '}');
}

static void firefox_stack_table(struct firefox *f)
{
	size_t n = firefox_count(&f->stack_nodes);
	uint64_t index;

	firefox_open(f, "stackTable", '{');
	firefox_u64(f, "length", n);
	firefox_open(f, "prefix", '[');
	for (size_t i = 0; i < n; i++) {
		uint32_t up = profile_node_at(f->p, firefox_at(&f->stack_nodes, i))->parent;

		if (up != PROFILE_ROOT && map_get(&f->stacks, up, &index))
			json_u64(&f->j, index);
		else
			json_null(&f->j);
	}
	json_close(&f->j, ']');
	firefox_open(f, "frame", '[');
	for (size_t i = 0; i < n; i++) {
		uint32_t frame = profile_node_at(f->p, firefox_at(&f->stack_nodes, i))->frame;

		map_get(&f->frames, frame, &index);
		json_u64(&f->j, index);
	}
	json_close(&f->j, ']');
	json_close(&f->j, '}');
}

static unsigned firefox_category(const struct profile_frame *frame)
{
	switch (frame->kind) {
	case PROFILE_USER:
	case PROFILE_INLINED:
		return CATEGORY_USER;
	case PROFILE_KERNEL:
		return CATEGORY_KERNEL;
	default:
		return CATEGORY_OTHER;
	}
}

static uint64_t firefox_function(struct firefox *f, uint32_t frame)
{
	uint64_t index = 0;
	uint32_t name = firefox_frame_name(f, frame);

	map_get(&f->functions, (uint64_t)profile_frame_at(f->p, frame)->object << 32 | name,
	        &index);
	return index;
}

static void firefox_frame_cell(struct firefox *f, const char *column, uint32_t id)
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
		json_u64(&f->j, firefox_category(frame));
		break;
	case 'f':
		json_u64(&f->j, firefox_function(f, id));
		break;
	default:
		if (frame->line)
			json_u64(&f->j, frame->line);
		else
			json_null(&f->j);
	}
}

static void firefox_frame_table(struct firefox *f)
{
	static const char *const columns[] = { "address", "inlineDepth", "category", "func",
		                               "line" };
	size_t n = firefox_count(&f->frame_ids);

	firefox_open(f, "frameTable", '{');
	firefox_u64(f, "length", n);
	for (size_t c = 0; c < sizeof(columns) / sizeof(columns[0]); c++) {
		firefox_open(f, columns[c], '[');
		for (size_t i = 0; i < n; i++)
			firefox_frame_cell(f, columns[c], firefox_at(&f->frame_ids, i));
		json_close(&f->j, ']');
	}
	firefox_same(f, "subcategory", n, "0");
	firefox_same(f, "nativeSymbol", n, "null");
	firefox_same(f, "innerWindowID", n, "0");
	firefox_same(f, "column", n, "null");
	json_close(&f->j, '}');
}

static void firefox_function_table(struct firefox *f)
{
	size_t n = firefox_count(&f->function_frames);
	uint64_t index;

	firefox_open(f, "funcTable", '{');
	firefox_u64(f, "length", n);
	firefox_open(f, "name", '[');
	for (size_t i = 0; i < n; i++)
		json_u64(&f->j, firefox_frame_name(f, firefox_at(&f->function_frames, i)));
	json_close(&f->j, ']');
	firefox_open(f, "resource", '[');
	for (size_t i = 0; i < n; i++) {
		uint32_t frame = firefox_at(&f->function_frames, i);

		if (map_get(&f->resources, profile_frame_at(f->p, frame)->object, &index))
			json_u64(&f->j, index);
		else
			json_i64(&f->j, -1);
	}
	json_close(&f->j, ']');
	firefox_open(f, "fileName", '[');
	for (size_t i = 0; i < n; i++) {
		uint32_t file = profile_frame_at(f->p, firefox_at(&f->function_frames, i))->file;
		const char *text = profile_text(f->p, file);

		if (file)
			json_u64(&f->j, firefox_string(f, text, strlen(text)));
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

static void firefox_resource_table(struct firefox *f)
{
	size_t n = firefox_count(&f->resource_objects);

	firefox_open(f, "resourceTable", '{');
	firefox_u64(f, "length", n);
	firefox_open(f, "lib", '[');
	for (size_t i = 0; i < n; i++)
		json_u64(&f->j, firefox_at(&f->resource_objects, i) - 1);
	json_close(&f->j, ']');
	firefox_open(f, "name", '[');
	for (size_t i = 0; i < n; i++) {
		uint32_t object = firefox_at(&f->resource_objects, i);
		const char *path = profile_text(f->p, profile_object_at(f->p, object)->path);
		const char *base = export_base_name(path);

		json_u64(&f->j, firefox_string(f, base, strlen(base)));
	}
	json_close(&f->j, ']');
	firefox_same(f, "host", n, "null");
	firefox_same(f, "type", n, "1"); /* a library */
	json_close(&f->j, '}');
}

/* Behind the other tables: they add to it. */
static void firefox_strings(struct firefox *f)
{
	firefox_open(f, "stringArray", '[');
	if (!f->strings.n)
		json_string(&f->j, "");
	for (uint32_t i = 0; i < f->strings.n; i++)
		json_bytes(&f->j, intern_get(&f->strings, i), intern_length(&f->strings, i));
	json_close(&f->j, ']');
}

static void firefox_number_text(struct firefox *f, const char *key, uint32_t v)
{
	buf_clear(&f->name);
	buf_printf(&f->name, "%d", (int)v);
	firefox_text(f, key, buf_text(&f->name));
}

static void firefox_thread_head(struct firefox *f, const struct threads *t,
                                const struct threads_thread *thread)
{
	double first = firefox_ms(f, profile_sample_at(f->p, t->samples[thread->first])->time_ns);

	buf_clear(&f->name);
	buf_put_text(&f->name, profile_text(f->p, thread->comm));
	if (profile_n_events(f->p) > 1)
		buf_printf(&f->name, " (%s)", profile_event_name(f->p, thread->event));
	firefox_text(f, "name", buf_text(&f->name));
	firefox_text(f, "processName", profile_text(f->p, thread->comm));
	firefox_number_text(f, "pid", thread->pid);
	firefox_number_text(f, "tid", thread->tid);
	firefox_text(f, "processType", "default");
	firefox_flag(f, "isMainThread", thread->pid == thread->tid);
	firefox_flag(f, "showMarkersInTimeline", false);
	json_key(&f->j, "registerTime");
	json_double(&f->j, first, 6);
	json_key(&f->j, "unregisterTime");
	json_null(&f->j);
	json_key(&f->j, "processStartupTime");
	json_double(&f->j, 0, 1);
	json_key(&f->j, "processShutdownTime");
	json_null(&f->j);
	firefox_same(f, "pausedRanges", 0, "");
}

static int firefox_thread(struct firefox *f, const struct threads *t,
                          const struct threads_thread *thread)
{
	static const char *const markers[] = { "category", "data",      "endTime", "name",
		                               "phase",    "startTime", NULL };
	static const char *const symbols[] = { "address", "functionSize", "libIndex", "name",
		                               NULL };
	int r = 0;

	firefox_clear(f);
	for (size_t i = 0; i < thread->count && r >= 0; i++)
		r = firefox_add_stack(
		        f, profile_sample_at(f->p, t->samples[thread->first + i])->key.node);
	if (r < 0)
		return r;
	json_open(&f->j, '{');
	firefox_thread_head(f, t, thread);
	firefox_samples(f, t, thread);
	firefox_empty(f, "markers", markers);
	firefox_empty(f, "nativeSymbols", symbols);
	firefox_stack_table(f);
	firefox_frame_table(f);
	firefox_function_table(f);
	firefox_resource_table(f);
	firefox_strings(f);
	json_close(&f->j, '}');
	return export_step(f->out);
}

static void firefox_libs(struct firefox *f)
{
	firefox_open(f, "libs", '[');
	for (uint32_t i = 1; i <= profile_n_objects(f->p); i++) {
		const struct profile_object *o = profile_object_at(f->p, i);
		const char *path = profile_text(f->p, o->path), *base = export_base_name(path);

		json_open(&f->j, '{');
		firefox_text(f, "name", base);
		firefox_text(f, "path", path);
		firefox_text(f, "debugName", base);
		firefox_text(f, "debugPath", path);
		firefox_text(f, "breakpadId", "");
		firefox_text(f, "codeId", o->build_id ? profile_text(f->p, o->build_id) : NULL);
		firefox_text(f, "arch", NULL);
		json_close(&f->j, '}');
	}
	json_close(&f->j, ']');
}

static void firefox_categories(struct firefox *f)
{
	static const char *const names[][2] = { { "Other", "grey" },
		                                { "User", "yellow" },
		                                { "Kernel", "orange" } };

	firefox_open(f, "categories", '[');
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		json_open(&f->j, '{');
		firefox_text(f, "name", names[i][0]);
		firefox_text(f, "color", names[i][1]);
		firefox_same(f, "subcategories", 1, "\"Other\"");
		json_close(&f->j, '}');
	}
	json_close(&f->j, ']');
}

static void firefox_meta(struct firefox *f)
{
	firefox_open(f, "meta", '{');
	firefox_u64(f, "version", 24);
	firefox_u64(f, "preprocessedProfileVersion", 55);
	firefox_text(f, "product", "seam");
	firefox_u64(f, "processType", 0);
	firefox_u64(f, "interval", 1);
	firefox_u64(f, "startTime", 0);
	firefox_flag(f, "debug", false);
	firefox_flag(f, "symbolicated", true);
	firefox_flag(f, "usesOnlyOneStackType", true);
	firefox_flag(f, "sourceCodeIsNotOnSearchfox", true);
	firefox_same(f, "markerSchema", 0, "");
	firefox_same(f, "pausedRanges", 0, "");
	firefox_open(f, "sampleUnits", '{');
	firefox_text(f, "time", "ms");
	firefox_text(f, "eventDelay", "ms");
	firefox_text(f, "threadCPUDelta", "ns");
	json_close(&f->j, '}');
	firefox_open(f, "extensions", '{');
	firefox_u64(f, "length", 0);
	firefox_same(f, "id", 0, "");
	firefox_same(f, "name", 0, "");
	firefox_same(f, "baseURL", 0, "");
	json_close(&f->j, '}');
	firefox_categories(f);
	json_close(&f->j, '}');
}

static int firefox_write(struct firefox *f, const struct threads *t)
{
	int r = 0;

	json_open(&f->j, '{');
	firefox_meta(f);
	firefox_libs(f);
	firefox_same(f, "pages", 0, "");
	firefox_same(f, "profilerOverhead", 0, "");
	firefox_same(f, "counters", 0, "");
	firefox_open(f, "threads", '[');
	for (size_t i = 0; i < t->n && r >= 0; i++)
		r = firefox_thread(f, t, &t->threads[i]);
	json_close(&f->j, ']');
	json_close(&f->j, '}');
	buf_put(&f->out->buf, "\n", 1);
	return r < 0 ? r : export_flush(f->out);
}

int export_firefox(const struct profile *p, const struct export_opts *opts, struct export_out *out)
{
	struct firefox f = { .p = p, .out = out, .j = { .out = &out->buf } };
	struct threads threads = { 0 };
	int r = threads_build(&threads, p, opts);

	f.path = calloc(profile_n_nodes(p) + 1, sizeof(*f.path));
	f.start_ns = profile_n_samples(p) ? profile_sample_at(p, 0)->time_ns : 0;
	if (r >= 0)
		r = f.path ? firefox_write(&f, &threads) : -ENOMEM;
	firefox_clear(&f);
	buf_free(&f.stack_nodes);
	buf_free(&f.frame_ids);
	buf_free(&f.function_frames);
	buf_free(&f.resource_objects);
	buf_free(&f.name);
	free(f.path);
	threads_free(&threads);
	return r;
}
