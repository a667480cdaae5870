/* SPDX-License-Identifier: MIT */
/*
 * shown.h: names as people see them. Comms, symbols, paths, strings of a recording may hold any
 * bytes: what would move a terminal's cursor, start another line, or turn the order of characters
 * round is written as an escape, and so is what is not UTF-8. A backslash is doubled where it would
 * read as such an escape, and only there.
 *
 * Every text for people takes names through here: shown_printf is printf with all its strings (%s,
 * %c) escaped; what the format itself says stays as it is. What comes out is one line, as wide as
 * it looks.
 */
#ifndef SEAM_BASE_SHOWN_H
#define SEAM_BASE_SHOWN_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

/* Whether a character cannot be seen, or changes how others are seen. */
bool shown_hides(uint32_t character);

/* Append n bytes, or a text. 0 or -ENOMEM. */
int shown_put(struct buf *to, const char *text, size_t n);
int shown_put_text(struct buf *to, const char *text);
/* How many bytes that would append. */
size_t shown_length(const char *text);

/* Columns of a terminal that n bytes take which shown_put wrote. */
size_t shown_columns(const char *text, size_t n);
/*
 * Appends a text that shown_put wrote, cut to so many columns; an ellipsis stands for what is left
 * out. The last `end` bytes are kept, because they tell the text from others: what stands in front
 * of them is cut. Where end is 0, the middle is cut, or the end if there is no room to read both.
 */
void shown_cut(struct buf *to, const char *text, size_t room, size_t end);

/* The conversions that are known are those of integers, floating point, %c, %s, %p and %%. 0 or
 * -ENOMEM. */
int shown_printf(struct buf *to, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int shown_vprintf(struct buf *to, const char *fmt, va_list ap)
        __attribute__((format(printf, 2, 0)));

#endif
