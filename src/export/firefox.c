// SPDX-License-Identifier: MIT
/*
 * firefox.c: the Firefox Profiler's processed profile format, version 75: a thread per (event, pid,
 * tid), and tables that all threads share. Times are milliseconds since the first sample of the
 * recording. A sample counts its weight: milliseconds where the event counts time, else the format
 * has no other word for it than "samples".
 *
 * Invariant: `libs` is the profile's objects in their order. The tables are firefox_tables.c's.
 *
 * Needs samples with times (threads.c groups them). Strings of the format go through base/json,
 * which escapes them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export/firefox.h"
#include "export/threads.h"
#include "export/runtime.h"

/* Milliseconds since the start, as all times of the format are. */
static double firefox_ms(const struct firefox *f, uint64_t time_ns)
{
	return (double)(time_ns - f->start_ns) / 1e6;
}

/* The i-th sample of a thread, in order of time. */
static const struct profile_sample *firefox_at(const struct firefox *f, const struct threads *t,
                                               const struct threads_thread *thread, size_t i)
{
	return profile_sample_at(f->p, t->samples[thread->first + i]);
}

/* What each sample counts. Without the column that is one. "tracing-ms" makes the Profiler show
 * times. */
static void firefox_weights(struct firefox *f, const struct threads *t,
                            const struct threads_thread *thread)
{
	bool is_time = profile_event_unit(f->p, thread->event) == PROFILE_NANOSECONDS;
	bool differ = is_time;

	for (size_t i = 0; i < thread->count && !differ; i++)
		differ = firefox_at(f, t, thread, i)->weight != 1;
	firefox_text(f, "weightType", is_time ? "tracing-ms" : "samples");
	if (!differ) {
		json_key(&f->j, "weight");
		json_null(&f->j);
		return;
	}
	firefox_open(f, "weight", '[');
	for (size_t i = 0; i < thread->count; i++) {
		uint64_t weight = firefox_at(f, t, thread, i)->weight;

		if (is_time)
			json_double(&f->j, (double)weight / 1e6, 6);
		else
			json_u64(&f->j, weight);
	}
	json_close(&f->j, ']');
}

/* What the thread used of its CPU since its sample before, where the event's weights are that. */
static void firefox_cpu(struct firefox *f, const struct threads *t,
                        const struct threads_thread *thread)
{
	if (f->cpu == ORIGIN_CPU_UNKNOWN ||
	    origin_cpu_of(profile_origin_of(f->p), thread->event) != f->cpu)
		return;
	firefox_open(f, "threadCPUDelta", '[');
	for (size_t i = 0; i < thread->count; i++)
		json_u64(&f->j, firefox_at(f, t, thread, i)->weight);
	json_close(&f->j, ']');
}

/* Writes the samples of one thread as columns: their weights, their stacks as indices into the
 * tables, and their times in milliseconds. */
static void firefox_samples(struct firefox *f, const struct threads *t,
                            const struct threads_thread *thread)
{
	uint64_t index;

	firefox_open(f, "samples", '{');
	firefox_u64(f, "length", thread->count);
	firefox_weights(f, t, thread);
	firefox_open(f, "stack", '[');
	for (size_t i = 0; i < thread->count; i++) {
		uint32_t node = profile_key_of(f->p, firefox_at(f, t, thread, i))->node;

		if (node != PROFILE_ROOT && map_get(&f->stacks, node, &index))
			json_u64(&f->j, index);
		else
			json_null(&f->j);
	}
	json_close(&f->j, ']');
	firefox_open(f, "time", '[');
	for (size_t i = 0; i < thread->count; i++)
		json_double(&f->j, firefox_ms(f, firefox_at(f, t, thread, i)->time_ns), 6);
	json_close(&f->j, ']');
	firefox_cpu(f, t, thread);
	json_close(&f->j, '}');
}

/* A pid is text in this format, a tid a number. */
static void firefox_number_text(struct firefox *f, const char *key, uint32_t v)
{
	buf_clear(&f->name);
	buf_printf(&f->name, "%d", (int)v);
	firefox_text(f, key, buf_text(&f->name));
}

