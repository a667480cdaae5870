// SPDX-License-Identifier: MIT
// pprof.c: profile.proto of github.com/google/pprof, gzip'd. Knows its field numbers and what pprof
// makes of them.
//
// Addresses are the objects' own, and so are the mappings: as if each object had been loaded where
// its program headers say. That is one mapping for an object in however many processes, and pprof
// works out that nothing is to be added. The first mapping is the program: pprof calls the profile
// by it. A location is a frame with what was inlined into it; its lines go from the innermost
// inlined function to the function that has the code. Functions without a name get no line, so that
// pprof can look them up by build-id.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/intern.h"
#include "export/export.h"
#include "export/gzip.h"
#include "export/labels.h"
#include "export/pprof_way.h"
#include "export/proto.h"
#include "profile/nameless.h"
#include "profile/origin.h"

enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE,
	PROFILE_MAPPING,
	PROFILE_LOCATION,
	PROFILE_FUNCTION,
	PROFILE_STRINGS,
	PROFILE_TIME = 9,
	PROFILE_DURATION,
	PROFILE_PERIOD_TYPE,
	PROFILE_PERIOD,
	PROFILE_COMMENT,
	PROFILE_DEFAULT_TYPE
};
enum {
	VALUE_TYPE = 1,
	VALUE_UNIT
};
enum {
	SAMPLE_LOCATIONS = 1,
	SAMPLE_VALUES,
	SAMPLE_LABEL
};
enum {
	LABEL_KEY = 1,
	LABEL_TEXT,
	LABEL_NUMBER
};
enum {
	MAPPING_ID = 1,
	MAPPING_START,
	MAPPING_LIMIT,
	MAPPING_OFFSET,
	MAPPING_FILE,
	MAPPING_BUILD_ID,
	MAPPING_HAS_FUNCTIONS,
	MAPPING_HAS_FILES,
	MAPPING_HAS_LINES,
	MAPPING_HAS_INLINES
};
enum {
	LOCATION_ID = 1,
	LOCATION_MAPPING,
	LOCATION_ADDRESS,
	LOCATION_LINE
};
enum {
	LINE_FUNCTION = 1,
	LINE_LINE
};
enum {
	FUNCTION_ID = 1,
	FUNCTION_NAME,
	FUNCTION_SYSTEM_NAME,
	FUNCTION_FILE
};

struct pprof {
	const struct profile *p;
	const struct export_opts *opts;
	struct buf *to;          /* the whole message */
	struct intern strings;   /* ids are the string table's */
	struct intern locations; /* runs of frames -> id */
	struct intern functions; /* (name, file) -> id */
	uint32_t *of_string;     /* the profile's id -> the table's; 0: not met yet */
	struct buf text, message, inner;
	struct buf run;       /* frames of one location, innermost first */
	struct pprof_way way; /* the locations of the last stack */
	struct pprof_new {
		uint32_t node, location;
	} * news; /* those of a stack that the one before did not have, innermost first */
	size_t news_capacity;
	struct buf tail; /* what a sample says behind its values, and of whom */
	struct profile_key tail_of;
	bool tail_known;
	uint32_t *of_node;  /* location whose innermost frame it is; 0: not made yet */
	uint32_t *of_frame; /* the same of a frame that nothing was inlined into */
	struct pprof_text {
		uint32_t id;
		bool known;
	} * comms; /* of tasks; states: of stack states */
	struct pprof_text states[PROFILE_STATES_MAX];
	uint32_t *columns; /* event -> first of its two values */
	unsigned n_columns;
	uint32_t program; /* object; 0: not known */
};

/* The string's number in the table. Bytes that are no UTF-8 are replaced, because protobuf demands
 * it. */
static uint32_t pprof_string(struct pprof *w, const char *text)
{
	buf_clear(&w->text);
	proto_utf8(&w->text, text, strlen(text));
	return intern_bytes(&w->strings, w->text.bytes, w->text.n);
}

