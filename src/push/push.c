// SPDX-License-Identifier: MIT
// push.c: see push.h.
#include "push/push.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "export/export.h"
#include "export/proto.h"

const char *push_label(const struct push_part *part, const char *key)
{
	for (size_t i = 0; i < part->n_labels; i++)
		if (!strcmp(part->labels[i].key, key))
			return part->labels[i].value;
	return NULL;
}

/* The name of a part's service; these servers need one. */
const char *push_service(const struct push_part *part)
{
	const char *service = push_label(part, "service");

	return service ? service : "unknown";
}

/* ---- pprof ---- */

static int push_take(void *ctx, const void *bytes, size_t n)
{
	return buf_put(ctx, bytes, n);
}

/* Appends a gzip'd pprof. -ENOMEM. */
static int push_pprof(struct buf *to, const struct profile *p)
{
	const struct export_opts opts = { .sz = sizeof(opts) };
	struct export_out out = { .write = push_take, .ctx = to };
	int r = export_find("pprof")->write(p, &opts, &out);

	if (r >= 0)
		r = export_flush(&out);
	buf_free(&out.buf);
	return r;
}

/* Appends bytes as base64. */
static void push_base64(struct buf *to, const struct buf *bytes)
{
	static const char digits[] =
	        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < bytes->n; i += 3) {
		const unsigned char *b = bytes->bytes + i;
		size_t left = bytes->n - i;
		unsigned v = (unsigned)b[0] << 16 | (left > 1 ? (unsigned)b[1] << 8 : 0) |
		             (left > 2 ? b[2] : 0);
		const char four[] = { digits[v >> 18], digits[v >> 12 & 63],
			              left > 1 ? digits[v >> 6 & 63] : '=',
			              left > 2 ? digits[v & 63] : '=' };

		buf_put(to, four, 4);
	}
}

/* ---- JSON: Pyroscope and Parca ---- */

