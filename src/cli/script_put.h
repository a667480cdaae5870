/* SPDX-License-Identifier: MIT */
/* script_put.h: numbers into the text of seam script, without printf: they are most of its output. */
#ifndef SEAM_CLI_SCRIPT_PUT_H
#define SEAM_CLI_SCRIPT_PUT_H

#include "base/buf.h"

/* v with at least `least` digits (zeros), then blanks in front up to width. */
void put_number(struct buf *out, uint64_t v, int least, int width);
void put_hex(struct buf *out, uint64_t v, int width);
void put_signed(struct buf *out, uint32_t v, int width); /* UINT32_MAX is -1 */
void put_blanks(struct buf *out, int n);
/* "   81.709252: ", of nanoseconds with nine digits. */
void put_time(struct buf *out, uint64_t time_ns, bool ns);

#endif
