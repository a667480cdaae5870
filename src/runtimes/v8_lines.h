/* SPDX-License-Identifier: MIT */
/*
 * v8_lines.h: the lines of a script's source, as V8 counts them. Reads no memory of processes: it
 * is given the characters, piece by piece.
 */
#ifndef SEAM_RUNTIMES_V8_LINES_H
#define SEAM_RUNTIMES_V8_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where lines begin: {} before the first piece. */
struct v8_lines {
	uint32_t *starts; /* of all lines but the first, in characters */
	size_t n, room;
	uint32_t characters; /* that were given */
	bool returned;       /* the last one was a carriage return */
};

/* Takes the next n characters, of `width` bytes (1 or 2). 0; -ENOMEM; -EFBIG: they are too many. */
int v8_lines_add(struct v8_lines *lines, const void *characters, size_t n, unsigned width);
/* A file's UTF-8 as V8 has it, in units of 16 bits: at most as many as bytes. Returns how many;
 * -EINVAL: it is no UTF-8. */
int64_t v8_lines_units(uint16_t *to, const unsigned char *bytes, size_t n);
/* The line of a character, from 1 on. */
uint32_t v8_lines_at(const struct v8_lines *lines, uint32_t character);
void v8_lines_free(struct v8_lines *lines);

#endif
