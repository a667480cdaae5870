/* SPDX-License-Identifier: MIT */
/*
 * nameless.h: what stands in place of the name of a function that has none, but whose beginning is
 * known: "[unknown libfoo.so+0x12340]". The number is the linked address of its first byte in that
 * object, as nm, objdump and addr2line count, so that it is the same in every run of the same
 * build.
 *
 * Invariant: the text says itself that it is no name, wherever it goes: nothing else is kept of
 * that.
 */
#ifndef SEAM_PROFILE_NAMELESS_H
#define SEAM_PROFILE_NAMELESS_H

#include "base/buf.h"

/* Appends it. object is the last component of the object's path. */
void nameless_put(struct buf *to, const char *object, uint64_t start);

struct nameless {
	size_t prefix; /* characters before it: the mark of a frame that is a guess */
	const char *object;
	size_t n; /* of object */
	uint64_t start;
};
/* Whether a function has no name of its own, but such a text. ret may be NULL. */
bool nameless_is(const char *text, struct nameless *ret);
/* How many characters at its end tell it from others ("+0x12340]"), so that a text that is cut
 * (shown_cut) keeps them; 0: it is none. */
size_t nameless_end(const char *text);
/* The same for the text without its brackets: "libfoo.so+0x12340", n characters of text. */
bool nameless_place(const char *text, size_t n, struct nameless *ret);

#endif