/* A process has one main thread: of several, all but the last would have no track. */
/* 1: this is it; 0; -ENOMEM. */
static int firefox_is_main(struct firefox *f, const struct threads_thread *thread)
{
	bool is_new;

	if (thread->pid != thread->tid)
		return 0;
	return map_slot(&f->mains, thread->pid, &is_new) ? is_new : -ENOMEM;
}

/* The event stands behind the name where there are several, and where weights are no samples.
 * -ENOMEM. */
static int firefox_thread_head(struct firefox *f, const struct threads *t,
                               const struct threads_thread *thread)
{
	double first = firefox_ms(f, firefox_at(f, t, thread, 0)->time_ns);
	int is_main = firefox_is_main(f, thread);

	if (is_main < 0)
		return is_main;
	buf_clear(&f->name);
	buf_put_text(&f->name, profile_text(f->p, thread->comm));
	if (t->several || profile_event_unit(f->p, thread->event) != PROFILE_NANOSECONDS)
		buf_printf(&f->name, " (%s)", profile_event_name(f->p, thread->event));
	firefox_text(f, "name", buf_text(&f->name));
	firefox_text(f, "processName", profile_text(f->p, thread->comm));
	firefox_number_text(f, "pid", thread->pid);
	json_key(&f->j, "tid");
	json_i64(&f->j, (int32_t)thread->tid);
	firefox_text(f, "processType", "default");
	firefox_flag(f, "isMainThread", is_main);
	firefox_flag(f, "showMarkersInTimeline", false);
	/* When a thread began is not known: its first sample stands for it. */
	json_key(&f->j, "registerTime");
	json_double(&f->j, first, 6);
	json_key(&f->j, "unregisterTime");
	json_null(&f->j);
	json_key(&f->j, "processStartupTime");
	json_double(&f->j, 0, 1);
	json_key(&f->j, "processShutdownTime");
	json_null(&f->j);
	firefox_same(f, "pausedRanges", 0, "");
	return 0;
}

/* Milliseconds from one sample to the next while a thread runs; 1 where that is not known. */
static double firefox_interval(const struct firefox *f, const struct threads *t)
{
	uint32_t event = t->n ? t->threads[0].event : 0;
	uint64_t period = event ? origin_period_of(profile_origin_of(f->p), event) : 0;

	return period && profile_event_unit(f->p, event) == PROFILE_NANOSECONDS
	               ? (double)period / 1e6
	               : 1;
}

/* Writes one thread. The tables must be filled before, because samples name their entries. */
static int firefox_thread(struct firefox *f, const struct threads *t,
                          const struct threads_thread *thread)
{
	int r;

	json_open(&f->j, '{');
	r = firefox_thread_head(f, t, thread);
	if (r < 0)
		return r;
	firefox_samples(f, t, thread);
	r = firefox_markers(f, t, thread, firefox_interval(f, t));
	json_close(&f->j, '}');
	return r < 0 ? r : export_step(f->out);
}

/* What the Profiler asks its symbol servers for: the first 16 bytes of the build-id in the order of
 * a GUID, and an age, which is 0 here. The GUID's first three fields are little-endian numbers. */
static void firefox_breakpad_id(struct firefox *f, const char *build_id)
{
	static const unsigned char order[16] = { 3, 2, 1,  0,  5,  4,  7,  6,
		                                 8, 9, 10, 11, 12, 13, 14, 15 };
	size_t n = strlen(build_id);

	buf_clear(&f->name);
	/* Two digits a byte; what the build-id lacks is 0. */
	for (size_t i = 0; i < 32 && n; i++) {
		size_t from = 2 * order[i / 2] + i % 2;
		char digit = from < n ? build_id[from] : '0';

		if (digit >= 'a' && digit <= 'f')
			digit = (char)(digit - 'a' + 'A');
		buf_put(&f->name, &digit, 1);
	}
	buf_put_text(&f->name, n ? "0" : "");
	firefox_text(f, "breakpadId", buf_text(&f->name));
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
		firefox_breakpad_id(f, profile_text(f->p, o->build_id));
		firefox_text(f, "codeId", o->build_id ? profile_text(f->p, o->build_id) : NULL);
		firefox_text(f, "arch", "");
		json_close(&f->j, '}');
	}
	json_close(&f->j, ']');
}

