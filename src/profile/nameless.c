// SPDX-License-Identifier: MIT
// nameless.c: see nameless.h.
#include "profile/nameless.h"

#include <inttypes.h>

#define NAMELESS_OPEN "[unknown "

void nameless_put(struct buf *to, const char *object, uint64_t start)
{
	buf_printf(to, NAMELESS_OPEN "%s+0x%" PRIx64 "]", object, start);
}

bool nameless_place(const char *text, size_t n, struct nameless *ret)
{
	size_t digits = 0;
	uint64_t start = 0;

	for (; digits < n; digits++) {
		char c = text[n - digits - 1];
		uint64_t digit = c >= '0' && c <= '9'   ? (uint64_t)(c - '0')
		                 : c >= 'a' && c <= 'f' ? (uint64_t)(c - 'a') + 10
		                                        : 16;

		if (digit == 16)
			break;
		if (digits == 16)
			return false;
		start |= digit << 4 * digits;
	}
	if (!digits || n < digits + 4 || memcmp(text + n - digits - 3, "+0x", 3))
		return false;
	*ret = (struct nameless){ .object = text, .n = n - digits - 3, .start = start };
	return true;
}

bool nameless_is(const char *text, struct nameless *ret)
{
	struct nameless found;
	size_t prefix = *text == '?', n;

	text += prefix;
	if (strncmp(text, NAMELESS_OPEN, strlen(NAMELESS_OPEN)))
		return false;
	text += strlen(NAMELESS_OPEN);
	n = strlen(text);
	if (!n || text[n - 1] != ']' || !nameless_place(text, n - 1, &found))
		return false;
	found.prefix = prefix;
	if (ret)
		*ret = found;
	return true;
}
