// SPDX-License-Identifier: MIT
// span.c: see span.h. Digits only, no strtod: nanoseconds of a long uptime do not fit into a double.
#include "cli/span.h"

#include <errno.h>
#include <stddef.h>

#define SPAN_SECOND 1000000000ULL

static bool span_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Takes "12.345" from *text into *ns; *text goes behind it. */
static int span_seconds(const char **text, uint64_t *ns)
{
	const char *at = *text;
	uint64_t seconds = 0, fraction = 0, unit = SPAN_SECOND;

	if (!span_is_digit(*at))
		return -EINVAL;
	for (; span_is_digit(*at); at++) {
		seconds = seconds * 10 + (uint64_t)(*at - '0');
		if (seconds >= UINT64_MAX / SPAN_SECOND)
			return -EINVAL;
	}
	if (*at == '.') {
		for (at++; span_is_digit(*at) && unit > 1; at++) {
			unit /= 10;
			fraction += (uint64_t)(*at - '0') * unit;
		}
		if (unit == SPAN_SECOND)
			return -EINVAL;
	}
	*ns = seconds * SPAN_SECOND + fraction;
	*text = at;
	return 0;
}

int span_parse(const char *text, struct span *ret)
{
	struct span s = { 0, UINT64_MAX };
	bool open = *text == ',';

	if (!open && span_seconds(&text, &s.start_ns) < 0)
		return -EINVAL;
	if (*text++ != ',')
		return -EINVAL;
	if (*text || open) {
		if (span_seconds(&text, &s.stop_ns) < 0 || *text)
			return -EINVAL;
	}
	if (s.stop_ns < s.start_ns)
		return -EINVAL;
	*ret = s;
	return 0;
}