/* A field of the profile itself; message is cleared. */
static void pprof_put(struct pprof *w, unsigned field)
{
	proto_message(w->to, field, &w->message);
}

/* A type and its unit. Types of samples are columns. */
static void pprof_value_type(struct pprof *w, unsigned field, const char *type, const char *unit)
{
	proto_u64(&w->message, VALUE_TYPE, pprof_string(w, type));
	proto_u64(&w->message, VALUE_UNIT, pprof_string(w, unit));
	pprof_put(w, field);
	w->n_columns += field == PROFILE_SAMPLE_TYPE;
}

/* The period of an event: what the recording says, or the mean where the period was let vary. */
static void pprof_period(struct pprof *w, uint32_t event)
{
	uint64_t period = origin_period_of(profile_origin_of(w->p), event);
	struct profile_account account;

	profile_account(w->p, event, &account);
	if (!period && account.samples)
		period = account.weight / account.samples;
	pprof_value_type(w, PROFILE_PERIOD_TYPE, profile_event_name(w->p, event),
	                 export_unit(w->p, event));
	proto_u64(w->to, PROFILE_PERIOD, period);
}

/* When the recording began and how long it was. Without the wall clock only the latter. */
static void pprof_times(struct pprof *w)
{
	const struct origin *o = profile_origin_of(w->p);

	if (!o->last_ns)
		return;
	if (o->epoch_ns)
		proto_u64(w->to, PROFILE_TIME, o->first_ns + o->epoch_ns);
	proto_u64(w->to, PROFILE_DURATION, o->last_ns - o->first_ns);
}

/* Two values per event: how many samples, and their weight in the event's unit. */
static int pprof_types(struct pprof *w)
{
	size_t n = profile_n_events(w->p);
	struct buf name = { 0 };
	unsigned wanted = 0;

	for (uint32_t e = 1; e <= n; e++)
		wanted += export_wants(w->opts, e);
	for (uint32_t e = 1; e <= n; e++) {
		const char *text = profile_event_name(w->p, e);

		if (!export_wants(w->opts, e))
			continue;
		w->columns[e] = w->n_columns;
		buf_clear(&name);
		/* A prefix is needed only if there are several events. */
		buf_printf(&name, wanted > 1 ? "%s.samples" : "samples", text);
		pprof_value_type(w, PROFILE_SAMPLE_TYPE, buf_text(&name), "count");
		pprof_value_type(w, PROFILE_SAMPLE_TYPE, text, export_unit(w->p, e));
		if (w->n_columns == 2) {
			proto_u64(w->to, PROFILE_DEFAULT_TYPE, pprof_string(w, text));
			pprof_period(w, e);
		}
	}
	buf_free(&name);
	return name.failed ? -ENOMEM : 0;
}

/* The same of a string of the profile. Many frames have the name of one function. */
static uint32_t pprof_known(struct pprof *w, uint32_t string)
{
	uint32_t *known = &w->of_string[string];

	if (!*known)
		*known = pprof_string(w, profile_text(w->p, string));
	return *known;
}

/* The number of a function, written when it is new. */
static uint32_t pprof_function(struct pprof *w, const struct profile_frame *f)
{
	uint32_t key[2] = { pprof_known(w, f->symbol), f->file ? pprof_known(w, f->file) : 0 };
	size_t before = w->functions.n;
	uint32_t id = intern_bytes(&w->functions, key, sizeof(key));

	if (id == INTERN_FAILED || w->functions.n == before)
		return id;
	proto_u64(&w->inner, FUNCTION_ID, id);
	proto_u64(&w->inner, FUNCTION_NAME, key[0]);
	proto_u64(&w->inner, FUNCTION_SYSTEM_NAME, key[0]);
	proto_u64(&w->inner, FUNCTION_FILE, key[1]);
	proto_message(w->to, PROFILE_FUNCTION, &w->inner);
	return id;
}

