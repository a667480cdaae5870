// SPDX-License-Identifier: MIT
/*
 * export_formats.c: the table of formats, by name and by the ending of a file's name.
 *
 * A row of formats.def is all that the program knows of a format: its name, the ending of its
 * files, what it must keep of samples, whether it has one event or several.
 */
#include <string.h>

#include "export/export.h"

enum {
	SEVERAL,
	ONE
};
enum {
	TEXT,
	BINARY
};
enum {
	NONE,
	LABELS
};
enum {
	NAMES,
	LINES
};

const struct export_format export_formats[] = {
#define FORMAT(id, ends, keeps, events, form, labelled, lined, help) \
	{ .name = #id,                                               \
	  .extension = ends,                                         \
	  .summary = help,                                           \
	  .keep = keeps,                                             \
	  .one_event = (events) == ONE,                              \
	  .binary = (form) == BINARY,                                \
	  .labels = (labelled) == LABELS,                            \
	  .lines = (lined) == LINES,                                 \
	  .write = export_##id },
#include "export/formats.def"
	{ 0 },
};

/* NULL: there is no such format. */
const struct export_format *export_find(const char *name)
{
	const struct export_format *f = export_formats;

	while (f->name && strcmp(f->name, name) != 0)
		f++;
	return f->name ? f : NULL;
}

/* Of several endings that fit the longest tells. */
const struct export_format *export_by_extension(const char *path)
{
	const struct export_format *found = NULL;
	size_t n = strlen(path);

	for (const struct export_format *f = export_formats; f->name; f++) {
		size_t ends = strlen(f->extension);

		if (ends < n && !strcmp(path + n - ends, f->extension) &&
		    (!found || ends > strlen(found->extension)))
			found = f;
	}
	return found;
}
