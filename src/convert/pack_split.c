// SPDX-License-Identifier: MIT
// pack_split.c: what debugging information leads to: .dwo files, packages of them, and sources.
// These names were written by whoever made the program, so only what proves to be such a file is
// taken: split DWARF by its sections, sources as dwarf/source_file.h says.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf/dwarf.h"
#include "convert/pack_parts.h"

/* What belongs to one image. dir ends with the slash; missing counts .dwo files that are not
 * found. */
struct pack_splitting {
	struct pack *b;
	const char *dir, *beside; /* in the archive; where the image is */
	size_t n_dir, n_beside;
	uint64_t missing;
	char first[256]; /* of those */
};

/* Whether the file at a path is split DWARF, by a section that only such files have. */
static bool pack_is_split(const char *path)
{
	struct image_section section;
	struct image *image;
	bool is;

	if (image_open(&image, path, NULL) < 0)
		return false;
	is = image_section(image, ".debug_abbrev.dwo", &section) >= 0;
	image_close(image);
	return is;
}

/* Packs one .dwo file. libdw looks for it beside the program first, then where the program was
 * compiled. */
static int pack_put_split(void *ctx, const char *name, const char *dir)
{
	struct pack_splitting *s = ctx;
	char to[TAR_NAME_MAX], from[2][4096];

	snprintf(to, sizeof(to), "%.*s%.3000s", (int)s->n_dir, s->dir, name);
	snprintf(from[0], sizeof(from[0]), "%.*s%.2000s", (int)s->n_beside, s->beside, name);
	snprintf(from[1], sizeof(from[1]), "%.2000s/%.2000s", dir, name);
	/* A name that leads out of the directory is not followed. */
	for (int i = 0; name[0] != '/' && tar_name_is_plain(to) && i < 2; i++) {
		if (!pack_is_split(from[i]))
			continue;
		s->b->counts->debug_files++;
		return pack_put_file(s->b, to, from[i], true);
	}
	if (!s->missing++)
		snprintf(s->first, sizeof(s->first), "%.200s", name);
	return 0;
}

/* Reports that inlined calls will be missing, and one of the files by name. */
static void pack_say_missing(const struct pack_splitting *s, struct image *image)
{
	const struct pack_opts *opts = s->b->opts;
	char why[400];

	snprintf(why, sizeof(why), "%llu of its .dwo files, as %s: no inlined calls from there",
	         (unsigned long long)s->missing, s->first);
	if (s->missing && opts->missing)
		opts->missing(opts->ctx, image_path(image), why);
}

/* A package stands beside its program, by its name. 1: packed, and single .dwo files are not
 * needed; 0: there is none; -errno. */
static int pack_put_package(struct pack *b, const char *name, struct image *image)
{
	char to[TAR_NAME_MAX], from[4096];
	int r;

	snprintf(to, sizeof(to), "%.3000s.dwp", name);
	snprintf(from, sizeof(from), "%.4000s.dwp", image_path(image));
	if (!pack_is_split(from))
		return 0;
	r = pack_put_file(b, to, from, true);
	b->counts->debug_files += r > 0;
	return r < 0 ? r : 1;
}

/* Reports .dwo files that are not found. 0, or what writing returned. */
int pack_split(struct pack *b, const char *name, struct image *image)
{
	const char *slash = strrchr(name, '/'), *beside = strrchr(image_path(image), '/');
	struct pack_splitting s = { .b = b,
		                    .dir = name,
		                    .n_dir = slash ? (size_t)(slash - name) + 1 : 0,
		                    .beside = image_path(image) };
	struct image_section section;
	struct dwarf *d;
	int r;

	s.n_beside = beside ? (size_t)(beside - s.beside) + 1 : 0;
	if (image_section(image, ".debug_addr", &section) < 0 || image_is_relocatable(image))
		return 0; /* nothing was split from it */
	r = pack_put_package(b, name, image);
	if (r)
		return r;
	if (dwarf_open(&d, image, NULL, NULL) < 0)
		return 0;
	r = dwarf_each_split(d, pack_put_split, &s);
	dwarf_close(d);
	pack_say_missing(&s, image);
	return r;
}

/* ---- sources ---- */

/* The path of an object, if it is proven to be what was recorded; NULL: nobody speaks for the
 * files that it names. Freed by the caller. */
static char *pack_speaker(const struct pack *b, const struct profile *p, uint32_t object)
{
	const struct profile_object *o = profile_object_at(p, object);
	const char *path = profile_text(p, o->path), *hex = profile_text(p, o->build_id);
	struct image_build_id id = { 0 };
	struct image *image;
	char *real = NULL;
	unsigned byte;

	for (; id.size < IMAGE_BUILD_ID_MAX && sscanf(hex, "%2x", &byte) == 1; hex += 2)
		id.bytes[id.size++] = (uint8_t)byte;
	if (path[0] != '/' || !image_is_proven(path, &id, b->opts->search) ||
	    image_find(&image, path, &id, b->opts->search, NULL, NULL) < 0)
		return NULL;
	real = strdup(image_path(image));
	image_close(image);
	return real;
}

/* Packs one source file under its path. What is there and not taken is reported once. */
static int pack_put_source(struct pack *b, const char *path, const char *speaker)
{
	struct source_file file;
	char name[TAR_NAME_MAX];
	int r = 0;

	if (path[0] != '/' ||
	    (size_t)snprintf(name, sizeof(name), PACK_SOURCES "%s", path) >= sizeof(name) ||
	    !tar_name_is_plain(name))
		return 0;
	if (source_file_read(&b->opts->dirs, path, speaker, &file) >= 0 && file.n) {
		r = pack_put_bytes(b, name, file.bytes, file.n);
		b->counts->sources += r > 0;
	} else if (file.reason && b->opts->missing) {
		b->opts->missing(b->opts->ctx, path, file.reason);
	}
	free(file.bytes);
	return r;
}

/* Packs the sources that the profile's frames name: each once, by the object that names it first.
 * -errno. */
int pack_sources(struct pack *b, const struct profile *profile)
{
	struct map asked = { 0 };
	char *speaker = NULL;
	uint32_t speaks = 0; /* of which object the speaker is */
	int r = 0;

	for (uint32_t i = 1; i <= profile_n_frames(profile) && r >= 0; i++) {
		const struct profile_frame *frame = profile_frame_at(profile, i);
		bool is_new = false;

		if (!frame->file)
			continue;
		if (!map_slot(&asked, (uint64_t)frame->object << 32 | frame->file, &is_new))
			r = -ENOMEM;
		if (!is_new)
			continue;
		if (frame->object != speaks) {
			free(speaker);
			speaker = pack_speaker(b, profile, frame->object);
			speaks = frame->object;
		}
		r = pack_put_source(b, profile_text(profile, frame->file), speaker);
	}
	free(speaker);
	map_free(&asked);
	return r;
}
