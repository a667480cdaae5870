// SPDX-License-Identifier: MIT
/*
 * process_ask.c: see process_ask.h: a process is asked who it is, through /proc and its memory.
 * Whatever it says of itself is hostile: it is bounded, and only ever becomes labels.
 */
#include "fleet/process_ask.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/peek.h"
#include "base/protobuf.h"
#include "fleet/container.h"

#define PROCESS_CGROUP 16384u       /* bytes of /proc/PID/cgroup */
#define PROCESS_ENVIRON 131072u     /* bytes of /proc/PID/environ that are looked at */
#define PROCESS_MAPS (1u << 20)     /* bytes of /proc/PID/maps that are looked at */
#define PROCESS_CONTEXT_MOST 65536u /* bytes of a process context */
#define PROCESS_CONTEXT_DEPTH 2     /* a Resource, or one in a ProcessContext */

/* A file of /proc/PID, with a NUL behind it, to be freed. NULL: no process, not allowed. peek: for
 * what is read out of the process itself. */
static char *process_read(const struct process_opts *o, struct peek *peek, uint32_t pid,
                          const char *file, size_t most, size_t *n)
{
	const char *root = o && o->root ? o->root : "";
	struct buf text = { 0 };
	char name[PATH_MAX];
	int r;

	snprintf(name, sizeof(name), "%s/proc/%u/%s", root, pid, file);
	r = peek_file(peek, pid, name, most, &text);
	*n = text.n;
	if ((r < 0 && !text.n) || buf_put(&text, "", 1) < 0)
		buf_free(&text);
	return (char *)text.bytes;
}

/* ---- control groups ---- */

/* The line of version 2 ("0::/path"), or the first that names a group at all. Cuts the text at its
 * lines; the result points into it. */
static char *process_path(char *text)
{
	char *path = NULL;

	for (char *line = text, *next; line && *line; line = next) {
		char *colon = strchr(line, ':');

		next = strchr(line, '\n');
		if (next)
			*next++ = 0;
		colon = colon ? strchr(colon + 1, ':') : NULL;
		if (colon && (!path || !strncmp(line, "0::", 3)) && strcmp(colon + 1, "/") != 0)
			path = colon + 1;
	}
	return path;
}

/* The labels of a control group, and of the container that it is of. */
static int process_group(const struct process_opts *o, const char *path, struct labels *l)
{
	const char *root = o && o->root ? o->root : "";
	char id[CONTAINER_ID + 1], version[LABELS_VALUE_MAX];
	const char *pod, *image;
	int r = labels_set(l, "cgroup", path);

	if (r >= 0)
		r = labels_set_cgroup(l, path);
	pod = labels_get(l, "pod");
	if (r >= 0 && pod) {
		/* Its uid, until its name is known. */
		char uid[64];

		snprintf(uid, sizeof(uid), "%s", pod);
		r = labels_set(l, "pod_uid", uid);
	}
	if (r < 0 || !container_id(path, id))
		return r;
	r = container_labels(l, root, id);
	image = r < 0 ? NULL : labels_get(l, "image");
	if (!image)
		return r;
	container_version(image, version, sizeof(version));
	return version[0] ? labels_set(l, "version", version) : 0;
}

/* ---- OpenTelemetry ---- */

/* The label that an attribute of OpenTelemetry becomes; NULL: none. */
static const char *process_label(const char *key, size_t n)
{
	static const struct {
		const char *key, *label;
	} known[] = { { "service.name", "service" }, { "service.version", "version" } };

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strlen(known[i].key) == n && !memcmp(known[i].key, key, n))
			return known[i].label;
	return NULL;
}

/* Sets a label to bytes that may be anything. */
static int process_set(struct labels *l, const char *label, const char *bytes, size_t n)
{
	char value[LABELS_VALUE_MAX + 1];

	n = n < LABELS_VALUE_MAX ? n : LABELS_VALUE_MAX;
	memcpy(value, bytes, n);
	value[n] = 0;
	return value[0] ? labels_set(l, label, value) : 0;
}

static int process_hex(char c)
{
	return c >= '0' && c <= '9'                 ? c - '0'
	       : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
	                                            : -1;
}

/* "service.name=checkout,service.version=1.4", values with percent signs as URLs have them. */
int process_attributes(struct labels *l, const char *text)
{
	int r = 0;

	for (size_t n; *text && r >= 0; text += n + (text[n] == ',')) {
		const char *equals, *label;
		char value[LABELS_VALUE_MAX];
		size_t at = 0;

		n = strcspn(text, ",");
		equals = memchr(text, '=', n);
		label = equals ? process_label(text, (size_t)(equals - text)) : NULL;
		if (!label)
			continue;
		for (const char *c = equals + 1; c < text + n && at < sizeof(value); c++) {
			bool coded = *c == '%' && text + n - c > 2 && process_hex(c[1]) >= 0 &&
			             process_hex(c[2]) >= 0;

			value[at++] =
			        coded ? (char)(process_hex(c[1]) << 4 | process_hex(c[2])) : *c;
			c += coded ? 2 : 0;
		}
		r = process_set(l, label, value, at);
	}
	return r;
}

