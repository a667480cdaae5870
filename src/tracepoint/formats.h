/* SPDX-License-Identifier: MIT */
/*
 * formats.h: the tracepoints' formats in a recording's TRACING_DATA: where each text lies, by the
 * tracepoint's number. Borrows from the bytes; the texts themselves are not read beyond their ID.
 */
#ifndef SEAM_TRACEPOINT_FORMATS_H
#define SEAM_TRACEPOINT_FORMATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seam/error.h>

struct format {
	uint32_t id;
	const char *system; /* "sched" */
	const char *text;   /* as in tracefs; not NUL-terminated */
	size_t n;
};

struct formats {
	bool big_endian; /* the machine that recorded */
	uint8_t long_size;
	uint32_t page_size;
	struct format *formats; /* by ascending id */
	size_t n;
	const char *printk; /* printk_formats: "ADDRESS : TEXT" a line; may be empty */
	size_t printk_n;
};

/* 0; -EBADMSG: not tracing data, or cut, then ret holds what stands before. -ENOMEM. */
int formats_read(struct formats *ret, const void *bytes, size_t n, struct seam_error *err);
void formats_free(struct formats *f);
/* NULL: the recording has no format of it. */
const struct format *formats_find(const struct formats *f, uint64_t id);

#endif
