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
	/* Of one that is behind a network: an agent's windows go through a spool (spooled.h), whose
	 * options are among the URL's. */
	bool remote;
	bool again; /* what is put twice counts once */
	const char *const *options;
	/* How long the server wants nothing, in seconds; NULL: nobody knows. */
	unsigned (*wait_s)(const void *s);
	/* Whether what was put last may have arrived though it failed. */
	bool (*sent)(const void *s);
	/* Requests end within so many seconds. From any thread. */
	void (*hurry)(void *s, unsigned seconds);
	/* NULL: opening it to write makes what it needs. */
	int (*init)(const char *rest, const struct store_init *o, struct seam_error *err);
	/* rest: of the URL, behind the colon. */
	int (*open)(void **ret, const char *rest, enum store_mode mode, struct seam_error *err);
	void (*close)(void *s);
	int (*put)(void *s, const struct store_window *w, struct seam_error *err);
	int64_t (*forget)(void *s, uint64_t from_ns, uint64_t bytes, struct seam_error *err);
	/* NULL: it has nothing to compact. */
	int (*compact)(void *s, uint64_t now_ns, uint64_t day_bytes, struct store_compacted *ret,
	               struct seam_error *err);
	int (*read)(void *s, const struct store_query *q, struct profile *into,
	            struct store_found *ret, struct seam_error *err);
	int (*list)(void *s, const struct store_query *q, struct store_listing *ret,
	            struct seam_error *err);
	/* NULL: there is no roll-up. */
	int (*roll_up)(void *s, const struct store_query *q, uint64_t now_ns, unsigned most,
	               struct store_rolled *ret, struct seam_error *err);
	int (*functions)(void *s, const struct store_query *q, unsigned limit,
	                 struct store_functions *ret, struct seam_error *err);
};

extern const struct store_backend sqlite_backend;
extern const struct store_backend clickhouse_backend;
/* Only written: read and list are NULL, as no such store is opened to read. */
extern const struct store_backend pyroscope_backend, parca_backend, coroot_backend, otlp_backend;
extern const struct store_backend coroot_clickhouse_backend;

#endif
