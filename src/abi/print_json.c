// SPDX-License-Identifier: MIT
/*
 * print_json.c: one JSON object a record. Samples by hand; all others by the field lists of
 * records.def. Numbers that may pass 2^53 as addresses do are strings in hexadecimal; counts and
 * times are numbers.
 *
 * The keys are documented in docs/json.md, and a test compares the two. A list drives the output of
 * every type but two, so a new row of records.def is printed without code. Invariant: the output is
 * one object on one line whatever the record holds; base/json replaces bytes that are no UTF-8.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "abi/record.h"
#include "abi/decode.h"
#include "abi/fields.h"
#include "abi/printer.h"
#include "base/json.h"

struct json_printer {
	struct json json;
	const struct seam_record *record;
	const struct print_opts *opts;
	/* What is left of the record's fields; each field that is printed moves it. */
	struct cursor body;
};

/* Appends n bytes as one JSON string of hexadecimal digits. The digits are written in place: dumps
 * of raw data and stacks are large. */
static void print_json_hex_bytes(struct json *j, const unsigned char *bytes, size_t n)
{
	static const char digits[] = "0123456789abcdef";
	char *p;

	if (j->out->failed)
		return;
	json_bytes(j, "", 0); /* places commas; the two quotes are opened again below */
	j->out->n--;
	p = buf_reserve(j->out, n * 2 + 1);
	if (!p)
		return;
	for (size_t i = 0; i < n; i++) {
		p[2 * i] = digits[bytes[i] >> 4];
		p[2 * i + 1] = digits[bytes[i] & 15];
	}
	p[2 * n] = '"';
	j->out->n += n * 2 + 1;
}

/* The name of a field stands in the middle of its list, so it is copied to end in a NUL. No name of
 * records.def is longer than 31 bytes. */
static void print_json_key_n(struct json *j, const char *name, size_t n)
{
	char key[32];

	snprintf(key, sizeof(key), "%.*s", (int)n, name);
	json_key(j, key);
}

static uint64_t print_json_read(struct cursor *c, unsigned width)
{
	switch (width) {
	case 1:
		return cursor_u8(c);
	case 2:
		return cursor_u16(c);
	case 4:
		return cursor_u32(c);
	default:
		return cursor_u64(c);
	}
}

/* Appends one integer. "i" is sign-extended from its width; "x" becomes a string, because JSON's
 * readers keep no more than 53 bits. null: the record ends before it. */
static void print_json_number(struct json *j, struct cursor *c, const struct field *f)
{
	uint64_t v = print_json_read(c, f->width);
	unsigned spare = 64 - 8 * f->width;

	if (c->failed)
		json_null(j);
	else if (f->kind == 'x')
		json_hex(j, v);
	else if (f->kind == 'i')
		json_i64(j, (int64_t)(v << spare) >> spare);
	else
		json_u64(j, v);
}

/* A string: to its NUL, or in a field of f->width bytes; what is cut is taken as far as it goes. */
static void print_json_text(struct json *j, struct cursor *c, unsigned width)
{
	size_t n = width && width < cursor_left(c) ? width : cursor_left(c);
	const char *s = (const char *)c->at;
	size_t length = strnlen(s, n);

	json_bytes(j, s, length);
	cursor_bytes(c, width ? n : length < n ? length + 1 : length);
}

/* The attr of a HEADER_ATTR record, as the line that perf evlist -v prints; null if it is too
 * short. */
static void print_json_attr(struct json *j, struct cursor *c)
{
	struct buf text = { 0 };
	struct seam_attr attr;
	size_t n = cursor_left(c);

	if (seam_attr_decode(c->at, n, c->swap, &attr, NULL) < 0) {
		json_null(j);
		cursor_bytes(c, n);
		return;
	}
	print_attr_fields(&text, &attr);
	json_bytes(j, buf_text(&text), text.failed ? 0 : text.n);
	buf_free(&text);
	/* The ids follow the attr, whose own size says where; without a sound size all is taken for
	 * the attr. */
	cursor_bytes(c, attr.size >= SEAM_ATTR_SIZE_MIN && attr.size < n ? attr.size : n);
}

static void print_json_fields(struct json_printer *p, const char *list);

/* Prints the array that a count in the record announces. Groups with one field become numbers,
 * others objects. It stops where the record ends, whatever the count says. */
