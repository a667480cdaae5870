// SPDX-License-Identifier: MIT
/*
 * load_lines.c: see load_lines.h.
 *
 * Lines are looked up when all frames are known, because many addresses at once are answered
 * faster. Until then a frame only notes its object and address.
 */
#include "aggregate/load_lines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct load_lines_note {
	struct lines_object *object; /* NULL: nothing can be known of the frame */
	uint64_t vaddr;
};

/* Does nothing where no lines are wanted. -ENOMEM. */
int load_lines_start(struct load_lines *l, struct resolver *resolver, const struct load_opts *opts)
{
	if (!opts->lines)
		return 0;
	l->wanted = true;
	l->no_inline = opts->no_inline;
	l->resolver = resolver;
	if (opts->lent_lines) {
		resolver_lines_lend(resolver, opts->lent_lines, opts->lines_opts);
		return 0;
	}
	return resolver_lines_start(resolver, opts->lines_opts, opts->symbols);
}

/* Tells frames apart whose lines may differ although all else is equal. 1; 0: nothing can be known
 * of its line. -ENOMEM. */
int load_lines_mark(const struct load_lines *l, const struct place *place, struct profile_frame *f)
{
	struct lines_object *object = NULL;
	uint64_t vaddr;
	int r = l->wanted ? resolver_lines_object(l->resolver, place, &object, &vaddr) : 0;

	if (r < 0 || !object)
		return r;
	/* profile_expand sets the depth. Until then it tells frames apart by whose lines these are:
	 * a caller's, or those of one of several pieces of code of the same name that replaced each
	 * other. */
	if (place->address != place->symbol.addr)
		f->depth = UINT32_MAX;
	if (place->mapping->object->kind == PROC_KIND_JIT)
		f->depth = (uint32_t)vaddr + 1;
	return 1;
}

/* Notes the frame's object and address, to be asked for. -ENOMEM. */
int load_lines_note(struct load_lines *l, uint32_t frame, const struct place *place)
{
	struct load_lines_note entry = { 0 };
	size_t end = ((size_t)frame + 1) * sizeof(entry);
	int r = l->wanted ? resolver_lines_object(l->resolver, place, &entry.object, &entry.vaddr)
	                  : 0;

	if (r < 0 || !entry.object)
		return r;
	r = lines_want(entry.object, entry.vaddr);
	if (r >= 0 && l->index.n < end)
		r = buf_put_zeros(&l->index, end - l->index.n);
	if (r >= 0)
		memcpy(l->index.bytes + end - sizeof(entry), &entry, sizeof(entry));
	return r;
}

/* An empty text is none. */
static const char *load_known(const char *text)
{
	return *text ? text : NULL;
}

/* Called by profile_expand: the function, file and line of a frame, and of what is inlined in it.
 * 0: nothing is known of it. */
static size_t load_lines_at(void *ctx, uint32_t frame, const struct profile_source **ret)
{
	struct load_lines *l = ctx;
	size_t at = (size_t)frame * sizeof(struct load_lines_note);
	const struct load_lines_note *entry;
	struct lines_at found = { 0 };

	if (at >= l->index.n)
		return 0;
	entry = (const void *)(l->index.bytes + at);
	if (!entry->object || lines_find(entry->object, entry->vaddr, &found) <= 0)
		return 0;
	buf_clear(&l->sources);
	for (size_t i = 0; i < found.n; i++) {
		const struct lines_frame *f = &found.frames[i];
		struct profile_source s = { load_known(f->function), load_known(f->file), f->line };

		if (l->no_inline && i + 1 < found.n)
			continue; /* the line of the code, in the function that has it */
		if (l->no_inline && i)
			s.function = NULL;
		buf_put(&l->sources, &s, sizeof(s));
	}
	*ret = (const void *)l->sources.bytes;
	return l->sources.failed ? 0 : l->sources.n / sizeof(**ret);
}

