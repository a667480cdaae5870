// SPDX-License-Identifier: MIT
// csv.c: see csv.h.
#include "base/csv.h"

#include <string.h>

#include "base/shown.h"

/* For those who read the output with grep and cut, a line must be a row: so names are escaped as in
 * other text. */
void csv_text(struct buf *out, const char *text)
{
	if (!text[strcspn(text, ",\"")]) {
		shown_put_text(out, text);
		return;
	}
	buf_put_text(out, "\"");
	for (size_t n; *text; text += n + (text[n] == '"')) {
		n = strcspn(text, "\"");
		shown_put(out, text, n);
		if (text[n])
			buf_put_text(out, "\"\"");
	}
	buf_put_text(out, "\"");
}