/* A line of a location. */
static void pprof_line(struct pprof *w, uint32_t frame)
{
	const struct profile_frame *f = profile_frame_at(w->p, frame);
	uint32_t function;

	if (!f->symbol)
		return;
	function = pprof_function(w, f);
	proto_u64(&w->inner, LINE_FUNCTION, function);
	proto_u64(&w->inner, LINE_LINE, f->line);
	proto_message(&w->message, LOCATION_LINE, &w->inner);
}

/* The location of the gathered run, written when it is new. Clears the run. */
static uint32_t pprof_location(struct pprof *w)
{
	size_t n = w->run.n / sizeof(uint32_t), before = w->locations.n;
	uint32_t id = intern_bytes(&w->locations, w->run.bytes, w->run.n), frame = 0;

	if (id != INTERN_FAILED && w->locations.n != before) {
		const struct profile_frame *f;

		for (size_t i = 0; i < n; i++) {
			memcpy(&frame, w->run.bytes + i * sizeof(frame), sizeof(frame));
			pprof_line(w, frame);
		}
		f = profile_frame_at(w->p, frame);
		proto_u64(&w->message, LOCATION_ID, id);
		proto_u64(&w->message, LOCATION_MAPPING, f->object);
		proto_u64(&w->message, LOCATION_ADDRESS, f->address);
		/* An inlined frame has no address of its own: the location's is the function's that
		 * has the code. */
		pprof_put(w, PROFILE_LOCATION);
	}
	buf_clear(&w->run);
	return id;
}

/* An inlined frame belongs to the location of the frame that it was inlined into. */
static bool pprof_is_inlined(const struct pprof *w, struct profile_node at)
{
	return profile_frame_at(w->p, at.frame)->kind == PROFILE_INLINED &&
	       at.parent != PROFILE_ROOT;
}

/* The location that begins with a node; *ret is the node outside of it. Those of nodes and frames
 * that were met are kept: INTERN_FAILED. */
static uint32_t pprof_location_at(struct pprof *w, uint32_t node, uint32_t *ret)
{
	struct profile_node at = profile_node_at(w->p, node);
	bool inlined = pprof_is_inlined(w, at);
	uint32_t *kept = inlined ? &w->of_node[node] : &w->of_frame[at.frame];

	if (!*kept)
		buf_put_u32(&w->run, at.frame);
	while (inlined) {
		at = profile_node_at(w->p, at.parent);
		inlined = pprof_is_inlined(w, at);
		if (!*kept)
			buf_put_u32(&w->run, at.frame);
	}
	*ret = at.parent;
	if (!*kept)
		*kept = pprof_location(w);
	return *kept;
}

/* Puts the locations of a stack into w->way: those that the stack before did not have are looked
 * for from the innermost out, which numbers them. */
static int pprof_stack(struct pprof *w, uint32_t node)
{
	size_t n = 0;
	int r = 0;

	while (!pprof_way_meets(&w->way, node) && node != PROFILE_ROOT) {
		if (ARRAY_ROOM(&w->news, &w->news_capacity, n + 1) < 0)
			return -ENOMEM;
		w->news[n].node = node;
		w->news[n].location = pprof_location_at(w, node, &node);
		if (w->news[n++].location == INTERN_FAILED)
			return -ENOMEM;
	}
	while (n-- && r >= 0)
		r = pprof_way_put(&w->way, w->news[n].node, w->news[n].location);
	return w->run.failed ? -ENOMEM : r;
}

/* A label of a sample: pprof can choose and group by it. kept: the text's id, once it is known. */
static void pprof_label_text(struct pprof *w, const char *key, const char *text,
                             struct pprof_text *kept)
{
	proto_u64(&w->inner, LABEL_KEY, pprof_string(w, key));
	if (!kept->known)
		*kept = (struct pprof_text){ pprof_string(w, text), true };
	proto_u64(&w->inner, LABEL_TEXT, kept->id);
	proto_message(&w->message, SAMPLE_LABEL, &w->inner);
}

