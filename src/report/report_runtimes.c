// SPDX-License-Identifier: MIT
// report_runtimes.c: user stacks that end in code that a runtime made: which runtime's flag would
// let them go on. Nothing begins in such code, so a stack whose outermost frame is there was cut
// off.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/walk_result_text.h"
#include "report/report.h"
#include "runtimes/runtime_flags.h"
#include "base/shown.h"
#include "resolve/beginning.h"

/* There are fewer runtimes that we know flags of than this. */
#define RUNTIMES_MAX 8u
#define RUNTIMES_LEAST 5    /* percent: stubs without frame pointers are in every runtime */
#define RUNTIMES_ASKED 256u /* processes at most whose mappings are looked through */

struct runtimes {
	const struct runtime_flags *flags[RUNTIMES_MAX];
	uint64_t samples[RUNTIMES_MAX];
	size_t n;
};

/* Adds to the runtime's samples. One more than RUNTIMES_MAX is dropped. */
static void runtimes_add(struct runtimes *t, const struct runtime_flags *flags, uint64_t samples)
{
	size_t i = 0;

	while (i < t->n && strcmp(t->flags[i]->name, flags->name) != 0)
		i++;
	if (i == RUNTIMES_MAX)
		return;
	t->flags[i] = flags;
	t->samples[i] += samples;
	t->n += i == t->n;
}

/* Whether an object is code that a process made: its path is the map file in which a runtime would
 * name its code. */
static bool runtimes_made(const struct profile *p, uint32_t object, unsigned *pid)
{
	const char *path = profile_text(p, profile_object_at(p, object)->path);
	const char *name = strrchr(path, '/');
	int n = 0;

	/* The name must be that of a map file to its last character. */
	return name && sscanf(name, "/perf-%u.map%n", pid, &n) == 1 && n && !name[n];
}

/* Whether any object is. */
static bool runtimes_any(const struct profile *p)
{
	unsigned pid;
	uint32_t object = 1;

	while (object <= profile_n_objects(p) && !runtimes_made(p, object, &pid))
		object++;
	return object <= profile_n_objects(p);
}

/* The runtime whose flag helps with an object that is. asked counts processes. */
static const struct runtime_flags *runtimes_of(const struct report *r, uint32_t object,
                                               unsigned *asked)
{
	const struct runtime_flags *flags;
	unsigned pid;

	if (!runtimes_made(r->load.profile, object, &pid) || ++*asked > RUNTIMES_ASKED)
		return NULL;
	flags = r->rec ? runtime_flags_of(r->rec->procs, pid) : NULL;
	return flags && flags->stacks ? flags : NULL;
}

/* Counts samples by the runtime of the object in which their stack's outermost frame lies. */
static void runtimes_count(const struct report *r, struct runtimes *t, const uint32_t *top,
                           uint64_t *by_object, uint64_t *named)
{
	const struct profile *p = r->load.profile;
	unsigned asked = 0;
	const char *name;

	for (size_t i = 0; i < profile_n_rows(p); i++) {
		const struct profile_row *row = profile_row_at(p, i);
		const struct profile_frame *f;

		if (!row->key.node)
			continue;
		f = profile_frame_at(p, profile_node_at(p, top[i]).frame);
		name = f->symbol ? profile_text(p, f->symbol) : "";
		if (f->kind == PROFILE_USER && f->object && !beginning_is(name)) {
			by_object[f->object] += row->samples;
			named[f->object] += f->symbol ? row->samples : 0;
		}
	}
	for (uint32_t object = 1; object <= profile_n_objects(p); object++) {
		const struct runtime_flags *flags =
		        by_object[object] ? runtimes_of(r, object, &asked) : NULL;

		/* One flag may do both: where code has its name, that was given. */
		if (flags)
			runtimes_add(t, flags,
			             strcmp(flags->names, flags->stacks)
			                     ? by_object[object]
			                     : by_object[object] - named[object]);
	}
}

/* A runtime with less than RUNTIMES_LEAST percent of the samples is left out. Writes nothing if
 * memory is out. */
void report_runtimes(const struct report *r, const uint32_t *tops, struct buf *out)
{
	const struct profile *p = r->load.profile;
	uint64_t *by_object = calloc(profile_n_objects(p) + 1, sizeof(*by_object));
	uint64_t *named = calloc(profile_n_objects(p) + 1, sizeof(*named));
	struct runtimes t = { .n = 0 };
	struct profile_account a;
	char part[16];

	/* With --max-stack the outermost frames were left out on purpose. */
	if (tops && !r->max_stack && by_object && named && runtimes_any(p))
		runtimes_count(r, &t, tops, by_object, named);
	profile_account(p, 0, &a);
	for (size_t i = 0; i < t.n; i++) {
		if (report_percent(t.samples[i], a.samples) < RUNTIMES_LEAST)
			continue;
		shown_printf(
		        out,
		        "%s of the samples have user stacks that end in code that %s made at run "
		        "time\n  hint: started with %s, its code keeps frame pointers, and stacks "
		        "go on\n",
		        walk_result_share(t.samples[i], a.samples, part, sizeof(part)),
		        t.flags[i]->name, t.flags[i]->stacks);
	}
	free(by_object);
	free(named);
}
