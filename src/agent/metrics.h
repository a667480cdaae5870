/* SPDX-License-Identifier: MIT */
/*
 * metrics.h: what the agent does, for Prometheus (GET /metrics), and whether it is well (GET
 * /health), on a loopback port. Served by a thread of libmicrohttpd's; metrics-none.c stands in for
 * builds without that.
 */
#ifndef SEAM_AGENT_METRICS_H
#define SEAM_AGENT_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seam/error.h>

#include "base/buf.h"

#define METRICS_STORES_MAX 8u

/* Sums since the agent began, and what is now. */
struct metrics_values {
	const char *version;
	uint64_t windows, samples; /* made */
	uint64_t lost;             /* records that the kernel lost or skipped */
	uint64_t dropped;          /* samples for which a window had no room */
	uint64_t cpu_ns, memory;   /* of this process; bytes resident */
	uint64_t rate_hz, asked_hz;
	uint64_t processes;                 /* whose mappings are followed */
	uint64_t table_bytes, names_bytes;  /* that are kept from window to window */
	uint64_t memory_peak, memory_limit; /* bytes resident at most so far; 0: no limit */
	uint64_t refused;   /* tables of symbols that were not read, for want of room */
	uint64_t too_large; /* objects without lines, because there was too much of them */
	uint64_t held;      /* times that a process kept who reads its memory waiting */
	uint64_t restarts;  /* of sampling, for another rate */
	uint64_t last_ns;   /* since the epoch: end of the last window; 0: none yet */
	uint64_t window_ns;
	struct metrics_store {
		const char *url; /* without what could be a secret */
		uint64_t windows, lost, lost_samples;
		bool failing;
	} stores[METRICS_STORES_MAX];
	size_t n_stores;
};

struct metrics;

/* address: "127.0.0.1:9464", "[::1]:9464", "9464" (of 127.0.0.1). -EINVAL: it is none, or not of
 * the loopback; -ENOSYS: this build cannot; -errno: it cannot be listened at. */
int metrics_open(struct metrics **ret, const char *address, struct seam_error *err);
/* NULL is allowed in both. */
void metrics_close(struct metrics *m);
/* Sets what is served from now on. The texts must live as long as m. */
void metrics_set(struct metrics *m, const struct metrics_values *v);

/* The text of /metrics. */
void metrics_text(const struct metrics_values *v, struct buf *out);
/* The text of /health; false: it is not well. now_ns: since the epoch. */
bool metrics_health(const struct metrics_values *v, uint64_t now_ns, struct buf *out);

#endif
