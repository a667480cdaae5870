// SPDX-License-Identifier: MIT
/*
 * otlp.c: see push.h: opentelemetry.proto.profiles.v1development as of 1.10 and 1.11. One
 * dictionary for the whole request; element 0 of each of its tables is the zero value. A profile
 * for each part and event.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "export/proto.h"
#include "push/push.h"

struct otlp {
	struct intern strings;
	/* messages, by their bytes: id 0 is the zero value, as it is empty */
	struct intern mappings, locations, functions, attributes, stacks;
	struct buf text, one, two;
	bool failed;
};

/* A number in a table; 0 after a failure, which sticks. */
static uint32_t otlp_id(struct otlp *o, uint32_t id)
{
	if (id == INTERN_FAILED)
		o->failed = true;
	return id == INTERN_FAILED ? 0 : id;
}

/* Protobuf's strings are UTF-8. */
static uint32_t otlp_string(struct otlp *o, const char *text)
{
	buf_clear(&o->text);
	proto_utf8(&o->text, text, strlen(text));
	return otlp_id(o, intern_bytes(&o->strings, o->text.bytes, o->text.n));
}

/* Takes the message that was made in `from`, and clears that. */
static uint32_t otlp_message(struct otlp *o, struct intern *table, struct buf *from)
{
	uint32_t id = otlp_id(o, intern_bytes(table, from->bytes, from->n));

	o->failed |= from->failed;
	buf_clear(from);
	return id;
}

/* KeyValueAndUnit{1 key_strindex, 2 value{1 string_value}}. */
static uint32_t otlp_attribute(struct otlp *o, const char *key, const char *value)
{
	struct buf any = { 0 }, text = { 0 };

	proto_utf8(&text, value, strlen(value));
	proto_text(&any, 1, buf_text(&text));
	proto_u64(&o->two, 1, otlp_string(o, key));
	proto_message(&o->two, 2, &any);
	buf_free(&any);
	buf_free(&text);
	return otlp_message(o, &o->attributes, &o->two);
}

/* A repeated number with one element: zero as well. */
static void otlp_one_number(struct buf *to, unsigned field, uint32_t v)
{
	struct buf packed = { 0 };

	proto_varint(&packed, v);
	proto_bytes(to, field, packed.bytes, packed.n);
	buf_free(&packed);
}

static void otlp_fixed64(struct buf *to, unsigned field, uint64_t v)
{
	proto_varint(to, (uint64_t)field << 3 | 1);
	for (int i = 0; i < 8; i++)
		buf_put(to, &(unsigned char){ (unsigned char)(v >> 8 * i) }, 1);
}

/* Mapping{4 filename_strindex, 5 attribute_indices}. */
static uint32_t otlp_mapping(struct otlp *o, const struct profile *p, uint32_t object)
{
	const struct profile_object *at = object ? profile_object_at(p, object) : NULL;
	uint32_t build_id = 0;

	if (!at)
		return 0;
	if (at->build_id)
		build_id = otlp_attribute(o, "process.executable.build_id.gnu",
		                          profile_text(p, at->build_id));
	proto_u64(&o->one, 4, otlp_string(o, profile_text(p, at->path)));
	if (build_id)
		otlp_one_number(&o->one, 5, build_id);
	return otlp_message(o, &o->mappings, &o->one);
}

/* Location{1 mapping_index, 2 address, 3 lines{1 function_index, 2 line}, 4 attribute_indices};
 * Function{1 name_strindex, 3 filename_strindex}. */
