// SPDX-License-Identifier: MIT
/*
 * script_values.c: see script_values.h. The form is perf's: values stand before the stack (trace,
 * addr, data_src, weights, cgroup) or behind it (registers, branches, physical address, page
 * sizes), each led by a blank and padded as perf pads it.
 *
 * They are read from the sample's own record, so this file works only where samples come with their
 * record (SAMPLES_RECORD); which fields need it, script_text.h says.
 *
 * Invariant: one thread. A tracepoint whose format the recording does not have, or cannot be
 * understood, prints nothing, and is counted with the first reason.
 */
#include "script/script_values.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "abi/print.h"
#include "abi/data_src.h"
#include "base/arena.h"
#include "base/cursor.h"
#include "base/map.h"
#include "base/shown.h"
#include "script/script_put.h"
#include "script/script_text.h"
#include "tracepoint/tracepoint.h"

/* perf_sw_ids */
#define SW_PAGE_FAULTS 2u
#define SW_PAGE_FAULTS_MIN 5u
#define SW_PAGE_FAULTS_MAJ 6u

struct script_values {
	struct recording *rec;
	struct resolver *resolver;
	const char *arch;   /* NULL: the recording does not say */
	struct map cgroups; /* id -> path; empty when they are another's */
	/* Where names of cgroups are looked up: the first one's map, which the others only read. */
	const struct map *paths_by_id;
	struct arena paths;
	struct tracepoints *tracepoints;
	uint64_t textless;                 /* samples of tracepoints without text */
	const char *reason, *reason_event; /* of the first of these */
	uint64_t first_ns, first_index;    /* where that is */
	uint32_t space; /* of the sample at hand, for names of the kernel's functions */
	uint64_t time_ns;
	struct buf text; /* of a tracepoint */
};

/* Learns the path of a cgroup's id; the last one counts. */
static int values_cgroup(void *ctx, const struct seam_record *record)
{
	struct script_values *v = ctx;
	struct cursor c = cursor_of(record->bytes, record->size, record->swap);
	const char *path;
	uint64_t id;

	if (record->type != SEAM_RECORD_CGROUP || !cursor_seek(&c, 8))
		return 0;
	id = cursor_u64(&c);
	path = cursor_string(&c);
	if (path)
		path = arena_string(&v->paths, path, strlen(path));
	else if (c.failed)
		return 0;
	return path ? map_put(&v->cgroups, id, (uint64_t)(uintptr_t)path) : -ENOMEM;
}

/* For streams, which cannot be read before: each record as it comes. */
int script_values_learn(struct script_values *v, const struct seam_record *record)
{
	return values_cgroup(v, record);
}

/* For formats that print addresses of functions (%pS): the name at an address of the kernel. */
static const char *values_function(void *ctx, uint64_t addr, uint64_t *start)
{
	struct script_values *v = ctx;
	struct place place;

	if (resolver_find(v->resolver, v->space, v->time_ns, addr, false, &place) < 0 ||
	    !place.symbol.name)
		return NULL;
	*start = addr - (place.address - place.symbol.start);
	return place.symbol.name;
}

/* Counts a sample of a tracepoint that has no text; the first one's reason is told. */
static int values_no_trace(struct script_values *v, const struct sample *s, const char *reason)
{
	if (v->textless++)
		return 0;
	v->reason = reason;
	v->reason_event = s->decoded->sample.event->name;
	v->first_ns = s->id.has & SEAM_SAMPLE_TIME ? s->id.time_ns : 0;
	v->first_index = s->index;
	return 0;
}

/* The formats are the recording's own. NULL from the reader: none were recorded. */
static int values_tracepoints(struct script_values *v)
{
	const struct tracepoint_names names = { .find = values_function, .ctx = v };
	struct seam_bytes bytes = { 0 };

	seam_reader_feature(v->rec->reader, SEAM_FEATURE_TRACING_DATA, &bytes);
	return tracepoint_new(&v->tracepoints, bytes.bytes, bytes.n, &names, NULL);
}

/* If cgroups are asked for, it reads all records once for their names. */
int script_values_new(struct script_values **ret, struct recording *rec, struct resolver *resolver,
                      unsigned fields, const struct script_values *with)
{
	struct script_values *v = calloc(1, sizeof(*v));
	int r = 0;

	if (!v)
		return -ENOMEM;
	v->rec = rec;
	v->resolver = resolver;
	v->arch = seam_reader_feature_string(rec->reader, SEAM_FEATURE_ARCH);
	if (fields & SCRIPT_TRACE)
		r = values_tracepoints(v);
	v->paths_by_id = with ? with->paths_by_id : &v->cgroups;
	if (r >= 0 && !with && fields & SCRIPT_CGROUP)
		r = recording_each(rec, values_cgroup, v, NULL);
	if (r < 0) {
		script_values_free(v);
		return r;
	}
	*ret = v;
	return 0;
}

