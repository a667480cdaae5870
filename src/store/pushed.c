// SPDX-License-Identifier: MIT
/*
 * pushed.c: stores that are only written, by their own ways in (push/): pyroscope:, parca:, coroot:
 * and otlp:. A window is cut into parts of equal labels, but for what a profile says itself (comm,
 * program); addresses are not kept, so every frame goes with a name.
 *
 * None of them drops a second copy of a window. So one that may have arrived is not sent again.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/blake2.h"
#include "base/map.h"
#include "export/export.h"
#include "profile/origin.h"
#include "push/push.h"
#include "store/backend.h"
#include "store/spooled.h"

#define TRIES 5u /* of a window, by who waits for it */
#define WAIT_MOST_S 30u

static const char *const pushed_options[] = { REMOTE_COMMON, SPOOLED_OPTIONS, "tenant",
	                                      "key-file",    "protocol",      NULL };

struct pushed {
	struct remote remote;
	struct push_server server;
	char *header;
	const char *headers[2];
	bool waits;  /* tries again by itself */
	bool unsure; /* what was put last may have arrived */
	/* The window that was sent in part. */
	unsigned char id[16];
	size_t done;
};

/* Labels that all rows of a part have, and its profile. */
struct pushed_part {
	struct labels labels;
	struct profile *profile;
	uint32_t *nodes, *frames; /* by the window's: the part's */
	struct push_label *list;
};

/* ---- parts ---- */

/* The labels of a part: without what its profile says. -ENOMEM. */
static int pushed_labels(struct labels *to, const struct labels *from)
{
	static const char *const inside[] = { "comm", "exe", "build_id", "pid", "tid" };
	const char *key, *value;
	int r = 0;

	for (size_t at = 0; r >= 0 && labels_next(from, &at, &key, &value);) {
		bool left_out = false;

		for (size_t i = 0; i < sizeof(inside) / sizeof(inside[0]); i++)
			left_out |= !strcmp(inside[i], key);
		r = left_out ? 0 : labels_set(to, key, value);
	}
	return r;
}

/* A frame of the window in the part's profile, with a name. PROFILE_FAILED. */
static uint32_t pushed_frame(struct pushed_part *to, const struct profile *from, uint32_t id)
{
	struct profile_frame f = *profile_frame_at(from, id);
	struct buf name = { 0 };

	if (to->frames[id])
		return to->frames[id];
	if (f.object) {
		const struct profile_object *o = profile_object_at(from, f.object);

		f.object = profile_object(to->profile, profile_text(from, o->path),
		                          o->build_id ? profile_text(from, o->build_id) : NULL);
	}
	export_frame_name(from, id, &name);
	f.symbol = name.failed ? PROFILE_FAILED : profile_string(to->profile, buf_text(&name));
	buf_free(&name);
	if (f.file)
		f.file = profile_string(to->profile, profile_text(from, f.file));
	if (f.object == PROFILE_FAILED || f.symbol == PROFILE_FAILED || f.file == PROFILE_FAILED)
		return PROFILE_FAILED;
	return to->frames[id] = profile_frame(to->profile, &f);
}

/* A stack of the window in the part's profile: the nodes of it that are new, from the outermost on.
 * PROFILE_FAILED. */
static uint32_t pushed_node(struct pushed_part *to, const struct profile *from, uint32_t node)
{
	while (node != PROFILE_ROOT && !to->nodes[node]) {
		uint32_t top = node, parent, made;

		/* The outermost that has not been made. */
		while ((parent = profile_node_at(from, top).parent) != PROFILE_ROOT &&
		       !to->nodes[parent])
			top = parent;
		made = pushed_frame(to, from, profile_node_at(from, top).frame);
		if (made != PROFILE_FAILED)
			made = profile_node(to->profile,
			                    parent == PROFILE_ROOT ? parent : to->nodes[parent],
			                    made);
		if (made == PROFILE_FAILED)
			return made;
		to->nodes[top] = made;
	}
	return node == PROFILE_ROOT ? node : to->nodes[node];
}

/* An event of the window in the part's profile, by the name that this kind of server knows.
 * PROFILE_FAILED. */
static uint32_t pushed_event(struct pushed_part *to, enum push_kind kind,
                             const struct profile *from, uint32_t event)
{
	struct buf name = { 0 };
	uint32_t made;

	if (kind == PUSH_COROOT)
		coroot_type(from, event, &name);
	else
		buf_put_text(&name, profile_event_name(from, event));
	made = name.failed ? PROFILE_FAILED
	                   : profile_event_in(to->profile, buf_text(&name),
	                                      profile_event_unit(from, event));
	buf_free(&name);
	return made;
}

