// SPDX-License-Identifier: MIT
// load_lines.c: see load_lines.h.
#include "pipeline/load_lines.h"

#include <errno.h>
#include <string.h>

struct load_lines_note {
	struct lines_object *object; /* NULL: nothing can be known of the frame */
	uint64_t vaddr;
};

int load_lines_start(struct load_lines *l, struct places *places, const struct load_opts *opts)
{
	if (!opts->lines)
		return 0;
	l->wanted = true;
	l->no_inline = opts->no_inline;
	l->places = places;
	return places_lines_start(places, opts->lines_opts, opts->symbols);
}

int load_lines_mark(const struct load_lines *l, const struct place *place, struct profile_frame *f)
{
	struct lines_object *object;
	uint64_t vaddr;
	int r = l->wanted ? places_lines_object(l->places, place, &object, &vaddr) : 0;

	if (r >= 0 && l->wanted && object && place->address != place->symbol.addr)
		f->depth = UINT32_MAX; /* a caller's: profile_expand gives it its depth */
	return r;
}

int load_lines_note(struct load_lines *l, uint32_t frame, const struct place *place)
{
	struct load_lines_note note = { 0 };
	size_t end = ((size_t)frame + 1) * sizeof(note);
	int r = l->wanted ? places_lines_object(l->places, place, &note.object, &note.vaddr) : 0;

	if (r < 0 || !note.object)
		return r;
	r = lines_want(note.object, note.vaddr);
	if (r >= 0 && l->notes.n < end)
		r = buf_put_zeros(&l->notes, end - l->notes.n);
	if (r >= 0)
		memcpy(l->notes.bytes + end - sizeof(note), &note, sizeof(note));
	return r;
}

static const char *known(const char *text)
{
	return *text ? text : NULL;
}

static size_t load_lines_at(void *ctx, uint32_t frame, const struct profile_source **ret)
{
	struct load_lines *l = ctx;
	size_t at = (size_t)frame * sizeof(struct load_lines_note);
	const struct load_lines_note *note;
	struct lines_at found = { 0 };

	if (at >= l->notes.n)
		return 0;
	note = (const void *)(l->notes.bytes + at);
	if (!note->object || lines_find(note->object, note->vaddr, &found) <= 0)
		return 0;
	buf_clear(&l->sources);
	for (size_t i = 0; i < found.n; i++) {
		const struct lines_frame *f = &found.frames[i];
		struct profile_source s = { known(f->function), known(f->file), f->line };

		if (l->no_inline && i + 1 < found.n)
			continue; /* the line of the code, in the function that has it */
		if (l->no_inline && i)
			s.function = NULL;
		buf_put(&l->sources, &s, sizeof(s));
	}
	*ret = (const void *)l->sources.bytes;
	return l->sources.failed ? 0 : l->sources.n / sizeof(**ret);
}

int load_lines_some(struct load_lines *l)
{
	return l->wanted ? places_lines_resolve_some(l->places) : 0;
}

int load_lines_expand(struct load_lines *l, struct profile **profile)
{
	struct profile *expanded;
	int r = l->wanted ? places_lines_resolve(l->places) : 0;

	if (r < 0 || !l->notes.n) /* no frame can have lines: the profile is as it would be */
		return r;
	r = profile_expand(&expanded, *profile, load_lines_at, l);
	if (r < 0)
		return r;
	profile_free(*profile);
	*profile = expanded;
	return 0;
}

void load_lines_free(struct load_lines *l)
{
	buf_free(&l->notes);
	buf_free(&l->sources);
}
