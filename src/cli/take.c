// SPDX-License-Identifier: MIT
// take.c: see take.h.
#include "cli/take.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool take_in_list(const char *list, const char *text)
{
	size_t n = strlen(text);

	while (*list) {
		size_t len = strcspn(list, ",");

		if (len == n && !memcmp(list, text, n))
			return true;
		list += len + (list[len] == ',');
	}
	return false;
}

/* "3", "2-4", "-1" (no pid at all); text moves behind it. */
static int take_range(const char **text, struct take_range *ret)
{
	char *end;
	long long first, last;

	errno = 0;
	first = last = strtoll(*text, &end, 10);
	if (end == *text || errno)
		return -EINVAL;
	if (*end == '-') {
		const char *at = end + 1;

		last = strtoll(at, &end, 10);
		if (end == at || errno)
			return -EINVAL;
	}
	if (first < -1 || last < first || last >= UINT32_MAX || (*end && *end != ','))
		return -EINVAL;
	*text = *end ? end + 1 : end;
	*ret = (struct take_range){ .first = (uint32_t)first, .last = (uint32_t)last };
	return 0;
}

static int take_ranges(struct buf *to, const struct options *o, const char *what)
{
	const char *text = o->arg;
	struct take_range range;

	do {
		if (take_range(&text, &range) < 0) {
			cmd_error(o->cmd, "%s: '%s' is not a list of numbers and ranges", what,
			          o->arg);
			return -EINVAL;
		}
		if (buf_put(to, &range, sizeof(range)) < 0)
			return -ENOMEM;
	} while (*text);
	return 0;
}

int take_option(struct take *t, const struct options *o, int id)
{
	switch (id) {
	case TAKE_COMMS:
		t->comms = o->arg;
		return 0;
	case TAKE_PID:
		return take_ranges(&t->pids, o, "--pid");
	case TAKE_TID:
		return take_ranges(&t->tids, o, "--tid");
	default:
		return take_ranges(&t->cpus, o, "--cpu");
	}
}

bool take_any(const struct take *t)
{
	return t->comms || t->pids.n || t->tids.n || t->cpus.n;
}

static bool take_in_ranges(const struct buf *ranges, uint32_t v)
{
	struct take_range range;

	if (!ranges->n)
		return true;
	for (size_t at = 0; at < ranges->n; at += sizeof(range)) {
		memcpy(&range, ranges->bytes + at, sizeof(range));
		if (v >= range.first && v <= range.last)
			return true;
	}
	return false;
}

bool take_id(const struct take *t, const struct seam_id *id, const char *comm)
{
	if (t->comms && (!comm || !take_in_list(t->comms, comm)))
		return false;
	return take_in_ranges(&t->pids, id->pid) && take_in_ranges(&t->tids, id->tid) &&
	       take_in_ranges(&t->cpus, id->cpu);
}

bool take_sample(void *ctx, const struct seam_stitched *sample, const char *comm)
{
	return take_id(ctx, &sample->sample.id, comm);
}

void take_free(struct take *t)
{
	buf_free(&t->pids);
	buf_free(&t->tids);
	buf_free(&t->cpus);
	*t = (struct take){ 0 };
}