void script_values_free(struct script_values *v)
{
	if (!v)
		return;
	tracepoint_free(v->tracepoints);
	map_free(&v->cgroups);
	arena_free(&v->paths);
	buf_free(&v->text);
	free(v);
}

/* Writes the text of a tracepoint's sample, or counts that it has none. -ENOMEM. */
static int values_trace(struct script_values *v, const struct sample *s, struct buf *out)
{
	const struct seam_sample *sample = &s->decoded->sample;
	const struct seam_event *event = s->decoded->sample.event;
	const char *reason;
	int r;

	v->time_ns = s->proc_ns;
	v->space = s->kernel_space;
	buf_clear(&v->text);
	r = tracepoint_text(v->tracepoints, event->attr.config, sample->id.cpu, sample->raw.bytes,
	                    sample->raw.n, &v->text, &reason);
	if (r > 0) /* strings of a sample are whoever's made it */
		r = v->text.failed ? -ENOMEM : shown_put(out, buf_text(&v->text), v->text.n);
	else if (!r)
		r = values_no_trace(v, s, reason);
	return r < 0 ? r : 0;
}

/* The first reason is that of the earliest sample, whichever thread had it. */
void script_values_join(struct script_values *v, const struct script_values *other)
{
	if (other->textless &&
	    (!v->textless || other->first_ns < v->first_ns ||
	     (other->first_ns == v->first_ns && other->first_index < v->first_index))) {
		v->reason = other->reason;
		v->reason_event = other->reason_event;
		v->first_ns = other->first_ns;
		v->first_index = other->first_index;
	}
	v->textless += other->textless;
}

/* Weights that an event does not have are 0 in perf's columns, too. */
static void values_weight(const struct seam_sample *s, uint64_t has, unsigned fields,
                          struct buf *out)
{
	bool words = has & SEAM_SAMPLE_WEIGHT_STRUCT;

	if (!(has & (SEAM_SAMPLE_WEIGHT | SEAM_SAMPLE_WEIGHT_STRUCT)))
		return;
	if (fields & SCRIPT_WEIGHT)
		put_number(out, s->weight, 16);
	if (fields & SCRIPT_INS_LAT)
		put_number(out, words ? s->weight2 : 0, 16);
	if (fields & SCRIPT_RETIRE_LAT)
		put_number(out, words ? s->weight3 : 0, 16);
}

/* perf prints "unknown" for an id whose record was not seen. */
static void values_cgroup_name(const struct script_values *v, uint64_t id, struct buf *out)
{
	uint64_t path;

	buf_put_text(out, " ");
	shown_put_text(out, map_get(v->paths_by_id, id, &path) ? (const char *)(uintptr_t)path
	                                                       : "unknown");
}

/* The events whose address perf names. */
static bool values_addr_has_name(const struct seam_attr *attr)
{
	return attr->type == SEAM_TYPE_SOFTWARE &&
	       (attr->config == SW_PAGE_FAULTS || attr->config == SW_PAGE_FAULTS_MIN ||
	        attr->config == SW_PAGE_FAULTS_MAJ);
}

/* Writes the address that the sample is about; for page faults also the data symbol and the object
 * there. -errno. */
static int values_addr(struct script_values *v, const struct sample *s, unsigned fields,
                       struct buf *out)
{
	uint64_t addr = s->decoded->sample.addr;
	const char *object = SYMBOL_UNKNOWN;
	struct place place;
	int r;

	put_hex(out, addr, 16);
	if (!values_addr_has_name(&s->decoded->sample.event->attr) ||
	    !(fields & (SCRIPT_SYM | SCRIPT_DSO)))
		return 0;
	/* The sign bit tells a kernel address. */
	r = resolver_find_data(v->resolver, addr >> 63 ? s->kernel_space : s->user_space,
	                       s->proc_ns, addr, &place);
	if (r < 0)
		return r;
	if (place.mapping)
		object = place.mapping->data && place.mapping->object->kind == PROC_KIND_ANON
		                 ? place.mapping->object->path
		                 : symbol_object_name(place.object);
	if (fields & SCRIPT_SYM) {
		buf_put(out, " ", 1);
		shown_put_text(out, place.symbol.name ? place.symbol.name : SYMBOL_UNKNOWN);
	}
	if (fields & SCRIPT_SYM && fields & SCRIPT_SYMOFF && place.symbol.name) {
		buf_put(out, "+0x", 3);
		put_hex(out, place.address - place.symbol.start, 0);
	}
	if (fields & SCRIPT_DSO)
		shown_printf(out, " (%s)", object);
	return 0;
}