static void print_json_group(struct json_printer *p, const struct field *f)
{
	uint64_t n = cursor_u64(&p->body);
	bool single = !strchr(f->group, ' ') || strchr(f->group, ' ') > strchr(f->group, '}');
	struct json *j = &p->json;

	json_open(j, '[');
	for (uint64_t i = 0; i < n && cursor_left(&p->body); i++) {
		if (single) {
			const char *at = f->group;
			struct field only;

			fields_next(&at, &only);
			print_json_number(j, &p->body, &only);
			continue;
		}
		json_open(j, '{');
		print_json_fields(p, f->group);
		json_close(j, '}');
	}
	json_close(j, ']');
}

/* Prints one field of the record's list and moves the cursor behind it. The kinds are those of
 * fields.h; a repeated field becomes an array. */
static void print_json_field(struct json_printer *p, const struct field *f)
{
	struct json *j = &p->json;
	struct cursor *c = &p->body;
	size_t n;

	print_json_key_n(j, f->name, f->name_n);
	if (f->repeated) {
		json_open(j, '[');
		while (cursor_left(c) >= f->width)
			print_json_number(j, c, f);
		json_close(j, ']');
		return;
	}
	switch (f->kind) {
	case 's':
		print_json_text(j, c, f->width);
		break;
	case 'h':
		n = f->width && f->width < cursor_left(c) ? f->width : cursor_left(c);
		print_json_hex_bytes(j, c->at, n);
		cursor_bytes(c, n);
		break;
	case 'n':
		print_json_group(p, f);
		break;
	case 'a':
		print_json_attr(j, c);
		break;
	default:
		print_json_number(j, c, f);
	}
}

static void print_json_fields(struct json_printer *p, const char *list)
{
	struct field f;

	/* A field that an older record does not have is left out. */
	while (fields_next(&list, &f) && (cursor_left(&p->body) || f.kind == 'h'))
		print_json_field(p, &f);
}

/* The kernel writes -1 for "all" and for tasks that are gone; printed unsigned, it would be
 * 4294967295. */
static void print_json_pid(struct json *j, const char *key, uint32_t v)
{
	json_key(j, key);
	json_i64(j, (int32_t)v);
}

static void print_json_u64_if(struct json *j, bool known, const char *key, uint64_t v)
{
	if (!known)
		return;
	json_key(j, key);
	json_u64(j, v);
}

static void print_json_hex_if(struct json *j, bool known, const char *key, uint64_t v)
{
	if (!known)
		return;
	json_key(j, key);
	json_hex(j, v);
}

static void print_json_id(struct json *j, const struct seam_id *id)
{
	if (id->has & SEAM_SAMPLE_TID) {
		print_json_pid(j, "pid", id->pid);
		print_json_pid(j, "tid", id->tid);
	}
	print_json_u64_if(j, id->has & SEAM_SAMPLE_TIME, "time", id->time_ns);
	print_json_u64_if(j, id->has & SEAM_SAMPLE_ID, "id", id->id);
	print_json_u64_if(j, id->has & SEAM_SAMPLE_STREAM_ID, "stream_id", id->stream_id);
	if (id->has & SEAM_SAMPLE_CPU)
		print_json_pid(j, "cpu", id->cpu);
}

/* Addresses as strings, markers by their names, a cookie as an object: it is no address. */
/* In a chain that was not yet stitched the word behind the USER_DEFERRED marker is the cookie. */
static void print_json_chain(struct json *j, const struct seam_u64s *chain)
{
	bool cookie = false;

	json_key(j, "callchain");
	json_open(j, '[');
	for (uint64_t i = 0; i < chain->n; i++) {
		uint64_t ip = seam_u64s_at(chain, i);
		const char *name = cookie || ip < SEAM_CONTEXT_MAX ? NULL : print_context_name(ip);

		if (cookie) {
			json_open(j, '{');
			print_json_hex_if(j, true, "cookie", ip);
			json_close(j, '}');
		} else if (name) {
			json_string(j, name);
		} else {
			json_hex(j, ip);
		}
		cookie = !cookie && ip == SEAM_CONTEXT_USER_DEFERRED;
	}
	json_close(j, ']');
}

/* Prints the counter values of a sample or READ record, with only those members that the event's
 * read_format asks for. */
static void print_json_read_values(struct json *j, const struct seam_read *read)
{
	json_key(j, "read");
	json_open(j, '{');
	print_json_u64_if(j, read->format & SEAM_FORMAT_TOTAL_TIME_ENABLED, "time_enabled",
	                  read->time_enabled);
	print_json_u64_if(j, read->format & SEAM_FORMAT_TOTAL_TIME_RUNNING, "time_running",
	                  read->time_running);
	json_key(j, "values");
	json_open(j, '[');
	for (uint64_t i = 0; i < read->n; i++) {
		struct seam_read_value v = seam_read_at(read, i);

		json_open(j, '{');
		print_json_u64_if(j, true, "value", v.value);
		print_json_u64_if(j, read->format & SEAM_FORMAT_ID, "id", v.id);
		print_json_u64_if(j, read->format & SEAM_FORMAT_LOST, "lost", v.lost);
		json_close(j, '}');
	}
	json_close(j, ']');
	json_close(j, '}');
}

