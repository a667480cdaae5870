// SPDX-License-Identifier: MIT
/* nameless.c: see nameless.h. The form is "[unknown OBJECT+0xSTART]", with '?' in front where a
 * frame was found by guess. It is made here and read here only, so that others need not know it. */
#include "profile/nameless.h"

#define NAMELESS_OPEN "[unknown "

/* start: the address in the object at which the function begins. Written by hand: one is made for
 * each such frame. */
void nameless_put(struct buf *to, const char *object, uint64_t start)
{
	char digits[18];
	size_t at = sizeof(digits);

	digits[--at] = ']';
	do {
		digits[--at] = "0123456789abcdef"[start & 15];
		start >>= 4;
	} while (start);
	buf_put_text(to, NAMELESS_OPEN);
	buf_put_text(to, object);
	buf_put_text(to, "+0x");
	buf_put(to, digits + at, sizeof(digits) - at);
}

/* Reads the text from its end, because an object's name may itself contain "+0x". False: it has not
 * this form. ret points into the text. */
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
		/* More digits than an address has. */
		if (digits == 16)
			return false;
		start |= digit << 4 * digits;
	}
	if (!digits || n < digits + 4 || memcmp(text + n - digits - 3, "+0x", 3))
		return false;
	*ret = (struct nameless){ .object = text, .n = n - digits - 3, .start = start };
	return true;
}

/* Whether a function's name has this form. ret may be NULL; it points into text. */
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

/* How many characters behind the object are to be kept when a name is shortened: "+0x...]". */
size_t nameless_end(const char *text)
{
	struct nameless found;

	return nameless_is(text, &found) ? strlen(found.object + found.n) : 0;
}
