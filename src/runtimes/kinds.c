// SPDX-License-Identifier: MIT
// kinds.c: see kinds.h. The table's rows are those of abi/runtimes.def, their functions each
// interpreter's own file.
#include "runtimes/kinds.h"

#include <errno.h>

#include "runtimes/hotspot.h"
#include "runtimes/perl.h"
#include "runtimes/php.h"
#include "runtimes/python.h"
#include "runtimes/ruby.h"
#include "runtimes/v8.h"

static const struct {
	int (*find)(struct runtime_object *ret, const struct runtime_source *source);
	uint32_t (*line)(const struct runtime_lines *lines, uint32_t at);
} kinds[RUNTIMES] = {
#define RUNTIME(number, id, name, ...) [number] = { name##_find, name##_line },
#include "abi/runtimes.def"
};

/* An object that links several interpreters is the first of them that is understood. */
int kinds_find(struct runtime_object *ret, const struct runtime_source *source)
{
	int result = -ENOENT;

	for (uint32_t k = 0; k < RUNTIMES; k++) {
		struct runtime_object found = { .kind = k };
		int r = kinds[k].find ? kinds[k].find(&found, source) : -ENOENT;

		if (r == -ENOENT || (r < 0 && result == -ENOTSUP))
			continue;
		found.kind = k;
		found.known = r >= 0;
		*ret = found;
		if (r >= 0)
			return 0;
		result = -ENOTSUP;
	}
	return result;
}

bool kinds_runs(const struct runtime_object *o, uint64_t address)
{
	const struct runtime_code *loop = o->loops;

	return !loop->bytes || address - loop[0].start < loop[0].bytes ||
	       address - loop[1].start < loop[1].bytes;
}

uint32_t kinds_line(enum runtime_kind kind, const struct runtime_lines *lines, uint32_t at)
{
	if (lines->form == RUNTIME_LINES_GIVEN)
		return at <= INT32_MAX ? at : 0;
	return kind < RUNTIMES && kinds[kind].line ? kinds[kind].line(lines, at) : 0;
}

bool kinds_match(enum runtime_kind kind, struct runtime_frame *frames, size_t *n)
{
	return kind != RUNTIME_PERL || perl_match(frames, n);
}

void kinds_meet(const struct runtime_object *o, struct runtime_frame *frames, size_t *n,
                const struct runtime_natives *natives)
{
	if (o->kind == RUNTIME_PERL)
		perl_meet(o, frames, n, natives);
}

size_t kinds_inlined(enum runtime_kind kind, const struct runtime_lines *lines, uint32_t at,
                     struct runtime_place *to, size_t room)
{
	return kind == RUNTIME_V8 ? v8_inlined(lines, at, to, room) : 0;
}
