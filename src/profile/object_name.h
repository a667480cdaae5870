/* SPDX-License-Identifier: MIT */
/*
 * object_name.h: what people call an object: its path without directories. Recordings that are
 * compared know objects by it, too (builds.h).
 */
#ifndef SEAM_PROFILE_OBJECT_NAME_H
#define SEAM_PROFILE_OBJECT_NAME_H

#include <string.h>

/* It points into path. What is no path ("[kernel.kallsyms]") stays as it is. */
static inline const char *object_name(const char *path)
{
	const char *slash = path[0] == '/' ? strrchr(path, '/') : NULL;

	return slash && slash[1] ? slash + 1 : path;
}

#endif
