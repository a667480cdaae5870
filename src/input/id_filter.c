// SPDX-License-Identifier: MIT
/*
 * id_filter.c: see id_filter.h. Lists of numbers become ranges when they are given, lists of names
 * stay texts; samples/ gets pointers to both, and looks at the samples.
 *
 * A filter is used by samples/ for millions of samples, so the test of numbers is a loop over a few
 * ranges, and comms are compared only where --comm was given. Texts are the command line's: they
 * live as long as the program.
 */
#include "input/id_filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Whether a list "a,b,c" has this text as a whole entry. */
bool id_filter_in_list(const char *list, const char *text)
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

/* "3", "2-4", "-1" (no pid at all); text moves behind it. -EINVAL: no number, or a range that ends
 * before it begins. */
static int id_filter_range(const char **text, struct id_filter_range *ret)
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
	/* The kernel's pids are signed; -1 stands for samples that belong to no process. */
	if (first < -1 || last < first || last >= UINT32_MAX || (*end && *end != ','))
		return -EINVAL;
	*text = *end ? end + 1 : end;
	*ret = (struct id_filter_range){ .first = (uint32_t)first, .last = (uint32_t)last };
	return 0;
}

/* All ranges of an option, behind those of the same option before. -EINVAL, after saying so. */
static int id_filter_ranges(struct buf *to, const struct options *o, const char *what)
{
	const char *text = o->arg;
	struct id_filter_range range;

	do {
		if (id_filter_range(&text, &range) < 0) {
			cmd_error(o->cmd, "%s: '%s' is not a list of numbers and ranges", what,
			          o->arg);
			return -EINVAL;
		}
		if (buf_put(to, &range, sizeof(range)) < 0)
			return -ENOMEM;
	} while (*text);
	return 0;
}

/* Takes an option. Texts stay the command line's; numbers become ranges. */
int id_filter_option(struct id_filter *t, const struct options *o, int id)
{
	switch (id) {
	case ID_FILTER_COMMS:
		t->comms = o->arg;
		return 0;
	case ID_FILTER_LABEL:
		t->labels = o->arg;
		if (contexts_is_list(o->arg))
			return 0;
		cmd_error(o->cmd, "--label: '%s' is no list of KEY=VALUE", o->arg);
		return -EINVAL;
	case ID_FILTER_PID:
		return id_filter_ranges(&t->pids, o, "--pid");
	case ID_FILTER_TID:
		return id_filter_ranges(&t->tids, o, "--tid");
	default:
		return id_filter_ranges(&t->cpus, o, "--cpu");
	}
}

bool id_filter_any(const struct id_filter *t)
{
	return t->comms || t->labels || t->pids.n || t->tids.n || t->cpus.n;
}

/* No range at all means that everything is wanted. */
static bool id_filter_in_ranges(const struct buf *ranges, uint32_t v)
{
	struct id_filter_range range;

	if (!ranges->n)
		return true;
	for (size_t at = 0; at < ranges->n; at += sizeof(range)) {
		memcpy(&range, ranges->bytes + at, sizeof(range));
		if (v >= range.first && v <= range.last)
			return true;
	}
	return false;
}

bool id_filter_id(const struct id_filter *t, const struct seam_id *id, const char *comm)
{
	if (t->comms && (!comm || !id_filter_in_list(t->comms, comm)))
		return false;
	return id_filter_in_ranges(&t->pids, id->pid) && id_filter_in_ranges(&t->tids, id->tid) &&
	       id_filter_in_ranges(&t->cpus, id->cpu);
}

/* As samples/ calls it: the event does not matter here. */
static bool id_filter_takes(void *ctx, const struct seam_event *event, const struct seam_id *id,
                            const char *comm)
{
	(void)event;
	return id_filter_id(ctx, id, comm);
}

/* NULL in .takes tells samples/ that there is nothing to ask, so that it skips the call. */
struct samples_filter id_filter_samples(const struct id_filter *t)
{
	return (struct samples_filter){ .takes = id_filter_any(t) ? id_filter_takes : NULL,
		                        .ctx = (void *)t,
		                        .labels = t->labels };
}

void id_filter_free(struct id_filter *t)
{
	buf_free(&t->pids);
	buf_free(&t->tids);
	buf_free(&t->cpus);
	*t = (struct id_filter){ 0 };
}
