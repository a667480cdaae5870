// SPDX-License-Identifier: MIT
// view_sort.c: sort keys that are chosen in the view, of those that its samples have values for.
#include <string.h>

#include "base/shown.h"
#include "view/view_state.h"

/* The column that a word names; ROLLUP_COLUMNS: none. */
static unsigned view_key_column(const char *word, size_t n)
{
	unsigned c = 0;

	while (c < ROLLUP_COLUMNS) {
		const char *key = rollup_facts[c].key, *also = rollup_facts[c].also;

		if ((strlen(key) == n && !memcmp(key, word, n)) ||
		    (also && strlen(also) == n && !memcmp(also, word, n)))
			break;
		c++;
	}
	return c;
}

/* Whether the samples have a value of the column. */
static bool view_key_known(const struct view *v, unsigned c)
{
	unsigned keep = rollup_facts[c].keep;

	if (v->opts.compare && !rollup_facts[c].diff)
		return false;
	/* Which names are parents is known of the whole recording only. */
	return c != ROLLUP_PARENT && (profile_keeps(v->opts.profile) & keep) == keep &&
	       (v->opts.lines || rollup_facts[c].needs != ROLLUP_NEEDS_LINES);
}

/* The keys that could be typed. */
static void view_say_keys(struct view *v, const char *word, size_t n)
{
	buf_clear(&v->message);
	if (n)
		shown_printf(&v->message, "no '%.*s' here: ", (int)n, word);
	for (unsigned c = 0; c < ROLLUP_COLUMNS; c++)
		if (view_key_known(v, c))
			buf_printf(&v->message, "%s ", rollup_facts[c].key);
}

/* Takes the columns that were typed; a name that is not known changes nothing and is told, with
 * those that are. */
int view_sort_keys(struct view *v)
{
	enum rollup_column columns[ROLLUP_COLUMNS];
	const char *at = buf_text(&v->typed);
	unsigned asked = 0;
	size_t n = 0;

	while (*at) {
		size_t length = strcspn(at, ", ");
		unsigned c = view_key_column(at, length);

		if (length && (c == ROLLUP_COLUMNS || !view_key_known(v, c))) {
			view_say_keys(v, at, length);
			return 0;
		}
		if (length && !(asked & 1u << c))
			columns[n++] = (enum rollup_column)c;
		asked |= length ? 1u << c : 0;
		at += length + (at[length] != 0);
	}
	if (!n) {
		view_say_keys(v, "", 0);
		return 0;
	}
	memcpy(v->columns, columns, n * sizeof(*columns));
	v->opts.n_columns = n;
	return view_section_anew(v, 0);
}
