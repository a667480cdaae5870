// SPDX-License-Identifier: MIT
// view_help.c: the list of keys, as a pane.
#include "view/view_state.h"

static const char help[] =
        "MOVING\n"
        "  Up, Down, k, j          one line\n"
        "  PgUp, PgDn, b, Space    one screen        Home, End, g, G  first, last line\n"
        "  Left, Esc, Backspace, h back to what was here before\n"
        "  q                       leave\n"
        "\n"
        "WHAT IS SHOWN\n"
        "  1 to 8, Tab             the sections of the second line\n"
        "  < >                     the event before, the next event\n"
        "  /                       only lines with this text in them; Esc: all again\n"
        "  m, n                    mark the function, or not; the next one that is marked\n"
        "  M                       only samples with a marked function in their stack\n"
        "  w                       write these lines to a new file; FILE.folded, .pb.gz,\n"
        "                          .callgrind, .json: the samples shown, for other tools;\n"
        "                          of two sides FILE.folded has both counts of a stack\n"
        "  p, Space                of seam top: hold what is shown, or go on\n"
        "\n"
        "IN A TABLE\n"
        "  Enter, c                callers and callees of the function; samples of the\n"
        "                          row alone\n"
        "  s                       order by total, or by self; of two sides by the change,\n"
        "                          the new figure, the old one, the ratio\n"
        "  S                       tell rows apart by other sort keys: comm,sym or srcline;\n"
        "                          an empty list says which there are\n"
        "  d                       only functions of this row's object\n"
        "  a                       source and instructions, with their samples; Right, Left\n"
        "                          move along the lines; of two sides - and + mark what\n"
        "                          one of them has alone\n"
        "\n"
        "IN A CALL TREE\n"
        "  Enter                   open or close     Right, Left, +, -   open, close\n"
        "  E, C                    open, close all        H   open the hottest way down\n"
        "  c, a                    callers and callees, source of the function\n"
        "\n"
        "Total is the share of samples with the function in their stack, self of those in "
        "the function alone. [k] is the kernel's, [.] a program's, [i] a call that was "
        "inlined.\n"
        "--stdio, or a pipe, prints the report as text.\n";

/* Shows the keys, as text. */
int view_help(struct view *v)
{
	struct buf text = { 0 };

	buf_put_text(&text, help);
	return view_push(v, pane_text(&v->opts, v->top->scope, "keys", true, &text));
}
