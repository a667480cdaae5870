/* SPDX-License-Identifier: MIT */
/* put.h: a loaded recording, or a slice of it, as a window of a store. */
#ifndef SEAM_FLEET_PUT_H
#define SEAM_FLEET_PUT_H

#include "fleet/quality.h"
#include "fleet/series.h"

/* What series.h needs of a load; slices where one load is several windows. */
#define PUT_KEEP (PROFILE_KEEP_PID | PROFILE_KEEP_PROGRAM | PROFILE_KEEP_CGROUP)

struct put_window {
	const char *instance;
	uint64_t from_ns, to_ns;
	const struct labels *all; /* that all series have: host, kernel */
	const struct profile *profile;
	const struct series_processes *processes; /* NULL: only what the profile says */
	const struct quality *quality;            /* of this window; NULL: none */
	bool sums; /* beside it, where the store can: it is of now, and will be asked for soon */
};

/* As store_put. */
int put_window(struct store *s, const struct put_window *w, struct seam_error *err);

#endif