/* Writes the values that stand between the event and the stack, in perf's order. -errno. */
int script_values_before(struct script_values *v, const struct sample *s, unsigned fields,
                         struct buf *out)
{
	const struct seam_sample *sample = &s->decoded->sample;
	const struct seam_attr *attr = &s->decoded->sample.event->attr;
	uint64_t has = attr->sample_type;
	int r = 0;

	if (fields & SCRIPT_TRACE && attr->type == SEAM_TYPE_TRACEPOINT)
		r = values_trace(v, s, out);
	if (r >= 0 && fields & SCRIPT_ADDR && has & SEAM_SAMPLE_ADDR)
		r = values_addr(v, s, fields, out);
	if (fields & SCRIPT_DATA_SRC && has & SEAM_SAMPLE_DATA_SRC) {
		put_hex(out, sample->data_src, 16);
		buf_put(out, " ", 1);
		data_src_text(sample->data_src, out);
	}
	values_weight(sample, has, fields, out);
	if (fields & SCRIPT_CGROUP && has & SEAM_SAMPLE_CGROUP)
		values_cgroup_name(v, sample->cgroup, out);
	return r;
}

/* Writes the registers by the names of the recording's machine; nothing if none were recorded. */
static void values_regs(const struct script_values *v, const struct seam_regs *regs,
                        struct buf *out)
{
	uint64_t mask = regs->mask;

	if (!regs->abi)
		return;
	buf_printf(out, " ABI:%llu ", (unsigned long long)regs->abi);
	for (uint64_t i = 0; i < regs->values.n; i++, mask &= mask - 1) {
		unsigned reg = (unsigned)__builtin_ctzll(mask);
		const char *name = print_reg_name(v->arch, reg);

		if (name)
			buf_printf(out, "%5s:0x", name);
		else
			buf_printf(out, "reg%u:0x", reg);
		put_hex(out, seam_u64s_at(&regs->values, i), 0);
		buf_put_text(out, " ");
	}
}

/* "4K", "2M"; "N/A" for none. */
/* The largest unit that divides it evenly. */
static void values_page_size(uint64_t bytes, struct buf *out)
{
	static const char units[] = " KMGTPE";
	unsigned unit = 0;

	if (!bytes) {
		buf_put_text(out, " N/A");
		return;
	}
	for (; unit < 6 && bytes % 1024 == 0; unit++)
		bytes /= 1024;
	buf_printf(out, " %llu%.*s", (unsigned long long)bytes, unit > 0, units + unit);
}

/* Writes the values that stand behind the stack, in perf's order. */
void script_values_after(const struct script_values *v, const struct sample *s, unsigned fields,
                         struct buf *out)
{
	const struct seam_sample *sample = &s->decoded->sample;
	uint64_t has = s->decoded->sample.event->attr.sample_type;

	if (fields & SCRIPT_IREGS && has & SEAM_SAMPLE_REGS_INTR)
		values_regs(v, &sample->regs_intr, out);
	if (fields & SCRIPT_UREGS && has & SEAM_SAMPLE_REGS_USER)
		values_regs(v, &sample->regs_user, out);
	/* The branches are the newest first, as recorded. */
	for (uint64_t i = 0; fields & SCRIPT_BRSTACK && i < sample->branches.n; i++) {
		buf_put_text(out, " ");
		print_branch_short(out, &sample->branches, i);
		buf_put_text(out, " ");
	}
	if (fields & SCRIPT_PHYS_ADDR && has & SEAM_SAMPLE_PHYS_ADDR)
		put_hex(out, sample->phys_addr, 16);
	if (fields & SCRIPT_DATA_PAGE && has & SEAM_SAMPLE_DATA_PAGE_SIZE)
		values_page_size(sample->data_page_size, out);
	if (fields & SCRIPT_CODE_PAGE && has & SEAM_SAMPLE_CODE_PAGE_SIZE)
		values_page_size(sample->code_page_size, out);
}

struct script_textless script_values_textless(const struct script_values *v)
{
	return (struct script_textless){ .samples = v->textless,
		                         .event = v->reason_event,
		                         .reason = v->reason };
}
