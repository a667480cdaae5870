/* SPDX-License-Identifier: MIT */
/* text.h: an interpreter's strings as UTF-8. */
#ifndef SEAM_RUNTIMES_TEXT_H
#define SEAM_RUNTIMES_TEXT_H

#include <stddef.h>

/*
 * A string's characters, of 1, 2 or 4 bytes each, as UTF-8; of width 0: it is, or should be, UTF-8
 * already. Returns its bytes without the final 0; what has no room is left out. What is no
 * character becomes U+FFFD.
 */
size_t text_put(char *to, size_t room, const void *characters, size_t bytes, unsigned width);

#endif