static void firefox_category(struct firefox *f, const char *name, const char *color)
{
	json_open(&f->j, '{');
	firefox_text(f, "name", name);
	firefox_text(f, "color", color);
	firefox_same(f, "subcategories", 1, "\"Other\"");
	json_close(&f->j, '}');
}

/* Frames have one of these by their kind (firefox_tables.c). The order is that of FIREFOX_*. */
static void firefox_categories(struct firefox *f)
{
	const struct runtime *runtime;

	firefox_open(f, "categories", '[');
	firefox_category(f, "Other", "grey");
	firefox_category(f, "User", "yellow");
	firefox_category(f, "Kernel", "orange");
	for (uint32_t i = 0; runtime_any(f->p) && (runtime = runtime_at(i)); i++)
		firefox_category(f, runtime->name, runtime->color);
	json_close(&f->j, ']');
}

/* One unit holds for the whole file: nanoseconds, where one of the threads has them. */
static enum origin_cpu firefox_cpu_unit(const struct firefox *f, const struct threads *t)
{
	enum origin_cpu unit = ORIGIN_CPU_UNKNOWN;

	for (size_t i = 0; i < t->n && unit != ORIGIN_CPU_NANOSECONDS; i++) {
		enum origin_cpu cpu = origin_cpu_of(profile_origin_of(f->p), t->threads[i].event);

		unit = cpu ? cpu : unit;
	}
	return unit;
}

/* Writes the head of the file: versions, units, and the lists that the format demands even where
 * they are empty. */
static void firefox_meta(struct firefox *f, const struct threads *t)
{
	uint64_t epoch_ns = profile_origin_of(f->p)->epoch_ns;

	f->cpu = firefox_cpu_unit(f, t);
	firefox_open(f, "meta", '{');
	/* Versions of the format that the fields below are of; the Profiler converts older ones. */
	firefox_u64(f, "version", 36);
	firefox_u64(f, "preprocessedProfileVersion", 75);
	firefox_text(f, "product", "seam");
	firefox_u64(f, "processType", 0);
	firefox_u64(f, "stackwalk", 1);
	json_key(&f->j, "interval");
	json_double(&f->j, firefox_interval(f, t), 6);
	json_key(&f->j, "startTime");
	json_double(&f->j, epoch_ns ? (double)(epoch_ns + f->start_ns) / 1e6 : 0, 3);
	firefox_flag(f, "debug", false);
	firefox_flag(f, "symbolicated", true);
	firefox_flag(f, "usesOnlyOneStackType", true);
	firefox_flag(f, "sourceCodeIsNotOnSearchfox", true);
	firefox_marker_schema(f);
	firefox_open(f, "sampleUnits", '{');
	firefox_text(f, "time", "ms");
	firefox_text(f, "eventDelay", "ms");
	firefox_text(f, "threadCPUDelta",
	             f->cpu == ORIGIN_CPU_CYCLES ? "variable CPU cycles" : "ns");
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

/* Writes the whole file, part by part. -errno; then only a part of it was written. */
static int firefox_write(struct firefox *f, const struct threads *t)
{
	int r = 0;

	json_open(&f->j, '{');
	firefox_meta(f, t);
	firefox_libs(f);
	firefox_same(f, "pages", 0, "");
	firefox_same(f, "profilerOverhead", 0, "");
	firefox_same(f, "counters", 0, "");
	firefox_open(f, "threads", '[');
	for (size_t i = 0; i < t->n && r >= 0; i++)
		r = firefox_thread(f, t, &t->threads[i]);
	json_close(&f->j, ']');
	if (r >= 0)
		r = firefox_tables_write(f);
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
	if (r >= 0 && !f.path)
		r = -ENOMEM;
	for (size_t i = 0; i < threads.n_samples && r >= 0; i++)
		r = firefox_tables_add(
		        &f, profile_key_of(p, profile_sample_at(p, threads.samples[i]))->node);
	if (r >= 0)
		r = firefox_write(&f, &threads);
	firefox_tables_clear(&f);
	map_free(&f.mains);
	buf_free(&f.name);
	free(f.path);
	threads_free(&threads);
	return r;
}
