// SPDX-License-Identifier: MIT
// view_help.c: the list of keys that work in the pane, as a pane.
#include "view/view_state.h"

static const char words[] =
        "\nTotal is the share of samples with the function in their stack, self of those in "
        "the function alone. [k] is the kernel's, [.] a program's, [i] a call that was "
        "inlined, * one that is marked.\n";

static const char words_compared[] =
        "\nShares are of each side's whole. ± is what chance alone can make of the change, ~ "
        "a change that may be no more than that, * a function that is marked. In code - and + "
        "mark what one side has alone.\n";

static const char words_place[] =
        "At the end of the last line, 7/120 is the seventh of 120 lines; 7/120+: there are more, "
        "which are made as the cursor comes near them.\n";

/* Shows the keys of the pane on top, as text. */
int view_help(struct view *v)
{
	struct buf text = { 0 };

	view_list_keys(v, &text);
	buf_put_text(&text, v->opts.compare ? words_compared : words);
	buf_put_text(&text, words_place);
	buf_put_text(&text, "--stdio, or a pipe, prints text.\n");
	return view_push(v, pane_text(&v->opts, v->top->scope, "keys", true, &text));
}
