// SPDX-License-Identifier: MIT
// csv.c: see csv.h.
#include "cli/csv.h"

#include <string.h>

void csv_text(struct buf *out, const char *text)
{
	if (!text[strcspn(text, ",\"\r\n")]) {
		buf_put_text(out, text);
		return;
	}
	buf_put_text(out, "\"");
	for (; *text; text++)
		buf_put(out, *text == '"' ? "\"\"" : text, *text == '"' ? 2 : 1);
	buf_put_text(out, "\"");
}
