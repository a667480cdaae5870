// SPDX-License-Identifier: MIT
/*
 * perfetto.c: a Perfetto trace: names of processes and threads, then a packet per sample. Each
 * event is a sequence of packets of its own, because its defaults name the event; what a sample
 * needs of names, frames and stacks stands interned in the first packet that needs it.
 *
 * Times are those of the recording, said to be of the trace's own clock. A sample's count is the
 * counter's value on its CPU: the sum of the weights until then. Field numbers:
 * perfetto_trace.proto of August 2026. Interned ids hold within a sequence only: a new one begins
 * with FLAG_CLEARED.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "export/export.h"
#include "export/proto.h"

enum {
	TRACE_PACKET = 1
};
enum {
	PACKET_PROCESS_TREE = 2,
	PACKET_TIME = 8,
	PACKET_SEQUENCE = 10,
	PACKET_INTERNED = 12,
	PACKET_FLAGS = 13,
	PACKET_DEFAULTS = 59,
	PACKET_SAMPLE = 66
};
enum {
	FLAG_CLEARED = 1,
	FLAG_NEEDED = 2
};
enum {
	INTERNED_FUNCTIONS = 5,
	INTERNED_FRAMES,
	INTERNED_CALLSTACKS,
	INTERNED_BUILD_IDS = 16,
	INTERNED_PATHS,
	INTERNED_SOURCES,
	INTERNED_MAPPINGS
};
enum {
	STRING_ID = 1,
	STRING_TEXT
};
enum {
	FRAME_ID = 1,
	FRAME_FUNCTION,
	FRAME_MAPPING,
	FRAME_PC,
	FRAME_SOURCE,
	FRAME_LINE,
	FRAME_KIND
};
enum {
	CALLSTACK_ID = 1,
	CALLSTACK_FRAMES
};
enum {
	MAPPING_ID = 1,
	MAPPING_BUILD_ID,
	MAPPING_END = 5,
	MAPPING_PATH = 7
};
enum {
	SAMPLE_CPU = 1,
	SAMPLE_PID,
	SAMPLE_TID,
	SAMPLE_CALLSTACK,
	SAMPLE_MODE,
	SAMPLE_COUNT
};
enum {
	KIND_NATIVE = 1,
	KIND_KERNEL
};
enum {
	MODE_KERNEL = 1,
	MODE_USER
};
enum {
	DEFAULTS_SAMPLE = 12,
	SAMPLE_TIMEBASE = 1,
	TIMEBASE_NAME = 10
};
enum {
	TREE_PROCESS = 1,
	TREE_THREAD
};
enum {
	PROCESS_PID = 1,
	PROCESS_CMDLINE = 3
};
enum {
	THREAD_TID = 1,
	THREAD_NAME,
	THREAD_PROCESS
};

/* message and inner are room for messages within messages; what is complete goes into the next
 * one. */
struct perfetto {
	const struct profile *p;
	struct export_out *out;
	unsigned char *stacks, *frames, *objects; /* said in this sequence */
	uint32_t *path;
	struct map counters; /* CPU -> sum of the event's weights there */
	struct buf packet, interned, message, inner, name;
};

/* Puts the gathered packet into the trace. */
static int perfetto_packet(struct perfetto *w)
{
	w->out->buf.failed |= w->interned.failed || w->inner.failed || w->name.failed;
	proto_message(&w->out->buf, TRACE_PACKET, &w->packet);
	return export_step(w->out);
}

/* ---- names ---- */

/* Says what a thread is called, and its process if it is the main one. */
static void perfetto_thread(struct perfetto *w, const struct profile_task *task)
{
	proto_u64(&w->inner, THREAD_TID, task->tid);
	proto_text(&w->inner, THREAD_NAME, profile_text(w->p, task->comm));
	proto_u64(&w->inner, THREAD_PROCESS, task->pid);
	proto_message(&w->message, TREE_THREAD, &w->inner);
	if (task->pid != task->tid)
		return;
	proto_u64(&w->inner, PROCESS_PID, task->pid);
	proto_text(&w->inner, PROCESS_CMDLINE, profile_text(w->p, task->comm));
	proto_message(&w->message, TREE_PROCESS, &w->inner);
}

/* The first packet: names of all tasks, in a sequence of its own. */
static int perfetto_names(struct perfetto *w, uint64_t time_ns)
{
	for (uint32_t i = 1; i <= profile_n_tasks(w->p); i++) {
		const struct profile_task *task = profile_task_at(w->p, i);

		/* The idle task has no process; Perfetto knows it by itself. */
		if (task->tid && task->tid != PROFILE_NOT_KEPT && task->pid != PROFILE_NOT_KEPT)
			perfetto_thread(w, task);
	}
	proto_message(&w->packet, PACKET_PROCESS_TREE, &w->message);
	proto_u64(&w->packet, PACKET_TIME, time_ns);
	proto_u64(&w->packet, PACKET_SEQUENCE, profile_n_events(w->p) + 1);
	return perfetto_packet(w);
}

