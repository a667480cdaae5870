// SPDX-License-Identifier: MIT
// firefox.c: the Firefox Profiler's processed profile format, preprocessed version 55: a thread per
// (event, pid, tid) with tables of its own. Times are milliseconds since the first sample of the
// recording. Every sample counts one.
//
// Invariant: `libs` is the profile's objects in their order. A thread's tables are
// firefox_tables.c's.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export/firefox.h"
#include "export/threads.h"

void firefox_open(struct firefox *f, const char *key, char bracket)
{
	json_key(&f->j, key);
	json_open(&f->j, bracket);
}

void firefox_u64(struct firefox *f, const char *key, uint64_t v)
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

void firefox_same(struct firefox *f, const char *key, size_t n, const char *literal)
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

/* Writes the samples of one thread as columns: their stacks, as indices into the thread's tables,
 * and their times in milliseconds. */
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

static void firefox_number_text(struct firefox *f, const char *key, uint32_t v)
{
	buf_clear(&f->name);
	buf_printf(&f->name, "%d", (int)v);
	firefox_text(f, key, buf_text(&f->name));
}

/* Writes what the format says of a thread in front of its tables. A name is the thread's comm, with
 * the event if there are several. */
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

/* Writes one thread with its own tables. The tables must be filled before the samples are written,
 * because samples name their entries. */
static int firefox_thread(struct firefox *f, const struct threads *t,
                          const struct threads_thread *thread)
{
	static const char *const markers[] = { "category", "data",      "endTime", "name",
		                               "phase",    "startTime", NULL };
	static const char *const symbols[] = { "address", "functionSize", "libIndex", "name",
		                               NULL };
	int r = 0;

	firefox_tables_clear(f);
	for (size_t i = 0; i < thread->count && r >= 0; i++)
		r = firefox_tables_add(
		        f, profile_sample_at(f->p, t->samples[thread->first + i])->key.node);
	if (r < 0)
		return r;
	json_open(&f->j, '{');
	firefox_thread_head(f, t, thread);
	firefox_samples(f, t, thread);
	firefox_empty(f, "markers", markers);
	firefox_empty(f, "nativeSymbols", symbols);
	firefox_tables_write(f);
	json_close(&f->j, '}');
	return export_step(f->out);
}

/* Writes the list of objects. Frames refer to it by index, so all objects are written, in their
 * order. */
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

/* Writes the head of the file: versions, units, and the lists that the format demands even where
 * they are empty. */
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

/* Needs samples with times, in order of time; see export.c for what each format needs. */
int export_firefox(const struct profile *p, const struct export_opts *opts, struct export_out *out)
{
	struct firefox f = { .p = p, .out = out, .j = { .out = &out->buf } };
	struct threads threads = { 0 };
	int r = threads_build(&threads, p, opts);

	f.path = calloc(profile_n_nodes(p) + 1, sizeof(*f.path));
	f.start_ns = profile_n_samples(p) ? profile_sample_at(p, 0)->time_ns : 0;
	if (r >= 0)
		r = f.path ? firefox_write(&f, &threads) : -ENOMEM;
	firefox_tables_clear(&f);
	buf_free(&f.stack_nodes);
	buf_free(&f.frame_ids);
	buf_free(&f.function_frames);
	buf_free(&f.resource_objects);
	buf_free(&f.name);
	free(f.path);
	threads_free(&threads);
	return r;
}
