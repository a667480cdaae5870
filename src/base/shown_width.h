/* SPDX-License-Identifier: MIT */
/* shown_width.h: how wide a character is on a terminal. */
#ifndef SEAM_BASE_SHOWN_WIDTH_H
#define SEAM_BASE_SHOWN_WIDTH_H

#include <stddef.h>
#include <stdint.h>

/* 0, 1 or 2 columns, of a character that shown_hides does not hide. */
size_t shown_width(uint32_t character);

#endif