/* ---- interned data: ids are the profile's; a mapping's is its object's + 1, because frames
 *      without an object need one, too ---- */

static void perfetto_string(struct perfetto *w, unsigned field, uint32_t id, const char *text)
{
	proto_u64(&w->inner, STRING_ID, id);
	proto_text(&w->inner, STRING_TEXT, text);
	proto_message(&w->interned, field, &w->inner);
}

/* "86f7" is the byte 0x86, the byte 0xf7. What is no digit gives 0. */
static void perfetto_unhex(struct buf *to, const char *hex)
{
	static const char digits[] = "0123456789abcdef";

	for (; hex[0] && hex[1]; hex += 2) {
		const char *high = strchr(digits, hex[0]), *low = strchr(digits, hex[1]);
		unsigned char byte =
		        high && low ? (unsigned char)((high - digits) << 4 | (low - digits)) : 0;

		buf_put(to, &byte, 1);
	}
}

/* Interns an object as a mapping with its build-id and path, unless an earlier packet did. */
static void perfetto_object(struct perfetto *w, uint32_t object)
{
	const struct profile_object *o = profile_object_at(w->p, object);
	const char *path = profile_text(w->p, o->path);

	if (w->objects[object])
		return;
	w->objects[object] = 1;
	buf_clear(&w->name);
	perfetto_unhex(&w->name, profile_text(w->p, o->build_id));
	proto_u64(&w->inner, STRING_ID, object + 1);
	proto_bytes(&w->inner, STRING_TEXT, w->name.bytes, w->name.n);
	proto_message(&w->interned, INTERNED_BUILD_IDS, &w->inner);
	/* The parts of a path get a slash in front of each. */
	perfetto_string(w, INTERNED_PATHS, object + 1, path[0] == '/' ? path + 1 : path);
	proto_u64(&w->message, MAPPING_ID, object + 1);
	proto_u64(&w->message, MAPPING_BUILD_ID, object + 1);
	/* All addresses of the object, as frames have the object's own. */
	proto_u64(&w->message, MAPPING_END, UINT64_MAX);
	proto_u64(&w->message, MAPPING_PATH, object + 1);
	proto_message(&w->interned, INTERNED_MAPPINGS, &w->message);
}

/* Interns a frame with its name, source and object, unless an earlier packet did. */
static void perfetto_frame(struct perfetto *w, uint32_t frame)
{
	const struct profile_frame *f = profile_frame_at(w->p, frame);

	if (w->frames[frame])
		return;
	w->frames[frame] = 1;
	perfetto_object(w, f->object);
	buf_clear(&w->name);
	export_frame_name(w->p, frame, &w->name);
	perfetto_string(w, INTERNED_FUNCTIONS, frame, buf_text(&w->name));
	if (f->file)
		perfetto_string(w, INTERNED_SOURCES, frame, profile_text(w->p, f->file));
	proto_u64(&w->message, FRAME_ID, frame);
	proto_u64(&w->message, FRAME_FUNCTION, frame);
	proto_u64(&w->message, FRAME_MAPPING, f->object + 1);
	proto_u64(&w->message, FRAME_PC, f->address);
	/* A source has the number of its frame. */
	proto_u64(&w->message, FRAME_SOURCE, f->file ? frame : 0);
	proto_u64(&w->message, FRAME_LINE, f->line);
	proto_u64(&w->message, FRAME_KIND,
	          f->kind == PROFILE_KERNEL    ? KIND_KERNEL
	          : f->kind == PROFILE_UNKNOWN ? 0
	                                       : KIND_NATIVE);
	proto_message(&w->interned, INTERNED_FRAMES, &w->message);
}

/* Interns a stack, with its frames, unless an earlier packet did. */
static void perfetto_stack(struct perfetto *w, uint32_t node)
{
	size_t depth = 0;

	if (node == PROFILE_ROOT || w->stacks[node])
		return;
	w->stacks[node] = 1;
	for (uint32_t at = node; at != PROFILE_ROOT; at = profile_node_at(w->p, at).parent)
		w->path[depth++] = profile_node_at(w->p, at).frame;
	for (size_t i = 0; i < depth; i++)
		perfetto_frame(w, w->path[i]);
	proto_u64(&w->message, CALLSTACK_ID, node);
	while (depth) /* outermost first */
		proto_u64(&w->message, CALLSTACK_FRAMES, w->path[--depth]);
	proto_message(&w->interned, INTERNED_CALLSTACKS, &w->message);
}

/* ---- samples ---- */

