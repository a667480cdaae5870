// SPDX-License-Identifier: MIT
/* decode.c: what is wrong with a record, and where. Every decoder reports through decode_bad, so
 * all messages have the same form and the offset of the record in them. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "abi/decode.h"

/* Returns -EBADMSG always. A text longer than 160 bytes is cut: it may hold numbers from a file,
 * but no strings. */
int decode_bad(const struct decode *d, const char *fmt, ...)
{
	char text[160];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return seam_error_set(d->err, EBADMSG, NULL, d->record->offset,
	                      seam_record_name(d->record->type), "%s", text);
}
