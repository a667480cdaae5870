// SPDX-License-Identifier: MIT
#pragma once

/* The name of the description by which this terminal is written to: what TERM says, or, where that
 * is not installed here, as after ssh from a newer terminal, what its name begins with: "xterm" for
 * "xterm-kitty". To be freed; NULL: none is known, or no memory. */
char *terminal_name(void);
