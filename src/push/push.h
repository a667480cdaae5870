/* SPDX-License-Identifier: MIT */
/* push.h: a window of profiles as a request of another store. */
#ifndef SEAM_PUSH_PUSH_H
#define SEAM_PUSH_PUSH_H

#include "net/http.h"
#include "profile/profile.h"

enum push_kind {
	PUSH_PYROSCOPE,
	PUSH_PARCA,
	PUSH_COROOT,
	PUSH_OTLP,
	PUSH_COROOT_TABLES, /* what Coroot has in ClickHouse: coroot_tables, not push_send */
};

struct push_label {
	const char *key, *value;
};

/* What has the same labels. Every frame has a name; origin.h has the times. */
struct push_part {
	const struct profile *profile;
	const struct push_label *labels;
	size_t n_labels;
};

struct push_window {
	uint64_t from_ns, to_ns;
	unsigned char id[16]; /* of the window: the same each time that it is sent */
	const struct push_part *parts;
	size_t n_parts;
	size_t done; /* parts that the server has already: set by push_send as well */
};

struct push_server {
	struct http *http;
	enum push_kind kind;
	const char *path;           /* in front of the server's own; of OTLP: in place of it; "" */
	const char *const *headers; /* NULL behind the last */
	bool grpc;                  /* OTLP by gRPC, else by HTTP */
};

/* As http_post. *unsure: it failed, and may have arrived all the same. */
int push_send(const struct push_server *s, struct push_window *w, bool *unsure,
              struct seam_error *err);
/* The value of a label; NULL: there is none. */
const char *push_label(const struct push_part *part, const char *key);

/* The service of a part as servers want it, that is with a name. */
const char *push_service(const struct push_part *part);
/* Posts; *unsure: it failed, and may have arrived. */
int push_post(const struct push_server *s, const struct http_request *q, bool *unsure,
              struct seam_error *err);

/* ---- coroot.c ---- */

/* Appends the name that Coroot has for what an event counts. */
void coroot_type(const struct profile *p, uint32_t event, struct buf *to);
/* What push_send is for the other kinds; *unsure is false before. */
int coroot_tables(const struct push_server *s, struct push_window *w, bool *unsure,
                  struct seam_error *err);
/* Appends the statement that makes table number i, from 0 on, whose rows stay keep_days (0: for
 * ever). 1; 0: there is none of this number. -EINVAL. */
int coroot_create(struct buf *sql, const struct push_server *s, size_t i, unsigned keep_days,
                  struct seam_error *err);
int coroot_run(const struct push_server *s, const struct buf *sql, struct seam_error *err);

/* ---- otlp.c ---- */

/* Appends an ExportProfilesServiceRequest of the window's parts from one on, before another.
 * -ENOMEM. */
int otlp_write(struct buf *to, const struct push_window *w, size_t from, size_t end);

/* ---- otlp_send.c ---- */

/* What push_send is for the other kinds; *unsure is false before. */
int otlp_send(const struct push_server *s, struct push_window *w, bool *unsure,
              struct seam_error *err);

#endif