/* Adds a row. -ENOMEM. */
static int pushed_row(struct pushed_part *to, enum push_kind kind, const struct store_window *w,
                      size_t i)
{
	const struct profile *from = w->profile;
	const struct profile_row *row = profile_row_at(from, i);
	const struct labels *labels = &w->series[w->row_series ? w->row_series[i] : 0];
	const char *comm = labels_get(labels, "comm"), *exe = labels_get(labels, "exe");
	uint32_t text = profile_string(to->profile, comm ? comm : ""), program = 0;
	struct profile_key key = { .state = row->key.state,
		                   .cpu = PROFILE_NOT_KEPT,
		                   .slice = PROFILE_NOT_KEPT,
		                   .cgroup = PROFILE_NOT_KEPT,
		                   .label = PROFILE_NOT_KEPT };

	key.event = pushed_event(to, kind, from, row->key.event);
	key.task = text == PROFILE_FAILED ? text : profile_task(to->profile, text, 0, 0);
	key.node = pushed_node(to, from, row->key.node);
	if (exe)
		program = profile_object(to->profile, exe, labels_get(labels, "build_id"));
	if (key.event == PROFILE_FAILED || key.task == PROFILE_FAILED ||
	    key.node == PROFILE_FAILED || program == PROFILE_FAILED)
		return -ENOMEM;
	if (program && origin_add_program(to->profile, key.task, program) < 0)
		return -ENOMEM;
	return profile_add(to->profile, &key, row->samples, row->weight);
}

/* An empty part. -ENOMEM. */
static int pushed_part_start(struct pushed_part *p, const struct store_window *w,
                             const struct labels *series)
{
	const struct profile *from = w->profile;
	struct origin *origin;
	int r = pushed_labels(&p->labels, series);

	p->nodes = calloc(profile_n_nodes(from) + 1, sizeof(*p->nodes));
	p->frames = calloc(profile_n_frames(from) + 1, sizeof(*p->frames));
	if (r >= 0)
		r = p->nodes && p->frames ? profile_new(&p->profile, 0) : -ENOMEM;
	for (uint32_t i = 0; r >= 0 && i < profile_n_states(from); i++)
		r = profile_set_state(p->profile, i, profile_state_at(from, i));
	if (r < 0)
		return r;
	origin = profile_origin(p->profile);
	origin->first_ns = 1;
	origin->last_ns = w->to_ns - w->from_ns + 1;
	origin->epoch_ns = w->from_ns - 1;
	return 0;
}

static void pushed_part_free(struct pushed_part *p)
{
	labels_free(&p->labels);
	profile_free(p->profile);
	free(p->nodes);
	free(p->frames);
	free(p->list);
}

/* The labels as push/ has them. -ENOMEM. */
static int pushed_part_end(struct pushed_part *p, struct push_part *ret)
{
	const char *key, *value;

	p->list = calloc(LABELS_MAX, sizeof(*p->list));
	if (!p->list)
		return -ENOMEM;
	for (size_t at = 0;
	     ret->n_labels < LABELS_MAX && labels_next(&p->labels, &at, &key, &value);)
		p->list[ret->n_labels++] = (struct push_label){ key, value };
	ret->labels = p->list;
	ret->profile = p->profile;
	return 0;
}

/* Which part each series is of; parts that are new are begun. -ENOMEM. */
static int pushed_split(struct pushed_part *parts, size_t *n, uint32_t *of_series,
                        const struct store_window *w)
{
	for (size_t i = 0; i < w->n_series; i++) {
		struct pushed_part *p = &parts[*n];
		size_t at = 0;
		int r = pushed_part_start(p, w, &w->series[i]);

		if (r < 0) {
			pushed_part_free(p);
			return r;
		}
		while (labels_order(&parts[at].labels, &p->labels))
			at++;
		of_series[i] = (uint32_t)at;
		if (at < *n)
			pushed_part_free(p);
		else
			++*n;
		if (*n < w->n_series)
			parts[*n] = (struct pushed_part){ 0 };
	}
	return 0;
}

/* ---- sending ---- */

static void pushed_sleep(unsigned seconds)
{
	const struct timespec t = { .tv_sec = seconds };

	nanosleep(&t, NULL);
}

