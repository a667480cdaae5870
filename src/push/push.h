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
};

/* As http_post. *unsure: it failed, and may have arrived all the same. */
int push_send(const struct push_server *s, struct push_window *w, bool *unsure,
              struct seam_error *err);
/* The value of a label; NULL: there is none. */
const char *push_label(const struct push_part *part, const char *key);

/* ---- otlp.c ---- */

/* Appends an ExportProfilesServiceRequest. -ENOMEM. */
int otlp_write(struct buf *to, const struct push_window *w);

#endif