/* A KeyValue: 1 its key, 2 its value, of which 1 is a string. */
static int process_attribute(struct labels *l, struct cursor c)
{
	struct cursor bytes, key = { 0 }, value = { 0 };
	const char *label;
	uint64_t field;

	while (protobuf_field(&c, &field, &bytes)) {
		if (field == 1)
			key = bytes;
		if (field == 2 && protobuf_field(&bytes, &field, &value) && field != 1)
			value = (struct cursor){ 0 };
	}
	label = key.at ? process_label((const char *)key.at, cursor_left(&key)) : NULL;
	return label && value.at
	               ? process_set(l, label, (const char *)value.at, cursor_left(&value))
	               : 0;
}

/* Field 1 of a Resource is its attributes; of a ProcessContext, the Resource. No attribute looks
 * like a Resource: its key would have to be one. */
static int process_context(struct labels *l, struct cursor c, int depth)
{
	struct cursor bytes;
	uint64_t field;
	int r = 0;

	while (r >= 0 && protobuf_field(&c, &field, &bytes)) {
		if ((field != 1 && field != 2) || !bytes.at)
			continue;
		r = process_attribute(l, bytes);
		if (r >= 0 && depth > 1 && field == 1)
			r = process_context(l, bytes, depth - 1);
	}
	return r;
}

int process_resource(struct labels *l, const void *bytes, size_t n)
{
	return process_context(l, cursor_of(bytes, n, false), PROCESS_CONTEXT_DEPTH);
}

struct process_context_head {
	char signature[8];
	uint32_t version, size;
	uint64_t published_ns, payload;
};

/* The context that begins at an address. One that is changed while it is read is left out: the next
 * reading finds it. */
static int process_context_at(struct peek *peek, uint32_t pid, uint64_t at, struct labels *l)
{
	struct process_context_head h, again;
	void *payload;
	int r = 0;

	if (peek_memory(peek, pid, at, &h, sizeof(h)) < 0 ||
	    memcmp(h.signature, "OTEL_CTX", 8) != 0 || (h.version != 1 && h.version != 2) ||
	    !h.published_ns || !h.size || h.size > PROCESS_CONTEXT_MOST)
		return 0;
	payload = malloc(h.size);
	if (!payload)
		return -ENOMEM;
	if (peek_memory(peek, pid, h.payload, payload, h.size) >= 0 &&
	    peek_memory(peek, pid, at, &again, sizeof(again)) >= 0 &&
	    !memcmp(&h, &again, sizeof(h)))
		r = process_resource(l, payload, h.size);
	free(payload);
	return r;
}

/* Looks for the mapping that holds a context. There should be one. */
int process_ask_context(const struct process_opts *o, uint32_t pid, struct labels *l)
{
	size_t n;
	char *text = process_read(o, o ? o->peek : NULL, pid, "maps", PROCESS_MAPS, &n), *at;
	int r = 0;

	at = text ? strstr(text, ":OTEL_CTX") : NULL;
	if (at) {
		while (at > text && at[-1] != '\n')
			at--;
		r = process_context_at(o ? o->peek : NULL, pid, strtoull(at, NULL, 16), l);
	}
	free(text);
	return r;
}

/* ---- environment ---- */

struct process_environ {
	struct labels *l;
	const char *text;
	size_t n;
	int r;
};

/* The value of a variable; NULL: it is not set. */
static const char *process_variable(const struct process_environ *e, const char *name)
{
	size_t length = strlen(name);

	for (const char *at = e->text; at < e->text + e->n; at += strlen(at) + 1)
		if (!strncmp(at, name, length) && at[length] == '=')
			return at + length + 1;
	return NULL;
}

/* For rules_keys: the variable that a rule asks for, under its key. */
static void process_for_rule(void *ctx, const char *key)
{
	struct process_environ *e = ctx;

	if (e->r >= 0)
		e->r = labels_set(e->l, key, process_variable(e, key + strlen("env.")));
}

/* Takes what is asked for of the environment that the process began with, and nothing else. */
static int process_environment(const struct process_opts *o, uint32_t pid, struct labels *l)
{
	struct process_environ e = { .l = l };
	char *text = process_read(o, o ? o->peek : NULL, pid, "environ", PROCESS_ENVIRON, &e.n);
	const char *value;

	if (!text)
		return 0;
	e.text = text;
	value = process_variable(&e, "OTEL_RESOURCE_ATTRIBUTES");
	if (value)
		e.r = process_attributes(l, value);
	/* It wins over the attributes, as the specification says. */
	value = process_variable(&e, "OTEL_SERVICE_NAME");
	if (value && *value && e.r >= 0)
		e.r = labels_set(l, "service", value);
	if (o)
		rules_keys(&o->rules, "env.", process_for_rule, &e);
	free(text);
	return e.r;
}

/* ---- all of it ---- */

/* What is known of a process, from the least to the most certain. *gone: it has none. */
int process_ask(const struct process_opts *o, uint32_t pid, const char *path, struct labels *l,
                bool *gone)
{
	size_t n;
	char *text = path ? NULL : process_read(o, NULL, pid, "cgroup", PROCESS_CGROUP, &n);
	int r = 0;

	*gone = !text && !path;
	if (text)
		path = process_path(text);
	if (path)
		r = process_group(o, path, l);
	free(text);
	return r < 0 ? r : process_environment(o, pid, l);
}
