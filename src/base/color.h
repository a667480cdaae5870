/* SPDX-License-Identifier: MIT */
/* color.h: the colours of text on a terminal, and from which share on a number gets one. */
#ifndef SEAM_BASE_COLOR_H
#define SEAM_BASE_COLOR_H

#include <stdbool.h>

#define COLOR_RED "\033[31m"
#define COLOR_GREEN "\033[32m"
#define COLOR_BLUE "\033[34m"
#define COLOR_PLAIN "\033[0m"

/* The colour of a share, where perf's colours begin, too; "" for a small one, or without
 * colours. */
static inline const char *color_of_share(bool colors, double percent)
{
	return !colors ? "" : percent >= 5.0 ? COLOR_RED : percent >= 0.5 ? COLOR_GREEN : "";
}

#endif
