// SPDX-License-Identifier: MIT
/*
 * load_cgroup.c: see load_cgroup.h. Paths are anybody's choice: whoever prints them escapes them.
 *
 * A sample holds the id of its group, and CGROUP records say which path has which id. Ids become
 * small numbers, as rows of the profile have them.
 */
#include "aggregate/load_cgroup.h"

#include <errno.h>

#include "base/cursor.h"
#include "profile/profile.h"

/* CGROUP: id, path. */
static int cgroup_learn(void *ctx, const struct seam_record *record)
{
	struct load_cgroups *cgroups = ctx;
	struct cursor c = cursor_of(record->bytes, record->size, record->swap);
	const char *path;
	uint32_t at;
	uint64_t id;

	if (record->type != SEAM_RECORD_CGROUP || !cursor_seek(&c, 8))
		return 0;
	id = cursor_u64(&c);
	path = cursor_string(&c);
	if (!path)
		return 0;
	at = intern_text(&cgroups->paths, path);
	return at == INTERN_FAILED ? -ENOMEM : map_put(&cgroups->by_id, id, at);
}

/* Reads all records once, for their paths. -errno. */
int load_cgroups_learn(struct load_cgroups *c, struct recording *rec)
{
	return recording_each(rec, cgroup_learn, c, NULL);
}

void load_cgroups_free(struct load_cgroups *c)
{
	map_free(&c->by_id);
	intern_free(&c->paths);
}

/* The number of a sample's group; 0: its path is not known; PROFILE_NOT_KEPT: the event's samples
 * have none. */
uint32_t load_cgroups_of(const struct load_cgroups *c, const struct seam_sample *sample)
{
	uint64_t at = 0;

	if (!(sample->event->attr.sample_type & SEAM_SAMPLE_CGROUP))
		return PROFILE_NOT_KEPT;
	map_get(&c->by_id, sample->cgroup, &at);
	return (uint32_t)at;
}

/* The path of a number. It lives as long as the table. */
const char *load_cgroups_path(const struct load_cgroups *c, uint32_t cgroup)
{
	return intern_get(&c->paths, cgroup);
}