/* Sends; who is no agent waits a little and tries again. */
static int pushed_send(struct pushed *s, struct push_window *w, struct seam_error *err)
{
	unsigned wait = 1;
	int r;

	if (!memcmp(s->id, w->id, sizeof(s->id)))
		w->done = s->done;
	for (unsigned tries = 1;; tries++, wait *= 2) {
		unsigned asked;

		s->unsure = false;
		r = s->server.kind == PUSH_COROOT_TABLES
		            ? coroot_tables(&s->server, w, &s->unsure, err)
		            : push_send(&s->server, w, &s->unsure, err);
		if (r != -EAGAIN || s->unsure || !s->waits || tries == TRIES)
			break;
		asked = http_wait_s(s->server.http);
		asked = asked > wait ? asked : wait;
		pushed_sleep(asked < WAIT_MOST_S ? asked : WAIT_MOST_S);
	}
	memcpy(s->id, w->id, sizeof(s->id));
	s->done = w->done;
	return r;
}

/* Makes parts of the window's rows, and sends them. 1; -errno. */
static int pushed_put(void *store, const struct store_window *w, struct seam_error *err)
{
	struct pushed *s = store;
	struct pushed_part *parts = calloc(w->n_series + 1, sizeof(*parts));
	struct push_part *out = calloc(w->n_series + 1, sizeof(*out));
	uint32_t *of_series = calloc(w->n_series + 1, sizeof(*of_series));
	struct push_window window = { .from_ns = w->from_ns, .to_ns = w->to_ns, .parts = out };
	unsigned char digest[BLAKE2_BYTES];
	struct blake2 b;
	size_t n = 0;
	int r = parts && out && of_series ? pushed_split(parts, &n, of_series, w) : -ENOMEM;

	blake2_start(&b);
	blake2_add(&b, w->instance, strlen(w->instance) + 1);
	blake2_add(&b, &w->from_ns, sizeof(w->from_ns));
	blake2_end(&b, digest);
	memcpy(window.id, digest, sizeof(window.id));
	for (size_t i = 0; r >= 0 && i < profile_n_rows(w->profile); i++)
		r = pushed_row(&parts[of_series[w->row_series ? w->row_series[i] : 0]],
		               s->server.kind, w, i);
	for (size_t i = 0; r >= 0 && i < n; i++)
		if (profile_n_rows(parts[i].profile))
			r = pushed_part_end(&parts[i], &out[window.n_parts++]);
	if (r >= 0 && window.n_parts)
		r = pushed_send(s, &window, err);
	for (size_t i = 0; parts && i < n; i++)
		pushed_part_free(&parts[i]);
	free(parts);
	free(out);
	free(of_series);
	return r < 0 ? r : 1;
}

/* ---- opening ---- */

static void pushed_close(void *store)
{
	struct pushed *s = store;

	if (!s)
		return;
	http_close(s->server.http);
	remote_free(&s->remote);
	free(s->header);
	free(s);
}

/* The header that says who sends: of Pyroscope the tenant, of Coroot the key. */
static int pushed_header(struct pushed *s, struct seam_error *err)
{
	const char *tenant = remote_option(&s->remote, "tenant");
	const char *file = remote_option(&s->remote, "key-file");
	struct buf header = { 0 };
	char *key = NULL;
	int r = 0;

	if (file)
		r = http_secret(&key, file, err);
	if (r >= 0 && (tenant || key)) {
		buf_put_text(&header, tenant ? "X-Scope-OrgID: " : "X-API-Key: ");
		for (const char *c = tenant ? tenant : key; *c; c++)
			if ((unsigned char)*c >= ' ' && *c != 0x7f)
				buf_put(&header, c, 1);
		s->header = header.failed ? NULL : strdup(buf_text(&header));
		r = s->header ? 0 : -ENOMEM;
		s->headers[0] = s->header;
		s->server.headers = s->headers;
	}
	buf_free(&header);
	free(key);
	return r;
}

/* The protocol of OTLP, as OTEL_EXPORTER_OTLP_PROTOCOL names it. -EINVAL. */
static int pushed_protocol(struct pushed *s, struct seam_error *err)
{
	const char *name = remote_option(&s->remote, "protocol");

	if (!name)
		return 0;
	if (s->server.kind != PUSH_OTLP)
		return seam_error_set(err, EINVAL, NULL, SEAM_NO_OFFSET, NULL,
		                      "only otlp: has the URL's option protocol");
	s->server.grpc = !strcmp(name, "grpc");
	if (!s->server.grpc && strcmp(name, "http/protobuf") != 0)
		return seam_error_set(err, EINVAL, NULL, SEAM_NO_OFFSET, NULL,
		                      "the URL's option protocol is grpc or http/protobuf");
	if (s->server.grpc && *s->server.path)
		return seam_error_set(err, EINVAL, NULL, SEAM_NO_OFFSET, NULL,
		                      "a URL with protocol=grpc has no path: gRPC has its own");
	return 0;
}

/* The same for all kinds. */
static int pushed_open(void **ret, enum push_kind kind, const char *rest, enum store_mode mode,
                       struct seam_error *err)
{
	struct pushed *s;
	int r;

