// SPDX-License-Identifier: MIT
// shown_wrap.c: see shown_wrap.h.
#include "base/shown_wrap.h"

#include <errno.h>
#include <string.h>

#include "base/shown.h"

#define FURTHER_IN 2 /* columns, of what goes on */

/* Where the first word of n bytes ends, with the blanks in front of it. */
static size_t wrap_word(const char *line, size_t n)
{
	size_t at = 0;

	while (at < n && line[at] == ' ')
		at++;
	while (at < n && line[at] != ' ')
		at++;
	return at;
}

/* One line, without its end. */
static void wrap_line(struct buf *to, const char *line, size_t n, size_t columns)
{
	size_t lead = strspn(line, " "), have = 0, indent = lead + FURTHER_IN;

	if (indent > columns / 2)
		indent = FURTHER_IN;
	while (n) {
		size_t word = wrap_word(line, n), wide = shown_columns(line, word);

		/* In front of the first word of a row there is no place to break. */
		if (have > indent && have + wide > columns) {
			size_t blanks = strspn(line, " ");

			buf_printf(to, "\n%*s", (int)indent, "");
			have = indent + wide - blanks;
			buf_put(to, line + blanks, word - blanks);
		} else {
			have += wide;
			buf_put(to, line, word);
		}
		line += word;
		n -= word;
	}
}

int shown_wrap(struct buf *to, const char *lines, size_t columns)
{
	while (columns && *lines) {
		size_t n = strcspn(lines, "\n");

		wrap_line(to, lines, n, columns);
		lines += n;
		if (*lines) {
			buf_put_text(to, "\n");
			lines++;
		}
	}
	buf_put_text(to, lines);
	return to->failed ? -ENOMEM : 0;
}
