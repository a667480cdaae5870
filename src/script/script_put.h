/* SPDX-License-Identifier: MIT */
/* script_put.h: numbers into the text of seam script, without printf: they are most of its
 * output. */
#ifndef SEAM_SCRIPT_SCRIPT_PUT_H
#define SEAM_SCRIPT_SCRIPT_PUT_H

#include "base/buf.h"

/* All of these write blanks in front, up to width. */
void put_number(struct buf *out, uint64_t v, int width);
void put_hex(struct buf *out, uint64_t v, int width);
void put_signed(struct buf *out, uint32_t v, int width); /* UINT32_MAX is -1 */
void put_blanks(struct buf *out, int n);
/* A name in width columns and ": " behind it. */
void put_label(struct buf *out, const char *name, int width);

struct put_clock { /* zeroed to start */
	uint64_t from_ns;
	unsigned n;    /* bytes of text; 0: nothing yet */
	char text[16]; /* the second that starts at from_ns, "   81." */
};
/* " 81.709252: ", of nanoseconds with nine digits. The clock keeps the text of the last second. */
void put_time(struct buf *out, struct put_clock *clock, uint64_t time_ns, bool ns);

#endif
