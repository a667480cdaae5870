// SPDX-License-Identifier: MIT
/*
 * formats.c: see formats.h. The layout is that of trace-cmd's head, versions 0.5 and 0.6: a magic,
 * byte order and sizes of the machine, then texts with their lengths in front: two headers,
 * ftrace's own events, the events by system, kallsyms, printk formats. What was read before the
 * bytes ended is kept.
 */
#include "tracepoint/formats.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cursor.h"

#define FORMATS_MAX 65536u /* tracepoints have 16 bits in their records */

/* The number behind "ID:" in a format's text; false: none. */
static bool formats_id(const char *text, size_t n, uint32_t *ret)
{
	const char *at = n < 4 ? NULL : memmem(text, n, "\nID:", 4), *end = text + n;
	uint32_t id = 0;
	unsigned digits = 0;

	if (!at)
		return false;
	for (at += 4; at < end && (*at == ' ' || *at == '\t');)
		at++;
	/* Nine digits cannot overflow; the kernel's numbers have five at most. */
	for (; at < end && *at >= '0' && *at <= '9' && digits < 9; at++, digits++)
		id = id * 10 + (uint32_t)(*at - '0');
	*ret = id;
	return digits > 0;
}

/* One text with its u64 size before it, into list. */
static void formats_take(struct cursor *c, const char *system, struct buf *list)
{
	uint64_t n = cursor_u64(c);
	struct format f = { .system = system, .text = (const char *)cursor_bytes(c, n) };

	f.n = (size_t)n;
	if (f.text && formats_id(f.text, f.n, &f.id) && list->n / sizeof(f) < FORMATS_MAX)
		buf_put(list, &f, sizeof(f));
}

/* The form of the ring's pages and events: nobody here reads such rings. */
static void formats_skip(struct cursor *c)
{
	cursor_string(c); /* "header_page", "header_event" */
	cursor_bytes(c, cursor_u64(c));
}

/* Reads all formats into list, and finds the printk formats. Stops where the bytes end; the caller
 * sees that in the cursor. */
static void formats_body(struct formats *f, struct cursor *c, struct buf *list)
{
	uint32_t n, systems;

	formats_skip(c);
	formats_skip(c);
	for (n = cursor_u32(c); n && !c->failed; n--)
		formats_take(c, "ftrace", list);
	for (systems = cursor_u32(c); systems && !c->failed; systems--) {
		const char *system = cursor_string(c);

		for (n = cursor_u32(c); n && !c->failed; n--)
			formats_take(c, system, list);
	}
	cursor_bytes(c, cursor_u32(c)); /* kallsyms */
	n = cursor_u32(c);
	f->printk = (const char *)cursor_bytes(c, n);
	f->printk_n = f->printk ? n : 0;
}

/* Of two formats with one number the earlier text stands first, and is found. */
static int formats_order(const void *pa, const void *pb)
{
	const struct format *a = pa, *b = pb;

	return a->id != b->id ? (a->id > b->id) - (a->id < b->id)
	                      : (a->text > b->text) - (a->text < b->text);
}

/* Formats and texts point into bytes, which must outlive ret. They are sorted by id for
 * formats_find. */
int formats_read(struct formats *ret, const void *bytes, size_t n, struct seam_error *err)
{
	struct cursor c = cursor_of(bytes, n, false);
	const unsigned char *magic = cursor_bytes(&c, 10);
	const bool host_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	struct buf list = { 0 };

	*ret = (struct formats){ 0 };
	if (!magic || memcmp(magic, "\x17\x08\x44tracing", 10) || !cursor_string(&c))
		return seam_error_set(err, EBADMSG, NULL, SEAM_NO_OFFSET, "TRACING_DATA",
		                      "does not begin as tracing data do");
	/* The version behind the magic was passed over: 0.5 and 0.6 are read alike. Numbers are in
	 * the byte order of the machine that recorded. */
	ret->big_endian = cursor_u8(&c);
	c.swap = ret->big_endian != host_big;
	ret->long_size = cursor_u8(&c);
	ret->page_size = cursor_u32(&c);
	formats_body(ret, &c, &list);
	if (list.failed) {
		buf_free(&list);
		return -ENOMEM;
	}
	ret->formats = (struct format *)(void *)list.bytes;
	ret->n = list.n / sizeof(struct format);
	if (ret->n)
		qsort(ret->formats, ret->n, sizeof(struct format), formats_order);
	/* What was read before the damage stays usable. */
	if (c.failed)
		return seam_error_set(err, EBADMSG, NULL, SEAM_NO_OFFSET, "TRACING_DATA",
		                      "%zu bytes, ends inside of what it says it holds; %zu "
		                      "tracepoints were read",
		                      n, ret->n);
	return 0;
}

void formats_free(struct formats *f)
{
	free(f->formats);
	*f = (struct formats){ 0 };
}

/* NULL: the recording has none. A binary search: a recording may have thousands. */
const struct format *formats_find(const struct formats *f, uint64_t id)
{
	size_t low = 0, high = f->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (f->formats[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < f->n && f->formats[low].id == id ? &f->formats[low] : NULL;
}
