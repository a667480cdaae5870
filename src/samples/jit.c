// SPDX-License-Identifier: MIT
// jit.c: see jit.h. A dump has times of CLOCK_MONOTONIC, so it can be used only if the recording's
// times are of that clock.
#include "samples/jit.h"

#include <errno.h>
#include <string.h>
#include <time.h>

/* A hostile recording may map any number of them. */
#define DUMPS_MAX 4096u

struct jit_dump {
	const char *path;
	uint32_t pid;
};

/* Whether a path is that of a jitdump: /.../jit-PID.dump. */
bool jit_is_dump(const char *path)
{
	const char *slash = strrchr(path, '/');
	size_t n = slash ? strlen(slash) : 0;

	return path[0] == '/' && n > 10 && !strncmp(slash, "/jit-", 5) &&
	       !strcmp(slash + n - 5, ".dump");
}

/* Notes a dump that a process mapped, once. -ENOMEM. */
int jit_note(struct jit *jit, const struct seam_mmap *mmap)
{
	struct jit_dump dump = { .pid = mmap->pid };
	const struct jit_dump *have = (const void *)jit->dumps.bytes;
	size_t n = jit->dumps.n / sizeof(dump);

	if (mmap->pid == PROC_KERNEL || !jit_is_dump(mmap->filename) || n >= DUMPS_MAX)
		return 0;
	for (size_t i = 0; i < n; i++)
		if (have[i].pid == mmap->pid && !strcmp(have[i].path, mmap->filename))
			return 0;
	dump.path = arena_string(&jit->arena, mmap->filename, strlen(mmap->filename));
	return dump.path ? buf_put(&jit->dumps, &dump, sizeof(dump)) : -ENOMEM;
}

struct jit_learning {
	struct recording *rec;
	uint32_t pid;
};

/* For symbol_jit_replaced: one piece of code, and from when on it was there. */
static int jit_put(void *ctx, const struct symbol_jit_code *code)
{
	const struct jit_learning *l = ctx;

	return proc_learn_code(l->rec->procs, l->pid,
	                       &(struct proc_code){ .time_ns = code->time_ns,
	                                            .start = code->start,
	                                            .size = code->size,
	                                            .name = code->name,
	                                            .number = code->number });
}

/* Whether all events have times of the dumps' clock. */
static bool jit_clock(const struct recording *rec)
{
	size_t n = seam_events_count(rec->events);

	for (size_t i = 0; i < n; i++) {
		const struct seam_attr *attr = &seam_events_at(rec->events, i)->attr;

		if (!(attr->flags & SEAM_ATTR_USE_CLOCKID) || attr->clockid != CLOCK_MONOTONIC)
			return false;
	}
	return n;
}

/* Dumps that cannot be read, or whose times are of another clock, teach nothing; that is no
 * failure. */
int jit_learn(struct jit *jit, struct recording *rec, const struct symbol_opts *symbols)
{
	const struct jit_dump *dumps = (const void *)jit->dumps.bytes;
	struct symbol_opts opts = { .sz = sizeof(opts) };

	if (!symbols || !jit->dumps.n || !jit_clock(rec))
		return 0;
	opts = *symbols;
	opts.foreign |= rec->foreign;
	rec->jit_timed = true;
	for (size_t i = 0; i < jit->dumps.n / sizeof(*dumps); i++) {
		struct jit_learning l = { .rec = rec, .pid = dumps[i].pid };
		int r = symbol_jit_replaced(&opts, dumps[i].pid, dumps[i].path, jit_put, &l);

		if (r == -ENOMEM)
			return r;
		if (r == -ENOTSUP)
			rec->jit_timed = false;
	}
	return 0;
}

void jit_free(struct jit *jit)
{
	buf_free(&jit->dumps);
	arena_free(&jit->arena);
}