/* One object per branch, newest first, as in the record. */
static void print_json_branches(struct json *j, const struct seam_branch_stack *b)
{
	print_json_hex_if(j, b->has_hw_idx, "branch_hw_idx", b->hw_idx);
	json_key(j, "branches");
	json_open(j, '[');
	for (uint64_t i = 0; i < b->n; i++) {
		json_open(j, '{');
		print_json_hex_if(j, true, "from", seam_u64s_at(&b->entries, i * 3));
		print_json_hex_if(j, true, "to", seam_u64s_at(&b->entries, i * 3 + 1));
		print_json_hex_if(j, true, "flags", print_branch_flags(b, i));
		if (i < b->counters.n)
			print_json_hex_if(j, true, "counters", seam_u64s_at(&b->counters, i));
		json_close(j, '}');
	}
	json_close(j, ']');
}

/* One member per register. A machine without names, or an unknown one, has "reg7". */
static void print_json_regs(struct json_printer *p, const char *key, const struct seam_regs *regs)
{
	struct json *j = &p->json;
	uint64_t mask = regs->mask;

	json_key(j, key);
	json_open(j, '{');
	print_json_u64_if(j, true, "abi", regs->abi);
	for (uint64_t i = 0; i < regs->values.n; i++, mask &= mask - 1) {
		unsigned reg = (unsigned)__builtin_ctzll(mask);
		const char *name = print_reg_name(p->opts ? p->opts->arch : NULL, reg);
		char number[16];

		snprintf(number, sizeof(number), "reg%u", reg);
		print_json_hex_if(j, true, name ? name : number, seam_u64s_at(&regs->values, i));
	}
	json_close(j, '}');
}

/* The fields of one word that only memory and page events ask for. */
static void print_json_sample_data(struct json *j, uint64_t type, const struct seam_sample *s)
{
	print_json_u64_if(j, type & (SEAM_SAMPLE_WEIGHT | SEAM_SAMPLE_WEIGHT_STRUCT), "weight",
	                  s->weight);
	print_json_u64_if(j, type & SEAM_SAMPLE_WEIGHT_STRUCT, "weight2", s->weight2);
	print_json_u64_if(j, type & SEAM_SAMPLE_WEIGHT_STRUCT, "weight3", s->weight3);
	print_json_hex_if(j, type & SEAM_SAMPLE_DATA_SRC, "data_src", s->data_src);
	print_json_hex_if(j, type & SEAM_SAMPLE_TRANSACTION, "transaction", s->transaction);
	print_json_hex_if(j, type & SEAM_SAMPLE_PHYS_ADDR, "phys_addr", s->phys_addr);
	print_json_u64_if(j, type & SEAM_SAMPLE_CGROUP, "cgroup", s->cgroup);
	print_json_u64_if(j, type & SEAM_SAMPLE_DATA_PAGE_SIZE, "data_page_size",
	                  s->data_page_size);
	print_json_u64_if(j, type & SEAM_SAMPLE_CODE_PAGE_SIZE, "code_page_size",
	                  s->code_page_size);
}

/* The text of a tracepoint's raw data: "trace" if its format is known, "no_trace" and the reason if
 * not. Nothing where the caller has no formats. */
static void print_json_trace(struct json_printer *p, const struct seam_sample *s)
{
	const struct printer asked = { .opts = p->opts };
	struct buf text = { 0 };
	int r = print_trace(&asked, s, &text);

	if (r >= 0) {
		json_key(&p->json, r ? "trace" : "no_trace");
		json_string(&p->json, buf_text(&text));
	}
	buf_free(&text);
}

/* Prints the fields of a sample that its event asks for. The stack copy and AUX data are given by
 * their sizes only: their bytes mean nothing to a reader of JSON. */