static uint32_t otlp_location(struct otlp *o, const struct profile *p, uint32_t frame)
{
	const struct profile_frame *f = profile_frame_at(p, frame);
	uint32_t mapping = otlp_mapping(o, p, f->object), function, type = 0;
	struct buf line = { 0 };

	if (f->kind == PROFILE_KERNEL || f->kind == PROFILE_USER || f->kind == PROFILE_INLINED)
		type = otlp_attribute(o, "profile.frame.type",
		                      f->kind == PROFILE_KERNEL ? "kernel" : "native");
	proto_u64(&o->one, 1, otlp_string(o, f->symbol ? profile_text(p, f->symbol) : ""));
	proto_u64(&o->one, 3, otlp_string(o, f->file ? profile_text(p, f->file) : ""));
	function = otlp_message(o, &o->functions, &o->one);
	proto_u64(&line, 1, function);
	proto_u64(&line, 2, f->line);
	proto_u64(&o->one, 1, mapping);
	proto_u64(&o->one, 2, f->address);
	proto_message(&o->one, 3, &line);
	if (type)
		otlp_one_number(&o->one, 4, type);
	buf_free(&line);
	return otlp_message(o, &o->locations, &o->one);
}

/* Stack{1 location_indices}, leaf first. */
static uint32_t otlp_stack(struct otlp *o, const struct profile *p, uint32_t node)
{
	struct buf packed = { 0 };
	uint32_t id;

	while (node != PROFILE_ROOT) {
		struct profile_node n = profile_node_at(p, node);

		proto_varint(&packed, otlp_location(o, p, n.frame));
		node = n.parent;
	}
	if (packed.n)
		proto_bytes(&o->one, 1, packed.bytes, packed.n);
	o->failed |= packed.failed;
	buf_free(&packed);
	id = otlp_message(o, &o->stacks, &o->one);
	return id;
}

/* ValueType{1 type_strindex, 2 unit_strindex}. */
static void otlp_value_type(struct otlp *o, struct buf *to, unsigned field, const char *type,
                            const char *unit)
{
	struct buf value = { 0 };

	proto_u64(&value, 1, otlp_string(o, type));
	proto_u64(&value, 2, otlp_string(o, unit));
	proto_message(to, field, &value);
	buf_free(&value);
}

/* Sample{1 stack_index, 2 attribute_indices, 4 values}. */
static void otlp_sample(struct otlp *o, const struct profile *p, const struct profile_row *row,
                        struct buf *to)
{
	uint32_t stack = otlp_stack(o, p, row->key.node);
	uint32_t comm = otlp_attribute(o, "thread.name",
	                               profile_text(p, profile_task_at(p, row->key.task)->comm));
	struct buf sample = { 0 }, value = { 0 };

	proto_u64(&sample, 1, stack);
	otlp_one_number(&sample, 2, comm);
	proto_varint(&value, row->weight);
	proto_bytes(&sample, 4, value.bytes, value.n);
	proto_message(to, 2, &sample);
	buf_free(&sample);
	buf_free(&value);
}

/* Profile{1 sample_type, 2 samples, 3 time_unix_nano, 4 duration_nano, 5 period_type, 6 period,
 * 7 profile_id} of one event. False: it has no samples. */
static bool otlp_profile(struct otlp *o, const struct push_window *w, size_t part, uint32_t event,
                         struct buf *to)
{
	const struct profile *p = w->parts[part].profile;
	bool time = profile_event_unit(p, event) == PROFILE_NANOSECONDS;
	const char *name = profile_event_name(p, event);
	const char *type = time && strncmp(name, "offcpu", 6) != 0 ? "cpu" : name;
	const char *unit = time ? "nanoseconds" : "count";
	unsigned char id[16];
	struct profile_account account;

	profile_account(p, event, &account);
	if (!account.samples)
		return false;
	memcpy(id, w->id, sizeof(id));
	id[13] ^= (unsigned char)event;
	id[14] ^= (unsigned char)(part >> 8);
	id[15] ^= (unsigned char)part;
	otlp_value_type(o, to, 1, type, unit);
	for (size_t i = 0; i < profile_n_rows(p); i++)
		if (profile_row_at(p, i)->key.event == event)
			otlp_sample(o, p, profile_row_at(p, i), to);
	otlp_fixed64(to, 3, w->from_ns);
	proto_u64(to, 4, w->to_ns - w->from_ns);
	otlp_value_type(o, to, 5, type, unit);
	proto_u64(to, 6, account.weight / account.samples ? account.weight / account.samples : 1);
	proto_bytes(to, 7, id, sizeof(id));
	return true;
}