/* Looks up what was noted so far. */
int load_lines_some(struct load_lines *l)
{
	return l->wanted ? resolver_lines_resolve_some(l->resolver) : 0;
}

/* The most samples first, then by path. */
static int load_partial_order(const void *pa, const void *pb)
{
	const struct load_partial *a = pa, *b = pb;

	if (a->samples != b->samples)
		return a->samples > b->samples ? -1 : 1;
	return strcmp(a->object, b->object);
}

/* Adds one entry for each object of which a missing file would tell more about a frame. */
static int load_partial_list(const struct load_unnamed_frames *frames, const char *const *files,
                             struct load *load, size_t n)
{
	const struct profile *p = load->profile;
	struct load_partial *to;

	load->partial = calloc(n + 1, sizeof(*load->partial));
	if (!load->partial)
		return -ENOMEM;
	for (uint32_t o = 0; o < n; o++) {
		if (!files[o] || !load_unnamed_samples(frames, o))
			continue;
		to = &load->partial[load->n_partial++];
		to->samples = load_unnamed_samples(frames, o);
		snprintf(to->file, sizeof(to->file), "%s", files[o]);
		to->object = strdup(profile_text(p, profile_object_at(p, o)->path));
		if (!to->object)
			return -ENOMEM;
	}
	qsort(load->partial, load->n_partial, sizeof(*load->partial), load_partial_order);
	return 0;
}

/* Finds out of which frames more could be known: because a file is missing, or for want of time. To
 * be called before the profile is replaced, because the frames that were indexed are its own. */
static int load_lines_partial(struct load_lines *l, struct load *load)
{
	const struct load_lines_note *entry = (const void *)l->index.bytes;
	size_t n = profile_n_objects(load->profile) + 1;
	const char **files = calloc(n, sizeof(*files));
	struct load_unnamed_frames frames = { 0 }, waiting = { 0 };
	struct place none = { 0 };
	struct lines_at at;
	uint64_t all = 0;
	int r = files ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < l->index.n / sizeof(*entry) && r >= 0; i++) {
		uint32_t object;

		at.partial = NULL;
		at.put_off = false;
		if (!entry[i].object || lines_find(entry[i].object, entry[i].vaddr, &at) < 0)
			continue;
		object = profile_frame_at(load->profile, i)->object;
		if (at.put_off)
			r = load_unnamed_note(&waiting, i, object, &none);
		if (!at.partial || r < 0)
			continue;
		files[object] = at.partial;
		r = load_unnamed_note(&frames, i, object, &none);
	}
	if (r >= 0 && frames.frames)
		r = load_unnamed_count(&frames, load->profile, &all);
	if (r >= 0 && frames.frames)
		r = load_partial_list(&frames, files, load, n);
	if (r >= 0 && waiting.frames)
		r = load_unnamed_count(&waiting, load->profile, &load->put_off);
	load_unnamed_free(&waiting);
	load_unnamed_free(&frames);
	free(files);
	return r;
}

/* Gives the profile's frames their lines, or replaces it by one with inlined functions, too, if any
 * frame has lines. -errno. */
int load_lines_expand(struct load_lines *l, struct load *load)
{
	struct profile *expanded;
	int r = l->wanted ? resolver_lines_resolve(l->resolver) : 0;

	if (r < 0 || !l->index.n) /* no frame can have lines: the profile is as it would be */
		return r;
	r = load_lines_partial(l, load);
	if (r >= 0)
		r = profile_expand_in_place(load->profile, load_lines_at, l);
	if (r) /* done, or out of memory */
		return r < 0 ? r : 0;
	r = profile_expand(&expanded, load->profile, load_lines_at, l);
	if (r < 0)
		return r;
	profile_free(load->profile);
	load->profile = expanded;
	return 0;
}

void load_lines_free(struct load_lines *l)
{
	buf_free(&l->index);
	buf_free(&l->sources);
}
