/* SPDX-License-Identifier: MIT */
// terminal_name.h: which description of terminals is this one's.
#ifndef SEAM_VIEW_TERMINAL_NAME_H
#define SEAM_VIEW_TERMINAL_NAME_H

/* The name of the description by which this terminal is written to: what TERM says, or, where that
 * is not installed here, as after ssh from a newer terminal, what its name begins with: "xterm" for
 * "xterm-kitty". To be freed; NULL: none is known, or no memory. */
char *terminal_name(void);

#endif
