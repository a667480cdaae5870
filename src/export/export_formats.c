// SPDX-License-Identifier: MIT
// export_formats.c: the table of formats, by name and by the ending of a file's name.
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

const struct export_format export_formats[] = {
#define FORMAT(id, ends, keeps, events, form, help) \
	{ .name = #id,                              \
	  .extension = ends,                        \
	  .summary = help,                          \
	  .keep = keeps,                            \
	  .one_event = (events) == ONE,             \
	  .binary = (form) == BINARY,               \
	  .write = export_##id },
#include "export/formats.def"
	{ 0 },
};

const struct export_format *export_find(const char *name)
{
	const struct export_format *f = export_formats;

	while (f->name && strcmp(f->name, name) != 0)
		f++;
	return f->name ? f : NULL;
}

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