static void pprof_label_number(struct pprof *w, const char *key, uint32_t number)
{
	if (number == PROFILE_NOT_KEPT)
		return;
	proto_u64(&w->inner, LABEL_KEY, pprof_string(w, key));
	proto_u64(&w->inner, LABEL_NUMBER, number);
	proto_message(&w->message, SAMPLE_LABEL, &w->inner);
}

/* For whom the thread worked: a label that pprof can choose and group by (-tagfocus). */
static int pprof_label_of(void *ctx, const char *key, const char *value)
{
	struct pprof_text kept = { 0 };

	pprof_label_text(ctx, key, value, &kept);
	return 0;
}

/* Makes what stands behind a sample's values: its task, its stack's state and for whom the thread
 * worked, as labels. Most rows say the same as the one before. */
static int pprof_tail(struct pprof *w, const struct profile_key *key)
{
	const struct profile_task *task = profile_task_at(w->p, key->task);
	const struct profile_key *last = &w->tail_of;
	struct pprof_text none = { 0 };
	struct buf tail;
	int r;

	if (w->tail_known && last->task == key->task && last->state == key->state &&
	    labels_equal(last, key))
		return 0;
	pprof_label_text(w, "comm", profile_text(w->p, task->comm), &w->comms[key->task]);
	pprof_label_number(w, "pid", task->pid);
	pprof_label_number(w, "tid", task->tid);
	pprof_label_text(w, "stack", profile_state_at(w->p, key->state)->name,
	                 key->state < PROFILE_STATES_MAX ? &w->states[key->state] : &none);
	r = labels_each(w->p, key, pprof_label_of, w);
	tail = w->message;
	w->message = w->tail;
	buf_clear(&w->message);
	w->tail = tail;
	w->tail_of = *key;
	w->tail_known = true;
	return r < 0 || w->tail.failed ? -ENOMEM : 0;
}

/* Writes a row as one sample of pprof, with values in its event's two columns and 0 in the
 * others. */
static int pprof_sample(struct pprof *w, const struct profile_row *row)
{
	const uint32_t column = w->columns[row->key.event];
	const unsigned char *way;
	size_t n;
	int r = pprof_stack(w, row->key.node);

	if (r >= 0)
		r = pprof_tail(w, &row->key);
	if (r < 0)
		return r;
	for (unsigned i = 0; i < w->n_columns; i++)
		proto_varint(&w->inner, i == column       ? row->samples
		                        : i == column + 1 ? row->weight
		                                          : 0);
	way = pprof_way_bytes(&w->way, &n);
	proto_begin(w->to, PROFILE_SAMPLE, proto_size(n) + proto_size(w->inner.n) + w->tail.n);
	proto_bytes(w->to, SAMPLE_LOCATIONS, way, n);
	proto_message(w->to, SAMPLE_VALUES, &w->inner);
	return buf_put(w->to, w->tail.bytes, w->tail.n);
}

/* "[unknown ...]" is no name to pprof: it would not look for a better one. */
static bool pprof_is_named(const struct pprof *w, const struct profile_frame *f)
{
	return f->symbol && !nameless_is(profile_text(w->p, f->symbol), NULL);
}

/* The outermost object of each node's stack; 0: none. A parent's id is less than its child's. NULL:
 * out of memory; the caller frees it. */
static uint32_t *pprof_outermost_objects(const struct profile *p)
{
	size_t n = profile_n_nodes(p);
	uint32_t *objects = calloc(n + 1, sizeof(*objects));

	for (uint32_t i = 1; objects && i <= n; i++) {
		struct profile_node node = profile_node_at(p, i);
		const struct profile_frame *f = profile_frame_at(p, node.frame);

		objects[i] = objects[node.parent]         ? objects[node.parent]
		             : f->kind == PROFILE_MISSING ? 0
		                                          : f->object;
	}
	return objects;
}