/* One label of a series: its name as those servers take it, and its value. */
static void push_json_label(struct json *j, const char *name, const char *value)
{
	struct buf text = { 0 };

	json_open(j, '{');
	json_key(j, "name");
	/* Names of labels have letters, digits and '_' there. */
	for (const char *c = name; *c; c++)
		buf_put(&text,
		        (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || *c == '_' ||
		                        (*c >= '0' && *c <= '9' && c != name)
		                ? c
		                : "_",
		        1);
	json_string(j, buf_text(&text));
	json_key(j, "value");
	buf_clear(&text);
	proto_utf8(&text, value, strlen(value));
	json_string(j, buf_text(&text));
	json_close(j, '}');
	buf_free(&text);
}

static void push_json_labels(struct json *j, const struct push_part *part)
{
	json_open(j, '[');
	push_json_label(j, "__name__", "process_cpu");
	push_json_label(j, "service_name", push_service(part));
	for (size_t i = 0; i < part->n_labels; i++)
		if (strcmp(part->labels[i].key, "service") != 0)
			push_json_label(j, part->labels[i].key, part->labels[i].value);
	json_close(j, ']');
}

/* A UUID of the window and the part, so that a server may tell a second copy. */
static void push_json_id(struct json *j, const struct push_window *w, size_t part)
{
	unsigned char id[16];
	char text[37];
	size_t n = 0;

	memcpy(id, w->id, sizeof(id));
	id[14] ^= (unsigned char)(part >> 8);
	id[15] ^= (unsigned char)part;
	id[6] = (unsigned char)((id[6] & 15) | 0x80); /* version 8: of one's own making */
	id[8] = (unsigned char)((id[8] & 63) | 0x80);
	for (size_t i = 0; i < sizeof(id); i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n,
		                      i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x",
		                      id[i]);
	json_key(j, "ID");
	json_string(j, text);
}

/* One series of a request. -ENOMEM. */
static int push_json_part(struct json *j, const struct push_window *w, size_t i, bool parca)
{
	const struct push_part *part = &w->parts[i];
	struct buf pprof = { 0 }, text = { 0 };
	int r = push_pprof(&pprof, part->profile);

	json_open(j, '{');
	json_key(j, "labels");
	if (parca) {
		json_open(j, '{');
		json_key(j, "labels");
	}
	push_json_labels(j, part);
	if (parca)
		json_close(j, '}');
	json_key(j, "samples");
	json_open(j, '[');
	json_open(j, '{');
	if (!parca)
		push_json_id(j, w, i);
	json_key(j, "rawProfile");
	push_base64(&text, &pprof);
	json_string(j, buf_text(&text));
	json_close(j, '}');
	json_close(j, ']');
	json_close(j, '}');
	if (pprof.failed || text.failed)
		r = -ENOMEM;
	buf_free(&pprof);
	buf_free(&text);
	return r;
}

/* A PushRequest of Pyroscope, or a WriteRawRequest of Parca. -ENOMEM. */
static int push_json(struct buf *to, const struct push_window *w, bool parca)
{
	struct json j = { .out = to };
	int r = 0;

	json_open(&j, '{');
	json_key(&j, "series");
	json_open(&j, '[');
	for (size_t i = 0; i < w->n_parts && r >= 0; i++)
		r = push_json_part(&j, w, i, parca);
	json_close(&j, ']');
	if (parca) {
		/* Addresses, where there are any, are the objects' own. */
		json_key(&j, "normalized");
		json_bool(&j, true);
	}
	json_close(&j, '}');
	return to->failed ? -ENOMEM : r;
}

/* ---- requests ---- */

int push_post(const struct push_server *s, const struct http_request *q, bool *unsure,
              struct seam_error *err)
{
	struct http_answer answer;
	int r = http_post(s->http, q, &answer, err);

	*unsure = r < 0 && !answer.status && answer.sent;
	http_answer_free(&answer);
	return r;
}

/* The query of Coroot: the service and all labels. */
static void push_coroot_path(struct buf *path, const struct push_server *s,
                             const struct push_part *part)
{
	buf_printf(path, "%s/v1/profiles?service.name=", s->path);
	http_escape(path, push_service(part));
	for (size_t i = 0; i < part->n_labels; i++) {
		if (!strcmp(part->labels[i].key, "service"))
			continue;
		buf_put_text(path, "&");
		http_escape(path, part->labels[i].key);
		buf_put_text(path, "=");
		http_escape(path, part->labels[i].value);
	}
}

/* One request for each part: those that arrived are not sent again. */
static int push_coroot(const struct push_server *s, struct push_window *w, bool *unsure,
                       struct seam_error *err)
{
	int r = 0;

	for (; w->done < w->n_parts && r >= 0; w->done += r >= 0) {
		const struct push_part *part = &w->parts[w->done];
		struct buf path = { 0 }, body = { 0 };

		push_coroot_path(&path, s, part);
		r = push_pprof(&body, part->profile);
		if (r >= 0 && (path.failed || body.failed))
			r = -ENOMEM;
		if (r >= 0) {
			const struct http_request q = { .path = buf_text(&path),
				                        .headers = s->headers,
				                        .body = body.bytes,
				                        .n = body.n };

			r = push_post(s, &q, unsure, err);
		}
		buf_free(&path);
		buf_free(&body);
	}
	return r;
}

/* Makes the request of the server's kind and posts it. */
int push_send(const struct push_server *s, struct push_window *w, bool *unsure,
              struct seam_error *err)
{
	struct buf path = { 0 }, body = { 0 };
	int r;

	*unsure = false;
	if (s->kind == PUSH_COROOT)
		return push_coroot(s, w, unsure, err);
	if (s->kind == PUSH_OTLP)
		return otlp_send(s, w, unsure, err);
	buf_printf(&path, "%s%s", s->path,
	           s->kind == PUSH_PARCA ? "/profiles/writeraw" : "/push.v1.PusherService/Push");
	r = push_json(&body, w, s->kind == PUSH_PARCA);
	if (r >= 0 && path.failed)
		r = -ENOMEM;
	if (r >= 0) {
		const struct http_request q = {
			.path = buf_text(&path),
			.content_type = "application/json",
			.headers = s->headers,
			.body = body.bytes,
			.n = body.n,
		};

		r = push_post(s, &q, unsure, err);
	}
	buf_free(&path);
	buf_free(&body);
	return r;
}