static void print_json_sample(struct json_printer *p, const struct seam_sample *s)
{
	uint64_t type = events_layout(s->event)->sample_type;
	struct json *j = &p->json;

	print_json_hex_if(j, type & SEAM_SAMPLE_IP, "ip", s->ip);
	print_json_hex_if(j, type & SEAM_SAMPLE_ADDR, "addr", s->addr);
	print_json_u64_if(j, true, "period", s->period);
	if (type & SEAM_SAMPLE_READ)
		print_json_read_values(j, &s->read);
	if (type & SEAM_SAMPLE_CALLCHAIN)
		print_json_chain(j, &s->callchain);
	if (type & SEAM_SAMPLE_RAW) {
		json_key(j, "raw");
		print_json_hex_bytes(j, s->raw.bytes, s->raw.n);
		print_json_trace(p, s);
	}
	if (type & SEAM_SAMPLE_BRANCH_STACK)
		print_json_branches(j, &s->branches);
	if (type & SEAM_SAMPLE_REGS_USER)
		print_json_regs(p, "regs_user", &s->regs_user);
	print_json_u64_if(j, type & SEAM_SAMPLE_STACK_USER, "stack_user_bytes", s->stack_user.n);
	if (type & SEAM_SAMPLE_REGS_INTR)
		print_json_regs(p, "regs_intr", &s->regs_intr);
	print_json_sample_data(j, type, s);
	print_json_u64_if(j, type & SEAM_SAMPLE_AUX, "aux_bytes", s->aux.n);
}

/* The fields of an MMAP2 with a build-id; the list of records.def has the form without one. */
static void print_json_mmap2(struct json_printer *p, const struct seam_mmap *m)
{
	struct json *j = &p->json;

	print_json_hex_if(j, true, "addr", m->addr);
	print_json_hex_if(j, true, "len", m->len);
	print_json_hex_if(j, true, "pgoff", m->pgoff);
	json_key(j, "build_id");
	print_json_hex_bytes(j, m->build_id, m->build_id_size);
	print_json_hex_if(j, true, "prot", m->prot);
	print_json_hex_if(j, true, "flags", m->flags);
	json_key(j, "filename");
	json_string(j, m->filename);
}

/* What stands in front of the type's own fields. */
static void print_json_head(struct json_printer *p)
{
	const struct seam_record *r = p->record;
	const char *name = seam_record_name(r->type);
	struct json *j = &p->json;

	json_key(j, "type");
	json_string(j, name ? name : "UNKNOWN");
	print_json_u64_if(j, true, "type_id", r->type);
	print_json_u64_if(j, true, "index", r->index);
	print_json_u64_if(j, true, "offset", r->offset);
	print_json_u64_if(j, true, "size", r->size);
	print_json_u64_if(j, true, "misc", r->misc);
}

/* Prints a record that was decoded: samples by hand, MMAP2 with a build-id by hand because its
 * layout depends on a bit, and all others by their list of fields. */
static void print_json_decoded(struct json_printer *p, const struct seam_events *events,
                               const struct seam_decoded *d)
{
	const struct seam_record *r = p->record;
	size_t trailer = decode_trailer(events, r, d->event)->trailer_size;
	struct json *j = &p->json;

	if (d->event && d->event->name) {
		json_key(j, "event");
		json_string(j, d->event->name);
	}
	if (r->type == SEAM_RECORD_SAMPLE) {
		print_json_id(j, &d->id);
		print_json_sample(p, &d->sample);
		return;
	}
	p->body = cursor_of(r->bytes + 8, r->size - 8 - trailer, r->swap);
	if (trailer) {
		json_key(j, "sample_id");
		json_open(j, '{');
		print_json_id(j, &d->id);
		json_close(j, '}');
	}
	if (r->type == SEAM_RECORD_MMAP2 && d->mmap.has_build_id) {
		print_json_pid(j, "pid", d->mmap.pid);
		print_json_pid(j, "tid", d->mmap.tid);
		print_json_mmap2(p, &d->mmap);
		return;
	}
	print_json_fields(p, fields_of(r->type));
}

/* Writes one object and a newline for every record. One that cannot be decoded becomes an object
 * with the reason and all its bytes; err is filled as well. */
int print_record_json(struct buf *out, const struct seam_events *events,
                      const struct seam_record *record, const struct print_opts *opts,
                      struct seam_error *err)
{
	struct json_printer p = { .json.out = out, .record = record, .opts = opts };
	struct seam_error why = { 0 };
	struct seam_decoded d;
	int r = record_decode(events, record, &d, &why);

	json_open(&p.json, '{');
	print_json_head(&p);
	if (r >= 0) {
		print_json_decoded(&p, events, &d);
	} else {
		json_key(&p.json, "error");
		json_string(&p.json, why.text);
		json_key(&p.json, "bytes");
		print_json_hex_bytes(&p.json, record->bytes, record->size);
		if (err)
			*err = why;
	}
	json_close(&p.json, '}');
	buf_put(out, "\n", 1);
	return out->failed ? -ENOMEM : r;
}
