// SPDX-License-Identifier: MIT
// text.c: what all parsers of events need: numbers as events spell them, and the parser's
// error.
#include "event/parts.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

int event_fail(struct event_parser *p, int code, const char *fmt, ...)
{
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return seam_error_set(p->err, code, NULL, SEAM_NO_OFFSET, NULL, "%s", text);
}

/* Decimal, 0x and 0 as in C. No sign, no blanks; -1 would wrap around otherwise. */
bool event_number(const char *text, uint64_t *ret)
{
	char *end;

	if (text[0] < '0' || text[0] > '9')
		return false;
	errno = 0;
	*ret = strtoull(text, &end, 0);
	return !*end && !errno;
}
