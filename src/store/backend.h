/* SPDX-License-Identifier: MIT */
/*
 * backend.h: what a kind of store must be able to do; the functions are those of store.h. For the
 * files of this room.
 */
#ifndef SEAM_STORE_BACKEND_H
#define SEAM_STORE_BACKEND_H

#include "store/store.h"

struct store_backend {
	const char *scheme; /* in front of the colon */
	const char *help;   /* "sqlite:FILE (an SQLite database)" */
	/* NULL: opening it to write makes what it needs. */
	int (*init)(const char *rest, const struct store_init *o, struct seam_error *err);
	/* rest: of the URL, behind the colon. */
	int (*open)(void **ret, const char *rest, enum store_mode mode, struct seam_error *err);
	void (*close)(void *s);
	int (*put)(void *s, const struct store_window *w, struct seam_error *err);
	int64_t (*forget)(void *s, uint64_t from_ns, uint64_t bytes, struct seam_error *err);
	int (*read)(void *s, const struct store_query *q, struct profile *into,
	            struct store_found *ret, struct seam_error *err);
	int (*list)(void *s, struct store_listing *ret, struct seam_error *err);
};

extern const struct store_backend sqlite_backend;
extern const struct store_backend clickhouse_backend;

#endif