/* The program that most of what is shown was spent in, or where no program is known, the object
 * that most began in. */
static int pprof_find_program(struct pprof *w)
{
	size_t n = profile_n_objects(w->p) + 1;
	/* Two tables in one: weights by program, and by outermost object. */
	uint64_t *weights = calloc(2 * n, sizeof(*weights)), *shown = weights;
	uint32_t best = 0, event = export_event(w->p, w->opts);
	uint32_t *outermost = pprof_outermost_objects(w->p);
	bool known = false;

	if (!weights || !outermost) {
		free(weights);
		free(outermost);
		return -ENOMEM;
	}
	for (size_t i = 0; i < profile_n_rows(w->p); i++) {
		const struct profile_row *row = profile_row_at(w->p, i);
		uint32_t program = origin_program_of(profile_origin_of(w->p), row->key.task);

		if (row->key.event != event)
			continue;
		known |= program != 0;
		weights[program] += row->weight;
		weights[n + outermost[row->key.node]] += row->weight;
	}
	if (!known)
		shown += n;
	for (uint32_t i = 1; i < n; i++)
		if (shown[i] && (!best || shown[i] > shown[best]))
			best = i;
	w->program = best;
	free(weights);
	free(outermost);
	return 0;
}

/* What frames of an object lack, and whether any is inlined. */
enum {
	LACKS_NAME = 1,
	LACKS_FILE = 2,
	LACKS_LINE = 4,
	HAS_INLINE = 8
};

/* Writes a mapping. Where no range is known (the profile came from no recording) it spans all
 * addresses. */
static void pprof_mapping(struct pprof *w, uint32_t object, unsigned lacks)
{
	const struct profile_object *o = profile_object_at(w->p, object);
	const struct origin_code code = origin_code_of(profile_origin_of(w->p), object);

	proto_u64(&w->message, MAPPING_ID, object);
	proto_u64(&w->message, MAPPING_START, code.start);
	proto_u64(&w->message, MAPPING_LIMIT, code.limit ? code.limit : UINT64_MAX);
	proto_u64(&w->message, MAPPING_OFFSET, code.offset);
	proto_u64(&w->message, MAPPING_FILE, pprof_string(w, profile_text(w->p, o->path)));
	proto_u64(&w->message, MAPPING_BUILD_ID, pprof_string(w, profile_text(w->p, o->build_id)));
	proto_bool(&w->message, MAPPING_HAS_FUNCTIONS, !(lacks & LACKS_NAME));
	proto_bool(&w->message, MAPPING_HAS_FILES, !(lacks & LACKS_FILE));
	proto_bool(&w->message, MAPPING_HAS_LINES, !(lacks & LACKS_LINE));
	proto_bool(&w->message, MAPPING_HAS_INLINES, lacks & HAS_INLINE);
	pprof_put(w, PROFILE_MAPPING);
}

/* Ids are the profile's. What is known of its functions decides what pprof still looks for. */
static int pprof_mappings(struct pprof *w)
{
	size_t n = profile_n_objects(w->p);
	unsigned char *lacks = calloc(n + 1, 1);
	int r = lacks ? pprof_find_program(w) : -ENOMEM;

	for (uint32_t i = 1; i <= profile_n_frames(w->p) && r >= 0; i++) {
		const struct profile_frame *f = profile_frame_at(w->p, i);

		lacks[f->object] |= (pprof_is_named(w, f) ? 0 : LACKS_NAME) |
		                    (f->file ? 0 : LACKS_FILE) | (f->line ? 0 : LACKS_LINE) |
		                    (f->kind == PROFILE_INLINED ? HAS_INLINE : 0);
	}
	if (r >= 0 && w->program)
		pprof_mapping(w, w->program, lacks[w->program]);
	for (uint32_t i = 1; i <= n && r >= 0; i++)
		if (i != w->program)
			pprof_mapping(w, i, lacks[i]);
	free(lacks);
	return r;
}

