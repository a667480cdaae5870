// SPDX-License-Identifier: MIT
/*
 * builds.c: see builds.h.
 *
 * Used where recordings are compared: two profiles name a function without a symbol by its object
 * and address, and the same address is another function in another build. builds tells whether all
 * profiles have one build of an object. Where they do not, such functions are folded into one
 * "unknown" per object, because a difference between their names would mean nothing.
 */
#include "profile/builds.h"

#include <errno.h>

#include "profile/nameless.h"
#include "profile/object_name.h"

/* The build of an object by its name: 0 not known, BUILDS_SEVERAL, or a number of ids. NULL: out of
 * memory. It lives until the next call, which may move it. */
static uint32_t *builds_of(struct builds *b, const char *object, size_t n)
{
	uint32_t id = intern_bytes(&b->objects, object, n);
	size_t end = ((size_t)id + 1) * sizeof(uint32_t);

	if (id == INTERN_FAILED || (end > b->of.n && buf_put_zeros(&b->of, end - b->of.n) < 0))
		return NULL;
	return (uint32_t *)(void *)b->of.bytes + id;
}

/* How many profiles have an object at a path. */
struct builds_at {
	uint32_t n, last; /* last: the number of the profile that was counted last */
};

/* Counts a profile for a path, once. -ENOMEM. */
static int builds_count_path(struct builds *b, const char *path)
{
	uint32_t id = intern_text(&b->paths, path);
	size_t end = ((size_t)id + 1) * sizeof(struct builds_at);
	struct builds_at *at;

	if (id == INTERN_FAILED || (end > b->at.n && buf_put_zeros(&b->at, end - b->at.n) < 0))
		return -ENOMEM;
	at = (struct builds_at *)(void *)b->at.bytes + id;
	at->n += at->last != b->n_profiles;
	at->last = b->n_profiles;
	return 0;
}

const char *builds_known(struct builds *b, const char *path)
{
	uint32_t id = intern_text(&b->paths, path);
	const struct builds_at *at = (const struct builds_at *)(const void *)b->at.bytes;

	if (id < b->at.n / sizeof(*at) && at[id].n == b->n_profiles)
		return path;
	return object_name(path);
}

/* Takes the builds of all objects of a profile. An object without a build-id may be any build, so
 * it counts as several. */
int builds_add(struct builds *b, const struct profile *p)
{
	b->n_profiles++;
	for (uint32_t i = 1; i <= profile_n_objects(p); i++) {
		const struct profile_object *o = profile_object_at(p, i);
		const char *path = profile_text(p, o->path), *object = object_name(path);
		uint32_t *of = builds_of(b, object, strlen(object));
		uint32_t id = o->build_id ? intern_text(&b->ids, profile_text(p, o->build_id)) : 0;

		if (!of || id == INTERN_FAILED || builds_count_path(b, path) < 0)
			return -ENOMEM;
		if (!id || (*of && *of != id))
			*of = BUILDS_SEVERAL;
		else
			*of = id;
	}
	return 0;
}

/* Whether a function's name means the same in all profiles that were added. Every name does except
 * those of nameless.h, which mean the same if all profiles that have the object have one known
 * build of it. If memory ran out, the answer is no. */
static bool builds_same(struct builds *b, const char *name)
{
	struct nameless at;
	const uint32_t *of;

	if (!nameless_is(name, &at))
		return true;
	of = builds_of(b, at.object, at.n);
	return of && *of && *of != BUILDS_SEVERAL;
}

struct builds_folding {
	const struct profile *p;
	struct builds *builds;
	struct profile_source source;
};

/* For profile_expand: what stands for a frame whose name means nothing here. 1 and *ret; 0: the
 * frame stays as it is. */
static size_t builds_source(void *ctx, uint32_t frame, const struct profile_source **ret)
{
	struct builds_folding *f = ctx;
	const struct profile_frame *of = profile_frame_at(f->p, frame);
	const char *name = profile_text(f->p, of->symbol);
	bool is_guess = name[0] == '?';

	if (builds_same(f->builds, name))
		return 0;
	f->source = (struct profile_source){
		.function = is_guess ? "?[unknown]" : "",
		.file = of->file ? profile_text(f->p, of->file) : NULL,
		.line = of->line,
	};
	*ret = &f->source;
	return 1;
}

/* *p is replaced by a new profile only if something has to be folded. */
int builds_fold(struct profile **p, struct builds *b)
{
	struct builds_folding f = { .p = *p, .builds = b };
	const struct profile_source *source;
	struct profile *folded;
	size_t any = 0;
	int r;

	for (uint32_t i = 1; i <= profile_n_frames(*p) && !any; i++)
		any = builds_source(&f, i, &source);
	if (!any)
		return 0;
	r = profile_expand(&folded, *p, builds_source, &f);
	if (r < 0)
		return r;
	profile_free(*p);
	*p = folded;
	return 0;
}

void builds_free(struct builds *b)
{
	intern_free(&b->objects);
	intern_free(&b->ids);
	intern_free(&b->paths);
	buf_free(&b->of);
	buf_free(&b->at);
}