/* KeyValue{1 key, 2 value{1 string_value}}; labels have OpenTelemetry's names where there are. */
static void otlp_resource_label(struct buf *to, const struct push_label *l)
{
	static const char *const names[][2] = {
		{ "service", "service.name" },
		{ "version", "service.version" },
		{ "host", "host.name" },
		{ "container", "container.id" },
		{ "namespace", "k8s.namespace.name" },
		{ "pod", "k8s.pod.uid" },
		{ "exe", "process.executable.path" },
	};
	struct buf any = { 0 }, pair = { 0 }, text = { 0 };
	const char *name = l->key;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(names[i][0], l->key))
			name = names[i][1];
	proto_utf8(&text, name, strlen(name));
	proto_text(&pair, 1, buf_text(&text));
	buf_clear(&text);
	proto_utf8(&text, l->value, strlen(l->value));
	proto_text(&any, 1, buf_text(&text));
	proto_message(&pair, 2, &any);
	proto_message(to, 1, &pair);
	buf_free(&any);
	buf_free(&pair);
	buf_free(&text);
}

/* ResourceProfiles{1 resource, 2 scope_profiles{1 scope{1 name}, 2 profiles}}. */
static void otlp_part(struct otlp *o, const struct push_window *w, size_t part, struct buf *to)
{
	const struct push_part *p = &w->parts[part];
	struct buf resource = { 0 }, scope = { 0 }, profiles = { 0 }, all = { 0 }, profile = { 0 };

	for (size_t i = 0; i < p->n_labels; i++)
		otlp_resource_label(&resource, &p->labels[i]);
	proto_message(&all, 1, &resource);
	proto_text(&scope, 1, "seam");
	proto_message(&profiles, 1, &scope);
	for (uint32_t event = 1; event <= profile_n_events(p->profile); event++)
		if (otlp_profile(o, w, part, event, &profile))
			proto_message(&profiles, 2, &profile);
	proto_message(&all, 2, &profiles);
	o->failed |= all.failed;
	proto_message(to, 1, &all);
	buf_free(&resource);
	buf_free(&scope);
	buf_free(&profiles);
	buf_free(&profile);
	buf_free(&all);
}

/* A table of the dictionary, the zero value as well. */
static void otlp_table(struct buf *to, unsigned field, const struct intern *table)
{
	proto_bytes(to, field, "", 0);
	for (uint32_t id = 1; id < table->n; id++)
		proto_bytes(to, field, intern_get(table, id), intern_length(table, id));
}

/* ProfilesDictionary{1 mapping, 2 location, 3 function, 4 link, 5 string, 6 attribute, 7 stack}. */
static void otlp_dictionary(const struct otlp *o, struct buf *to)
{
	otlp_table(to, 1, &o->mappings);
	otlp_table(to, 2, &o->locations);
	otlp_table(to, 3, &o->functions);
	proto_bytes(to, 4, "", 0);
	otlp_table(to, 5, &o->strings);
	otlp_table(to, 6, &o->attributes);
	otlp_table(to, 7, &o->stacks);
}

/* ExportProfilesServiceRequest{1 resource_profiles, 2 dictionary}. */
int otlp_write(struct buf *to, const struct push_window *w, size_t from, size_t end)
{
	struct otlp o = { 0 };
	struct buf dictionary = { 0 };

	for (size_t i = from; i < end; i++)
		otlp_part(&o, w, i, to);
	otlp_dictionary(&o, &dictionary);
	proto_message(to, 2, &dictionary);
	o.failed |= dictionary.failed || to->failed;
	intern_free(&o.strings);
	intern_free(&o.mappings);
	intern_free(&o.locations);
	intern_free(&o.functions);
	intern_free(&o.attributes);
	intern_free(&o.stacks);
	buf_free(&o.text);
	buf_free(&o.one);
	buf_free(&o.two);
	buf_free(&dictionary);
	return o.failed ? -ENOMEM : 0;
}