/* A comment, if there is anything to count. */
static int pprof_comment(struct pprof *w, const char *text, uint64_t n)
{
	struct buf b = { 0 };

	if (!n)
		return 0;
	buf_printf(&b, "%llu %s", (unsigned long long)n, text);
	proto_u64(w->to, PROFILE_COMMENT, pprof_string(w, buf_text(&b)));
	buf_free(&b);
	return b.failed ? -ENOMEM : 0;
}

/* Writes the whole message. The table of strings comes last, because everything before adds to it.
 * What is missing from the recording is written as comments. */
static int pprof_message(struct pprof *w)
{
	const struct profile_counts *counts = profile_counts_of(w->p);
	int r = pprof_string(w, "") == 0 ? pprof_types(w) : -ENOMEM;

	if (r >= 0)
		r = pprof_comment(w, "records were lost while recording", profile_lost(counts));
	if (r >= 0)
		r = pprof_comment(w, "samples could not be decoded", counts->undecoded);
	if (r >= 0)
		r = pprof_mappings(w);
	if (r >= 0)
		pprof_times(w);
	for (size_t i = 0; i < profile_n_rows(w->p) && r >= 0; i++)
		if (export_wants(w->opts, profile_row_at(w->p, i)->key.event))
			r = pprof_sample(w, profile_row_at(w->p, i));
	for (uint32_t i = 0; i < w->strings.n && r >= 0; i++)
		proto_bytes(w->to, PROFILE_STRINGS, intern_get(&w->strings, i),
		            intern_length(&w->strings, i));
	if (w->message.failed || w->inner.failed || w->text.failed || w->to->failed)
		r = -ENOMEM;
	return r;
}

/* ---- gzip ---- */

/* Of compression: as Go's runtime writes its own profiles. 6 takes twice as long, for files that
 * were 6 to 16 % smaller. */
#define PPROF_LEVEL 1
#define PPROF_ROW 256u /* bytes of a row, by far most of them: to move what was written is slow */

/* Writes the message through gzip: pprof's files are compressed. */
static int pprof_gzip(struct pprof *w, struct export_out *out)
{
	struct buf message = { 0 };
	int r;

	/* What is not written is not touched. That there is no such room is no failure yet. */
	message.bytes = malloc((profile_n_rows(w->p) + 1) * PPROF_ROW);
	message.capacity = message.bytes ? (profile_n_rows(w->p) + 1) * PPROF_ROW : 0;
	w->to = &message;
	r = pprof_message(w);
	if (r >= 0)
		r = gzip_put(&message, PPROF_LEVEL, &out->buf);
	buf_free(&message);
	return r < 0 ? r : export_flush(out);
}

/* Rows suffice: pprof's format has no times of samples. */
int export_pprof(const struct profile *p, const struct export_opts *opts, struct export_out *out)
{
	struct pprof w = { .p = p, .opts = opts };
	int r = -ENOMEM;

	w.columns = calloc(profile_n_events(p) + 1, sizeof(*w.columns));
	w.of_node = calloc(profile_n_nodes(p) + 1, sizeof(*w.of_node));
	w.of_frame = calloc(profile_n_frames(p) + 1, sizeof(*w.of_frame));
	w.of_string = calloc(profile_n_strings(p) + 1, sizeof(*w.of_string));
	w.comms = calloc(profile_n_tasks(p) + 1, sizeof(*w.comms));
	if (w.columns && w.of_node && w.of_frame && w.of_string && w.comms)
		r = pprof_gzip(&w, out);
	intern_free(&w.strings);
	intern_free(&w.locations);
	intern_free(&w.functions);
	buf_free(&w.text);
	buf_free(&w.message);
	buf_free(&w.inner);
	buf_free(&w.run);
	buf_free(&w.tail);
	pprof_way_free(&w.way);
	free(w.news);
	free(w.of_node);
	free(w.of_frame);
	free(w.of_string);
	free(w.comms);
	free(w.columns);
	return r;
}