	if (mode == STORE_READ || mode == STORE_ROLL_UP)
		return seam_error_set(err, ENOSYS, NULL, SEAM_NO_OFFSET, NULL,
		                      "profiles are only pushed to this kind of store: its own "
		                      "user interface shows them");
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->waits = mode == STORE_WRITE;
	s->server.kind = kind;
	r = remote_parse(&s->remote, rest, pushed_options, err);
	if (r >= 0) {
		size_t n = strlen(s->remote.path);

		/* A slash at the end is of ours. */
		s->server.path = n == 1 ? "" : s->remote.path;
		r = pushed_header(s, err);
	}
	if (r >= 0)
		r = pushed_protocol(s, err);
	if (r >= 0)
		r = http_open(&s->server.http, &s->remote, err);
	if (r < 0)
		pushed_close(s);
	else
		*ret = s;
	return r;
}

static int pushed_open_pyroscope(void **ret, const char *rest, enum store_mode mode,
                                 struct seam_error *err)
{
	return pushed_open(ret, PUSH_PYROSCOPE, rest, mode, err);
}

static int pushed_open_parca(void **ret, const char *rest, enum store_mode mode,
                             struct seam_error *err)
{
	return pushed_open(ret, PUSH_PARCA, rest, mode, err);
}

static int pushed_open_coroot(void **ret, const char *rest, enum store_mode mode,
                              struct seam_error *err)
{
	return pushed_open(ret, PUSH_COROOT, rest, mode, err);
}

static int pushed_open_coroot_clickhouse(void **ret, const char *rest, enum store_mode mode,
                                         struct seam_error *err)
{
	return pushed_open(ret, PUSH_COROOT_TABLES, rest, mode, err);
}

/* Makes Coroot's tables, where they are not there. */
static int pushed_init_coroot_clickhouse(const char *rest, const struct store_init *o,
                                         struct seam_error *err)
{
	struct buf sql = { 0 };
	void *store;
	int r;

	if (o->cluster)
		return seam_error_set(err, EOPNOTSUPP, NULL, SEAM_NO_OFFSET, NULL,
		                      "in a cluster Coroot itself makes its tables: leave out "
		                      "--cluster");
	r = pushed_open_coroot_clickhouse(&store, rest, STORE_AGENT, err);
	if (r < 0)
		return r;
	r = 1;
	for (size_t i = 0; r > 0; i++) {
		const struct push_server *s = &((struct pushed *)store)->server;

		buf_clear(&sql);
		r = coroot_create(&sql, s, i, o->keep_days, err);
		if (r > 0 && o->say)
			o->say(o->ctx, buf_text(&sql));
		if (r > 0 && !o->only_say && coroot_run(s, &sql, err) < 0)
			r = -EIO;
	}
	buf_free(&sql);
	pushed_close(store);
	return r;
}

static int pushed_open_otlp(void **ret, const char *rest, enum store_mode mode,
                            struct seam_error *err)
{
	return pushed_open(ret, PUSH_OTLP, rest, mode, err);
}

/* The server lets go of what it has by its own rules. */
static int64_t pushed_forget(void *store, uint64_t from_ns, uint64_t bytes, struct seam_error *err)
{
	(void)store;
	(void)from_ns;
	(void)bytes;
	(void)err;
	return 0;
}

static unsigned pushed_wait_s(const void *store)
{
	return http_wait_s(((const struct pushed *)store)->server.http);
}

static bool pushed_sent(const void *store)
{
	return ((const struct pushed *)store)->unsure;
}

static void pushed_hurry(void *store, unsigned seconds)
{
	http_hurry(((struct pushed *)store)->server.http, seconds);
}

#define PUSHED_BACKEND(name, text, make)              \
	const struct store_backend name##_backend = { \
		.scheme = text,                       \
		.help = text ":HTTP-URL",             \
		.init = make,                         \
		.remote = true,                       \
		.options = pushed_options,            \
		.wait_s = pushed_wait_s,              \
		.sent = pushed_sent,                  \
		.hurry = pushed_hurry,                \
		.open = pushed_open_##name,           \
		.close = pushed_close,                \
		.put = pushed_put,                    \
		.forget = pushed_forget,              \
	}

PUSHED_BACKEND(pyroscope, "pyroscope", NULL);
PUSHED_BACKEND(parca, "parca", NULL);
PUSHED_BACKEND(coroot, "coroot", NULL);
PUSHED_BACKEND(otlp, "otlp", NULL);
PUSHED_BACKEND(coroot_clickhouse, "coroot-clickhouse", pushed_init_coroot_clickhouse);