/* Writes the packet of one sample, with whatever of its stack was not interned before. -ENOMEM, or
 * what writing returned. */
static int perfetto_sample(struct perfetto *w, const struct profile_sample *s)
{
	const struct profile_key *key = profile_key_of(w->p, s);
	uint64_t *counter = map_slot(&w->counters, key->cpu, NULL);
	const struct profile_task *task = profile_task_at(w->p, key->task);
	unsigned kind = profile_frame_at(w->p, profile_node_at(w->p, key->node).frame)->kind;

	if (!counter)
		return -ENOMEM;
	*counter += s->weight;
	perfetto_stack(w, key->node);
	if (w->interned.n)
		proto_message(&w->packet, PACKET_INTERNED, &w->interned);
	if (key->cpu != PROFILE_NOT_KEPT)
		proto_u64(&w->message, SAMPLE_CPU, key->cpu);
	proto_u64(&w->message, SAMPLE_PID, task->pid == PROFILE_NOT_KEPT ? 0 : task->pid);
	proto_u64(&w->message, SAMPLE_TID, task->tid == PROFILE_NOT_KEPT ? 0 : task->tid);
	proto_u64(&w->message, SAMPLE_CALLSTACK, key->node);
	/* A sample without frames is taken for user code. */
	proto_u64(&w->message, SAMPLE_MODE, kind == PROFILE_KERNEL ? MODE_KERNEL : MODE_USER);
	proto_u64(&w->message, SAMPLE_COUNT, *counter);
	proto_message(&w->packet, PACKET_SAMPLE, &w->message);
	proto_u64(&w->packet, PACKET_TIME, s->time_ns);
	proto_u64(&w->packet, PACKET_SEQUENCE, key->event);
	proto_u64(&w->packet, PACKET_FLAGS, FLAG_NEEDED);
	return perfetto_packet(w);
}

/* The first packet of an event's sequence: what holds for all of them. */
static int perfetto_event_start(struct perfetto *w, uint32_t event)
{
	map_free(&w->counters);
	w->counters = (struct map){ 0 };
	memset(w->stacks, 0, profile_n_nodes(w->p) + 1);
	memset(w->frames, 0, profile_n_frames(w->p) + 1);
	memset(w->objects, 0, profile_n_objects(w->p) + 1);
	/* A counter has no place for its unit but its name. */
	buf_clear(&w->name);
	buf_put_text(&w->name, profile_event_name(w->p, event));
	if (profile_event_unit(w->p, event) == PROFILE_NANOSECONDS)
		buf_put_text(&w->name, " (ns)");
	proto_text(&w->inner, TIMEBASE_NAME, buf_text(&w->name));
	proto_message(&w->message, SAMPLE_TIMEBASE, &w->inner);
	proto_message(&w->inner, DEFAULTS_SAMPLE, &w->message);
	proto_message(&w->packet, PACKET_DEFAULTS, &w->inner);
	proto_u64(&w->packet, PACKET_SEQUENCE, event);
	proto_u64(&w->packet, PACKET_FLAGS, FLAG_CLEARED);
	return perfetto_packet(w);
}

/* Goes over all samples once per event, so that sequences stay apart. */
static int perfetto_write(struct perfetto *w, const struct export_opts *opts)
{
	size_t n = profile_n_samples(w->p);
	int r = perfetto_names(w, n ? profile_sample_at(w->p, 0)->time_ns : 0);

	for (uint32_t e = 1; e <= profile_n_events(w->p) && r >= 0; e++) {
		if (!export_wants(opts, e))
			continue;
		r = perfetto_event_start(w, e);
		for (size_t i = 0; i < n && r >= 0; i++)
			if (profile_key_of(w->p, profile_sample_at(w->p, i))->event == e)
				r = perfetto_sample(w, profile_sample_at(w->p, i));
	}
	return r < 0 ? r : export_flush(w->out);
}

/* Needs samples with times. Memory does not grow with their number: each is written as it comes. */
int export_perfetto(const struct profile *p, const struct export_opts *opts, struct export_out *out)
{
	struct perfetto w = { .p = p, .out = out };
	int r = -ENOMEM;

	w.stacks = calloc(profile_n_nodes(p) + 1, 1);
	w.frames = calloc(profile_n_frames(p) + 1, 1);
	w.objects = calloc(profile_n_objects(p) + 1, 1);
	w.path = calloc(profile_n_nodes(p) + 1, sizeof(*w.path));
	if (w.stacks && w.frames && w.objects && w.path)
		r = perfetto_write(&w, opts);
	buf_free(&w.packet);
	buf_free(&w.interned);
	buf_free(&w.message);
	buf_free(&w.inner);
	buf_free(&w.name);
	map_free(&w.counters);
	free(w.stacks);
	free(w.frames);
	free(w.objects);
	free(w.path);
	return r;
}
