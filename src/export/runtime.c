// SPDX-License-Identifier: MIT
// runtime.c: see runtime.h. Hues stay apart from those of flame_svg.c and flame.js, in the common
// kinds of colour blindness, too, and black is read on them.
#include "export/runtime.h"

#include <string.h>

static const struct runtime runtimes[] = {
	{ "[python]", "Python", 95, 45, "green" },  { "[hotspot]", "Java", 5, 45, "red" },
	{ "[perl]", "Perl", 305, 45, "magenta" },   { "[php]", "PHP", 265, 45, "purple" },
	{ "[v8]", "JavaScript", 62, 60, "yellow" }, { "[ruby]", "Ruby", 335, 60, "pink" },
};

#define RUNTIMES (sizeof(runtimes) / sizeof(runtimes[0]))

const struct runtime *runtime_at(uint32_t row)
{
	return row < RUNTIMES ? &runtimes[row] : NULL;
}

/* The row of an object's path, from 1 on. In a converted recording it is that of a file. */
static uint32_t runtime_of_path(const char *path)
{
	const char *slash = strrchr(path, '/');

	for (uint32_t i = 0; i < RUNTIMES; i++)
		if (!strcmp(slash ? slash + 1 : path, runtimes[i].object))
			return i + 1;
	return 0;
}

uint32_t runtime_of(const struct profile *p, const struct profile_frame *frame)
{
	if (!frame->object || (frame->kind != PROFILE_USER && frame->kind != PROFILE_INLINED))
		return 0;
	return runtime_of_path(profile_text(p, profile_object_at(p, frame->object)->path));
}

bool runtime_any(const struct profile *p)
{
	for (uint32_t i = 1; i <= profile_n_objects(p); i++)
		if (runtime_of_path(profile_text(p, profile_object_at(p, i)->path)))
			return true;
	return false;
}
