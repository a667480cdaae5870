/* SPDX-License-Identifier: MIT */
/* utf8.h: which bytes are UTF-8. What is written in place of other bytes is for the caller to
 * decide. */
#ifndef SEAM_BASE_UTF8_H
#define SEAM_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of the well-formed sequence at the beginning of n > 0 bytes, 1 to 4; 0: there is none. */
size_t utf8_sequence(const unsigned char *p, size_t n);
/* The character of such a sequence. */
uint32_t utf8_character(const unsigned char *p, size_t len);

#endif
