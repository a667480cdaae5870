// SPDX-License-Identifier: MIT
/*
 * php.c: see php.h. The offsets are those of the structs in each version's own headers (Debian's
 * php8.2-dev and php8.4-dev). No symbol has the version: it is told by the size of
 * executor_globals, which each has another, and by a class that the version has first. Thread-safe
 * builds (ZTS) have no such symbol, and are not known.
 */
#include "runtimes/php.h"

#include <errno.h>
#include <string.h>

#include "runtimes/loop.h"

static const struct {
	const char *since; /* a class of that version */
	struct php_layout layout;
} versions[] = {
	{ "zend_ce_deprecated",
	  { .version = 0x0804,
	    .globals_size = 1984,
	    .globals_frame = 488,
	    .globals_thrown = 952,
	    .code_instructions = 104,
	    .code_n = 96,
	    .code_file = 168,
	    .code_line = 176 } },
	{ "zend_ce_sensitive_parameter",
	  { .version = 0x0802,
	    .globals_size = 1800,
	    .globals_frame = 488,
	    .globals_thrown = 880,
	    .code_instructions = 88,
	    .code_n = 80,
	    .code_file = 152,
	    .code_line = 160 } },
};

_Static_assert(sizeof(struct php_layout) <= RUNTIME_LAYOUT_WORDS * 8, "RUNTIME_LAYOUT_WORDS");

/* A version between two rows has other sizes than either. */
static int php_version(struct php_layout *ret, const struct runtime_source *source,
                       uint64_t globals_size)
{
	uint64_t at;

	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		if (source->symbol(source->ctx, versions[i].since, &at, NULL) < 0)
			continue;
		*ret = versions[i].layout;
		return globals_size == ret->globals_size ? 0 : -ENOTSUP;
	}
	return -ENOTSUP;
}

/* execute_ex and zend_execute_ex are PHP's; all else says which one it is. */
int php_find(struct runtime_object *ret, const struct runtime_source *source)
{
	struct php_layout layout = { .version = 0 };
	struct loop loop = { .start = 0 };
	struct loop_frame frame = { .body = 0 };
	uint64_t size = 0;
	int r = source->symbol(source->ctx, "execute_ex", &loop.start, &loop.bytes);

	if (r < 0 ||
	    source->symbol(source->ctx, "zend_execute_ex", &ret->address[PHP_GLOBALS], NULL) < 0)
		return -ENOENT;
	r = source->symbol(source->ctx, "executor_globals", &ret->address[PHP_GLOBALS], &size);
	if (r >= 0)
		r = php_version(&layout, source, size);
	if (r >= 0)
		r = loop_find(&loop, source);
	if (r >= 0) {
		ret->address[PHP_LOOP] = loop.start;
		ret->address[PHP_COLD] = loop.cold;
		ret->loops[0] = (struct runtime_code){ loop.start, loop.bytes };
		ret->loops[1] = (struct runtime_code){ loop.cold, loop.cold_bytes };
		layout.loop_bytes = (uint32_t)loop.bytes;
		layout.cold_bytes = (uint32_t)loop.cold_bytes;
		(void)loop_frame_find(&frame, loop.start, source); /* or its JIT is not known */
		layout.body = frame.body;
		layout.frame_bytes = frame.bytes;
		layout.frame_by_fp = frame.by_fp;
		layout.guard = frame.guard;
	}
	memcpy(ret->layout, &layout, sizeof(layout));
	return r < 0 ? -ENOTSUP : 0;
}

uint32_t php_line(const struct runtime_lines *lines, uint32_t at)
{
	(void)lines;
	(void)at;
	return 0;
}
